// The breaker of a story, with the thresholds that people have: 3 without progress, 5 of the same failure, 70 % less output.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { released } from '../../../src/engine/job-end.ts'
import type { Session } from '../../../src/engine/model/attempt.ts'
import type { Event } from '../../../src/engine/model/event.ts'
import { openAttempt } from '../../../src/engine/model/job.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { nextStep, outcomeOf } from '../../../src/engine/next-step.ts'
import { runParts } from '../../../src/engine/prompts/build-prompt.ts'
import { textOf } from '../../../src/engine/prompts/template.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { agentsRestUntil, chooseAgent } from '../../../src/engine/state/limits.ts'
import { viewOf } from '../../../src/report/view.ts'
import { built, gate, limitsWith, MINUTE, NOW, session, stateOf, stories, used } from './samples.ts'

const limits = limitsWith({
  maxAttempts: 50,
  breaker: { noProgress: 3, sameError: 5, outputDecline: 70, coolDownMs: 30 * MINUTE },
})
type Try = {
  tree: string
  summary?: string
  detail?: string
  output?: number
  hints?: Partial<Session['hints']>
  testsOnly?: true
}

/** One rejected attempt that leaves a tree and fails with some words. */
function rejected(
  state: State,
  { tree, summary = 'gate test failed', detail = '', output = 100, hints = {}, testsOnly }: Try,
  at = NOW,
): State {
  const usage = { ...used(0), outputTokens: output }
  const failure = { kind: 'guard' as const, summary, detail }
  const kept = { base: 'green', tree, dropped: [] }
  const all = { done: false, notDone: false, stuck: null, ...hints }
  const candidate = { ...built('abc1234'), testsOnly: true as const }
  const red = [gate(false, { ended: 'exit 1', output: summary })]
  const refusal: Event[] =
    testsOnly === true
      ? [
          { at, kind: 'guarded', storyId: 'US-001', candidate },
          { at, kind: 'gated', storyId: 'US-001', commit: 'abc1234', gates: red },
        ]
      : [{ at, kind: 'refused', storyId: 'US-001', failure }]
  const events: Event[] = [
    { at, kind: 'reserved', storyId: 'US-001' },
    { at, kind: 'worked', storyId: 'US-001', session: session({ usage, hints: all }) },
    ...refusal,
    { at, kind: 'rejected', storyId: 'US-001', kept },
  ]
  return events.reduce((now, event) => reduce(now, event, limits), state)
}

const after = (tries: Try[], state = stateOf(stories('US-001'))) =>
  tries.reduce((now, one) => rejected(now, one), state)
const breakerOf = (state: State) => state.records['US-001']?.breaker
const words = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    tree: `tree ${index}`,
    summary: `${'x'.repeat(index)} fails`,
  }))

