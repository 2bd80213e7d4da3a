// The work tree: taken into our index, put back to a tree, cleared of what no commit can hold.

import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Change } from '../model/change.ts'
import { DamagedClone } from '../system/errors.ts'
import { insideTree, isFolderNow, openUp, removeNow } from '../system/files.ts'
import { fsPath, pathBytes, quotedPath, toLatin1 } from '../system/path-text.ts'
import { untrustedSoFar } from '../system/process.ts'
import { type CatFile, GITLINK } from './cat-file.ts'
import { type Places, removeForeignRepositories } from './foreign-repositories.ts'
import type { Git } from './git.ts'
import {
  attributesIn,
  type Folders,
  nestedGits,
  storedOtherwise,
  untrackedFolders,
} from './hidden-changes.ts'
import { modifiedFiles, notedSince, type OldIndex } from './index-notes.ts'
import { indexHolds, OwnIndex, placeFile, treeOfIndex } from './own-index.ts'
import { GitError } from './process.ts'
import { type Differences, fileAt } from './scan.ts'
import type { Submodules } from './submodules.ts'
import { changesBetween } from './tree-walk.ts'

/**
 * What differs from a commit, and the tree that it is then, where that is known. `folders`: where a `.git` may stand
 * that git shows nobody; null where there is none.
 */
export type Staged = { changes: Change[]; tree: string | null; folders: Folders | null }

/**
 * So long nobody looks again at a tree that was just put in order, milliseconds, or some times as long as a look takes:
 * between two iterations only we work.
 */
const REST_MS = 1000
const REST_LOOKS = 3
const NOTHING: Differences = { changed: new Map(), refreshed: new Map() }
/** A commit of Ralph's own changes its stories, its log and its attributes. */
const FEW = 8

export class WorkTree {
  readonly git: Git
  readonly objects: CatFile
  readonly submodules: Submodules
  readonly index: OwnIndex
  readonly top: string
  /** `.git` entries below the top that were there before any agent ran; null until somebody looked. */
  nestedBefore: ReadonlySet<string> | null = null
  /** The tree that was put in order a moment ago, and which program that is not trusted was the last one then. */
  #rest: { tree: string; until: number; after: number } | null = null

  constructor(git: Git, objects: CatFile, submodules: Submodules) {
    this.git = git
    this.objects = objects
    this.submodules = submodules
    this.index = new OwnIndex(git, objects)
    this.top = git.clone.workTree
  }

  /** Works on our index as we left it; before the first time it is made from `tree`. */
  during<T>(tree: string, act: () => Promise<T>): Promise<T> {
    this.git.unlock()
    return this.index.during(tree, act).finally(() => {
      this.#rest = null
    })
  }

  /** Nothing is known of the tree: what ran since the last time may have written anything, however short it was. */
  disturb(): void {
    this.#rest = null
  }

  /** The tree is a commit's, and nobody else is at work. */
  async rest(commit: string): Promise<void> {
    const after = untrustedSoFar()
    if (after === null) return
    const until = performance.now() + Math.max(REST_MS, REST_LOOKS * this.index.lookMs)
    this.#rest = { tree: await this.treeOf(commit), until, after }
  }

  /** How the work tree differs from our index; null where only git can tell. */
  async look(): Promise<Differences | null> {
    return this.#rests(this.index.knownTree) ? NOTHING : this.index.differences()
  }

