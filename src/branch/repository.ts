// The repository for the loop: checks out, inspects, saves, restores and merges. Implements RepositoryPort.

import type { Change } from '../engine/model/change.ts'
import { MAX_LEFT } from '../engine/model/counterexample.ts'
import type { Prd } from '../engine/model/feature.ts'
import { existingRefsFirst, formatMovedRef, undoCommand } from '../engine/model/moved-refs.ts'
import type { Mutant } from '../engine/model/mutant.ts'
import type { RepositoryPort } from '../engine/model/ports.ts'
import type { SavedWork } from '../engine/model/saved-work.ts'
import type { State } from '../engine/model/state.ts'
import type { CatFile } from '../git/cat-file.ts'
import { changedLinesBetween } from '../git/changed-lines.ts'
import { holdCommit, restoreClone, type Snapshot } from '../git/clone.ts'
import { findForeignRepositories } from '../git/foreign-repositories.ts'
import type { Git } from '../git/git.ts'
import { findUncommitted, nestedGits, removeIgnored, untrackedFolders } from '../git/hidden-changes.ts'
import { IgnoredFiles } from '../git/ignored-files.ts'
import { type DocumentRules, JudgeView } from '../git/judge-view.ts'
import { readLeftFiles } from '../git/left-files.ts'
import { parseRaw } from '../git/raw-diff.ts'
import type { Submodules } from '../git/submodules.ts'
import { changesBetween, pathsIn } from '../git/trees.ts'
import { WorkTree } from '../git/work-tree.ts'
import { UserError } from '../system/errors.ts'
import { displayPath, quotedPath } from '../system/path-text.ts'
import { editBranch, mergeFrom } from './branch-edits.ts'
import { type CandidateTools, inspect, saveWork } from './candidate.ts'
import { type CommitOptions, Commits } from './commits.ts'
import { joinCommits } from './join-commits.ts'
import { rebase, withOldOwnFiles } from './rebase.ts'
import { showScreenshot } from './screenshot-blobs.ts'
import { storiesIn } from './story-commits.ts'
import { applySuggestions } from './suggestions.ts'
import { undoneStories } from './undone-stories.ts'
import { editDocuments } from './write-documents.ts'

export type RepositoryOptions = CommitOptions & {
  /** Whether a path is in `.ralph/`, in any spelling that a file system may accept for it. */
  isRalphPath(path: string): boolean
  examine: CandidateTools['examine']
  newDependencies?: NonNullable<CandidateTools['newDependencies']>
  /** Seals the examples of people's stories. Left out: they stay as people wrote them. */
  sealStories?(prd: Prd): Prd
  restoreMarks?: NonNullable<CandidateTools['restoreMarks']>
  documents: DocumentRules
  product: ProductRules
  /** The clone before any agent ran. */
  snapshot: Snapshot
  submodules: Submodules
}

type IsProduct = (path: string) => boolean
type RestoredFiles = ReadonlyMap<
  string,
  { mode: string; oid: string } | { mode: string; text: string } | null
>

/** Decides which files are product, and which files a further gate run restores. `RestoredFiles`: by path; null removes the file. */
export type ProductRules = {
  /** `fork`: the commit that no agent wrote. `from`: the commit before the change. */
  of(fork: string, from: string): Promise<IsProduct>
  /** `sinceRed`: changes since the gates were red, in files that the base does not have. */
  checksAsTheyWere(
    changes: readonly Change[],
    options: { isProduct: IsProduct; objects: CatFile; sinceRed: readonly Change[]; newPackages: boolean },
  ): Promise<RestoredFiles>
  productAsItWas(changes: readonly Change[], isProduct: IsProduct): RestoredFiles
  mutantsOf(
    files: readonly { path: string; text: string; written: readonly number[] }[],
    count: number,
  ): Mutant[]
  /** The text with the mistake; null if its line is not there. */
  withMutant(text: string, mutant: Mutant): string | null
  /** Whether the file says which packages are installed: a manifest or a lockfile. */
  isManifest: IsProduct
  isLockfile: IsProduct
}

