// Several candidates for one story: all from one base, all charged, and the gates choose.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from '../../../src/engine/model/event.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { State } from '../../../src/engine/model/state.ts'
import type { Step } from '../../../src/engine/model/step.ts'
import { runUsage } from '../../../src/engine/model/usage-totals.ts'
import {
  anotherJob,
  built,
  gate,
  limitsWith,
  runJob,
  type Script,
  saying,
  stateOf,
  stories,
} from './samples.ts'

const three: Limits['candidates'] = { run: 3, byTag: [], fromAttempt: 1 }

/** Gates of the story's candidates, and how many lines each wrote, by its slot. */
function making(candidates: readonly { ok: boolean; lines?: number; remarks?: string[] }[]): Script {
  const of = (step: Extract<Step, { attempt: unknown }>) =>
    candidates[(step.attempt.slot ?? 1) - 1] ?? { ok: true }
  return (step) => {
    switch (step.kind) {
      case 'guard': {
        const { slot = 0 } = step.attempt
        return { kind: 'guarded', candidate: { ...built(`c${slot}`), remarks: of(step).remarks ?? [] } }
      }
      case 'gates':
        return { kind: 'gated', commit: step.attempt.candidate.commit, gates: [gate(of(step).ok)] }
      case 'enter':
        return step.attempt.phase === 'gated'
          ? { kind: 'entered', lines: of(step).lines ?? 10, kept: null }
          : {
              kind: 'entered',
              lines: null,
              kept: { base: 'base', tree: `t${step.attempt.slot}`, dropped: [] },
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

test('of three candidates the green one with the smallest change passes, and all three sessions are charged', () => {
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
      ['candidate', 'candidate 1: its gates are green'],
      ['candidate', 'candidate 2: gate test failed (exit 1)'],
      ['passed', 'every gate passed'],
    ],
  )
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

test('where no candidate is green the attempt failed once, and the work of one of them is saved', () => {
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

test('from the second attempt on: the first makes one candidate, the second three', () => {
  const { start, limits } = started({ run: 3, byTag: [], fromAttempt: 2 })
  const slots: (number | undefined)[] = []
  const script: Script = (step) => {
    if (step.kind === 'agent') slots.push(step.attempt.slot)
    return step.kind === 'gates' && step.attempt.slot === undefined
      ? { kind: 'gated', commit: step.attempt.candidate.commit, gates: [gate(false)] }
      : null
  }
  const { outcome } = runJob(start, limits, script)
  assert.equal(outcome, 'complete')
  assert.deepEqual(slots, [undefined, 1, 2, 3])
})

test('candidates by tag', () => {
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

test('at the limit of iterations the candidates that are there are chosen from', () => {
  const { start, limits } = started()
  const { state, outcome } = runJob(
    start,
    { ...limits, maxIterations: 2 },
    making([{ ok: false }, { ok: true }]),
  )
  assert.equal(outcome, 'complete')
  assert.equal(passedCommit(state), 'c2')
})

test('people push between two candidates: one is chosen before their commits are joined', () => {
  const { start, limits } = started()
  const script = making([{ ok: true }])
  let syncs = 0
  const { steps, outcome } = runJob(start, limits, (step, state, now) => {
    if (step.kind !== 'sync') return script(step, state, now)
    syncs += 1
    return { kind: 'synced', commands: [], theirs: syncs === 2 ? { head: 'theirs' } : null }
  })
  assert.equal(outcome, 'complete')
  assert.ok(steps.indexOf('decide US-001') < steps.indexOf('join'))
  assert.equal(steps.filter((step) => step.startsWith('agent')).length, 1)
})

test('a story that people begin anew loses its candidates', () => {
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
