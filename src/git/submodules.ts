// Checked-out submodules. Gates see their files but no diff shows them, so they must not change.

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

/** `link`: its `.git` file, which names the git directory. `inner`: checked-out submodules directly in it. */
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
  /** Submodules of the work tree itself, without nested ones, by path. */
  repositories: ReadonlyMap<string, Git>
  /** Repositories or files in the place of a submodule that were not the clone's at the start. Ralph runs no git in them. */
  foreign: readonly string[]
  /**
   * Restores the submodules' clones, and returns files that differ from the job's start (`lib/vendor: a.txt`), and build output,
   * which it has removed.
   */
  changed(): Promise<{ changed: string[]; removed: string[] }>
  /** Restores all submodules. */
  reset(): Promise<void>
  /** `removeIgnored` will keep the ignored files that are there now. */
  rememberIgnored(): Promise<void>
  removeIgnored(): Promise<void>
}

/** For commands that do not look at files: no submodule is opened. */
export const NO_SUBMODULES: Submodules = {
  repositories: new Map(),
  foreign: [],
  changed: async () => ({ changed: [], removed: [] }),
  reset: async () => {},
  rememberIgnored: async () => {},
  removeIgnored: async () => {},
}

/** Finds checked-out submodules, also nested ones, before any agent runs. Does not run git if there are none. */
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
        await restoreLink(one)
        await restoreClone(one.git, one.snapshot)
        const found = await differences(one)
        const buildOutput = found.added.filter(isToolOutput)
        const others = [...found.changed, ...found.added.filter((path) => !buildOutput.includes(path))]
        for (const file of others) changed.push(`${one.path}: ${file}`)
        for (const file of buildOutput) removed.push(`${one.path}: ${file}`)
        if (others.length === 0 && buildOutput.length > 0) await checkOutAnew(one)
      }
      return { changed, removed }
    },
    async reset() {
      for (const one of all) {
        const { git: inside, snapshot } = one
        await clearPathTo(top, join(inside.clone.workTree, '.git'))
        await restoreLink(one)
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
    // git runs programs that a repository's configuration names, so only repositories inside the clone's `.git` are trusted.
    const link = await readRegularFile(join(place, '.git'))
    if (link === null || !(await isInModules(link, place, top))) {
      const names: string[] = await readdir(place).catch(() => [])
      // The work tree's own index finds files here, but not those inside of a submodule.
      if (names.includes('.git') || (above !== '' && names.length > 0)) foreign.push(shown)
      continue
    }
    const clone = await openClone(place, env).catch(() => null)
    // In a folder that is no repository, git walks up and finds another one.
    if (clone?.head == null || (await realpath(clone.workTree)) !== (await realpath(place))) continue
    const inside = await Git.open(clone, env)
    const snapshot = await takeSnapshot(inside, true)
    const nested = await collect(inside, clone.head, { ...scope, above: shown })
    const own = new CatFile(inside)
    const index = new OwnIndex(inside, own)
    const rest = { snapshot, commit: clone.head, link, inner: new Set(nested.repositories.keys()) }
    all.push({ path: shown, git: inside, objects: own, index, ...rest })
    all.push(...nested.all)
    repositories.set(path, inside)
  }
  return { all, repositories }
}

/** Whether a `.git` file points to the folder where the clone keeps its submodules. */
async function isInModules(link: Buffer, place: string, { gitDir, commonDir }: Clone): Promise<boolean> {
  const named = /^gitdir: (.+?)\n?$/.exec(link.toString('utf8'))?.[1]
  const found = named === undefined ? null : await realpath(resolve(place, named)).catch(() => null)
  if (found === null) return false
  const homes = [gitDir, commonDir].map((folder) => realpath(join(folder, 'modules')).catch(() => null))
  return (await Promise.all(homes)).some((home) => home !== null && found.startsWith(home + sep))
}

async function checkOutAnew({ git, index, commit }: Submodule): Promise<void> {
  await index.withOpenIndex(commit, async () => {
    await git.readTree(commit, 'index and files')
    await index.reload()
    await git.clean()
  })
}

type Differences = { changed: string[]; added: string[] }

async function differences({ git, objects, index, commit, inner }: Submodule): Promise<Differences> {
  git.unlock()
  const found = await index.withOpenIndex(commit, async () => {
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

async function restoreLink({ git, link }: Submodule): Promise<void> {
  const file = join(git.clone.workTree, '.git')
  if ((await readRegularFile(file))?.equals(link) !== true) await replaceFile(file, link)
}