/** The maximum number of moved refs that are reported by name. */
const MAX_NAMED_REFS = 10

type UncommittedFile = { path: string; isUntracked: boolean }

/** The loop's port, and what the command line needs in addition. */
export type Repository = RepositoryPort & {
  /** Files that differ from a commit: also untracked ones, but no ignored ones. Does not write into the clone. */
  uncommitted(commit: string): Promise<UncommittedFile[]>
  /** Untracked files as `dirt` saw them, folders (ending in `/`) instead of their files if they have nothing else. */
  untracked(): Promise<string[]>
  /** True when a lockfile differs between the two commits. */
  lockfileChanged(from: string, to: string): Promise<boolean>
  /** The paths of all files of a commit. */
  files(commit: string): Promise<string[]>
  /** The lines that a change from one commit to another wrote, by file. */
  changedLines(from: string, to: string): Promise<ReadonlyMap<string, number[]>>
  /** Files that differ between two commits. */
  changedPaths(from: string, to: string): Promise<string[]>
  /** For a tree that only Ralph uses: of the ignored files, `renew` will keep only those that exist now. */
  rememberIgnored(): Promise<void>
  /** Why a story's saved work does not fit on top of `commit`, or null. Does not touch the work tree. */
  conflict(commit: string, kept: SavedWork): Promise<string | null>
  /** The new texts of people's documents in the commit that ends the run with this state's outcome. */
  documentsAt(state: State): Promise<[path: string, text: string][]>
  /** Commits the given paths, as they are in the work tree, on top of `commit`. */
  adopt(commit: string, paths: readonly string[], message: string): Promise<string>
  /** The commit that merges `theirs` into `head` as if both began at `from`; null if there is a conflict. */
  mergeFrom(from: string, head: string, theirs: string, message: string): Promise<string | null>
}

