// Errors of a disk that cannot be written to: the kind, and what a person can do about it.
import { accessSync, constants, lstatSync, statfsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { type Mistake, messageOf } from './errors.ts'

type Kind = 'full' | 'read-only' | 'closed'

const FIXES: Record<Kind, (place: string) => string> = {
  full: (place: string) =>
    `free up space on the disk of ${place} (\`df -h ${place}\` shows how much is free)`,
  'read-only': (place: string) => `mount the disk of ${place} so that it can be written to`,
  closed: (place: string) =>
    `give yourself write permission for ${place} (\`ls -ld ${place}\` shows who owns it)`,
}
const FOUND: Record<Kind, (place: string) => string> = {
  full: (place: string) => `the disk of ${place} is full`,
  'read-only': (place: string) => `the disk of ${place} is mounted read-only`,
  closed: (place: string) => `${userInfo().username} may not write to ${place}${ownerOf(place)}`,
}

/** What is wrong with the disk; null for any other error. `usual` is the folder to look at when the error names no path. */
export function diskMistake(error: unknown, usual: string): Mistake | null {
  const path = error instanceof Error && 'path' in error ? String(error.path) : null
  const place = closestFolder(path ?? usual)
  const kind = kindOf(error, place)
  if (kind === null) return null
  const fix = `${FIXES[kind](place)}, then run again: what was saved before is kept`
  return { path: 'disk', found: FOUND[kind](place), expected: '', fix }
}

/** The kind by the system's error code. git gives no code, so two kinds are recognized by the words that it prints. */
function kindOf(error: unknown, place: string): Kind | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = messageOf(error)
  if (
    /^(?:ENOSPC|EDQUOT)$/.test(code) ||
    /no space left on device|out of diskspace|disk quota exceeded/i.test(message)
  )
    return 'full'
  // git often leaves out the reason why it could not write.
  if (error instanceof Error && error.name === 'GitError' && isNearlyFull(place)) return 'full'
  if (code === 'EROFS' || /read-only file system/i.test(message)) return 'read-only'
  if (code === 'EACCES' || code === 'EPERM') return 'closed'
  // A recursive mkdir that is refused reports ENOENT for the folder that is missing, not EACCES for its parent.
  const isMissing =
    code === 'ENOENT' && error instanceof Error && 'syscall' in error && error.syscall === 'mkdir'
  if (!isMissing) return null
  if (orNull(() => accessSync(place, constants.W_OK) ?? true) === null) return 'closed'
  return orNull(() => statfsSync(place).bavail) === 0 ? 'full' : null
}

/** Bytes. With less room than this, git fails to write. */
const LITTLE_ROOM = 64 * 1024

function isNearlyFull(place: string): boolean {
  const found = orNull(() => statfsSync(place))
  if (found === null) return false
  // Some file systems have no fixed number of files, and report 0 of 0.
  return found.bavail * found.bsize < LITTLE_ROOM || (found.files > 0 && found.ffree === 0)
}

/** The path, or its closest parent that exists. */
function closestFolder(path: string): string {
  let at = path
  while (at !== dirname(at) && lstatSync(at, { throwIfNoEntry: false }) === undefined) at = dirname(at)
  return at
}

function ownerOf(path: string): string {
  const owner = orNull(() => lstatSync(path).uid)
  const own = process.getuid?.()
  return owner === null || owner === own ? '' : `, which belongs to user ${owner}`
}

function orNull<T>(ask: () => T): T | null {
  try {
    return ask()
  } catch {
    return null
  }
}
