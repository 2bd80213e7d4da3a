// The cache service, as far as one job keeps a file for the next: a simulation of ours. What the real client asks it is recorded
// (scripts/record-cache.mjs), what it answers follows that client's own description of the service. Left out: scopes (one branch
// has all), eviction, and blocks in another order than they are sent. Alone: node test/standin/cache-entries.ts prints its address.
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

type Answer = { status: number; headers: Record<string, string>; body: string | Buffer }
type Method = 'GetCacheEntryDownloadURL' | 'CreateCacheEntry' | 'FinalizeCacheEntryUpload'
export type AskedOfCache = { method: string; path: string; body: unknown }

const TWIRP = '/twirp/github.actions.results.api.v1.CacheService/'
const BLOB = '/_services/cache-container/blob'

export function isOfCache({ pathname }: URL): boolean {
  return pathname.startsWith(TWIRP) || pathname === BLOB
}

export class CacheService {
  readonly asked: AskedOfCache[] = []
  /** Those that were finalized, by key and version: `<key> <version>`. */
  readonly entries = new Map<string, Buffer>()
  /** What requests of that name get instead of an answer. */
  readonly faults = new Map<Method | 'GET' | 'PUT', number>()
  readonly #blobs = new Map<string, Buffer>()

  answer(method: string, url: URL, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
    const isBlob = url.pathname === BLOB
    const what = isBlob ? method : url.pathname.slice(TWIRP.length)
    const part = url.searchParams.get('comp')
    const path = isBlob && part !== null ? `${BLOB}?comp=${part}` : url.pathname
    this.asked.push({ method, path, body: isBlob ? '<bytes>' : JSON.parse(bytes.toString()) })
    const fault = [...this.faults].find(([name]) => name === what)?.[1]
    if (fault !== undefined) return json(fault, { msg: 'out of order' })
    return isBlob ? this.#store(method, url, bytes) : this.#speak(what, url, headers, bytes)
  }

  #store(method: string, { searchParams }: URL, bytes: Buffer): Answer {
    const [part, key] = [searchParams.get('comp'), searchParams.get('sig') ?? '']
    const entry = this.entries.get(key)
    if (method === 'GET' && entry !== undefined)
      return { status: 200, headers: { 'content-length': String(entry.length) }, body: entry }
    const before = this.#blobs.get(key)
    if (method !== 'PUT' || before === undefined) return json(403, {})
    if (part !== 'blocklist') this.#blobs.set(key, part === 'block' ? Buffer.concat([before, bytes]) : bytes)
    return { status: 201, headers: { etag: '"0x1"', 'last-modified': new Date(0).toUTCString() }, body: '' }
  }

  #speak(what: string, { origin }: URL, { authorization = '' }: IncomingHttpHeaders, bytes: Buffer): Answer {
    const { key: name, version, size_bytes: size } = JSON.parse(bytes.toString())
    const claims = Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()
    if (!claims.includes('Actions.Results:')) return json(401, { msg: 'unauthorized' })
    const key = `${name} ${version}`
    const address = `${origin}${BLOB}?sig=${encodeURIComponent(key)}`
    if (what === 'GetCacheEntryDownloadURL') {
      if (!this.entries.has(key)) return json(200, { ok: false, signed_download_url: '', matched_key: '' })
      return json(200, { ok: true, signed_download_url: address, matched_key: name })
    }
    if (what === 'CreateCacheEntry') {
      if (this.entries.has(key))
        return json(409, { code: 'already_exists', msg: 'cache entry already exists' })
      this.#blobs.set(key, Buffer.alloc(0))
      return json(200, { ok: true, signed_upload_url: address, message: '' })
    }
    const blob = this.#blobs.get(key)
    const isWhole = blob !== undefined && Number(size) === blob.length
    if (isWhole) this.entries.set(key, blob)
    return json(200, { ok: isWhole, entry_id: '4712', message: '' })
  }
}

function json(status: number, body: unknown): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

export type StartedCache = AsyncDisposable & { url: string; service: CacheService }

/** The service alone, on a port of its own. */
export async function startCache(): Promise<StartedCache> {
  const service = new CacheService()
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const bytes = await buffer(request)
    const { status, headers, body } = service.answer(request.method ?? '', url, request.headers, bytes)
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    service,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

if (import.meta.main) console.log((await startCache()).url)
