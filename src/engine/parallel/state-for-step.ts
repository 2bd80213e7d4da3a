// The state as a step of one attempt sees it, next to other attempts in progress. Pure.

import { type Attempt, attemptKey, slotOf } from '../model/attempt.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { recordLostSession, reservedUsage } from '../state/record-session.ts'
import { landedBefore, withOnlyAttempt } from './train.ts'

/** The state for a step: with only its own attempt, on the commit that it is, or will be, based on. */
export function stateForStep(
  step: Extract<Step, { kind: 'rebase' }> | { kind: Exclude<Step['kind'], 'rebase'> },
  state: State,
  attempt: Attempt,
): State {
  if (step.kind === 'rebase')
    return { ...withOnlyAttempt(landedBefore(state, attempt.storyId), attempt), green: step.onto }
  // One of several candidates is in no train.
  if (step.kind === 'guard' && slotOf(attempt) === undefined)
    return withOnlyAttempt(landedBefore(state, attempt.storyId), attempt)
  if (step.kind === 'agent') return withOnlyAttempt(withOthersReserved(state, attempt), attempt)
  return withOnlyAttempt(state, attempt)
}

/** The estimates of the other sessions in progress are no longer available to this one. */
function withOthersReserved(state: State, attempt: Attempt): State {
  return Object.values(state.attempts)
    .filter((other) => attemptKey(other) !== attemptKey(attempt) && other.phase === 'reserved')
    .reduce((sum, other) => recordLostSession(sum, other, reservedUsage(other)), state)
}
