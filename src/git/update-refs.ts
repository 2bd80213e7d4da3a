// Moves refs with `git update-ref --stdin`, so that git handles locks, reflogs and shared permissions.
import { lstatSync, mkdirSync, rmSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readRegularFileSync, removeSync, replaceFile } from '../system/files.ts'
import type { Git } from './git.ts'
import { GitError, RALPH_IDENTITY } from './git-process.ts'
import { removeStaleLock } from './own-directory.ts'
import { readRef, refsBelow } from './refs.ts'

/** `from`: the expected value; undefined for any, null for a new ref. `to`: null removes the ref. */
export type RefUpdate = { ref: string; from?: string | null; to: string | null }

/** The message of reflog entries. */
const REASON = ['-m', 'ralph']
const COMMITTER = { GIT_COMMITTER_NAME: RALPH_IDENTITY.name, GIT_COMMITTER_EMAIL: RALPH_IDENTITY.email }

/** Moves a ref of Ralph's directory. False if its value is not `from`. */
export async function moveOwnRef(git: Git, ref: string, from: string | null, to: string): Promise<boolean> {
  const { shared } = git
  await clearRefPath(shared, ref)
  // git would wait at a pipe, so anything but a regular file is removed.
  if (lstatSync(join(shared, ref), { throwIfNoEntry: false })?.isFile() === false)
    removeSync(join(shared, ref))
  const moved = await git.run(['update-ref', ...REASON, '--no-deref', '--stdin', '-z'], {
    input: transaction([{ ref, from, to }]),
    env: COMMITTER,
    accept: [1, 128],
  })
  if (moved.code === 0) return true
  if (readRef(shared, ref) !== from) return false
  throw new GitError(['update-ref', ref], moved.code, moved.stderr)
}

/** Moves refs of the clone in one transaction; symbolic ones are not followed. */
export async function updateCloneRefs(git: Git, updates: readonly RefUpdate[]): Promise<void> {
  if (updates.length === 0) return
  const { commonDir, gitDir } = git.clone
  const update = async () => {
    for (const { ref } of updates) {
      if (git.hasRefFiles) await clearRefPath(commonDir, ref)
      await clearReflogPath(commonDir, ref)
    }
    await clearReflogPath(gitDir, 'HEAD')
    const args = ['update-ref', ...REASON, '--no-deref', '--stdin', '-z']
    await git.runOnClone(args, { input: transaction(updates), env: COMMITTER })
  }
  // A lock that is still there after git's wait is stale; the second try removes it.
  await update().catch(update)
}

/**
 * Sets a ref of the clone that only Ralph writes, by git's own protocol but without a process: a lock that is synced and renamed. git does
 * it if the clone keeps its refs in another way, or if the ref is locked.
 */
export async function setRalphRef(git: Git, ref: string, to: string): Promise<void> {
  const { commonDir } = git.clone
  const file = join(commonDir, ref)
  if (git.hasRefFiles) {
    await clearRefPath(commonDir, ref, KILLED_MS)
    if (await wroteRef(git, file, to)) return
  }
  await updateCloneRefs(git, [{ ref, to }])
}

/** Milliseconds. git holds the lock of such a ref for less, when it packs refs: an older one is of a killed run. */
const KILLED_MS = 1000

async function wroteRef({ permissions }: Git, file: string, to: string): Promise<boolean> {
  const lock = `${file}.lock`
  const begin = async () => {
    mkdirSync(dirname(file), { recursive: true })
    permissions.share(dirname(file))
    return open(lock, 'wx', 0o666)
  }
  const handle = await begin().catch(() => null)
  if (handle === null) return false
  try {
    await handle.writeFile(`${to}\n`)
    await handle.sync()
    permissions.share(lock)
    await rename(lock, file)
    return true
  } catch {
    await rm(lock, { force: true })
    return false
  } finally {
    await handle.close()
  }
}

/** Moves HEAD of the clone to a branch, with a reflog entry as `git checkout` writes it, so that `git checkout -` works. */
export async function moveHead(git: Git, from: Buffer, branch: string): Promise<void> {
  const { gitDir } = git.clone
  const file = join(gitDir, 'HEAD')
  const now = readRegularFileSync(file)
  const wanted = `refs/heads/${branch}`
  if (now?.toString('utf8') === `ref: ${wanted}\n`) return
  if (now === null || !now.equals(from)) await replaceFile(file, from)
  await removeStaleLock(`${file}.lock`)
  await clearReflogPath(gitDir, 'HEAD')
  const old = from.toString('utf8').trim()
  const reason = `checkout: moving from ${old.replace(/^ref: refs\/heads\//, '')} to ${branch}`
  await git.runOnClone(['symbolic-ref', '-m', reason, 'HEAD', wanted], { env: COMMITTER })
}

/** The input of `git update-ref --stdin -z`, in which no name can end its command. */
function transaction(updates: readonly RefUpdate[]): string {
  return updates
    .map(({ ref, from, to }) => {
      const none = '0'.repeat((to ?? from ?? '').length || 40)
      const old = from === undefined ? '' : (from ?? none)
      return to === null ? `delete ${ref}\0${old}\0` : `update ${ref}\0${to}\0${old}\0`
    })
    .join('')
}

/** Removes links in the ref's path, which git would follow, and stale locks, for which git would wait. */
async function clearRefPath(folder: string, ref: string, staleMs?: number): Promise<void> {
  const parts = ref.split('/').slice(0, -1)
  for (let depth = 2; depth <= parts.length; depth++) {
    const at = join(folder, ...parts.slice(0, depth))
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(at)
  }
  const lock = join(folder, `${ref}.lock`)
  if (lstatSync(lock, { throwIfNoEntry: false })?.isFile() === false) removeSync(lock)
  await removeStaleLock(lock, staleMs)
}

/** Removes anything but a regular file instead of a reflog: git would follow a link, and wait at a pipe. */
async function clearReflogPath(folder: string, ref: string): Promise<void> {
  const parts = ['logs', ...ref.split('/')]
  for (const [depth] of parts.entries()) {
    const at = join(folder, ...parts.slice(0, depth + 1))
    const found = lstatSync(at, { throwIfNoEntry: false })
    if (found === undefined) return
    const isLast = depth === parts.length - 1
    if (isLast ? found.isFile() : found.isDirectory()) continue
    // A folder with reflogs of existing refs stays.
    if (isLast && found.isDirectory() && refsBelow(folder, `${ref}/`).size > 0) continue
    removeSync(at)
  }
}
