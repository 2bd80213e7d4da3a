// A clone of a commit in a folder of its own. Every object is hashed on its way in, so what was planted beside the repository's own
// objects does not reach it; what no commit holds is not there.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readRegularFile, removeSync } from '../system/files.ts'
import type { Git } from './git.ts'
import { execute, LIST_IGNORED, NO_CONFIG, nulFields } from './git-process.ts'

/** What a clone shows beside the commit: names of branches, as a checkout of the feature has them. */
export type ClonedRefs = { branch: string; base: { branch: string; sha: string } }

export class CleanClone {
  readonly #git: Git
  /** A repository without a work tree, which holds the objects. */
  readonly #store: string
  readonly #format: string
  /** What it was made for. */
  readonly #head: string

  private constructor(git: Git, store: string, head: string) {
    this.#git = git
    this.#store = store
    this.#head = head
    this.#format = head.length === 64 ? 'sha256' : 'sha1'
  }

  /** Copies what `commit` reaches into `store`, a folder that is not there yet. Throws GitError. */
  static async of(git: Git, commit: string, store: string): Promise<CleanClone> {
    const clone = new CleanClone(git, store, commit)
    const format = `--object-format=${clone.#format}`
    await clone.#run(['init', '-q', '--bare', '--template=', format, store], git.own)
    await clone.#take(commit, null)
    const shallow = await readRegularFile(join(git.shared, 'shallow'))
    if (shallow !== null) await writeFile(join(store, 'shallow'), shallow)
    return clone
  }

  /** Takes over what `commit` reaches and `base` does not. */
  async #take(commit: string, base: string | null): Promise<void> {
    const packs = join(this.#store, 'objects', 'pack')
    const name = await this.#git.packBetween(commit, base, join(packs, 'pack'))
    const pack = join(packs, `pack-${name}`)
    // git wrote the index by the names that objects claim; this one is made of what is in them.
    for (const kind of ['idx', 'rev']) removeSync(`${pack}.${kind}`)
    await this.#run(['index-pack', '-o', `${pack}.idx`, `${pack}.pack`], this.#store)
  }

  /** A fork point may be no ancestor of the head, and the tests as they were stand in a commit of their own. */
  async #ensure(commit: string): Promise<void> {
    const isHere = async () => (await this.#run(['cat-file', '-e', commit], this.#store, [1, 128])).code === 0
    if (await isHere()) return
    await this.#take(commit, this.#head)
    // The clone may have been fetched deeper since: then it is an ancestor of the head, and was not taken with that.
    if (!(await isHere())) await this.#take(commit, null)
  }

  /** Makes `tree` a checkout of the commit with a `.git` of its own, and nothing beside it. */
  async checkOut(commit: string, tree: string, { branch, base }: ClonedRefs): Promise<void> {
    await mkdir(tree, { recursive: true })
    const inside = join(tree, '.git')
    const first = ['--template=', `--object-format=${this.#format}`, `--initial-branch=${branch}`]
    await this.#run(['init', '-q', ...first, tree], tree)
    await writeFile(join(inside, 'objects', 'info', 'alternates'), `${join(this.#store, 'objects')}\n`)
    const shallow = await readRegularFile(join(this.#store, 'shallow'))
    if (shallow !== null) await writeFile(join(inside, 'shallow'), shallow)
    await this.#ensure(commit)
    await this.#run(['update-ref', `refs/heads/${branch}`, commit], tree)
    await this.#run(['reset', '-q', '--hard'], tree)
    const isKnown = await this.#run(['cat-file', '-e', base.sha], tree, [1, 128])
    if (isKnown.code === 0)
      await this.#run(['update-ref', `refs/remotes/origin/${base.branch}`, base.sha], tree)
  }

  /** The commits of its submodules, by path. */
  async submodules(commit: string): Promise<Map<string, string>> {
    await this.#ensure(commit)
    const listed = nulFields(await this.#run(['ls-tree', '-r', '-z', commit], this.#store))
    const found = listed.map((line) => /^160000 commit (\w+)\t(.*)$/s.exec(line) ?? [])
    return new Map(found.map(([, oid = '', path = '']) => [path, oid]))
  }

  /**
   * Makes the tracked files those of the commit again and removes what is neither tracked nor ignored. What ran in the tree may
   * have changed its `.git`, so this works by the store's.
   */
  async restore(commit: string, tree: string): Promise<void> {
    await this.#ensure(commit)
    const env = { GIT_DIR: this.#store, GIT_WORK_TREE: tree }
    await this.#run(['-c', 'core.bare=false', 'read-tree', commit], tree, [], env)
    await this.#run(['-c', 'core.bare=false', 'checkout-index', '-f', '-a'], tree, [], env)
    await this.#run(['-c', 'core.bare=false', 'clean', '-ffdq'], tree, [], env)
  }

  /** Ignored files in the tree, as `Git.ignored` has them, by the rules of the tracked files. */
  async ignored(tree: string): Promise<string[]> {
    const env = { GIT_DIR: this.#store, GIT_WORK_TREE: tree }
    return nulFields(await this.#run(['-c', 'core.bare=false', ...LIST_IGNORED], tree, [], env))
  }

  #run(args: readonly string[], directory: string, accept: readonly number[] = [], env = {}) {
    const {
      GIT_DIR: _dir,
      GIT_WORK_TREE: _tree,
      GIT_OBJECT_DIRECTORY: _objects,
      ...own
    } = this.#git.environment()
    const hard = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false']
    return execute([...hard, ...args], {
      directory,
      env: { ...own, ...NO_CONFIG, ...env },
      accept,
    })
  }
}

/** The folders in `place` whose name begins so: of runs that were killed. */
export async function findLeftoverClones(place: string, prefix: string): Promise<string[]> {
  const names = await readdir(place).catch(() => [])
  return names.filter((name) => name.startsWith(prefix)).map((name) => join(place, name))
}

export function removeClone(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true })
}
