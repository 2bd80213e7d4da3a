// Which edit of the branch is due, and what it changes in the state. Pure.

import { addCorrection } from './corrections/corrections.ts'
import type { BranchEdit } from './model/branch-edit.ts'
import type { EventOf } from './model/event.ts'
import type { Limits } from './model/limit-types.ts'
import type { State } from './model/state.ts'
import { isWaitingPlan } from './planning/proposed-plan.ts'
import { remaining } from './prd/select.ts'
import { incrementCount, mapStory, withNote, withoutApproval, withRecord } from './state-updates.ts'

/** The edit to make now, or null. A merge of the base comes when nothing else is left, or when people ask for it. */
export function pendingEdit(state: State, { updateBase }: Limits): BranchEdit | null {
  const { control, job, drops = [], baseHead } = state
  if (control.paused !== null || job.branch.kind !== 'ours' || job.landing !== null) return null
  if (isWaitingPlan(state.plan) || state.published === null) return null
  if (drops.length > 0) return { kind: 'drop', stories: drops }
  const isAsked = baseHead?.isAsked === true
  const isDue = isAsked || (updateBase !== undefined && remaining(state.prd, control.scope).length === 0)
  if (baseHead === undefined || baseHead.isHandled || !isDue) return null
  return { kind: 'update', theirs: baseHead.sha, isAsked: isAsked || updateBase === 'always' }
}

export function edited(state: State, event: EventOf<'edited'>, limits: Limits): State {
  const { edit } = event
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
export const DROPPED = 'dropped: its commits were reverted'

/** After a correction that merged the base branch, the branch begins at the merged commit. */
export function withMergedBase(state: State, storyId: string): State {
  const source = state.corrections?.[storyId]?.source
  if (source?.kind !== 'base' || source.commit === '') return state
  return { ...state, base: { ...state.base, sha: source.commit } }
}
