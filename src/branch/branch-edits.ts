// Edits of the feature's branch that no session makes: the base branch is merged into it, or the commits of stories are reverted.

import type { BranchEdit, EditedBranch } from '../engine/model/branch-edit.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { State } from '../engine/model/state.ts'
import { changesBetween } from '../git/trees.ts'
import { recordMessage } from '../report/feature-files.ts'
import { DamagedClone } from '../system/errors.ts'
import { displayPath } from '../system/path-text.ts'
import type { JoinTools } from './join-commits.ts'
import { storyCommits } from './story-commits.ts'

export function editBranch(tools: JoinTools, state: State, edit: BranchEdit): Promise<EditedBranch> {
  return edit.kind === 'update'
    ? mergeBase(tools, state, edit.theirs)
    : revertStories(tools, state, edit.stories)
}

/** Merges the head of the base branch. Ralph's own files stay as the branch has them. */
async function mergeBase(tools: JoinTools, state: State, theirs: string): Promise<EditedBranch> {
  const { git, commits } = tools
  const { green } = state
  if (await git.isAncestor(theirs, green)) return { kind: 'same' }
  const plain = await git.mergeTree(green, theirs)
  const from = plain.conflicts.length === 0 ? null : await sameCommit(tools, state, theirs)
  const merged = from === null ? plain : await mergeFrom(tools, from, green, theirs)
  const own = await ownContents(tools, state)
  const tree = await commits.withFiles(merged.tree, own)
  const conflicts = merged.conflicts.filter((path) => !own.has(path))
  if (conflicts.length > 0)
    return { kind: 'conflict', paths: conflicts, tree, base: await rootOf(tools, green) }
  const message = recordMessage(state, `merge: ${state.base.branch} into ${state.branch}`)
  const commit = await commits.commit(tree, [green, theirs], message)
  return {
    kind: 'edited',
    commit,
    tree,
    base: await rootOf(tools, green),
    isNeeded: from !== null,
  }
}

/**
 * The commit of the branch whose work the base has: both have the same prd.json, which changes with every story. Git does not know that if
 * people squashed or rebased. Null if there is none.
 */
export async function sameCommit(
  { git, objects }: Pick<JoinTools, 'git' | 'objects'>,
  state: State,
  theirs: string,
): Promise<string | null> {
  const { prd: path } = ownFiles(state)
  const idAt = async (commit: string) => (await objects.info(`${commit}:${path}`))?.oid ?? null
  const id = await idAt(theirs)
  if (id === null) return null
  const newestFirst = await git.messages(`${state.base.sha}..${state.green}`, 'first parents')
  // The oldest: people may have committed on top of it, which leaves prd.json as it is, and the base lacks that.
  for (const { commit } of newestFirst.reverse()) if ((await idAt(commit)) === id) return commit
  return null
}

/** Merges two commits as if both began at `from`. */
export async function mergeFrom(
  tools: Pick<JoinTools, 'git' | 'objects' | 'commits'>,
  from: string,
  ours: string,
  theirs: string,
): Promise<{ tree: string; conflicts: string[] }> {
  const { git, commits } = tools
  // Separate commits give the merge its base: older versions of git have no option for it.
  const root = await commits.helperCommit(await rootOf(tools, from), [], 'the base of a merge')
  const [one, other] = [
    await commits.helperCommit(await rootOf(tools, ours), [root], 'ours'),
    await commits.helperCommit(await rootOf(tools, theirs), [root], 'theirs'),
  ]
  return git.mergeTree(one, other)
}

/** Reverts the commits of these stories and of their corrections, the newest first, as one commit. */
async function revertStories(tools: JoinTools, state: State, ids: readonly string[]): Promise<EditedBranch> {
  const { git, commits } = tools
  const range = `${state.base.sha}..${state.green}`
  const all = await storyCommits(git, range, state.nonce)
  const undone = [...new Set(all.filter(({ storyId }) => ids.includes(storyId)).map(({ commit }) => commit))]
  if (undone.length === 0) return { kind: 'same' }
  const own = await ownContents(tools, state)
  let at = state.green
  for (const commit of undone) {
    const reverted = await mergeFrom(tools, commit, at, `${commit}^`)
    const conflicts = reverted.conflicts.filter((path) => !own.has(path))
    if (conflicts.length > 0)
      return {
        kind: 'needed',
        paths: conflicts,
        stories: await laterStories(tools, all, undone, commit, conflicts),
      }
    at = await commits.helperCommit(await commits.withFiles(reverted.tree, own), [at], 'a step of a revert')
  }
  const tree = await rootOf(tools, at)
  const named = `${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ' and others' : ''}`
  const message = recordMessage(state, `revert: drop ${named}`)
  const commit = await commits.commit(tree, [state.green], message)
  return { kind: 'edited', commit, tree, base: await rootOf(tools, state.green) }
}

/** The other stories that changed these files after a commit. */
async function laterStories(
  { objects }: JoinTools,
  all: readonly { storyId: string; commit: string }[],
  undone: readonly string[],
  commit: string,
  paths: readonly string[],
): Promise<string[]> {
  const later = all.slice(
    0,
    all.findIndex((one) => one.commit === commit),
  )
  const found = new Set<string>()
  for (const one of later) {
    if (undone.includes(one.commit)) continue
    const changes = await changesBetween(objects, `${one.commit}^`, one.commit)
    if (changes.some(({ path }) => paths.includes(path))) found.add(one.storyId)
  }
  return [...found]
}

/** Ralph's own files as the branch has them; null for a file that does not exist. */
async function ownContents({ objects }: JoinTools, state: State): Promise<Map<string, string | null>> {
  const { prd, progress } = ownFiles(state)
  const own = new Map<string, string | null>()
  for (const path of [prd, progress]) own.set(path, await objects.text(`${state.green}:${path}`))
  return own
}

async function rootOf({ objects }: Pick<JoinTools, 'objects'>, commit: string): Promise<string> {
  const found = await objects.root(commit)
  if (found === null) throw new DamagedClone(`there is no commit ${displayPath(commit)}`)
  return found
}
