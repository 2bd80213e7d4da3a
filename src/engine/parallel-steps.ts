// What to do next when stories are worked on side by side: what each attempt needs, and whether another one begins. Pure.

import { maxOpenAttempts } from './attempts/attempt-events.ts'
import { type Attempt, type AttemptId, assignedWorker, hasCandidate, idOf, slotOf } from './model/attempt.ts'
import type { Limits } from './model/limit-types.ts'
import type { State } from './model/state.ts'
import type { AttemptStep, Step } from './model/step.ts'
import { nextStep, nextStepOfAttempt, stepOfPhase } from './next-step.ts'
import { baseFor, trainOf } from './parallel/train.ts'
import { recordLostSession, reservedUsage } from './state/record-session.ts'

/** The next free step of an attempt. An attempt that waits for others to land has none. */
export function nextAttemptStep(
  state: State,
  limits: Limits,
  isFree: (step: AttemptStep) => boolean,
): AttemptStep | null {
  for (const attempt of Object.values(state.attempts)) {
    const step = stepOf(state, attempt, limits)
    if (step !== null && isFree(step)) return step
  }
  return null
}

/**
 * The next step of the run as a whole: another reservation, or a sync. Null while the next step has to wait until no story is in progress,
 * such as the final verification or the end.
 */
export function nextRunStep(state: State, limits: Limits, now: number): Step | null {
  const open = Object.values(state.attempts)
  if (open.length >= maxOpenAttempts(state, limits)) return null
  const step = nextStep(asCounted(state, open), limits, now, state.attempts)
  return open.length === 0 || isBetweenAttempts(step) ? step : null
}

/** What may happen while other stories are in progress. */
type StepBetweenAttempts = Extract<Step, { kind: 'sync' | 'decide' | 'reserve' }>

function isBetweenAttempts(step: Step): step is StepBetweenAttempts {
  return step.kind === 'sync' || step.kind === 'decide' || step.kind === 'reserve'
}

/** What a worker of a wave does next; `leave` and `take` change the worker of an attempt. */
export type WorkerStep =
  | AttemptStep
  | StepBetweenAttempts
  | { kind: 'leave'; id: AttemptId }
  | { kind: 'take'; id: AttemptId }

/**
 * The next step of this worker: its own attempt comes first, then a candidate without a worker, then another story. Null if there is
 * nothing to do. `begins`: false for a worker that only finishes attempts that others left.
 */
export function nextWorkerStep(
  state: State,
  limits: Limits,
  now: number,
  { worker, begins }: { worker: string; begins: boolean },
): WorkerStep | null {
  const own = Object.values(state.attempts).find((attempt) => assignedWorker(attempt) === worker)
  if (own !== undefined) {
    const step = stepOf(state, own, limits)
    if (step !== null || hasCandidate(own)) return step ?? { kind: 'leave', id: idOf(own) }
  }
  const unowned = Object.values(state.attempts).filter(
    (attempt) => hasCandidate(attempt) && assignedWorker(attempt) === undefined,
  )
  const left = [...trainOf(state).filter((attempt) => unowned.includes(attempt)), ...unowned].find(
    (attempt) => stepOf(state, attempt, limits) !== null,
  )
  if (left !== undefined) return { kind: 'take', id: idOf(left) }
  const step = begins ? nextRunStep(state, limits, now) : null
  return step !== null && isBetweenAttempts(step) ? step : null
}

/**
 * The next step of this attempt; null while it waits for those before it in the train. A candidate in the train is on the one before it
 * (`baseFor`), is rebased when that one changes, and lands only as the first. One of several candidates for a story (`slot`) is in no train
 * before it is chosen: it keeps its base.
 */
export function stepOf(state: State, attempt: Attempt, limits: Limits): AttemptStep | null {
  if (slotOf(attempt) !== undefined || !hasCandidate(attempt))
    return nextStepOfAttempt(attempt, state, limits)
  const onto = baseFor(state, attempt.storyId)
  if (onto === null) return null
  if (attempt.base !== onto) return { kind: 'rebase', attempt, onto }
  const isFirst = attempt.base === state.green
  const step = stepOfPhase(attempt, state, limits)
  // Behind others it waits with its landing, and with gates that were red on top of them.
  const waits = step.kind === 'accept' || (step.kind === 'gates' && attempt.train?.isRedBehind === true)
  return waits && !isFirst ? null : step
}

/** The state with reserved attempts counted by their estimates, so that a limit is exceeded by at most these attempts. */
function asCounted(state: State, open: readonly Attempt[]): State {
  const counted = open.reduce(
    (sum, attempt) =>
      attempt.phase === 'reserved' ? recordLostSession(sum, attempt, reservedUsage(attempt)) : sum,
    state,
  )
  const { prd, job } = counted
  const run = { ...prd.run, iterations: prd.run.iterations + open.length }
  const counts = { ...job.counts, iterations: job.counts.iterations + open.length }
  return { ...counted, attempts: {}, prd: { ...prd, run }, job: { ...job, counts } }
}
