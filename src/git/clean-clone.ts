// A clone of a commit in its own folder, without anything that is not committed. Every object is hashed when it is copied, so
// that forged objects of the repository do not get into it.
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readRegularFile, removeSync } from '../system/files.ts'
import type { Git } from './git.ts'
import { execute, LIST_IGNORED, NO_CONFIG, nulFields } from './git-process.ts'

/** Branch names for the clone, like those of a checkout of the feature. */
export type ClonedRefs = { branch: string; base: { branch: string; sha: string } }

export class CleanClone {
  readonly #git: Git
  /** A bare repository with the objects. */
  readonly #store: string
  readonly #format: string
  /** The commit that it was made for. */
  readonly #head: string

  private constructor(git: Git, store: string, head: string) {
    this.#git = git
    this.#store = store
    this.#head = head
    this.#format = head.length === 64 ? 'sha256' : 'sha1'
  }

  /** Copies all objects that `commit` reaches into `store`, a folder that must not exist yet. Throws GitError. */
  static async of(git: Git, commit: string, store: string): Promise<CleanClone> {
    const clone = new CleanClone(git, store, commit)
    const format = `--object-format=${clone.#format}`
    await clone.#run(['init', '-q', '--bare', '--template=', format, store], git.own)
    await clone.#take(commit, null)
    const shallow = await readRegularFile(join(git.shared, 'shallow'))
    if (shallow !== null) await writeFile(join(store, 'shallow'), shallow)
    return clone
  }

  /** Copies the objects that `commit` reaches and `base` does not. */
  async #take(commit: string, base: string | null): Promise<void> {
    const objects = join(this.#store, 'objects')
    const packs = join(objects, 'pack')
    const name = await this.#git.packBetween(commit, base, join(packs, 'pack'), objects)
    const pack = join(packs, `pack-${name}`)
    // git names the objects in its pack index by the ids under which it found them. So Ralph removes that index and makes one from the
    // bytes of the objects.
    for (const kind of ['idx', 'rev']) removeSync(`${pack}.${kind}`)
    await this.#run(['index-pack', '-o', `${pack}.idx`, `${pack}.pack`], this.#store)
  }

  /** Copies a commit if it is missing: a fork point that is not an ancestor of the head, or the commit with the earlier tests. */
  async #ensure(commit: string): Promise<void> {
    const isHere = async () => (await this.#run(['cat-file', '-e', commit], this.#store, [1, 128])).code === 0
    if (await isHere()) return
    await this.#take(commit, this.#head)
    // If the repository was fetched deeper since, the commit may be an ancestor of the head that was not copied with the head.
    if (!(await isHere())) await this.#take(commit, null)
  }

  /** Makes `tree` a checkout of the commit with its own `.git`. */
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
   * Restores the tracked files to the commit, and removes files that are neither tracked nor ignored. Uses the store's repository, as
   * programs may have changed the tree's `.git`.
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

/** The folders in `place` whose names have the prefix: clones of runs that were killed. */
export async function findLeftoverClones(place: string, prefix: string): Promise<string[]> {
  const names = await readdir(place).catch(() => [])
  return names.filter((name) => name.startsWith(prefix)).map((name) => join(place, name))
}

/** Also removes folders that their owner may not write, as Go makes those of its module cache. */
export async function removeClone(folder: string): Promise<void> {
  const options = { recursive: true, force: true }
  await rm(folder, options).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error
    await openFolders(folder)
    await rm(folder, options)
  })
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries) if (entry.isDirectory()) await openFolders(join(folder, entry.name))
}
