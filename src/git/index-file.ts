// Git's index as a file (`git help format-index`): read and written in process.
import { createHash } from 'node:crypto'
import { type BigIntStats, lstatSync, type Stats } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { GITLINK } from './cat-file.ts'
import { objectId } from './objects.ts'

/** Rules and attributes, in any spelling that a file system may take for theirs. */
export const RULES_FILE = /(?:^|\/)\.git(?:ignore|attributes)$/i

/** Where an entry stands: from `start` on what git remembers of the file, its id up to `flags`, its name up to `end`. */
type Entry = { start: number; flags: number; name: number; end: number }

/** An index as it was at some time, and what that time was (milliseconds). */
export type OldIndex = { bytes: Buffer | null; at: number }

/** What git remembers of a file, from its times to its size, takes so many bytes. */
const STAT = 40
/** Where among them the mode stands. */
const MODE = 24
const HEADER = 12

function isIndex(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === 'DIRC' && [2, 3].includes(bytes.readUInt32BE(4))
}

/** In order of their names. Nothing where it is no index of a version that git writes for us. */
function* entriesOf(bytes: Buffer, idLength: number): Generator<Entry, number> {
  if (!isIndex(bytes)) return 0
  let start = HEADER
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
  return start
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
        const mode = bytes.readUInt32BE(start + MODE).toString(8)
        const oid = bytes.subarray(start + STAT, flags)
        parts.push(Buffer.from(`${mode} `), bytes.subarray(name + from, end), ZERO, oid)
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

/** An index to be asked by path; paths are bytes (latin1). */
export class IndexTable {
  readonly bytes: Buffer
  /** Of an object id, in bytes. */
  readonly idLength: number
  readonly #entries = new Map<string, number>()
  readonly #folders = new Set<string>()
  /** Whether every entry is a file or a link that nothing is noted of. */
  readonly isPlain: boolean
  /** Submodules. */
  readonly gitlinks: readonly string[]
  /** Of ignore rules and attributes. */
  readonly ruleFiles: readonly string[]

  /** Throws where git would not have written it for us. */
  constructor(bytes: Buffer, idLength: number) {
    if (!isIndex(bytes)) throw notOurs()
    this.bytes = bytes
    this.idLength = idLength
    let isPlain = true
    const gitlinks: string[] = []
    const ruleFiles: string[] = []
    let folder = ''
    const entries = entriesOf(bytes, idLength)
    let at = entries.next()
    for (; !at.done; at = entries.next()) {
      const { start, flags, name, end } = at.value
      const path = bytes.toString('latin1', name, end)
      this.#entries.set(path, start)
      if (RULES_FILE.test(path)) ruleFiles.push(path)
      const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
      if (above !== folder) this.#addFolder(above)
      folder = above
      // Unchanged by order, extended, or in a merge.
      if ((bytes.readUInt16BE(flags) & 0xf000) !== 0) isPlain = false
      if (bytes.readUInt32BE(start + MODE) === GITLINK_MODE) gitlinks.push(path)
    }
    this.isPlain = isPlain && gitlinks.length === 0 && this.#hasKnownExtensions(at.value)
    this.gitlinks = gitlinks
    this.ruleFiles = ruleFiles
  }

  get size(): number {
    return this.#entries.size
  }

  paths(): IterableIterator<string> {
    return this.#entries.keys()
  }

  has(path: string): boolean {
    return this.#entries.has(path)
  }

  hasFolder(path: string): boolean {
    return this.#folders.has(path)
  }

  /** What is stored of a path, or null. */
  entry(path: string): { mode: string; oid: string } | null {
    const start = this.#entries.get(path)
    if (start === undefined) return null
    return {
      mode: this.bytes
        .readUInt32BE(start + MODE)
        .toString(8)
        .padStart(6, '0'),
      oid: this.bytes.toString('hex', start + STAT, start + STAT + this.idLength),
    }
  }

  /** Whether a file is as it was when the index was written, where that was surely before `young` (seconds). */
  isUnchanged(path: string, found: Stats, young: number): boolean {
    const start = this.#entries.get(path)
    if (start === undefined || !isSame(this.bytes, start, found)) return false
    const mode = this.bytes.readUInt32BE(start + MODE)
    return mode === modeOf(found) && this.bytes.readUInt32BE(start) < young
  }

  /** The file with some entries replaced; null removes one. */
  with(edits: ReadonlyMap<string, Buffer | null>): Buffer {
    const paths = [...edits.keys()].sort(byBytes)
    const parts: Buffer[] = []
    let next = 0
    let from = HEADER
    let end = HEADER
    let count = this.size
    const put = (path: string) => {
      const entry = edits.get(path) ?? null
      if (entry !== null) parts.push(entry)
      if (entry !== null && !this.has(path)) count += 1
      if (entry === null && this.has(path)) count -= 1
    }
    for (const [path, start] of this.#entries) {
      for (; byBytes(paths[next] ?? path, path) < 0; next++) {
        parts.push(this.bytes.subarray(from, start))
        from = start
        put(paths[next] ?? '')
      }
      end = start + ((STAT + this.idLength + 2 + path.length + 8) & ~7)
      if (paths[next] !== path) continue
      parts.push(this.bytes.subarray(from, start))
      from = end
      put(path)
      next++
    }
    parts.push(this.bytes.subarray(from, end))
    for (const path of paths.slice(next)) put(path)
    return indexBytes(parts, count, this.idLength)
  }

  /** The bytes of an entry. */
  entryBytes(path: string): Buffer | null {
    const start = this.#entries.get(path)
    if (start === undefined) return null
    return this.bytes.subarray(start, start + ((STAT + this.idLength + 2 + path.length + 8) & ~7))
  }

  /** With nothing remembered of any file: every one is read again. */
  forgetful(): Buffer {
    const bytes = Buffer.from(this.bytes)
    for (const start of this.#entries.values()) {
      bytes.fill(0, start, start + MODE)
      bytes.fill(0, start + MODE + 4, start + STAT)
    }
    return sealed(bytes.subarray(0, bytes.length - this.idLength), this.idLength)
  }

  #addFolder(folder: string): void {
    for (
      let at = folder;
      at !== '' && !this.#folders.has(at);
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
    )
      this.#folders.add(at)
  }

  /** What must be understood begins with a small letter. */
  #hasKnownExtensions(from: number): boolean {
    for (
      let at = from;
      at + 8 <= this.bytes.length - this.idLength;
      at += 8 + this.bytes.readUInt32BE(at + 4)
    )
      if ((this.bytes[at] ?? 0) >= 0x61) return false
    return true
  }
}

