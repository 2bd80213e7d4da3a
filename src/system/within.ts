import { setTimeout as delay } from 'node:timers/promises'

/** Whether `promise` resolves within `ms` milliseconds, and before `signal` aborts; rejects if it rejects. */
export async function resolvesWithin(
  ms: number,
  promise: Promise<unknown>,
  signal?: AbortSignal,
): Promise<boolean> {
  const stop = new AbortController()
  const ends = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal])
  const late = delay(ms, false, { signal: ends }).catch(() => false)
  return Promise.race([promise.then(() => true), late]).finally(() => stop.abort())
}
