// The work tree: stages it into Ralph's index, restores it to a tree, and removes what no commit can contain.

import { constants, lstatSync } from 'node:fs'
import { copyFile, lstat, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Change } from '../engine/model/change.ts'
import { DamagedClone } from '../system/errors.ts'
import {
  isFolderSync,
  openClosedFolders,
  readRegularFileSync,
  removeSync,
  resolveInTree,
} from '../system/files.ts'
import { fsPath, pathBytes, quotedPath } from '../system/path-text.ts'
import { untrustedRunCount } from '../system/process.ts'
import { type CatFile, GITLINK } from './cat-file.ts'
import { removeForeignRepositories, type SubmodulePlaces } from './foreign-repositories.ts'
import type { Git } from './git.ts'
import { GitIndex, isAttributesFile } from './git-index.ts'
import { GitError } from './git-process.ts'
import { nestedGits, storedDifferently, untrackedFolders } from './hidden-changes.ts'
import { renameIntoPlace } from './own-directory.ts'
import { parseRaw } from './raw-diff.ts'
import type { Submodules } from './submodules.ts'
import { changesBetween } from './trees.ts'

/** Changes since a commit. `nested`: `.git` entries that were removed, as no commit can contain them. */
export type Staged = { changes: Change[]; nested: string[] }

/** Modes of files and links. */
const FILE_MODE = /^1[02]0/

/** Milliseconds. A tree that was just restored counts as clean for this time: between two iterations only Ralph works. */
const CLEAN_MS = 1000

export class WorkTree {
  readonly git: Git
  readonly objects: CatFile
  readonly submodules: Submodules
  readonly index: GitIndex
  readonly top: string
  /** `.git` entries below the top from before any agent ran; null until they were read. */
  nestedBefore: ReadonlySet<string> | null = null
  /** The tree that was just restored, until when it counts as clean, and the count of untrusted programs at that time. */
  #clean: { tree: string; until: number; after: number } | null = null

  constructor(git: Git, objects: CatFile, submodules: Submodules) {
    this.git = git
    this.objects = objects
    this.submodules = submodules
    this.index = new GitIndex(git, objects)
    this.top = git.clone.workTree
  }

  /** Runs `act` with the index open. At the first call the index is made from `commit`. */
  async withOpenIndex<T>(commit: string, act: () => Promise<T>): Promise<T> {
    this.git.unlock()
    await this.index.open(await this.treeOf(commit))
    try {
      return await act()
    } finally {
      this.#clean = null
    }
  }

  /** Call it if untrusted programs may have changed the tree. */
  invalidate(): void {
    this.#clean = null
  }

  /** Notes that the tree matches a commit, unless an untrusted program runs. */
  async markClean(commit: string): Promise<void> {
    const after = untrustedRunCount()
    if (after === null) return
    this.#clean = { tree: await this.treeOf(commit), until: performance.now() + CLEAN_MS, after }
  }

  #isKnownClean(tree: string | null): boolean {
    if (this.#clean?.tree !== tree) return false
    return performance.now() < this.#clean.until && untrustedRunCount() === this.#clean.after
  }

  async treeOf(commit: string): Promise<string> {
    const tree = await this.objects.root(commit)
    if (tree === null) throw new DamagedClone(`there is no commit ${commit} in it`)
    return tree
  }

  async removeForeign(): Promise<string[]> {
    return removeForeignRepositories(await this.places())
  }

