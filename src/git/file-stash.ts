// A folder for files that leave the work tree for a while. It keeps their paths, so that a later run can put back the files of a
// killed one.
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

  /** Moves what is at `from`, if anything, here under `name`, and replaces what was there. */
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
   * Moves what is at `name` back to `to`, and merges folders with those that are there now. `overwrites`: replaces files that are
   * there now. `keepsExisting`: whether an entry that is there now stays as it is, without a merge.
   */
  putBack(
    name: string,
    to: string,
    overwrites: boolean,
    keepsExisting = (_path: string) => false,
  ): Promise<void> {
    return merge(join(this.#folder, name), to, {
      isOver: overwrites,
      isWhole: (from) => keepsExisting(relative(this.#folder, from)),
    })
  }

  remove(): void {
    removeSync(this.#folder)
    try {
      rmdirSync(fsPath(dirname(this.#folder)))
    } catch {
      // Not there, or others have something in it.
    }
  }
}

type MergeOptions = { isOver: boolean; isWhole(from: string): boolean }

async function merge(from: string, to: string, how: MergeOptions): Promise<void> {
  const isTaken = exists(to)
  if (!exists(from) || (isTaken && how.isWhole(from))) return
  if (isFolderSync(from) && isFolderSync(to)) {
    for (const name of await namesIn(from)) await merge(join(from, name), join(to, name), how)
    return
  }
  if (isTaken && !how.isOver) return
  removeSync(to)
  await mkdir(fsPath(dirname(to)), { recursive: true })
  await move(from, to)
}

export function exists(path: string): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined
}

/** Opens closed folders if needed, and copies to another file system. */
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
