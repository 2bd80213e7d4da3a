// The account that sessions run under, made for a job and removed with it; and what of the work tree is its.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf } from '../../system/errors.ts'
import { type Root, refused, run } from './root.ts'

/**
 * `openGid`: programs of the user in this group, and they alone, keep the network where it is closed to the user. `top` is
 * root's, and holds all that is the user's: `home` is that of the gates.
 */
export type Account = { name: string; uid: number; gid: number; openGid: number; top: string; home: string }

/** Tells this runner's user from others on the machine. */
export function nameFor(key: string): string {
  return `ralph-${createHash('sha256').update(key).digest('hex').slice(0, 8)}`
}

export function accountOf(name: string): Account | null {
  const [, , uid = '', gid = ''] = entryOf('/etc/passwd', name) ?? []
  const openGid = Number(entryOf('/etc/group', openGroup(name))?.[2])
  if (!(Number(uid) > 0 && openGid > 0)) return null
  return { name, uid: Number(uid), gid: Number(gid), openGid, top: topOf(name), home: homeOf(name) }
}

function topOf(name: string): string {
  return `/home/${name}`
}

function homeOf(name: string): string {
  return `${topOf(name)}/gates/home`
}

function entryOf(file: string, name: string): string[] | undefined {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.find((line) => line.startsWith(`${name}:`))?.split(':')
}

/** The group has no member: only root can start a program in it. */
function openGroup(name: string): string {
  return `${name}-open`
}

export async function makeAccount(root: Root, name: string): Promise<Account> {
  const known = accountOf(name)
  if (known !== null) return known
  try {
    // We make the home: what hosted images would copy into it is gigabytes.
    const home = ['--no-create-home', '--home-dir', homeOf(name)]
    await run(root('groupadd', '--system', '--force', openGroup(name)))
    if (entryOf('/etc/passwd', name) === undefined)
      await run(root('useradd', '--system', ...home, '--user-group', '--shell', '/bin/bash', name))
  } catch (error) {
    const fix = 'install the package passwd (or shadow), or use isolation: separate-job'
    throw refused({ found: messageOf(error), expected: `a user ${name} that useradd makes`, fix })
  }
  const made = accountOf(name)
  if (made === null) throw new Error(`useradd made no ${name} in /etc/passwd`)
  return made
}

/** A machine where it cannot be removed keeps it for the next job. */
export async function removeAccount(root: Root, name: string): Promise<void> {
  await run(root('userdel', '--remove', name)).catch(() => {})
  await run(root('rm', '-rf', '--one-file-system', '--', topOf(name))).catch(() => {})
  await run(root('groupdel', openGroup(name))).catch(() => {})
}

export async function makeHome(root: Root, { uid, gid, top, home }: Account): Promise<void> {
  await run(root('rm', '-rf', '--one-file-system', '--', top))
  await run(root('install', '-d', '-m', '0711', top, dirname(home)))
  await run(root('install', '-d', '-m', '0700', '-o', String(uid), '-g', String(gid), home))
}

/** A folder of ours in `top`, which the user may pass through: trees in it are granted as the work tree is. */
export async function makeRooms(root: Root, { top }: Account): Promise<string> {
  const rooms = join(top, 'rooms')
  const us = ['-o', String(process.getuid?.() ?? 0), '-g', String(ourGroup())]
  await run(root('install', '-d', '-m', '0711', ...us, rooms))
  return rooms
}

// ---------------------------------------------------------------- whose the files of the work tree are

// They are granted to the other user for a session, and revoked after it. `.git` never is.

/** Runs a command as root. */
type RunAsRoot = (...command: string[]) => Promise<void>
type Exec = '-exec' | '-execdir'

/**
 * Everything but `.git` becomes the user's, so that it may change modes and times, too. A file with several names may be
 * somebody's cache: it stays as it is.
 */
export async function grant(workTree: string, run: RunAsRoot, uid: number): Promise<void> {
  await everywhere(run, (exec) => [
    ...['find', workTree, '-xdev', '-mindepth', '1', ...withoutGit(workTree), '!', '-uid', String(uid)],
    ...['(', '!', '-type', 'f', '-o', '-links', '1', ')', exec, 'chown', '-h', String(uid), '{}', '+'],
  ])
}

/**
 * Folders, what stands at the top, and what we could not read become ours. Other files stay the user's: a new owner is a
 * new inode time, for which git reads a file again, and we replace files and never write into them.
 */
export async function revoke(workTree: string, run: RunAsRoot, uid: number): Promise<void> {
  const forUs = ['-perm', '-044', '-o', '-gid', String(ourGroup()), '-perm', '-040']
  const readable = ['(', '-type', 'l', '-o', ...forUs, ')', '!', '-perm', '/6000']
  const inside = ['-path', join(pattern(workTree), '*', '*')]
  const command = (exec: Exec) => [
    ...['find', workTree, '-xdev', ...withoutGit(workTree), '-uid', String(uid)],
    ...['!', '(', '!', '-type', 'd', ...inside, ...readable, ')'],
    ...becomeOurs(exec),
  ]
  await run(...command('-exec'))
    .catch(() => deeplyOurs(workTree, run, [String(uid)]))
    .catch(() => run(...command('-execdir')))
}

/** Nothing is left with its numbers, which may be somebody else's one day. */
export async function restoreOwner(
  workTree: string,
  run: RunAsRoot,
  { uid, gid, openGid }: Pick<Account, 'uid' | 'gid' | 'openGid'>,
): Promise<void> {
  const command = (exec: Exec) => [
    ...['find', workTree, '-xdev', ...withoutGit(workTree)],
    ...['(', '-uid', String(uid), '-o', '-gid', String(gid), '-o', '-gid', String(openGid), ')'],
    ...becomeOurs(exec),
  ]
  await run(...command('-exec'))
    .catch(() => deeplyOurs(workTree, run, [String(uid), `:${gid}`, `:${openGid}`]))
    .catch(() => run(...command('-execdir')))
  await run('chmod', 'g-w,-t', workTree)
}

function becomeOurs(exec: Exec): string[] {
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

/** Folders with paths that are too long for one call: walked by one program, for a call a folder takes hours. */
async function deeplyOurs(workTree: string, run: RunAsRoot, from: readonly string[]): Promise<void> {
  const entries = await readdir(workTree, { withFileTypes: true })
  const folders = entries.filter((one) => one.isDirectory() && one.name !== '.git')
  const places = folders.map(({ name }) => join(workTree, name))
  const us = `${process.getuid?.() ?? 0}:${ourGroup()}`
  for (const one of from) await run('chown', '-R', '-h', '-P', `--from=${one}`, us, ...places)
  await run('chmod', '-R', 'u+rwX', ...places)
}

/** A path that is too long for one call is reached folder by folder. */
async function everywhere(run: RunAsRoot, command: (exec: Exec) => string[]): Promise<void> {
  await run(...command('-exec')).catch(() => run(...command('-execdir')))
}

function withoutGit(workTree: string): string[] {
  return ['-path', join(pattern(workTree), '.git'), '-prune', '-o']
}

/** find takes a path for a pattern. */
function pattern(path: string): string {
  return path.replace(/[*?[\]\\]/g, '\\$&')
}
