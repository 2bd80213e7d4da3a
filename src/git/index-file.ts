// Git's index as a file (`git help format-index`): read and written in process.
import { createHash } from 'node:crypto'
import { type BigIntStats, lstatSync, type Stats } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { GITLINK, TREE } from './cat-file.ts'
import { type NewEntry, objectId, treeBytes } from './objects.ts'

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

function notOurs(): Error {
  return new Error('the index of Ralph is gone, or of a version that git does not write for us')
}

/** Where an entry stands: among the bytes of an index, or alone. `file`: where it is in the work tree, once somebody looked. */
export type IndexEntry = {
  readonly path: string
  file?: string | Buffer
  bytes: Buffer
  start: number
  end: number
}

/** A folder with entries in it; its path ends in `/`, and is empty for the top. */
export type IndexFolder = {
  readonly path: string
  readonly files: Map<string, IndexEntry>
  readonly folders: Map<string, IndexFolder>
  /** How the work tree's folder was when it held what the index names and what is ignored, and nothing else. */
  seen: Stats | null
}

/** An index to be asked by path, and changed; paths are bytes (latin1). */
export class IndexTable {
  /** Of an object id, in bytes. */
  readonly idLength: number
  /** Submodules. */
  readonly gitlinks = new Set<string>()
  /** Of ignore rules and attributes. */
  readonly ruleFiles = new Set<string>()
  readonly #folders = new Map<string, IndexFolder>()
  #entries: IndexEntry[] = []
  #bytes: Buffer | null
  #isUsual = true

  /** Throws where git would not have written it for us. */
  constructor(bytes: Buffer | null, idLength: number) {
    if (bytes === null || !isIndex(bytes)) throw notOurs()
    this.#bytes = bytes
    this.idLength = idLength
    this.#folderAt('')
    const entries = entriesOf(bytes, idLength)
    let at = entries.next()
    for (; !at.done; at = entries.next()) {
      const { start, flags, name, end } = at.value
      // Unchanged by order, extended, or in a merge.
      if ((bytes.readUInt16BE(flags) & 0xf000) !== 0) this.#isUsual = false
      const path = bytes.toString('latin1', name, end)
      this.#put({ path, bytes, start, end: start + ((end - start + 8) & ~7) })
    }
    // An extension that must be understood begins with a small letter.
    for (let from = at.value; from + 8 <= bytes.length - idLength; from += 8 + bytes.readUInt32BE(from + 4))
      if ((bytes[from] ?? 0) >= 0x61) this.#isUsual = false
  }

  /** The file that it is. */
  get bytes(): Buffer {
    this.#bytes ??= this.#written()
    return this.#bytes
  }

  get top(): IndexFolder {
    return this.#folderAt('')
  }

  /** The paths of all folders, without the top. */
  get folders(): string[] {
    const paths = [...this.#folders.keys()].filter((path) => path !== '')
    return paths.map((path) => Buffer.from(path, 'latin1').toString('utf8').slice(0, -1))
  }

  /** Whether every entry is a file or a link that nothing is noted of. */
  get isPlain(): boolean {
    return this.#isUsual && this.gitlinks.size === 0
  }

  entry(path: string): IndexEntry | null {
    const [above, name] = splitPath(path)
    return this.#folders.get(above)?.files.get(name) ?? null
  }

  /** What is stored of a path, or null. */
  stored(path: string): { mode: string; oid: string } | null {
    const entry = this.entry(path)
    if (entry === null) return null
    const { bytes, start } = entry
    const mode = bytes.readUInt32BE(start + MODE).toString(8)
    return {
      mode: mode.padStart(6, '0'),
      oid: bytes.toString('hex', start + STAT, start + STAT + this.idLength),
    }
  }

  /** Entries that take the place of others; null removes one. */
  edit(edits: ReadonlyMap<string, Buffer | null>): void {
    if (edits.size === 0) return
    const count = this.#entries.length
    const gone = new Set<IndexEntry>()
    for (const [path, bytes] of edits) {
      const old = this.entry(path)
      if (bytes !== null) this.#put({ path, bytes, start: 0, end: bytes.length })
      else if (old !== null) gone.add(old)
    }
    const isLonger = this.#entries.length > count
    if (isLonger) this.#entries.sort((one, other) => byBytes(one.path, other.path))
    if (gone.size > 0) this.#entries = this.#entries.filter((entry) => !gone.has(entry))
    for (const { path } of gone) this.#remove(path)
    this.#bytes = null
  }

  /** Every folder is listed anew. */
  forgetFolders(): void {
    for (const folder of this.#folders.values()) folder.seen = null
  }

  #put(entry: IndexEntry): void {
    const { path, bytes, start } = entry
    const [above, name] = splitPath(path)
    const folder = this.#folderAt(above)
    folder.seen = null
    const old = folder.files.get(name)
    if (old !== undefined) Object.assign(old, entry)
    else {
      folder.files.set(name, entry)
      this.#entries.push(entry)
    }
    if (RULES_FILE.test(name)) this.ruleFiles.add(path)
    if (bytes.readUInt32BE(start + MODE) === GITLINK_MODE) this.gitlinks.add(path)
    else this.gitlinks.delete(path)
  }

  #remove(path: string): void {
    const [above, name] = splitPath(path)
    this.ruleFiles.delete(path)
    this.gitlinks.delete(path)
    let folder = this.#folderAt(above)
    folder.files.delete(name)
    folder.seen = null
    while (folder.path !== '' && folder.files.size === 0 && folder.folders.size === 0) {
      this.#folders.delete(folder.path)
      const [outer, inner] = splitPath(folder.path.slice(0, -1))
      folder = this.#folderAt(outer)
      folder.folders.delete(inner)
      folder.seen = null
    }
  }

