// GitHub's cache: the same requests as the real client's, and what becomes of one that fails.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openCache } from '../../../src/github/cache-service.ts'
import { type AskedOfCache, startCache } from '../../standin/cache-entries.ts'
import { newRuntimeToken } from '../../standin/results.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cache-service-'))
  await writeFile(join(folder, 'given'), 'as if it were an archive')
})
after(() => rm(folder, { recursive: true }))

const env = (url: string) => ({
  ACTIONS_RUNTIME_TOKEN: newRuntimeToken('1'),
  ACTIONS_RESULTS_URL: url,
  ACTIONS_CACHE_SERVICE_V2: 'True',
  GITHUB_SERVER_URL: 'https://github.com',
})
const entry = { key: 'ralph-agent', version: 'a-version' }
const soon = () => AbortSignal.timeout(5000)

/** What differs is what is kept, not how it is asked for. */
const forms = (all: readonly AskedOfCache[]) =>
  all.map(({ method, path, body }) => [
    method,
    path,
    typeof body === 'string' ? body : Object.keys(body ?? {}),
  ])

test('looking up, storing and reading an entry send the same requests as @actions/cache', async () => {
  await using started = await startCache()
  const cache = openCache(env(started.url))
  assert.ok(cache !== null)
  assert.equal(await cache.get(entry, join(folder, 'none'), soon()), false)
  await cache.put(entry, join(folder, 'given'), soon())
  assert.equal(await cache.get(entry, join(folder, 'taken'), soon()), true)
  assert.equal(await readFile(join(folder, 'taken'), 'utf8'), 'as if it were an archive')
  const fixture = new URL('../../fixtures/github/cache-entry.json', import.meta.url)
  const recorded: AskedOfCache[] = JSON.parse(await readFile(fixture, 'utf8'))
  const sorted = (all: readonly AskedOfCache[]) =>
    forms(all).map((one) => one.map((part) => (Array.isArray(part) ? [...part].sort() : part)))
  assert.deepEqual(sorted(started.service.asked), sorted(recorded))
})

test('without a cache service no request is made, and a mode without reading or writing is respected', async () => {
  await using started = await startCache()
  const known = env(started.url)
  for (const more of [
    { ACTIONS_RESULTS_URL: '' },
    { ACTIONS_RESULTS_URL: 'nowhere' },
    { ACTIONS_RUNTIME_TOKEN: '' },
    { ACTIONS_CACHE_SERVICE_V2: '' },
    { ACTIONS_CACHE_MODE: 'none' },
    { GITHUB_SERVER_URL: 'https://github.acme.test' },
  ])
    assert.equal(openCache({ ...known, ...more }), null, JSON.stringify(more))
  const given = join(folder, 'given')
  await openCache({ ...known, ACTIONS_CACHE_MODE: 'read' })?.put(entry, given, soon())
  const written = openCache({ ...known, ACTIONS_CACHE_MODE: 'write-only' })
  assert.equal(await written?.get(entry, join(folder, 'unread'), soon()), false)
  assert.deepEqual(started.service.asked, [])
})

test('a cache service that refuses is an error without the signed URL, and an entry of another key is not used', async () => {
  await using started = await startCache()
  const cache = openCache(env(started.url))
  assert.ok(cache !== null)
  const { service } = started
  const given = join(folder, 'given')
  for (const [what, status] of [
    ['CreateCacheEntry', 429],
    ['PUT', 403],
    ['FinalizeCacheEntryUpload', 500],
  ] as const) {
    service.faults.set(what, status)
    await assert.rejects(cache.put({ ...entry, key: what }, given, soon()), (error: Error) => {
      assert.match(error.message, new RegExp(`failed with HTTP ${status}`))
      assert.doesNotMatch(error.message, /sig=|http:/)
      return true
    })
    service.faults.delete(what)
  }
  assert.equal(service.entries.size, 0)
  assert.equal(await cache.get(entry, join(folder, 'absent'), soon()), false)
  await cache.put(entry, given, soon())
  assert.equal(await cache.get(entry, join(folder, 'stored'), soon()), true)
  await assert.rejects(cache.put(entry, given, soon()), /409/)
  const long = join(folder, 'long')
  await writeFile(long, '')
  await truncate(long, 2_000_000_001)
  await assert.rejects(cache.put({ ...entry, key: 'long' }, long, soon()), /longer than 2 GB/)
  service.faults.set('GET', 404)
  await assert.rejects(cache.get(entry, join(folder, 'refused'), soon()), /the download failed with HTTP 404/)
  const longer = { ok: true, signed_download_url: started.url, matched_key: `${entry.key}-of-another` }
  service.answer = () => ({ status: 200, headers: {}, body: JSON.stringify(longer) })
  assert.equal(await cache.get(entry, join(folder, 'another'), soon()), false)
})

/** Passes requests on, and answers as proto3 does by default: names in camelCase, without what has its default value. */
async function startCamelCase(target: string) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const answer = await fetch(new URL(request.url ?? '', target), {
      method: request.method ?? 'GET',
      headers: { authorization: String(request.headers.authorization), 'content-type': 'application/json' },
      body: Buffer.concat(chunks),
    })
    const entries = Object.entries<unknown>(JSON.parse(await answer.text()))
    const camel = (name: string) => name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
    const written = entries.filter(([, value]) => value !== false && value !== '')
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(Object.fromEntries(written.map(([name, value]) => [camel(name), value]))))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a service that answers in camelCase is understood, and what cannot be read is a sentence', async () => {
  await using started = await startCache()
  await using camel = await startCamelCase(started.url)
  const cache = openCache(env(camel.url))
  assert.equal(await cache?.get(entry, join(folder, 'camel-none'), soon()), false)
  await cache?.put(entry, join(folder, 'given'), soon())
  assert.equal(await cache?.get(entry, join(folder, 'camel'), soon()), true)

  const service = { url: '' }
  const strange = createServer((_request, response) =>
    response.end('{"ok":"perhaps","secret":"https://signed"}'),
  )
  strange.listen(0, '127.0.0.1')
  await once(strange, 'listening')
  const address = strange.address()
  service.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  await assert.rejects(
    async () => openCache(env(service.url))?.put(entry, join(folder, 'given'), soon()),
    /^Error: Ralph cannot read the answer to CreateCacheEntry/,
  )
  strange.close()
})