describe('the breaker opens', () => {
  test('after three attempts that left the tree as it was', () => {
    const same = words(4).map((one) => ({ ...one, tree: 'the same' }))
    assert.equal(breakerOf(after(same.slice(0, 3)))?.position, 'closed')
    const open = after(same)
    assert.equal(breakerOf(open)?.position, 'open')
    assert.match(
      open.prd.userStories[0]?.notes ?? '',
      /^waits until .*changed nothing.*\. The command retry US-001 -- <hint> tries it again at once$/,
    )
  })

  test('after three attempts in a row that changed tests only, and status names the reason', () => {
    const tests = words(3).map((one) => ({ ...one, testsOnly: true as const }))
    const near = after(tests.slice(0, 2))
    assert.equal(breakerOf(near)?.position, 'closed')
    const shown = viewOf(near, { now: NOW, limits, runUrl: null }).exits.map(
      ({ name, text }) => `${name}: ${text}`,
    )
    assert.ok(shown.includes('Only tests: 2 of 3 in a row (US-001)'), shown.join('\n'))
    const open = after(tests)
    assert.equal(breakerOf(open)?.position, 'open')
    assert.match(
      open.prd.userStories[0]?.notes ?? '',
      /^waits until .*3 attempts in a row changed only tests/,
    )
    assert.match(viewOf(open, { now: NOW, limits, runUrl: null }).circuit.text, /changed only tests/)
    const other = after([...tests.slice(0, 2), { tree: 'code' }, ...tests.slice(0, 1)])
    assert.equal(breakerOf(other)?.position, 'closed')
  })

  test('after an agent said done twice in a row and was refused: log, status and the next prompt say so', () => {
    const sure = words(2).map((one) => ({ ...one, hints: { done: true, confidence: 100 } }))
    const said = 'the agent has said 2 times in a row that the story is done, but a check failed each time'
    const twice = after(sure)
    assert.match(twice.progress.at(-1) ?? '', new RegExp(`Note for next:\\*\\* .*; ${said}`))
    assert.doesNotMatch(twice.progress[0] ?? '', /times in a row/)
    const shown = viewOf(twice, { now: NOW, limits, runUrl: null }).exits.map(
      ({ name, text }) => `${name}: ${text}`,
    )
    assert.ok(shown.includes('False DONE: 2 times in a row (US-001)'), shown.join('\n'))
    const [story] = twice.prd.userStories
    assert.ok(story !== undefined)
    const facts = { gates: [], services: [], instructions: '', context: '', dropped: [], conflict: null }
    const prompt = textOf(runParts('{{storyId}}: {{failureSummary}}', twice, story, facts))
    assert.ok(prompt.endsWith(`; ${said}`), prompt)
  })

  test('a confident text counts as done, a vague one does not, and a text of not done ends the row', () => {
    const with60 = words(2).map((one) => ({ ...one, hints: { confidence: 60 } }))
    assert.equal(breakerOf(after(with60))?.doneInRow, 2)
    assert.equal(
      breakerOf(after(words(2).map((one) => ({ ...one, hints: { confidence: 50 } }))))?.doneInRow,
      0,
    )
    assert.equal(breakerOf(after([...with60, { tree: 'x' }]))?.doneInRow, 0)
  })

  test('after five attempts with the same failure, whatever its numbers', () => {
    const same = words(5).map((one, index) => ({ ...one, summary: `expected ${index}, line ${index * 7}` }))
    assert.equal(breakerOf(after(same.slice(0, 4)))?.position, 'closed')
    assert.equal(breakerOf(after(same))?.position, 'open')
  })

  test('by what failed, not by the table below it or its time', () => {
    const table = Array.from({ length: 60 }, (_, at) => `part-${at}.js |  50 |  25 | 100 |  50 |`).join('\n')
    const noise = (ms: number) =>
      Array.from({ length: 60 }, (_, at) => `ran step ${at} in ${ms * at} ms`).join('\n')
    const failing = (what: string, ms: number) =>
      `${noise(ms)}\nnot ok 7 - ${what} # time=${ms}ms\n  at src/cart.js:${ms}:5\n${noise(ms)}\n${table}`
    const tries = words(5).map(({ tree }, at) => ({ tree, detail: failing('the tax', 10 ** at) }))
    assert.equal(breakerOf(after(tries))?.position, 'open')
    const [last, ...others] = tries
    if (last === undefined) throw new Error('one is needed')
    assert.equal(
      breakerOf(after([...others, { ...last, detail: failing('the discount', 7) }]))?.position,
      'closed',
    )
  })

  test('when an attempt changed nothing and said far less', () => {
    const [one, two] = words(2)
    if (one === undefined || two === undefined) throw new Error('two are needed')
    assert.equal(breakerOf(after([one, { ...two, output: 29 }]))?.position, 'closed', 'it changed something')
    assert.equal(breakerOf(after([one, { ...two, tree: one.tree, output: 31 }]))?.position, 'closed')
    assert.equal(breakerOf(after([one, { ...two, tree: one.tree, output: 29 }]))?.position, 'open')
  })

  test('not while every attempt makes progress', () => {
    assert.equal(breakerOf(after(words(20)))?.position, 'closed')
  })
})

describe('a story that rests after the breaker opened', () => {
  const open = after(
    words(4).map((one) => ({ ...one, tree: 'the same' })),
    stateOf(stories('US-001', 'US-002')),
  )
  const ready = (state: State): State => ({
    ...state,
    baseline: 'green',
    job: { ...state.job, ready: { synced: true, prepared: true, opened: true } },
  })

  test('lets other stories go on', () => {
    assert.deepEqual(nextStep(ready(open), limits, NOW), { kind: 'reserve', storyId: 'US-002' })
  })

  test('ends the job when no other is left, until its cool-down is over', () => {
    const alone = after(words(4).map((one) => ({ ...one, tree: 'the same' })))
    const verdict = outcomeOf(ready(alone), limits, NOW)
    assert.deepEqual([verdict?.outcome, verdict?.until], ['paused', NOW + 30 * MINUTE])
    assert.match(verdict?.reason ?? '', /has to wait until/)
    assert.deepEqual(nextStep(ready(alone), limits, NOW + 30 * MINUTE), {
      kind: 'reserve',
      storyId: 'US-001',
    })
  })

  test('gets one attempt after the cool-down: a failure opens the breaker again, a pass closes it', () => {
    const later = NOW + 31 * MINUTE
    const trial = reduce(open, { at: later, kind: 'reserved', storyId: 'US-001' }, limits)
    assert.equal(breakerOf(trial)?.position, 'half-open')
    const again = rejected(open, { tree: 'another', summary: 'something else' }, later)
    assert.equal(breakerOf(again)?.position, 'open')
    assert.deepEqual(
      breakerOf(again)?.history.map(({ from, to }) => `${from} ${to}`),
      ['closed open', 'open half-open', 'half-open open'],
    )
    const passed: Event[] = [
      { at: later, kind: 'worked', storyId: 'US-001', session: session() },
      { at: later, kind: 'guarded', storyId: 'US-001', candidate: built('c') },
      { at: later, kind: 'gated', storyId: 'US-001', commit: 'c', gates: [] },
      { at: later, kind: 'accepted', storyId: 'US-001', commit: 'c' },
    ]
    const closed = passed.reduce((now, event) => reduce(now, event, limits), trial)
    assert.equal(breakerOf(closed)?.position, 'closed')
  })

  test('is worked on again after `retry` and `redo`, not after a note', () => {
    const said = (kind: 'retry' | 'note') =>
      reduce(
        open,
        {
          at: NOW,
          kind: 'synced',
          theirs: null,
          commands: [{ id: 9, by: 'ann', kind, stories: ['US-001'], guidance: 'look there' }],
        },
        limits,
      )
    assert.equal(breakerOf(said('retry'))?.position, 'closed')
    assert.equal(breakerOf(said('note'))?.position, 'open')
  })
})

