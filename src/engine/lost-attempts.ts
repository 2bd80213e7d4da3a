// Attempts of lost jobs and workers: they are returned, and the usage of their sessions is charged. Pure.

import { attemptIn, attemptsInWork, refund } from './attempt-events.ts'
import { type Attempt, type AttemptId, hasCandidate } from './model/attempt.ts'
import type { State } from './model/state.ts'
import type { Usage } from './model/usage.ts'
import { lostSessionUsage, recordLostSession, reservedUsage } from './record-session.ts'
import { withAttempt, withRecord } from './state-updates.ts'

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

/** The run that takes over: whether it works in lanes, and whether the commits of saved candidates are there for it. */
export type Successor = { inLanes: boolean; hasCandidates: boolean }

/**
 * The state after a job was lost. A candidate whose session has ended stays in work, so that its gates run again and no session is paid
 * twice. Other attempts are returned, and the reservations of sessions that reported nothing are charged as estimates.
 */
export function takeOver(
  state: State,
  successor: Successor = { inLanes: false, hasCandidates: false },
): State {
  return attemptsInWork(state).reduce(
    (after, attempt) =>
      isResumable(after, attempt, successor)
        ? countInterruption(after, attempt)
        : returnAsLost(after, attempt, 'the job was lost'),
    state,
  )
}

/** A candidate whose gates end the run each time is returned in the end. */
const MAX_RESUMED = 2

function isResumable(state: State, attempt: Attempt, { inLanes, hasCandidates }: Successor): boolean {
  const { storyId, unwanted, inLane = false } = attempt
  const interruptions = state.records[storyId]?.interruptions ?? 0
  return (
    hasCandidates && hasCandidate(attempt) && !unwanted && inLane === inLanes && interruptions < MAX_RESUMED
  )
}

function countInterruption(state: State, { storyId }: Attempt): State {
  return withRecord(state, storyId, (record) => ({ ...record, interruptions: record.interruptions + 1 }))
}

/** The state after the workers of a wave have ended: candidates have no worker any more, and other attempts count as lost. */
export function withoutWorkers(state: State): State {
  const freeAttempts = Object.entries(state.attempts).map(([key, { worker: _worker, ...free }]) => [
    key,
    free,
  ])
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
