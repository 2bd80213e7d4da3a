// Attempts of lost jobs and workers: they are returned, and the usage of their sessions is charged. Pure.

import {
  type Attempt,
  type AttemptId,
  asGuarded,
  hasCandidate,
  isInLane,
  withoutWorker,
} from '../model/attempt.ts'
import type { State } from '../model/state.ts'
import type { Usage } from '../model/usage.ts'
import { storiesWithOtherCriteria } from '../prd/merge-edits.ts'
import { lostSessionUsage, recordLostSession, reservedUsage } from '../state/record-session.ts'
import { withAttempt, withRecord } from '../state/state-updates.ts'
import { attemptIn, attemptsInWork, refund } from './attempt-events.ts'

/** The usage of a session whose job was lost. `isPartial`: the job was lost during the session, not after it. */
export type LostSession = AttemptId & { startedAt: number; usage: Usage; isPartial?: true }

/** Records the usage of a lost session. If the session had ended, its reported usage is used instead of an estimate. */
export function withLostSession(state: State, lost: LostSession): State {
  const { startedAt, usage: reported, isPartial } = lost
  const attempt = attemptIn(state, lost, 'reserved')
  if (attempt?.startedAt !== startedAt) return state
  const usage = isPartial ? lostSessionUsage(attempt, reported) : reported
  const hints = { done: false, notDone: false, stuck: null }
  const status = 'interrupted' as const
  const session = { status, usage, message: '', resetsAt: null, hints, learnings: [] }
  return withAttempt(recordLostSession(state, lost, usage), { ...attempt, phase: 'worked', session })
}

/**
 * The run that takes over. `inLanes`: it works in lanes. `canGateCandidates`: it can run the gates of candidates apart from the files that
 * the lost run left.
 */
export type Successor = { inLanes: boolean; canGateCandidates: boolean }

/**
 * The state after a job was lost. A candidate whose session has ended stays in progress, so that its gates run again and no session is paid
 * twice. Other attempts are returned, and the reservations of sessions that reported nothing are charged as estimates.
 */
export function takeOver(
  state: State,
  successor: Successor = { inLanes: false, canGateCandidates: false },
): State {
  const resumed = attemptsInWork(state).filter((attempt) => isResumable(state, attempt, successor))
  const stories = new Set(resumed.map(({ storyId }) => storyId))
  const counted = [...stories].reduce((after, storyId) => addInterruptions(after, storyId, 1), state)
  return attemptsInWork(state).reduce(
    (after, attempt) =>
      resumed.includes(attempt)
        ? withAttempt(after, asResumed(attempt))
        : returnAsLost(after, attempt, 'the job was lost'),
    counted,
  )
}

/** A candidate is resumed at most so often, because its gates may be what ends the run each time. */
const MAX_RESUMED = 2

function isResumable(state: State, attempt: Attempt, successor: Successor): boolean {
  const { storyId, unwanted } = attempt
  const interruptions = state.records[storyId]?.interruptions ?? 0
  const fits = successor.canGateCandidates && isInLane(attempt) === successor.inLanes
  return fits && hasCandidate(attempt) && !unwanted && interruptions < MAX_RESUMED
}

/** Its gates run again, whatever was saved of them: the settings may have changed. */
function asResumed(attempt: Attempt): Attempt {
  if (!hasCandidate(attempt)) return attempt
  return { ...asGuarded(attempt), resumed: true }
}

/**
 * Returns an attempt that was to be resumed, with the work that is in its tree now. Returning counts an interruption, so the one that
 * `takeOver` counted is taken back.
 */
export function returnResumed(state: State, attempt: Attempt, message: string): State {
  return returnAsLost(addInterruptions(state, attempt.storyId, -1), attempt, message)
}

/** Whether people still want a candidate: its story exists and is open, and no command has made the candidate unwanted. */
export function isStillWanted({ prd }: State, { storyId, unwanted }: Attempt): boolean {
  const story = prd.userStories.find(({ id }) => id === storyId)
  return !unwanted && story !== undefined && !story.passes && !story.skipped
}

/** The state after people's edits, without resumed candidates of stories that they removed, closed or gave other criteria. */
export function withoutStaleCandidates(before: State, after: State): State {
  const changed = storiesWithOtherCriteria(before.prd, after.prd)
  return Object.values(after.attempts)
    .filter(hasCandidate)
    .filter((attempt) => changed.includes(attempt.storyId) || !isStillWanted(after, attempt))
    .reduce((state, attempt) => returnResumed(state, attempt, 'its story was changed'), after)
}

function addInterruptions(state: State, storyId: string, count: number): State {
  return withRecord(state, storyId, (record) => ({
    ...record,
    interruptions: Math.max(0, record.interruptions + count),
  }))
}

/** The state after the workers of a wave have ended: candidates no longer have a worker, and other attempts count as lost. */
export function withoutWorkers(state: State): State {
  const freeAttempts = Object.entries(state.attempts).map(([key, attempt]) => [key, withoutWorker(attempt)])
  const freed: State = { ...state, attempts: Object.fromEntries(freeAttempts) }
  return attemptsInWork(freed)
    .filter((attempt) => !hasCandidate(attempt))
    .reduce((after, attempt) => returnAsLost(after, attempt, 'the worker was lost'), freed)
}

/** Returns a lost attempt. If its session has not reported its usage, the estimate is charged. */
export function returnAsLost(state: State, attempt: Attempt, message: string): State {
  const isInSession = attempt.phase === 'reserved'
  const charged = isInSession ? recordLostSession(state, attempt, reservedUsage(attempt)) : state
  return refund(charged, attempt, 'lost', message)
}
