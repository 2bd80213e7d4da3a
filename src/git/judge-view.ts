// The work tree for a judge: agent documents are those of the fork point, and new ignored files are hidden.

import { lstatSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { resolveInTree } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'
import { FileStash } from './file-stash.ts'
import { isListed, removeIgnored } from './hidden-changes.ts'
import { changesBetween, pathsIn } from './trees.ts'
import type { WorkTree } from './work-tree.ts'

export type DocumentRules = {
  /** Whether agents read the file at this path by themselves. */
  isDocument(path: string): boolean
  /** Names of documents that agents also read in folders above the work tree. */
  above: readonly string[]
}

const LINK = '120000'

export class JudgeView {
  readonly #tree: WorkTree
  readonly #rules: DocumentRules
  readonly #inTree: FileStash
  readonly #above: FileStash
  /** What was there before any agent ran; null until `remember` was called. */
  #before: { ignored: readonly string[]; above: ReadonlyMap<string, string> } | null = null

  constructor(tree: WorkTree, rules: DocumentRules) {
    this.#tree = tree
    this.#rules = rules
    const { gitDir } = tree.git.clone
    this.#inTree = new FileStash(gitDir, 'tree')
    this.#above = new FileStash(gitDir, 'above')
  }

  /** Call it before any agent runs: the files of that moment belong to the user. */
  async remember(): Promise<void> {
    if (this.#before !== null) return
    await this.#putBack(false)
    this.#before = { ignored: await this.#tree.git.ignored(), above: this.#documentsAbove() }
  }

  /** Hides files from the judge. Returns the ignored files that stay visible. Always call `close` afterwards. */
  async open(fork: string, commit: string): Promise<readonly string[]> {
    const { git } = this.#tree
    const ignored = await git.ignored()
    const isNew = (path: string) => this.#before !== null && !isListed(this.#before.ignored, path)
    const hidden = ignored.filter((path) => isNew(path) || this.#rules.isDocument(path))
    for (const path of hidden) await this.#inTree.take(await resolveInTree(this.#tree.top, path), path)
    await this.#documentsOf(fork, commit)
    const before = this.#before?.above ?? this.#documentsAbove()
    for (const [path, identity] of this.#documentsAbove())
      if (before.get(path) !== identity) await this.#above.take(path, encodeURIComponent(path))
    return ignored.filter((path) => !hidden.includes(path))
  }

  /** Call it after the commit was restored: removes what the judge left, and puts hidden files back. */
  async close(stayed: readonly string[]): Promise<void> {
    await removeIgnored(this.#tree.git, stayed)
    await this.#putBack(true)
  }

  async #documentsOf(fork: string, commit: string): Promise<void> {
    const { objects, top } = this.#tree
    const { isDocument } = this.#rules
    if ((await objects.root(fork)) === null) {
      // A shallow clone may not have the fork point. Then all documents are hidden, since their author is not known.
      const paths = await pathsIn(objects, commit)
      for (const path of paths.filter(isDocument)) await this.#tree.removeAt(path)
      return
    }
    const changes = await changesBetween(objects, fork, commit)
    for (const { path, status, oldMode, oldOid } of changes.filter((one) => isDocument(one.path))) {
      await this.#tree.removeAt(path)
      const bytes = status === 'A' ? null : await objects.contents(oldOid)
      if (bytes === null) continue
      if (oldMode !== LINK) await this.#tree.writeFileAt(path, bytes)
      else if ((await resolveInTree(top, path)) !== null)
        await symlink(bytes, fsPath(join(top, path))).catch(() => {})
    }
  }

  /** Agent documents in the folders above the work tree. */
  #documentsAbove(): Map<string, string> {
    const found = new Map<string, string>()
    for (let at = dirname(this.#tree.top); ; at = dirname(at)) {
      for (const name of this.#rules.above) {
        const path = join(at, name)
        const identity = identityOf(path)
        if (identity !== null) found.set(path, identity)
      }
      if (at === dirname(at)) return found
    }
  }

  /** `overwrites`: existing files were written by the judge. After a killed run, existing files belong to the user and stay. */
  async #putBack(overwrites: boolean): Promise<void> {
    await this.#inTree.putBack('', this.#tree.top, overwrites)
    for (const name of await this.#above.names())
      await this.#above.putBack(name, decodeURIComponent(name), overwrites)
    this.#inTree.remove()
    this.#above.remove()
  }
}

/** Identifies a file by inode and ctime, which no program can set; null if there is none, or it cannot be read. */
function identityOf(path: string): string | null {
  try {
    const stats = lstatSync(path)
    return `${stats.ino} ${stats.ctimeMs}`
  } catch {
    return null
  }
}
