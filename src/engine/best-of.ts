// Best of n: the gates choose among several candidates for one story. Pure.

import { needsJudge, nextPlace } from './attempt-events.ts'
import { rejected } from './attempt-outcome.ts'
import { contestOf, undecided, withContest } from './contests.ts'
import { type AttemptIn, attemptKey, idOf } from './model/attempt.ts'
import type { EventOf } from './model/event.ts'
import { gateFindings } from './model/gate.ts'
import type { Limits } from './model/limit-types.ts'
import type { Contest, State } from './model/state.ts'
import { chargeIteration, withAttempt, withoutAttempt } from './state-updates.ts'

type Entry = Contest['done'][number]

export function entered(state: State, event: EventOf<'entered'>, limits: Limits): State {
  const { storyId, lines, kept, at } = event
  const attempt = state.attempts[attemptKey(event)]
  if (attempt?.phase !== 'gated' && attempt?.phase !== 'failed') return state
  const after = withoutAttempt(chargeIteration(state, attempt, 'candidate', describe(attempt), at), attempt)
  const contest = contestOf(state, storyId)
  // People discarded the work meanwhile.
  if (contest === null || attempt.unwanted || attempt.base !== contest.base) return after
  const done = [...contest.done, { attempt, lines, kept }]
  const added = withContest(after, storyId, { ...contest, done })
  return done.length < contest.of ? added : decide(added, storyId, at, limits)
}

export function decided(state: State, { storyId, at }: EventOf<'decided'>, limits: Limits): State {
  return undecided(state).some(([id]) => id === storyId) ? decide(state, storyId, at, limits) : state
}

/** The chosen candidate goes on as the story's attempt. Where none is green, the one that came furthest is rejected. */
function decide(state: State, storyId: string, at: number, limits: Limits): State {
  const contest = contestOf(state, storyId)
  const chosen = [...(contest?.done ?? [])].sort((a, b) => compare(rank(a, limits), rank(b, limits)))[0]
  if (chosen === undefined) return state
  const { slot = 1, ordinal: _ordinal, worker: _worker, ...attempt } = chosen.attempt
  const after = withContest(state, storyId, null)
  if (attempt.phase === 'gated')
    return withAttempt(after, { ...attempt, ...nextPlace(after, attempt), chosen: slot })
  const failed = withAttempt(after, { ...attempt, chosen: slot })
  return rejected(failed, { kind: 'rejected', ...idOf(attempt), kept: chosen.kept, at }, limits)
}

/**
 * Smaller is better. Green comes before red, what gates alone can pass before what needs a judge, then the smaller change, the
 * fewer remarks, and the earlier candidate. Of red ones, more green gates are better.
 */
function rank({ attempt, lines }: Entry, limits: Limits): number[] {
  const { slot = 0 } = attempt
  if (attempt.phase === 'failed') return [1, -attempt.gates.filter(({ ok }) => ok).length, slot]
  const remarks = attempt.candidate.remarks.length + gateFindings(attempt.gates).length
  return [0, needsJudge(attempt, limits) ? 1 : 0, lines ?? Number.MAX_SAFE_INTEGER, remarks, slot]
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index])
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

function describe(attempt: AttemptIn<'gated' | 'failed'>): string {
  const found = attempt.phase === 'failed' ? attempt.failure.summary : 'its gates are green'
  return `candidate ${attempt.slot}: ${found}`
}