  #rests(tree: string | null): boolean {
    if (this.#rest?.tree !== tree) return false
    return performance.now() < this.#rest.until && untrustedSoFar() === this.#rest.after
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
   * Takes the whole work tree into our index. Files that somebody wrote to, and that git calls unchanged, are checked out
   * anew where asked: they hold what a checkout gives.
   */
  async stage(against: string, checkOut = false): Promise<Staged | { unreadable: string }> {
    const seen = await this.index.differences()
    if (seen === null) return this.#stageByGit(against, checkOut)
    const tree = await this.index.add(seen, against)
    const changes = await changesBetween(this.objects, against, tree)
    // Who takes an object away must not make it look as if it had never been.
    await this.objects.prove(changes.flatMap(({ status, oldOid }) => (status === 'A' ? [] : [oldOid])))
    return { changes, tree, folders: null }
  }

  async #stageByGit(against: string, checkOut: boolean): Promise<Staged | { unreadable: string }> {
    const { git, objects, index } = this
    git.unlock()
    const before = index.sealed
    // By the index as it is or as it becomes: both show what git stores nothing of.
    const [added, untracked] = await Promise.allSettled([git.addAll(), untrackedFolders(git)])
    if (added.status === 'rejected') {
      if (!(added.reason instanceof GitError)) throw added.reason
      const removed = checkOut ? await openUp(this.top) : []
      return { unreadable: removed.length > 0 ? tooDeep(removed) : added.reason.stderr.trim() }
    }
    if (untracked.status === 'rejected') throw untracked.reason
    await index.reload()
    const made = await treeOfIndex(git, objects, against, index.table)
    const folders = { tracked: index.table.folders, untracked: untracked.value }
    const changes = await changesBetween(objects, against, made.oid)
    const untouched: Change[] = []
    for (const change of changes) if (await this.isUntouched(change)) untouched.push(change)
    await this.reset(untouched)
    const left = changes.filter((change) => !untouched.includes(change))
    // git goes on without a closed folder, and the gates may open it again.
    const closed = added.value
    const removed = closed !== null && checkOut ? await openUp(this.top) : []
    if (checkOut) await this.checkOutModified(before, left)
    if (closed !== null) return { unreadable: removed.length > 0 ? tooDeep(removed) : closed }
    return { changes: left, tree: untouched.length === 0 ? made.oid : null, folders }
  }

  /** From now on the index calls them clean: nobody would look at them again. */
  async checkOutModified(before: OldIndex, changes: readonly Change[]): Promise<void> {
    const { bytes, idLength } = this.index.table
    const changed = changes.map(({ path }) => path)
    await this.#checkOutAnew(await modifiedFiles(this.top, before, bytes, changed, idLength))
  }

