// `approvals`: how many people other than those who began the run have to approve the pull request before it is complete. Pure.

import type { Approvals } from '../model/correction.ts'
import type { State } from '../model/state.ts'
import { oneLine } from '../model/text.ts'

/** People who began a run that the state keeps. */
const MAX_STARTERS = 50

/** The state with a person who began the run or approved its plan. */
export function withStarter(state: State, login: string): State {
  const { starters = [] } = state.control
  const name = login.toLowerCase()
  if (starters.includes(name)) return state
  return { ...state, control: { ...state.control, starters: [...starters, name].slice(-MAX_STARTERS) } }
}

/** Commits whose approvals count: the head, and earlier heads from which it differs only by Ralph's own files. */
export function approvableHeads({ holds, published }: State): string[] {
  const { heads = [] } = holds?.approvals ?? {}
  if (published === null) return []
  return heads.includes(published) ? heads : [published]
}

/** Ralph's last commit of a job changes only its own files, so approvals of the commit before still count. */
export function keepApprovals(state: State, green: string): State {
  const { holds } = state
  if (holds?.approvals === undefined || !holds.approvals.heads.includes(state.green)) return state
  const heads = [...new Set([...holds.approvals.heads, green])]
  return { ...state, holds: { ...holds, approvals: { ...holds.approvals, heads } } }
}

/** Why the run waits for approvals, in words; empty if there are enough. `needed`: the setting. */
export function describeApprovals(state: State, needed: number): string {
  if (needed === 0) return ''
  const approvals = currentApprovals(state)
  const by = approvals?.by ?? []
  if (by.length >= needed) return ''
  const not = (approvals?.others ?? []).map(({ login, why }) => `${oneLine(login, 40)} ${why}`)
  const reasons = not.length === 0 ? '' : `; not counted: ${not.slice(0, 5).join(', ')}`
  const given = by.length === 0 ? '' : ` (${by.map((login) => oneLine(login, 40)).join(', ')})`
  return `waiting for approvals: ${by.length} of ${needed}${given}${reasons}. ${WHO_COUNTS}`
}

const WHO_COUNTS =
  'The newest commit needs the approval of people with write access who neither began the run, approved its plan nor committed to the branch'

function currentApprovals({ holds, green }: State): Approvals | undefined {
  return holds?.approvals?.heads.includes(green) === true ? holds.approvals : undefined
}

/** How many approvals a run whose stories are done still waits for. */
export function missingApprovals(state: State): number {
  const { awaitsApprovals = 0 } = state.holds ?? {}
  return Math.max(0, awaitsApprovals - (currentApprovals(state)?.by.length ?? 0))
}
