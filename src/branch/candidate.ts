// Turns the work of an agent into a candidate commit, so that gates see exactly what would be committed.

import { agentSummary, passedEntry, passStory } from '../engine/attempts/attempt-outcome.ts'
import { type Attempt, type AttemptIn, type Failure, isInLane, slotOf } from '../engine/model/attempt.ts'
import type { Change, Examination } from '../engine/model/change.ts'
import { type DependencyFinding, describeDependency } from '../engine/model/dependency.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { Inspection } from '../engine/model/ports.ts'
import type { SavedWork } from '../engine/model/saved-work.ts'
import type { State } from '../engine/model/state.ts'
import { oneLine } from '../engine/model/text.ts'
import { coveringPaths } from '../engine/prd/touches.ts'
import { type CaseTwin, caseTwins } from '../git/case-twins.ts'
import type { CatFile } from '../git/cat-file.ts'
import { type FilteredFile, filteredFiles } from '../git/filters.ts'
import { newlyIgnored } from '../git/hidden-changes.ts'
import { objectId } from '../git/objects.ts'
import { rememberChanges } from '../git/trees.ts'
import type { WorkTree } from '../git/work-tree.ts'
import { prdFile, progressFile, storyMessage } from '../report/feature-files.ts'
import { DamagedClone, messageOf } from '../system/errors.ts'
import { displayPath } from '../system/path-text.ts'
import type { Commits } from './commits.ts'
import { leftMarkers, mergedCommit, ownChanges } from './merge-candidate.ts'

export type CandidateTools = {
  tree: WorkTree
  commits: Commits
  isRalphPath(path: string): boolean
  redact(text: string): string
  /** New texts of plan documents, by path, without marks that the session set for stories it did not work on. */
  restoreMarks?(state: State, storyId: string, tree: WorkTree): Promise<ReadonlyMap<string, string>>
  /** `fork`: the commit that no agent wrote. `from`: the commit that the change is based on. */
  examine(
    changes: readonly Change[],
    objects: CatFile,
    base: { fork: string; from: string },
  ): Promise<Examination>
  /** The packages that a change adds. */
  newDependencies?(changes: readonly Change[], objects: CatFile): Promise<DependencyFinding[]>
  warn(message: string): void
}

/** `paths`: the files that the candidate changes, without Ralph's own. */
export type InspectionResult = { inspection: Inspection; paths: readonly string[] }

/** Checks the work tree after a session, restores Ralph's own files, and builds the candidate commit. */
export async function inspect(
  tools: CandidateTools,
  state: State,
  attempt: AttemptIn<'worked'>,
  builtAt: number,
  agentHead: string | null,
): Promise<InspectionResult> {
  const { tree, commits, redact } = tools
  const { git, objects, index } = tree
  const formatPath = (path: string) => displayPath(redact(path))
  const { changed: submoduleFiles, removed } = await tree.submodules.changed()
  submoduleFiles.push(...(await tree.removeForeign()))
  if (submoduleFiles.length > 0) return refused(submoduleFailure(submoduleFiles.map(formatPath)))
  const message = agentHead === null ? null : await agentCommitMessage(objects, state.green, agentHead)
  const summary = message === null ? {} : { summary: oneLine(redact(message)) }
  const own = await ownFileContents(tools, state, attempt, { empty: false, builtAt, ...summary })
  for (const [path, bytes] of own) await tree.writeFileAt(path, bytes)
  for (const [path, text] of await restoredMarks(tools, state, attempt.storyId))
    await tree.writeFileAt(path, text)
  const staged = await tree.stage(state.green, true)
  if ('unreadable' in staged) {
    const summary = 'the session left a path that git cannot read'
    return refused({ kind: 'guard', summary, detail: redact(staged.unreadable) })
  }
  const ralphChanges = staged.changes.filter(({ path }) => tools.isRalphPath(path))
  const agentChanges = staged.changes.filter(({ path }) => !tools.isRalphPath(path))
  const foreign = ralphChanges.filter((change) => !own.has(change.path))
  await tree.reset(foreign)
  const isStored = await storeOwnFiles(tree, state.green, own, ralphChanges)
  if (staged.nested.length > 0) return refused(nestedFailure(staged.nested.map(formatPath)))
  const filtered = await filteredFiles(tree, agentChanges)
  if (filtered.length > 0) return refused(filterFailure(filtered, formatPath))
  const twins = caseTwins(await index.listing(), agentChanges)
  if (twins.length > 0) return refused(twinFailure(twins, formatPath))
  const theirs = mergedCommit(state, attempt.storyId)
  const markers = await leftMarkers(objects, agentChanges, theirs)
  if (markers !== null) return refused(markers)
  const examined = await ownChanges(objects, agentChanges, theirs)
  const examination = await tools.examine(examined, objects, { fork: state.base.sha, from: state.green })
  if (examination.failure !== null) return refused(examination.failure)
  const hidden = await newlyIgnored(git, objects, state.green, agentChanges)
  if (hidden.length > 0) return refused(hiddenFailure(hidden.map(formatPath)))
  const dependencies = (await tools.newDependencies?.(examined, objects)) ?? []
  const candidateTree = await index.tree()
  const words = agentSummary(attempt, summary)
  const text = storyMessage(state, attempt.storyId, attempt.iteration, redact, words, commits.storySubject)
  const parents = theirs === null ? [state.green] : [state.green, theirs]
  const commit = await commits.commit(candidateTree, parents, text)
  if (!isStored) {
    const kept = staged.changes.filter((change) => !foreign.includes(change))
    rememberChanges(objects, state.green, commit, kept)
  }
  // The gates must run on the candidate's bytes, so the work tree is reset like the index.
  if (foreign.length > 0) await tree.restoreTree(candidateTree)
  await tree.checkOutStored(candidateTree, agentChanges)
  const remarks = [
    ...dependencyRemarks(dependencies),
    ...examination.remarks,
    ...removedRemark(removed.map(formatPath)),
  ]
  const entryCount =
    !isInLane(attempt) && slotOf(attempt) === undefined ? {} : { entries: state.progress.length }
  const testsOnly = examination.testsOnly === true ? { testsOnly: true as const } : {}
  const candidate = {
    commit,
    empty: agentChanges.length === 0,
    ...testsOnly,
    remarks,
    ...(dependencies.length === 0 ? {} : { dependencies }),
    ...summary,
    builtAt,
    ...entryCount,
  }
  const paths = agentChanges.map(({ path }) => path)
  const touched = !isInLane(attempt) ? {} : { touched: coveringPaths(paths.map(redact)) }
  return { inspection: { kind: 'candidate', candidate, ...touched }, paths }
}

