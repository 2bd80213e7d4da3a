// Checked-out submodules. Gates see their files but no diff shows them, so they must not change.

import { lstat, readdir, realpath } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { clearPathTo, isFolder, readRegularFile, replaceFile, resolveInTree } from '../system/files.ts'
import { CatFile, GITLINK } from './cat-file.ts'
import { restoreClone, type Snapshot, shareIndex, takeSnapshot } from './clone.ts'
import { removeForeignRepositories } from './foreign-repositories.ts'
import { type Clone, Git, openClone } from './git.ts'
import { GitIndex } from './git-index.ts'
import type { Environment } from './git-process.ts'
import { isToolOutput, removeIgnored } from './hidden-changes.ts'
import { filesOf } from './trees.ts'

/** `gitFile`: the content of its `.git` file, which names the git directory. `inner`: paths of checked-out submodules directly in it. */
type Submodule = {
  path: string
  git: Git
  index: GitIndex
  snapshot: Snapshot
  commit: string
  gitFile: Buffer
  inner: ReadonlySet<string>
}

export type Submodules = {
  /** Submodules of the work tree itself, without nested ones, by path. */
  repositories: ReadonlyMap<string, Git>
  /** Repositories or files instead of a submodule that were not the clone's at the start. Ralph runs no git in them. */
  foreign: readonly string[]
  /**
   * Restores the submodules' clones. `changed`: files that differ from the job's start (`lib/vendor: a.txt`). `removed`: build
   * output, which is removed.
   */
  changed(): Promise<{ changed: string[]; removed: string[] }>
  /** Restores all submodules. */
  reset(): Promise<void>
  /** Remembers the ignored files that are there now, so that `removeIgnored` keeps them. */
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
  const scope = { parentPath: '', top: git.clone, env, foreign }
  const { all, repositories } = await collect(git, head, scope)
  const ignored = new Map<Submodule, string[]>()
  return {
    repositories,
    foreign,
    async changed() {
      const changed: string[] = []
      const removed: string[] = []
      for (const submodule of all) {
        const { path: folder, git: innerGit, snapshot } = submodule
        const place = await resolveInTree(top, folder)
        if (place === null || !(await isFolder(place))) {
          changed.push(`${folder}: it was removed`)
          continue
        }
        await restoreGitFile(submodule)
        await restoreClone(innerGit, snapshot)
        const found = await findDifferences(submodule)
        const buildOutput = found.added.filter(isToolOutput)
        const others = [...found.changed, ...found.added.filter((path) => !buildOutput.includes(path))]
        for (const file of others) changed.push(`${folder}: ${file}`)
        for (const file of buildOutput) removed.push(`${folder}: ${file}`)
        if (others.length === 0 && buildOutput.length > 0) await checkOutAnew(submodule)
      }
      return { changed, removed }
    },
    async reset() {
      for (const submodule of all) {
        const { git: innerGit, snapshot } = submodule
        await clearPathTo(top, join(innerGit.clone.workTree, '.git'))
        await restoreGitFile(submodule)
        await restoreClone(innerGit, snapshot)
        const { changed, added } = await findDifferences(submodule)
        if (changed.length + added.length > 0) await checkOutAnew(submodule)
        shareIndex(innerGit)
      }
    },
    async rememberIgnored() {
      for (const submodule of all) ignored.set(submodule, await submodule.git.ignored())
    },
    async removeIgnored() {
      for (const [submodule, before] of ignored) await removeIgnored(submodule.git, before)
    },
  }
}

/** `parentPath`: of the submodule that is searched; empty for the work tree itself. `foreign` collects what is found. */
type SearchScope = { parentPath: string; top: Clone; env: Environment; foreign: string[] }

async function collect(git: Git, head: string, scope: SearchScope) {
  const { workTree } = git.clone
  const { parentPath, top, env, foreign } = scope
  const all: Submodule[] = []
  const repositories = new Map<string, Git>()
  if ((await lstat(join(workTree, '.gitmodules')).catch(() => null)) === null) return { all, repositories }
  using objects = new CatFile(git)
  for (const file of (await filesOf(objects, head)).filter(({ mode }) => mode === GITLINK)) {
    const { path } = file
    const place = await resolveInTree(workTree, path)
    if (place === null || !(await isFolder(place))) continue
    const fullPath = parentPath === '' ? path : `${parentPath}/${path}`
    // git runs programs that a repository's configuration names, so only repositories inside the clone's `.git` are trusted.
    const gitFile = await readRegularFile(join(place, '.git'))
    if (gitFile === null || !(await isInModules(gitFile, place, top))) {
      const names: string[] = await readdir(place).catch(() => [])
      // Plain files instead of a submodule of the work tree are found by the work tree's index. Deeper ones are found only here.
      if (names.includes('.git') || (parentPath !== '' && names.length > 0)) foreign.push(fullPath)
      continue
    }
    const clone = await openClone(place, env).catch(() => null)
    // In a folder that is not a repository, git walks up and finds another one.
    if (clone?.head == null || (await realpath(clone.workTree)) !== (await realpath(place))) continue
    const innerGit = await Git.open(clone, env)
    const snapshot = await takeSnapshot(innerGit, true)
    const nested = await collect(innerGit, clone.head, { ...scope, parentPath: fullPath })
    const index = new GitIndex(innerGit)
    const inner = new Set(nested.repositories.keys())
    const contents = { commit: clone.head, gitFile, inner, snapshot }
    all.push({ path: fullPath, git: innerGit, index, ...contents })
    all.push(...nested.all)
    repositories.set(path, innerGit)
  }
  return { all, repositories }
}

/** Whether a `.git` file points to the folder where the clone keeps its submodules. */
async function isInModules(gitFile: Buffer, place: string, { gitDir, commonDir }: Clone): Promise<boolean> {
  const target = /^gitdir: (.+?)\n?$/.exec(gitFile.toString('utf8'))?.[1]
  if (target === undefined) return false
  const innerGitDir = await realpath(resolve(place, target)).catch(() => null)
  if (innerGitDir === null) return false
  for (const folder of [gitDir, commonDir]) {
    const modules = await realpath(join(folder, 'modules')).catch(() => null)
    if (modules !== null && innerGitDir.startsWith(modules + sep)) return true
  }
  return false
}

async function checkOutAnew({ git, index, commit }: Submodule): Promise<void> {
  await index.open(commit)
  await index.checkOut(commit)
  await git.clean()
}

type Differences = { changed: string[]; added: string[] }

async function findDifferences({ git, index, commit, inner }: Submodule): Promise<Differences> {
  git.unlock()
  await index.open(commit)
  await index.fill(commit)
  const { gitlinks } = await index.listing()
  const foreign = await removeForeignRepositories({ top: git.clone.workTree, gitlinks, known: inner })
  await git.addAll()
  index.changed()
  return {
    changed: [...foreign, ...(await git.indexDiff(commit, 'a'))],
    added: await git.indexDiff(commit, 'A'),
  }
}

async function restoreGitFile({ git, gitFile }: Submodule): Promise<void> {
  const file = join(git.clone.workTree, '.git')
  const content = await readRegularFile(file)
  if (content === null || !content.equals(gitFile)) await replaceFile(file, gitFile)
}
