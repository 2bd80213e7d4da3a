// The upload of an artifact: the same requests as the real client's, and what becomes of one that fails.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { runtimeOf, uploadArtifact } from '../../../src/github/artifact.ts'
import { type Asked, newRuntimeToken, runtimeToken, startResults } from '../../standin/results.ts'

const env = (url: string) => ({
  ACTIONS_RUNTIME_TOKEN: runtimeToken,
  ACTIONS_RESULTS_URL: url,
  GITHUB_SERVER_URL: 'https://github.com',
})
const zip = new TextEncoder().encode('as if it were a zip')
const soon = () => AbortSignal.timeout(5000)

test('create and finalize send the same requests as @actions/artifact; the blob is uploaded in one request', async () => {
  await using results = await startResults()
  const runtime = runtimeOf(env(results.url))
  assert.ok(runtime !== null)
  assert.equal(await uploadArtifact(runtime, 'ralph-auth-7-1', zip, soon()), '4711')
  const recorded: Asked[] = JSON.parse(
    await readFile(new URL('../../fixtures/github/artifact-upload.json', import.meta.url), 'utf8'),
  )
  const spoken = (all: readonly Asked[]) => all.filter(({ path }) => path.startsWith('/twirp/'))
  assert.deepEqual(spoken(results.service.asked), spoken(recorded))
  assert.equal(recorded.length, 4)
  const put = results.service.asked.find(({ method }) => method === 'PUT')
  const committed = recorded.findLast(({ method }) => method === 'PUT')
  assert.equal(put?.headers['x-ms-blob-content-type'], committed?.headers['x-ms-blob-content-type'])
  assert.deepEqual([...results.service.artifacts.values()].map(String), ['as if it were a zip'])
})

test('without a results service, or with a token without its scope, no request is made', () => {
  const known = env('https://results.test/')
  assert.equal(runtimeOf(known)?.run, 'ce7f54c7-61c7-4aae-887f-30da475f5f1a')
  for (const more of [
    { ACTIONS_RESULTS_URL: '' },
    { ACTIONS_RESULTS_URL: 'nowhere' },
    { ACTIONS_RUNTIME_TOKEN: '' },
    { ACTIONS_RUNTIME_TOKEN: 'a.b.c' },
    { ACTIONS_RUNTIME_TOKEN: `x.${Buffer.from('{"scp":"Actions.Results:only"}').toString('base64url')}.x` },
    { GITHUB_SERVER_URL: 'https://github.acme.test' },
  ])
    assert.equal(runtimeOf({ ...known, ...more }), null, JSON.stringify(more))
  assert.notEqual(runtimeOf({ ...known, GITHUB_SERVER_URL: 'https://acme.ghe.com' }), null)
})

test('an artifact service that refuses, hangs or returns another digest is an error without the signed URL', async () => {
  for (const [what, status] of [
    ['CreateArtifact', 500],
    ['blob', 403],
    ['FinalizeArtifact', 502],
  ] as const) {
    await using results = await startResults()
    const runtime = runtimeOf(env(results.url))
    assert.ok(runtime !== null)
    results.service.faults.set(what, status)
    await assert.rejects(uploadArtifact(runtime, 'a', zip, soon()), (error: Error) => {
      assert.match(error.message, new RegExp(`failed with HTTP ${status}`))
      assert.doesNotMatch(error.message, /sig=|http:/)
      return true
    })
    assert.equal(results.service.artifacts.size, 0)
  }
  await using results = await startResults()
  const runtime = runtimeOf(env(results.url))
  assert.ok(runtime !== null)
  await uploadArtifact(runtime, 'twice', zip, soon())
  await assert.rejects(uploadArtifact(runtime, 'twice', zip, soon()), /409 .*already exists/)
  const foreign = { ...runtime, token: newRuntimeToken('another') }
  await assert.rejects(uploadArtifact(foreign, 'b', zip, soon()), /401/)
  results.hang()
  await assert.rejects(uploadArtifact(runtime, 'c', zip, AbortSignal.timeout(100)), { name: 'TimeoutError' })
})
