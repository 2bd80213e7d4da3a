import { setTimeout as delay } from 'node:timers/promises'

/** Whether `wanted` resolves within `ms` milliseconds; rejects if it rejects. */
export async function resolvesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const stop = new AbortController()
  const late = delay(ms, false, { signal: stop.signal }).catch(() => false)
  return Promise.race([promise.then(() => true), late]).finally(() => stop.abort())
}
