// A folder of Ralph's own for files that have to leave the work tree for a while. They lie there in the order of the tree, so that
// a run that comes after a killed one puts them back.
import { lstatSync, rmdirSync } from 'node:fs'
import { cp, mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { clearWay, isFolderNow, namesIn, openUp, removeNow } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'

export class Aside {
  readonly #gitDir: string
  readonly #folder: string

  constructor(gitDir: string, name: string) {
    this.#gitDir = gitDir
    this.#folder = join(gitDir, 'ralph', 'aside', name)
  }

  /** Takes what is at `from`, which nothing need be, in under `name`; what lay there goes. */
  async take(from: string | null, name: string): Promise<void> {
    if (from === null || !exists(from)) return
    const to = join(this.#folder, name.replace(/\/$/, ''))
    await clearWay(this.#gitDir, to)
    removeNow(to)
    await moved(from, to)
  }

  /** Names in it, of files and folders. */
  async names(): Promise<string[]> {
    return isFolderNow(this.#folder) ? namesIn(this.#folder) : []
  }

  has(path: string): boolean {
    return exists(join(this.#folder, path))
  }

  /** Puts what is at `name` back to `to`, folders together with what came there; `isOver`: in the place of files that did. */
  putBack(name: string, to: string, isOver: boolean): Promise<void> {
    return merge(join(this.#folder, name), to, isOver)
  }

  remove(): void {
    removeNow(this.#folder)
    try {
      rmdirSync(fsPath(dirname(this.#folder)))
    } catch {
      // Not there, or others have something in it.
    }
  }
}

async function merge(from: string, to: string, isOver: boolean): Promise<void> {
  if (!exists(from)) return
  if (isFolderNow(from) && isFolderNow(to)) {
    for (const name of await namesIn(from)) await merge(join(from, name), join(to, name), isOver)
    return
  }
  if (exists(to) && !isOver) return
  removeNow(to)
  await mkdir(fsPath(dirname(to)), { recursive: true })
  await moved(from, to)
}

function exists(path: string): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined
}

/** A folder that is closed is opened; another file system gets a copy. */
async function moved(from: string, to: string): Promise<void> {
  const places = [fsPath(from), fsPath(to)] as const
  await rename(...places).catch(async () => {
    await openUp(from)
    await rename(...places).catch(async () => {
      await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
      removeNow(from)
    })
  })
}
