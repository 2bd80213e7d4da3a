// Merges people's commits on the branch with Ralph's.

import type { Failure } from '../engine/model/attempt.ts'
import type { Prd } from '../engine/model/feature.ts'
import type { PeopleEdits, RevertedStory } from '../engine/model/joined-branch.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { JoinResult } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { claimedPassWarning, untouchedStories } from '../engine/prd/merge-edits.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { serializePrd } from '../engine/prd/serialize.ts'
import type { CatFile } from '../git/cat-file.ts'
import type { Git } from '../git/git.ts'
import { changesBetween } from '../git/trees.ts'
import { prdMarkdown, recordMessage } from '../report/feature-files.ts'
import { DamagedClone } from '../system/errors.ts'
import { displayPath } from '../system/path-text.ts'
import type { Commits } from './commits.ts'
import { storyCommits } from './story-commits.ts'

export type JoinTools = {
  git: Git
  objects: CatFile
  commits: Commits
  isRalphPath(path: string): boolean
  sealStories?(prd: Prd): Prd
  warn(message: string): void
}

/**
 * Merges people's branch head with the green commit. On a conflict people's commits win, and Ralph's stories are reverted. A further
 * commit seals the examples that people wrote, so that no work tree has what they expect.
 */
export async function joinCommits(
  tools: JoinTools,
  state: State,
  peoplesHead: string,
): Promise<JoinResult | { refused: string }> {
  const joined = await joinAsTheyAre(tools, state, peoplesHead)
  const { sealStories, objects, commits } = tools
  if ('refused' in joined || sealStories === undefined) return joined
  const { people, green } = joined
  const prd = people === null ? null : sealStories(people.prd)
  if (people === null || prd === null || prd === people.prd) return joined
  const { prd: path } = ownFiles(state)
  const tree = await objects.root(green)
  const text = await objects.text(`${green}:${path}`)
  if (tree === null || text === null) return { ...joined, people: { ...people, prd } }
  const sealed = await commits.withFiles(tree, new Map([[path, serializePrd(prd)]]))
  const message = recordMessage(state, 'chore(ralph): seal the examples')
  return { ...joined, green: await commits.commit(sealed, [green], message), people: { ...people, prd } }
}

async function joinAsTheyAre(
  tools: JoinTools,
  state: State,
  peoplesHead: string,
): Promise<JoinResult | { refused: string }> {
  const { git, objects, commits } = tools
  const { green, published } = state
  const people = await peoplesPrd(tools, state, peoplesHead)
  const unchanged = { people, takenBack: [], entries: [] }
  if (published !== null && !(await git.isAncestor(published, peoplesHead))) {
    if (state.job.takesBranch) return takeBranchAsItIs(tools, state, peoplesHead, people)
    const at = peoplesHead.slice(0, 7)
    const rewritten = `someone rewrote the history of ${state.branch} (it is at ${at})`
    return { refused: `${rewritten}. To continue from there, use the command run` }
  }
  if (await git.isAncestor(peoplesHead, green)) {
    if (state.job.takesBranch && peoplesHead === green)
      return takeBranchAsItIs(tools, state, peoplesHead, null)
    return { ...unchanged, green, people: null, code: false }
  }
  if (await git.isAncestor(green, peoplesHead)) {
    const changes = await changesBetween(objects, green, peoplesHead)
    return { ...unchanged, green: peoplesHead, code: changes.some(({ path }) => !tools.isRalphPath(path)) }
  }
  const files = ownFiles(state)
  const merged = await git.mergeTree(green, peoplesHead)
  const blocking = merged.conflicts.filter((path) => path !== files.prd && path !== files.progress)
  if (blocking.length > 0) return keepTheirs(tools, state, peoplesHead, people, blocking)
  const own = new Map<string, string | null>()
  for (const path of [files.prd, files.progress]) own.set(path, await objects.text(`${green}:${path}`))
  const tree = merged.conflicts.length === 0 ? merged.tree : await commits.withFiles(merged.tree, own)
  const message = recordMessage(state, `merge: commits of people and of Ralph on ${state.branch}`)
  return { ...unchanged, green: await commits.commit(tree, [peoplesHead, green], message), code: true }
}

