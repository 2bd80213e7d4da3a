// Several candidates for one story: all from one base, all charged, and the gates choose.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slotOf } from '../../../src/engine/model/attempt.ts'
import type { Command } from '../../../src/engine/model/event.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { State } from '../../../src/engine/model/state.ts'
import type { Step } from '../../../src/engine/model/step.ts'
import { runUsage } from '../../../src/engine/model/usage-totals.ts'
import { nextRunStep } from '../../../src/engine/parallel-steps.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import {
  anotherJob,
  built,
  gate,
  HOUR,
  limitsWith,
  NOW,
  runJob,
  type Script,
  saying,
  session,
  stateOf,
  stories,
  used,
} from './samples.ts'

const three: Limits['candidates'] = { run: 3, byTag: [], fromAttempt: 1 }

/** Gates of the story's candidates, and how many lines each wrote, by its slot. */
function making(
  candidates: readonly { ok: boolean; lines?: number; remarks?: string[]; proof?: object }[],
): Script {
  const of = (step: Extract<Step, { attempt: unknown }>) =>
    candidates[(slotOf(step.attempt) ?? 1) - 1] ?? { ok: true }
  return (step) => {
    switch (step.kind) {
      case 'guard': {
        const slot = slotOf(step.attempt) ?? 0
        return { kind: 'guarded', candidate: { ...built(`c${slot}`), remarks: of(step).remarks ?? [] } }
      }
      case 'gates': {
        const { ok, proof } = of(step)
        const result = { ...gate(ok), ...(proof === undefined ? {} : { proof }) }
        return { kind: 'gated', commit: step.attempt.candidate.commit, gates: [result] }
      }
      case 'enter':
        return step.attempt.phase === 'gated'
          ? { kind: 'entered', lines: of(step).lines ?? 10, kept: null }
          : {
              kind: 'entered',
              lines: null,
              kept: { base: 'base', tree: `t${slotOf(step.attempt)}`, dropped: [] },
            }
      default:
        return null
    }
  }
}

function passedCommit(state: State): string | null {
  return state.prd.userStories[0]?.lastResult?.commit ?? null
}

const started = (candidates = three) => ({
  start: stateOf(stories('US-001'), { published: 'base' }),
  limits: limitsWith({ candidates, finalVerification: false }),
})

test('of three candidates the smallest change that passed its gates passes, and all three sessions are charged', () => {
  const { start, limits } = started()
  const { state, outcome } = runJob(
    start,
    limits,
    making([{ ok: true, lines: 30 }, { ok: false }, { ok: true, lines: 12 }]),
  )
  assert.equal(outcome, 'complete')
  assert.equal(passedCommit(state), 'c3')
  assert.equal(state.prd.run.iterations, 3)
  assert.equal(runUsage(state).calls, 3)
  assert.equal(state.contests, undefined)
  assert.deepEqual(
    state.timeline.map(({ result, summary }) => [result, summary]),
    [
      ['candidate', 'candidate 1: passed its gates'],
      ['candidate', 'candidate 2: gate test failed (exit 1)'],
      ['passed', 'every gate passed'],
    ],
  )
  const { slot, why, candidates } = state.records['US-001']?.choice ?? assert.fail()
  assert.deepEqual({ slot, why }, { slot: 3, why: 'the smallest change that passed its gates' })
  assert.deepEqual(
    candidates.map(({ result }) => result),
    ['green, 30 lines', 'gate test failed (exit 1)', 'green, 12 lines'],
  )
})

