// The status of a feature for commands that only look: as the next run would find it, and whether people have merged it.
import { isAlive } from '../app/at-work.ts'
import { withRequestedScope } from '../app/claim-feature.ts'
import { findArchived } from '../app/resolve-feature.ts'
import { withLostUsage } from '../app/usage-notes.ts'
import type { Workspace } from '../app/workspace.ts'
import { takeOver } from '../engine/attempts/lost-attempts.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { State } from '../engine/model/state.ts'
import { nextStepOfRun, type Situation, situationOf } from '../engine/situation.ts'
import type { LocalRun } from './local-feature.ts'

/** State and situation of a feature, and whether a run is at work. `situate`: gives the situation from nothing but the state. */
export async function readStatus(
  workspace: Workspace,
  saved: State,
  limits: Limits,
  situate: typeof situationOf = situationOf,
) {
  const isAtWork = await isAlive(saved.lease)
  // The next run first charges what a killed run used, and closes its attempt. The status shows that already.
  const state = isAtWork ? saved : { ...takeOver(withLostUsage(workspace.git, saved)), attempts: {} }
  const situation = await withMerge(workspace, state, situate(state, limits, Date.now(), isAtWork))
  return { state, situation, isAtWork }
}

/**
 * Adds whether people have merged or archived a complete run, as far as this clone shows. After a squash merge as well, prd.json is the
 * same.
 */
export async function withMerge<S extends Situation>(
  workspace: Workspace,
  state: State,
  situation: S,
): Promise<S> {
  if (situation.kind !== 'ended' || situation.conclusion.outcome !== 'complete') return situation
  const { clone, objects, store } = workspace
  const commit = clone.branch === state.branch ? await store.head(state.base.branch) : clone.head
  if (commit === null || state.published === null) return situation
  const isArchived = await findArchived(objects, { commit, workTree: clone.workTree })
  if (isArchived(state.folder.replace(/^\.ralph\//, ''))) return { ...situation, since: 'archived' }
  const { prd } = ownFiles(state)
  const current = await objects.info(`${commit}:${prd}`)
  const published = await objects.info(`${state.published}:${prd}`)
  return current !== null && current.oid === published?.oid ? { ...situation, since: 'merged' } : situation
}

/** The situation of a complete feature that people have merged or archived, so that a run has nothing to do; else null. */
export async function findMerged({ workspace, settings }: LocalRun, state: State, limits: Limits) {
  const scoped = withRequestedScope(state, settings)
  if (nextStepOfRun(scoped, limits, Date.now()).kind !== 'conclude') return null
  const situation = await withMerge(workspace, scoped, situationOf(scoped, limits, Date.now(), false))
  return situation.kind === 'ended' && situation.since !== undefined ? situation : null
}
