// The account that sessions run under, made for a job and removed after it; and the ownership of files in the work tree.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf } from '../../system/errors.ts'
import { isolationError, type Root, run } from './root.ts'

/**
 * `openGid`: only programs in this group keep the network if it is closed to the user. `top`: a folder of root's that holds
 * every folder of the user. `home`: the home folder of gates.
 */
export type Account = { name: string; uid: number; gid: number; openGid: number; top: string; home: string }

/** The account's name for this runner, so that runners on one machine have different accounts. */
export function accountName(key: string): string {
  return `ralph-${createHash('sha256').update(key).digest('hex').slice(0, 8)}`
}

export function findAccount(name: string): Account | null {
  const [, , uid = '', gid = ''] = findEntry('/etc/passwd', name) ?? []
  const openGid = Number(findEntry('/etc/group', openGroup(name))?.[2])
  if (!(Number(uid) > 0 && openGid > 0)) return null
  return { name, uid: Number(uid), gid: Number(gid), openGid, top: topFolder(name), home: homeFolder(name) }
}

function topFolder(name: string): string {
  return `/home/${name}`
}

function homeFolder(name: string): string {
  return `${topFolder(name)}/gates/home`
}

function findEntry(file: string, name: string): string[] | undefined {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.find((line) => line.startsWith(`${name}:`))?.split(':')
}

/** The group has no member: only root can start a program in it. */
function openGroup(name: string): string {
  return `${name}-open`
}

export async function makeAccount(root: Root, name: string): Promise<Account> {
  const existing = findAccount(name)
  if (existing !== null) return existing
  try {
    // useradd must not make the home: it would copy /etc/skel, which has gigabytes on hosted images.
    const home = ['--no-create-home', '--home-dir', homeFolder(name)]
    await run(root('groupadd', '--system', '--force', openGroup(name)))
    if (findEntry('/etc/passwd', name) === undefined)
      await run(root('useradd', '--system', ...home, '--user-group', '--shell', '/bin/bash', name))
  } catch (error) {
    const fix = 'install the package passwd (or shadow), or use isolation: separate-job'
    throw isolationError({
      found: `useradd could not create the user ${name}: ${messageOf(error)}.`,
      expected: '',
      fix,
    })
  }
  const made = findAccount(name)
  if (made === null) throw new Error(`useradd added no entry for ${name} to /etc/passwd`)
  return made
}

/** If the account cannot be removed, it stays for the next job. */
export async function removeAccount(root: Root, name: string): Promise<void> {
  await run(root('userdel', '--remove', name)).catch(() => {})
  await run(root('rm', '-rf', '--one-file-system', '--', topFolder(name))).catch(() => {})
  await run(root('groupdel', openGroup(name))).catch(() => {})
}

export async function makeHome(root: Root, { uid, gid, top, home }: Account): Promise<void> {
  await run(root('rm', '-rf', '--one-file-system', '--', top))
  await run(root('install', '-d', '-m', '0711', top, dirname(home)))
  await run(root('install', '-d', '-m', '0700', '-o', String(uid), '-g', String(gid), home))
}

/** Makes a folder of the runner's user in `top` that the other user may pass through. Trees in it are granted like the work tree. */
export async function makeRooms(root: Root, { top }: Account): Promise<string> {
  const rooms = join(top, 'rooms')
  const us = ['-o', String(process.getuid?.() ?? 0), '-g', String(ourGroup())]
  await run(root('install', '-d', '-m', '0711', ...us, rooms))
  return rooms
}

// ---------------------------------------------------------------- ownership of the work tree

// Files are granted to the other user for a session, and revoked after it. `.git` is never granted.

/** Runs a command as root. */
type RunAsRoot = (...command: string[]) => Promise<void>
type Exec = '-exec' | '-execdir'

/**
 * Makes the user the owner of everything but `.git`, so that it may change modes and times as well. A file with several hard links
 * may belong to a cache outside of the tree: its owner stays.
 */
