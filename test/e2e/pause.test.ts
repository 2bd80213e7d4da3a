// People hold a run and let it go on: pause after the iteration in work, stop at once, run.

import assert from 'node:assert/strict'
import test from 'node:test'
import { openAttempt } from '../../src/engine/model/job.ts'
import { goodTurn, openSite, outputsOf, story } from './site.ts'

test('`/ralph pause` in a session: the iteration ends, and no other begins until `/ralph run`', async () => {
  await using site = await openSite({
    stories: [story('US-001', 'one'), story('US-002', 'two')],
    script: {},
  })
  const { github, runner } = site
  const middle = site.hold('middle')
  await site.setScript({
    'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }],
    'US-002': [goodTurn('two', 2)],
  })
  const work = await runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  const { number } = await site.pull()
  // The summary is posted beside the session.
  await github.firstComment(number)
  const pause = github.comment('alice', number, '/ralph pause')
  await runner.when((run) => run.event === 'issue_comment' && run.status === 'completed')
  assert.deepEqual(site.reactions(pause.id), ['github-actions[bot]: eyes'])
  assert.equal(work.status, 'in_progress')
  await middle.release()
  await runner.settled()

  assert.deepEqual(github.violations, [], site.log())
  assert.deepEqual(
    runner.runs.map((run) => run.event),
    ['workflow_dispatch', 'issue_comment'],
    site.log(),
  )
  assert.equal(outputsOf(work).outcome, 'paused', site.log())
  assert.equal(work.conclusion, 'success')
  assert.equal(outputsOf(work)['stories-passed'], '1')
  assert.deepEqual(site.reactions(pause.id), ['github-actions[bot]: eyes', 'github-actions[bot]: rocket'])
  assert.equal((await site.checks()).get('ralph')?.conclusion, 'action_required')
  assert.match(github.comments(number)[0]?.body ?? '', /Paused by alice/)
  assert.equal((await site.state()).lease, null)

  // Pressing the button does not end a person's pause.
  await site.go()
  assert.equal(outputsOf(site.last()).outcome, 'paused', site.log())
  assert.equal((await site.sessions()).length, 1)

  await site.say('bob', '/ralph run')
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
  assert.equal(github.comments(number).filter((one) => one.login === 'github-actions[bot]').length, 1)
})

test('`/ralph stop` ends the session in work uncharged, and pauses the run', async () => {
  await using site = await openSite({
    stories: [story('US-001', 'one')],
    script: { 'US-001': [{ files: { 'src/half.mjs': '' }, shell: 'echo "half done"', hang: true }] },
  })
  const { github, runner } = site
  const work = await runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await runner.when((run) => run.status === 'completed' || runner.log(run).includes('hanging\n'))
  assert.equal(work.status, 'in_progress', site.log())
  const comment = await site.say('alice', '/ralph stop')

  assert.equal(work.conclusion, 'cancelled', site.log())
  const outcomes = runner.runs.map((run) => outputsOf(run).outcome).filter((outcome) => outcome !== undefined)
  assert.deepEqual(outcomes, ['interrupted', 'paused'], site.log())
  assert.equal((await site.sessions()).length, 1)
  assert.deepEqual(site.reactions(comment), ['github-actions[bot]: eyes', 'github-actions[bot]: rocket'])
  const state = await site.state()
  assert.equal(state.prd.run.iterations, 0)
  assert.equal(state.prd.userStories[0]?.retries, 0)
  assert.equal(openAttempt(state), null)
  assert.equal(state.control.paused?.reason, 'stopped by alice')
  assert.equal((await site.checks()).get('ralph')?.status, 'completed')

  await site.setScript({ 'US-001': [goodTurn('one', 1)] })
  await site.say('alice', '/ralph run')
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
  assert.equal(outputsOf(site.last()).iterations, '1')
  assert.deepEqual(github.violations, [], site.log())
})
