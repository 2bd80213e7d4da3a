// Ignored files by who made them: what was there before anything ran and what `prepare` made is for all; what a session made is kept
// from the gates, and what gates made from the sessions. No commit holds any of it, so no gate may be green by it.
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import type { IgnoredWork } from '../model/ports.ts'
import { insideTree } from '../system/files.ts'
import { fsPath, pathText } from '../system/path-text.ts'
import { Aside } from './aside.ts'

/** By path, as git has it; null for a folder. */
type Stamps = ReadonlyMap<string, Stats | null>
type Place = 'session' | 'gates' | 'changed'
type Seen = { stamps: Stamps; entries: readonly string[] }

/** A look at more files than these would take longer than what it finds is worth: they stay where they are. */
const MOST_FILES = 300_000

export class IgnoredFiles {
  readonly #top: string
  readonly #list: () => Promise<string[]>
  readonly #asides: Record<Place, Aside>
  /** What is for all; null where nobody looked, or there is too much of it. */
  #shared: Seen | null = null
  #madeByGates: readonly string[] = []

  /** `list`: the ignored files of the tree at `top`, as git says them; folders that hold nothing else end in `/`. */
  constructor(top: string, gitDir: string, list: () => Promise<string[]>) {
    this.#top = top
    this.#list = list
    const aside = (name: Place) => new Aside(gitDir, name)
    this.#asides = { session: aside('session'), gates: aside('gates'), changed: aside('changed') }
  }

  /** Before anything runs. What a killed run had put aside comes back first. */
  async remember(): Promise<void> {
    if (this.#shared !== null) return
    await this.reunite()
    this.#shared = await this.#look()
  }

  /** `prepare` has run. What it did not make again stays as the session left it. */
  async prepared(): Promise<void> {
    if (this.#shared === null) return
    await this.#putBack('changed')
    const seen = await this.#look()
    if (seen === null) return
    const isShared = (path: string) => !this.#madeByGates.some((one) => isWithin(one, path))
    this.#shared = {
      stamps: new Map([...seen.stamps].filter(([path]) => isShared(path))),
      entries: seen.entries.filter(isShared),
    }
  }

  /** The tree for gates. `canPrepare`: what is for all and was changed goes, too, so that `prepare` makes it again. */
  async forGates(canPrepare: boolean): Promise<IgnoredWork> {
    const seen = this.#shared === null ? null : await this.#look()
    if (this.#shared === null || seen === null) return { made: [], changed: [] }
    const { made, touched } = compare(this.#shared.stamps, seen.stamps)
    await this.#take('session', made)
    const changed = this.#shared.entries.filter((entry) => touched.some((path) => isWithin(entry, path)))
    if (canPrepare) await this.#take('changed', changed)
    await this.#putBack('gates')
    return { made, changed }
  }

  /** The tree for sessions, with what earlier ones left. What gates did to files that are for all is no session's doing. */
  async forSession(): Promise<void> {
    const seen = this.#shared === null ? null : await this.#look()
    if (this.#shared === null || seen === null) return
    await this.#takeMadeByGates(seen)
    const stamps = [...this.#shared.stamps].map(
      ([path, stamp]) => [path, seen.stamps.get(path) ?? stamp] as const,
    )
    this.#shared = { ...this.#shared, stamps: new Map(stamps) }
    await this.#putBack('changed')
    await this.#putBack('session')
  }

  /** What gates made goes: they run once more as if they never had. */
  async forGatesAgain(): Promise<void> {
    const seen = this.#shared === null ? null : await this.#look()
    if (seen !== null) await this.#takeMadeByGates(seen)
  }

  async #takeMadeByGates({ stamps }: Seen): Promise<void> {
    const { made } = compare(this.#shared?.stamps ?? stamps, stamps)
    this.#madeByGates = [...this.#madeByGates, ...made]
    await this.#take('gates', made)
  }

  shared(): readonly string[] {
    return this.#shared?.entries ?? []
  }

  /** All in one tree again. */
  async reunite(): Promise<void> {
    for (const name of ['changed', 'session', 'gates'] as const) await this.#putBack(name)
    this.#madeByGates = []
  }

  async #take(name: Place, paths: readonly string[]): Promise<void> {
    for (const path of paths) await this.#asides[name].take(await insideTree(this.#top, path), path)
  }

  /** What came in its place stays. */
  async #putBack(name: Place): Promise<void> {
    const aside = this.#asides[name]
    await aside.putBack('', this.#top, false)
    aside.remove()
  }

  async #look(): Promise<Seen | null> {
    const entries = await this.#list()
    const stamps = new Map<string, Stats | null>()
    for (const entry of entries) if (!lookAt(this.#top, entry.replace(/\/$/, ''), stamps)) return null
    return { stamps, entries }
  }
}

/** Adds what is at the path and below it, folders before what is in them. False where there is too much of it. */
function lookAt(top: string, path: string, stamps: Map<string, Stats | null>): boolean {
  const stamp = lstatSync(fsPath(join(top, path)), { throwIfNoEntry: false })
  if (stamp === undefined) return true
  if (!stamp.isDirectory()) {
    stamps.set(path, stamp)
    return stamps.size <= MOST_FILES
  }
  stamps.set(path, null)
  return namesOf(join(top, path)).every((name) => lookAt(top, `${path}/${name}`, stamps))
}

function namesOf(folder: string): string[] {
  try {
    return readdirSync(fsPath(folder), { encoding: 'buffer' }).map(pathText)
  } catch {
    // Closed to us: what is in it is seen by nobody.
    return []
  }
}

/** `made`: what is new, without what is in a new folder. `touched`: files that are other files now, or gone. */
function compare(before: Stamps, now: Stamps): { made: string[]; touched: string[] } {
  const made: string[] = []
  for (const path of now.keys())
    if (!before.has(path) && !isWithin(made.at(-1) ?? '\0', path)) made.push(path)
  const touched = [...before].flatMap(([path, stamp]) =>
    stamp !== null && !isSame(stamp, now.get(path) ?? null) ? [path] : [],
  )
  return { made, touched }
}

/** A new owner is a new inode time, and no change. */
function isSame(one: Stats, other: Stats | null): boolean {
  if (other === null || one.ino !== other.ino || one.size !== other.size || one.mtimeMs !== other.mtimeMs)
    return false
  return one.ctimeMs === other.ctimeMs || one.uid !== other.uid
}

function isWithin(entry: string, path: string): boolean {
  const at = entry.replace(/\/$/, '')
  return path.replace(/\/$/, '') === at || path.startsWith(`${at}/`)
}
