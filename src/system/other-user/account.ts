// The account that sessions run under: made for a job, removed with it.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { messageOf } from '../errors.ts'
import { refused } from './refused.ts'
import { type Root, run } from './root.ts'

export type Account = { name: string; uid: number; gid: number; home: string }

/** Tells this runner's user from others on the machine. */
export function nameFor(key: string): string {
  return `ralph-${createHash('sha256').update(key).digest('hex').slice(0, 8)}`
}

export function accountOf(name: string): Account | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${name}:`))
  const [, , uid = '', gid = '', , home = ''] = line?.split(':') ?? []
  return line === undefined || Number(uid) === 0 ? null : { name, uid: Number(uid), gid: Number(gid), home }
}

export async function makeAccount(root: Root, name: string): Promise<Account> {
  const known = accountOf(name)
  if (known !== null) return known
  try {
    // We make the home: what hosted images would copy into it is gigabytes.
    const home = ['--no-create-home', '--home-dir', `/home/${name}`]
    await run(root('useradd', '--system', ...home, '--user-group', '--shell', '/bin/bash', name))
  } catch (error) {
    const fix = 'install the package passwd (or shadow), or use isolation: separate-job'
    throw refused([{ found: messageOf(error), expected: `a user ${name} that useradd makes`, fix }])
  }
  const made = accountOf(name)
  if (made === null) throw new Error(`useradd made no ${name} in /etc/passwd`)
  return made
}

/** A machine where it cannot be removed keeps it for the next job. */
export async function removeAccount(root: Root, name: string): Promise<void> {
  await run(root('userdel', '--remove', name)).catch(() => {})
}

export async function makeHome(root: Root, { uid, gid, home }: Account): Promise<void> {
  await run(root('rm', '-rf', '--one-file-system', '--', home))
  await run(root('install', '-d', '-m', '0700', '-o', String(uid), '-g', String(gid), home))
}