test('a chosen candidate has the reason of the choice', () => {
  const cases: [Parameters<typeof making>[0], string][] = [
    [[{ ok: true }, { ok: false }], 'the only one that passed its gates'],
    [
      [
        { ok: true, lines: 2 },
        { ok: true, lines: 3 },
      ],
      'the smallest change that passed its gates',
    ],
    // An honest change comes with a test: it is larger, and proved.
    [
      [
        { ok: true, lines: 2 },
        { ok: true, lines: 30, proof: { tests: 1 } },
      ],
      'a gate fails without its change',
    ],
    [
      [
        { ok: true, lines: 2, proof: {} },
        { ok: true, lines: 30, proof: { tests: 1 } },
      ],
      'the smallest change that passed its gates',
    ],
    [
      [{ ok: true, remarks: ['a test was removed'] }, { ok: true }],
      'the fewest remarks among changes of the same size',
    ],
    [[{ ok: true }, { ok: true }], 'the first of equal candidates'],
    [[{ ok: false }, { ok: false }], 'no candidate passed its gates; the work of this one is saved'],
  ]
  for (const [candidates, expected] of cases) {
    const { start, limits } = started({ run: 2, byTag: [], fromAttempt: 1 })
    const { state } = runJob(start, { ...limits, maxAttempts: 1 }, making(candidates))
    assert.equal(state.records['US-001']?.choice?.why, expected)
  }
})

test('a new session discards the choice of an earlier attempt', () => {
  const { start, limits } = started({ run: 2, byTag: [], fromAttempt: 1 })
  const { state } = runJob(start, { ...limits, maxAttempts: 1 }, making([{ ok: false }, { ok: false }]))
  assert.ok(state.records['US-001']?.choice)
  const open = { ...state, prd: { ...state.prd, userStories: stories('US-001') } }
  const begun = reduce(anotherJob(open), { kind: 'reserved', storyId: 'US-001', at: NOW }, limits)
  assert.ok(begun.attempts['US-001#1'])
  assert.equal(begun.records['US-001']?.choice, undefined)
})

test('of two candidates with equal changes the one with fewer remarks passes', () => {
  const { start, limits } = started({ run: 2, byTag: [], fromAttempt: 1 })
  const { state } = runJob(
    start,
    limits,
    making([{ ok: true, remarks: ['a test was removed'] }, { ok: true }]),
  )
  assert.equal(passedCommit(state), 'c2')
})

test("an attempt without a green candidate fails once, and one candidate's work is saved", () => {
  const { start, limits } = started()
  const { state, outcome } = runJob(
    start,
    { ...limits, maxAttempts: 1 },
    making([{ ok: false }, { ok: false }, { ok: false }]),
  )
  assert.equal(outcome, 'stuck')
  assert.equal(state.prd.userStories[0]?.retries, 1)
  assert.equal(state.prd.run.iterations, 3)
  assert.equal(state.kept['US-001']?.tree, 't1')
})

test('candidates from the second attempt on: the first attempt makes one, the second three', () => {
  const { start, limits } = started({ run: 3, byTag: [], fromAttempt: 2 })
  const slots: (number | undefined)[] = []
  const script: Script = (step) => {
    if (step.kind === 'agent') slots.push(slotOf(step.attempt))
    return step.kind === 'gates' && slotOf(step.attempt) === undefined
      ? { kind: 'gated', commit: step.attempt.candidate.commit, gates: [gate(false)] }
      : null
  }
  const { outcome } = runJob(start, limits, script)
  assert.equal(outcome, 'complete')
  assert.deepEqual(slots, [undefined, 1, 2, 3])
})

test('candidates by tag apply to stories with the tag', () => {
  const { start, limits } = started({ run: 1, byTag: [['risky', 2]], fromAttempt: 1 })
  const [story] = start.prd.userStories
  assert.ok(story)
  const risky = { ...start, prd: { ...start.prd, userStories: [{ ...story, tags: ['risky'] }] } }
  assert.equal(runJob(risky, limits, making([])).state.prd.run.iterations, 2)
  assert.equal(runJob(start, limits, making([])).state.prd.run.iterations, 1)
})

test('a job that ends between two candidates leaves the rest to the next job', () => {
  const { start, limits } = started()
  const script = making([{ ok: true, lines: 5 }, { ok: true }, { ok: true }])
  const first = runJob(start, { ...limits, iterationsPerJob: 2 }, script)
  assert.equal(first.outcome, 'continued')
  assert.equal(first.state.contests?.['US-001']?.done.length, 2)
  const { state, outcome } = runJob(anotherJob(first.state), limits, script)
  assert.equal(outcome, 'complete')
  assert.equal(passedCommit(state), 'c1')
})