const GITLINK_MODE = Number.parseInt(GITLINK, 8)

/** The order of an index. */
export function byBytes(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** An entry of an index; without `found` nothing is remembered of the file. */
export function indexEntry(path: string, mode: string, oid: string, found: BigIntStats | null): Buffer {
  const name = Buffer.from(path, 'latin1')
  const idLength = oid.length / 2
  const entry = Buffer.alloc((STAT + idLength + 2 + name.length + 8) & ~7)
  if (found !== null) {
    const low = (value: bigint) => Number(BigInt.asUintN(32, value))
    const times = [found.ctimeNs, found.mtimeNs].flatMap((ns) => [ns / 1_000_000_000n, ns % 1_000_000_000n])
    const values = [...times, found.dev, found.ino, 0n, found.uid, found.gid, found.size]
    for (const [at, value] of values.entries()) entry.writeUInt32BE(low(value), 4 * at)
  }
  entry.writeUInt32BE(Number.parseInt(mode, 8), MODE)
  entry.write(oid, STAT, 'hex')
  entry.writeUInt16BE(Math.min(name.length, 0xfff), STAT + idLength)
  name.copy(entry, STAT + idLength + 2)
  return entry
}

/** An index of entries in their order. */
export function indexBytes(entries: readonly Buffer[], count: number, idLength: number): Buffer {
  const header = Buffer.alloc(HEADER)
  header.write('DIRC')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(count, 8)
  return sealed(Buffer.concat([header, ...entries]), idLength)
}

/** With the sum at its end. */
function sealed(bytes: Buffer, idLength: number): Buffer {
  const hash = createHash(idLength === 32 ? 'sha256' : 'sha1')
  return Buffer.concat([bytes, hash.update(bytes).digest()])
}

/** The mode that git stores of a file; 0 for what it does not. */
export function modeOf(found: Pick<Stats, 'isFile' | 'isSymbolicLink'> & { mode: number | bigint }): number {
  if (found.isSymbolicLink()) return 0o120000
  if (!found.isFile()) return 0
  return Number(found.mode) & 0o100 ? 0o100755 : 0o100644
}

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
  const known = new Set(changed.map((path) => Buffer.from(path).toString('latin1')))
  const modified: Buffer[] = []
  for (const { entry, isNoted } of writtenTo(old, now, idLength)) {
    const name = now.subarray(entry.name, entry.end)
    if ((now.readUInt32BE(entry.start + MODE) & 0o170000) !== 0o100000) continue
    if (known.has(name.toString('latin1'))) continue
    const file = Buffer.concat([Buffer.from(`${top}/`), name])
    const found = look(file)
    if (found?.isFile() !== true || (!isNoted && isSame(now, entry.start, found))) continue
    const oid = now.toString('hex', entry.start + STAT, entry.flags)
    const bytes = await readFile(file).catch(() => null)
    if (bytes !== null && objectId('blob', bytes, oid.length) !== oid) modified.push(Buffer.from(name))
  }
  return modified
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

function look(file: Buffer): Stats | null {
  try {
    return lstatSync(file)
  } catch {
    return null
  }
}

/** Times as `Stats` has them: to a quarter of a microsecond, finer than any clock of a file system. */
function isSame(index: Buffer, start: number, found: Stats): boolean {
  const time = (at: number) => index.readUInt32BE(at) * 1000 + index.readUInt32BE(at + 4) / 1e6
  return (
    time(start) === found.ctimeMs &&
    time(start + 8) === found.mtimeMs &&
    index.readUInt32BE(start + 20) === found.ino % 2 ** 32 &&
    index.readUInt32BE(start + 36) === found.size % 2 ** 32
  )
}
