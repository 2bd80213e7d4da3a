// Handles people's changes in the checkout before a run begins: it takes up edits of stories and prompts, and refuses other changes.
import { join } from 'node:path'
import { checkDirt, formatPaths, isOwnFile } from '../app/dirt.ts'
import type { Workspace } from '../app/workspace.ts'
import { returnResumed } from '../engine/attempts/lost-attempts.ts'
import { type Attempt, hasCandidate } from '../engine/model/attempt.ts'
import type { Prd } from '../engine/model/feature.ts'
import { attemptInCheckout } from '../engine/model/job.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { State } from '../engine/model/state.ts'
import { withoutArchived } from '../engine/planning/archive-stories.ts'
import { withEditsAsShown } from '../engine/planning/shown-stories.ts'
import { claimedPassWarning, mergePeople, untouchedStories } from '../engine/prd/merge-edits.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { hasNote } from '../engine/state/story-notes.ts'
import { recordMessage } from '../report/feature-files.ts'
import { UserError } from '../system/errors.ts'
import { readRegularFile } from '../system/files.ts'
import { discardChanges, interruptedCheck } from './commit-note.ts'

/** The state with what people changed in prd.json since the commit `head`. */
export async function withEdits(
  workspace: Workspace,
  state: State,
  prd: Prd,
  head: string | null,
): Promise<State> {
  const known = await knownFiles(workspace, state, head)
  const ids = new Set(known.flatMap(({ userStories }) => userStories.map((story) => story.id)))
  // The last one: on the branch, people may have committed edits on top of what Ralph has published.
  const edited = known.at(-1)
  const untouched = new Set(edited === undefined ? [] : untouchedStories(edited, prd))
  const people = withoutArchived(prd, state)
  const merged = mergePeople(state.prd, people, ids, (id) => hasNote(state, id), untouched)
  return { ...state, prd: withEditsAsShown(merged, state.plan) }
}

/** Takes up people's changes in the feature's own folder, and keeps the changes of an open attempt. Refuses any other change. */
export async function takeUpEdits(
  workspace: Workspace,
  found: State,
  warn: (message: string) => void,
): Promise<State> {
  const { repository, clone } = workspace
  const checkedCommit = await interruptedCheck(workspace, found)
  if (checkedCommit !== null) {
    // If there is no attempt in the checkout, the commit is a candidate that was to land and did not: it is discarded as well.
    const resumeFrom = attemptInCheckout(found) === null ? found.green : checkedCommit
    await discardChanges(workspace, checkedCommit, resumeFrom, warn)
  }
  const state = await withOwnCandidate(workspace, found)
  const edits = await editsOf(workspace, state)
  if (edits === null) {
    const lost = attemptInCheckout(state)
    if (lost !== null && !hasCandidate(lost) && checkedCommit === null)
      await warnAboutLostWork(workspace, state, lost, warn)
    return state
  }
  const isNew = state.published === null
  const head = clone.head ?? state.green
  const adopted =
    edits.length === 0 ? state : await adopt(workspace, state, isNew ? state.green : head, edits, warn)
  if (adopted.published !== null) await repository.checkOut(adopted.green, null)
  return adopted
}

/**
 * The gates of a killed run's candidate run again only if the checkout still has exactly that candidate. Otherwise the attempt is
 * returned with what is there now, since people may have changed it.
 */
async function withOwnCandidate({ repository, clone }: Workspace, state: State): Promise<State> {
  const attempt = attemptInCheckout(state)
  if (attempt === null || !hasCandidate(attempt) || clone.branch !== state.branch) return state
  const differences = await repository.uncommitted(attempt.candidate.commit)
  return differences.length === 0 ? state : returnResumed(state, attempt, 'the job was lost')
}

/** Warns that changes of a lost session count as its work: later changes of people cannot be distinguished from them. */
async function warnAboutLostWork(
  { repository, clone }: Workspace,
  state: State,
  { storyId }: Attempt,
  warn: (message: string) => void,
): Promise<void> {
  if (clone.head === null) return
  // Ralph itself wrote these two files for the lost candidate: they need no warning.
  const { prd, progress } = ownFiles(state)
  const dirt = (await repository.uncommitted(clone.head)).map(({ path }) => path)
  const paths = dirt.filter((path) => path !== prd && path !== progress)
  if (paths.length === 0) return
  warn(
    `the lost session left changes in ${formatPaths(paths)}. Ralph treats them as the session's work on ${storyId}. If any of them are yours, stop the run and move them away`,
  )
}

/** Paths of uncommitted edits that may be taken up. Null if Ralph itself made the tree. Throws UserError for other uncommitted changes. */
export async function editsOf(workspace: Workspace, state: State): Promise<string[] | null> {
  const { repository, clone } = workspace
  const onBranch = clone.branch === state.branch
  if (attemptInCheckout(state) !== null && onBranch) return null
  if ((await interruptedCheck(workspace, state)) !== null) return null
  // A run that was killed after it had saved the state, but before it moved the clone's branch and HEAD.
  if (state.published !== null && (await repository.uncommitted(state.green)).length === 0) return null
  const mayHoldEdits = state.published === null || onBranch
  const ownPaths = onBranch ? await ownDocuments(workspace, state) : []
  const isAllowed = (path: string) => mayHoldEdits && (isOwnFile(state, path) || ownPaths.includes(path))
  const edits = await checkDirt(repository, clone.head ?? state.green, isAllowed)
  return edits.filter((path) => !ownPaths.includes(path))
}

/** Documents that a killed run wrote for its last commit. They are not edits of people. */
async function ownDocuments({ clone, repository }: Workspace, state: State): Promise<string[]> {
  const prd = { ...state.prd, run: { ...state.prd.run, outcome: 'complete' as const } }
  const paths: string[] = []
  for (const [path, text] of await repository.documentsAt({ ...state, prd })) {
    const bytes = await readRegularFile(join(clone.workTree, path))
    if (bytes?.toString('utf8') === text) paths.push(path)
  }
  return paths
}

async function adopt(
  workspace: Workspace,
  state: State,
  onto: string,
  edits: readonly string[],
  warn: (message: string) => void,
): Promise<State> {
  const { repository } = workspace
  const subject = `docs(ralph): stories of ${state.feature}`
  const green = await repository.adopt(onto, edits, recordMessage(state, subject))
  if (state.published === null) return { ...state, green }
  const { prd: path } = ownFiles(state)
  const text = await repository.read(green, path)
  const ids = new Set(state.prd.userStories.map((story) => story.id))
  const parsed = text === null ? null : parsePrd(text, path, ids)
  if (parsed !== null && !parsed.ok) throw new UserError(parsed.mistakes)
  if (parsed === null) return { ...state, green }
  const before = parsePrd((await repository.read(onto, path)) ?? '', path, ids)
  const claimed = before.ok ? claimedPassWarning(path, state.prd, before.prd, parsed.prd) : null
  if (claimed !== null) warn(claimed)
  return { ...(await withEdits(workspace, state, parsed.prd, onto)), green }
}

/** The prd.json that people may have edited. A story of the state that is not in them was added since, and not removed by people. */
async function knownFiles(
  { repository, clone }: Workspace,
  state: State,
  head: string | null,
): Promise<Prd[]> {
  const { prd: path } = ownFiles(state)
  const commits = [head, clone.branch === state.branch ? state.published : null]
  const files = commits.map(async (commit) => {
    const text = commit === null ? null : await repository.read(commit, path)
    const parsed = text === null ? null : parsePrd(text, path)
    return parsed?.ok ? [parsed.prd] : []
  })
  return (await Promise.all(files)).flat()
}
