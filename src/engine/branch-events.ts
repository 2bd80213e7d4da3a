// Events of the branch, which people may push to, delete or protect while Ralph works. Pure.

import { revert } from './attempts/attempt-outcome.ts'
import { requireGate } from './attempts/judge-verdict.ts'
import { applyCommand } from './commands/apply-commands.ts'
import { addCorrection } from './corrections/corrections.ts'
import { haltOnPortConflict } from './gating/gate-memory.ts'
import type { Holds } from './model/correction.ts'
import type { EventOf } from './model/event.ts'
import type { Prd } from './model/feature.ts'
import type { GateResult } from './model/gate.ts'
import { newEnding } from './model/job.ts'
import type { JoinedBranch, PeopleEdits } from './model/joined-branch.ts'
import type { Limits } from './model/limit-types.ts'
import type { Conclusion, State } from './model/state.ts'
import { returnWaiting } from './parallel/waiting.ts'
import { withoutArchived } from './planning/archive-stories.ts'
import { recordBranchContext } from './planning/plan-events.ts'
import { withEditsAsShown } from './planning/shown-stories.ts'
import { mergePeople, storiesWithOtherCriteria } from './prd/merge-edits.ts'
import { withoutContests } from './state/contests.ts'
import { endOfWork, isIdleJob, MAX_IDLE_JOBS } from './state/limits.ts'
import {
  haltWithError,
  incrementCount,
  redGate,
  redGateReason,
  withJob,
  withoutApproval,
  withReady,
} from './state/state-updates.ts'
import { hasNote } from './state/story-notes.ts'

/** The maximum number of joins with people's pushes in one job. */
const MAX_JOINS = 5
const REFUSED = { kind: 'refused' } as const

export function synced(
  before: State,
  { commands, theirs, context, requests = [], holds, baseHead, at }: EventOf<'synced'>,
  limits: Limits,
): State {
  const state = recordBranchContext(before, context)
  const takesBranch = state.job.takesBranch || commands.some((command) => command.kind === 'run')
  const commanded = commands.reduce((so, command) => applyCommand(so, command, limits), state)
  const corrected = requests.reduce((so, request) => addCorrection(so, request, limits, at), commanded)
  const held = holds === undefined ? corrected : withHolds(corrected, holds)
  const isOnMerge = requests.some(({ onMerge }) => onMerge === true)
  const heard = baseHead === undefined ? held : withBaseHead(held, baseHead, isOnMerge)
  const after = withJob(withReady(heard, { synced: true }), { takesBranch })
  if (theirs === null || state.job.branch.kind === 'refused') return after
  if (theirs === 'merged' || theirs === 'deleted')
    return withJob(after, { branch: { kind: 'gone', how: theirs } })
  return withMovedBranch(after, theirs.head)
}

/** A head that was handled before is done, unless people or a correction ask for it again. */
function withBaseHead(state: State, sha: string, isNeeded: boolean): State {
  const { baseHead } = state
  const isAsked = baseHead?.isAsked === true || isNeeded
  const isHandled = baseHead?.sha === sha && baseHead.isHandled && !isAsked
  return { ...state, baseHead: { sha, isHandled, isAsked } }
}

function withHolds(state: State, holds: Partial<Holds>): State {
  return { ...state, holds: { changesRequestedBy: [], ...state.holds, ...holds } }
}

function withMovedBranch(state: State, head: string): State {
  return state.job.counts.joins >= MAX_JOINS
    ? refuseBranch(state, 'people keep pushing to the branch')
    : withJob(state, { branch: { kind: 'moved', head } })
}

/** The join is built; its gates are next, and decide whether it counts. */
export function joinBuilt(
  state: State,
  { theirs, green, people, takenBack, entries }: EventOf<'join-built'>,
): State {
  const joined = { green, people, takenBack, entries }
  return withJob(state, { branch: { kind: 'joining', head: theirs, joined } })
}

export function joinGated(state: State, { gates, broken, at }: EventOf<'join-gated'>, limits: Limits): State {
  const { branch } = state.job
  if (branch.kind !== 'joining') return state
  const ended = haltOnPortConflict(state, gates)
  if (ended !== null) return ended
  const { head, joined: built } = branch
  const red = redGate(gates)
  if (red !== undefined && broken === null) return refuseBranch(state, redJoinReason(red, gates, head))
  const takenBack = broken === null ? built.takenBack : [...built.takenBack, broken]
  return joined(state, { ...built, theirs: head, takenBack, at }, limits)
}

function redJoinReason(red: GateResult, gates: readonly GateResult[], head: string): string {
  return `${redGateReason(red, gates)} on ${head.slice(0, 7)}, which people pushed: fix the branch, then run again`
}

