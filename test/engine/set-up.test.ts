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

test('once: neither the next attempt on the story, nor the next story, nor the next job has it again', async () => {
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

test('one that fails is charged, nothing is worked on, and it comes again', async () => {
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

test('one that is stuck says so', async () => {
  const stuck = { session: { hints: { done: false, notDone: false, stuck: 'no network' } } }
  await using chain = await open({ setup: [stuck] }, { 'max-attempts': '1' })
  assert.equal((await chain.go()).outcome, 'stuck')
  const { timeline } = await chain.state()
  assert.match(timeline[0]?.summary ?? '', /the agent says it is stuck: set-up: no network/)
})

test('what an attempt left that was given back is set up, too', async () => {
  await using chain = await open({
    setup: [tool],
    'US-001': [{ session: { status: 'interrupted' } }, goodTurn('one')],
    'US-002': [goodTurn('two')],
  })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.equal(ran(chain), 'setup US-001 US-001 US-002')
  assert.equal(await chain.read(BRANCH, 'src/tool'), 'set up\n')
})

test('where the kept work does not fit any more it comes again; so it does for another story', async () => {
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

test('a set-up that has spent the budget: the story is not begun, and nobody is charged an attempt', async () => {
  await using chain = await open({ setup: [tool] }, { 'max-cost-usd': '0.01' })
  assert.equal((await chain.go()).outcome, 'budget')
  assert.equal(ran(chain), 'setup')
  const { prd, kept, control } = await chain.state()
  assert.deepEqual(
    [prd.userStories[0]?.retries, kept['US-001']?.setUp, control.setUp],
    [0, kept['US-001']?.tree, undefined],
  )
})

test('a set-up is no work on the story: who adds nothing to it has changed nothing, at the next attempt, too', async () => {
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

test('nothing added to a set-up, and the agent says done: a judge decides who names what shows it', async () => {
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
    /without a change, by a judge's word/,
  )
  assert.equal(await chain.read(BRANCH, 'src/tool'), 'set up\n')
})

for (const [what, evidence] of [
  ['nothing', ''],
  ['a gate, which was green before', '<ralph>EVIDENCE:US-001#1 gate test shows it</ralph>\n'],
] as const) {
  test(`nothing is changed, and a judge agrees who names ${what}: the story does not pass`, async () => {
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

test('without a set-up nothing is different', async () => {
  await using chain = await open({ 'US-001': [goodTurn('one')], 'US-002': [goodTurn('two')] })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.equal(ran(chain), 'US-001 US-002')
  assert.ok(!('setUp' in (await chain.state()).control))
})
