// `ralph archive --prune` on a laptop, with the stand-in of GitHub as origin.
import assert from 'node:assert/strict'
import test from 'node:test'
import { startGitHub } from '../../standin/github.ts'
import { putState } from '../github/put-state.ts'
import { midRun } from '../report/samples.ts'
import { openPlace } from './place.ts'

test('archive --prune deletes old states on origin and names them; without a token it says what is missing', async () => {
  await using github = await startGitHub({
    people: { alice: 'admin' },
    tokens: {
      'a-token': { login: 'alice', type: 'User', permissions: { contents: 'write', pull_requests: 'read' } },
    },
  })
  await using place = await openPlace([])
  place.git('remote', 'add', 'origin', github.cloneUrl.replace('://', '://x:a-token@'))
  Object.assign(place.env, {
    GITHUB_API_URL: github.url,
    GITHUB_SERVER_URL: github.url,
    PATH: process.env.PATH,
  })
  const without = await place.ralph('archive', '--prune')
  assert.equal(without.code, 64)
  assert.match(without.err, /there is no token for [\s\S]*GH_TOKEN/)
  place.env.GH_TOKEN = 'a-token'
  await github.commit('ralph/auth', { a: 'a' }, 'a', 'alice')
  const pull = await github.openPull('alice', { head: 'ralph/auth', title: 'auth' })
  const monthAgo = Date.now() - 31 * 24 * 60 * 60_000
  const sample = midRun()
  const state = {
    ...sample,
    lease: null,
    job: { ...sample.job, startedAt: monthAgo },
    github: { ...sample.github, pull: pull.number },
  }
  await putState(github, state)
  const kept = await place.ralph('archive', '--prune')
  assert.match(kept.out, /^0 old states deleted, 1 kept\. /)
  github.closePull(pull.number)
  const issue = github.world.issues.get(pull.number)
  assert.ok(issue !== undefined)
  issue.closedAt = new Date(monthAgo).toISOString()
  const pruned = await place.ralph('archive', '--prune')
  assert.deepEqual([pruned.code, pruned.err], [0, ''])
  assert.match(pruned.out, /^deleted: refs\/ralph\/\S+\n1 old state deleted, 0 kept\. /)
  assert.equal(await github.bare.run(['for-each-ref', 'refs/ralph']), '')
  assert.deepEqual(github.violations, [])
})
