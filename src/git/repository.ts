// The work tree and its commits: checks out, inspects, keeps, restores and joins. Implements RepositoryPort.
import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { byWeight, sayMoved, undoMove } from '../loop/moved-refs.ts'
import { passedEntry, passStory } from '../loop/reduce.ts'
import type { Joined, People, TakenBack } from '../model/event.ts'
import { ownFiles } from '../model/paths.ts'
import type { Inspection, RepositoryPort } from '../model/ports.ts'
import type { Attempt, Failure, Kept, State } from '../model/state.ts'
import { parsePrd } from '../prd/parse.ts'
import { prdFile, progressFile, recordMessage, storyMessage } from '../report/files.ts'
import { UserError } from '../system/errors.ts'
import { insideTree, openUp } from '../system/files.ts'
import { type CatFile, GITLINK } from './cat-file.ts'
import { restoreClone, type Snapshot } from './clone.ts'
import { findForeignRepositories, removeForeignRepositories } from './foreign-repositories.ts'
import { type Git, GitError } from './git.ts'
import {
  attributesIn,
  type Folders,
  ignoredPaths,
  leftovers,
  nestedGits,
  newlyIgnored,
  removeIgnored,
  storedOtherwise,
  trackedFolders,
  untrackedFolders,
} from './hidden-changes.ts'
import { bentFiles, type OldIndex } from './index-file.ts'
import { commitBytes, type Identity, objectId } from './objects.ts'
import { foldersOf, indexHolds, treeOfIndex } from './own-index.ts'
import { type Change, parseRaw } from './raw-diff.ts'
import type { Submodules } from './submodules.ts'
import { changesBetween } from './tree-walk.ts'

/** What the guard and the watchers say of a change set. `dropped` may not be kept for a later attempt. */
export type Examination = { failure: Failure | null; dropped: string[]; remarks: string[] }

export type RepositoryOptions = {
  /** Whether a path is Ralph's own, in whatever spelling a file system may take for `.ralph/`. */
  isRalphs(path: string): boolean
  /** The last door before a commit: no secret leaves in Ralph's own files either. */
  redact(text: string): string
  identity: Identity
  /** Whether state commits beside the first are made at all (`commits.prdChanges`). */
  stateCommits: boolean
  /** The subject of state commits (`commits.message`); null for the loop's own words. */
  stateSubject: string | null
  examine(changes: readonly Change[], objects: CatFile, base: string): Promise<Examination>
  /** The clone as it was before any agent ran. */
  snapshot: Snapshot
  submodules: Submodules
  warn(message: string): void
}

/** git goes on without it. */
const CLOSED_FOLDER = /^warning: (could not open directory .*)$/m

/** The work tree in our index: what differs from a commit, and the tree that it is then, where that is known. */
type Staged = { changes: Change[]; tree: string | null; folders: Folders }

/** So long nobody looks again at a tree that was just put back, milliseconds: between two iterations only we work. */
const REST_MS = 1000

const LOCKFILES = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'bun.lockb',
  'Cargo.lock',
  'go.sum',
  'poetry.lock',
  'uv.lock',
  'Pipfile.lock',
  'requirements.txt',
  'Gemfile.lock',
  'composer.lock',
])

/** So many refs that moved are told by name when it is seen. */
const TOLD_REFS = 10

export type Dirt = { path: string; isUntracked: boolean }

/** What the command line needs beside the loop's port. */
export type Repository = RepositoryPort & {
  /** What differs from a commit, untracked files too; ignored ones are left out. Nothing is written into the clone. */
  dirt(commit: string): Promise<Dirt[]>
  /** Untracked files as `dirt` saw them, folders (ending in `/`) in the place of what is in them alone. */
  untracked(): Promise<string[]>
  /** True when a lockfile differs between the two commits. */
  lockfileChanged(from: string, to: string): Promise<boolean>
  /** From now on the tree is Ralph's own: of what is ignored, `renew` leaves only what is there now. */
  rememberIgnored(): Promise<void>
  /** The given paths as they stand in the work tree, committed on top of `commit`. */
  adopt(commit: string, paths: readonly string[], message: string): Promise<string>
}

