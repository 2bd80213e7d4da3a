// One request to a service: bounded in time, never redirected, tried again once where the service says when.
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from './errors.ts'

export type Request = { url: string; headers: Readonly<Record<string, string>>; body: string }

/** `said`: what it answered, or why there is no answer. Not trusted, and it may hold what was sent. */
export type Answer = { ok: boolean; said: string }

/** For a message and its answer, the second try among it, milliseconds. */
export const MOST_MS = 10_000
const MOST_ANSWER = 300

/** Never throws. */
export async function send(request: Request, timeoutMs: number, signal: AbortSignal): Promise<Answer> {
  const until = performance.now() + timeoutMs
  const late = AbortSignal.timeout(timeoutMs)
  const bounded = AbortSignal.any([signal, late])
  try {
    const { retryAfterMs, ...first } = await post(request, bounded)
    if (retryAfterMs === null) return first
    if (performance.now() + retryAfterMs >= until)
      return { ok: false, said: `${first.said}; it wants ${Math.ceil(retryAfterMs / 1000)} s of patience` }
    await delay(retryAfterMs, undefined, { signal: bounded })
    const { ok, said } = await post(request, bounded)
    return { ok, said }
  } catch (error) {
    if (late.aborted && !signal.aborted) return { ok: false, said: `no answer within ${timeoutMs / 1000} s` }
    return { ok: false, said: messageOf(error instanceof Error ? (error.cause ?? error) : error) }
  }
}

async function post({ url, headers, body }: Request, signal: AbortSignal) {
  // A redirect could lead a message with its secrets to anybody.
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
  const { status, ok } = response
  const text = await beginningOf(response)
  const isRedirect = status >= 300 && status < 400
  const said = [`HTTP ${status}`, isRedirect ? 'a redirect, which is not followed' : ok ? '' : text]
  const retryAfterMs = status === 429 ? patience(response.headers.get('retry-after'), text) : null
  return { ok, said: said.filter(Boolean).join(': '), retryAfterMs }
}

/** So much as is worth showing: an answer may never end. */
async function beginningOf({ body }: Response): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length >= MOST_ANSWER) break
  }
  return text.slice(0, MOST_ANSWER)
}

/** Seconds (RFC 9110, 10.2.3); Telegram says it in the body alone. Null: it is not said. */
function patience(header: string | null, body: string): number | null {
  const said = header ?? /"retry_after"\s*:\s*(\d+(?:\.\d+)?)/.exec(body)?.[1]
  return /^[\d.]+$/.test(said ?? '') ? Number(said) * 1000 : null
}