export function createRepository(git: Git, objects: CatFile, options: RepositoryOptions): Repository {
  const { snapshot, submodules, warn, redact } = options
  const tree = new WorkTree(git, objects, submodules)
  const commits = new Commits(git, objects, options)
  const view = new JudgeView(tree, options.documents)
  const ignored = new IgnoredFiles(git.clone.workTree, git.clone.gitDir, () => git.ignored())
  const tools = { ...options, tree, commits, git, objects }
  /** The last candidate and its paths, to find changed lockfiles without another diff. */
  let lastCandidate: { green: string; commit: string; paths: readonly string[] } | null = null
  /** Ignored files and folders before any agent or gate ran; null if Ralph may not clean the tree. */
  let ignoredBefore: readonly string[] | null = null

  async function commitWith(to: string, files: RestoredFiles, message: string): Promise<string> {
    const made = await commits.withEntries(await tree.treeOf(to), new Map(files))
    const commit = await commits.commit(made, [to], message)
    await holdCommit(git, snapshot, commit)
    return commit
  }

  /** Runs `act` after the clone was restored, so that no file of an agent or a gate controls Ralph's git. */
  async function onRestoredClone<T>(commit: string, act: () => Promise<T>): Promise<T> {
    tree.invalidate()
    await restoreAndReport(git, snapshot, warn)
    return tree.withOpenIndex(commit, act)
  }

  return {
    ignored,

    async mergeFrom(from, head, theirs, message) {
      const merged = await mergeFrom({ git, objects, commits }, from, head, theirs)
      return merged.conflicts.length > 0 ? null : commits.commit(merged.tree, [head, theirs], message)
    },

    async checkOut(commit, kept) {
      const checkedOut = await tree.withOpenIndex(commit, async () => {
        const done = await checkOut(tree, commits, options, commit, kept)
        await view.remember()
        await ignored.remember()
        return done
      })
      if (kept === null) await tree.markClean(commit)
      return checkedOut
    },

    renew: (commit) =>
      onRestoredClone(commit, async () => {
        await checkOut(tree, commits, options, commit, null)
        // Every file is read, even if git sees it as clean, since the final verification judges this tree.
        await tree.checkOutEveryFile(commit)
        if (ignoredBefore === null) return
        await removeIgnored(git, ignoredBefore)
        await submodules.removeIgnored()
      }),

    async rememberIgnored() {
      ignoredBefore = await git.ignored()
      await submodules.rememberIgnored()
    },

    inspect: (state, attempt, builtAt) =>
      onRestoredClone(state.green, async () => {
        const { inspection, paths } = await inspect(
          tools,
          state,
          attempt,
          builtAt,
          snapshot.foundHead ?? null,
        )
        if (inspection.kind === 'candidate') await holdCommit(git, snapshot, inspection.candidate.commit)
        if (inspection.kind === 'candidate')
          lastCandidate = { green: state.green, commit: inspection.candidate.commit, paths }
        return inspection
      }),

    async restore(commit) {
      const changed = await onRestoredClone(commit, () => tree.restoreIfChanged(commit))
      await tree.markClean(commit)
      return changed
    },

    async openForJudge(fork, commit, pictures) {
      const visible = await onRestoredClone(commit, () => view.open(fork, commit))
      for (const { path, blob } of pictures) await showScreenshot(git, objects, path, blob)
      return { close: () => onRestoredClone(commit, () => view.close(visible)) }
    },

    rebase: (state, attempt) =>
      onRestoredClone(attempt.candidate.commit, async () => {
        const rebased = await rebase(tools, state, attempt)
        if ('candidate' in rebased) await holdCommit(git, snapshot, rebased.candidate.commit)
        return rebased
      }),

    async workOf(state, { base, commit }) {
      const work = await withOldOwnFiles(tools, state, base, commit)
      return { base: await tree.treeOf(base), tree: work, dropped: [] }
    },

    saveWork: (state, storyId) => onRestoredClone(state.green, () => saveWork(tools, state, storyId)),

    documentsAt: (state) => editDocuments(objects, state.green, options.onOutcome(state), () => {}),

    record: (state, subject) => commits.record(state, subject),

    join: (state, theirs) => joinCommits(tools, state, theirs),

    conflict: async (commit, kept) => (await withSavedWork(tree, commits, commit, kept)).conflict,

    async uncommitted(commit) {
      const found = await tree.withOpenIndex(commit, () => findUncommittedFiles(tree, options, commit))
      if (found.length === 0) await tree.markClean(commit)
      return found
    },

    untracked: async () => (await git.untracked('filled folders')).paths,

    adopt: (commit, paths, message) =>
      tree.withOpenIndex(commit, async () => {
        await refuseForeign(tree)
        const staged = await tree.stage(commit)
        if ('unreadable' in staged) throw new Error(redact(staged.unreadable))
        await tree.reset(staged.changes.filter((change) => !paths.includes(change.path)))
        return commits.commit(await tree.index.tree(), [commit], message)
      }),

    async asItWas(from, to, { fork, but = [], only, red, newPackages = false }) {
      const isWork = ({ path }: Change) => !options.isRalphPath(path) && !but.includes(path)
      const isProduct = await options.product.of(fork, from)
      const changes = (await changesBetween(objects, from, to)).filter(isWork)
      const outside = changes.filter(({ path }) => !isProduct(path))
      const sinceRed: Change[] = []
      // The tree of an earlier attempt may be gone: then there is nothing to compare with.
      if (red !== undefined && (await objects.root(red)) !== null)
        for (const change of (await changesBetween(objects, red, to)).filter(isWork))
          if ((await objects.info(`${from}:${change.path}`)) === null) sinceRed.push(change)
      if (changes.length === 0) return null
      // Without a change of the product this is `from` itself, on which the gates ran.
      if (outside.length === changes.length && sinceRed.length === 0)
        return { commit: from, paths: outside.map(({ path }) => path), touchesBase: true }
      const all = await options.product.checksAsTheyWere(changes, {
        isProduct,
        objects,
        sinceRed,
        newPackages,
      })
      const restored = [...all].filter(([path]) => only?.includes(path) ?? true)
      if (restored.length === 0) return null
      const commit = await commitWith(to, new Map(restored), 'the checks as they were')
      const touchesBase = outside.some(({ status, path }) => status !== 'A' && all.has(path))
      const kept = newPackages ? outside.map(({ path }) => path).filter(options.product.isManifest) : []
      return { commit, paths: restored.map(([path]) => path), touchesBase, kept }
    },

    async withoutProduct(from, to, fork) {
      const isProduct = await options.product.of(fork, from)
      const changes = (await changesBetween(objects, from, to)).filter(
        ({ path }) => !options.isRalphPath(path),
      )
      const restored = options.product.productAsItWas(changes, isProduct)
      const changesProduct = restored.size > 0
      if (!changesProduct || restored.size === changes.length) return { commit: null, changesProduct }
      return { commit: await commitWith(to, restored, 'the product as it was'), changesProduct }
    },

    async mutants(from, to, { fork, count }) {
      const isProduct = await options.product.of(fork, from)
      const files = [...(await changedLinesBetween(objects, from, to))]
        .filter(([path]) => isProduct(path) && !options.isRalphPath(path))
        .map(async ([path, written]) => ({
          path,
          written,
          text: (await objects.text(`${to}:${path}`)) ?? '',
        }))
      return options.product.mutantsOf(await Promise.all(files), count)
    },

    async withMutant(to, mutant) {
      const entry = await objects.entry(to, mutant.path)
      const text = entry === null ? null : await objects.text(entry.oid)
      const mistaken = text === null ? null : options.product.withMutant(text, mutant)
      if (entry === null || mistaken === null) return null
      const files = new Map([[mutant.path, { mode: entry.mode, text: mistaken }]])
      return commitWith(to, files, 'the change with a mistake')
    },

    async history({ base, green, nonce }) {
      const made = await git.messages(`${base.sha}..${green}`, 'first parents')
      const commits = made.reverse().map(async ({ commit, message }) => {
        const storyId = storiesIn(message, nonce)[0] ?? null
        const changes = storyId === null ? await changesBetween(objects, `${commit}^`, commit) : []
        return { commit, storyId, paths: changes.map(({ path }) => path) }
      })
      return Promise.all(commits)
    },

    edit: (state, edit) => editBranch(tools, state, edit),

    suggested: (state, suggestions) => applySuggestions(tools, state, suggestions),

    async storyAt({ base, green, nonce }, { path, lines }) {
      const range = `${base.sha}..${green}`
      // Lines that no longer exist have no author, but the file still has one.
      const found = [...(await git.authors(range, path, lines)), ...(await git.authors(range, path, null))]
      const messages = new Map((await git.messages(range)).map(({ commit, message }) => [commit, message]))
      for (const { commit } of found) {
        const [storyId] = storiesIn(messages.get(commit) ?? '', nonce)
        if (storyId !== undefined) return storyId
      }
      return null
    },

    async undone(state, candidate) {
      const { green } = state
      const history = landedStories(state)
      if (history.length === 0) return []
      return undoneStories(objects, { green, candidate, history, isRalphPath: options.isRalphPath })
    },

    read: (commit, path) => objects.text(`${commit}:${path}`),

    files: (commit) => pathsIn(objects, commit),

    leftFiles: (commit) =>
      onRestoredClone(commit, async () => {
        const { paths } = await git.untracked()
        const isNew = (path: string) => !options.isRalphPath(path) && !options.documents.isDocument(path)
        const left = await readLeftFiles(git.clone.workTree, paths.filter(isNew), MAX_LEFT)
        // The files are shown to sessions and people, so files with a secret are left out.
        return left.filter(({ text }) => redact(text) === text)
      }),

    async writtenLines({ base }, commit) {
      if ((await objects.root(base.sha)) === null) return null
      const written = await changedLinesBetween(objects, base.sha, commit)
      return new Map([...written].filter(([path]) => !options.isRalphPath(path)))
    },

    changedLines: (from, to) => changedLinesBetween(objects, from, to),

    async changeSize(from, to) {
      // A shallow clone has no parents to compare with, but it has both trees.
      const changes = await changesBetween(objects, from, to)
      const isCounted = (path: string) => !options.isRalphPath(path)
      const linesOf = (all: ReadonlyMap<string, readonly number[]>) =>
        [...all].reduce((sum, [path, lines]) => sum + (isCounted(path) ? lines.length : 0), 0)
      return {
        files: changes.filter(({ path }) => isCounted(path)).length,
        added: linesOf(await changedLinesBetween(objects, from, to)),
        removed: linesOf(await changedLinesBetween(objects, to, from)),
      }
    },

    async productLines({ base }, from, to) {
      const isProduct = await options.product.of(base.sha, from)
      const written = await changedLinesBetween(objects, from, to)
      const removed = await changedLinesBetween(objects, to, from)
      const counts = [...written, ...removed].map(([path, lines]) =>
        options.isRalphPath(path) || !isProduct(path) ? 0 : lines.length,
      )
      return counts.reduce((sum, count) => sum + count, 0)
    },

    changedPaths: async (from, to) => (await changesBetween(objects, from, to)).map(({ path }) => path),

    async lockfileChanged(from, to) {
      if (from === to) return false
      const isGated = lastCandidate?.green === from && lastCandidate.commit === to
      const paths = isGated
        ? lastCandidate?.paths
        : (await changesBetween(objects, from, to)).map(({ path }) => path)
      return paths?.some(options.product.isLockfile) === true
    },
  }
}

