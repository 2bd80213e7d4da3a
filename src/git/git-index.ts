// Ralph's own index: which tree it holds, and its entries. Only git reads and writes the file.
import { join } from 'node:path'
import { removeSync } from '../system/files.ts'
import { type CatFile, GITLINK } from './cat-file.ts'
import type { Git } from './git.ts'
import { GitError } from './git-process.ts'
import { changesBetween, filesOf } from './trees.ts'

/**
 * `paths`: those of all entries. `folders`: paths of all folders, without the top. `gitlinks`: paths of submodules. `attributes`: of
 * `.gitattributes` files.
 */
export type IndexListing = {
  paths: readonly string[]
  folders: ReadonlySet<string>
  gitlinks: ReadonlySet<string>
  attributes: ReadonlySet<string>
}

export class GitIndex {
  readonly #git: Git
  /** Null for a repository whose objects are not read in this process. */
  readonly #objects: CatFile | null
  #isOpen = false
  /** The tree of the index; null if it is not known. */
  #tree: string | null = null
  #listing: IndexListing | null = null
  /** Whether the entries may have changed since they were listed. */
  #isListingOld = false

  constructor(git: Git, objects: CatFile | null = null) {
    this.#git = git
    this.#objects = objects
  }

  /** Makes the index from `tree` at the first call. An earlier job's index may have been written by an agent. */
  async open(tree: string): Promise<void> {
    if (this.#isOpen) return
    this.clear()
    await this.fill(tree)
    // Before any agent runs, so that git will read every file that is written later.
    await this.#git.refreshIndex()
    this.#isOpen = true
  }

  /** Runs `act`, which reads the index. Does so once more with an index made from `tree` if the file is damaged, as by a crash. */
  async read<T>(tree: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      this.clear()
      await this.fill(tree)
      return act()
    }
  }

  /** Sets the index to a tree, and keeps the stat data of unchanged files. */
  async fill(tree: string): Promise<void> {
    if (this.#tree === tree) return
    await this.#set(tree, 'index')
  }

  /** Checks out a tree, and overwrites what differs. */
  async checkOut(tree: string): Promise<void> {
    await this.#set(tree, 'index and files')
  }

  async #set(tree: string, how: 'index' | 'index and files'): Promise<void> {
    this.#tree = null
    this.#git.unlock()
    await this.#git.readTree(tree, how)
    this.#tree = tree
    this.#listing = null
    this.#isListingOld = false
  }

  /** Call it after a command that may have changed the entries: the known tree is forgotten. */
  changed(): void {
    this.#tree = null
    this.#isListingOld = true
  }

  /** The tree of the index. */
  async tree(): Promise<string> {
    this.#tree ??= (await this.#git.run(['write-tree'])).stdout.trim()
    return this.#tree
  }

  /** Removes the file, so that git reads or writes every file again. */
  clear(): void {
    this.#tree = null
    removeSync(join(this.#git.own, 'index'))
  }

  /** The entries when a tree was last read into the index; `now`: with those that were added since. */
  async listing(when: 'tree' | 'now' = 'tree'): Promise<IndexListing> {
    if (this.#listing === null || (when === 'now' && this.#isListingOld)) this.#listing = await this.#list()
    if (when === 'now') this.#isListingOld = false
    return this.#listing
  }

  async #list(): Promise<IndexListing> {
    if (this.#objects !== null && this.#tree !== null)
      return listingOf(await filesOf(this.#objects, this.#tree))
    const entries = await this.#git.indexEntries()
    return listingOf(
      entries.map((entry) => ({
        mode: entry.slice(0, entry.indexOf(' ')),
        path: entry.slice(entry.indexOf('\t') + 1),
      })),
    )
  }

  /** Paths that differ between the index and a tree. */
  async pathsUnlike(tree: string): Promise<string[]> {
    if (this.#objects === null || this.#tree === null) return this.#git.indexDiff(tree)
    return (await changesBetween(this.#objects, this.#tree, tree)).map(({ path }) => path)
  }
}

function listingOf(entries: readonly { mode: string; path: string }[]): IndexListing {
  const [folders, gitlinks, attributes] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const paths: string[] = []
  for (const { mode, path } of entries) {
    paths.push(path)
    if (mode === GITLINK) gitlinks.add(path)
    if (isAttributesFile(path)) attributes.add(path)
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  return { paths, folders, gitlinks, attributes }
}

/** Whether the file controls what git stores and checks out. */
export function isAttributesFile(path: string): boolean {
  return /(?:^|\/)\.gitattributes$/i.test(path)
}
