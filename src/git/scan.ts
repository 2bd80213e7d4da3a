// Looks at the work tree in process, as `git add` would: what is not certain is left to git.
import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs'
import { LONGEST_PATH } from '../system/files.ts'
import {
  type IndexEntry,
  type IndexFolder,
  type IndexTable,
  indexEntry,
  modeOf,
  RULES_FILE,
} from './index-file.ts'
import { lastOf, ObjectProof, objectId } from './objects.ts'
import type { Rules } from './rules.ts'

/** A file as it stands, with its entry for an index. */
export type Found = { path: string; mode: string; oid: string; bytes: Buffer; entry: Buffer }

/**
 * What differs from an index (paths in latin1; null: it is gone), and entries that take the place of those that tell nothing:
 * of what does not differ although somebody wrote to it, and of what does although its times say that nobody did.
 */
export type Differences = { changed: Map<string, Found | null>; refreshed: Map<IndexEntry, Buffer> }

export type ScanOptions = {
  top: string
  table: IndexTable
  rules: Rules
  /** Of a file that was written to since, the times may not tell: epoch seconds. */
  youngSince: number
  /** What is written to from here on may be written to again at the same time: epoch seconds. */
  youngFrom: number
  /** What is known to be ignored; folders end in `/`. More is added. */
  ignored: Set<string>
  /** Asks git which of these are ignored. */
  ask(paths: readonly string[]): Promise<Set<string>>
}

/** Longer files, and more bytes than these, git reads in pieces. */
const LARGEST = 32 * 1024 * 1024
const MOST_BYTES = 128 * 1024 * 1024
/** Larger files are compared in pieces. */
const LARGE = 256 * 1024
/** More changes than these, nobody holds in memory to refuse them. */
const MOST_CHANGED = 100_000

/** Names that git stores on every system, as they are. */
const PLAIN_NAME = /^(?!\.git[. ]*$|\.gitmodules$)[\w.@+,=%#()[\]{} -]+$/i

class Uncertain extends Error {}

/** Null where it is not certain that git would see the same. */
export async function scan(options: ScanOptions): Promise<Differences | null> {
  const { ignored, ask, table } = options
  const scanner = new Scanner(options)
  try {
    scanner.lookAtRules()
    scanner.walk('', table.top)
    for (let asked = scanner.takeUnsure(); asked.length > 0; asked = scanner.takeUnsure()) {
      const answer = await ask(asked)
      for (const path of asked) {
        if (answer.has(path)) ignored.add(path)
        else scanner.take(path)
      }
    }
    return scanner.differences
  } catch (error) {
    if (error instanceof Uncertain || (error instanceof Error && 'syscall' in error)) return null
    throw error
  }
}

class Scanner {
  readonly differences: Differences = { changed: new Map(), refreshed: new Map() }
  readonly #options: ScanOptions
  #unsure: string[] = []
  #held = 0

  constructor(options: ScanOptions) {
    this.#options = options
  }

  /** First: what is ignored or converted is known by those that are committed alone. */
  lookAtRules(): void {
    const { table } = this.#options
    for (const path of table.ruleFiles) {
      const entry = table.entry(path)
      if (entry !== null) this.#compare(entry)
      if (this.differences.changed.has(path)) throw new Uncertain()
    }
  }

  /** `path` ends in `/`, or is the top: ''. `folder` has what the index knows in it. */
  walk(path: string, folder: IndexFolder | null): void {
    const tooMany = this.differences.changed.size > MOST_CHANGED
    if (path.length > LONGEST_PATH || tooMany) throw new Uncertain()
    const place = this.#place(path)
    const found = lstatSync(place)
    // A folder that its owner has closed, whatever we may do.
    if (!found.isDirectory() || (found.mode & 0o500) !== 0o500) throw new Uncertain()
    if (folder === null) this.#list(path, place, folder)
    else if (folder.seen !== null && isSameFolder(folder.seen, found)) this.#lookInto(folder)
    else {
      const isKnown = this.#list(path, place, folder)
      folder.seen = isKnown && found.ctimeMs < 1000 * this.#options.youngFrom ? found : null
    }
  }

  /** A path that is not ignored. */
  take(path: string): void {
    if (path.endsWith('/')) {
      this.walk(path, null)
      return
    }
    const found = this.#read(path)
    if (found !== null) this.differences.changed.set(path, found)
  }

  takeUnsure(): string[] {
    const unsure = this.#unsure
    this.#unsure = []
    return unsure
  }

  /** Nothing was put into it or taken away since it was listed: what is in it is still to be looked at. */
  #lookInto(folder: IndexFolder): void {
    for (const entry of folder.files.values()) this.#compare(entry)
    for (const inner of folder.folders.values()) this.walk(inner.path, inner)
  }

  /** Whether it holds what the index knows, and what is known to be ignored, and nothing else. */
  #list(path: string, place: string | Buffer, folder: IndexFolder | null): boolean {
    const files = new Map(folder?.files)
    const folders = new Map(folder?.folders)
    let isKnown = true
    for (const entry of readdirSync(place, { withFileTypes: true, encoding: 'latin1' })) {
      const { name } = entry
      if (path === '' && name === '.git') continue
      if (/^\.git$/i.test(name)) throw new Uncertain()
      const isFolder = entry.isDirectory()
      const file = isFolder ? undefined : files.get(name)
      const inner = isFolder ? folders.get(name) : undefined
      if (file !== undefined) {
        files.delete(name)
        this.#compare(file)
      } else if (inner !== undefined) {
        folders.delete(name)
        this.walk(inner.path, inner)
      } else if (isFolder || entry.isFile() || entry.isSymbolicLink()) {
        isKnown = this.#meet(entry, `${path}${name}`) && isKnown
      }
    }
    for (const entry of files.values()) this.differences.changed.set(entry.path, null)
    for (const inner of folders.values()) this.#miss(inner)
    return isKnown && files.size + folders.size === 0
  }

  #miss(folder: IndexFolder): void {
    for (const { path } of folder.files.values()) this.differences.changed.set(path, null)
    for (const inner of folder.folders.values()) this.#miss(inner)
  }

  /** Something that is not tracked. Whether it is known to be ignored. */
  #meet(entry: Dirent, path: string): boolean {
    const { rules, ignored } = this.#options
    const named = entry.isDirectory() ? `${path}/` : path
    if (ignored.has(named)) return true
    if (RULES_FILE.test(path) || !PLAIN_NAME.test(entry.name)) throw new Uncertain()
    if (rules.mayIgnore(path)) this.#unsure.push(named)
    else this.take(named)
    return false
  }

  #compare(entry: IndexEntry): void {
    const { table, youngSince, rules } = this.#options
    const { changed, refreshed } = this.differences
    const { path } = entry
    entry.file ??= this.#place(path)
    const { file } = entry
    let isStill = false
    // Of what nobody has seen yet, the times tell nothing.
    if (table.isSeen(entry)) {
      const found = lstatSync(file, MAY_BE_GONE)
      if (found === undefined) {
        changed.set(path, null)
        return
      }
      if (table.isUnchanged(entry, found, youngSince)) return
      if (modeOf(found) === 0) throw new Uncertain()
      isStill = table.isUnchanged(entry, found, Number.POSITIVE_INFINITY)
      // Young, and the same: of a large file nothing is held.
      const isLarge = found.size > LARGE && !rules.convertsLineEnds
      const old = table.storedAt(entry)
      if (isLarge && isStill && isObject(file, found.size, old.oid)) return
    }
    const now = this.#read(path, file)
    const old = table.storedAt(entry)
    if (now === null) changed.set(path, null)
    else if (now.oid !== old.oid || now.mode !== old.mode) {
      changed.set(path, now)
      // Whoever looks later, git among them, has only the times.
      if (isStill) refreshed.set(entry, indexEntry(path, old.mode, old.oid, null))
    } else {
      this.#held -= now.bytes.length
      if (!isStill) refreshed.set(entry, now.entry)
    }
  }

  /** Null where it is gone. */
  #read(path: string, file = this.#place(path)): Found | null {
    const { rules, table } = this.#options
    const found = fileAt(file, path, table.idLength)
    if (found === null) return null
    this.#held += found.bytes.length
    const mayConvert = rules.convertsLineEnds && found.bytes.includes(0x0d)
    if (this.#held > MOST_BYTES || mayConvert) throw new Uncertain()
    return found
  }

  #place(path: string): string | Buffer {
    const { top } = this.#options
    if (/^[\0-\x7f]*$/.test(path)) return `${top}/${path}`
    return Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')])
  }
}

