// The work tree: stages it into Ralph's index, restores it to a tree, and removes what no commit can contain.

import { constants, lstatSync } from 'node:fs'
import { copyFile, lstat, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Change } from '../engine/model/change.ts'
import { DamagedClone } from '../system/errors.ts'
import { isFolderSync, openClosedFolders, removeSync, resolveInTree } from '../system/files.ts'
import { fromLatin1, fsPath, pathBytes, quotedPath, toLatin1 } from '../system/path-text.ts'
import { untrustedRunCount } from '../system/process.ts'
import { type CatFile, GITLINK } from './cat-file.ts'
import { removeForeignRepositories, type SubmodulePlaces } from './foreign-repositories.ts'
import type { Git } from './git.ts'
import { GitError } from './git-process.ts'
import {
  attributeFilesIn,
  type Folders,
  nestedGits,
  storedDifferently,
  untrackedFolders,
} from './hidden-changes.ts'
import type { IndexFile } from './index-file.ts'
import { objectId } from './objects.ts'
import { OwnIndex, renameIntoPlace } from './own-index.ts'
import type { Submodules } from './submodules.ts'
import { changesBetween } from './tree-walk.ts'

/** Changes since a commit. `folders`: folders that may have a `.git` that git does not show. */
export type Staged = { changes: Change[]; folders: Folders }

/** Milliseconds. A tree that was just restored counts as clean for this time: between two iterations only Ralph works. */
const CLEAN_MS = 1000

export class WorkTree {
  readonly git: Git
  readonly objects: CatFile
  readonly submodules: Submodules
  readonly index: OwnIndex
  readonly top: string
  /** `.git` entries below the top from before any agent ran; null until they were read. */
  nestedBefore: ReadonlySet<string> | null = null
  /** The tree that was just restored, until when it counts as clean, and the count of untrusted programs at that time. */
  #clean: { tree: string; until: number; after: number } | null = null

  constructor(git: Git, objects: CatFile, submodules: Submodules) {
    this.git = git
    this.objects = objects
    this.submodules = submodules
    this.index = new OwnIndex(git, objects)
    this.top = git.clone.workTree
  }

  /** Runs `act` with the index open. At the first call the index is made from `tree`. */
  withOpenIndex<T>(tree: string, act: () => Promise<T>): Promise<T> {
    this.git.unlock()
    return this.index.withOpenIndex(tree, act).finally(() => {
      this.#clean = null
    })
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

  removeForeign(): Promise<string[]> {
    return removeForeignRepositories(this.places)
  }

  /**
   * Stages the whole work tree. `checkOut`: files that were written to but that git reports as unchanged are checked out
   * again, so that they have the bytes of a checkout.
   */
  async stage(against: string, checkOut = false): Promise<Staged | { unreadable: string }> {
    const { git, index } = this
    git.unlock()
    // Starts from the commit each time: which files git ignores depends on the index.
    await index.fill(against)
    const before = index.file
    // Both can run at once: the result is the same before and after the index is updated.
    const [added, untracked] = await Promise.allSettled([git.addAll(), untrackedFolders(git)])
    if (added.status === 'rejected') {
      if (!(added.reason instanceof GitError)) throw added.reason
      const removed = checkOut ? await openClosedFolders(this.top) : []
      return { unreadable: removed.length > 0 ? formatTooDeep(removed) : added.reason.stderr.trim() }
    }
    if (untracked.status === 'rejected') throw untracked.reason
    await index.reload()
    const changes = await this.#storedChanges(against)
    const folders = { tracked: [...index.file.folders].map(fromLatin1), untracked: untracked.value }
    const storedDifferentlyOnly: Change[] = []
    for (const change of changes)
      if (await this.isOnlyStoredDifferently(change)) storedDifferentlyOnly.push(change)
    await this.reset(storedDifferentlyOnly)
    const left = changes.filter((change) => !storedDifferentlyOnly.includes(change))
    // git skips a folder without permissions, but gates could open it. It keeps the old entry of a file behind a loop of links.
    const closed = added.value
    const removed = closed !== null && checkOut ? await openClosedFolders(this.top) : []
    if (checkOut) await this.checkOutModified(before, left)
    if (closed !== null) return { unreadable: removed.length > 0 ? formatTooDeep(removed) : closed }
    return { changes: left, folders }
  }

  /** The changes of the index since a commit. All objects of both sides are verified. */
  async #storedChanges(against: string): Promise<Change[]> {
    const { git, objects, index } = this
    const changes = await changesBetween(objects, against, await index.tree(against))
    await objects.verify(
      changes.flatMap(({ status, oldMode, oldOid }) =>
        status === 'A' || oldMode === GITLINK ? [] : [oldOid],
      ),
    )
    const fresh = changes.flatMap(({ status, newMode, newOid }) =>
      status === 'D' || newMode === GITLINK ? [] : [newOid],
    )
    try {
      await objects.verify(fresh)
      return changes
    } catch (error) {
      if (!(error instanceof DamagedClone)) throw error
    }
    // git accepts any file at an object's path as the object. Forged ones are removed, and git writes the objects again.
    for (const oid of fresh) await objects.verify([oid]).catch(() => removeSync(git.objectFile(oid)))
    await this.reset(changes)
    await git.addAll()
    await index.reload()
    await this.#proveWritten(fresh)
    return changesBetween(objects, against, await index.tree(against))
  }

