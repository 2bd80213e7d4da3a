import assert from 'node:assert/strict'
import test from 'node:test'
import { createClient } from '../../../src/github/client.ts'
import { startGitHub } from '../../standin/github.ts'

const call = { owner: 'acme', repo: 'shop' }

test('a try that is not answered is given up, and the call goes on', async () => {
  await using github = await startGitHub()
  const fault = github.fault({ kind: 'rest' }, 'hang')
  const token = github.mintJobToken({ contents: 'read' })
  const api = createClient({ token, url: github.url, tryMs: 200, warn() {} })
  assert.equal((await api.rest.repos.get(call)).status, 200)
  assert.equal(fault.hits, 1)
})

test('a wait for a rate limit does not count as the time of a try', async () => {
  await using github = await startGitHub()
  const body = { message: 'You have exceeded a secondary rate limit.' }
  const fault = github.fault({ kind: 'rest' }, { status: 403, headers: { 'retry-after': '1' }, body })
  const token = github.mintJobToken({ contents: 'read' })
  const api = createClient({ token, url: github.url, tryMs: 500, warn() {} })
  assert.equal((await api.rest.repos.get(call)).status, 200)
  assert.equal(fault.hits, 1)
})