/** Ralph's branch now contains people's commits. A story whose code is no longer in it loses its pass. */
export function joined(
  state: State,
  event: JoinedBranch & { theirs: string; at: number },
  limits: Limits,
): State {
  const { people, takenBack, entries, green, theirs } = event
  const prd = people === null ? state.prd : mergePeoplesEdits(state, people)
  const joinedState = incrementCount(withReady(withoutApproval(state), { synced: false }), 'joins')
  let after: State = {
    ...withJob(joinedState, { branch: { kind: 'ours' }, takesBranch: false }),
    prd,
    green,
    published: theirs,
    progress: [...entries, ...state.progress],
    // The saved work and the record of a removed story are dropped, because its id may be used again.
    kept: withoutRemovedStories(state.kept, prd),
    records: withoutRemovedStories(state.records, prd),
    ...(state.contests === undefined ? {} : { contests: withoutRemovedStories(state.contests, prd) }),
    ...(state.splits === undefined ? {} : { splits: withoutRemovedStories(state.splits, prd) }),
    ...(people === null ? {} : { pageEdited: people.page }),
  }
  // No session has seen the criteria as they are now.
  const changed = storiesWithOtherCriteria(state.prd, prd)
  after = withoutContests(returnWaiting(withoutRemovedWaiting(after), changed, CRITERIA_CHANGED), changed)
  for (const reverted of takenBack) {
    const { storyId, kept, failure } = reverted
    if (kept !== null) after = { ...after, kept: { ...after.kept, [storyId]: kept } }
    after = revert(after, storyId, reverted, event.at, limits)
    if (failure.gate !== undefined) after = requireGate(after, storyId, failure.gate)
  }
  return after
}

function mergePeoplesEdits(state: State, { prd, seen, untouched }: PeopleEdits): Prd {
  const theirs = withoutArchived(prd, state)
  const merged = mergePeople(state.prd, theirs, new Set(seen), (id) => hasNote(state, id), new Set(untouched))
  return withEditsAsShown(merged, state.plan)
}

const CRITERIA_CHANGED = 'people changed its acceptance criteria'

/** Drops waiting candidates of removed stories. */
function withoutRemovedWaiting(state: State): State {
  if (state.waiting === undefined) return state
  const ids = new Set(state.prd.userStories.map((story) => story.id))
  const waiting = Object.entries(state.waiting).filter(([, { storyId }]) => ids.has(storyId))
  return { ...state, waiting: Object.fromEntries(waiting) }
}

function withoutRemovedStories<T>(all: Record<string, T>, prd: Prd): Record<string, T> {
  const ids = new Set(prd.userStories.map((story) => story.id))
  return Object.fromEntries(Object.entries(all).filter(([id]) => ids.has(id)))
}

/** Pauses the run until a person decides, and pushes only the state. An existing pause by a person is kept. */
export function refuseBranch(state: State, reason: string): State {
  const { paused } = state.control
  const isPausedByPerson = paused !== null && paused.by !== 'ralph'
  const control = isPausedByPerson ? state.control : { ...state.control, paused: { reason, by: 'ralph' } }
  return withJob({ ...state, control }, { branch: REFUSED, ending: null })
}

export function restored(state: State): State {
  const restoredState = withJob(state, { branch: { kind: 'ours' }, takesBranch: false })
  return { ...withReady(restoredState, { synced: false }), published: state.green }
}

export function pushRefused(state: State, { summary }: EventOf<'push-refused'>): State {
  // Before the first publish there is no branch yet. Then this is an error that a person has to fix, and not a pause.
  return state.published === null
    ? haltWithError(state, summary, refusalFix(summary, state.branch))
    : refuseBranch(state, summary)
}

/** How people can make a refused push succeed, by the error code of the remote. */
function refusalFix(summary: string, branch: string): string {
  if (/\bGH013: /.test(summary) && /verified signatures/i.test(summary))
    return 'set sign-commits: true, or let the owner of the token bypass this rule (Settings -> Rules), then run again'
  if (/\bGH013: /.test(summary))
    return `change that rule for ${branch}, or let the owner of the token bypass it (Settings -> Rules), then run again`
  return `let this token push ${branch}, then run again`
}

/** The token has expired: only the state is saved, and the next job gets a new token. */
export function pushExpired(state: State, { summary, at }: EventOf<'push-expired'>): State {
  const outcome = state.job.ending?.conclusion.outcome ?? 'continued'
  if (outcome === 'error' || outcome === 'interrupted' || outcome === 'paused')
    return withJob(state, { branch: REFUSED })
  const conclusion: Conclusion = { outcome: 'continued', reason: summary, until: null }
  const isIdle = isIdleJob(state, conclusion) && state.control.idleJobs + 1 >= MAX_IDLE_JOBS
  if (state.published !== null && !isIdle)
    return withJob(state, { branch: REFUSED, ending: newEnding(conclusion, at) })
  const fix = 'set publish-token to a valid token, then run again'
  return haltWithError(withJob(state, { ending: null }), summary, fix)
}

export function diverged(state: State, { theirs, at }: EventOf<'diverged'>): State {
  const { halted } = state.job
  // A job that is ending no longer joins: it pushes only the state, and the next job joins.
  if (halted !== null || at >= endOfWork(state.job)) return withJob(state, { branch: REFUSED })
  return withJob(withMovedBranch(state, theirs), { ending: null })
}