  /**
   * Stages the whole work tree. `checkOut`: files that were written to but that git reports as unchanged are checked out
   * again, so that they have the bytes of a checkout.
   */
  async stage(against: string, checkOut = false): Promise<Staged | { unreadable: string }> {
    const { git, index } = this
    git.unlock()
    // Starts from the commit each time: which files git ignores depends on the index.
    const base = await this.treeOf(against)
    await index.fill(base)
    const look = () => Promise.all([git.touchedFiles(), untrackedFolders(git)])
    const [written, untracked] = await index.read(base, look)
    const touched = parseRaw(written)
    // First, as `git add` fails at a repository without a commit.
    const nested = await this.#removeNested(touched, untracked)
    let closed: string | null
    try {
      closed = await git.addAll()
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      const removed = checkOut ? await openClosedFolders(this.top) : []
      return { unreadable: removed.length > 0 ? formatTooDeep(removed) : error.stderr.trim() }
    } finally {
      index.changed()
    }
    const changes: Change[] = []
    const storedDifferentlyOnly: Change[] = []
    const tree = await index.tree().catch(() => null)
    const staged =
      tree === null ? parseRaw(await git.stagedDiff(against)) : await changesBetween(this.objects, base, tree)
    for (const change of staged)
      if (await this.isOnlyStoredDifferently(change)) storedDifferentlyOnly.push(change)
      else changes.push(change)
    await this.reset(storedDifferentlyOnly)
    // git skips a folder without permissions, but gates could open it. It keeps the old entry of a file behind a loop of links.
    const removed = closed !== null && checkOut ? await openClosedFolders(this.top) : []
    const known = new Set(changes.map(({ path }) => path))
    if (checkOut) await this.#checkOutTouched(touched.filter(({ path }) => !known.has(path)))
    if (closed !== null) return { unreadable: removed.length > 0 ? formatTooDeep(removed) : closed }
    return { changes, nested }
  }