  /** Files as our index has them; git would leave those that it calls clean. */
  async #checkOutAnew(paths: readonly Buffer[]): Promise<void> {
    if (paths.length === 0) return
    const anew = async () => {
      for (const path of paths) await rm(Buffer.concat([Buffer.from(`${this.top}/`), path]), { force: true })
      await this.git.checkOutFiles(paths)
    }
    await anew().catch(async () => {
      await openUp(this.top)
      await anew()
    })
    const { table } = this.index
    await this.#proveWritten(paths.flatMap((path) => table.stored(path.toString('latin1'))?.oid ?? []))
    await this.index.reload(this.index.knownTree)
  }

  /** git writes whatever stands in the place of a file's object, or in a pack that came meanwhile. */
  async #proveWritten(oids: readonly string[]): Promise<void> {
    if (oids.length === 0) return
    await this.objects.lookAnew()
    await this.objects.prove(oids)
  }

  /** git would store these bytes otherwise than they were stored (line ends), and nobody has changed them. */
  async isUntouched(change: Change): Promise<boolean> {
    if (change.status !== 'M' || change.oldMode !== change.newMode) return false
    const file = fsPath(join(this.top, change.path))
    const now = await lstat(file).catch(() => null)
    if (now?.isFile() !== true || change.oldMode === GITLINK) return false
    if (now.size !== (await this.objects.info(change.oldOid))?.size) return false
    const bytes = await this.objects.contents(change.oldOid)
    return bytes !== null && (await readFile(file).catch(() => null))?.equals(bytes) === true
  }

  /** Paths in the index get the entry again that they have in the commit. */
  async reset(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return
    const lines = changes.map(({ status, path, oldMode, oldOid, newOid }) =>
      status === 'A' ? `0 ${newOid}\t${path}` : `${oldMode} ${oldOid}\t${path}`,
    )
    await this.git.updateIndex(lines)
    await this.index.reload()
  }

  /** Whether the work tree is a commit's; where it is not it is made so. True when it had changed. `known`: a look just now. */
  async settle(commit: string, known: Differences | null = null): Promise<boolean> {
    const wanted = await this.treeOf(commit)
    const { index } = this
    if (this.#rests(wanted)) return false
    await this.removeForeign()
    const seen = known ?? (await index.differences())
    const isTouched = seen === null ? await this.git.isTouched() : seen.changed.size > 0
    if (!isTouched && (await index.tree(commit)) === wanted) {
      await this.submodules.reset()
      return false
    }
    if (isTouched || seen === null || !(await this.#writeFew(wanted))) await this.toTree(wanted)
    return true
  }

  /** Files that a commit of Ralph's own adds or changes, in a tree that nobody touched. False where git has to do it. */
  async #writeFew(wanted: string): Promise<boolean> {
    const { index, objects } = this
    const changes = await changesBetween(objects, await index.tree(wanted), wanted)
    const isOwn = ({ path, status, oldMode, newMode }: Change) =>
      path.startsWith('.ralph/') && newMode === '100644' && (status === 'A' || oldMode === newMode)
    if (changes.length > FEW || !changes.every(isOwn)) return false
    const entries = new Map<string, Buffer>()
    for (const { path, newOid } of changes) {
      const bytes = await objects.contents(newOid)
      if (bytes === null) return false
      await this.writeOwn(path, bytes)
      const found = fileAt(join(this.top, path), toLatin1(path), index.table.idLength)
      if (found?.oid !== newOid) return false
      entries.set(found.path, found.entry)
    }
    if (await index.put(entries, wanted)) return true
    // Attributes came with it: every file is written anew.
    index.drop()
    return false
  }

  /** What is checked out is what the tree's name says: git checks out whatever stands in its place. */
  async toTree(tree: string): Promise<void> {
    const { index } = this
    const { bytes: before } = index.table
    this.git.unlock()
    await this.removeForeign()
    try {
      await this.#checkOutTree(tree)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      // A folder that its owner may not write to keeps what is in it.
      await openUp(this.top)
      await this.#checkOutTree(tree)
    }
    await this.removeForeign()
    await this.submodules.reset()
    const { table } = index
    if (!(await indexHolds(this.git, this.objects, tree, table)))
      throw new DamagedClone(`a checkout of ${tree} gives other files`)
    await this.#proveWritten(notedSince(before, table.bytes, table.idLength))
  }

  async #checkOutTree(tree: string): Promise<void> {
    const { git, index } = this
    const [names, loose] = await Promise.all([git.indexDiff(tree), git.looseAttributes()])
    const changed = attributesIn(names)
    // Attributes that nobody committed, or that go now, would count at the checkout, too.
    for (const path of [...changed, ...attributesIn(loose)]) await this.removeAt(path)
    // Files that stay would stay as other attributes had them: every file is written anew.
    if (changed.length > 0) index.drop()
    await git.readTree(tree, 'index and files')
    await index.reload(tree)
    await git.clean()
  }

  /** Makes the work tree what somebody gets who checks the tree out: git may store other bytes than an agent wrote. */
  async asStored(tree: string, changes: readonly Change[]): Promise<void> {
    if (attributesIn(changes.map(({ path }) => path)).length > 0) {
      this.index.drop()
      await this.toTree(tree)
      return
    }
    const other = await storedOtherwise(this.git, changes)
    await this.#checkOutAnew(other.map(pathBytes))
  }

  /** The `.git` entries that came since the job began; they are removed, for no commit can hold them. */
  async removeNested(folders: Folders | null, changes: readonly Change[]): Promise<string[]> {
    const { repositories } = this.submodules
    const all = folders === null ? [] : await nestedGits(this.git, folders, changes, repositories)
    const fresh = all.filter((path) => this.nestedBefore?.has(path) !== true)
    for (const path of fresh) await this.removeAt(path)
    // With an entry that says submodule, its files would be in no diff, and git would look for a repository there.
    await this.reset(changes.filter(({ newMode, path }) => newMode === GITLINK && !repositories.has(path)))
    return fresh
  }

  /** Removes what the agent's tree has at a path; nothing where a link above it leads elsewhere. */
  async removeAt(path: string): Promise<void> {
    const place = await insideTree(this.top, path)
    if (place !== null) removeNow(place)
  }

  /** Writes one of our files; a link that somebody put in its way is removed, never followed. */
  async writeOwn(path: string, text: string | Buffer): Promise<void> {
    const parts = path.split('/')
    let at = this.top
    for (const part of parts.slice(0, -1)) {
      at = join(at, part)
      if (isFolderNow(at)) continue
      removeNow(at)
      await mkdir(fsPath(at))
    }
    const file = join(at, parts.at(-1) ?? '')
    try {
      placeFile(this.git, text, file)
    } catch {
      // The tree is on another file system.
      await copyFile(join(this.git.own, 'fresh'), fsPath(file), constants.COPYFILE_EXCL)
    }
  }

  /** The submodules of our index, and those that are checked out. */
  get places(): Places {
    return { top: this.top, gitlinks: this.index.table.gitlinks, known: this.submodules.repositories }
  }
}

function tooDeep(paths: readonly string[]): string {
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : ''
  return `deeper than tools bear, and removed: ${quotedPath(paths[0] ?? '', 160)}${more}`
}
