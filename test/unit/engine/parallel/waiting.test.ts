// Candidates that wait from one wave to the next: put aside and taken up again, dropped where nobody asks for them, landed before a limit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyCommand } from '../../../../src/engine/commands/apply-commands.ts'
import { Landing } from '../../../../src/engine/executors/in-landing.ts'
import { type AttemptIn, assignedWorker, placeOf } from '../../../../src/engine/model/attempt.ts'
import type { State } from '../../../../src/engine/model/state.ts'
import { nextStep } from '../../../../src/engine/next-step.ts'
import { withoutWaiting, withWaiting, withWaitingReturned } from '../../../../src/engine/parallel/waiting.ts'
import { stepOf } from '../../../../src/engine/parallel-steps.ts'
import { reduce } from '../../../../src/engine/reduce.ts'
import { parseState, stateFiles } from '../../../../src/engine/stored-state.ts'
import { built, gate, limitsWith, NOW, session, stateOf, stories } from '../samples.ts'

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

const outcome = (step: ReturnType<typeof nextStep>) =>
  step.kind === 'conclude' ? step.conclusion.outcome : step.kind

/** What a land job does next that has landed its attempt. */
const whenLanding = (state: State, its: typeof limits) =>
  outcome(new Landing('attempt').stepFor(nextStep(state, its, NOW), state))

const phases = ({ attempts }: State) =>
  Object.values(attempts).map(({ storyId, phase }) => `${storyId} ${phase}`)

test('a waiting candidate is saved without a job, and taken up again as it was, without its worker', () => {
  const state = waiting()
  assert.deepEqual(state.attempts, {})
  const again = withoutWaiting(parseState(stateFiles(state).text))
  assert.equal(again.waiting, undefined)
  assert.deepEqual(phases(again), ['US-001 guarded', 'US-002 guarded'])
  assert.ok(Object.values(again.attempts).every((attempt) => assignedWorker(attempt) === undefined))
  assert.deepEqual(
    Object.values(again.attempts).map((attempt) => placeOf(attempt as AttemptIn<'guarded'>)),
    [1, 2],
  )
})

test('a candidate that was red on top of another waiting one is gated again on top of it', () => {
  const state = withoutWaiting(waiting())
  const second: AttemptIn<'guarded'> = {
    ...(state.attempts['US-002'] as AttemptIn<'guarded'>),
    ...{ base: 'c1', train: { place: 2, isRedBehind: true } },
  }
  const again = withoutWaiting(withWaiting({ ...state, attempts: { ...state.attempts, 'US-002': second } }))
  const attempt = again.attempts['US-002'] ?? assert.fail('it is gone')
  // A job that runs its gates has to find them to be run: the land job has no others.
  assert.equal(stepOf(again, attempt, limits)?.kind, 'gates')
})

test('a skipped story, or one begun anew, gives its waiting candidate back', () => {
  const say = (state: State, command: object) =>
    applyCommand(state, { id: 1, by: 'alice', guidance: '', stories: ['US-001'], ...command } as never)
  const skipped = withoutWaiting(say(waiting(), { kind: 'skip' }))
  assert.deepEqual(phases(skipped), ['US-001 returned', 'US-002 guarded'])
  const fresh = withoutWaiting(say(waiting(), { kind: 'retry', fresh: true }))
  assert.deepEqual(phases(fresh), ['US-001 returned', 'US-002 guarded'])
  const [attempt] = Object.values(fresh.attempts)
  assert.equal(attempt?.unwanted, true)
})

test('a run without parallel workers gives all waiting candidates back uncharged, with their work', () => {
  const state = withWaitingReturned(waiting())
  assert.deepEqual(phases(state), ['US-001 returned', 'US-002 returned'])
  const [first] = Object.values(state.attempts)
  assert.ok(first?.phase === 'returned' && first.left === 'c1')
  const after = reduce(state, { kind: 'returned', storyId: 'US-001', kept: null, at: NOW }, limits)
  assert.deepEqual([after.prd.run.iterations, after.records['US-001']?.interruptions], [0, 0])
  assert.equal(withWaitingReturned(stateOf(stories('US-001'))).waiting, undefined)
})

