// Merges people's commits on the branch with Ralph's.

import type { Failure } from '../engine/model/attempt.ts'
import type { JoinedBranch, PeopleEdits, RevertedStory } from '../engine/model/event.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { State } from '../engine/model/state.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import type { CatFile } from '../git/cat-file.ts'
import type { Git } from '../git/git.ts'
import { changesBetween } from '../git/tree-walk.ts'
import { prdMarkdown, recordMessage } from '../report/feature-files.ts'
import { DamagedClone } from '../system/errors.ts'
import { displayPath } from '../system/path-text.ts'
import type { Commits } from './commits.ts'
import { storyCommits } from './story-commits.ts'

export type JoinTools = {
  git: Git
  objects: CatFile
  commits: Commits
  isRalphs(path: string): boolean
  warn(message: string): void
}

/** Merges `theirs` with the green commit. On a conflict, theirs wins and Ralph's stories are taken back. */
export async function joinCommits(
  tools: JoinTools,
  state: State,
  theirs: string,
): Promise<JoinedBranch | { refused: string }> {
  const { git, objects, commits } = tools
  const { green, published } = state
  const people = await peoplesPrd(tools, state, theirs)
  const unchanged = { people, takenBack: [], entries: [] }
  if (published !== null && !(await git.isAncestor(published, theirs))) {
    if (state.job.takesBranch) return takeBranchAsItIs(tools, state, theirs, people)
    const at = theirs.slice(0, 7)
    const rewritten = `${state.branch} was rewritten by people (it is at ${at})`
    return { refused: `${rewritten}: say run to take it as it is` }
  }
  if (await git.isAncestor(theirs, green)) {
    if (state.job.takesBranch && theirs === green) return takeBranchAsItIs(tools, state, theirs, null)
    return { ...unchanged, green, people: null, code: false }
  }
  if (await git.isAncestor(green, theirs)) {
    const changes = await changesBetween(objects, green, theirs)
    return { ...unchanged, green: theirs, code: changes.some(({ path }) => !tools.isRalphs(path)) }
  }
  const files = ownFiles(state)
  const merged = await git.mergeTree(green, theirs)
  const blocking = merged.conflicts.filter((path) => path !== files.prd && path !== files.progress)
  if (blocking.length > 0) return keepTheirs(tools, state, theirs, people, blocking)
  const own = new Map<string, string | null>()
  for (const path of [files.prd, files.progress]) own.set(path, await objects.text(`${green}:${path}`))
  const tree = merged.conflicts.length === 0 ? merged.tree : await commits.withFiles(merged.tree, own)
  const message = recordMessage(state, `merge: ${state.branch} of people and Ralph`)
  return { ...unchanged, green: await commits.commit(tree, [theirs, green], message), code: true }
}

/** prd.json from people's branch. A broken one is reported and ignored. */
async function peoplesPrd(
  { objects, warn }: JoinTools,
  state: State,
  theirs: string,
): Promise<PeopleEdits | null> {
  const files = ownFiles(state)
  const { prd: path } = files
  const before = state.published ?? state.green
  const text = await objects.text(`${theirs}:${path}`)
  const ids = new Set(state.prd.userStories.map((story) => story.id))
  const parsed = text === null ? null : parsePrd(text, path, ids)
  if (parsed?.ok === false) {
    const where = parsed.mistakes[0]?.path ?? ''
    warn(`${path} on ${state.branch} is broken; Ralph goes on with its own: ${where}`)
  }
  if (parsed?.ok !== true) return null
  const edited = await objects.text(`${before}:${path}`)
  const known = edited === null ? null : parsePrd(edited, path, ids)
  const seen = known?.ok === true ? known.prd.userStories.map((story) => story.id) : [...ids]
  const page = await objects.text(`${theirs}:${files.page}`)
  const isNew = page !== null && page !== (await objects.text(`${before}:${files.page}`))
  return { prd: parsed.prd, seen, page: isNew && page !== prdMarkdown(parsed.prd) }
}

/** Keeps people's commits. Ralph's stories are taken back, with their work saved, to be done again on top of them. */
async function keepTheirs(
  tools: JoinTools,
  state: State,
  theirs: string,
  people: PeopleEdits | null,
  paths: readonly string[],
): Promise<JoinedBranch> {
  const summary = `people committed what conflicts with it, in ${paths.slice(0, 5).map(displayPath).join(', ')}`
  const failure: Failure = { kind: 'conflict', summary, detail: '' }
  const range = `${state.published ?? state.base.sha}..${state.green}`
  const takenBack: RevertedStory[] = []
  for (const { storyId, commit } of await storyCommits(tools.git, range, state.nonce)) {
    const [base, tree] = [await tools.objects.root(`${commit}^`), await tools.objects.root(commit)]
    if (base === null || tree === null) throw new DamagedClone(`there is no commit ${commit}`)
    takenBack.push({ storyId, kept: { base, tree, dropped: [] }, failure })
  }
  return { green: theirs, people, code: true, takenBack, entries: await missingEntries(tools, state, theirs) }
}

/** Continues on a branch that people rewrote: only stories with a commit on it count as passed. */
async function takeBranchAsItIs(
  tools: JoinTools,
  state: State,
  theirs: string,
  people: PeopleEdits | null,
): Promise<JoinedBranch> {
  const range = (await tools.git.isAncestor(state.base.sha, theirs)) ? `${state.base.sha}..${theirs}` : theirs
  const there = new Set((await storyCommits(tools.git, range, state.nonce)).map(({ storyId }) => storyId))
  const failure: Failure = {
    kind: 'conflict',
    summary: 'its commit is not on the branch any more',
    detail: '',
  }
  const takenBack = state.prd.userStories
    .filter((story) => story.passes && story.lastResult?.imported !== true && !there.has(story.id))
    .map(({ id }) => ({ storyId: id, kept: null, failure }))
  return { green: theirs, people, code: true, takenBack, entries: await missingEntries(tools, state, theirs) }
}

/** Entries of progress.txt at the green commit that another commit's file does not have. */
async function missingEntries({ objects }: JoinTools, state: State, commit: string): Promise<string[]> {
  const { progress: path } = ownFiles(state)
  const ours = (await objects.text(`${state.green}:${path}`)) ?? ''
  const theirs = (await objects.text(`${commit}:${path}`)) ?? ''
  const entries = ours.split(/^(?=## Iteration )/m).slice(1)
  return entries.map((entry) => entry.trim()).filter((entry) => !theirs.includes(entry))
}