  #folderAt(path: string): IndexFolder {
    const known = this.#folders.get(path)
    if (known !== undefined) return known
    const folder = { path, files: new Map(), folders: new Map(), seen: null }
    this.#folders.set(path, folder)
    if (path === '') return folder
    const [above, name] = splitPath(path.slice(0, -1))
    const outer = this.#folderAt(above)
    outer.folders.set(name, folder)
    outer.seen = null
    return folder
  }

  /** Where neighbours stand beside each other already, they are copied together. From now on all stand in it. */
  #written(): Buffer {
    const parts: Buffer[] = []
    let first: IndexEntry | undefined
    let last: IndexEntry | undefined
    for (const entry of [...this.#entries, undefined]) {
      if (entry !== undefined && entry.bytes === last?.bytes && entry.start === last.end) last = entry
      else {
        if (first !== undefined && last !== undefined) parts.push(first.bytes.subarray(first.start, last.end))
        first = last = entry
      }
    }
    const bytes = indexBytes(parts, this.#entries.length, this.idLength)
    let at = HEADER
    for (const entry of this.#entries) {
      const size = entry.end - entry.start
      Object.assign(entry, { bytes, start: at, end: at + size })
      at += size
    }
    return bytes
  }
}

/** The folder of a path (it ends in `/`, and is empty for the top), and the name in it. */
function splitPath(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf('/') + 1
  return [path.slice(0, at), path.slice(at)]
}

/** A folder of an index as a tree object; `path` as of its folder. */
export type IndexTree = { path: string; oid: string; bytes: Buffer; inside: readonly IndexTree[] }

/**
 * The trees that an index stands for, by its entries alone: what it remembers of folders came from objects that git reads
 * without a look at their hash. Throws where a merge has not been ended.
 */
export function treesOf(folder: IndexFolder, idLength: number): IndexTree {
  const { path, files, folders } = folder
  const inside: IndexTree[] = []
  const entries: NewEntry[] = []
  for (const [name, inner] of folders) {
    const tree = treesOf(inner, idLength)
    inside.push(tree)
    entries.push({ name, mode: TREE, oid: tree.oid })
  }
  for (const [name, { bytes, start }] of files) {
    const flags = start + STAT + idLength
    if ((bytes.readUInt16BE(flags) & 0x3000) !== 0) throw notOurs()
    const mode = bytes.readUInt32BE(start + MODE).toString(8)
    entries.push({ name, mode, oid: bytes.toString('hex', start + STAT, flags) })
  }
  const bytes = treeBytes(entries)
  return { path, oid: objectId('tree', bytes, 2 * idLength), bytes, inside }
}

/** Whether a file is as it was when the entry was written, where that was surely before `young` (seconds). */
export function isUnchanged({ bytes, start }: IndexEntry, found: Stats, young: number): boolean {
  if (!isSame(bytes, start, found) || bytes.readUInt32BE(start) >= young) return false
  return bytes.readUInt32BE(start + MODE) === modeOf(found)
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

/** An index of entries in their order, some of them together, with the sum at its end. */
export function indexBytes(entries: readonly Buffer[], count: number, idLength: number): Buffer {
  const header = Buffer.alloc(HEADER)
  header.write('DIRC')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(count, 8)
  const bytes = Buffer.concat([header, ...entries, Buffer.alloc(idLength)])
  const sum = createHash(idLength === 32 ? 'sha256' : 'sha1').update(bytes.subarray(0, -idLength))
  sum.digest().copy(bytes, bytes.length - idLength)
  return bytes
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