test('at max-iterations the choice is among the candidates that exist', () => {
  const { start, limits } = started()
  const { state, outcome } = runJob(
    start,
    { ...limits, maxIterations: 2 },
    making([{ ok: false }, { ok: true }]),
  )
  assert.equal(outcome, 'complete')
  assert.equal(passedCommit(state), 'c2')
})

test('people push between two candidates: the chosen one is rebased on their commits', () => {
  const { start, limits } = started()
  const script = making([{ ok: true }])
  let syncs = 0
  const { steps, outcome } = runJob(start, limits, (step, state, now) => {
    if (step.kind !== 'sync') return script(step, state, now)
    syncs += 1
    return { kind: 'synced', commands: [], theirs: syncs === 2 ? { head: 'theirs' } : null }
  })
  assert.equal(outcome, 'complete')
  const after = steps.slice(steps.indexOf('join')).filter((step) => !['sync', 'open'].includes(step))
  assert.deepEqual(after.slice(0, 4), ['join', 'decide US-001', 'rebase US-001', 'gates US-001'])
  assert.equal(steps.filter((step) => step.startsWith('agent')).length, 1)
})

/** A judge has to look at the only candidate that is chosen. */
const judged: Script = (step) =>
  step.kind === 'guard'
    ? { kind: 'guarded', candidate: built(`c${slotOf(step.attempt)}`, true) }
    : step.kind === 'agent'
      ? { kind: 'worked', session: session({ hints: { done: true, notDone: false, stuck: null } }) }
      : null

test('a judge of the chosen candidate at its usage limit: the run waits, and asks it again later', () => {
  const { start, limits } = started()
  const { state, outcome, steps } = runJob(
    start,
    { ...limits, finalVerification: true },
    (step, state, now) =>
      step.kind === 'judge'
        ? {
            kind: 'judged',
            verdict: { kind: 'limit', notBefore: now + HOUR, message: 'later' },
            usage: used(0),
          }
        : judged(step, state, now),
  )
  assert.equal(outcome, 'paused')
  assert.equal(steps.filter((step) => step.startsWith('judge')).length, 1)
  const next = runJob(
    anotherJob(state, NOW + 3 * HOUR),
    { ...limits, finalVerification: true },
    judged,
    NOW + 3 * HOUR,
  )
  assert.equal(next.outcome, 'complete')
  assert.equal(next.steps.filter((step) => step.startsWith('agent')).length, 0)
})

for (const command of [
  { kind: 'retry', id: 1, by: 'ann', stories: ['US-001'], guidance: '', fresh: true },
  { kind: 'skip', id: 1, by: 'ann', stories: ['US-001'], guidance: '' },
] satisfies Command[])
  test(`a paused run with a candidate: ${command.kind} applies before the choice`, () => {
    const { start, limits } = started()
    const pause: Command = { kind: 'pause', id: 1, by: 'ann' }
    let syncs = 0
    const first = runJob(start, limits, (step, state, now) => {
      if (step.kind !== 'sync') return making([{ ok: true }])(step, state, now)
      syncs += 1
      return { kind: 'synced', commands: syncs === 2 ? [pause] : [], theirs: null }
    })
    assert.equal(first.state.contests?.['US-001']?.done.length, 1)
    const { state } = runJob(
      anotherJob(first.state),
      limits,
      saying([{ ...command, id: 2 }], making([{ ok: false }, { ok: false }, { ok: false }])),
    )
    assert.equal(state.prd.userStories[0]?.passes, false)
  })

test('a story that is begun anew loses its candidates', () => {
  const { start, limits } = started()
  const first = runJob(start, { ...limits, iterationsPerJob: 1 }, making([{ ok: true }]))
  const retry: Command = { kind: 'retry', id: 1, by: 'ann', stories: ['US-001'], guidance: '', fresh: true }
  const { state } = runJob(
    anotherJob(first.state),
    limits,
    saying([retry], making([{ ok: true }, { ok: true, lines: 1 }])),
  )
  assert.equal(state.prd.run.iterations, 4)
  assert.equal(passedCommit(state), 'c2')
})

