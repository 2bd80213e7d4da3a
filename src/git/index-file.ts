// Reads git's index, for what git itself does not tell: which files somebody wrote to since, to the nanosecond.
import { type BigIntStats, lstatSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { objectId } from './objects.ts'

/** Where an entry stands: from `start` on what git remembers of the file, its id up to `flags`, its name up to `end`. */
type Entry = { start: number; flags: number; name: number; end: number }

/** An index as it was at some time, and what that time was (milliseconds). */
export type OldIndex = { bytes: Buffer | null; at: number }

/** What git remembers of a file, from its times to its size, takes so many bytes. */
const STAT = 40

function isIndex(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === 'DIRC' && [2, 3].includes(bytes.readUInt32BE(4))
}

/** In order of their names. Nothing where it is no index of a version that git writes for us. */
function* entriesOf(bytes: Buffer, idLength: number): Generator<Entry, void> {
  if (!isIndex(bytes)) return
  let start = 12
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const flags = start + STAT + idLength
    const isExtended = (bytes.readUInt16BE(flags) & 0x4000) !== 0
    const name = flags + (isExtended ? 4 : 2)
    const end = bytes.indexOf(0, name)
    if (end < 0) throw notOurs()
    yield { start, flags, name, end }
    // Filled up to eight bytes, with one zero at least.
    start += (end - start + 8) & ~7
  }
}

/** A folder of an index as a tree object; `path` ends in `/`, and is empty for the top (latin1). */
export type IndexTree = { path: string; oid: string; bytes: Buffer; inside: readonly IndexTree[] }

/**
 * The trees that an index stands for, by its entries alone: what it remembers of folders came from objects that git reads
 * without a look at their hash. Throws where a merge has not been ended, or where git would not have written it for us.
 */
export function treesOf(bytes: Buffer | null, idLength: number): IndexTree {
  if (bytes === null || !isIndex(bytes)) throw notOurs()
  const entries = entriesOf(bytes, idLength)
  let at = entries.next()
  const make = (path: string, from: number): IndexTree => {
    const parts: Buffer[] = []
    const inside: IndexTree[] = []
    const prefix = Buffer.from(path, 'latin1')
    while (!at.done) {
      const { start, flags, name, end } = at.value
      if (bytes.compare(prefix, 0, from, name, Math.min(name + from, end)) !== 0) break
      if ((bytes.readUInt16BE(flags) & 0x3000) !== 0) throw notOurs()
      const slash = bytes.indexOf(0x2f, name + from)
      if (slash >= 0 && slash < end) {
        const folder = make(bytes.toString('latin1', name, slash + 1), slash + 1 - name)
        inside.push(folder)
        parts.push(FOLDER, bytes.subarray(name + from, slash), ZERO, Buffer.from(folder.oid, 'hex'))
      } else {
        const mode = bytes.readUInt32BE(start + 24).toString(8)
        parts.push(
          Buffer.from(`${mode} `),
          bytes.subarray(name + from, end),
          ZERO,
          bytes.subarray(start + STAT, flags),
        )
        at = entries.next()
      }
    }
    const tree = Buffer.concat(parts)
    return { path, oid: objectId('tree', tree, 2 * idLength), bytes: tree, inside }
  }
  const top = make('', 0)
  if (!at.done) throw notOurs()
  return top
}

const FOLDER = Buffer.from('40000 ')
const ZERO = Buffer.from([0])

function notOurs(): Error {
  return new Error('the index of Ralph is gone, or of a version that git does not write for us')
}

/**
 * The files that git calls unchanged, though their bytes are not those that it stores: line ends, `$Id$`, encodings.
 * Looks at those alone that somebody may have written to since `old`, without `changed`; `now` is the index after
 * everything was added, in which git has noted what it saw.
 */
export async function bentFiles(
  top: string,
  old: OldIndex,
  now: Buffer | null,
  changed: readonly string[],
  idLength: number,
): Promise<Buffer[]> {
  if (now === null || !isIndex(now)) throw notOurs()
  const known = new Set(changed.map((path) => Buffer.from(path).toString('latin1')))
  const bent: Buffer[] = []
  for (const { entry, isNoted } of writtenTo(old, now, idLength)) {
    const name = now.subarray(entry.name, entry.end)
    if ((now.readUInt32BE(entry.start + 24) & 0o170000) !== 0o100000) continue
    if (known.has(name.toString('latin1'))) continue
    const file = Buffer.concat([Buffer.from(`${top}/`), name])
    const found = look(file)
    if (found?.isFile() !== true || (!isNoted && isSame(now, entry.start, found))) continue
    const oid = now.toString('hex', entry.start + STAT, entry.flags)
    const bytes = await readFile(file).catch(() => null)
    if (bytes !== null && objectId('blob', bytes, oid.length) !== oid) bent.push(Buffer.from(name))
  }
  return bent
}

/** `isNoted`: git has seen that. Else its time is so young that git, which compares seconds, may have missed it. */
function* writtenTo(
  old: OldIndex,
  now: Buffer,
  idLength: number,
): Generator<{ entry: Entry; isNoted: boolean }, void> {
  const bytes = old.bytes ?? Buffer.alloc(12)
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

function look(file: Buffer): BigIntStats | null {
  try {
    return lstatSync(file, { bigint: true })
  } catch {
    return null
  }
}

function isSame(index: Buffer, start: number, found: BigIntStats): boolean {
  const low = (value: bigint) => Number(BigInt.asUintN(32, value))
  const isTime = (at: number, ns: bigint) =>
    index.readUInt32BE(at) === low(ns / 1_000_000_000n) &&
    index.readUInt32BE(at + 4) === low(ns % 1_000_000_000n)
  return (
    isTime(start, found.ctimeNs) &&
    isTime(start + 8, found.mtimeNs) &&
    index.readUInt32BE(start + 20) === low(found.ino) &&
    index.readUInt32BE(start + 36) === low(found.size)
  )
}