/** Restores the clone before Ralph's git runs in it. Refs that people may have moved are reported, but not restored. */
async function restoreAndReport(
  git: Git,
  snapshot: Snapshot,
  warn: (message: string) => void,
): Promise<void> {
  const moved = existingRefsFirst(await restoreClone(git, snapshot))
  for (const one of moved.slice(0, MAX_NAMED_REFS))
    warn(
      `${formatMovedRef(one)} while agents or gates ran. If that was not you, undo it: ${undoCommand(one)}`,
    )
  if (moved.length > MAX_NAMED_REFS)
    warn(`${moved.length - MAX_NAMED_REFS} more refs moved while agents or gates ran`)
}

/** The commits of the stories that passed, the oldest first, as the state has them. */
function landedStories({ records, timeline }: State): { commit: string; storyId: string }[] {
  const order = timeline.filter(({ result }) => result === 'passed').map(({ storyId }) => storyId)
  return Object.entries(records)
    .flatMap(([storyId, { commit }]) => (commit === null ? [] : [{ storyId, commit }]))
    .sort((a, b) => order.lastIndexOf(a.storyId) - order.lastIndexOf(b.storyId))
}

async function checkOut(
  tree: WorkTree,
  commits: Commits,
  options: RepositoryOptions,
  commit: string,
  kept: SavedWork | null,
): Promise<{ conflict: string | null }> {
  await tree.git.writeConfig()
  const isFirst = tree.nestedBefore === null
  const foreign = isFirst ? await refuseForeign(tree) : []
  if (isFirst) tree.nestedBefore = await findNestedGits(tree, options, foreign)
  const work = kept === null ? null : await withSavedWork(tree, commits, commit, kept)
  if (work?.tree == null) await tree.restoreIfChanged(commit)
  else await tree.restoreTree(work.tree)
  return { conflict: work?.conflict ?? null }
}