test('at a limit the next wave lands the waiting candidates, then the run ends', () => {
  const over = limitsWith({ maxIterations: 1 })
  const ready = { synced: true, prepared: true, opened: true }
  const readyState = (state: State) => withIteration({ ...state, job: { ...state.job, ready } })
  assert.equal(whenLanding(readyState(waiting()), over), 'continued')
  assert.equal(outcome(nextStep(readyState(waiting()), over, NOW)), 'max-iterations')
  const { waiting: _landed, ...none } = waiting()
  assert.equal(whenLanding(readyState(none), over), 'max-iterations')
})

test('a land job at a limit leaves the choice to the next run when the chosen candidate must be gated again', () => {
  const over = limitsWith({ maxIterations: 1, candidates: { run: 3, byTag: [], fromAttempt: 1 } })
  const ready = { synced: true, prepared: true, opened: true }
  let begun: State = { ...stateOf(stories('US-001')), published: 'base', baseline: 'green' }
  begun = reduce(begun, { kind: 'reserved', storyId: 'US-001', at: NOW }, over)
  const id = { storyId: 'US-001', slot: 1 }
  begun = reduce(begun, { kind: 'worked', ...id, session: session(), at: NOW }, over)
  begun = reduce(begun, { kind: 'guarded', ...id, candidate: built('c1'), at: NOW }, over)
  begun = reduce(begun, { kind: 'gated', ...id, commit: 'c1', gates: [gate(true)], at: NOW }, over)
  begun = reduce(begun, { kind: 'entered', ...id, lines: 1, kept: null, at: NOW }, over)
  const readyAt = (green: string): State => ({ ...begun, green, job: { ...begun.job, ready } })
  assert.equal(whenLanding(readyAt(begun.green), over), 'decide', 'it can land without another gate run')
  assert.equal(whenLanding(readyAt('people'), over), 'continued')
  assert.equal(outcome(nextStep(readyAt('people'), over, NOW)), 'decide')
})

test('a waiting candidate is given back when people change its acceptance criteria, and dropped when they remove its story', () => {
  const before = waiting()
  const edited = (change: (story: State['prd']['userStories'][number]) => object) => ({
    ...before.prd,
    userStories: before.prd.userStories.map((story) =>
      story.id === 'US-001' ? { ...story, ...change(story) } : story,
    ),
  })
  const joinedWith = (prd: State['prd'], seen = prd.userStories.map(({ id }) => id)) =>
    reduce(
      before,
      {
        kind: 'joined',
        people: { prd, seen },
        takenBack: [],
        entries: [],
        green: 'people',
        theirs: 'theirs',
        at: NOW,
      } as never,
      limits,
    )
  const stricter = joinedWith(edited(() => ({ acceptanceCriteria: ['it does more'] })))
  assert.deepEqual(phases(stricter), [], 'the claim of the next wave returns it')
  const again = withoutWaiting(stricter)
  assert.deepEqual(phases(again), ['US-001 returned', 'US-002 guarded'])
  const [first] = Object.values(again.attempts)
  assert.ok(first?.phase === 'returned' && first.left === 'c1', 'its work is kept')
  const [removed, ...others] = before.prd.userStories
  assert.equal(removed?.id, 'US-001')
  const seen = before.prd.userStories.map(({ id }) => id)
  assert.deepEqual(phases(withoutWaiting(joinedWith({ ...before.prd, userStories: others }, seen))), [
    'US-002 guarded',
  ])
  const renamed = joinedWith(edited(() => ({ title: 'another title' })))
  assert.deepEqual(phases(withoutWaiting(renamed)), ['US-001 guarded', 'US-002 guarded'])
})

test('a story that must be worked on again with a remark does not land with its old candidate', () => {
  const redo = { kind: 'redo', id: 1, by: 'alice', stories: ['US-001'], guidance: 'in another way' }
  const state = withoutWaiting(applyCommand(waiting(), redo as never))
  assert.deepEqual(phases(state), ['US-001 returned', 'US-002 guarded'])
})
