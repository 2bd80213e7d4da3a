// Ralph's own index: held in memory, where nobody else writes to it. The file is what git is shown of it.

import { lstatSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DamagedClone } from '../system/errors.ts'
import { readRegularNow, removeNow, stampOf } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'
import { type CatFile, TREE, type Tree } from './cat-file.ts'
import type { Git, HeldIndex } from './git.ts'
import { IndexTable, type IndexTree, indexEntry, indexOf } from './index-file.ts'
import type { OldIndex } from './index-notes.ts'
import { type Rules, rulesOf } from './rules.ts'
import { type Differences, scan } from './scan.ts'
import { editTree } from './tree-edit.ts'
import { filesOf, holdSame } from './tree-walk.ts'

/** The clock of a file system goes in steps of at most so many milliseconds. */
const TICK_MS = 20

export class OwnIndex implements HeldIndex {
  readonly #git: Git
  readonly #objects: CatFile
  #table: IndexTable | null = null
  /** Milliseconds: files that were written to later may have been missed. */
  #takenAt = 0
  /** When the last look began, milliseconds. */
  #lookedAt = 0
  /** git is to find none: it writes every file then. */
  #isDropped = false
  /** What the clone was given last, and what that file was then. */
  #shared: { bytes: Buffer; stamp: string | null } | null = null
  #idLength = 20
  #tree: string | null = null
  /** When control was last given to somebody else, milliseconds. */
  #sealedAt = 0
  /** What was written to before was looked at since: epoch seconds. */
  #youngSince = 0
  /** How long the last look took, and whether it was certain of all that it saw. */
  lookMs = 0
  isCertain = false
  #rules: Rules | null = null
  #ignored = new Set<string>()

  constructor(git: Git, objects: CatFile) {
    this.#git = git
    this.#objects = objects
    git.index = this
  }

