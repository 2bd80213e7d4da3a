// Which edit of the branch is due, and what it changes in the state. Pure.

import { baseRequest } from '../corrections/base-request.ts'
import { addCorrection } from '../corrections/corrections.ts'
import { haltOnPortConflict } from '../gating/gate-memory.ts'
import type { BranchEdit } from '../model/branch-edit.ts'
import type { EventOf } from '../model/event.ts'
import { failureOutput } from '../model/gate-output.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State } from '../model/state.ts'
import { isWaitingPlan } from '../planning/proposed-plan.ts'
import { remaining } from '../prd/select.ts'
import {
  incrementCount,
  mapStory,
  redGate,
  redGateReason,
  withNote,
  withoutApproval,
  withRecord,
} from '../state/state-updates.ts'

/** The edit to make now, or null. A merge of the base comes when nothing else is left, or when people ask for it. */
export function pendingEdit(state: State, { updateBase }: Limits): BranchEdit | null {
  const { control, job, drops = [], baseHead } = state
  if (control.paused !== null || job.branch.kind !== 'ours') return null
  if (isWaitingPlan(state.plan) || state.published === null) return null
  if (drops.length > 0) return { kind: 'drop', stories: drops }
  const isAsked = baseHead?.isAsked === true
  const isDue = isAsked || (updateBase !== undefined && remaining(state.prd, control.scope).length === 0)
  if (baseHead === undefined || baseHead.isHandled || !isDue) return null
  return { kind: 'update', theirs: baseHead.sha, isAsked: isAsked || updateBase === 'always' }
}

/** The gates decide whether the edit becomes the branch. */
export function editGated(state: State, { gates, at }: EventOf<'edit-gated'>, limits: Limits): State {
  const built = state.job.editing
  if (built === undefined) return state
  const { edit, commit, tree, base } = built
  const ended = haltOnPortConflict(state, gates)
  if (ended !== null) return ended
  const red = redGate(gates)
  const decided = { kind: 'edited' as const, edit, at }
  if (red === undefined) return edited(state, { ...decided, green: commit }, limits)
  const reason = redGateReason(red, gates)
  if (edit.kind === 'drop') {
    const ids = edit.stories.join(', ')
    return edited(
      state,
      { ...decided, refused: `Ralph cannot drop ${ids}: after the revert, ${reason}` },
      limits,
    )
  }
  const failure = { kind: 'gates' as const, summary: reason, detail: '', gate: red.name }
  const output = failureOutput(failure, gates)?.output ?? ''
  const failed = `${reason}\n${output}`
  const request = baseRequest(state, edit, { kept: { tree, base }, paths: [], failed })
  return edited(state, { ...decided, request }, limits)
}

export function edited(before: State, event: EventOf<'edited'>, limits: Limits): State {
  const { edit } = event
  const { editing: _, ...job } = before.job
  const state = { ...before, job }
  const done =
    edit.kind === 'drop' ? droppedFrom(state, event, edit.stories) : updated(state, event, edit, limits)
  const { green, refused } = event
  const moved = green === undefined ? done : incrementCount(withoutApproval({ ...done, green }), 'joins')
  if (refused === undefined) return moved
  return { ...moved, control: { ...moved.control, paused: { reason: refused, by: 'ralph' } } }
}

function updated(
  state: State,
  { green, request, at }: EventOf<'edited'>,
  { theirs }: { theirs: string },
  limits: Limits,
): State {
  const base = green === undefined ? state.base : { ...state.base, sha: theirs }
  const handled = { ...state, base, baseHead: { sha: theirs, isHandled: true, isAsked: false } }
  return request === undefined ? handled : addCorrection(handled, request, limits, at)
}

/** The stories leave the run, and so do open corrections of them. */
function droppedFrom(state: State, { green }: EventOf<'edited'>, stories: readonly string[]): State {
  const { drops: _, ...rest } = state
  if (green === undefined) return rest
  const isDropped = ({ id, corrects }: State['prd']['userStories'][number]) =>
    stories.includes(id) || (corrects?.story != null && stories.includes(corrects.story))
  const ids = state.prd.userStories.filter(isDropped).map(({ id }) => id)
  let after: State = rest
  for (const id of ids) {
    const change = { passes: false, blocked: false, skipped: true, lastResult: null }
    const prd = mapStory(after.prd, id, (story) => ({ ...story, ...change }))
    const recorded = withRecord({ ...after, prd }, id, (old) => ({ ...old, commit: null, failure: null }))
    after = withNote(recorded, id, DROPPED)
  }
  return after
}

/** Ralph's note on a story whose commits were reverted. */
const DROPPED = 'dropped: its commits were reverted'

/** After a correction that merged the base branch, the branch begins at the merged commit. */
export function withMergedBase(state: State, storyId: string): State {
  const source = state.corrections?.[storyId]?.source
  if (source?.kind !== 'base' || source.commit === '') return state
  return { ...state, base: { ...state.base, sha: source.commit } }
}
