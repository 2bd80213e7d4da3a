// A chain ends at its limits, never green, and goes on when a person raises them.
import assert from 'node:assert/strict'
import test from 'node:test'
import { goodTurn, openChecks, openSite, outputsOf, story } from './site.ts'

const STORIES = [story('US-001', 'one'), story('US-002', 'two'), story('US-003', 'three')]
const SCRIPT = {
  'US-001': [goodTurn('one', 1)],
  'US-002': [goodTurn('two', 2)],
  'US-003': [goodTurn('three', 3)],
}

test('max-iterations counts over the jobs of a chain and ends it; `/ralph limit iterations` lets it go on', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    inputs: { 'max-iterations': '2', 'iterations-per-job': '1' },
  })
  const { runner } = site
  await site.go()
  assert.deepEqual(
    runner.runs.map((run) => [run.conclusion, outputsOf(run).outcome]),
    [
      ['success', 'continued'],
      ['failure', 'max-iterations'],
    ],
    site.log(),
  )
  assert.equal((await site.checks()).get('ralph')?.conclusion, 'failure')
  const [summary] = site.github.comments((await site.pull()).number)
  assert.match(summary?.body ?? '', /\/ralph limit iterations \+5/)
  assert.equal((await site.pull()).draft, true)

  await site.say('alice', '/ralph limit iterations +5')
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
  assert.equal(site.last().conclusion, 'success')
  assert.equal(outputsOf(site.last()).iterations, '3')
  assert.equal((await site.pull()).draft, false)
})

test('a run that has reached its limit changes nothing when run again, and fails again', async () => {
  await using site = await openSite({ stories: STORIES, script: SCRIPT, inputs: { 'max-iterations': '1' } })
  await site.go()
  assert.equal(outputsOf(site.last()).outcome, 'max-iterations', site.log())
  const head = await site.github.head('ralph/sample')
  await site.go()
  assert.equal(outputsOf(site.last()).outcome, 'max-iterations', site.log())
  assert.equal(site.last().conclusion, 'failure')
  assert.equal(await site.github.head('ralph/sample'), head)
  assert.equal((await site.sessions()).length, 1)
})

test('a run whose last allowed iteration passes the last story is complete', async () => {
  await using site = await openSite({ stories: STORIES, script: SCRIPT, inputs: { 'max-iterations': '3' } })
  await site.go()
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
})

test('max-cost-usd ends the chain with the outcome budget; `/ralph limit cost` lets it go on', async () => {
  await using site = await openSite({ stories: STORIES, script: SCRIPT, inputs: { 'max-cost-usd': '0.02' } })
  await site.go()
  assert.equal(outputsOf(site.last()).outcome, 'budget', site.log())
  assert.equal(outputsOf(site.last())['cost-usd'], '0.02')
  assert.equal(site.last().conclusion, 'failure')
  assert.equal((await site.sessions()).length, 2)
  const [summary] = site.github.comments((await site.pull()).number)
  assert.match(summary?.body ?? '', /\/ralph limit cost \+1/)

  await site.say('bob', '/ralph limit cost +1')
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
})

test('max-jobs ends the chain in a job without work, and leaves no check in progress', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    inputs: { 'iterations-per-job': '1', 'max-jobs': '1' },
  })
  await site.go()
  assert.deepEqual(
    site.runner.runs.map((run) => [run.conclusion, outputsOf(run).outcome]),
    [
      ['success', 'continued'],
      ['failure', 'max-iterations'],
    ],
    site.log(),
  )
  assert.deepEqual(openChecks(site), [])
  assert.equal((await site.checks()).get('ralph')?.conclusion, 'failure')
})
