// Candidates that wait from one wave to the next: put aside and taken up again, dropped where nobody asks for them, landed before a limit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyCommand } from '../../../../src/engine/commands/apply-commands.ts'
import type { AttemptIn } from '../../../../src/engine/model/attempt.ts'
import type { State } from '../../../../src/engine/model/state.ts'
import { nextStep } from '../../../../src/engine/next-step.ts'
import { withoutWaiting, withWaiting, withWaitingReturned } from '../../../../src/engine/parallel/waiting.ts'
import { reduce } from '../../../../src/engine/reduce.ts'
import { parseState, stateFiles } from '../../../../src/engine/stored-state.ts'
import { built, limitsWith, NOW, session, stateOf, stories } from '../samples.ts'

const limits = limitsWith({ maxParallel: 3 })

/** Two stories whose candidates could not land: the second stands on the first. */
function waiting(): State {
  let state: State = {
    ...stateOf(stories('US-001', 'US-002', 'US-003')),
    published: 'base',
    baseline: 'green',
  }
  for (const [at, storyId] of ['US-001', 'US-002'].entries()) {
    state = reduce(state, { kind: 'reserved', storyId, worker: `${at + 1}`, at: NOW }, limits)
    state = reduce(state, { kind: 'worked', storyId, session: session(), at: NOW }, limits)
    state = reduce(state, { kind: 'guarded', storyId, candidate: built(`c${at + 1}`), at: NOW }, limits)
  }
  return withWaiting(state)
}

const withIteration = (state: State): State => ({
  ...state,
  prd: { ...state.prd, run: { ...state.prd.run, iterations: 1 } },
})

const phases = ({ attempts }: State) =>
  Object.values(attempts).map(({ storyId, phase }) => `${storyId} ${phase}`)

test('what waits is in no job, is stored, and is taken up again as it was, without its worker', () => {
  const state = waiting()
  assert.deepEqual(state.attempts, {})
  const again = withoutWaiting(parseState(stateFiles(state).text))
  assert.equal(again.waiting, undefined)
  assert.deepEqual(phases(again), ['US-001 guarded', 'US-002 guarded'])
  assert.ok(Object.values(again.attempts).every((attempt) => attempt.worker === undefined))
  assert.deepEqual(
    Object.values(again.attempts).map((attempt) => (attempt as AttemptIn<'guarded'>).place),
    [1, 2],
  )
})

test('a story that is skipped, or is to begin anew, gives its candidate back', () => {
  const say = (state: State, command: object) =>
    applyCommand(state, { id: 1, by: 'alice', guidance: '', stories: ['US-001'], ...command } as never)
  const skipped = withoutWaiting(say(waiting(), { kind: 'skip' }))
  assert.deepEqual(phases(skipped), ['US-001 returned', 'US-002 guarded'])
  const fresh = withoutWaiting(say(waiting(), { kind: 'retry', fresh: true }))
  assert.deepEqual(phases(fresh), ['US-001 returned', 'US-002 guarded'])
  const [attempt] = Object.values(fresh.attempts)
  assert.equal(attempt?.unwanted, true)
})

test('a run of another kind gives all of them back uncharged, each with what it left', () => {
  const state = withWaitingReturned(waiting())
  assert.deepEqual(phases(state), ['US-001 returned', 'US-002 returned'])
  const [first] = Object.values(state.attempts)
  assert.ok(first?.phase === 'returned' && first.left === 'c1')
  const after = reduce(state, { kind: 'returned', storyId: 'US-001', kept: null, at: NOW }, limits)
  assert.deepEqual([after.prd.run.iterations, after.records['US-001']?.interruptions], [0, 0])
  assert.equal(withWaitingReturned(stateOf(stories('US-001'))).waiting, undefined)
})

test('at a limit the land job goes on while candidates wait: the next wave lands them, then the run ends', () => {
  const over = limitsWith({ maxIterations: 1 })
  const ready = { synced: true, prepared: true, opened: true }
  const at = (state: State, landing: State['job']['landing']) =>
    nextStep(withIteration({ ...state, job: { ...state.job, ready, landing } }), over, NOW)
  const outcome = (step: ReturnType<typeof nextStep>) =>
    step.kind === 'conclude' ? step.conclusion.outcome : step.kind
  assert.equal(outcome(at(waiting(), 'attempt')), 'continued')
  assert.equal(outcome(at(waiting(), null)), 'max-iterations')
  const { waiting: _landed, ...none } = waiting()
  assert.equal(outcome(at(none, 'attempt')), 'max-iterations')
})
