// A folder for files that are out of the work tree for a while. It keeps their paths, so that a run can put back what a killed run
// has moved.
import { lstatSync, rmdirSync } from 'node:fs'
import { cp, mkdir, rename } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { clearPathTo, isFolderSync, namesIn, openClosedFolders, removeSync } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'

export class FileStash {
  readonly #own: string
  readonly #folder: string

  constructor(own: string, name: string) {
    this.#own = own
    this.#folder = join(own, 'ralph', 'aside', name)
  }

  /** Moves the file or folder at `from`, if there is one, into the stash as `name`, and replaces an older entry. */
  async take(from: string | null, name: string): Promise<void> {
    if (from === null || !exists(from)) return
    const to = join(this.#folder, name.replace(/\/$/, ''))
    await clearPathTo(this.#own, to)
    removeSync(to)
    await move(from, to)
  }

  /** The names of its entries. */
  async names(): Promise<string[]> {
    return isFolderSync(this.#folder) ? namesIn(this.#folder) : []
  }

  isEmpty(): boolean {
    return !exists(this.#folder)
  }

  /**
   * Moves the entry `name` back to `to`, and merges folders with existing ones. `overwrites`: existing files are replaced.
   * `keepsExisting`: whether an existing file or folder stays unchanged, without a merge.
   */
  putBack(
    name: string,
    to: string,
    overwrites: boolean,
    keepsExisting = (_path: string) => false,
  ): Promise<void> {
    return merge(join(this.#folder, name), to, {
      overwrites: overwrites,
      keepsExisting: (from) => keepsExisting(relative(this.#folder, from)),
    })
  }

  remove(): void {
    removeSync(this.#folder)
    try {
      rmdirSync(fsPath(dirname(this.#folder)))
    } catch {
      // It does not exist, or has other entries.
    }
  }
}

type MergeOptions = { overwrites: boolean; keepsExisting(from: string): boolean }

async function merge(from: string, to: string, how: MergeOptions): Promise<void> {
  const isTaken = exists(to)
  if (!exists(from) || (isTaken && how.keepsExisting(from))) return
  if (isFolderSync(from) && isFolderSync(to)) {
    for (const name of await namesIn(from)) await merge(join(from, name), join(to, name), how)
    return
  }
  if (isTaken && !how.overwrites) return
  removeSync(to)
  await mkdir(fsPath(dirname(to)), { recursive: true })
  await move(from, to)
}

function exists(path: string): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined
}

/** Moves a file or folder. Opens folders without permissions if needed, and copies if the target is on another file system. */
async function move(from: string, to: string): Promise<void> {
  const places = [fsPath(from), fsPath(to)] as const
  await rename(...places).catch(async () => {
    await openClosedFolders(from)
    await rename(...places).catch(async () => {
      await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
      removeSync(from)
    })
  })
}
