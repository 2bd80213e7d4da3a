// The user's clone. Ralph restores its branch, HEAD, index, refs, hooks and configuration, whatever an agent did.
import { lstatSync } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type MovedRef, mergeMoves } from '../engine/model/moved-refs.ts'
import { UserError } from '../system/errors.ts'
import {
  isFolderSync,
  readRegularFile,
  readRegularFileSync,
  removeSpecialFiles,
  removeSync,
  replaceFile,
} from '../system/files.ts'
import { cloneHas, cloneRefs } from './clone-refs.ts'
import type { Git } from './git.ts'
import { HIDDEN_STASH } from './hidden-stash.ts'
import { renameIntoPlace } from './own-directory.ts'
import { SYMBOLIC_PREFIX } from './refs.ts'
import { moveHead, type RefUpdate, setRalphRef, updateCloneRefs } from './update-refs.ts'

/**
 * The clone before any agent ran: path to bytes, ref to target. `refs` has only Ralph's own refs: the feature's branch and the state.
 * If no person works in the clone (`whole`: the checkout of a job), it has all refs.
 */
export type Snapshot = {
  whole: boolean
  head: Buffer
  files: Map<string, Buffer | null>
  hooks: Map<string, Buffer>
  refs: Map<string, string>
  /** People's refs when they were last read, and those that have moved since the start; empty if `refs` has all of them. */
  people: { refs: Map<string, string>; moved: MovedRef[] }
  /** Serializes changes of refs. Work trees of one run share it. */
  exclusively: <T>(act: () => Promise<T>) => Promise<T>
  /** The prefix of refs with states of runs, which move with every run in the clone. */
  states: string
  /** HEAD's commit when the clone was last restored: an object id, or null. */
  foundHead?: string | null
}

const FILES = [
  'config',
  'config.worktree',
  'info/exclude',
  'info/attributes',
  'info/grafts',
  'shallow',
  'objects/info/alternates',
]
/** Files of a linked work tree. In the clone itself they would redirect git to another directory. */
const LINKED_TREE_FILES = ['commondir', 'gitdir', 'config.worktree']

export async function takeSnapshot(git: Git, whole: boolean, namespace = 'refs/ralph'): Promise<Snapshot> {
  const { commonDir, gitDir, workTree } = git.clone
  const files = new Map<string, Buffer | null>()
  // In a linked work tree it is a file that names the repository.
  const link = await readRegularFile(join(workTree, '.git'))
  if (link !== null) files.set(join(workTree, '.git'), link)
  // These are restored first: while forged ones exist, git uses another directory.
  for (const name of LINKED_TREE_FILES)
    files.set(join(gitDir, name), await readRegularFile(join(gitDir, name)))
  for (const name of FILES) files.set(join(commonDir, name), await readRegularFile(join(commonDir, name)))
  // In a shared clone other people may pack refs.
  if (whole) files.set(join(commonDir, 'packed-refs'), await readRegularFile(join(commonDir, 'packed-refs')))
  const hooks = new Map<string, Buffer>()
  for (const name of await readdir(join(commonDir, 'hooks')).catch(() => [])) {
    const bytes = await readRegularFile(join(commonDir, 'hooks', name))
    if (bytes !== null) hooks.set(name, bytes)
  }
  const head = await readFile(join(git.clone.gitDir, 'HEAD'))
  const refs = await cloneRefs(git)
  const none = new Map<string, string>()
  const [own, others] = whole ? [refs, none] : [none, refs]
  const people = { refs: others, moved: [] }
  return { whole, head, files, hooks, refs: own, people, exclusively: createQueue(), states: `${namespace}/` }
}

function createQueue(): Snapshot['exclusively'] {
  let last: Promise<unknown> = Promise.resolve()
  return (act) => {
    const next = last.then(act, act)
    last = next.catch(() => {})
    return next
  }
}

