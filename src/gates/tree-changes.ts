// Finds gates that write to files of the commit while others run alongside them, whose results are then unreliable.
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { fsPath } from '../system/path-text.ts'

/** With more files, checking them takes longer than running gates side by side saves. */
const MAX_FILES = 50_000

export class TreeChanges {
  readonly #top: string
  readonly #paths: readonly string[]
  #stamps: readonly string[]
  /** Running gates, each with the gates that have run alongside it. */
  readonly #running = new Map<string, Set<string>>()
  /** Gates that ran alongside each other while a file changed. */
  readonly together = new Set<string>()

  /** `paths`: the files of the commit that is checked out at `top`. */
  constructor(top: string, paths: readonly string[]) {
    this.#top = top
    this.#paths = paths.length > MAX_FILES ? [] : paths
    this.#stamps = this.#look()
  }

  begins(name: string): void {
    for (const beside of this.#running.values()) beside.add(name)
    this.#running.set(name, new Set(this.#running.keys()))
  }

  ends(name: string): void {
    const beside = this.#running.get(name) ?? new Set()
    this.#running.delete(name)
    const before = this.#stamps
    this.#stamps = this.#look()
    const isChanged = this.#stamps.some((stamp, at) => stamp !== before[at])
    if (isChanged && beside.size > 0) for (const one of [name, ...beside]) this.together.add(one)
  }

  /** Size, time and inode of each file: a gate that writes the same bytes again has written as well. */
  #look(): string[] {
    return this.#paths.map((path) => {
      try {
        const { size, mtimeMs, ino } = lstatSync(fsPath(join(this.#top, path)))
        return `${size} ${mtimeMs} ${ino}`
      } catch {
        return ''
      }
    })
  }
}

/** The remark on a gate that runs alone from now on. */
export function formatRunAlone(name: string, together: ReadonlySet<string>): string {
  const others = [...together].filter((one) => one !== name).join(', ')
  return `committed files changed while this gate ran at the same time as ${others}, so from now on each of them runs by itself`
}