/** People's edits of prd.json on the branch. A broken file is reported and ignored. */
async function peoplesPrd(
  { objects, warn }: JoinTools,
  state: State,
  peoplesHead: string,
): Promise<PeopleEdits | null> {
  const files = ownFiles(state)
  const { prd: path } = files
  const before = state.published ?? state.green
  const text = await objects.text(`${peoplesHead}:${path}`)
  const ids = new Set(state.prd.userStories.map((story) => story.id))
  const parsed = text === null ? null : parsePrd(text, path, ids)
  if (parsed?.ok === false) {
    const where = parsed.mistakes[0]?.path ?? ''
    warn(`${path} on ${state.branch} has a mistake at ${where}, so Ralph continues with its own version`)
  }
  if (parsed?.ok !== true) return null
  const edited = await objects.text(`${before}:${path}`)
  const known = edited === null ? null : parsePrd(edited, path, ids)
  const edits = known?.ok === true ? known.prd : null
  const seen = edits === null ? [...ids] : edits.userStories.map((story) => story.id)
  const untouched = edits === null ? [] : untouchedStories(edits, parsed.prd)
  const claimed = edits === null ? null : claimedPassWarning(path, state.prd, edits, parsed.prd)
  if (claimed !== null) warn(claimed)
  const page = await objects.text(`${peoplesHead}:${files.page}`)
  const isNew = page !== null && page !== (await objects.text(`${before}:${files.page}`))
  return { prd: parsed.prd, seen, untouched, page: isNew && page !== prdMarkdown(parsed.prd) }
}

/** Keeps people's commits and reverts Ralph's stories. Their work is saved, so that they are done again on top. */
async function keepTheirs(
  tools: JoinTools,
  state: State,
  peoplesHead: string,
  people: PeopleEdits | null,
  paths: readonly string[],
): Promise<JoinResult> {
  const summary = `commits by people conflict with the story in ${paths.slice(0, 5).map(displayPath).join(', ')}`
  const failure: Failure = { kind: 'conflict', summary, detail: '' }
  const range = `${state.published ?? state.base.sha}..${state.green}`
  const takenBack: RevertedStory[] = []
  for (const { storyId, commit } of await storyCommits(tools.git, range, state.nonce)) {
    const [base, tree] = [await tools.objects.root(`${commit}^`), await tools.objects.root(commit)]
    if (base === null || tree === null) throw new DamagedClone(`there is no commit ${commit}`)
    takenBack.push({ storyId, kept: { base, tree, dropped: [] }, failure })
  }
  return joinedAt(tools, state, peoplesHead, people, takenBack)
}

/** Continues on a branch that people rewrote. Only stories with a commit on it still count as passed. */
async function takeBranchAsItIs(
  tools: JoinTools,
  state: State,
  peoplesHead: string,
  people: PeopleEdits | null,
): Promise<JoinResult> {
  const range = (await tools.git.isAncestor(state.base.sha, peoplesHead))
    ? `${state.base.sha}..${peoplesHead}`
    : peoplesHead
  const storiesOnBranch = new Set(
    (await storyCommits(tools.git, range, state.nonce)).map(({ storyId }) => storyId),
  )
  const failure: Failure = {
    kind: 'conflict',
    summary: 'its commit is no longer on the branch',
    detail: '',
  }
  const takenBack = state.prd.userStories
    .filter((story) => story.passes && story.lastResult?.imported !== true && !storiesOnBranch.has(story.id))
    .map(({ id }) => ({ storyId: id, kept: null, failure }))
  return joinedAt(tools, state, peoplesHead, people, takenBack)
}

/** People's head becomes the green commit, and the reverted stories are done again on it. */
async function joinedAt(
  tools: JoinTools,
  state: State,
  peoplesHead: string,
  people: PeopleEdits | null,
  takenBack: RevertedStory[],
): Promise<JoinResult> {
  const entries = await missingEntries(tools, state, peoplesHead)
  return { green: peoplesHead, people, code: true, takenBack, entries }
}

/** Entries that progress.txt has at the green commit, but not at another commit. */
async function missingEntries({ objects }: JoinTools, state: State, commit: string): Promise<string[]> {
  const { progress: path } = ownFiles(state)
  const ownText = (await objects.text(`${state.green}:${path}`)) ?? ''
  const otherText = (await objects.text(`${commit}:${path}`)) ?? ''
  const entries = ownText.split(/^(?=## Iteration )/m).slice(1)
  return entries.map((entry) => entry.trim()).filter((entry) => !otherText.includes(entry))
}