const MAY_BE_GONE = { throwIfNoEntry: false } as const

/** By the time of change, which no program can choose. */
function isSameFolder(one: Stats, other: Stats): boolean {
  const isSameTime = one.ctimeMs === other.ctimeMs && one.mtimeMs === other.mtimeMs
  return isSameTime && one.ino === other.ino && one.dev === other.dev
}

const PIECE = Buffer.alloc(LARGE)

/** Whether a file of that size holds an object's bytes. */
function isObject(file: string | Buffer, size: number, oid: string): boolean {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!fstatSync(handle).isFile()) return false
    const proof = new ObjectProof(oid, 'blob', size)
    for (let count = readSync(handle, PIECE); count > 0; count = readSync(handle, PIECE)) {
      proof.update(PIECE.subarray(0, count))
    }
    return proof.holds()
  } finally {
    closeSync(handle)
  }
}

/** A file as git would store it at `path` (latin1); null where there is none. */
export function fileAt(file: string | Buffer, path: string, idLength: number): Found | null {
  const content = contentOf(file)
  if (content === null) return null
  const { stat, bytes } = content
  const mode = modeOf(stat).toString(8)
  const oid = objectId('blob', bytes, 2 * idLength)
  return { path, mode, oid, bytes, entry: indexEntry(path, mode, oid, stat) }
}

/** The bytes that git stores of a file or a link, and what it was before they were read. */
function contentOf(file: string | Buffer): { stat: BigIntStats; bytes: Buffer } | null {
  const handle = openedOrLink(file)
  if (typeof handle !== 'number') return handle
  try {
    const stat = fstatSync(handle, { bigint: true })
    if (!stat.isFile() || (stat.mode & 0o400n) === 0n || stat.size > LARGEST) throw new Uncertain()
    const last = lastOf(Number(stat.size))
    if (last !== null && isStill(handle, last)) return { stat, bytes: last }
    const bytes = Buffer.allocUnsafe(Number(stat.size))
    // Somebody is writing to it.
    if (readSync(handle, bytes, { position: 0 }) !== bytes.length) throw new Uncertain()
    return { stat, bytes }
  } finally {
    closeSync(handle)
  }
}

function isStill(handle: number, bytes: Buffer): boolean {
  let at = 0
  for (let count = -1; count !== 0; at += count) {
    count = readSync(handle, PIECE, { position: at })
    if (!PIECE.subarray(0, count).equals(bytes.subarray(at, at + count))) return false
  }
  return at === bytes.length
}

function openedOrLink(file: string | Buffer): number | { stat: BigIntStats; bytes: Buffer } | null {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return null
    if (!stat.isSymbolicLink()) throw error
    return { stat, bytes: readlinkSync(file, { encoding: 'buffer' }) }
  }
}
