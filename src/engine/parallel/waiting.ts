// Candidates that wait from one wave to the next. With `isolation: separate-job`, sessions and gates run in different jobs. So the gates
// of such a candidate run in the next wave, on exactly the tree that it was rebased to. Pure.

import { refund } from '../attempts/attempt-events.ts'
import { type Attempt, attemptKey, hasCandidate, isGreen, withoutWorker } from '../model/attempt.ts'
import type { State } from '../model/state.ts'

export function hasWaiting({ waiting }: Pick<State, 'waiting'>): boolean {
  return waiting !== undefined
}

/** The state with all attempts put aside: they wait for the next wave, and no job has them in progress. */
export function withWaiting(state: State): State {
  const open = Object.values(state.attempts)
  if (open.length === 0) return state
  const waiting = Object.fromEntries(open.map((attempt) => [attemptKey(attempt), putAside(attempt)]))
  return { ...state, attempts: {}, waiting: { ...state.waiting, ...waiting } }
}

/** The attempt without its worker, which has ended. The next wave also runs gates that were red on top of other candidates. */
function putAside(attempt: Attempt): Attempt {
  const free = withoutWorker(attempt)
  if (!hasCandidate(free) || isGreen(free) || free.train === undefined) return free
  return { ...free, train: { ...free.train, isRedBehind: false } }
}

/** The state with the waiting candidates in progress again. A candidate whose story is no longer asked for is returned, uncharged. */
export function withoutWaiting(state: State): State {
  const { waiting = {}, ...rest } = state
  const resumed: State = { ...rest, attempts: { ...waiting, ...state.attempts } }
  const isOpen = ({ storyId, unwanted }: Attempt) =>
    !unwanted &&
    state.prd.userStories.some(({ id, passes, skipped }) => id === storyId && !passes && !skipped)
  return Object.values(waiting)
    .filter((attempt) => !isOpen(attempt))
    .reduce((after, attempt) => refund(after, attempt, 'limit', 'it is no longer asked for'), resumed)
}

/** The candidates of these stories no longer wait: the next wave returns them, each with its work. */
export function returnWaiting(state: State, ids: readonly string[], why: string): State {
  if (state.waiting === undefined) return state
  const { attempts } = Object.values(state.waiting)
    .filter(({ storyId }) => ids.includes(storyId))
    .reduce((after, attempt) => refund(after, attempt, 'limit', why), { ...state, attempts: state.waiting })
  return { ...state, waiting: attempts }
}

/**
 * For a run without a job that would run their gates: returns all waiting candidates. The next sessions of their stories begin with that
 * work.
 */
export function withWaitingReturned(state: State): State {
  return Object.values(state.waiting ?? {}).reduce(
    (after, attempt) =>
      refund(after, attempt, 'limit', 'the run no longer works on several stories at a time'),
    withoutWaiting(state),
  )
}
