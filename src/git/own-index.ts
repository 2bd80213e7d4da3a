// Ralph's own index: git writes it, and it is held in memory, where nobody else writes to it. The file is what git is shown of it.
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
  #held: IndexFile | null = null
  /** What the clone was given last, and what that file was then. */
  #shared: { bytes: Buffer; stamp: string | null } | null = null
  #idLength = 20
  #tree: string | null = null

  constructor(git: Git, objects: CatFile) {
    this.#git = git
    this.#objects = objects
    git.index = this
  }

  get file(): IndexFile {
    if (this.#held === null) throw new Error('the index of Ralph is not open')
    return this.#held
  }

  /** The tree that it holds; what `base` does not have of it is written. */
  async tree(base: string): Promise<string> {
    this.#tree ??= (await treeOfIndex(this.#git, this.#objects, base, this.file)).oid
    return this.#tree
  }

  get knownTree(): string | null {
    return this.#tree
  }

  /** Works on it; before the first time it is made from `tree`. */
  async during<T>(tree: string, act: () => Promise<T>): Promise<T> {
    if (this.#held === null) await this.#open(tree)
    return act()
  }

  async #open(tree: string): Promise<void> {
    this.#idLength = tree.length / 2
    removeSync(join(this.#git.own, 'index'))
    await this.fill(tree)
    // Before any agent ran: from now on, whatever was written to since is read.
    await this.#git.refreshIndex()
    await this.reload(this.#tree)
  }

  /** It holds a commit's files from now on, and remembers those that it held before. */
  async fill(commit: string): Promise<void> {
    const root = await this.#objects.root(commit)
    if (root === null) throw new DamagedClone(`there is no commit ${commit} in it`)
    if (this.#tree === root) return
    this.#git.unlock()
    await this.#git.readTree(root, 'index')
    await this.reload(root)
    await this.verify(root)
  }

  /** Rejects where it does not hold what the tree's name says: git reads whatever stands in the place of a tree. */
  async verify(tree: string): Promise<void> {
    if (!(await indexHolds(this.#git, this.#objects, tree, this.file)))
      throw new DamagedClone(`a checkout of ${tree} gives other files`)
  }

  /** Before a git of ours reads it: whatever somebody wrote to the file, what we hold counts. */
  writeForGit(): void {
    if (this.#held === null) return
    const file = join(this.#git.own, 'index')
    const { bytes } = this.#held
    if (readRegularFileSync(file)?.equals(bytes) === true) return
    this.#git.unlock()
    placeFile(this.#git, bytes, file)
  }

  /** A file becomes what it is: the clone's index. Nothing of that is ever read here. */
  share(file: string): void {
    if (this.#held === null) return
    const { bytes } = this.#held
    if (this.#shared?.bytes === bytes && this.#shared.stamp === fileStamp(file)) return
    const fresh = `${file}.ralph`
    removeSync(fresh)
    writeFileSync(fresh, bytes, { flag: 'wx' })
    this.#git.permissions.share(fresh)
    renameSync(fresh, file)
    this.#shared = { bytes, stamp: fileStamp(file) }
  }

  /** Takes up what a git of ours has written. `tree` is what it holds then, where that is known. */
  async reload(tree: string | null = null): Promise<void> {
    const bytes = readRegularFileSync(join(this.#git.own, 'index'))
    if (tree !== null) this.#tree = tree
    if (bytes === null || this.#held?.bytes.equals(bytes) === true) return
    // git compares whole seconds, and would miss what is written in the rest of one; some file systems count in two.
    const young = Math.floor(this.#now() / 1000) - 1
    const file = IndexFile.of(bytes, this.#idLength)
    this.#held = file.withoutStats((entry) => file.changedAt(entry) >= young)
    this.#tree = tree
  }

  /** By the clock of the file system, which may be another machine's; milliseconds. */
  #now(): number {
    const file = join(this.#git.own, 'clock')
    removeSync(file)
    writeFileSync(file, '', { flag: 'wx' })
    return lstatSync(file).mtimeMs
  }

  /** Of files in these folders (which end in `/`, or are empty for the top) git remembers nothing: it writes them anew. */
  forget(folders: readonly string[]): void {
    const starts = folders.map((folder) => toLatin1(folder).toLowerCase())
    this.#held = this.file.withoutStats((_, path) => {
      const name = path.toLowerCase()
      return starts.some((start) => name.startsWith(start))
    })
  }
}

/** Puts a file in its place in one move, whatever stands there; throws where that is another file system. */
export function placeFile(git: Git, bytes: string | Buffer, file: string): void {
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

/** The trees of our index. Those that `base`, a commit or a tree, does not have are written. */
export async function treeOfIndex(
  git: Git,
  objects: CatFile,
  base: string,
  held: IndexFile | null = null,
): Promise<IndexTree> {
  const root = await objects.root(base)
  if (root === null) throw new DamagedClone(`there is no commit ${base} in it`)
  const file = held ?? IndexFile.of(readRegularFileSync(join(git.own, 'index')), root.length / 2)
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
  // Read back: git looks into packs first.
  await objects.verify(await writer.flush())
  return top
}

/** Whether our index holds the files of a commit or a tree. */
export async function indexHolds(
  git: Git,
  objects: CatFile,
  base: string,
  held: IndexFile | null = null,
): Promise<boolean> {
  const { oid } = await treeOfIndex(git, objects, base, held)
  return haveSameFiles(objects, (await objects.root(base)) ?? base, oid)
}

/** The id that a folder had in the tree above it, or null. */
function folderIn(tree: Tree | undefined, { path }: IndexTree, above: IndexTree): string | null {
  const entry = tree?.get(path.slice(above.path.length, -1))
  return entry?.mode === TREE ? entry.oid : null
}