  /**
   * Checks out files again that were written to since the index was `before`, if their bytes differ from the stored ones (line
   * ends, `$Id$`). git reports such files as clean.
   */
  async checkOutModified(before: IndexFile | null, changes: readonly Change[]): Promise<void> {
    const known = new Set(changes.map(({ path }) => toLatin1(path)))
    const modified: Buffer[] = []
    for (const [path, { mode, oid }] of this.index.file.changedSince(before)) {
      if (known.has(path) || !mode.startsWith('100')) continue
      const name = Buffer.from(path, 'latin1')
      const file = Buffer.concat([Buffer.from(`${this.top}/`), name])
      if ((await lstat(file).catch(() => null))?.isFile() !== true) continue
      const bytes = await readFile(file).catch(() => null)
      if (bytes !== null && objectId('blob', bytes, oid.length) !== oid) modified.push(name)
    }
    await this.#checkOutAnew(modified)
  }

  /** Checks out files again as in the index. They are removed first, as git would skip files that it sees as clean. */
  async #checkOutAnew(paths: readonly Buffer[]): Promise<void> {
    if (paths.length === 0) return
    const anew = async () => {
      for (const path of paths) await rm(Buffer.concat([Buffer.from(`${this.top}/`), path]), { force: true })
      await this.git.checkOutFiles(paths)
    }
    await anew().catch(async () => {
      await openClosedFolders(this.top)
      await anew()
    })
    const { entries } = this.index.file
    await this.#proveWritten(paths.flatMap((path) => entries.get(path.toString('latin1'))?.oid ?? []))
    await this.index.reload(this.index.knownTree)
  }

  /** Verifies objects that git has just checked out: a loose object or a new pack may be forged. */
  async #proveWritten(oids: readonly string[]): Promise<void> {
    if (oids.length === 0) return
    await this.objects.restart()
    await this.objects.verify(oids)
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
    if (changes.length === 0) return
    const lines = changes.map(({ status, path, oldMode, oldOid, newOid }) =>
      status === 'A' ? `0 ${newOid}\t${path}` : `${oldMode} ${oldOid}\t${path}`,
    )
    await this.git.updateIndex(lines)
    await this.index.reload()
  }

  /** Restores the work tree to a commit if it differs. Returns whether it did. */
  async restoreIfChanged(commit: string): Promise<boolean> {
    const wanted = await this.treeOf(commit)
    if (this.#isKnownClean(wanted)) return false
    await this.removeForeign()
    if (!(await this.git.hasChanges()) && (await this.index.tree(commit)) === wanted) {
      await this.submodules.reset()
      return false
    }
    await this.restoreTree(wanted)
    return true
  }

  /** Checks out a tree, and verifies the result: git would check out forged objects. */
  async restoreTree(tree: string): Promise<void> {
    const { index } = this
    const before = index.file
    this.git.unlock()
    await this.removeForeign()
    try {
      await this.#checkOutTree(tree)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      // git cannot remove files in a read-only folder.
      await openClosedFolders(this.top)
      await this.#checkOutTree(tree)
    }
    await this.removeForeign()
    await this.submodules.reset()
    await index.verify(tree)
    const written = [...index.file.changedSince(before)].filter(([, { mode }]) => mode !== GITLINK)
    await this.#proveWritten(written.map(([, { oid }]) => oid))
  }

  async #checkOutTree(tree: string): Promise<void> {
    const { git, index } = this
    const names = await git.indexDiff(tree)
    const changed = attributeFilesIn(names)
    // Attributes that are not committed, or are about to change, would affect the checkout.
    for (const path of [...changed, ...this.#looseAttributes(names)]) await this.removeAt(path)
    // Unchanged files were written with the old attributes: files below changed ones are written again.
    index.forget(foldersOf(changed))
    await git.readTree(tree, 'index and files')
    await index.reload(tree)
    await git.clean()
  }

  /** `.gitattributes` files that are not in the index, in all folders of the index and of these paths. */
  #looseAttributes(names: readonly string[]): string[] {
    const { entries, folders } = this.index.file
    const all = new Set(['', ...[...folders].map((folder) => `${fromLatin1(folder)}/`)])
    for (const name of names)
      for (let at = name.lastIndexOf('/'); at > 0; at = name.lastIndexOf('/', at - 1))
        all.add(name.slice(0, at + 1))
    return [...all]
      .map((folder) => `${folder}.gitattributes`)
      .filter((path) => !entries.has(toLatin1(path)) && exists(join(this.top, path)))
  }

  /** Makes the work tree equal to a checkout of the tree. git may have stored other bytes than an agent wrote. */
  async checkOutStored(tree: string, changes: readonly Change[]): Promise<void> {
    const attributes = attributeFilesIn(changes.map(({ path }) => path))
    if (attributes.length > 0) {
      this.index.forget(foldersOf(attributes))
      await this.restoreTree(tree)
      return
    }
    const other = await storedDifferently(this.git, changes)
    await this.#checkOutAnew(other.map(pathBytes))
  }

  /** Removes the `.git` entries that are new since the job began, as no commit can contain them. Returns their paths. */
  async removeNested(folders: Folders, changes: readonly Change[]): Promise<string[]> {
    const { repositories } = this.submodules
    const all = await nestedGits(this.git, folders, changes, repositories)
    const fresh = all.filter((path) => this.nestedBefore?.has(path) !== true)
    for (const path of fresh) await this.removeAt(path)
    // A submodule entry in the index would hide the files from diffs, and git would open a repository there.
    await this.reset(changes.filter(({ newMode, path }) => newMode === GITLINK && !repositories.has(path)))
    return fresh
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
  get places(): SubmodulePlaces {
    return { top: this.top, gitlinks: this.index.file.gitlinks, known: this.submodules.repositories }
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined
  } catch {
    // Its parent is no folder, or has no permissions: git reads nothing there.
    return false
  }
}

/** The folders of files; `''` is the top, and all others end in `/`. */
function foldersOf(paths: readonly string[]): string[] {
  return paths.map((path) => path.slice(0, path.lastIndexOf('/') + 1))
}

function formatTooDeep(paths: readonly string[]): string {
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : ''
  return `deeper than tools bear, and removed: ${quotedPath(paths[0] ?? '', 160)}${more}`
}
