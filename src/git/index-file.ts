// Parses git's index file (`git help format-index`): its entries, and the stat data that git caches for each file.
import { createHash } from 'node:crypto'
import { GITLINK } from './cat-file.ts'
import { objectId } from './objects.ts'

export class IndexEntry {
  readonly mode: string
  /** The object id as bytes (latin1). */
  readonly id: string
  /** The offset of the entry in the file: of its stat data, mode and id. */
  readonly start: number

  constructor(mode: string, id: string, start: number) {
    this.mode = mode
    this.id = id
    this.start = start
  }

  get oid(): string {
    return Buffer.from(this.id, 'latin1').toString('hex')
  }
}

/** A folder of an index as a tree object. `path` ends in `/`, and is empty for the top. */
export type IndexTree = { path: string; oid: string; bytes: Buffer; inside: readonly IndexTree[] }

const HEADER = 12
/** Offsets in an entry: two times, device and inode; then the mode; then owner, group and size; then the id. */
const MODE = 24
const STAT = 40

/** Immutable. Paths are bytes (latin1), in git's order. */
export class IndexFile {
  readonly bytes: Buffer
  readonly entries: ReadonlyMap<string, IndexEntry>
  /** The paths of submodules. */
  readonly gitlinks: ReadonlySet<string>
  /** The length of an object id, bytes. */
  readonly #idLength: number

  private constructor(bytes: Buffer, entries: ReadonlyMap<string, IndexEntry>, idLength: number) {
    this.bytes = bytes
    this.entries = entries
    this.#idLength = idLength
    const gitlinks = new Set<string>()
    for (const [path, { mode }] of entries) if (mode === GITLINK) gitlinks.add(path)
    this.gitlinks = gitlinks
  }

  /** Throws for a file that git would not write for Ralph: cut off, unsorted, of another version, in the middle of a merge. */
  static of(bytes: Buffer | null, idLength: number): IndexFile {
    if (bytes?.toString('latin1', 0, 4) !== 'DIRC' || ![2, 3].includes(bytes.readUInt32BE(4)))
      throw invalidIndex()
    // Slicing one text is much faster than decoding a hundred thousand pieces.
    const text = bytes.toString('latin1')
    const entries = new Map<string, IndexEntry>()
    let [start, last] = [HEADER, '']
    for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
      const flags = start + STAT + idLength
      const bits = bytes.readUInt16BE(flags)
      const name = flags + (bits & 0x4000 ? 4 : 2)
      const end = text.indexOf('\0', name)
      if (end < 0 || (bits & 0x3000) !== 0) throw invalidIndex()
      const path = text.slice(name, end)
      if (path <= last) throw invalidIndex()
      const mode = modeOf(bytes.readUInt32BE(start + MODE))
      entries.set(path, new IndexEntry(mode, text.slice(start + STAT, flags), start))
      last = path
      // Padded to a multiple of eight bytes, with at least one zero.
      start += (end - start + 8) & ~7
    }
    return new IndexFile(bytes, entries, idLength)
  }

  /** The paths of all folders, without the top. */
  get folders(): Set<string> {
    const folders = new Set<string>()
    for (const path of this.entries.keys())
      for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
        const folder = path.slice(0, at)
        if (folders.has(folder)) break
        folders.add(folder)
      }
    return folders
  }

  /** A copy without the stat data of these entries, so that git reads or writes their files again. */
  withoutStats(which: (entry: IndexEntry, path: string) => boolean): IndexFile {
    const forgotten: number[] = []
    for (const [path, entry] of this.entries) if (which(entry, path)) forgotten.push(entry.start)
    if (forgotten.length === 0) return this
    const bytes = Buffer.from(this.bytes)
    for (const start of forgotten) bytes.fill(0, start, start + MODE).fill(0, start + MODE + 4, start + STAT)
    const end = bytes.length - this.#idLength
    const sum = createHash(this.#idLength === 32 ? 'sha256' : 'sha1').update(bytes.subarray(0, end))
    sum.digest().copy(bytes, end)
    return new IndexFile(bytes, this.entries, this.#idLength)
  }

  /** The cached `ctime` of a file in whole seconds. */
  changedAt({ start }: IndexEntry): number {
    return this.bytes.readUInt32BE(start)
  }

  /** Entries that git has read or written since the index was `old`, or that have no stat data. */
  *changedSince(old: IndexFile | null): Generator<[path: string, entry: IndexEntry], void> {
    for (const [path, entry] of this.entries) {
      const before = old?.entries.get(path)
      const end = entry.start + STAT + this.#idLength
      const isSame =
        before !== undefined &&
        this.changedAt(entry) !== 0 &&
        old?.bytes.compare(this.bytes, entry.start, end, before.start, before.start + end - entry.start) === 0
      if (!isSame) yield [path, entry]
    }
  }

  /**
   * The trees of the index, computed from its entries alone: the tree cache of an index came from objects whose hash git
   * does not check.
   */
  trees(): IndexTree {
    const entries = this.entries.entries()
    let next = entries.next().value
    // In an index, as in a tree, a folder is sorted by its name with a `/`.
    const treeOf = (path: string): IndexTree => {
      const inside: IndexTree[] = []
      let text = ''
      while (next?.[0].startsWith(path) === true) {
        const [file, { mode, id }] = next
        const slash = file.indexOf('/', path.length)
        if (slash >= 0) {
          const tree = treeOf(file.slice(0, slash + 1))
          inside.push(tree)
          text += `40000 ${file.slice(path.length, slash)}\0${Buffer.from(tree.oid, 'hex').toString('latin1')}`
        } else {
          text += `${mode} ${file.slice(path.length)}\0${id}`
          next = entries.next().value
        }
      }
      const bytes = Buffer.from(text, 'latin1')
      return { path, oid: objectId('tree', bytes, 2 * this.#idLength), bytes, inside }
    }
    return treeOf('')
  }
}

/** Caches the text of modes: there are few of them, for many files. */
const modes = new Map<number, string>()

function modeOf(bits: number): string {
  const known = modes.get(bits)
  if (known !== undefined) return known
  const mode = bits.toString(8)
  modes.set(bits, mode)
  return mode
}

function invalidIndex(): Error {
  return new Error('the index of Ralph is gone, or of a version that git does not write for us')
}
