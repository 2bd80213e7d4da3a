// The end of a job: the state that it leaves for the next one, and the start of that one. Pure.

import { keepApprovals } from './corrections/approvals.ts'
import type { EventOf } from './model/event.ts'
import type { Limits } from './model/limit-types.ts'
import type { Conclusion, Ending, State } from './model/state.ts'
import { archiveDoneStories } from './planning/archive-stories.ts'
import { recordCommittedContext } from './planning/plan-events.ts'
import { continuesByItself, isIdleJob } from './state/limits.ts'
import { withDocuments, withJob } from './state/state-updates.ts'

/** The shortest pause between two tries to start the next job, milliseconds. */
const MIN_PAUSE_MS = 60_000

function withEnding(state: State, change: Partial<Ending>): State {
  const { ending: before } = state.job
  return before === null ? state : withJob(state, { ending: { ...before, ...change } })
}

/** The state that the job leaves: the lease is free, and the generation is raised so that a doubled dispatch cannot fork the chain. */
export function released(before: State, limits: Limits): State {
  const { ending: ended } = before.job
  const outcome = ended?.conclusion.outcome ?? null
  const state =
    ended !== null && !continuesByItself(ended.conclusion, limits) ? archiveDoneStories(before) : before
  const continues = outcome === 'continued' && limits.redispatch
  const isIdle = ended !== null && isIdleJob(state, ended.conclusion)
  const endedAt = ended === null ? null : new Date(ended.at).toISOString()
  return {
    ...state,
    lease: null,
    generation: state.generation + 1,
    control: {
      ...state.control,
      continuePending: continues,
      mendedRun: continues ? (state.lease?.runId ?? null) : state.control.mendedRun,
      idleJobs: isIdle ? state.control.idleJobs + 1 : 0,
      notBefore: ended?.conclusion.until ?? null,
    },
    prd: {
      ...state.prd,
      run: {
        ...state.prd.run,
        outcome: outcome === 'continued' ? null : outcome,
        currentStoryId: null,
        completedAt: outcome === 'complete' ? (state.prd.run.completedAt ?? endedAt) : null,
      },
    },
  }
}

export function published(state: State, event: EventOf<'published'>, limits: Limits): State {
  const releasedState = {
    ...released(keepApprovals(state, event.green), limits),
    green: event.green,
    published: event.withBranch ? event.green : state.published,
  }
  const documented = withDocuments(releasedState, event)
  const ended = withEnding(documented, { published: true, more: event.more })
  return event.withBranch ? recordCommittedContext(ended, event.context) : ended
}

export function dispatched(state: State, { runId }: EventOf<'dispatched'>): State {
  const kept = { ...state, control: { ...state.control, continuePending: false } }
  return withEnding(kept, { next: { kind: 'started', runId } })
}

export function dispatchFailed(state: State, { summary: reason }: EventOf<'dispatch-failed'>): State {
  const conclusion: Conclusion = { outcome: 'error', reason, until: null }
  return withEnding(state, { next: { kind: 'failed' }, conclusion })
}

export function dispatchLimited(state: State, { until, at }: EventOf<'dispatch-limited'>): State {
  // GitHub may ban a client that keeps asking: docs.github.com, "Best practices for using the REST API".
  const after = Math.max(until, at + MIN_PAUSE_MS)
  const waiting = withEnding(state, { next: { kind: 'limited', until: after } })
  return after < state.job.deadline ? waiting : holdNextJob(waiting)
}

/** For a job that ends before the rate limit lets it start the next one. A job that looks for lost chains will start it. */
export function holdNextJob(state: State): State {
  const { ending: ended } = state.job
  if (ended?.next.kind !== 'limited') return state
  const { until } = ended.next
  const reason = `${ended.conclusion.reason}; GitHub's rate limit blocks the next job until ${new Date(until).toISOString()}`
  return withEnding(state, { next: { kind: 'held', until }, conclusion: { ...ended.conclusion, reason } })
}

/** A person cancelled the job while it waited to start the next one. */
export function cancelNextJob(state: State): State {
  const { ending: ended } = state.job
  if (ended?.next.kind !== 'limited') return state
  const reason = 'cancelled before the next job was started; the state is saved'
  const { conclusion } = ended
  return withEnding(state, {
    next: { kind: 'held', until: ended.next.until },
    conclusion:
      conclusion.outcome === 'continued' ? { outcome: 'interrupted', reason, until: null } : conclusion,
  })
}

export function reported(state: State, { github }: EventOf<'reported'>): State {
  return withEnding({ ...state, github }, { reported: true })
}
