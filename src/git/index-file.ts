// Git's index as a file (`git help format-index`), read: what it holds, and what git remembers of each file.
import { createHash } from 'node:crypto'
import { GITLINK, TREE } from './cat-file.ts'
import { type NewEntry, objectId, treeBytes } from './objects.ts'

/** `start`: where among the bytes git's memory of the file begins, and behind it mode and id. */
export type IndexEntry = { mode: string; oid: string; start: number }

/** A folder of an index as a tree object; its path ends in `/`, and is empty for the top. */
export type IndexTree = { path: string; oid: string; bytes: Buffer; inside: readonly IndexTree[] }

const HEADER = 12
/** Of an entry: two times, device and inode; then the mode; then owner, group and size; then the id. */
const MODE = 24
const STAT = 40

/** Never changed once it is made. Paths are bytes (latin1), in git's order. */
export class IndexFile {
  readonly bytes: Buffer
  readonly entries: ReadonlyMap<string, IndexEntry>
  /** The paths of submodules. */
  readonly gitlinks: ReadonlySet<string>
  /** Of an object id, in bytes. */
  readonly #idLength: number

  private constructor(bytes: Buffer, entries: ReadonlyMap<string, IndexEntry>, idLength: number) {
    this.bytes = bytes
    this.entries = entries
    this.#idLength = idLength
    const gitlinks = new Set<string>()
    for (const [path, { mode }] of entries) if (mode === GITLINK) gitlinks.add(path)
    this.gitlinks = gitlinks
  }

  /** Throws where git would not have written it for us: cut off, of another version, in the middle of a merge. */
  static of(bytes: Buffer | null, idLength: number): IndexFile {
    if (bytes?.toString('latin1', 0, 4) !== 'DIRC' || ![2, 3].includes(bytes.readUInt32BE(4))) throw notOurs()
    const entries = new Map<string, IndexEntry>()
    let start = HEADER
    for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
      const flags = start + STAT + idLength
      const bits = bytes.readUInt16BE(flags)
      const name = flags + (bits & 0x4000 ? 4 : 2)
      const end = bytes.indexOf(0, name)
      if (end < 0 || (bits & 0x3000) !== 0) throw notOurs()
      const mode = bytes.readUInt32BE(start + MODE).toString(8)
      const oid = bytes.toString('hex', start + STAT, flags)
      entries.set(bytes.toString('latin1', name, end), { mode, oid, start })
      // Filled up to eight bytes, with one zero at least.
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

  /** The same, but git remembers nothing of these files: it reads or writes them again. */
  forgetting(which: (entry: IndexEntry, path: string) => boolean): IndexFile {
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

  /** When a file changed last as git saw it, its `ctime` in whole seconds. */
  changedAt({ start }: IndexEntry): number {
    return this.bytes.readUInt32BE(start)
  }

  /** What git has looked at or written since the index was `old`, or remembers nothing of. */
  *notedSince(old: IndexFile | null): Generator<[path: string, entry: IndexEntry], void> {
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
   * The trees that it stands for, by its entries alone: what an index remembers of folders came from objects that git
   * reads without a look at their hash.
   */
  trees(): IndexTree {
    const folders = new Map<string, { entries: NewEntry[]; inside: string[] }>([
      ['', { entries: [], inside: [] }],
    ])
    const folderAt = (path: string): { entries: NewEntry[]; inside: string[] } => {
      const known = folders.get(path)
      if (known !== undefined) return known
      const folder = { entries: [], inside: [] }
      folders.set(path, folder)
      folderAt(above(path)).inside.push(path)
      return folder
    }
    for (const [path, { mode, oid }] of this.entries)
      folderAt(above(path)).entries.push({ name: path.slice(above(path).length), mode, oid })
    const treeOf = (path: string): IndexTree => {
      const { entries, inside } = folderAt(path)
      const trees = inside.map(treeOf)
      const names = trees.map(({ path: inner, oid }) => ({
        name: inner.slice(path.length, -1),
        mode: TREE,
        oid,
      }))
      const bytes = treeBytes([...names, ...entries])
      return { path, oid: objectId('tree', bytes, 2 * this.#idLength), bytes, inside: trees }
    }
    return treeOf('')
  }
}

/** The folder that holds a file or a folder (which ends in `/`). */
function above(path: string): string {
  return path.slice(0, path.lastIndexOf('/', path.length - 2) + 1)
}

function notOurs(): Error {
  return new Error('the index of Ralph is gone, or of a version that git does not write for us')
}