export function createRepository(git: Git, objects: CatFile, options: RepositoryOptions): Repository {
  const top = git.clone.workTree
  const isRalphs = (change: Change) => options.isRalphs(change.path)

  /** Before anything of ours runs in it. What people may have done themselves is only told. */
  async function putCloneBack(): Promise<void> {
    const moved = byWeight(await restoreClone(git, options.snapshot))
    for (const one of moved.slice(0, TOLD_REFS))
      options.warn(`${sayMoved(one)} while agents or gates ran. Was it not you? ${undoMove(one)}`)
    if (moved.length > TOLD_REFS)
      options.warn(`${moved.length - TOLD_REFS} more refs moved while agents or gates ran`)
  }

  /** The tree of our index, as far as it is known without asking git. */
  let indexTree: string | null = null
  /** Paths of the last candidate, so that its lockfiles are known without another diff. */
  let gated: { green: string; commit: string; paths: readonly string[] } | null = null
  /** The tree that was put back a moment ago, after the last program that is not trusted, and when. */
  let rest: { tree: string; at: number } | null = null
  /** `.git` entries below the top that were there before any agent ran. */
  let nestedBefore: Set<string> | null = null
  /** Ignored files and folders that were there before anything ran; null where the tree is not ours to clean. */
  let ignoredBefore: readonly string[] | null = null

  /** Works on our index as we left it; `tree` is what it holds where that is not known. */
  async function onIndex<T>(tree: string, act: () => Promise<T>): Promise<T> {
    await git.openIndex(indexTree ?? tree, (wanted) => indexHolds(git, objects, wanted))
    try {
      return await act()
    } finally {
      rest = null
      await git.sealIndex()
    }
  }

  async function commitTree(tree: string, parents: readonly string[], message: string): Promise<string> {
    const writer = git.writer(tree)
    const oid = writer.add('commit', commitBytes(tree, parents, options.identity, new Date(), message))
    await objects.prove(await writer.flush())
    return oid
  }

  /** What our index holds, as a tree; what `base` does not have of it is written. */
  async function ownTree(base: string): Promise<string> {
    return (await treeOfIndex(git, objects, base)).oid
  }

  async function treeOf(commit: string): Promise<string> {
    const info = await objects.info(`${commit}^{tree}`)
    if (info === null) throw new Error(`the clone is damaged: there is no commit ${commit} in it`)
    return info.oid
  }

  /**
   * Puts the whole work tree into our index, and says what differs from a commit. `tree` is what the index holds then.
   * Files that somebody wrote to, and that git calls unchanged, are `straight`ened: they hold what a checkout gives.
   */
  async function stage(against: string, straight = false): Promise<Staged | { unreadable: string }> {
    await git.unlock()
    indexTree = null
    const before = straight ? await git.sealedIndex() : null
    let closed: string | undefined
    // By the index as it is or as it becomes: both show what git stores nothing of.
    const looking = Promise.allSettled([untrackedFolders(git)])
    try {
      const { stderr } = await git.run(['add', '-A', '--', '.'])
      // git goes on without it, and the gates may open it again.
      closed = CLOSED_FOLDER.exec(stderr)?.[1]
    } catch (error) {
      if (error instanceof GitError) return { unreadable: options.redact(error.stderr).trim() }
      throw error
    } finally {
      await looking
    }
    const [looked] = await looking
    if (looked.status === 'rejected') throw looked.reason
    const made = await treeOfIndex(git, objects, against)
    const tree = made.oid
    const folders = { tracked: foldersOf(made), untracked: looked.value }
    const changes = await changesBetween(objects, against, tree)
    const untouched: Change[] = []
    for (const change of changes) if (await isUntouched(change)) untouched.push(change)
    await reset(untouched)
    const left = changes.filter((change) => !untouched.includes(change))
    if (closed !== undefined && straight) await openUp(top)
    if (before !== null) await straighten(before, left, tree.length / 2)
    if (closed !== undefined) return { unreadable: options.redact(closed) }
    return { changes: left, tree: untouched.length === 0 ? tree : null, folders }
  }

  /** From now on the index calls them clean: nobody would look at them again. */
  async function straighten(before: OldIndex, changes: readonly Change[], idLength: number) {
    const changed = changes.map(({ path }) => path)
    const bent = await bentFiles(top, before, await git.readIndex(), changed, idLength)
    await checkOutAnew(bent)
  }

  /** Files as our index has them; git would leave those that it calls clean. */
  async function checkOutAnew(paths: readonly Buffer[]): Promise<void> {
    if (paths.length === 0) return
    const input = Buffer.concat(paths.flatMap((path) => [path, Buffer.from([0])]))
    const anew = async () => {
      for (const path of paths) await rm(Buffer.concat([Buffer.from(`${top}/`), path]), { force: true })
      await git.run(['checkout-index', '-f', '-u', '-z', '--stdin'], { input })
    }
    await anew().catch(async () => {
      await openUp(top)
      await anew()
    })
  }

  /** git would store these bytes otherwise than they were stored (line ends), and nobody has changed them. */
  async function isUntouched(change: Change): Promise<boolean> {
    if (change.status !== 'M' || change.oldMode !== change.newMode) return false
    const file = join(top, change.path)
    const now = await lstat(file).catch(() => null)
    if (now?.isFile() !== true || change.oldMode === GITLINK) return false
    if (now.size !== (await objects.info(change.oldOid))?.size) return false
    const bytes = await objects.contents(change.oldOid)
    return bytes !== null && (await readFile(file).catch(() => null))?.equals(bytes) === true
  }

  /** Gives paths in the index back the entry that they have in the commit. */
  async function reset(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return
    const lines = changes.map((change) =>
      change.status === 'A'
        ? `0 ${change.newOid}\t${change.path}`
        : `${change.oldMode} ${change.oldOid}\t${change.path}`,
    )
    await git.run(['update-index', '-z', '--index-info'], {
      input: lines.map((line) => `${line}\0`).join(''),
    })
  }

  /** Attributes may turn our own files into something else on their way into the index: there they stand as they were written. */
  async function keepBytes(
    green: string,
    own: ReadonlyMap<string, string>,
    changes: readonly Change[],
  ): Promise<boolean> {
    const lines: string[] = []
    for (const [path, text] of own) {
      const change = changes.find((one) => one.path === path)
      const oid = change?.newOid ?? (await objects.info(`${green}:${path}`))?.oid ?? ''
      if (oid === objectId('blob', Buffer.from(text), oid.length)) continue
      lines.push(`100644 ${await git.line(['hash-object', '-w', '--stdin'], { input: text })}\t${path}\0`)
    }
    if (lines.length === 0) return false
    await git.run(['update-index', '-z', '--index-info'], { input: lines.join('') })
    return true
  }

  async function toTree(tree: string): Promise<void> {
    await git.unlock()
    await removeForeignRepositories(git, options.submodules.paths)
    indexTree = null
    try {
      await checkOutTree(tree)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      // A folder that its owner may not write to keeps what is in it.
      await openUp(top)
      await checkOutTree(tree)
    }
    await removeForeignRepositories(git, options.submodules.paths)
    await options.submodules.reset()
    indexTree = tree
  }

  /** Removes what the agent's tree has at a path; nothing where a link above it leads elsewhere. */
  async function removeAt(path: string): Promise<void> {
    const place = await insideTree(top, path)
    if (place !== null) await rm(place, { recursive: true, force: true })
  }

  async function checkOutTree(tree: string): Promise<void> {
    const [names, loose] = await Promise.all([
      git.run(['diff-index', '--cached', '--name-only', '-z', '--no-renames', tree, '--']),
      git.run(['ls-files', '-z', '--others', '--exclude-standard', '--', ':(glob)**/.gitattributes'], {
        env: { GIT_LITERAL_PATHSPECS: '0' },
      }),
    ])
    const changed = attributesIn(names.stdout.split('\0'))
    // Attributes that nobody committed, or that go now, would count at the checkout, too.
    for (const path of [...changed, ...attributesIn(loose.stdout.split('\0'))]) await removeAt(path)
    // Files that stay would stay as other attributes had them: every file is written anew.
    if (changed.length > 0) await rm(join(git.own, 'index'), { force: true })
    await git.run(['read-tree', '--reset', '-u', tree])
    await git.run(['clean', '-ffdq', '--', '.'])
  }

  /** The `.git` entries that came since the job began; they are removed, for no commit can hold them. */
  async function removeNested(folders: Folders, changes: readonly Change[]): Promise<string[]> {
    const { paths } = options.submodules
    const all = await nestedGits(git, folders, changes, paths)
    const fresh = all.filter((path) => nestedBefore?.has(path) !== true)
    for (const path of fresh) await removeAt(path)
    await dropGitlinks(changes)
    return fresh
  }

  /** The same, for gates: git checks out whatever stands in the place of a tree. */
  async function toTreeChecked(tree: string): Promise<void> {
    await toTree(tree)
    if (!(await indexHolds(git, objects, tree)))
      throw new Error(`the clone is damaged: a checkout of ${tree} gives other files`)
  }

  /** With an entry that says submodule, its files would be in no diff, and git would look for a repository there. */
  async function dropGitlinks(changes: readonly Change[]): Promise<void> {
    const { paths } = options.submodules
    await reset(changes.filter(({ newMode, path }) => newMode === GITLINK && !paths.has(path)))
  }

  /** Makes the work tree what somebody gets who checks the tree out: git may store other bytes than an agent wrote. */
  async function asStored(tree: string, changes: readonly Change[]): Promise<void> {
    if (attributesIn(changes.map(({ path }) => path)).length > 0) {
      await rm(join(git.own, 'index'), { force: true })
      await toTreeChecked(tree)
      return
    }
    const other = await storedOtherwise(git, changes)
    await checkOutAnew(other.map((path) => Buffer.from(path)))
  }

  /** Whether anything in the work tree differs from our index. */
  async function touched(): Promise<boolean> {
    const args = ['ls-files', '-z', '--modified', '--deleted', '--others', '--exclude-standard']
    return (await git.run(args)).stdout !== ''
  }

  async function settle(commit: string): Promise<boolean> {
    const wanted = await treeOf(commit)
    if (rest?.tree === wanted && indexTree === wanted && performance.now() - rest.at < REST_MS) return false
    await removeForeignRepositories(git, options.submodules.paths)
    if ((await stagedTree()) === wanted && !(await touched())) {
      await options.submodules.reset()
      return false
    }
    await toTreeChecked(wanted)
    return true
  }

  /** The tree that our index holds; null where it cannot be written as one. */
  async function stagedTree(): Promise<string | null> {
    if (indexTree === null) {
      const result = await git.run(['write-tree'], { accept: [128] })
      indexTree = result.code === 0 ? result.stdout.trim() : null
    }
    return indexTree
  }

  /** Writes one of our files; a link that somebody put in its way is removed, never followed. */
  async function writeOwn(path: string, text: string): Promise<void> {
    const parts = path.split('/')
    let at = top
    for (const part of parts.slice(0, -1)) {
      at = join(at, part)
      const found = await lstat(at).catch(() => null)
      if (found !== null && !found.isDirectory()) await rm(at, { force: true })
      if (found === null || !found.isDirectory()) await mkdir(at)
    }
    const file = join(at, parts.at(-1) ?? '')
    const fresh = join(git.own, 'fresh')
    await rm(fresh, { recursive: true, force: true })
    await writeFile(fresh, text, { flag: 'wx' })
    await rename(fresh, file).catch(async () => {
      // A folder stands in its place, or the tree is on another file system.
      await rm(file, { recursive: true, force: true })
      await rename(fresh, file).catch(() => copyFile(fresh, file, constants.COPYFILE_EXCL))
    })
  }

  /** Three trees brought together; `null` for the tree when they conflict. */
  async function mergeTrees(
    base: string,
    ours: string,
    theirs: string,
  ): Promise<{ tree: string; conflicts: string[] }> {
    const root = await commitTree(base, [], 'base')
    const [left, right] = [await commitTree(ours, [root], 'ours'), await commitTree(theirs, [root], 'theirs')]
    return mergeCommits(left, right)
  }

  async function mergeCommits(left: string, right: string): Promise<{ tree: string; conflicts: string[] }> {
    const merged = await git.run(
      [
        'merge-tree',
        '--write-tree',
        '-z',
        '--name-only',
        '--no-messages',
        '--allow-unrelated-histories',
        left,
        right,
      ],
      { accept: [1] },
    )
    const [tree = '', ...names] = merged.stdout.split('\0')
    return { tree, conflicts: names.filter((name) => name !== '') }
  }

  /** A tree with some files replaced (or removed: null), made in an index of its own. */
  async function withFiles(
    base: string,
    files: ReadonlyMap<string, string | null>,
    moves: readonly [string, string][] = [],
  ) {
    const env = { GIT_INDEX_FILE: join(git.own, 'record-index') }
    await rm(join(git.own, 'record-index.lock'), { force: true })
    await git.run(['read-tree', base], { env })
    const lines: string[] = []
    for (const [path, text] of files) {
      if (text === null) lines.push(`0 ${'0'.repeat(40)}\t${path}`)
      else lines.push(`100644 ${await git.line(['hash-object', '-w', '--stdin'], { input: text })}\t${path}`)
    }
    for (const [from, to] of moves) {
      const listed = await git.run(['ls-tree', '-r', '-z', base, '--', `${from}/`])
      for (const entry of listed.stdout.split('\0').filter(Boolean)) {
        const [meta = '', path = ''] = entry.split('\t')
        const [mode = '', , oid = ''] = meta.split(' ')
        lines.push(`0 ${oid}\t${path}`, `${mode} ${oid}\t${to}${path.slice(from.length)}`)
      }
    }
    await git.run(['update-index', '-z', '--index-info'], {
      env,
      input: lines.map((line) => `${line}\0`).join(''),
    })
    return git.line(['write-tree'], { env })
  }

  async function checkOut(commit: string, kept: Kept | null): Promise<{ conflict: string | null }> {
    await git.writeConfig()
    if (nestedBefore === null) {
      const strays = await refuseForeign()
      const spared = options.snapshot.whole ? await spareRepositories(strays) : []
      const [tracked, untracked] = await Promise.all([trackedFolders(git, commit), untrackedFolders(git)])
      const nested = await nestedGits(git, { tracked, untracked }, [], options.submodules.paths)
      nestedBefore = new Set([...nested, ...spared.map((folder) => `${folder}/.git`)])
    }
    const green = await treeOf(commit)
    if (kept === null) {
      await settle(commit)
      return { conflict: null }
    }
    const base = (await objects.info(`${kept.base}^{tree}`))?.oid ?? kept.base
    const merged =
      base === green ? { tree: kept.tree, conflicts: [] } : await mergeTrees(base, green, kept.tree)
    if (merged.conflicts.length > 0) {
      await settle(commit)
      return {
        conflict: `it does not fit the newest code any more (${merged.conflicts.slice(0, 5).join(', ')})`,
      }
    }
    await toTree(merged.tree)
    return { conflict: null }
  }

  /** In a job's checkout: the repositories of earlier steps stay; the other files that nobody committed go, and are named. */
  async function spareRepositories(strays: readonly string[]): Promise<string[]> {
    const { repositories, others } = await leftovers(git)
    others.push(...strays)
    await git.ignore(repositories)
    if (others.length === 0) return repositories
    const names = others.slice(0, 10).map((path) => JSON.stringify(options.redact(path.slice(0, 160))))
    if (others.length > names.length) names.push(`${others.length - names.length} more`)
    options.warn(
      `files of earlier steps that are not committed are removed, for the gates see what a commit holds: ${names.join(', ')}. To keep them, name them in .gitignore, or put them elsewhere (RUNNER_TEMP)`,
    )
    return repositories
  }

  /** Before any agent ran: a repository in the place of a submodule is somebody's, but git would run what it says. */
  async function refuseForeign(): Promise<string[]> {
    const { foreign, paths } = options.submodules
    const strays = await findForeignRepositories(git, paths)
    const first = foreign[0] ?? strays.find((path) => path.endsWith('/.git'))?.slice(0, -'/.git'.length)
    if (first === undefined) return strays
    throw new UserError({
      path: first,
      found: 'a repository or files that this clone knows nothing of, in the place of a submodule',
      expected: 'a submodule that git has checked out, or an empty folder',
      fix: 'run `git submodule absorbgitdirs` (in a workflow: submodules: true of actions/checkout), or move them away',
    })
  }

  async function dirt(commit: string): Promise<Dirt[]> {
    const strays = await refuseForeign()
    await git.unlock()
    indexTree = null
    await git.run(['read-tree', '-i', '-m', commit])
    if (!(await indexHolds(git, objects, commit)))
      throw new Error(`the clone is damaged: ${commit} holds other files`)
    await git.run(['update-index', '-q', '--refresh'], { accept: [1] })
    const [changed, loose] = await Promise.all([
      git.run([
        'diff-index',
        '--raw',
        '-z',
        '--no-renames',
        '--no-abbrev',
        '--ignore-submodules=dirty',
        commit,
        '--',
      ]),
      git.run(['ls-files', '-z', '--others', '--exclude-standard']),
    ])
    const closed = CLOSED_FOLDER.exec(loose.stderr)?.[1]
    if (closed !== undefined) return [{ path: options.redact(closed), isUntracked: false }]
    const tracked = [...strays]
    for (const change of parseRaw(changed.stdout)) if (!(await isUntouched(change))) tracked.push(change.path)
    // A repository of its own is one entry.
    const untracked = loose.stdout
      .split('\0')
      .flatMap((path) => (path === '' ? [] : [path.replace(/\/$/, '')]))
    return [
      ...tracked.map((path) => ({ path, isUntracked: false })),
      ...untracked.map((path) => ({ path, isUntracked: true })),
    ]
  }

  async function inspect(state: State, attempt: Attempt): Promise<Inspection> {
    const { changed: inside, removed } = await options.submodules.changed()
    inside.push(...(await removeForeignRepositories(git, options.submodules.paths)))
    if (inside.length > 0) return { kind: 'refused', failure: submoduleFailure(inside.map(options.redact)) }
    const files = ownFiles(state)
    const passing = passStory(
      { ...state, progress: [...state.progress, passedEntry(state, attempt)] },
      attempt,
    )
    const before = await objects.text(`${state.green}:${files.progress}`)
    const own = new Map([
      [files.prd, prdFile(passing, options.redact)],
      [files.progress, options.redact(progressFile(passing, before))],
    ])
    for (const [path, text] of own) await writeOwn(path, text)
    const staged = await stage(state.green, true)
    if ('unreadable' in staged) {
      const summary = 'the work tree holds something that git cannot read'
      return { kind: 'refused', failure: { kind: 'guard', summary, detail: staged.unreadable } }
    }
    const mine = staged.changes.filter(isRalphs)
    const theirs = staged.changes.filter((change) => !isRalphs(change))
    const foreign = mine.filter((change) => !own.has(change.path))
    await reset(foreign)
    const bent = await keepBytes(state.green, own, mine)
    const nested = await removeNested(staged.folders, theirs)
    if (nested.length > 0) return { kind: 'refused', failure: nestedFailure(nested.map(options.redact)) }
    const seen = await options.examine(theirs, objects, state.green)
    if (seen.failure !== null) return { kind: 'refused', failure: seen.failure }
    const hidden = await newlyIgnored(git, objects, state.green, theirs)
    if (hidden.length > 0) return { kind: 'refused', failure: hiddenFailure(hidden.map(options.redact)) }
    const tree = (foreign.length === 0 && !bent ? staged.tree : null) ?? (await ownTree(state.green))
    indexTree = tree
    const commit = await commitTree(
      tree,
      [state.green],
      storyMessage(state, attempt.storyId, attempt.iteration, options.redact),
    )
    gated = { green: state.green, commit, paths: theirs.map((change) => change.path) }
    // The gates must run on the candidate's bytes: what was reset in the index is put back in the work tree too.
    if (foreign.length > 0) await toTreeChecked(tree)
    await asStored(tree, theirs)
    const remarks = [...seen.remarks, ...removedRemark(removed.map(options.redact))]
    return { kind: 'candidate', commit, empty: theirs.length === 0, remarks }
  }

  async function keep(state: State): Promise<Kept | null> {
    await options.submodules.reset()
    await removeForeignRepositories(git, options.submodules.paths)
    const staged = await stage(state.green, true)
    if ('unreadable' in staged) {
      options.warn(`the rejected work could not be kept: ${staged.unreadable}`)
      return state.kept[state.attempt?.storyId ?? ''] ?? null
    }
    const own = staged.changes.filter(isRalphs)
    const work = staged.changes.filter((change) => !isRalphs(change))
    await removeNested(staged.folders, work)
    const { dropped } = await options.examine(work, objects, state.green)
    await reset([...own, ...work.filter((change) => dropped.includes(change.path))])
    if (work.length === dropped.length) return null
    const shown = dropped.map(options.redact)
    return { base: await treeOf(state.green), tree: await ownTree(state.green), dropped: shown }
  }

  return {
    checkOut: (commit, kept) => onIndex(commit, () => checkOut(commit, kept)),

    async renew(commit) {
      rest = null
      await putCloneBack()
      await onIndex(commit, async () => {
        await checkOut(commit, null)
        // Whoever has changed what git calls clean: every file is read, for this is what a feature is judged by.
        await straighten({ bytes: null, at: 0 }, [], commit.length / 2)
        if (ignoredBefore === null) return
        await removeIgnored(git, ignoredBefore)
        await options.submodules.removeIgnored()
      })
    },

    rememberIgnored: async () => {
      ignoredBefore = await ignoredPaths(git)
      await options.submodules.rememberIgnored()
    },

    async inspect(state, attempt) {
      await putCloneBack()
      return onIndex(state.green, () => inspect(state, attempt))
    },

    async restore(commit) {
      // What ran since the last time may have written anything, however short it was.
      rest = null
      // First: our git is not run while a gate's code may have written its configuration.
      await putCloneBack()
      const changed = await onIndex(commit, () => settle(commit))
      rest = { tree: await treeOf(commit), at: performance.now() }
      return changed
    },

    async keep(state) {
      await putCloneBack()
      return onIndex(state.green, () => keep(state))
    },

    async record(state, subject) {
      const files = ownFiles(state)
      const before = await objects.text(`${state.green}:${files.prd}`)
      const text = prdFile(state, options.redact)
      const first = state.published === null
      if (!first && !options.stateCommits) return null
      if (
        before !== null &&
        !first &&
        significant(before) === significant(text) &&
        state.progress.length === 0
      )
        return null
      const progress = options.redact(
        progressFile(state, await objects.text(`${state.green}:${files.progress}`)),
      )
      const changed = new Map<string, string | null>([
        [files.prd, text],
        [files.progress, progress],
      ])
      const moves: [string, string][] = []
      if (first) {
        changed.set('.ralph/.gitattributes', '* linguist-generated=true\n')
        if (
          state.importedFrom !== null &&
          (await objects.info(`${state.green}:${state.importedFrom}`)) !== null
        )
          changed.set(state.importedFrom, null)
        moves.push(...(await replacedRuns(state)))
      }
      const tree = await withFiles(state.green, changed, moves)
      if (tree === (await treeOf(state.green))) return null
      // The first commit carries what people had not committed yet, so it stands on the fork point itself.
      return commitTree(
        tree,
        [first ? state.base.sha : state.green],
        recordMessage(state, options.stateSubject ?? subject),
      )
    },

    async join(state, theirs) {
      const { green, published } = state
      const people = await peopleAt(state, theirs)
      const plain = { people, takenBack: [], entries: [] }
      if (published !== null && !(await within(published, theirs))) {
        if (state.job.takesBranch) return asItIs(state, theirs, people)
        const at = theirs.slice(0, 7)
        return {
          refused: `${state.branch} was rewritten by people (it is at ${at}): say run to take it as it is`,
        }
      }
      if (await within(theirs, green)) {
        return state.job.takesBranch && theirs === green
          ? asItIs(state, theirs, null)
          : { ...plain, green, people: null, code: false }
      }
      if (await within(green, theirs)) {
        const range = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', green, theirs]
        const code = parseRaw((await git.run(range)).stdout).some((change) => !isRalphs(change))
        return { ...plain, green: theirs, code }
      }
      const files = ownFiles(state)
      const merged = await mergeCommits(green, theirs)
      const blocking = merged.conflicts.filter((path) => path !== files.prd && path !== files.progress)
      if (blocking.length > 0) return theirsFirst(state, theirs, people, blocking)
      const own = new Map<string, string | null>()
      for (const path of [files.prd, files.progress]) own.set(path, await objects.text(`${green}:${path}`))
      const tree = merged.conflicts.length === 0 ? merged.tree : await withFiles(merged.tree, own)
      const subject = `merge: ${state.branch} of people and Ralph`
      const commit = await commitTree(tree, [theirs, green], recordMessage(state, subject))
      return { ...plain, green: commit, code: true }
    },

    dirt: (commit) => onIndex(commit, () => dirt(commit)),

    async untracked() {
      const args = ['ls-files', '-z', '--others', '--exclude-standard', '--directory', '--no-empty-directory']
      return (await git.run(args)).stdout.split('\0').filter((path) => path !== '')
    },

    adopt: (commit, paths, message) =>
      onIndex(commit, async () => {
        await refuseForeign()
        const staged = await stage(commit)
        if ('unreadable' in staged) throw new Error(staged.unreadable)
        await reset(staged.changes.filter((change) => !paths.includes(change.path)))
        return commitTree(await ownTree(commit), [commit], message)
      }),

    read: (commit, path) => objects.text(`${commit}:${path}`),

    async lockfileChanged(from, to) {
      if (from === to) return false
      if (gated?.green === from && gated.commit === to)
        return gated.paths.some((path) => LOCKFILES.has(basename(path)))
      const names = await git.run(['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to])
      return names.stdout.split('\0').some((path) => LOCKFILES.has(basename(path)))
    },
  }

  async function within(old: string, young: string): Promise<boolean> {
    return (await git.run(['merge-base', '--is-ancestor', old, young], { accept: [1] })).code === 0
  }

  /** prd.json as it stands on people's branch; a broken one is told, and left alone. */
  async function peopleAt(state: State, theirs: string): Promise<People | null> {
    const { prd: path } = ownFiles(state)
    const text = await objects.text(`${theirs}:${path}`)
    const ids = new Set(state.prd.userStories.map((story) => story.id))
    const parsed = text === null ? null : parsePrd(text, path, ids)
    if (parsed?.ok === false) {
      const where = parsed.mistakes[0]?.path ?? ''
      options.warn(`${path} on ${state.branch} is broken; Ralph goes on with its own: ${where}`)
    }
    if (parsed?.ok !== true) return null
    const edited = await objects.text(`${state.published ?? state.green}:${path}`)
    const before = edited === null ? null : parsePrd(edited, path, ids)
    const seen = before?.ok === true ? before.prd.userStories.map((story) => story.id) : [...ids]
    return { prd: parsed.prd, seen }
  }

  /** People's commits stand, and what ours conflict with in them is to be done again upon them. */
  async function theirsFirst(
    state: State,
    theirs: string,
    people: People | null,
    paths: readonly string[],
  ): Promise<Joined> {
    const listed = paths.slice(0, 5).join(', ')
    const summary = `people pushed what conflicts with it, in ${listed}`
    const failure: Failure = { kind: 'conflict', summary, detail: '' }
    const takenBack: TakenBack[] = []
    for (const { storyId, commit } of await storyCommits(
      `${state.published ?? state.base.sha}..${state.green}`,
      state.nonce,
    )) {
      const kept = { base: await treeOf(`${commit}^`), tree: await treeOf(commit), dropped: [] }
      takenBack.push({ storyId, kept, failure })
    }
    return { green: theirs, people, code: true, takenBack, entries: await entriesBeyond(state, theirs) }
  }

  /** A branch that people rewrote, and want to be gone on from: what passed is what its commits say. */
  async function asItIs(state: State, theirs: string, people: People | null): Promise<Joined> {
    const range = (await within(state.base.sha, theirs)) ? `${state.base.sha}..${theirs}` : theirs
    const there = new Set((await storyCommits(range, state.nonce)).map(({ storyId }) => storyId))
    const summary = 'its commit is not on the branch any more'
    const takenBack = state.prd.userStories
      .filter((story) => story.passes && story.lastResult?.imported !== true && !there.has(story.id))
      .map(({ id }) => ({
        storyId: id,
        kept: null,
        failure: { kind: 'conflict' as const, summary, detail: '' },
      }))
    return { green: theirs, people, code: true, takenBack, entries: await entriesBeyond(state, theirs) }
  }

  /** Commits of this run's stories by their trailers, the newest first; a squash keeps the lines somewhere in its message. */
  async function storyCommits(range: string, nonce: string): Promise<{ storyId: string; commit: string }[]> {
    const log = await git.run(['log', '-z', '--format=%H%n%B', range, '--'])
    return log.stdout.split('\0').flatMap((entry) => {
      const commit = entry.slice(0, entry.indexOf('\n'))
      // Every feature has a US-001: only this run's own commits count.
      const isOurs = [...entry.matchAll(/^Ralph-Run: *(\S+) *$/gm)].some(([, run]) => run === nonce)
      const stories = isOurs ? entry.matchAll(/^Ralph-Story: *(\S+) *$/gm) : []
      return [...stories].map(([, storyId = '']) => ({ storyId, commit }))
    })
  }

  /** Entries of our progress.txt that another commit's does not hold. */
  async function entriesBeyond(state: State, commit: string): Promise<string[]> {
    const { progress: path } = ownFiles(state)
    const ours = (await objects.text(`${state.green}:${path}`)) ?? ''
    const theirs = (await objects.text(`${commit}:${path}`)) ?? ''
    const entries = ours.split(/^(?=## Iteration )/m).slice(1)
    return entries.map((entry) => entry.trim()).filter((entry) => !theirs.includes(entry))
  }

  /** Folders of earlier runs of the same feature, to be moved into the archive. */
  async function replacedRuns(state: State): Promise<[string, string][]> {
    const listed = await git.run(['ls-tree', '-d', '-z', '--name-only', state.green, '--', '.ralph/'])
    const own = /^\.ralph\/\d{4}-\d{2}-\d{2}-(.+)$/
    return listed.stdout
      .split('\0')
      .filter((path) => path !== state.folder && own.exec(path)?.[1] === state.feature)
      .map((path) => [path, `.ralph/archive/${basename(path)}`])
  }
}

function submoduleFailure(files: readonly string[]): Failure {
  const detail = `A submodule is another repository: what is changed there cannot be committed here.\n${files.slice(0, 50).join('\n')}`
  return { kind: 'guard', summary: `files of a submodule were changed (${files.length})`, detail }
}

/** It is no fault of the story, and no part of it either. */
function removedRemark(files: readonly string[]): string[] {
  if (files.length === 0) return []
  const more = files.length > 1 ? ` and ${files.length - 1} more` : ''
  return [`what a build left in a submodule was removed before the gates: ${files[0]}${more}`]
}

function nestedFailure(paths: readonly string[]): Failure {
  const detail = `No commit can hold what is in a folder named \`.git\`, so nothing may depend on it; it was removed:\n${listed(paths)}`
  return { kind: 'guard', summary: `a \`.git\` was left in ${paths[0] ?? ''}`, detail }
}

function hiddenFailure(paths: readonly string[]): Failure {
  const detail = `A rule that was added to .gitignore keeps these out of the commit, but the gates would see them. Take the rule back, or delete them:\n${listed(paths)}`
  return { kind: 'guard', summary: `a new rule of .gitignore hides ${paths[0] ?? ''}`, detail }
}

function listed(paths: readonly string[]): string {
  const lines = paths.slice(0, 50).map((path) => `- ${JSON.stringify(path.slice(0, 160))}`)
  if (paths.length > lines.length) lines.push(`- and ${paths.length - lines.length} more`)
  return lines.join('\n')
}

/** prd.json without what changes in every job: whether a state commit is worth making. */
function significant(text: string): string {
  const parsed = parsePrd(text, 'prd.json')
  if (!parsed.ok) return text
  const { run, ...rest } = parsed.prd
  const stories = rest.userStories.map((story) => ({
    ...story,
    lastResult: story.lastResult === null ? null : 'passed',
  }))
  return JSON.stringify({ ...rest, userStories: stories, outcome: run.outcome, learnings: run.learnings })
}
