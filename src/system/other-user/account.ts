// The account that sessions run under: made for a job, removed with it.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { messageOf } from '../errors.ts'
import { type Root, refused, run } from './root.ts'

/** `openGid`: programs of the user in this group, and they alone, keep the network where it is closed to the user. */
export type Account = { name: string; uid: number; gid: number; openGid: number; home: string }

/** Tells this runner's user from others on the machine. */
export function nameFor(key: string): string {
  return `ralph-${createHash('sha256').update(key).digest('hex').slice(0, 8)}`
}

export function accountOf(name: string): Account | null {
  const [, , uid = '', gid = '', , home = ''] = entryOf('/etc/passwd', name) ?? []
  const openGid = Number(entryOf('/etc/group', openGroup(name))?.[2])
  return Number(uid) > 0 && openGid > 0 ? { name, uid: Number(uid), gid: Number(gid), openGid, home } : null
}

function entryOf(file: string, name: string): string[] | undefined {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.find((line) => line.startsWith(`${name}:`))?.split(':')
}

/** Nobody is a member: only root can start a program in it. */
function openGroup(name: string): string {
  return `${name}-open`
}

export async function makeAccount(root: Root, name: string): Promise<Account> {
  const known = accountOf(name)
  if (known !== null) return known
  try {
    // We make the home: what hosted images would copy into it is gigabytes.
    const home = ['--no-create-home', '--home-dir', `/home/${name}`]
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
  await run(root('groupdel', openGroup(name))).catch(() => {})
}

export async function makeHome(root: Root, { uid, gid, home }: Account): Promise<void> {
  await run(root('rm', '-rf', '--one-file-system', '--', home))
  await run(root('install', '-d', '-m', '0700', '-o', String(uid), '-g', String(gid), home))
}
