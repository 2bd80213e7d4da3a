// One request to a service: bounded in time, never redirected.
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from './errors.ts'

export type Request = { url: string; headers: Readonly<Record<string, string>>; body: string }

/** `detail`: the answer, or why there is none. Untrusted; it may repeat what was sent. */
export type PostResult = { ok: boolean; detail: string }

/** For the request and its answer, milliseconds. */
export const POST_TIMEOUT_MS = 10_000
const MAX_RESPONSE_LENGTH = 300

/** Never throws. */
export async function sendRequest(
  request: Request,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PostResult> {
  const { url, headers, body } = request
  const late = AbortSignal.timeout(timeoutMs)
  try {
    // A redirect could send the message, with its secrets, to any server.
    const options = { method: 'POST', headers, body, redirect: 'manual' } as const
    const abort = AbortSignal.any([signal, late])
    const post = () => fetch(url, { ...options, signal: abort })
    let response = await post()
    const retryAfterMs = Number(response.headers.get('retry-after') ?? Number.NaN) * 1000
    // Tried once more after a 429, if the service says when and that is within the time-out.
    if (response.status === 429 && retryAfterMs < timeoutMs) {
      await response.body?.cancel()
      await delay(retryAfterMs, undefined, { signal: abort })
      response = await post()
    }
    const { status, ok } = response
    const text = await beginningOf(response)
    const isRedirect = status >= 300 && status < 400
    const parts = [`HTTP ${status}`, isRedirect ? 'a redirect, which is not followed' : ok ? '' : text]
    return { ok, detail: parts.filter(Boolean).join(': ') }
  } catch (error) {
    if (late.aborted && !signal.aborted)
      return { ok: false, detail: `no answer within ${timeoutMs / 1000} s` }
    return { ok: false, detail: messageOf(error instanceof Error ? (error.cause ?? error) : error) }
  }
}

/** The first characters of the body, which may never end. */
async function beginningOf({ body }: Response): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length >= MAX_RESPONSE_LENGTH) break
  }
  return text.slice(0, MAX_RESPONSE_LENGTH)
}