  /** Removes the `.git` entries that are new since the job began. Returns their paths. */
  async #removeNested(touched: readonly Change[], untracked: readonly string[]): Promise<string[]> {
    const { folders } = await this.index.listing()
    // A folder instead of a tracked file is not listed as untracked.
    const replaced = touched.filter(({ newMode }) => !FILE_MODE.test(newMode)).map(({ path }) => path)
    const all = await nestedGits(this.git, { tracked: folders, untracked: [...untracked, ...replaced] })
    const fresh = all.filter((path) => this.nestedBefore?.has(path) !== true)
    for (const path of fresh) await this.removeAt(path)
    return fresh
  }

  /** Checks out files again that were written to, if their bytes differ from the stored ones (line ends, `$Id$`). */
  async #checkOutTouched(touched: readonly Change[]): Promise<void> {
    const files = touched.map(({ path, oldMode, oldOid }) => ({ path, mode: oldMode, oid: oldOid }))
    await this.#checkOutAnew(await storedDifferently(this.git, files))
  }

  /** Reads every file, also those that git sees as clean, and checks out those whose bytes differ from the stored ones. */
  async checkOutEveryFile(commit: string): Promise<void> {
    this.index.clear()
    await this.index.fill(await this.treeOf(commit))
    await this.#checkOutTouched(parseRaw(await this.git.touchedFiles()))
    await this.git.refreshIndex()
  }

  /** Checks out files again as in the index. They are removed first, as git would skip files that it sees as clean. */
  async #checkOutAnew(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return
    const names = paths.map(pathBytes)
    const anew = async () => {
      for (const name of names) await rm(Buffer.concat([Buffer.from(`${this.top}/`), name]), { force: true })
      await this.git.checkOutFiles(names)
    }
    await anew().catch(async () => {
      await openClosedFolders(this.top)
      await anew()
    })
  }

  /** Whether a change is only that git would store the same bytes differently (line ends). */
  async isOnlyStoredDifferently(change: Change): Promise<boolean> {
    if (change.status !== 'M' || change.oldMode !== change.newMode) return false
    const file = fsPath(join(this.top, change.path))
    const now = await lstat(file).catch(() => null)
    if (now?.isFile() !== true || change.oldMode === GITLINK) return false
    if (now.size !== (await this.objects.info(change.oldOid))?.size) return false
    const bytes = await this.objects.contents(change.oldOid)
    return bytes !== null && (await readFile(file).catch(() => null))?.equals(bytes) === true
  }

  /** Resets the index entries of these changes to those of the commit. */
  async reset(changes: readonly Change[]): Promise<void> {
    const lines = changes.map(({ status, path, oldMode, oldOid, newOid }) =>
      status === 'A' ? `0 ${newOid}\t${path}` : `${oldMode} ${oldOid}\t${path}`,
    )
    await this.updateIndex(lines)
  }

  /** Lines as `git update-index --index-info` reads them. */
  async updateIndex(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    await this.git.updateIndex(lines)
    this.index.changed()
  }

  /** Restores the work tree to a commit if it differs. Returns whether it did. */
  async restoreIfChanged(commit: string): Promise<boolean> {
    const wanted = await this.treeOf(commit)
    if (this.#isKnownClean(wanted)) return false
    await this.removeForeign()
    const isChanged = await this.index.read(wanted, () => this.git.hasChanges())
    if (!isChanged && (await this.index.tree()) === wanted) {
      await this.submodules.reset()
      return false
    }
    await this.restoreTree(wanted)
    return true
  }

  /** Checks out a tree. `everyFile`: also files that git sees as unchanged. */
  async restoreTree(tree: string, everyFile = false): Promise<void> {
    this.git.unlock()
    await this.removeForeign()
    try {
      await this.#checkOutTree(tree, everyFile)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      // git cannot remove files in a read-only folder.
      await openClosedFolders(this.top)
      await this.#checkOutTree(tree, everyFile)
    }
    await this.removeForeign()
    await this.submodules.reset()
  }

  async #checkOutTree(tree: string, everyFile: boolean): Promise<void> {
    const { git, index } = this
    const names = await index.pathsUnlike(tree)
    const changed = names.filter(isAttributesFile)
    // Attributes that are not committed, or are about to change, would affect the checkout.
    for (const path of [...changed, ...(await this.#looseAttributes(names))]) await this.removeAt(path)
    await index.checkOut(tree)
    if (everyFile || changed.length > 0) {
      // Unchanged files were written with the old attributes.
      index.clear()
      await index.checkOut(tree)
    }
    await git.clean()
  }

  /** `.gitattributes` files that are not in the index, in all folders of the index and of these paths. */
  async #looseAttributes(names: readonly string[]): Promise<string[]> {
    const { attributes, folders } = await this.index.listing('now')
    const all = new Set(['', ...[...folders].map((folder) => `${folder}/`)])
    for (const name of names)
      for (let at = name.lastIndexOf('/'); at > 0; at = name.lastIndexOf('/', at - 1))
        all.add(name.slice(0, at + 1))
    return [...all]
      .map((folder) => `${folder}.gitattributes`)
      .filter((path) => !attributes.has(path) && exists(join(this.top, path)))
  }

  /** Makes the work tree equal to a checkout of the tree. git may have stored other bytes than an agent wrote. */
  async checkOutStored(tree: string, changes: readonly Change[]): Promise<void> {
    if (changes.some(({ path }) => isAttributesFile(path))) {
      await this.restoreTree(tree, true)
      return
    }
    const files = changes.map(({ path, newMode, newOid }) => ({ path, mode: newMode, oid: newOid }))
    await this.#checkOutAnew(await storedDifferently(this.git, files))
  }

  /** The bytes of a regular file of the tree. Null for anything else, for a larger file, or if a link above it leads out of the tree. */
  async bytesAt(path: string, maxBytes: number): Promise<Buffer | null> {
    const place = await resolveInTree(this.top, path)
    return place === null ? null : readRegularFileSync(place, maxBytes)
  }

  /** Removes a path of the tree. Does nothing if a link above it leads out of the tree. */
  async removeAt(path: string): Promise<void> {
    const place = await resolveInTree(this.top, path)
    if (place !== null) removeSync(place)
  }

  /** Writes one of Ralph's files. Links in its path are removed, never followed. */
  async writeFileAt(path: string, text: string | Buffer): Promise<void> {
    const parts = path.split('/')
    let at = this.top
    for (const part of parts.slice(0, -1)) {
      at = join(at, part)
      if (isFolderSync(at)) continue
      removeSync(at)
      await mkdir(fsPath(at))
    }
    const file = join(at, parts.at(-1) ?? '')
    try {
      renameIntoPlace(this.git, text, file)
    } catch {
      // The tree is on another file system.
      await copyFile(join(this.git.own, 'fresh'), fsPath(file), constants.COPYFILE_EXCL)
    }
  }

  /** The submodules of the index, and the checked-out ones. */
  async places(): Promise<SubmodulePlaces> {
    const { gitlinks } = await this.index.listing()
    return { top: this.top, gitlinks, known: this.submodules.repositories }
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined
  } catch {
    // Its parent is not a folder, or has no permissions: git reads nothing there.
    return false
  }
}

function formatTooDeep(paths: readonly string[]): string {
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : ''
  return `Ralph removed a path that is too deeply nested: ${quotedPath(paths[0] ?? '', 160)}${more}`
}
