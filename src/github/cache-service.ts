// GitHub's cache between jobs, with the requests of @actions/cache 6.0: look up, or create, put, finalize. The library is not used
// because its storage client has more than a megabyte; tests compare with its recorded requests (scripts/record-cache.mjs).
import { openAsBlob } from 'node:fs'
import { open } from 'node:fs/promises'
import * as z from 'zod/mini'
import type { CacheEntry, FileCache } from '../engine/model/ports.ts'
import { fetchOk, hasResults, readAnswer } from './artifact.ts'

const SERVICE = '/twirp/github.actions.results.api.v1.CacheService'
/** The maximum number of bytes of an entry. A longer one is refused, because any job of the repository may have written it. */
const MAX_BYTES = 2_000_000_000
const TOO_LONG = 'the entry is longer than 2 GB'

// proto3 leaves out what has its default value, such as `ok: false`.
const FoundAnswer = z.object({
  ok: z.optional(z.boolean()),
  signed_download_url: z.optional(z.string()),
  matched_key: z.optional(z.string()),
})
const CreatedAnswer = z.object({ ok: z.literal(true), signed_upload_url: z.string() })
const FinalizedAnswer = z.object({ ok: z.literal(true) })

/** Null if there is no such service: on GitHub Enterprise Server, and outside of a job. */
export function openCache(env: Readonly<Record<string, string | undefined>>): FileCache | null {
  const {
    ACTIONS_RUNTIME_TOKEN: token = '',
    ACTIONS_RESULTS_URL: base = '',
    ACTIONS_CACHE_SERVICE_V2: version = '',
    ACTIONS_CACHE_MODE: mode = '',
  } = env
  if (token === '' || version === '' || !URL.canParse(base) || !hasResults(env)) return null
  if (mode === 'none') return null
  const call = async (method: string, body: object, signal: AbortSignal): Promise<unknown> => {
    const answer = await fetchOk(new URL(`${SERVICE}/${method}`, base), method, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    return answer.json()
  }
  const find = async (entry: CacheEntry, signal: AbortSignal): Promise<URL | null> => {
    if (mode === 'write-only') return null
    const method = 'GetCacheEntryDownloadURL'
    const found = readAnswer(FoundAnswer, method, await call(method, entry, signal))
    // The service also finds entries whose key only begins with the requested one.
    const { ok, matched_key: key, signed_download_url: address = '' } = found
    return ok === true && key === entry.key && URL.canParse(address) ? new URL(address) : null
  }
  return {
    get: async (entry, file, signal) => {
      const url = await find(entry, signal)
      if (url === null) return false
      await download(url, file, signal)
      return true
    },
    put: async (entry, file, signal) => {
      if (mode === 'read') return
      const body = await openAsBlob(file)
      if (body.size > MAX_BYTES) throw new Error(TOO_LONG)
      const answer = await call('CreateCacheEntry', entry, signal)
      const created = readAnswer(CreatedAnswer, 'CreateCacheEntry', answer)
      // One Put Blob request, which may have up to 5,000 MiB. The URL is signed, so it must not be in any message.
      const headers = { 'content-type': 'application/octet-stream', 'x-ms-blob-type': 'BlockBlob' }
      const url = new URL(created.signed_upload_url)
      await fetchOk(url, 'the upload', { method: 'PUT', headers, body, signal })
      const uploaded = { ...entry, size_bytes: String(body.size) }
      const finalized = await call('FinalizeCacheEntryUpload', uploaded, signal)
      readAnswer(FinalizedAnswer, 'FinalizeCacheEntryUpload', finalized)
    },
  }
}

async function download(url: URL, file: string, signal: AbortSignal): Promise<void> {
  const answer = await fetchOk(url, 'the download', { signal })
  await using handle = await open(file, 'wx', 0o600)
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(TOO_LONG)
    await handle.write(chunk)
  }
  const length = answer.headers.get('content-length')
  if (length !== null && Number(length) !== size) throw new Error('the download ended too early')
}
