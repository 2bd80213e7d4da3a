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
  readFileSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { LONGEST_PATH } from '../system/files.ts'
import { type IndexTable, indexEntry, modeOf, RULES_FILE } from './index-file.ts'
import { objectHash, objectId } from './objects.ts'
import type { Rules } from './rules.ts'

/** A file as it stands, with its entry for an index. */
export type Found = { path: string; mode: string; oid: string; bytes: Buffer; entry: Buffer }

/**
 * What differs from an index (paths in latin1; null: it is gone), and what does not although somebody wrote to it.
 */
export type Differences = { changed: Map<string, Found | null>; refreshed: Map<string, Buffer> }

export type ScanOptions = {
  top: string
  table: IndexTable
  rules: Rules
  /** Of a file that was written to since, the times may not tell: epoch seconds. */
  youngSince: number
  idLength: number
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
  const { ignored, ask } = options
  const scanner = new Scanner(options)
  try {
    scanner.lookAtRules()
    scanner.walk('')
    for (let asked = scanner.takeUnsure(); asked.length > 0; asked = scanner.takeUnsure()) {
      const answer = await ask(asked)
      for (const path of asked) {
        if (answer.has(path)) ignored.add(path)
        else scanner.take(path)
      }
    }
    return scanner.end()
  } catch (error) {
    if (error instanceof Uncertain || (error instanceof Error && 'syscall' in error)) return null
    throw error
  }
}

class Scanner {
  readonly #options: ScanOptions
  readonly #changed = new Map<string, Found | null>()
  readonly #refreshed = new Map<string, Buffer>()
  readonly #seen = new Set<string>()
  #unsure: string[] = []
  #held = 0

  constructor(options: ScanOptions) {
    this.#options = options
  }

  /** First: what is ignored or converted is known by those that are committed alone. */
  lookAtRules(): void {
    for (const path of this.#options.table.ruleFiles) {
      this.#compare(path)
      if (this.#changed.has(path) || !this.#seen.has(path)) throw new Uncertain()
    }
  }

  /** `folder` ends in `/`, or is the top: ''. */
  walk(folder: string): void {
    const { table } = this.#options
    if (folder.length > LONGEST_PATH || this.#changed.size > MOST_CHANGED) throw new Uncertain()
    for (const entry of this.#entriesIn(folder)) {
      const path = `${folder}${entry.name}`
      if (path === '.git') continue
      if (/^\.git$/i.test(entry.name)) throw new Uncertain()
      if (entry.isDirectory() && table.hasFolder(path)) this.walk(`${path}/`)
      else if (!entry.isDirectory() && table.has(path)) this.#compare(path)
      else if (entry.isDirectory() || entry.isFile() || entry.isSymbolicLink()) this.#meet(entry, path)
    }
  }

  /** A path that is not ignored. */
  take(path: string): void {
    if (path.endsWith('/')) this.walk(path)
    else this.#changed.set(path, this.#read(path))
  }

  takeUnsure(): string[] {
    const unsure = this.#unsure
    this.#unsure = []
    return unsure
  }

  end(): Differences {
    const { table } = this.#options
    if (this.#seen.size < table.size)
      for (const path of table.paths()) if (!this.#seen.has(path)) this.#changed.set(path, null)
    return { changed: this.#changed, refreshed: this.#refreshed }
  }

  /** Something that is not tracked. */
  #meet(entry: Dirent, path: string): void {
    const { rules, ignored } = this.#options
    const named = entry.isDirectory() ? `${path}/` : path
    if (ignored.has(named)) return
    if (RULES_FILE.test(path) || !PLAIN_NAME.test(entry.name)) throw new Uncertain()
    if (rules.mayIgnore(path)) this.#unsure.push(named)
    else this.take(named)
  }

  #compare(path: string): void {
    if (this.#seen.has(path)) return
    const { table, youngSince, rules } = this.#options
    const file = this.#place(path)
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found === undefined) return
    if (modeOf(found) === 0) throw new Uncertain()
    this.#seen.add(path)
    if (table.isUnchanged(path, found, youngSince)) return
    // Young, and the same: of a large file nothing is held.
    const isLarge = found.size > LARGE && !rules.convertsLineEnds
    const isYoung = isLarge && table.isUnchanged(path, found, Number.POSITIVE_INFINITY)
    if (isYoung && idOf(file, found.size, table.idLength) === table.entry(path)?.oid) return
    const now = this.#read(path)
    const old = table.entry(path)
    if (now.oid !== old?.oid || now.mode !== old.mode) this.#changed.set(path, now)
    else {
      this.#held -= now.bytes.length
      if (!table.isUnchanged(path, found, Number.POSITIVE_INFINITY)) this.#refreshed.set(path, now.entry)
    }
  }

  #read(path: string): Found {
    const { rules, idLength } = this.#options
    const found = fileAt(this.#place(path), path, idLength)
    this.#held += found.bytes.length
    const mayConvert = rules.convertsLineEnds && found.bytes.includes(0x0d)
    if (this.#held > MOST_BYTES || mayConvert) throw new Uncertain()
    return found
  }

  #entriesIn(folder: string): Dirent[] {
    const place = this.#place(folder)
    // A folder that its owner has closed, whatever we may do.
    if ((lstatSync(place).mode & 0o500) !== 0o500) throw new Uncertain()
    return readdirSync(place, { withFileTypes: true, encoding: 'latin1' })
  }

  #place(path: string): string | Buffer {
    const { top } = this.#options
    if (/^[\0-\x7f]*$/.test(path)) return `${top}/${path}`
    return Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')])
  }
}

const PIECE = Buffer.alloc(LARGE)

/** What git calls a file of that size, or null where it is none, or has another. */
function idOf(file: string | Buffer, size: number, idLength: number): string | null {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!fstatSync(handle).isFile()) return null
    const hash = objectHash('blob', size, 2 * idLength)
    let left = size
    for (let count = readSync(handle, PIECE); count > 0; count = readSync(handle, PIECE)) {
      hash.update(PIECE.subarray(0, count))
      left -= count
    }
    return left === 0 ? hash.digest('hex') : null
  } finally {
    closeSync(handle)
  }
}

/** A file as git would store it at `path` (latin1). */
export function fileAt(file: string | Buffer, path: string, idLength: number): Found {
  const { stat, bytes } = contentOf(file)
  const mode = modeOf(stat).toString(8)
  const oid = objectId('blob', bytes, 2 * idLength)
  return { path, mode, oid, bytes, entry: indexEntry(path, mode, oid, stat) }
}

/** The bytes that git stores of a file or a link, and what it was before they were read. */
function contentOf(file: string | Buffer): { stat: BigIntStats; bytes: Buffer } {
  const stat = lstatSync(file, { bigint: true })
  if (stat.isSymbolicLink()) return { stat, bytes: readlinkSync(file, { encoding: 'buffer' }) }
  const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const opened = fstatSync(handle, { bigint: true })
    if (!opened.isFile() || (opened.mode & 0o400n) === 0n || opened.size > LARGEST) throw new Uncertain()
    return { stat: opened, bytes: readFileSync(handle) }
  } finally {
    closeSync(handle)
  }
}