/** The tree of a commit with a story's saved work on top, or why the work does not fit. */
async function withSavedWork(
  tree: WorkTree,
  commits: Commits,
  commit: string,
  kept: SavedWork,
): Promise<{ tree: string; conflict: null } | { tree: null; conflict: string }> {
  const { git, objects } = tree
  const green = await tree.treeOf(commit)
  const base = (await objects.root(kept.base)) ?? kept.base
  if (base === green) return { tree: kept.tree, conflict: null }
  const root = await commits.helperCommit(base, [], 'base')
  const [ours, work] = [
    await commits.helperCommit(green, [root], 'ours'),
    await commits.helperCommit(kept.tree, [root], 'theirs'),
  ]
  const merged = await git.mergeTree(ours, work)
  if (merged.conflicts.length === 0) return { tree: merged.tree, conflict: null }
  const paths = merged.conflicts.slice(0, 5).map(displayPath).join(', ')
  return { tree: null, conflict: `it conflicts with the newest code (${paths})` }
}

/** The `.git` entries below the top before any agent runs. */
async function findNestedGits(
  tree: WorkTree,
  options: RepositoryOptions,
  foreign: readonly string[],
): Promise<Set<string>> {
  const { git } = tree
  const keptRepositories = options.snapshot.whole ? await keepRepositories(git, options, foreign) : []
  const { folders } = await tree.index.listing()
  const nested = await nestedGits(git, { tracked: folders, untracked: await untrackedFolders(git) })
  return new Set([...nested, ...keptRepositories.map((folder) => `${folder}/.git`)])
}