/** The snapshot of a further work tree of the same run; both share the refs. */
export async function takeFurtherSnapshot(git: Git, of: Snapshot): Promise<Snapshot> {
  const { refs, people, exclusively: inTurn, states } = of
  return { ...(await takeSnapshot(git, false)), refs, people, exclusively: inTurn, states }
}

/** Copies the shallow boundary to the clone after Ralph has fetched: with another one, git would report missing commits. */
export async function shareShallow(git: Git, snapshot: Snapshot): Promise<void> {
  const borders = await readFile(join(git.shared, 'shallow')).catch(() => null)
  if (borders === null) return
  await replaceFile(join(git.clone.commonDir, 'shallow'), borders)
  snapshot.files.set(join(git.clone.commonDir, 'shallow'), borders)
}

/**
 * Undoes what an agent did to the clone outside the work tree. Returns people's refs that have moved since they were last read.
 * Cheap if nothing has changed. Throws UserError if the repository itself is gone.
 */
export function restoreClone(git: Git, snapshot: Snapshot): Promise<MovedRef[]> {
  return snapshot.exclusively(() => restore(git, snapshot))
}

async function restore(git: Git, snapshot: Snapshot): Promise<MovedRef[]> {
  const head = join(git.clone.gitDir, 'HEAD')
  try {
    await restoreFiles(git, snapshot)
    if (!isFolderSync(join(git.clone.commonDir, 'objects'))) throw new Error('there are no objects')
    const now = await readRegularFile(head)
    if (now === null || !now.equals(snapshot.head)) await replaceFile(head, snapshot.head)
    return await restoreRefs(git, snapshot, now)
  } catch (error) {
    throw (await hasCommits(git, snapshot)) ? error : missingRepositoryError(git, snapshot)
  }
}

/** Whether the clone still has the commits from the start of the run and those that the run made. */
async function hasCommits(git: Git, snapshot: Snapshot): Promise<boolean> {
  const wanted = [git.clone.head ?? '', ...snapshot.refs.values()].filter(
    (at) => !at.startsWith(SYMBOLIC_PREFIX),
  )
  return cloneHas(git, wanted)
}

function missingRepositoryError({ clone }: Git, { whole }: Snapshot): UserError {
  const remote = [...clone.config.keys()].map((key) => /^remote\.(.+)\.url$/.exec(key)?.[1]).find(Boolean)
  const from = remote === undefined ? 'a backup' : `a backup, or clone it again from ${remote}`
  const fix = whole
    ? 'run again: the remote has the branch and the state as of the last checkpoint'
    : `restore the repository from ${from}. Copy the files that you need from ${clone.workTree} into it, and run again there. Commits that were never pushed are lost, and so is the state of the run. To keep an agent out of .git, use isolation: other-user, or a sandbox as agent-wrapper`
  const found = 'an agent or a gate deleted the repository of this run.'
  return new UserError({ path: clone.commonDir, found, expected: '', fix })
}

/** Restores what git reads before any ref: configuration and hooks. Removes locks, and special files instead of regular ones. */
async function restoreFiles(git: Git, snapshot: Snapshot): Promise<void> {
  const { commonDir, gitDir } = git.clone
  // Without these folders git sees no repository. Without objects it is none.
  if (isFolderSync(join(commonDir, 'objects')))
    for (const folder of [gitDir, join(commonDir, 'refs')])
      if (!isFolderSync(folder)) await mkdir(folder, { recursive: true })
  // On a laptop people may have links there: only those instead of Ralph's own refs are removed.
  removeSpecialFiles(join(commonDir, 'refs'), true, snapshot.whole)
  removeSpecialFiles(join(commonDir, 'ralph/git'), true)
  // Not recursive: deeper files are Ralph's own, and grow with every attempt.
  removeSpecialFiles(join(commonDir, 'ralph'), false)
  for (const name of ['packed-refs', 'index']) removeIrregularFile(join(commonDir, name))
  // On a laptop a lock may belong to a running git.
  if (snapshot.whole) for (const folder of [commonDir, git.shared]) await removeLocks(folder)
  for (const [file, bytes] of snapshot.files) {
    const now = await readRegularFile(file)
    if (bytes === null) removeSync(file)
    else if (now === null || !now.equals(bytes)) {
      await mkdir(dirname(file), { recursive: true })
      await replaceFile(file, bytes)
    }
  }
  const hooks = join(commonDir, 'hooks')
  for (const name of await readdir(hooks).catch(() => [])) {
    const wanted = snapshot.hooks.get(name)
    const now = await readRegularFile(join(hooks, name))
    if (wanted === undefined) removeSync(join(hooks, name))
    else if (now === null || !now.equals(wanted)) await replaceFile(join(hooks, name), wanted)
  }
  await git.writeConfig()
}

