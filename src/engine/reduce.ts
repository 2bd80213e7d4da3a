// How events change the state. Pure: only functions called from here pass, block or charge a story, or count anything.

import {
  abandoned,
  assigned,
  conflicted,
  gated,
  guarded,
  judged,
  rebased,
  refund,
  refundAll,
  refused,
  reserve,
  worked,
} from './attempts/attempt-events.ts'
import { accepted, rejected, returned } from './attempts/attempt-outcome.ts'
import { decided, entered } from './attempts/best-of.ts'
import { exampled, tried } from './attempts/examples-events.ts'
import { verified, wholeGated } from './attempts/judge-verdict.ts'
import { edited, editGated } from './attempts/pending-edit.ts'
import { reopen } from './attempts/undone.ts'
import {
  diverged,
  joinBuilt,
  joined,
  joinGated,
  pushExpired,
  pushRefused,
  refuseBranch,
  restored,
  synced,
} from './branch-events.ts'
import { answered } from './corrections/questions.ts'
import { baselined } from './gating/gate-memory.ts'
import {
  cancelNextJob,
  dispatched,
  dispatchFailed,
  dispatchLimited,
  holdNextJob,
  published,
  reported,
} from './job-end.ts'
import { EVENTS, type Event } from './model/event.ts'
import { newEnding } from './model/job.ts'
import type { Limits } from './model/limit-types.ts'
import type { State } from './model/state.ts'
import { markRunArchived } from './planning/archive-stories.ts'
import { beginPlan, markPlanShown, planned, recordCommittedContext } from './planning/plan-events.ts'
import { recordSession } from './state/record-session.ts'
import { haltWithError, incrementCount, withJob, withReady } from './state/state-updates.ts'

type Events = { readonly [K in Event['kind']]: Extract<Event, { kind: K }> }

/** The state after an event. Total: an event that does not fit the state changes nothing. */
export function reduce(state: State, event: Event, limits: Limits): State {
  const after = applyEvent(event.kind, state, event, limits)
  return EVENTS[event.kind].isForFeature && after !== state ? incrementCount(after, 'forFeature') : after
}

function applyEvent<K extends Event['kind']>(kind: K, state: State, event: Events[K], limits: Limits): State {
  return REDUCERS[kind](state, event, limits)
}

const REDUCERS: { readonly [K in Event['kind']]: (state: State, event: Events[K], limits: Limits) => State } =
  {
    synced,
    joined,
    'join-built': joinBuilt,
    'join-gated': joinGated,
    'join-failed': (state, { summary }) => refuseBranch(state, summary),
    restored,
    'push-refused': pushRefused,
    'push-expired': pushExpired,
    diverged,
    prepared: (state) => withReady(state, { prepared: true }),
    baselined,
    opened,
    pushed: (state, { github }) => ({ ...state, published: state.green, github }),
    reserved: (state, event, limits) => {
      const github = { ...state.github, ...event.github }
      return beginPlan(reserve({ ...state, github }, event, limits))
    },
    assigned,
    abandoned,
    lost: (state, event) => refund(state, event, 'interrupted', event.why),
    worked,
    guarded,
    refused,
    rebased,
    conflicted,
    gated,
    exampled,
    answered,
    tried,
    judged,
    accepted: (state, event, limits) => {
      const after = accepted(state, event, limits)
      return after === state ? state : reopen(after, event.storyId, event, limits)
    },
    entered,
    decided,
    rejected,
    returned,
    'whole-gated': wholeGated,
    verified,
    planned,
    waited: (state) => withReady(state, { synced: false }),
    'edit-built': (state, { built }) => withJob(state, { editing: built }),
    'edit-gated': editGated,
    edited,
    concluded: (state, { conclusion, at }, limits) =>
      withJob(withAwaited(markPlanShown(state, at), limits), { ending: newEnding(conclusion, at) }),
    published,
    dispatched,
    'dispatch-failed': dispatchFailed,
    'dispatch-limited': dispatchLimited,
    reported,
    interrupted: cutShort,
    'out-of-time': cutShort,
    failed: (state, { summary, fix, attempt }) =>
      haltWithError(attempt === undefined ? state : refund(state, attempt, 'limit', summary), summary, fix),
  }

function opened(state: State, { green, github, context }: Events['opened']): State {
  const isWritten = state.published === null || state.control.anew
  const progress = isWritten ? [] : state.progress
  const begun = markRunArchived(state)
  const after = withReady({ ...begun, green, published: green, github, progress }, { opened: true })
  return recordCommittedContext(after, context)
}

/** Jobs that only answer events see no settings of the job that works, so the state says what it waits for. */
function withAwaited(state: State, { waitsForChecks, approvals = 0 }: Limits): State {
  const { awaitsApprovals: _before, ...holds } = { changesRequestedBy: [], ...state.holds }
  const awaited = {
    ...(waitsForChecks === true ? { awaitsChecks: true as const } : {}),
    ...(approvals > 0 ? { awaitsApprovals: approvals } : {}),
  }
  if (state.holds === undefined && Object.keys(awaited).length === 0) return state
  return { ...state, holds: { ...holds, ...awaited } }
}

function cutShort(
  state: State,
  { kind, spent, at }: Events['interrupted' | 'out-of-time'],
  limits: Limits,
): State {
  if (state.job.ending !== null) return kind === 'interrupted' ? cancelNextJob(state) : holdNextJob(state)
  const paid = spent === null ? state : recordSession(state, { ...spent, at, cutShort: true }, limits)
  if (kind === 'out-of-time') {
    const freed = refundAll(paid, 'interrupted', 'the job deadline came first')
    const { kind: branch } = freed.job.branch
    return branch === 'moved' || branch === 'joining' ? withJob(freed, { branch: { kind: 'ours' } }) : freed
  }
  const freed = refundAll(paid, 'interrupted', 'cancelled')
  return freed.job.halted === null ? withJob(freed, { halted: { kind: 'interrupted' } }) : freed
}
