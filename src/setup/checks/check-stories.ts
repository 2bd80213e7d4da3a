// Checks the stories: which features a run would find, and what is wrong with their files, their branches and the requested part.

import { freshState, prdPathOf, withRequestedScope } from '../../app/claim-feature.ts'
import { chooseBranch, refuseShared } from '../../app/feature-branch.ts'
import { findFeatures } from '../../app/resolve-feature.ts'
import { unusedTagNotes } from '../../app/tags.ts'
import { featureOfFolder } from '../../branch/find-features.ts'
import type { State } from '../../engine/model/state.ts'
import { counts } from '../../engine/prd/select.ts'
import { pluralize } from '../../report/figures.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { type Mistake, orUserError, UserError } from '../../system/errors.ts'
import {
  type CheckResult,
  collectMistakes,
  type OpenCheckout,
  okResult,
  type RunStart,
  requireCheckout,
  type Subject,
  toFaults,
  warningResult,
} from './subject.ts'

/** The states of all features, or only of the one with this name. */
export async function loadFeatures(
  checkout: OpenCheckout | readonly Mistake[],
  settings: Settings,
  name: string | null,
): Promise<RunStart['features']> {
  if (!('workspace' in checkout)) return { states: [], mistakes: [] }
  const { workspace, base, commit } = checkout
  const { objects, store, clone } = workspace
  const workTree = settings.surface === 'action' ? null : clone.workTree
  const { features, mistakes } = await findFeatures(objects, { commit, workTree }, settings.branchPrefix)
  const folders = [...(await store.list()).keys()].sort()
  const states: State[] = []
  const allMistakes: Mistake[] = [...mistakes]
  for (const file of features.filter((feature) => name === null || feature.name === name)) {
    const newest = folders.filter((folder) => featureOfFolder(folder) === file.name).at(-1)
    const stored = newest === undefined ? null : await orUserError(() => store.load(newest))
    if (stored instanceof UserError) allMistakes.push(...stored.mistakes)
    else states.push(stored?.state ?? freshState(file, settings, base))
  }
  return { states, mistakes: allMistakes }
}

/** Reasons to refuse a run: broken files, a branch that Ralph may not take, requested stories that do not exist. */
export async function storyMistakes(start: RunStart): Promise<readonly Mistake[]> {
  const { states, mistakes } = start.features
  const found = await Promise.all(states.map((state) => mistakesOfFeature(state, start)))
  return [...mistakes, ...found.flat()]
}

async function mistakesOfFeature(
  state: State,
  { features, settings, checkout }: RunStart,
): Promise<readonly Mistake[]> {
  if (!('workspace' in checkout)) return []
  const branchMistakes = await collectMistakes(() => refuseBranch(state, checkout, settings))
  // With several features it is unknown which one the requested stories belong to.
  if (features.states.length !== 1) return branchMistakes
  const scopeMistakes = await collectMistakes(() => void withRequestedScope(state, settings))
  return [...branchMistakes, ...scopeMistakes]
}

/** Throws UserError if Ralph may not use the feature's branch. */
async function refuseBranch(
  state: State,
  { workspace, base }: OpenCheckout,
  { branchPrefix }: Settings,
): Promise<undefined> {
  const { feature: name, nonce, branch, prd, storiesDigest: digest } = state
  if (nonce !== '') {
    if (branch === base.defaultBranch) refuseShared(branch, `the branch of ${name}`, base)
    return
  }
  const folder = state.importedFrom === null ? state.folder : null
  const file = { name, folder, path: prdPathOf(state), prd, digest, notes: [] }
  await chooseBranch(file, null, workspace, { base, branchPrefix })
}

export async function checkStories(subject: Subject): Promise<CheckResult[]> {
  requireCheckout(subject)
  const { features, settings } = subject
  const found = toFaults(features.mistakes)
  for (const state of features.states) {
    const faults = toFaults(await mistakesOfFeature(state, subject))
    found.push(...(faults.length > 0 ? faults : remarksOn(state, settings)))
  }
  if (found.length > 0) return found
  const fix =
    'run ralph plan my-feature -- "what you want", or write .ralph/<yyyy-mm-dd>-<feature>/prd.json yourself'
  return [warningResult('there are no stories yet', '', fix)]
}

function remarksOn({ feature, prd }: State, settings: Settings): CheckResult[] {
  const fix = 'give stories this tag in prd.json, or remove the setting'
  const tagWarnings = unusedTagNotes(settings, prd.userStories).map((text) =>
    warningResult(`${feature}: ${text}`, '', fix),
  )
  return [okResult(`${feature}: ${countsText(prd)}`), ...tagWarnings]
}

/** `3 stories: 1 to do, 2 passed`. */
function countsText(prd: State['prd']): string {
  const { total, passed, blocked, skipped, open } = counts(prd)
  const stories = pluralize(total, 'story', 'stories')
  if (passed === total && total > 1) return `${stories}, all passed`
  const parts = Object.entries({ 'to do': open, blocked, passed, skipped }).filter(([, count]) => count > 0)
  return `${stories}: ${parts.map(([word, count]) => `${count} ${word}`).join(', ')}`
}
