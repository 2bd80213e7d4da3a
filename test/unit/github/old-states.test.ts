// Which states are old: by their pull request, a month after its end. And that a ref which moved meanwhile is not deleted.
import assert from 'node:assert/strict'
import test from 'node:test'
import { deleteStates, readStates } from '../../../src/branch/remote-states.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { findOldStates, KEEP_MS } from '../../../src/github/old-states.ts'
import { startGitHub } from '../../standin/github.ts'
import { midRun } from '../report/samples.ts'
import { connected } from './connected.ts'
import { putState } from './put-state.ts'

const NOW = Date.now()
const DAY_MS = 24 * 60 * 60_000
const OLD = NOW - KEEP_MS - DAY_MS
const RECENT = NOW - KEEP_MS + DAY_MS

async function place() {
  const github = await startGitHub({ people: { alice: 'admin' } })
  const warnings: string[] = []
  const client = (pulls: 'read' | null = 'read') =>
    connected(
      github,
      github.mintJobToken({ contents: 'write', ...(pulls === null ? {} : { pull_requests: pulls }) }),
      (text: string) => warnings.push(text),
    )
  const remote = { url: github.bare.path, env: {} }
  return {
    github,
    warnings,
    client,
    remote,
    read: () => readStates(remote, process.env, 'refs/ralph'),
    /** A feature with a pull request that was closed then; null: it is open. */
    async feature(name: string, used: number, closed: number | null): Promise<State> {
      await github.commit(`ralph/${name}`, { [name]: name }, name, 'alice')
      const pull = await github.openPull('alice', { head: `ralph/${name}`, title: name })
      if (closed !== null) {
        github.closePull(pull.number)
        const issue = github.world.issues.get(pull.number)
        if (issue !== undefined) issue.closedAt = new Date(closed).toISOString()
      }
      const sample = midRun()
      const state = {
        ...sample,
        feature: name,
        folder: `.ralph/2026-01-01-${name}`,
        lease: null,
        job: { ...sample.job, startedAt: used },
        github: { ...sample.github, pull: pull.number },
      }
      await putState(github, state)
      return state
    },
    [Symbol.asyncDispose]: () => github[Symbol.asyncDispose](),
  }
}

test('a state is old a month after its pull request was closed, if no job used it since', async () => {
  await using there = await place()
  await there.feature('old', OLD, OLD)
  await there.feature('closed-lately', OLD, RECENT)
  await there.feature('used-lately', RECENT, OLD)
  await there.feature('open', OLD, null)
  const stored = await there.read()
  assert.deepEqual([...stored.keys()].length, 4)
  const requests = there.github.requests.length
  const old = await findOldStates(there.client(), stored, NOW)
  assert.deepEqual([...old.keys()], ['2026-01-01-old'])
  // The one that was used lately is not looked up.
  assert.equal(there.github.requests.length - requests, 3)
  await deleteStates(there.remote, process.env, 'refs/ralph', old)
  assert.deepEqual([...(await there.read()).keys()].sort(), [
    '2026-01-01-closed-lately',
    '2026-01-01-open',
    '2026-01-01-used-lately',
  ])
  assert.deepEqual(there.github.violations, [])
})

test('with more old states than one job looks up, each has its turn', async () => {
  await using there = await place()
  for (const name of ['one', 'two', 'three']) await there.feature(name, OLD, name === 'three' ? OLD : null)
  const stored = await there.read()
  const seen = new Set<string>()
  for (const hour of [0, 1, 2])
    for (const folder of (await findOldStates(there.client(), stored, NOW + hour * 60 * 60_000, 1)).keys())
      seen.add(folder)
  assert.deepEqual([...seen], ['2026-01-01-three'])
})

test('a state that a run saved after it was read is kept', async () => {
  await using there = await place()
  const state = await there.feature('old', OLD, OLD)
  const old = await findOldStates(there.client(), await there.read(), NOW)
  const commit = await putState(there.github, { ...state, job: { ...state.job, startedAt: NOW } })
  await assert.rejects(deleteStates(there.remote, process.env, 'refs/ralph', old), /stale info/)
  assert.equal((await there.read()).get('2026-01-01-old')?.commit, commit)
})

test('a token that may not read pull requests deletes nothing, and the warning names the permission', async () => {
  await using there = await place()
  await there.feature('old', OLD, OLD)
  assert.equal((await findOldStates(there.client(null), await there.read(), NOW)).size, 0)
  assert.match(there.warnings.join('\n'), /could not look up pull request #\d+: .*pull-requests: read/)
})