/**
 * Restores refs and returns people's refs that moved. On a laptop a person may work in the same clone, and their commits must not be
 * lost. So only Ralph's own refs are restored there.
 */
async function restoreRefs(git: Git, snapshot: Snapshot, head: Buffer | null): Promise<MovedRef[]> {
  const { whole, refs, people, states } = snapshot
  const { refs: others } = people
  const now = await cloneRefs(git)
  snapshot.foundHead = headCommit(head, now)
  const changedRefs = [...refs].filter(([ref, at]) => now.get(ref) !== at)
  const addedRefs = whole ? [...now.keys()].filter((ref) => !refs.has(ref)) : []
  const updates: RefUpdate[] = changedRefs
    .filter(([, at]) => !at.startsWith(SYMBOLIC_PREFIX))
    .map(([ref, to]) => ({ ref, to }))
  removeSync(join(git.clone.gitDir, 'index.lock'))
  await updateCloneRefs(git, [...updates, ...addedRefs.map((ref) => ({ ref, to: null }))])
  for (const [ref, at] of changedRefs)
    if (at.startsWith(SYMBOLIC_PREFIX))
      await git.runOnClone(['symbolic-ref', ref, at.slice(SYMBOLIC_PREFIX.length)])
  if (whole) return []
  people.refs = now
  const moved = [...new Set([...others.keys(), ...now.keys()])]
    .map((ref) => ({ ref, from: others.get(ref) ?? null, to: now.get(ref) ?? null }))
    .filter(
      ({ ref, from, to }) =>
        from !== to && !refs.has(ref) && !ref.startsWith(states) && !ref.startsWith(HIDDEN_STASH),
    )
    .filter(({ ref }) => !ref.startsWith(HELD))
  people.moved = mergeMoves(people.moved, moved)
  return moved
}

function headCommit(head: Buffer | null, refs: ReadonlyMap<string, string>): string | null {
  const text = head?.toString('utf8').trim() ?? ''
  const at = text.startsWith(SYMBOLIC_PREFIX) ? (refs.get(text.slice(SYMBOLIC_PREFIX.length)) ?? '') : text
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(at) ? at : null
}

/** Moves the clone's branch to a commit, HEAD to that branch, and copies Ralph's index: the clone is a clean checkout then. */
export async function moveClone(
  git: Git,
  snapshot: Snapshot,
  branch: string,
  commit: string,
  mirrors: readonly [string, string][],
  held: 'held' | 'released' = 'held',
) {
  await mirrorRefs(git, snapshot, [[`refs/heads/${branch}`, commit], ...mirrors], held)
  await moveHead(git, snapshot.head, branch)
  snapshot.head = Buffer.from(`ref: refs/heads/${branch}\n`)
  shareIndex(git)
}

/** Detaches HEAD of one of Ralph's work trees at a commit, and copies Ralph's index to the one that people's git reads. */
export async function detachHead(git: Git, snapshot: Snapshot, commit: string): Promise<void> {
  snapshot.head = Buffer.from(`${commit}\n`)
  await replaceFile(join(git.clone.gitDir, 'HEAD'), snapshot.head)
  shareIndex(git)
}

