// The set-up session: once, before the first story, and its work is that story's.

import assert from 'node:assert/strict'
import test from 'node:test'
import { runUsage, usageByKind } from '../../src/engine/model/usage-totals.ts'
import { BRANCH, badTurn, Chain, goodTurn, type Script, story } from './chain.ts'

const tool = { files: { 'src/tool': 'set up\n' } }
const open = (script: Script, inputs: Record<string, string> = {}) =>
  Chain.open({ stories: [story('US-001', 'one'), story('US-002', 'two')], script, inputs })
/** What ran, a word each. */
const ran = (chain: Chain) =>
  chain.sessions.map(({ mode, story }) => (mode === 'run' ? story : mode)).join(' ')

test('a set-up session runs once: not again for the next attempt, the next story or the next job', async () => {
  await using chain = await open(
    { setup: [tool], 'US-001': [badTurn('one'), goodTurn('one')], 'US-002': [goodTurn('two')] },
    { 'iterations-per-job': '1' },
  )
  assert.equal((await chain.go()).outcome, 'complete')
  assert.equal(ran(chain), 'setup US-001 US-001 US-002')
  assert.equal(await chain.read(BRANCH, 'src/tool'), 'set up\n')
  const state = await chain.state()
  const { control } = state
  const { calls, costUsd } = runUsage(state)
  assert.equal(control.setUp, true)
  assert.deepEqual([calls, costUsd], [4, 0.04])
  assert.equal(usageByKind(state).get('set-up')?.calls, 1)
  assert.equal(control.calls.length, 4)
})

test('a set-up session that fails is charged as an attempt, and runs again before the story', async () => {
  await using chain = await open({
    setup: [{ session: { status: 'failed', message: 'out of turns' } }, tool],
    'US-001': [goodTurn('one')],
    'US-002': [goodTurn('two')],
  })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.equal(ran(chain), 'setup setup US-001 US-002')
  const { timeline } = await chain.state()
  assert.deepEqual(
    timeline.map(({ storyId, result, summary }) => [storyId, result, summary.slice(0, 20)]),
    [
      ['US-001', 'rejected', 'set-up: out of turns'],
      ['US-001', 'passed', 'every gate passed'],
      ['US-002', 'passed', 'every gate passed'],
    ],
  )
})

test('a set-up session that says it is stuck blocks the story with its reason', async () => {
  const stuck = { session: { hints: { done: false, notDone: false, stuck: 'no network' } } }
  await using chain = await open({ setup: [stuck] }, { 'max-attempts': '1' })
  assert.equal((await chain.go()).outcome, 'stuck')
  const { timeline } = await chain.state()
  assert.match(timeline[0]?.summary ?? '', /the agent says it is stuck: set-up: no network/)
})

test('after an interrupted attempt its story goes on with the set-up, which does not run again', async () => {
  await using chain = await open({
    setup: [tool],
    'US-001': [{ session: { status: 'interrupted' } }, goodTurn('one')],
    'US-002': [goodTurn('two')],
  })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.equal(ran(chain), 'setup US-001 US-001 US-002')
  assert.equal(await chain.read(BRANCH, 'src/tool'), 'set up\n')
})

test('the set-up session runs again when its saved work conflicts with a push, and for another story', async () => {
  const push = (at: Chain) => at.commit(BRANCH, { 'src/tool': 'theirs\n' })
  await using chain = await open(
    {
      setup: [tool],
      'US-001': [{ ...badTurn('one'), meanwhile: push }, badTurn('one')],
      'US-002': [goodTurn('two')],
    },
    { 'max-attempts': '2' },
  )
  assert.equal((await chain.go()).outcome, 'stuck')
  assert.equal(ran(chain), 'setup US-001 setup US-001 setup US-002')
  assert.equal((await chain.state()).control.setUp, true)
})

test('a set-up session that used up the budget ends the run before the story, without charging an attempt', async () => {
  await using chain = await open({ setup: [tool] }, { 'max-cost-usd': '0.01' })
  assert.equal((await chain.go()).outcome, 'budget')
  assert.equal(ran(chain), 'setup')
  const { prd, kept, control } = await chain.state()
  assert.deepEqual(
    [prd.userStories[0]?.retries, kept['US-001']?.setUp, control.setUp],
    [0, kept['US-001']?.tree, undefined],
  )
})

test("files of the set-up session are not the story's work: a session that adds nothing is rejected, also at the next attempt", async () => {
  await using chain = await open(
    { setup: [tool], 'US-001': [{}], 'US-002': [goodTurn('two')] },
    { 'max-attempts': '2' },
  )
  assert.equal((await chain.go()).outcome, 'stuck')
  const { timeline } = await chain.state()
  assert.deepEqual(
    timeline.slice(0, 2).map(({ result, summary }) => [result, summary]),
    [
      ['rejected', 'the session changed nothing'],
      ['rejected', 'the session changed nothing'],
    ],
  )
  assert.equal(ran(chain), 'setup US-001 US-001 setup US-002')
})

test("a session that adds nothing to the set-up and says done passes when a judge confirms it with evidence in the set-up's files", async () => {
  const shows = '<ralph>EVIDENCE:US-001#1 src/tool</ralph>\n<ralph>EVIDENCE:US-002#1 src/two</ralph>'
  await using chain = await open(
    {
      ...{ setup: [tool], 'US-001': [{}], 'US-002': [goodTurn('two')] },
      verify: [{ answer: `${shows}\n<ralph>VERIFIED</ralph>` }],
    },
    { 'final-verification': 'true' },
  )
  assert.equal((await chain.go()).outcome, 'complete')
  assert.equal(ran(chain), 'setup US-001 verify US-002 verify')
  assert.match(
    (await chain.prd()).userStories[0]?.lastResult?.summary ?? '',
    /without a change, on a judge's word/,
  )
  assert.equal(await chain.read(BRANCH, 'src/tool'), 'set up\n')
})

for (const [what, evidence] of [
  ['nothing', ''],
  ['a gate, which was green before', '<ralph>EVIDENCE:US-001#1 gate test shows it</ralph>\n'],
] as const) {
  test(`a session changes nothing and a judge approves with evidence of ${what}: the story does not pass`, async () => {
    await using chain = await open(
      {
        ...{ 'US-001': [{}, goodTurn('one')], 'US-002': [goodTurn('two')] },
        verify: [{ answer: `${evidence}<ralph>VERIFIED</ralph>` }],
      },
      { 'final-verification': 'true' },
    )
    await chain.go()
    const { timeline } = await chain.state()
    assert.deepEqual([timeline[0]?.storyId, timeline[0]?.result], ['US-001', 'rejected'])
    assert.match(timeline[0]?.summary ?? '', /nothing was changed, and .*US-001#1/)
  })
}

test('without a set-up session no job has one and the state has no field for it', async () => {
  await using chain = await open({ 'US-001': [goodTurn('one')], 'US-002': [goodTurn('two')] })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.equal(ran(chain), 'US-001 US-002')
  assert.ok(!('setUp' in (await chain.state()).control))
})
