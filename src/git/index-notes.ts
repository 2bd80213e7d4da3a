// What git noted in an index since it was another: which files it has looked at or written.

import { lstat, readFile } from 'node:fs/promises'
import { toLatin1 } from '../system/path-text.ts'
import {
  type Entry,
  entriesOf,
  GITLINK_MODE,
  HEADER,
  isIndex,
  isSame,
  MODE,
  notOurs,
  STAT,
} from './index-file.ts'
import { objectId } from './objects.ts'

/** An index as it was at some time, and what that time was (milliseconds). */
export type OldIndex = { bytes: Buffer | null; at: number }

/**
 * The files that git calls unchanged, though their bytes are not those that it stores: line ends, `$Id$`, encodings.
 * Looks at those alone that somebody may have written to since `old`, without `changed`; `now` is the index after
 * everything was added, in which git has noted what it saw.
 */
export async function modifiedFiles(
  top: string,
  old: OldIndex,
  now: Buffer,
  changed: readonly string[],
  idLength: number,
): Promise<Buffer[]> {
  if (!isIndex(now)) throw notOurs()
  const known = new Set(changed.map((path) => toLatin1(path)))
  const modified: Buffer[] = []
  for (const { entry, isNoted } of writtenTo(old, now, idLength)) {
    const name = now.subarray(entry.name, entry.end)
    if ((now.readUInt32BE(entry.start + MODE) & 0o170000) !== 0o100000) continue
    if (known.has(name.toString('latin1'))) continue
    const file = Buffer.concat([Buffer.from(`${top}/`), name])
    const found = await lstat(file).catch(() => null)
    if (found?.isFile() !== true || (!isNoted && isSame(now, entry.start, found))) continue
    const oid = now.toString('hex', entry.start + STAT, entry.flags)
    const bytes = await readFile(file).catch(() => null)
    if (bytes !== null && objectId('blob', bytes, oid.length) !== oid) modified.push(Buffer.from(name))
  }
  return modified
}

/** The ids of the files and links that git has looked at or written since `old`. */
export function notedSince(old: Buffer, now: Buffer, idLength: number): string[] {
  const noted: string[] = []
  for (const { entry, isNoted } of writtenTo({ bytes: old, at: Number.POSITIVE_INFINITY }, now, idLength))
    if (isNoted && now.readUInt32BE(entry.start + MODE) !== GITLINK_MODE)
      noted.push(now.toString('hex', entry.start + STAT, entry.flags))
  return noted
}

/** `isNoted`: git has seen that. Else its time is so young that git, which compares seconds, may have missed it. */
function* writtenTo(
  old: OldIndex,
  now: Buffer,
  idLength: number,
): Generator<{ entry: Entry; isNoted: boolean }, void> {
  const bytes = old.bytes ?? Buffer.alloc(HEADER)
  const before = entriesOf(bytes, idLength)
  const young = Math.floor(old.at / 1000) - 1
  let last = before.next()
  for (const entry of entriesOf(now, idLength)) {
    while (!last.done && bytes.compare(now, entry.name, entry.end, last.value.name, last.value.end) < 0)
      last = before.next()
    const isNoted =
      last.done === true || bytes.compare(now, entry.start, entry.end, last.value.start, last.value.end) !== 0
    if (isNoted || now.readUInt32BE(entry.start) >= young) yield { entry, isNoted }
  }
}