/** Keeps repositories that earlier steps left in a job's checkout. Warns that their other uncommitted files are removed. */
async function keepRepositories(
  git: Git,
  { redact, warn }: RepositoryOptions,
  foreign: readonly string[],
): Promise<string[]> {
  const { repositories, others } = await findUncommitted(git)
  others.push(...foreign)
  await git.ignore(repositories)
  if (others.length === 0) return repositories
  const names = others.slice(0, 10).map((path) => quotedPath(redact(path), 160))
  if (others.length > names.length) names.push(`${others.length - names.length} more`)
  warn(
    `Ralph removed uncommitted files of earlier steps, so that gates see only committed files: ${names.join(', ')}. To keep such files, name them in .gitignore, or write them to RUNNER_TEMP`,
  )
  return repositories
}

/** Refuses a repository instead of a submodule, since git would run programs that its configuration names. */
async function refuseForeign(tree: WorkTree): Promise<string[]> {
  const found = await findForeignRepositories(await tree.places())
  const inside = found.find((path) => path.endsWith('/.git'))?.slice(0, -'/.git'.length)
  const first = tree.submodules.foreign[0] ?? inside
  if (first === undefined) return found
  throw new UserError({
    path: first,
    found: 'these files are in the folder of a submodule, but not from its repository.',
    expected: '',
    fix: 'run `git submodule absorbgitdirs`, or move the files away. In a workflow, set submodules: true of actions/checkout',
  })
}

async function findUncommittedFiles(
  tree: WorkTree,
  { redact }: RepositoryOptions,
  commit: string,
): Promise<UncommittedFile[]> {
  const { git, index } = tree
  const foreign = await refuseForeign(tree)
  git.unlock()
  await index.fill(await tree.treeOf(commit))
  const [changed, loose] = await Promise.all([git.changedFiles(), git.untracked()])
  if (loose.closed !== null) return [{ path: redact(loose.closed), isUntracked: false }]
  const tracked = [...foreign]
  for (const change of parseRaw(changed))
    if (!(await tree.isOnlyStoredDifferently(change))) tracked.push(change.path)
  // git lists a nested repository as one entry.
  const untracked = loose.paths.map((path) => path.replace(/\/$/, ''))
  return [
    ...tracked.map((path) => ({ path, isUntracked: false })),
    ...untracked.map((path) => ({ path, isUntracked: true })),
  ]
}
