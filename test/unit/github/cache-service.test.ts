// GitHub's cache: the same requests as the real client's, and what becomes of one that fails.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
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
      assert.match(error.message, new RegExp(`was answered with ${status}`))
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
  await assert.rejects(
    cache.get(entry, join(folder, 'refused'), soon()),
    /the download was answered with 404/,
  )
  const longer = { ok: true, signed_download_url: started.url, matched_key: `${entry.key}-of-another` }
  service.answer = () => ({ status: 200, headers: {}, body: JSON.stringify(longer) })
  assert.equal(await cache.get(entry, join(folder, 'another'), soon()), false)
})