export async function grant(workTree: string, run: RunAsRoot, uid: number): Promise<void> {
  await runOnPaths(run, (exec) => [
    ...['find', workTree, '-xdev', '-mindepth', '1', ...withoutGit(workTree), '!', '-uid', String(uid)],
    ...['(', '!', '-type', 'f', '-o', '-links', '1', ')', exec, 'chown', '-h', String(uid), '{}', '+'],
  ])
}

/**
 * Takes back folders, entries at the top of the tree, and files that the runner's user could not read. Other files keep their
 * owner: a change of it sets a new inode time, and git would read the file again. They need not be writable, because Ralph replaces
 * files and never writes into them.
 */
export async function revoke(workTree: string, run: RunAsRoot, uid: number): Promise<void> {
  const readableByRunner = ['-perm', '-044', '-o', '-gid', String(ourGroup()), '-perm', '-040']
  const readable = ['(', '-type', 'l', '-o', ...readableByRunner, ')', '!', '-perm', '/6000']
  const inside = ['-path', join(escapePattern(workTree), '*', '*')]
  const command = (exec: Exec) => [
    ...['find', workTree, '-xdev', ...withoutGit(workTree), '-uid', String(uid)],
    ...['!', '(', '!', '-type', 'd', ...inside, ...readable, ')'],
    ...takeOwnership(exec),
  ]
  await run(...command('-exec'))
    .catch(() => takeDeepFolders(workTree, run, [String(uid)]))
    .catch(() => run(...command('-execdir')))
}

/** Takes back every file that has the account's uid or a gid of it: another account may get these numbers later. */
export async function restoreOwner(
  workTree: string,
  run: RunAsRoot,
  { uid, gid, openGid }: Pick<Account, 'uid' | 'gid' | 'openGid'>,
): Promise<void> {
  const command = (exec: Exec) => [
    ...['find', workTree, '-xdev', ...withoutGit(workTree)],
    ...['(', '-uid', String(uid), '-o', '-gid', String(gid), '-o', '-gid', String(openGid), ')'],
    ...takeOwnership(exec),
  ]
  await run(...command('-exec'))
    .catch(() => takeDeepFolders(workTree, run, [String(uid), `:${gid}`, `:${openGid}`]))
    .catch(() => run(...command('-execdir')))
  await run('chmod', 'g-w,-t', workTree)
}

function takeOwnership(exec: Exec): string[] {
  const us = `${process.getuid?.() ?? 0}:${ourGroup()}`
  const closed = ['-type', 'd', '!', '-perm', '-700', '-o', '!', '-type', 'd', '!', '-perm', '-600']
  return [
    ...['(', '!', '-type', 'l', '(', ...closed, ')', exec, 'chmod', 'u+rwX', '{}', '+'],
    ...[',', exec, 'chown', '-h', us, '{}', '+', ')'],
  ]
}

function ourGroup(): number {
  return process.getgid?.() ?? 0
}

/** For folders whose paths are too long for one call: `chown -R` walks them in one process; one process per folder takes hours. */
async function takeDeepFolders(workTree: string, run: RunAsRoot, from: readonly string[]): Promise<void> {
  const entries = await readdir(workTree, { withFileTypes: true })
  const folders = entries.filter((one) => one.isDirectory() && one.name !== '.git')
  const places = folders.map(({ name }) => join(workTree, name))
  const us = `${process.getuid?.() ?? 0}:${ourGroup()}`
  for (const one of from) await run('chown', '-R', '-h', '-P', `--from=${one}`, us, ...places)
  await run('chmod', '-R', 'u+rwX', ...places)
}

/** Runs with `-exec`, and if that fails with `-execdir`, which reaches paths that are too long for one call. */
async function runOnPaths(run: RunAsRoot, command: (exec: Exec) => string[]): Promise<void> {
  await run(...command('-exec')).catch(() => run(...command('-execdir')))
}

function withoutGit(workTree: string): string[] {
  return ['-path', join(escapePattern(workTree), '.git'), '-prune', '-o']
}

/** `find -path` takes a pattern: the path with its special characters escaped. */
function escapePattern(path: string): string {
  return path.replace(/[*?[\]\\]/g, '\\$&')
}
