// The end of a job's log. A log can have hundreds of megabytes, so only its last part is kept in memory.

import type { GitHub } from '../client.ts'

const MAX_KEPT = 64 * 1024
/** Bytes that are read at most; of a longer log, the end of this part counts. */
const MAX_READ = 256 * 1024 * 1024
const MAX_MS = 60_000

/** The last part of the log of a job of GitHub Actions. Rejects if GitHub has no log. */
export async function readLogEnd({ api, repo }: GitHub, jobId: number): Promise<string> {
  // GitHub redirects to a storage that must not get the token, so the address is asked for first.
  const response = await api.request('GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs', {
    ...repo,
    job_id: jobId,
    request: { redirect: 'manual', parseSuccessResponseBody: false },
  })
  const place = response.headers.location
  const answer =
    place === undefined
      ? null
      : await fetch(place, { signal: AbortSignal.timeout(MAX_MS), redirect: 'error' })
  if (answer !== null && !answer.ok)
    throw new Error(`the download of the log failed with HTTP ${answer.status}`)
  const body: unknown = answer === null ? response.data : answer.body
  return body instanceof ReadableStream ? endOf(body) : ''
}

/** The last part of a stream, from the beginning of a line on. */
export async function endOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let kept: Uint8Array = new Uint8Array(0)
  let read = 0
  let isCut = false
  for await (const chunk of stream) {
    read += chunk.length
    const joined = Buffer.concat([kept, chunk])
    isCut ||= joined.length > MAX_KEPT
    kept = joined.subarray(-MAX_KEPT)
    if (read >= MAX_READ) break
  }
  const text = Buffer.from(kept).toString('utf8')
  const withoutStamps = text.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /gm, '')
  return isCut ? withoutStamps.slice(withoutStamps.indexOf('\n') + 1) : withoutStamps
}
