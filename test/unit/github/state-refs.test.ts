// The states of runs in CI, asked for conditionally, and seldom.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestError } from '@octokit/request-error'
import { readState, STATE_FILE, stateFiles } from '../../../src/engine/stored-state.ts'
import { nextPollMs, POLL_MS, StateRefs } from '../../../src/github/state-refs.ts'
import { startGitHub } from '../../standin/github.ts'
import { midRun } from '../report/samples.ts'
import { connected } from './connected.ts'
import { putState } from './put-state.ts'

const READS = { contents: 'read' } as const

test('a poll without a change is one request, and does not count against the rate limit', async () => {
  await using github = await startGitHub()
  const token = github.mintJobToken(READS)
  const refs = new StateRefs(connected(github, token), 'refs/ralph')
  assert.deepEqual(await refs.poll(), new Map())
  const commit = await putState(github, midRun())
  const seen = await refs.poll()
  assert.deepEqual(seen, new Map([['2026-01-10-auth', commit]]))
  assert.deepEqual(await readState((file) => refs.text(commit, file)), midRun())
  const before = github.requests.length
  const used = usedBy(github)
  for (let look = 0; look < 5; look++) assert.equal(await refs.poll(), null)
  assert.deepEqual(
    github.requests.slice(before).map(({ status }) => status),
    [304, 304, 304, 304, 304],
  )
  assert.equal(usedBy(github), used)
  refs.resetEtag()
  assert.equal((await refs.poll())?.size, 1)
  assert.deepEqual(github.violations, [])
})

test('a state of many megabytes is read whole', async () => {
  await using github = await startGitHub()
  const state = midRun()
  state.prd.description = 'x'.repeat(3_000_000)
  const commit = await putState(github, state)
  const refs = new StateRefs(connected(github, github.mintJobToken(READS)), 'refs/ralph')
  assert.equal(await refs.text(commit, STATE_FILE), stateFiles(state).text)
})

test('polls are at least 30 s apart, and wait for a rate limit', () => {
  assert.equal(nextPollMs(null, 0), POLL_MS)
  assert.equal(nextPollMs(new Error('no way'), 0), POLL_MS)
  const response = { status: 429, url: '', headers: { 'retry-after': '120' }, data: null }
  const request = { method: 'GET' as const, url: '', headers: {} }
  assert.equal(nextPollMs(new RequestError('slow down', 429, { request, response }), 0), 120_000)
})

function usedBy({ world }: { world: { used: ReadonlyMap<string, number> } }): number {
  return [...world.used.values()].reduce((sum, one) => sum + one, 0)
}