/** A document that cannot be read must not end a run: its marks stay, with a warning. */
async function restoredMarks(
  { restoreMarks, tree, warn }: CandidateTools,
  state: State,
  storyId: string,
): Promise<ReadonlyMap<string, string>> {
  try {
    return (await restoreMarks?.(state, storyId, tree)) ?? new Map()
  } catch (error) {
    if (error instanceof DamagedClone) throw error
    warn(
      `Ralph could not check which stories are ticked off in the documents of the plan: ${messageOf(error)}`,
    )
    return new Map()
  }
}

function refused(failure: Failure): InspectionResult {
  return { inspection: { kind: 'refused', failure }, paths: [] }
}

/** The content of Ralph's own files for the case that the story passes, by path. */
export async function ownFileContents(
  { tree, redact }: CandidateTools,
  state: State,
  attempt: Exclude<Attempt, { phase: 'reserved' }>,
  built: Parameters<typeof passStory>[2],
): Promise<Map<string, Buffer>> {
  const files = ownFiles(state)
  const progress = [...state.progress, passedEntry(state, attempt, built)]
  const passing = passStory({ ...state, progress }, attempt, built)
  const before = await tree.objects.text(`${state.green}:${files.progress}`)
  const prd = Buffer.from(prdFile(passing, redact))
  return new Map([
    [files.prd, prd],
    [files.progress, Buffer.from(progressFile(passing, before, redact))],
  ])
}

/** The maximum number of commits that are read: no agent makes more in one session. */
const MAX_COMMITS = 50

/**
 * The message of the newest commit that the agent made itself on top of the green one. Null if it made none, or if its HEAD is not based on
 * the green commit.
 */
async function agentCommitMessage(objects: CatFile, green: string, head: string): Promise<string | null> {
  const newest = await readCommit(objects, head)
  let at: string | null = head
  for (let count = 0; count < MAX_COMMITS && at !== null; count += 1) {
    if (at === green) return at === head ? null : (newest?.message ?? null)
    at = (await readCommit(objects, at))?.parent ?? null
  }
  return null
}

/** The parent and the message of a commit that an agent wrote. Null if it cannot be read or is larger than the limit. */
async function readCommit(objects: CatFile, id: string) {
  const found = await objects.info(id).catch(() => null)
  if (found?.type !== 'commit' || found.size > MAX_COMMIT_BYTES) return null
  const text = (await objects.contents(id).catch(() => null))?.toString('utf8') ?? ''
  const end = text.indexOf('\n\n')
  const head = end === -1 ? text : text.slice(0, end)
  const message = end === -1 ? '' : text.slice(end + 2)
  return { parent: /^parent ([0-9a-f]+)$/m.exec(head)?.[1] ?? null, message }
}

const MAX_COMMIT_BYTES = 100_000

/** Stores Ralph's own files byte for byte, since attributes may have changed them when they were staged. Returns whether they had. */
async function storeOwnFiles(
  tree: WorkTree,
  green: string,
  own: ReadonlyMap<string, Buffer>,
  changes: readonly Change[],
): Promise<boolean> {
  const writer = tree.git.writer(green)
  const lines: string[] = []
  for (const [path, bytes] of own) {
    const change = changes.find((one) => one.path === path)
    const oid = change?.newOid ?? (await tree.objects.info(`${green}:${path}`))?.oid ?? ''
    if (oid === objectId('blob', bytes, green.length)) continue
    lines.push(`100644 ${writer.add('blob', bytes)}\t${path}`)
  }
  await writer.flush()
  await tree.updateIndex(lines)
  return lines.length > 0
}

