// The train: candidates of attempts in parallel land one after the other. The gates of each run on top of the candidates before it. Pure.

import { passedEntry, passStory } from '../attempts/attempt-outcome.ts'
import {
  type Attempt,
  type AttemptWithCandidate,
  attemptKey,
  hasCandidate,
  placeOf,
  slotOf,
} from '../model/attempt.ts'
import type { State } from '../model/state.ts'

/** The candidates in the order in which they land, which is the order in which they were built or chosen. */
export function trainOf({ attempts }: Pick<State, 'attempts'>): AttemptWithCandidate[] {
  return Object.values(attempts)
    .filter(hasCandidate)
    .filter((attempt) => slotOf(attempt) === undefined)
    .sort((a, b) => placeOf(a) - placeOf(b))
}

/**
 * The run as it will be when the candidates before this story's have landed: its own candidate is built on that. An attempt
 * without a candidate yet comes after all of them.
 */
export function landedBefore(state: State, storyId: string): State {
  const train = trainOf(state)
  const position = train.findIndex((attempt) => attempt.storyId === storyId)
  const before = position === -1 ? train : train.slice(0, position)
  return before.reduce(asLanded, state)
}

/** The state after a candidate's commit. What only the acceptance of a candidate records is left out. */
function asLanded(state: State, attempt: AttemptWithCandidate): State {
  const { candidate } = attempt
  const passed = passStory(state, attempt, candidate)
  const progress = state.progress.slice(candidate.entries ?? state.progress.length)
  const recent = [...state.recent, passedEntry(state, attempt, candidate)].slice(-3)
  return { ...passed, green: candidate.commit, progress, recent }
}

/**
 * The commit that a story's candidate has to be based on. Null while a candidate before it has to be rebased: its commit will change, so
 * gates on top of it would run in vain.
 */
export function baseFor(state: State, storyId: string): string | null {
  let base = state.green
  for (const attempt of trainOf(state)) {
    if (attempt.storyId === storyId) break
    if (attempt.base !== base) return null
    base = attempt.candidate.commit
  }
  return base
}

/** The state for an attempt's own steps: it has only this attempt, and the attempt's base is the green commit. */
export function withOnlyAttempt(state: State, attempt: Attempt): State {
  return { ...state, green: attempt.base, attempts: { [attemptKey(attempt)]: attempt } }
}
