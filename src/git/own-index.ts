// Ralph's own index. git writes it. Then Ralph keeps it in memory, safe from other programs, and writes it to the file again for git.
import { lstatSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DamagedClone } from '../system/errors.ts'
import { fileStamp, readRegularFileSync, removeSync } from '../system/files.ts'
import { fsPath, toLatin1 } from '../system/path-text.ts'
import { type CatFile, TREE, type Tree } from './cat-file.ts'
import type { Git, MemoryIndex } from './git.ts'
import { IndexFile, type IndexTree } from './index-file.ts'
import { haveSameFiles } from './tree-walk.ts'

export class OwnIndex implements MemoryIndex {
  readonly #git: Git
  readonly #objects: CatFile
  #file: IndexFile | null = null
  /** The bytes last written to the clone's index, and the stamp of that file. */
  #shared: { bytes: Buffer; stamp: string | null } | null = null
  #idLength = 20
  #tree: string | null = null

  constructor(git: Git, objects: CatFile) {
    this.#git = git
    this.#objects = objects
    git.index = this
  }

  get file(): IndexFile {
    if (this.#file === null) throw new Error('the index of Ralph is not open')
    return this.#file
  }

  /** The tree of the index. Writes the tree objects that `base` does not have. */
  async tree(base: string): Promise<string> {
    this.#tree ??= (await treeOfIndex(this.#git, this.#objects, base, this.file)).oid
    return this.#tree
  }

  get knownTree(): string | null {
    return this.#tree
  }

  /** Runs `act` with the index open. At the first call the index is made from `tree`. */
  async withOpenIndex<T>(tree: string, act: () => Promise<T>): Promise<T> {
    if (this.#file === null) await this.#open(tree)
    return act()
  }

  async #open(tree: string): Promise<void> {
    this.#idLength = tree.length / 2
    removeSync(join(this.#git.own, 'index'))
    await this.fill(tree)
    // Before any agent runs, so that git will read every file that is written later.
    await this.#git.refreshIndex()
    await this.reload(this.#tree)
  }

  /** Sets the index to a commit, and keeps the stat data of unchanged files. */
  async fill(commit: string): Promise<void> {
    const root = await this.#objects.root(commit)
    if (root === null) throw new DamagedClone(`there is no commit ${commit} in it`)
    if (this.#tree === root) return
    this.#git.unlock()
    await this.#git.readTree(root, 'index')
    await this.reload(root)
    await this.verify(root)
  }

  /** Rejects if the index does not match the tree's id: git does not check the hash of a tree that it reads. */
  async verify(tree: string): Promise<void> {
    if (!(await indexMatches(this.#git, this.#objects, tree, this.file)))
      throw new DamagedClone(`a checkout of ${tree} gives other files`)
  }

  /** Replaces the index file if another program has changed it. Call it before git reads the index. */
  writeForGit(): void {
    if (this.#file === null) return
    const file = join(this.#git.own, 'index')
    const { bytes } = this.#file
    if (readRegularFileSync(file)?.equals(bytes) === true) return
    this.#git.unlock()
    renameIntoPlace(this.#git, bytes, file)
  }

  /** Writes the index to the clone's file. That file is never read. */
  share(file: string): void {
    if (this.#file === null) return
    const { bytes } = this.#file
    if (this.#shared?.bytes === bytes && this.#shared.stamp === fileStamp(file)) return
    const fresh = `${file}.ralph`
    removeSync(fresh)
    writeFileSync(fresh, bytes, { flag: 'wx' })
    this.#git.permissions.share(fresh)
    renameSync(fresh, file)
    this.#shared = { bytes, stamp: fileStamp(file) }
  }

  /** Reads the index file after git has written it. `tree`: the tree of the index then, if known. */
  async reload(tree: string | null = null): Promise<void> {
    const bytes = readRegularFileSync(join(this.#git.own, 'index'))
    if (tree !== null) this.#tree = tree
    if (bytes === null || this.#file?.bytes.equals(bytes) === true) return
    // git compares times in whole seconds, and would miss a later write in the same second. Some file systems round to two seconds.
    const uncertainFrom = Math.floor(this.#now() / 1000) - 1
    const file = IndexFile.of(bytes, this.#idLength)
    this.#file = file.withoutStats((entry) => file.changedAt(entry) >= uncertainFrom)
    this.#tree = tree
  }

  /** The time of the file system, which may be on another machine; milliseconds. */
  #now(): number {
    const file = join(this.#git.own, 'clock')
    removeSync(file)
    writeFileSync(file, '', { flag: 'wx' })
    return lstatSync(file).mtimeMs
  }

  /** Removes the stat data of files in these folders (ending in `/`; empty for the top), so that git writes them again. */
  forget(folders: readonly string[]): void {
    const starts = folders.map((folder) => toLatin1(folder).toLowerCase())
    this.#file = this.file.withoutStats((_, path) => {
      const name = path.toLowerCase()
      return starts.some((start) => name.startsWith(start))
    })
  }
}

/** Replaces a file by a rename, whatever is there. Throws if it is on another file system. */
export function renameIntoPlace(git: Git, bytes: string | Buffer, file: string): void {
  const fresh = join(git.own, 'fresh')
  removeSync(fresh)
  writeFileSync(fresh, bytes, { flag: 'wx' })
  try {
    renameSync(fresh, fsPath(file))
  } catch {
    removeSync(file)
    renameSync(fresh, fsPath(file))
  }
}

/** The trees of the index. Writes those that `base` (a commit or a tree) does not have. */
export async function treeOfIndex(
  git: Git,
  objects: CatFile,
  base: string,
  knownIndex: IndexFile | null = null,
): Promise<IndexTree> {
  const root = await objects.root(base)
  if (root === null) throw new DamagedClone(`there is no commit ${base} in it`)
  const file = knownIndex ?? IndexFile.of(readRegularFileSync(join(git.own, 'index')), root.length / 2)
  const top = file.trees()
  const writer = git.writer(root)
  let level: { folder: IndexTree; old: string | null }[] = [{ folder: top, old: root }]
  while (level.length > 0) {
    const fresh = level.filter(({ folder, old }) => folder.oid !== old)
    for (const { folder } of fresh) writer.add('tree', folder.bytes)
    const known = fresh.map(({ old }) => old).filter((one) => one !== null)
    const trees = new Map((await objects.trees(known)).map((tree, at) => [known[at], tree]))
    level = fresh.flatMap(({ folder, old }) =>
      folder.inside.map((one) => ({ folder: one, old: folderIn(trees.get(old ?? ''), one, folder) })),
    )
  }
  // Verified by reading them back, as git looks into packs first.
  await objects.verify(await writer.flush())
  return top
}

/** Whether the index has the same files as a commit or a tree. */
export async function indexMatches(
  git: Git,
  objects: CatFile,
  base: string,
  knownIndex: IndexFile | null = null,
): Promise<boolean> {
  const { oid } = await treeOfIndex(git, objects, base, knownIndex)
  return haveSameFiles(objects, (await objects.root(base)) ?? base, oid)
}

/** The id of a folder in its parent's tree, or null. */
function folderIn(tree: Tree | undefined, { path }: IndexTree, above: IndexTree): string | null {
  const entry = tree?.get(path.slice(above.path.length, -1))
  return entry?.mode === TREE ? entry.oid : null
}
