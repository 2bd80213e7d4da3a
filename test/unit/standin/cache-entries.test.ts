// The stand-in's cache service as a program of its own: one process writes an entry, nothing half written is served.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newRuntimeToken } from '../../standin/results.ts'

type Answer = { ok: boolean; signed_upload_url: string; signed_download_url: string }

test("the stand-in's cache finds an entry by key and version once it is finalized with its length, and never changes it", async () => {
  const file = fileURLToPath(new URL('../../standin/cache-entries.ts', import.meta.url))
  const program = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [address] = await once(createInterface(program.stdout), 'line')
    const post = async (method: string, body: object, token = newRuntimeToken('1')) => {
      const url = `${address}/twirp/github.actions.results.api.v1.CacheService/${method}`
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: answer.status, ...((await answer.json()) as Answer) }
    }
    const entry = { key: 'agent', version: 'v1' }
    const { ok: before } = await post('GetCacheEntryDownloadURL', entry)
    const { signed_upload_url: to } = await post('CreateCacheEntry', entry)
    await fetch(to, { method: 'PUT', body: 'bytes' })
    const { ok: half } = await post('FinalizeCacheEntryUpload', { ...entry, size_bytes: '9' })
    const { ok: unfinished } = await post('GetCacheEntryDownloadURL', entry)
    const { ok: whole } = await post('FinalizeCacheEntryUpload', { ...entry, size_bytes: '5' })
    const found = await post('GetCacheEntryDownloadURL', entry)
    const { ok: other } = await post('GetCacheEntryDownloadURL', { ...entry, version: 'v2' })
    assert.deepEqual(
      [before, half, unfinished, whole, found.ok, other],
      [false, false, false, true, true, false],
    )
    assert.equal(await (await fetch(found.signed_download_url)).text(), 'bytes')
    assert.equal((await post('CreateCacheEntry', entry)).status, 409)
    assert.equal((await post('CreateCacheEntry', entry, 'x.e30.x')).status, 401)
  } finally {
    program.kill()
    await once(program, 'exit')
  }
})
