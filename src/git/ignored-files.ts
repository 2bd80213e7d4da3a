// Separates ignored files by what made them. Sessions and gates share the files from before the run and from `prepare`. Files of
// sessions are hidden from gates: they are not in the commit, so no gate may be green because of them. Files of gates are hidden
// from sessions, and files of earlier sessions from a story's candidates.
import { chmodSync, lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import type { IgnoredWork } from '../engine/model/ports.ts'
import { isTooLong, namesInSync, resolveInTree } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'
import { FileStash } from './file-stash.ts'

/** File stats by git's path; null for a folder. */
type Stamps = ReadonlyMap<string, Stats | null>
type StashName = 'session' | 'gates' | 'changed' | 'earlier'
type IgnoredListing = { stamps: Stamps; entries: readonly string[] }

export class IgnoredFiles {
  readonly #top: string
  readonly #list: () => Promise<string[]>
  readonly #maxPaths: number
  readonly #stashes: Record<StashName, FileStash>
  #isRemembered = false
  /** The shared files; null if they are not known yet, or too many. */
  #shared: IgnoredListing | null = null
  #fromBefore: readonly string[] = []
  readonly #madeByGates = new Set<string>()

  /**
   * `own`: a folder of Ralph on the same file system. `list`: the ignored files of the tree at `top` as git lists them. A folder of
   * only ignored files is one entry that ends in `/`. More than `maxPaths` files are not separated, since reading their stats would
   * take too long.
   */
  constructor(top: string, own: string, list: () => Promise<string[]>, maxPaths = 300_000) {
    this.#top = top
    this.#maxPaths = maxPaths
    this.#list = list
    const stash = (name: StashName) => new FileStash(own, name)
    this.#stashes = {
      session: stash('session'),
      gates: stash('gates'),
      changed: stash('changed'),
      earlier: stash('earlier'),
    }
  }

  /** Notes the shared files. Call it before any session or gate runs. First restores the files of a killed run. */
  async remember(): Promise<void> {
    if (this.#isRemembered) return
    this.#isRemembered = true
    await this.#restoreOfLastSession()
    this.#shared = await this.#look()
    this.#fromBefore = this.#shared?.entries ?? []
  }

  /** Call it after `prepare`, whose files are shared. Files that it did not make again stay as the session left them. */
  async afterPrepare(): Promise<void> {
    if (this.#shared === null) return
    await this.#putBackChanged()
    const seen = await this.#look()
    if (seen === null) return
    const isShared = (path: string) => !isWithin(this.#madeByGates, path)
    this.#shared = {
      stamps: new Map([...seen.stamps].filter(([path]) => isShared(path))),
      entries: seen.entries.filter(isShared),
    }
  }

  /**
   * Prepares the tree for gates. `canPrepare`: shared files that were changed are removed as well, so that `prepare` makes them again.
   * Null if there are too many files: then gates see all of them.
   */
  async forGates(canPrepare: boolean): Promise<IgnoredWork | null> {
    const seen = this.#shared === null ? null : await this.#look()
    if (this.#shared === null || seen === null) return null
    const { made, touched } = compare(this.#shared.stamps, seen.stamps)
    await this.#take('session', made)
    const changed = this.#shared.entries.filter(isAbove(touched))
    if (canPrepare) await this.#take('changed', changed)
    await this.#putBack('gates')
    return { made, changed }
  }

  /** Prepares the tree for a session, with files of earlier ones. Changes that gates made to shared files are accepted. */
  async forSession(): Promise<void> {
    const seen = this.#shared === null ? null : await this.#look()
    if (this.#shared === null || seen === null) return
    await this.#takeMadeByGates(seen)
    const stamps = [...this.#shared.stamps].map(
      ([path, stamp]) => [path, seen.stamps.get(path) ?? stamp] as const,
    )
    this.#shared = { ...this.#shared, stamps: new Map(stamps) }
    await this.#putBackChanged()
    await this.#putBack('session')
  }

  /** Moves the files of earlier sessions out of the tree, until the run ends. So every candidate of a story begins the same. */
  async forCandidate(): Promise<void> {
    const seen = this.#shared === null ? null : await this.#look()
    if (this.#shared === null || seen === null) return
    const { earlier } = this.#stashes
    for (const path of compare(this.#shared.stamps, seen.stamps).made) {
      const place = await resolveInTree(this.#top, path)
      // Files with other names in the same folder are kept as well: one of them may be a person's.
      if (place !== null) await earlier.putBack(path, place, false)
      await earlier.take(place, path)
    }
  }

  /** Removes the files of gates, so that the gates can run again as at first. */
  async forGatesAgain(): Promise<void> {
    const seen = this.#shared === null ? null : await this.#look()
    if (seen !== null) await this.#takeMadeByGates(seen)
  }

  async #takeMadeByGates({ stamps }: IgnoredListing): Promise<void> {
    const { made } = compare(this.#shared?.stamps ?? stamps, stamps)
    for (const path of made) this.#madeByGates.add(path)
    await this.#take('gates', made)
  }

  fromBefore(): readonly string[] {
    return this.#fromBefore
  }

  /** Puts all files back into the tree. */
  async restoreAll(): Promise<void> {
    await this.#restoreOfLastSession()
    await this.#putBack('earlier')
  }

  async #restoreOfLastSession(): Promise<void> {
    await this.#putBackChanged()
    for (const name of ['session', 'gates'] as const) await this.#putBack(name)
    this.#madeByGates.clear()
  }

  async #take(name: StashName, paths: readonly string[]): Promise<void> {
    for (const path of paths) await this.#stashes[name].take(await resolveInTree(this.#top, path), path)
  }

  /** Puts files back. Files that were created at the same path meanwhile stay. */
  async #putBack(name: StashName): Promise<void> {
    const stash = this.#stashes[name]
    await stash.putBack('', this.#top, false)
    stash.remove()
  }

  /** Puts changed shared files back. What `prepare` has made at the same path stays, and gets no files of a session. */
  async #putBackChanged(): Promise<void> {
    const { changed } = this.#stashes
    if (changed.isEmpty()) return
    const made = new Set((await this.#list()).map(withoutSlash))
    await changed.putBack('', this.#top, false, (path) => made.has(path))
    changed.remove()
  }

  async #look(): Promise<IgnoredListing | null> {
    const entries = await this.#list()
    const stamps = new Map<string, Stats | null>()
    for (const entry of entries) {
      addStamps(this.#top, withoutSlash(entry), stamps, this.#maxPaths)
      if (stamps.size > this.#maxPaths) return null
    }
    return { stamps, entries }
  }
}

/** Adds the path and everything below it, parents first, until there are more than `most`. */
function addStamps(top: string, path: string, stamps: Map<string, Stats | null>, most: number): void {
  // A path that is too long is in a new folder, which is found itself.
  const stamp = isTooLong(path) || stamps.size > most ? undefined : statsOf(join(top, path))
  if (stamp === undefined) return
  stamps.set(path, stamp.isDirectory() ? null : stamp)
  if (stamp.isDirectory())
    for (const name of namesOf(join(top, path))) addStamps(top, `${path}/${name}`, stamps, most)
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(fsPath(path), { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** The names in a folder. Opens one whose permissions a session removed, because code that gates run could do so as well. */
function namesOf(folder: string): string[] {
  try {
    return namesInSync(folder)
  } catch {
    try {
      chmodSync(fsPath(folder), 0o700)
      return namesInSync(folder)
    } catch {
      return []
    }
  }
}

/** `made`: new files and folders, without those in a new folder. `touched`: files that were changed or removed. */
function compare(before: Stamps, now: Stamps): { made: string[]; touched: string[] } {
  const made: string[] = []
  for (const path of now.keys())
    if (!before.has(path) && !path.startsWith(`${made.at(-1) ?? '\0'}/`)) made.push(path)
  const touched = [...before].flatMap(([path, stamp]) =>
    stamp !== null && !isSame(stamp, now.get(path) ?? null) ? [path] : [],
  )
  return { made, touched }
}

/** Whether a file is unchanged. A new owner changes only the ctime. */
function isSame(one: Stats, other: Stats | null): boolean {
  if (other === null || one.ino !== other.ino || one.size !== other.size || one.mtimeMs !== other.mtimeMs)
    return false
  return one.ctimeMs === other.ctimeMs || one.uid !== other.uid
}

/** Whether the path, or a folder above it, is in `paths`. */
function isWithin(paths: ReadonlySet<string>, path: string): boolean {
  for (let at = withoutSlash(path); at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/'))))
    if (paths.has(at)) return true
  return false
}

/** A test whether an entry is one of these paths, or a folder above one. */
function isAbove(paths: readonly string[]): (entry: string) => boolean {
  const holders = new Set<string>()
  for (const path of paths)
    for (let at = path; at !== '' && !holders.has(at); at = at.slice(0, Math.max(0, at.lastIndexOf('/'))))
      holders.add(at)
  return (entry) => holders.has(withoutSlash(entry))
}

function withoutSlash(entry: string): string {
  return entry.replace(/\/$/, '')
}
