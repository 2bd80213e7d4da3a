// What runs out while a job works: its time, and the token that pushes the branch.

import assert from 'node:assert/strict'
import test from 'node:test'
import { openAttempt } from '../../src/engine/model/job.ts'
import { annotationsOf, goodTurn, openChecks, openSite, outputsOf, story } from './site.ts'

const STORIES = [story('US-001', 'one'), story('US-002', 'two')]
const APP = {
  login: 'ralph[bot]',
  type: 'Bot' as const,
  permissions: { contents: 'write' as const, pull_requests: 'write' as const },
}
const SCRIPT = { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] }

test('a job that reaches its deadline during a gate charges nothing and saves in time, and the next job goes on', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    inputs: {
      gates: 'slow: "! [ -e src/one.mjs ] || [ -e ../fast ] || sleep 600"',
      'job-deadline': '15s',
      redispatch: 'false',
    },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'continued', site.log())
  assert.match(site.log(), /the job deadline came first/)
  const state = await site.state()
  assert.deepEqual([state.lease, openAttempt(state), state.prd.run.iterations], [null, null, 0])
  assert.equal(state.records['US-001']?.interruptions, 1)
  assert.notEqual(state.kept['US-001'], undefined, 'the work so far is kept')
})

test('the publish token expires before the last push: the state is saved, and the next job publishes', async () => {
  const token = 'ghp_an_app_token_of_one_hour'
  await using site = await openSite({
    stories: STORIES,
    script: {},
    inputs: { 'publish-token': ['$', '{{ secrets.APP_TOKEN }}'].join('') },
    github: { tokens: { [token]: APP } },
    runner: { secrets: { APP_TOKEN: token } },
  })
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  site.github.revokeToken(token)
  const first = site.runner.runs[0]
  assert.ok(first !== undefined)
  await middle.release()
  await site.runner.when((one) => one.id === first.id && one.status === 'completed')
  site.github.addToken(token, APP)
  await site.runner.settled()

  assert.equal(outputsOf(first).outcome, 'continued', site.log())
  assert.equal(first.conclusion, 'success')
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
  assert.deepEqual(
    (await site.prd()).userStories.map((one) => one.passes),
    [true, true],
  )
  assert.deepEqual(openChecks(site), [])
  assert.equal(
    (await site.sessions()).filter(({ mode }) => mode === 'run').length,
    2,
    'nothing is done twice',
  )
})

test('an invalid publish token is refused before anything is made', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    inputs: { 'publish-token': 'ghp_of_nobody' },
  })
  const run = await site.go()
  assert.equal(run.conclusion, 'failure')
  assert.equal(outputsOf(run).outcome, 'error')
  assert.match(annotationsOf(run, 'error').join('\n'), /set publish-token to a valid token/)
  assert.equal(await site.github.head('ralph/sample'), null)
})

test('a job that resumes after another one has taken the lease pushes nothing, and says so', async () => {
  await using site = await openSite({ stories: STORIES, script: {} })
  const middle = site.hold('middle')
  await site.setScript({ 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  const run = await middle.reached()
  const { bare } = site.github
  const ref = 'refs/ralph/2026-01-31-sample'
  const state = await site.state()
  assert.ok(state.lease !== null)
  // What the other one has written: the lease is its own now.
  const taken = { ...state, attempt: null, lease: { ...state.lease, nonce: 'another', runId: 424242 } }
  const blob = await bare.run(['hash-object', '-w', '--stdin'], { input: JSON.stringify(taken) })
  const at = async () => (await bare.run(['rev-parse', ref])).trim()
  const before = await at()
  const tree = await bare.writeTree(before, [`100644 ${blob.trim()}\t.ralph-state/state.json`])
  const who = { name: 'Other', email: 'other@example.com' }
  const other = await bare.commitTree(tree, [before], 'taken over', { author: who, committer: who })
  await bare.run(['update-ref', ref, other])
  const branch = await site.github.head('ralph/sample')
  // It is posted beside the session.
  const { body: comment } = await site.github.firstComment((await site.pull()).number)
  await middle.release()
  await site.runner.settled()

  assert.equal(run.conclusion, 'success', site.log())
  assert.match(annotationsOf(run, 'notice').join('\n'), /another run has taken over this feature/)
  assert.equal(await at(), other, 'the state is as the other one left it')
  assert.equal(await site.github.head('ralph/sample'), branch)
  assert.equal(site.github.comments((await site.pull()).number)[0]?.body, comment)
  assert.equal(site.runner.runs.length, 1, 'nothing was dispatched')
})
