// The work tree as a judge sees it: documents for agents as they were at the fork point, and nothing that is ignored and new.

import { lstatSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { resolveInTree } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'
import { FileStash } from './file-stash.ts'
import { isListed, removeIgnored } from './hidden-changes.ts'
import { changesBetween, pathsIn } from './tree-walk.ts'
import type { WorkTree } from './work-tree.ts'

export type DocumentRules = {
  /** Whether agents read the file at this path unasked. */
  isDocument(path: string): boolean
  /** Names that they look for in the folders above the work tree, too. */
  above: readonly string[]
}

const LINK = '120000'

export class JudgeView {
  readonly #tree: WorkTree
  readonly #rules: DocumentRules
  readonly #inTree: FileStash
  readonly #above: FileStash
  /** As it was before any agent ran; null where nobody looked. */
  #before: { ignored: readonly string[]; above: ReadonlyMap<string, string> } | null = null

  constructor(tree: WorkTree, rules: DocumentRules) {
    this.#tree = tree
    this.#rules = rules
    const { gitDir } = tree.git.clone
    this.#inTree = new FileStash(gitDir, 'tree')
    this.#above = new FileStash(gitDir, 'above')
  }

  /** Before any agent runs: what is there now is the person's. */
  async remember(): Promise<void> {
    if (this.#before !== null) return
    await this.#putBack(false)
    this.#before = { ignored: await this.#tree.git.ignored(), above: this.#documentsAbove() }
  }

  /** Gives what of the ignored files stays. `close` is to be called whatever becomes of the judge. */
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

  /** When the commit is restored: what the judge left is gone, and what was put aside comes back. */
  async close(stayed: readonly string[]): Promise<void> {
    await removeIgnored(this.#tree.git, stayed)
    await this.#putBack(true)
  }

  async #documentsOf(fork: string, commit: string): Promise<void> {
    const { objects, top } = this.#tree
    const { isDocument } = this.#rules
    if ((await objects.root(fork)) === null) {
      // A shallow clone may not have it: then nobody knows whose words they are.
      const paths = await pathsIn(objects, commit)
      for (const path of paths.filter(isDocument)) await this.#tree.removeAt(path)
      return
    }
    const changes = await changesBetween(objects, fork, commit)
    for (const { path, status, oldMode, oldOid } of changes.filter((one) => isDocument(one.path))) {
      await this.#tree.removeAt(path)
      const bytes = status === 'A' ? null : await objects.contents(oldOid)
      if (bytes === null) continue
      if (oldMode !== LINK) await this.#tree.writeOwn(path, bytes)
      else if ((await resolveInTree(top, path)) !== null)
        await symlink(bytes, fsPath(join(top, path))).catch(() => {})
    }
  }

  /** What stands in the folders above. */
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

  /** `overwrites`: what came in its place meanwhile is the judge's; behind a killed run it is the person's, and stays. */
  async #putBack(overwrites: boolean): Promise<void> {
    await this.#inTree.putBack('', this.#tree.top, overwrites)
    for (const name of await this.#above.names())
      await this.#above.putBack(name, decodeURIComponent(name), overwrites)
    this.#inTree.remove()
    this.#above.remove()
  }
}

/** By the time that no program can choose; null where there is nothing, or nobody may look. */
function identityOf(path: string): string | null {
  try {
    const seen = lstatSync(path)
    return `${seen.ino} ${seen.ctimeMs}`
  } catch {
    return null
  }
}