/** Copies Ralph's index to the clone, so that people's git also sees the checkout as clean. */
export function shareIndex({ clone: { gitDir }, own, permissions }: Git): void {
  removeSync(join(gitDir, 'index.lock'))
  const [file, bytes] = [join(gitDir, 'index'), readRegularFileSync(join(own, 'index'))]
  if (bytes === null || readRegularFileSync(file)?.equals(bytes) === true) return
  renameIntoPlace({ own: gitDir }, bytes, file)
  permissions.share(file)
}

async function removeLocks(folder: string): Promise<void> {
  const refs = await readdir(join(folder, 'refs'), { recursive: true }).catch(() => [])
  const locks = refs.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name))
  for (const name of ['HEAD.lock', 'config.lock', 'packed-refs.lock', 'shallow.lock', ...locks])
    removeSync(join(folder, name))
}

/** Removes anything but a regular file: git would open a pipe and wait. */
function removeIrregularFile(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false) removeSync(file)
}

/** Refs that hold commits which no state names yet, so that people's `git gc --prune=now` does not remove them. */
export const HELD = 'refs/ralph-held/'
/** The name of such a ref for the clone itself; linked work trees have their own names. */
const MAIN_TREE = 'main'

/** Holds a commit before gates see it. A work tree holds one commit at a time, with its ancestors. */
export async function holdCommit(git: Git, snapshot: Snapshot, commit: string): Promise<void> {
  const { gitDir, commonDir } = git.clone
  const ref = `${HELD}${gitDir === commonDir ? MAIN_TREE : basename(gitDir)}`
  await snapshot.exclusively(async () => {
    await setRalphRef(git, ref, commit)
    snapshot.refs.set(ref, commit)
  })
}

/**
 * Removes the refs that lead to other candidates from a job's clone, until it is restored after the session. On a laptop they stay: there
 * the state is nowhere else.
 */
export async function hideCandidateRefs(git: Git, snapshot: Snapshot): Promise<void> {
  if (!snapshot.whole) return
  await snapshot.exclusively(async () => {
    const refs = [...(await cloneRefs(git)).keys()]
    const hidden = refs.filter((ref) => ref.startsWith(HELD) || ref.startsWith(snapshot.states))
    await updateCloneRefs(
      git,
      hidden.map((ref) => ({ ref, to: null })),
    )
  })
  for (const name of ['logs', 'COMMIT_EDITMSG']) removeSync(join(git.clone.commonDir, name))
}

/** The refs of this run that hold commits, and those of killed runs whose work trees are gone. */
async function heldRefs(git: Git, snapshot: Snapshot): Promise<string[]> {
  const isGone = (name: string) =>
    name === MAIN_TREE || !isFolderSync(join(git.clone.commonDir, 'worktrees', name))
  const all = [...(await cloneRefs(git, HELD)).keys()]
  return all.filter((ref) => snapshot.refs.has(ref) || isGone(ref.slice(HELD.length)))
}

/**
 * Sets refs of the clone, whatever their values were. From now on Ralph restores them to these. `released`: the state names every
 * commit that was held.
 */
export async function mirrorRefs(
  git: Git,
  snapshot: Snapshot,
  wanted: readonly [string, string][],
  held: 'held' | 'released' = 'held',
): Promise<void> {
  await snapshot.exclusively(async () => {
    // `prepare` may have changed files that git reads. Other refs are not touched.
    await restoreFiles(git, snapshot)
    const moved = wanted.filter(([ref, to]) => snapshot.refs.get(ref) !== to)
    const released = held === 'released' ? await heldRefs(git, snapshot) : []
    await updateCloneRefs(git, [
      ...moved.map(([ref, to]) => ({ ref, to })),
      ...released.map((ref) => ({ ref, to: null })),
    ])
    for (const [ref, to] of wanted) snapshot.refs.set(ref, to)
    for (const ref of released) snapshot.refs.delete(ref)
  })
}
