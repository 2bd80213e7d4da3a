// Best of n: the gates choose among several candidates for one story. Pure.

import {
  type AttemptIn,
  attemptKey,
  type CandidateDone,
  idOf,
  isCandidateDone,
  slotOf,
  withoutWorker,
} from '../model/attempt.ts'
import type { EventOf } from '../model/event.ts'
import { gateFindings } from '../model/gate.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Choice, Contest, State } from '../model/state.ts'
import { contestOf, undecidedContests, withContest } from '../state/contests.ts'
import { chargeIteration, withAttempt, withoutAttempt, withRecord } from '../state/state-updates.ts'
import { lastInTrain, needsJudge } from './attempt-events.ts'
import { rejected } from './attempt-outcome.ts'

type Entry = Contest['done'][number]

export function entered(state: State, event: EventOf<'entered'>, limits: Limits): State {
  const { storyId, lines, kept, at } = event
  const attempt = state.attempts[attemptKey(event)]
  if (attempt === undefined || !isCandidateDone(attempt)) return state
  const after = withoutAttempt(chargeIteration(state, attempt, 'candidate', describe(attempt), at), attempt)
  const contest = contestOf(state, storyId)
  // Ignored if people have discarded the work meanwhile.
  if (contest === null || attempt.unwanted || attempt.base !== contest.base) return after
  const done = [...contest.done, { attempt, lines, kept }]
  const added = withContest(after, storyId, { ...contest, done })
  return done.length < contest.of ? added : decide(added, storyId, at, limits)
}

export function decided(state: State, { storyId, at }: EventOf<'decided'>, limits: Limits): State {
  return undecidedContests(state).some(([id]) => id === storyId) ? decide(state, storyId, at, limits) : state
}

/** Chooses a candidate, which becomes the story's attempt. If none is green, the best red one is rejected. */
function decide(state: State, storyId: string, at: number, limits: Limits): State {
  const contest = contestOf(state, storyId)
  const ranked = [...(contest?.done ?? [])].sort((a, b) => compare(rank(a, limits), rank(b, limits)))
  const [chosen] = ranked
  if (contest === null || chosen === undefined) return state
  const slot = slotOf(chosen.attempt) ?? 1
  const attempt = { ...withoutWorker(chosen.attempt), contest: { stage: 'chosen' as const, slot } }
  const after = withChoice(withContest(state, storyId, null), contest, {
    slot,
    why: whyFirst(ranked, limits),
  })
  if (attempt.phase === 'gated') return withAttempt(after, { ...attempt, ...lastInTrain(after, attempt) })
  const failed = withAttempt(after, attempt)
  return rejected(failed, { kind: 'rejected', ...idOf(attempt), kept: chosen.kept, at }, limits)
}

/**
 * Remembers the choice for reports. A contest of one has a candidate that was chosen before and had to wait: it keeps its earlier reason.
 */
function withChoice(state: State, { of, done }: Contest, chosen: Pick<Choice, 'slot' | 'why'>): State {
  const first = done[0]?.attempt
  if (of === 1 || first === undefined) return state
  const candidates = done
    .map((entry) => {
      const { startedAt } = entry.attempt
      return { slot: slotOf(entry.attempt) ?? 1, startedAt, result: describeResult(entry) }
    })
    .sort((a, b) => a.slot - b.slot)
  return withRecord(state, first.storyId, (record) => ({ ...record, choice: { ...chosen, candidates } }))
}

function describeResult({ attempt, lines }: Entry): string {
  if (attempt.phase === 'failed') return attempt.failure.summary
  const remarks = countRemarks(attempt)
  const size = lines === null ? '' : `, ${lines} ${lines === 1 ? 'line' : 'lines'}`
  return `green${size}${remarks === 0 ? '' : `, ${remarks} ${remarks === 1 ? 'remark' : 'remarks'}`}`
}

/** Says what puts the first of the ranked candidates before the second. */
function whyFirst([first, second]: readonly Entry[], limits: Limits): string {
  if (first?.attempt.phase !== 'gated') return 'no candidate passed its gates; the work of this one is saved'
  if (second === undefined) return 'the only candidate'
  const [own, other] = [rank(first, limits), rank(second, limits)]
  return REASONS[own.findIndex((value, index) => value !== other[index])] ?? 'the first of equal candidates'
}

/** In the order of `rank`. */
const REASONS = [
  'the only one that passed its gates',
  'the only one that passed its gates and needs no judge',
  'a gate fails without its change',
  'the smallest change that passed its gates',
  'the fewest remarks among changes of the same size',
]

/**
 * The keys to sort by, smaller is better. Green before red; no judge needed; a gate fails without the change; the smaller change; fewer
 * remarks; the earlier slot. Red candidates are compared by their number of green gates.
 */
function rank({ attempt, lines }: Entry, limits: Limits): number[] {
  const slot = slotOf(attempt) ?? 0
  if (attempt.phase === 'failed') return [1, -attempt.gates.filter(({ ok }) => ok).length, slot]
  const size = lines ?? Number.MAX_SAFE_INTEGER
  const isProved = attempt.gates.some(({ proof }) => proof !== undefined)
  return [0, needsJudge(attempt, limits) ? 1 : 0, isProved ? 0 : 1, size, countRemarks(attempt), slot]
}

function countRemarks({ candidate, gates }: AttemptIn<'gated'>): number {
  return candidate.remarks.length + gateFindings(gates).length
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index])
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

function describe(attempt: CandidateDone): string {
  const found = attempt.phase === 'failed' ? attempt.failure.summary : 'passed its gates'
  return `candidate ${slotOf(attempt)}: ${found}`
}