test('a story whose acceptance criteria people change loses its candidates', () => {
  const { start, limits } = started()
  const { state } = runJob(start, { ...limits, iterationsPerJob: 1 }, making([{ ok: true }]))
  const joinedWith = (change: object) => {
    const userStories = state.prd.userStories.map((story) => ({ ...story, ...change }))
    const people = { prd: { ...state.prd, userStories }, seen: ['US-001'] }
    const heads = { green: 'people', theirs: 'theirs', takenBack: [], entries: [] }
    const { contests } = reduce(state, { kind: 'joined', people, ...heads, at: NOW } as never, limits)
    return contests?.['US-001']?.done.length
  }
  assert.equal(joinedWith({ title: 'another title' }), 1)
  assert.equal(joinedWith({ acceptanceCriteria: ['it does more'] }), undefined)
})

test('with max-parallel, retry --fresh starts new candidates only after the old sessions have ended', () => {
  const { start } = started()
  const limits = limitsWith({ candidates: three, maxParallel: 3 })
  const ready = { ...start.job, ready: { synced: true, prepared: true, opened: true } }
  const inWork: State = { ...start, baseline: 'green', job: ready }
  const reserve = (state: State, at: number) => {
    const begun = reduce(state, { kind: 'reserved', storyId: 'US-001', at }, limits)
    return { ...begun, job: ready }
  }
  const fresh: Command = { kind: 'retry', id: 1, by: 'ann', stories: ['US-001'], guidance: '', fresh: true }
  const state = reduce(
    reserve(inWork, NOW),
    { kind: 'synced', commands: [fresh], theirs: null, at: NOW },
    limits,
  )
  assert.equal(nextRunStep({ ...state, job: ready }, limits, NOW)?.kind, undefined)
  const id = { storyId: 'US-001', slot: 1 }
  const over = (
    [
      { kind: 'worked', ...id, session: session(), at: NOW },
      { kind: 'guarded', ...id, candidate: built('c1'), at: NOW },
      { kind: 'gated', ...id, commit: 'c1', gates: [gate(true)], at: NOW },
      { kind: 'entered', ...id, lines: 1, kept: null, at: NOW },
    ] as const
  ).reduce<State>(
    (before, event) =>
      reduce(before, { ...event, ...('gates' in event ? { gates: [...event.gates] } : {}) } as never, limits),
    state,
  )
  assert.deepEqual(over.attempts, {})
  assert.equal(over.prd.run.iterations, 1, 'its session was paid for')
  const again = reserve({ ...over, job: ready }, NOW + 1)
  assert.equal(again.contests?.['US-001']?.done.length, 0)
  assert.deepEqual(Object.keys(again.attempts), ['US-001#1'])
})

test('a story that people mark as passed needs no candidate, and `redo` makes them again', () => {
  const limits = limitsWith({ candidates: three, finalVerification: false })
  const start = stateOf(stories('US-001', 'US-002'), { published: 'base' })
  const first = runJob(start, { ...limits, iterationsPerJob: 1 }, making([{ ok: true }]))
  const userStories = first.state.prd.userStories.map((one) => ({ ...one, passes: one.id === 'US-001' }))
  const marked = { ...anotherJob(first.state), prd: { ...first.state.prd, userStories }, green: 'theirs' }
  const { steps, outcome, state } = runJob(marked, limits)
  assert.equal(outcome, 'complete')
  assert.ok(steps.every((step) => step !== 'decide US-001'))
  const redo: Command = { kind: 'redo', id: 1, by: 'ann', stories: ['US-001'], guidance: '' }
  const script = making([{ ok: false }, { ok: true }, { ok: false }])
  const again = runJob(anotherJob(state), limits, saying([redo], script))
  assert.equal(passedCommit(again.state), 'c2')
  assert.equal(again.steps.filter((step) => step === 'agent US-001').length, 3)
  assert.ok(!again.steps.includes('rebase US-001'), 'the candidate from before is gone')
})
