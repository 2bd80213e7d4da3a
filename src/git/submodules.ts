// Submodules that are checked out: their files are seen by gates and by no diff of ours, so they must stay as they are.

import { lstat, readdir, realpath } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { clearPathTo, isFolder, readRegularFile, replaceFile, resolveInTree } from '../system/files.ts'
import { fromLatin1 } from '../system/path-text.ts'
import { CatFile, GITLINK } from './cat-file.ts'
import { restoreClone, type Snapshot, shareIndex, takeSnapshot } from './clone.ts'
import { removeForeignRepositories } from './foreign-repositories.ts'
import { type Clone, Git, openClone } from './git.ts'
import type { Environment } from './git-process.ts'
import { isToolOutput, removeIgnored } from './hidden-changes.ts'
import { OwnIndex } from './own-index.ts'
import { filesOf } from './tree-walk.ts'

/** `link`: its `.git`, a file which names the directory. `inner`: those right below it that are checked out, too. */
type Submodule = {
  path: string
  git: Git
  objects: CatFile
  index: OwnIndex
  snapshot: Snapshot
  commit: string
  link: Buffer
  inner: ReadonlySet<string>
}

export type Submodules = {
  /** Those of the work tree itself, not of one another, by path. */
  repositories: ReadonlyMap<string, Git>
  /** What stood in the place of a submodule when the job began, and is not of our clone: nothing of it is run. */
  foreign: readonly string[]
  /**
   * Files that differ from what was checked out when the job began, as `lib/vendor: a.txt`, and what a build left there,
   * which was `removed`. Puts their clones back first.
   */
  changed(): Promise<{ changed: string[]; removed: string[] }>
  /** Makes them what they were. */
  reset(): Promise<void>
  /** Of what is ignored in them, `removeIgnored` leaves what was there now. */
  rememberIgnored(): Promise<void>
  removeIgnored(): Promise<void>
}

/** Where nobody looks at files: no submodule is asked for, and nothing is run in one. */
export const NO_SUBMODULES: Submodules = {
  repositories: new Map(),
  foreign: [],
  changed: async () => ({ changed: [], removed: [] }),
  reset: async () => {},
  rememberIgnored: async () => {},
  removeIgnored: async () => {},
}

/** Looks for those that are there, and in them, before any agent ran. Nothing is asked of git where there are none. */
export async function findSubmodules(git: Git, head: string, env: Environment): Promise<Submodules> {
  const top = git.clone.workTree
  const foreign: string[] = []
  const { all, repositories } = await collect(git, head, { above: '', top: git.clone, env, foreign })
  const ignored = new Map<Submodule, string[]>()
  return {
    repositories,
    foreign,
    async changed() {
      const changed: string[] = []
      const removed: string[] = []
      for (const one of all) {
        const place = await resolveInTree(top, one.path)
        if (place === null || !(await isFolder(place))) {
          changed.push(`${one.path}: it was removed`)
          continue
        }
        await putLink(one)
        await restoreClone(one.git, one.snapshot)
        const found = await differences(one)
        const built = found.added.filter(isToolOutput)
        const others = [...found.changed, ...found.added.filter((path) => !built.includes(path))]
        for (const file of others) changed.push(`${one.path}: ${file}`)
        for (const file of built) removed.push(`${one.path}: ${file}`)
        if (others.length === 0 && built.length > 0) await checkOutAnew(one)
      }
      return { changed, removed }
    },
    async reset() {
      for (const one of all) {
        const { git: inside, snapshot } = one
        await clearPathTo(top, join(inside.clone.workTree, '.git'))
        await putLink(one)
        await restoreClone(inside, snapshot)
        const { changed, added } = await differences(one)
        if (changed.length + added.length > 0) await checkOutAnew(one)
        shareIndex(inside)
      }
    },
    async rememberIgnored() {
      for (const one of all) ignored.set(one, await one.git.ignored())
    },
    async removeIgnored() {
      for (const [one, before] of ignored) await removeIgnored(one.git, before)
    },
  }
}

type SearchScope = { above: string; top: Clone; env: Environment; foreign: string[] }

async function collect(git: Git, head: string, scope: SearchScope) {
  const { workTree } = git.clone
  const { above, top, env, foreign } = scope
  const all: Submodule[] = []
  const repositories = new Map<string, Git>()
  if ((await lstat(join(workTree, '.gitmodules')).catch(() => null)) === null) return { all, repositories }
  using objects = new CatFile(git)
  for (const file of (await filesOf(objects, head)).filter(({ mode }) => mode === GITLINK)) {
    const path = fromLatin1(file.path)
    const place = await resolveInTree(workTree, path)
    if (place === null || !(await isFolder(place))) continue
    const shown = above === '' ? path : `${above}/${path}`
    // git does what the configuration of a repository says: only what is in our own `.git` is nobody else's.
    const link = await readRegularFile(join(place, '.git'))
    if (link === null || !(await isInModules(link, place, top))) {
      const names: string[] = await readdir(place).catch(() => [])
      // Of files alone the work tree's own index tells, but not what is inside a submodule.
      if (names.includes('.git') || (above !== '' && names.length > 0)) foreign.push(shown)
      continue
    }
    const clone = await openClone(place, env).catch(() => null)
    // From a folder that is no repository git walks up: what it finds there is not the submodule's.
    if (clone?.head == null || (await realpath(clone.workTree)) !== (await realpath(place))) continue
    const inside = await Git.open(clone, env)
    const snapshot = await takeSnapshot(inside, true)
    const deeper = await collect(inside, clone.head, { ...scope, above: shown })
    const own = new CatFile(inside)
    const index = new OwnIndex(inside, own)
    const rest = { snapshot, commit: clone.head, link, inner: new Set(deeper.repositories.keys()) }
    all.push({ path: shown, git: inside, objects: own, index, ...rest })
    all.push(...deeper.all)
    repositories.set(path, inside)
  }
  return { all, repositories }
}

/** Whether a `.git` file leads to where the clone keeps its submodules. */
async function isInModules(link: Buffer, place: string, { gitDir, commonDir }: Clone): Promise<boolean> {
  const named = /^gitdir: (.+?)\n?$/.exec(link.toString('utf8'))?.[1]
  const found = named === undefined ? null : await realpath(resolve(place, named)).catch(() => null)
  if (found === null) return false
  const homes = [gitDir, commonDir].map((folder) => realpath(join(folder, 'modules')).catch(() => null))
  return (await Promise.all(homes)).some((home) => home !== null && found.startsWith(home + sep))
}

async function checkOutAnew({ git, index, commit }: Submodule): Promise<void> {
  await index.during(commit, async () => {
    await git.readTree(commit, 'index and files')
    await index.reload()
    await git.clean()
  })
}

type Differences = { changed: string[]; added: string[] }

async function differences({ git, objects, index, commit, inner }: Submodule): Promise<Differences> {
  git.unlock()
  const found = await index.during(commit, async () => {
    const { gitlinks } = index.file
    const foreign = await removeForeignRepositories({ top: git.clone.workTree, gitlinks, known: inner })
    await git.addAll()
    await index.reload()
    return {
      changed: [...foreign, ...(await git.indexDiff(commit, 'a'))],
      added: await git.indexDiff(commit, 'A'),
    }
  })
  objects[Symbol.dispose]()
  return found
}

async function putLink({ git, link }: Submodule): Promise<void> {
  const file = join(git.clone.workTree, '.git')
  if ((await readRegularFile(file))?.equals(link) !== true) await replaceFile(file, link)
}
