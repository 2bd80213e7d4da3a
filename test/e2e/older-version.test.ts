// A chain that Ralph 1.0 began, whose machine was lost in its second job, is gone on with by the action as it is today.
import assert from 'node:assert/strict'
import test from 'node:test'
import { openAttempt } from '../../src/engine/model/job.ts'
import { runUsage } from '../../src/engine/model/usage-totals.ts'
import { restore, SCRIPT, STORIES } from './older-site.ts'
import { openChecks, openSite, outputsOf } from './site.ts'

test('a chain of an older version, lost in a session, is completed: each story once, with its earlier costs', async () => {
  const inputs = { 'iterations-per-job': '0' }
  await using site = await openSite({ stories: STORIES, script: SCRIPT, inputs })
  const recorded = await restore(site)
  const old = await site.state()
  assert.ok(old.version < 5, 'an older version wrote it')
  assert.deepEqual(Object.keys(old.attempts), ['US-003'], 'it was lost in a session')
  assert.notEqual(old.kept['US-003'], undefined, 'work of a red attempt is kept')

  const run = await site.go()
  assert.equal(run.conclusion, 'success', site.log())
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  const state = await site.state()
  assert.equal(state.lease, null)
  assert.equal(openAttempt(state), null)

  const subjects = await site.github.bare.run(['log', '--reverse', '--format=%s', 'main..ralph/sample'])
  assert.deepEqual(
    [...subjects.matchAll(/^feat: (US-\d+)/gm)].map(([, id]) => id),
    STORIES.map(({ id }) => id),
  )
  const sessions = await site.sessions()
  assert.deepEqual(
    sessions.map(({ mode, story, attempt }) => [mode, story, attempt]),
    [
      ['run', 'US-003', 2],
      ['run', 'US-004', 1],
      ['run', 'US-005', 1],
      ['verify', '', 1],
    ],
  )
  // Four sessions before, and these four, cost 0.01 each; so much is supposed of the lost one.
  assert.deepEqual([state.prd.run.iterations, outputsOf(run)['cost-usd']], [7, '0.09'])
  assert.equal(Math.round(runUsage(state).costUsd * 1e8), 0.09 * 1e8)

  const pull = await site.pull()
  assert.equal(pull.draft, false)
  const [comment, ...others] = site.github.comments(pull.number)
  assert.deepEqual(
    [comment?.id, others],
    [recorded.comments[0]?.id, []],
    'the comment is edited, and is the only one',
  )
  assert.match(comment?.body ?? '', /5 of 5/)
  assert.deepEqual(openChecks(site), [])
  const names = ['ralph', ...STORIES.map(({ id }) => `ralph / ${id}`)]
  assert.deepEqual(
    Object.fromEntries([...(await site.checks())].map(([name, check]) => [name, check.conclusion])),
    Object.fromEntries(names.map((name) => [name, 'success'])),
  )
})
