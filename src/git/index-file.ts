// Git's index as a file (`git help format-index`): read and written in process.

import { createHash } from 'node:crypto'
import type { BigIntStats, Stats } from 'node:fs'
import { fromLatin1 } from '../system/path-text.ts'
import { GITLINK, TREE } from './cat-file.ts'
import { type NewEntry, objectId, treeBytes } from './objects.ts'

/** Rules and attributes, in any spelling that a file system may take for theirs. */
export const RULES_FILE = /(?:^|\/)\.git(?:ignore|attributes)$/i

/** Where an entry stands: from `start` on what git remembers of the file, its id up to `flags`, its name up to `end`. */
export type Entry = { start: number; flags: number; name: number; end: number }

/** What git remembers of a file, from its times to its size, takes so many bytes. */
export const STAT = 40
/** Where among them the mode stands. */
export const MODE = 24
export const HEADER = 12

export function isIndex(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === 'DIRC' && [2, 3].includes(bytes.readUInt32BE(4))
}

/** In order of their names. Nothing where it is no index of a version that git writes for us. */
export function* entriesOf(bytes: Buffer, idLength: number): Generator<Entry, number> {
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

export function notOurs(): Error {
  return new Error('the index of Ralph is gone, or of a version that git does not write for us')
}

/** Where an entry stands among the bytes of its index. `file`: where it is in the work tree, once somebody looked. */
export type IndexEntry = {
  readonly path: string
  file?: string | Buffer
  start: number
  size: number
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
  /** Never changed: who was given them keeps them. */
  #bytes: Buffer
  /** Whether they end in their sum. */
  #isSummed = true
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
      const entry = { path: bytes.toString('latin1', name, end), start, size: (end - start + 8) & ~7 }
      this.#put(entry, bytes.readUInt32BE(start + MODE))
      this.#entries.push(entry)
    }
    // An extension that must be understood begins with a small letter.
    for (let from = at.value; from + 8 <= bytes.length - idLength; from += 8 + bytes.readUInt32BE(from + 4))
      if ((bytes[from] ?? 0) >= 0x61) this.#isUsual = false
  }

  /** The file that it is. */
  get bytes(): Buffer {
    const end = this.#bytes.length - this.idLength
    if (!this.#isSummed) {
      const sum = createHash(this.idLength === 32 ? 'sha256' : 'sha1').update(this.#bytes.subarray(0, end))
      sum.digest().copy(this.#bytes, end)
      this.#isSummed = true
    }
    return this.#bytes
  }

  get top(): IndexFolder {
    return this.#folderAt('')
  }

  /** The paths of all folders, without the top. */
  get folders(): string[] {
    const paths = [...this.#folders.keys()].filter((path) => path !== '')
    return paths.map((path) => fromLatin1(path).slice(0, -1))
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
    return entry === null ? null : this.storedAt(entry)
  }

  storedAt({ start }: IndexEntry): { mode: string; oid: string } {
    const mode = this.#bytes.readUInt32BE(start + MODE).toString(8)
    const oid = this.#bytes.toString('hex', start + STAT, start + STAT + this.idLength)
    return { mode: mode.padStart(6, '0'), oid }
  }

  /** An entry's own bytes. */
  bytesAt({ start, size }: IndexEntry): Buffer {
    return this.#bytes.subarray(start, start + size)
  }

  /** Whether something is remembered of the file. */
  isSeen({ start }: IndexEntry): boolean {
    return this.#bytes.readUInt32BE(start) !== 0
  }

  /** Whether a file is as it was when the entry was written, where that was surely before `young` (seconds). */
  isUnchanged({ start }: IndexEntry, found: Stats, young: number): boolean {
    const bytes = this.#bytes
    if (!isSame(bytes, start, found) || bytes.readUInt32BE(start) >= young) return false
    return bytes.readUInt32BE(start + MODE) === modeOf(found)
  }

  /**
   * The trees that it stands for, by its entries alone: what an index remembers of folders came from objects that git
   * reads without a look at their hash. Throws where a merge has not been ended.
   */
  trees({ path, files, folders }: IndexFolder = this.top): IndexTree {
    const inside: IndexTree[] = []
    const entries: NewEntry[] = []
    for (const [name, inner] of folders) {
      const tree = this.trees(inner)
      inside.push(tree)
      entries.push({ name, mode: TREE, oid: tree.oid })
    }
    for (const [name, entry] of files) {
      if ((this.#bytes.readUInt16BE(entry.start + STAT + this.idLength) & 0x3000) !== 0) throw notOurs()
      entries.push({ name, ...this.storedAt(entry) })
    }
    const bytes = treeBytes(entries)
    return { path, oid: objectId('tree', bytes, 2 * this.idLength), bytes, inside }
  }

  /** Entries from which is taken what others remember of the same files. */
  refresh(seen: ReadonlyMap<IndexEntry, Buffer>): void {
    this.#take([this.#entriesBetween(0, this.#entries.length)])
    for (const [{ start }, entry] of seen) entry.copy(this.#bytes, start, 0, STAT)
  }

  /** Entries that take the place of others; null removes one. */
  edit(edits: ReadonlyMap<string, Buffer | null>): void {
    const old = this.#entries
    const entries: IndexEntry[] = []
    const parts: Buffer[] = []
    let [next, start] = [0, HEADER]
    const take = (entry: IndexEntry) => {
      entry.start = start
      start += entry.size
      entries.push(entry)
    }
    const keepUntil = (end: number) => {
      if (next < end) parts.push(this.#entriesBetween(next, end))
      for (const entry of old.slice(next, end)) take(entry)
      next = end
    }
    for (const path of [...edits.keys()].sort()) {
      const bytes = edits.get(path) ?? null
      keepUntil(this.#position(path))
      const known = old[next]?.path === path ? old[next] : undefined
      if (known !== undefined) next += 1
      if (bytes === null) this.#remove(path)
      else {
        const entry = known ?? { path, start, size: 0 }
        entry.size = bytes.length
        this.#put(entry, bytes.readUInt32BE(MODE))
        parts.push(bytes)
        take(entry)
      }
    }
    keepUntil(old.length)
    this.#entries = entries
    this.#take(parts)
  }

  /** Every folder is listed anew. */
  forgetFolders(): void {
    for (const folder of this.#folders.values()) folder.seen = null
  }

  #take(parts: readonly Buffer[]): void {
    this.#bytes = indexOf(this.idLength, parts, this.#entries.length)
    this.#isSummed = false
  }

  #entriesBetween(from: number, to: number): Buffer {
    const last = this.#entries[to - 1] ?? { start: HEADER, size: 0 }
    return this.#bytes.subarray(this.#entries[from]?.start, last.start + last.size)
  }

  /** Where a path stands among the entries, or would. */
  #position(path: string): number {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#entries[middle]?.path ?? '') < path) low = middle + 1
      else high = middle
    }
    return low
  }

  #put(entry: IndexEntry, mode: number): void {
    const { path } = entry
    const [above, name] = splitPath(path)
    const folder = this.#folderAt(above)
    if (!folder.files.has(name)) folder.seen = null
    folder.files.set(name, entry)
    if (RULES_FILE.test(name)) this.ruleFiles.add(path)
    if (mode === GITLINK_MODE) this.gitlinks.add(path)
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
}

/** The folder of a path (it ends in `/`, and is empty for the top), and the name in it. */
function splitPath(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf('/') + 1
  return [path.slice(0, at), path.slice(at)]
}

/** A folder of an index as a tree object; `path` as of its folder. */
export type IndexTree = { path: string; oid: string; bytes: Buffer; inside: readonly IndexTree[] }

export const GITLINK_MODE = Number.parseInt(GITLINK, 8)

/** An entry of an index; without `found` nothing is remembered of the file. */
export function indexEntry(path: string, mode: string, oid: string, found: BigIntStats | null): Buffer {
  const idLength = oid.length / 2
  const name = STAT + idLength + 2
  // Of a pool: an index may have hundreds of thousands.
  const entry = Buffer.allocUnsafe((name + path.length + 8) & ~7).fill(0)
  if (found !== null) {
    const { ctimeNs, mtimeNs, dev, ino, uid, gid, size } = found
    for (const [at, time] of [ctimeNs, mtimeNs].entries()) {
      const seconds = time / SECOND
      entry.writeUInt32BE(Number(seconds) >>> 0, 8 * at)
      entry.writeUInt32BE(Number(time - seconds * SECOND), 8 * at + 4)
    }
    const values = [dev, ino, 0, uid, gid, size]
    for (let at = 0; at < values.length; at += 1)
      entry.writeUInt32BE(Number(values[at]) % 2 ** 32, 16 + 4 * at)
  }
  entry.writeUInt32BE(Number.parseInt(mode, 8), MODE)
  entry.write(oid, STAT, 'hex')
  entry.writeUInt16BE(Math.min(path.length, 0xfff), STAT + idLength)
  entry.write(path, name, 'latin1')
  return entry
}

const SECOND = 1_000_000_000n

/** An index of entries in their order, some of them together; without them an empty one. Its sum is still to come. */
export function indexOf(idLength: number, entries: readonly Buffer[] = [], count = 0): Buffer {
  const header = Buffer.alloc(HEADER)
  header.write('DIRC')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(count, 8)
  return Buffer.concat([header, ...entries, Buffer.alloc(idLength)])
}

/** The mode that git stores of a file; 0 for what it does not. */
export function modeOf(found: Pick<Stats, 'isFile' | 'isSymbolicLink'> & { mode: number | bigint }): number {
  if (found.isSymbolicLink()) return 0o120000
  if (!found.isFile()) return 0
  return Number(found.mode) & 0o100 ? 0o100755 : 0o100644
}

/** Times as `Stats` has them: to a quarter of a microsecond, finer than any clock of a file system. */
export function isSame(index: Buffer, start: number, found: Stats): boolean {
  const time = (at: number) => index.readUInt32BE(at) * 1000 + index.readUInt32BE(at + 4) / 1e6
  return (
    time(start) === found.ctimeMs &&
    time(start + 8) === found.mtimeMs &&
    index.readUInt32BE(start + 20) === found.ino % 2 ** 32 &&
    index.readUInt32BE(start + 36) === found.size % 2 ** 32
  )
}