  get table(): IndexTable {
    if (this.#table === null) throw new Error('the index of Ralph is not open')
    return this.#table
  }

  /** The tree that it holds; what `base` does not have of it is written. */
  async tree(base: string): Promise<string> {
    this.#tree ??= (await treeOfIndex(this.#git, this.#objects, base, this.table)).oid
    return this.#tree
  }

  get knownTree(): string | null {
    return this.#tree
  }

  /** As it was when control was last given to somebody else. */
  get sealed(): OldIndex {
    return { bytes: this.table.bytes, at: this.#sealedAt }
  }

  /** Works on it; before the first time it is made from `tree`. */
  async during<T>(tree: string, act: () => Promise<T>): Promise<T> {
    if (this.#table === null) await this.#open(tree)
    try {
      return await act()
    } finally {
      this.#sealedAt = Date.now()
    }
  }

  /** Before a git of ours reads it: whatever somebody wrote to the file, what we hold counts. */
  show(): void {
    const file = join(this.#git.own, 'index')
    if (this.#isDropped) removeNow(file)
    if (this.#isDropped || this.#table === null) return
    const { bytes } = this.#table
    if (readRegularNow(file)?.equals(bytes) !== true) {
      this.#git.unlock()
      placeFile(this.#git, bytes, file)
    }
    // git reads files again that are not older; a time that is rounded up would hide what was written at the same moment.
    this.#date(file)
  }

  #date(file: string): void {
    const seconds = Math.max(1, (this.#takenAt - TICK_MS) / 1000)
    utimesSync(file, seconds, seconds)
  }

  /** By the clock of the file system, which may be another machine's and behind ours; milliseconds. */
  #now(): number {
    const file = join(this.#git.own, 'clock')
    removeNow(file)
    writeFileSync(file, '', { flag: 'wx' })
    return Math.min(Date.now(), lstatSync(file).mtimeMs)
  }

  /** A file becomes what it is: the clone's index. Nothing of that is ever read here. */
  share(file: string): void {
    if (this.#table === null) return
    const { bytes } = this.#table
    if (this.#shared?.bytes === bytes && this.#shared.stamp === stampOf(file)) return
    const fresh = `${file}.ralph`
    removeNow(fresh)
    writeFileSync(fresh, bytes, { flag: 'wx' })
    this.#git.permissions.share(fresh)
    this.#date(fresh)
    renameSync(fresh, file)
    this.#shared = { bytes, stamp: stampOf(file) }
  }

  /** Takes up what a git of ours has written. `tree` is what it holds then, where that is known. */
  async reload(tree: string | null = null): Promise<void> {
    const file = join(this.#git.own, 'index')
    const bytes = readRegularNow(file)
    this.#isDropped = false
    if (tree !== null) this.#tree = tree
    if (bytes === null) return
    const isSame = this.#table?.bytes.equals(bytes) === true
    const written = lstatSync(file).mtimeMs
    this.#takenAt = isSame ? Math.min(this.#takenAt, written) : written
    if (isSame) return
    this.#table = new IndexTable(bytes, this.#idLength)
    this.#tree = tree
  }

  /** For the next git it holds nothing, until that has written it. */
  drop(): void {
    this.#isDropped = true
  }

  /** It holds a commit's files from now on, and remembers those that it held before. */
  async fill(commit: string): Promise<void> {
    const old = this.#table
    const root = await this.#objects.root(commit)
    if (old !== null && root !== null && this.#tree === root) return
    const table = new IndexTable(indexOf(this.#idLength), this.#idLength)
    const entries = new Map<string, Buffer>()
    for (const { path, mode, oid } of await filesOf(this.#objects, commit)) {
      const there = old?.entry(path)
      const known = there && old?.storedAt(there)
      const isSame = known?.oid === oid && known.mode === mode
      entries.set(path, (isSame && there && old?.bytesAt(there)) || indexEntry(path, mode, oid, null))
    }
    table.edit(entries)
    this.#table = table
    if (old === null) this.#takenAt = this.#now()
    this.#tree = root
  }

  /** How the work tree differs; null where only git can tell. */
  async differences(now = this.#now()): Promise<Differences | null> {
    this.isCertain = false
    const rules = await this.#currentRules()
    if (rules === null) return null
    // Clocks of file systems are coarse.
    const youngFrom = Math.floor(now / 1000) - 2
    const began = performance.now()
    const found = await scan({
      top: this.#git.clone.workTree,
      table: this.table,
      rules,
      youngSince: this.#youngSince,
      youngFrom,
      ignored: this.#ignored,
      ask: (paths) => this.#git.checkIgnore(paths),
    })
    this.lookMs = performance.now() - began
    this.isCertain = found !== null
    if (found === null) return null
    this.#youngSince = youngFrom
    this.#lookedAt = now
    if (found.refreshed.size > 0) {
      this.table.refresh(found.refreshed)
      this.#takenAt = now
    }
    return found
  }

  /** Takes the differences in, as `git add -A` does. Gives the tree that it holds then; `base` is like it. */
  async add({ changed }: Differences, base: string): Promise<string> {
    const before = await this.tree(base)
    if (changed.size === 0) return before
    const writer = this.#git.writer(before)
    const edits = new Map(
      [...changed].map(([path, found]) => {
        if (found !== null) writer.add('blob', found.bytes, found.oid)
        return [path, found === null ? null : { mode: found.mode, oid: found.oid }]
      }),
    )
    const tree = await editTree(this.#objects, writer, before, edits)
    await this.#objects.prove(await writer.flush())
    this.#edit(new Map([...changed].map(([path, found]) => [path, found?.entry ?? null])))
    this.#tree = tree
    return tree
  }

  /** Takes entries of files that were just written; it holds `tree` then. False where only git knows what to make of it. */
  async put(entries: ReadonlyMap<string, Buffer>, tree: string): Promise<boolean> {
    this.#edit(entries)
    this.#tree = tree
    return (await this.#currentRules()) !== null
  }

  async #open(tree: string): Promise<void> {
    this.#git.unlock()
    this.#idLength = tree.length / 2
    await this.fill(tree)
    if ((await this.#currentRules()) !== null) return
    // Before any agent ran: from now on, whatever was written to since is read.
    await this.#git.refreshIndex()
    await this.reload(this.#tree)
  }

  async #currentRules(): Promise<Rules | null> {
    if (!this.table.isPlain) return null
    const rules = await rulesOf(this.#git, this.#objects, this.table, this.#rules)
    if (rules?.key !== this.#rules?.key) {
      this.#ignored = new Set()
      this.table.forgetFolders()
    }
    this.#rules = rules
    return rules
  }

  #edit(edits: ReadonlyMap<string, Buffer | null>): void {
    if (edits.size === 0) return
    this.table.edit(edits)
    this.#takenAt = this.#lookedAt
  }
}

/** Puts a file in its place in one move, whatever stands there; throws where that is another file system. */
export function placeFile(git: Git, bytes: string | Buffer, file: string): void {
  const fresh = join(git.own, 'fresh')
  removeNow(fresh)
  writeFileSync(fresh, bytes, { flag: 'wx' })
  try {
    renameSync(fresh, fsPath(file))
  } catch {
    removeNow(file)
    renameSync(fresh, fsPath(file))
  }
}

/** The trees of our index. Those that `base`, a commit or a tree, does not have are written. */
export async function treeOfIndex(
  git: Git,
  objects: CatFile,
  base: string,
  held: IndexTable | null = null,
): Promise<IndexTree> {
  const root = await objects.root(base)
  if (root === null) throw new DamagedClone(`there is no commit ${base} in it`)
  const idLength = root.length / 2
  const table = held ?? new IndexTable(readRegularNow(join(git.own, 'index')), idLength)
  const top = table.trees()
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
  await objects.prove(await writer.flush())
  return top
}

/** Whether our index holds the files of a commit or a tree. */
export async function indexHolds(
  git: Git,
  objects: CatFile,
  base: string,
  held: IndexTable | null = null,
): Promise<boolean> {
  const { oid } = await treeOfIndex(git, objects, base, held)
  return holdSame(objects, (await objects.root(base)) ?? base, oid)
}

/** The id that a folder had in the tree above it, or null. */
function folderIn(tree: Tree | undefined, { path }: IndexTree, above: IndexTree): string | null {
  const entry = tree?.get(path.slice(above.path.length, -1))
  return entry?.mode === TREE ? entry.oid : null
}