describe('the fallback agent', () => {
  const both = limitsWith({ fallback: 'codex', maxAttempts: 9 })
  const agentOf = (state: State, at = NOW) =>
    openAttempt(reduce(state, { at, kind: 'reserved', storyId: 'US-001' }, both))?.agent
  const limit = (state: State, at: number) =>
    [
      { at, kind: 'reserved', storyId: 'US-001' },
      {
        at,
        kind: 'worked',
        storyId: 'US-001',
        session: session({ status: 'limit', resetsAt: at + 60 * MINUTE }),
      },
      { at, kind: 'returned', storyId: 'US-001', kept: null },
    ].reduce((now, event) => reduce(now, event as Event, both), state)

  test('works while the first agent is limited, without a wait', () => {
    const limited = limit(stateOf(stories('US-001')), NOW)
    assert.equal(agentsRestUntil(limited, both, NOW), null)
    assert.equal(limited.prd.run.iterations, 0, 'nothing was charged')
    assert.equal(agentOf(limited), 'fallback')
    assert.equal(agentOf(limited, NOW + 61 * MINUTE), 'first')
  })

  test('is waited for when it is limited, too', () => {
    const twice = limit(limit(stateOf(stories('US-001')), NOW), NOW + MINUTE)
    assert.equal(agentsRestUntil(twice, both, NOW + MINUTE), NOW + 60 * MINUTE, 'the sooner of the two')
    assert.equal(agentsRestUntil(twice, both, NOW + 60 * MINUTE), null)
  })

  test('takes over after two failed attempts', () => {
    const once = after(words(1))
    assert.equal(agentOf(once), 'first')
    assert.equal(agentOf(after(words(2))), 'fallback')
  })
})

test('at its limit delays nothing: the first agent goes on', () => {
  const both = limitsWith({ fallback: 'codex', maxAttempts: 9 })
  const failed = after(words(2))
  const events: Event[] = [
    { at: NOW, kind: 'reserved', storyId: 'US-001' },
    {
      at: NOW,
      kind: 'worked',
      storyId: 'US-001',
      session: session({ status: 'limit', resetsAt: NOW + 6000 * MINUTE }),
    },
    { at: NOW, kind: 'returned', storyId: 'US-001', kept: null },
  ]
  const limited = events.reduce((now, event) => reduce(now, event, both), failed)
  assert.equal(agentsRestUntil(limited, both, NOW), null)
  const next = reduce(limited, { at: NOW, kind: 'reserved', storyId: 'US-001' }, both)
  assert.equal(openAttempt(next)?.agent, 'first')
})

test('judges when the first judge is limited; if both are, the run waits', () => {
  const both = limitsWith({ fallback: 'codex' })
  const limit = { kind: 'limit' as const, notBefore: NOW + 60 * MINUTE, message: 'limit' }
  const verified: Event = { at: NOW, kind: 'verified', gates: [], verdict: limit, usage: used(0) }
  const once = reduce(stateOf(stories('US-001')), verified, both)
  assert.equal(chooseAgent(once, both, NOW), 'fallback')
  assert.equal(agentsRestUntil(once, both, NOW), null)
  assert.equal(agentsRestUntil(reduce(once, verified, both), both, NOW), NOW + 60 * MINUTE)
})

describe('pauses in the state', () => {
  const paused = { reason: 'paused by ann', by: 'ann' }
  const held = stateOf(stories('US-001'))
  const byAnn = { ...held, published: 'green', control: { ...held.control, paused } }

  test("of a person are not replaced by Ralph's own", () => {
    for (const kind of ['join-failed', 'push-refused'] as const) {
      const after = reduce(byAnn, { at: NOW, kind, summary: 'red' }, limits)
      assert.deepEqual(after.control.paused, paused)
      assert.equal(after.job.branch.kind, 'refused')
    }
  })

  test('without a wait clear an earlier wait, so that nothing starts the run again', () => {
    const waited = { ...byAnn, control: { ...byAnn.control, notBefore: NOW - 1 } }
    const conclusion = { outcome: 'paused' as const, reason: 'deleted', until: null }
    const ended = released(reduce(waited, { at: NOW, kind: 'concluded', conclusion }, limits), limits)
    assert.equal(ended.control.notBefore, null)
  })
})