/** Saves the work for a later attempt: all changes but those in `.ralph/` and those that the guard refuses. */
export async function saveWork(
  tools: CandidateTools,
  state: State,
  storyId: string,
): Promise<SavedWork | null> {
  const { tree, redact } = tools
  await tree.submodules.reset()
  await tree.removeForeign()
  const staged = await tree.stage(state.green, true)
  if ('unreadable' in staged) {
    tools.warn(`Ralph could not save the rejected work: ${redact(staged.unreadable)}`)
    return state.kept[storyId] ?? null
  }
  const ralphFiles = staged.changes.filter(({ path }) => tools.isRalphPath(path))
  const work = staged.changes.filter(({ path }) => !tools.isRalphPath(path))
  const filtered = (await filteredFiles(tree, work)).map(({ path }) => path)
  const own = await ownChanges(tree.objects, work, mergedCommit(state, storyId))
  const refusedPaths = (await tools.examine(own, tree.objects, { fork: state.base.sha, from: state.green }))
    .dropped
  const twins = caseTwins(await tree.index.listing(), work).map(({ path }) => path)
  const dropped = [...new Set([...refusedPaths, ...filtered, ...twins])]
  await tree.reset([...ralphFiles, ...work.filter((change) => dropped.includes(change.path))])
  if (work.length === dropped.length) return null
  const base = await tree.treeOf(state.green)
  return {
    base,
    tree: await tree.index.tree(),
    dropped: dropped.map((path) => displayPath(redact(path))),
  }
}

function submoduleFailure(files: readonly string[]): Failure {
  const detail = `A submodule is another repository. Changes to its files cannot be committed here, so undo them.\n${files.slice(0, 50).join('\n')}`
  return { kind: 'guard', summary: `the session changed files of a submodule (${files.length})`, detail }
}

function twinFailure(twins: readonly CaseTwin[], formatPath: (path: string) => string): Failure {
  const [first] = twins
  const summary = `${formatPath(first?.path ?? '')} differs from ${formatPath(first?.twin ?? '')} only in case`
  const paths = formatPaths(twins.map(({ path }) => formatPath(path)))
  return {
    kind: 'guard',
    summary,
    detail: `On macOS and Windows, both names mean the same file. Choose another name:\n${paths}`,
  }
}

function filterFailure(files: readonly FilteredFile[], formatPath: (path: string) => string): Failure {
  const [first] = files
  const name = first?.filter === 'lfs' ? ' (Git LFS)' : ''
  const paths = formatPaths(files.map(({ path }) => formatPath(path)))
  const detail = `.gitattributes says that git stores these files through a filter. Ralph runs no filters, so it cannot commit them. Undo these changes, and reach the goal without them. A person can commit such files.\n${paths}`
  const summary = `${formatPath(first?.path ?? '')} needs the filter ${first?.filter} of .gitattributes${name}, which Ralph does not run`
  return { kind: 'guard', summary, detail }
}

/** Remarks that are shown on new packages, the most suspicious first. */
const MAX_DEPENDENCIES = 10

function dependencyRemarks(findings: readonly DependencyFinding[]): string[] {
  const more = findings.length - MAX_DEPENDENCIES
  const shown = findings.slice(0, MAX_DEPENDENCIES).map(describeDependency)
  return more > 0 ? [...shown, `and ${more} more new packages`] : shown
}

/** A remark, not a failure: build output in a submodule is not part of the story. */
function removedRemark(files: readonly string[]): string[] {
  if (files.length === 0) return []
  const more = files.length > 1 ? ` and ${files.length - 1} more` : ''
  return [`Ralph removed build output from a submodule before the gates: ${files[0]}${more}`]
}

function nestedFailure(paths: readonly string[]): Failure {
  const detail = `No commit can contain a folder named \`.git\`, so no code may depend on it. Ralph removed:\n${formatPaths(paths)}`
  return { kind: 'guard', summary: `the session left a \`.git\` in ${paths[0] ?? ''}`, detail }
}

function hiddenFailure(paths: readonly string[]): Failure {
  const detail = `A new rule in .gitignore keeps these files out of the commit, but the gates would see them. Remove the rule, or delete the files:\n${formatPaths(paths)}`
  return { kind: 'guard', summary: `a new rule in .gitignore hides ${paths[0] ?? ''}`, detail }
}

function formatPaths(paths: readonly string[]): string {
  const lines = paths.slice(0, 50).map((path) => `- ${JSON.stringify(path.slice(0, 160))}`)
  if (paths.length > lines.length) lines.push(`- and ${paths.length - lines.length} more`)
  return lines.join('\n')
}
