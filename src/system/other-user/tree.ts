// Whose the files of the work tree are: granted to the other user for a session, revoked after it. `.git` never is.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Account } from './account.ts'

/** Runs a command as root. */
export type RunAsRoot = (...command: string[]) => Promise<void>
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
