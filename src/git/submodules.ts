// Submodules that are checked out: their files are seen by gates and by no diff of ours, so they must stay as they are.
import { lstat, mkdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readRegular, replaceFile } from '../system/files.ts'
import { putBack, type Snapshot, shareIndex, takeSnapshot } from './clone.ts'
import { Git, openClone } from './git.ts'

type Environment = Readonly<Record<string, string | undefined>>
/** `link`: its `.git`, where that is a file which names the directory. */
type Submodule = { path: string; git: Git; snapshot: Snapshot; commit: string; link: Buffer | null }

export type Submodules = {
  /** Files that differ from what was checked out when the job began, as `lib/vendor: a.txt`. Puts their clones back first. */
  changed(): Promise<string[]>
  /** Makes them what they were. */
  reset(): Promise<void>
}

/** Looks for those that are there, and in them, before any agent ran. Nothing is asked of git where there are none. */
export async function findSubmodules(git: Git, head: string, env: Environment): Promise<Submodules> {
  const all = await collect(git, head, '', env)
  return {
    async changed() {
      const found: string[] = []
      for (const { path, git: inside, snapshot, commit, link } of all) {
        if (!(await isFolder(inside.clone.workTree))) {
          found.push(`${path}: it was removed`)
          continue
        }
        await putLink(inside, link)
        await putBack(inside, snapshot)
        for (const file of await differences(inside, commit)) found.push(`${path}: ${file}`)
      }
      return found
    },
    async reset() {
      for (const { git: inside, snapshot, commit, link } of all) {
        const { workTree } = inside.clone
        if (!(await isFolder(workTree))) await rm(workTree, { force: true })
        await mkdir(workTree, { recursive: true })
        await putLink(inside, link)
        await putBack(inside, snapshot)
        if ((await differences(inside, commit)).length > 0) {
          await inside.run(['read-tree', '--reset', '-u', commit])
          await inside.run(['clean', '-ffdq', '--', '.'])
          await inside.sealIndex()
        }
        await shareIndex(inside)
      }
    },
  }
}

async function collect(git: Git, head: string, above: string, env: Environment): Promise<Submodule[]> {
  const { workTree } = git.clone
  if (!(await isThere(join(workTree, '.gitmodules')))) return []
  const listed = await git.run(['ls-tree', '-r', '-z', head])
  const paths = listed.stdout.split('\0').filter((entry) => entry.startsWith('160000 '))
  const found: Submodule[] = []
  for (const entry of paths) {
    const path = entry.slice(entry.indexOf('\t') + 1)
    const place = join(workTree, path)
    if (!(await isThere(join(place, '.git')))) continue
    const clone = await openClone(place, env).catch(() => null)
    // From a folder that is no repository git walks up: what it finds there is not the submodule's.
    if (clone?.head == null || (await realpath(clone.workTree)) !== (await realpath(place))) continue
    const inside = await Git.open(clone, env)
    const snapshot = await takeSnapshot(inside, true)
    const shown = above === '' ? path : `${above}/${path}`
    const link = await readRegular(join(place, '.git'))
    found.push({ path: shown, git: inside, snapshot, commit: clone.head, link })
    found.push(...(await collect(inside, clone.head, shown, env)))
  }
  return found
}

async function differences(git: Git, commit: string): Promise<string[]> {
  await git.unlock()
  await git.openIndex(commit)
  await git.run(['add', '-A', '--', '.'])
  await git.sealIndex()
  const names = await git.run(['diff-index', '--cached', '--name-only', '-z', '--no-renames', commit, '--'])
  return names.stdout.split('\0').filter(Boolean)
}

async function putLink(git: Git, link: Buffer | null): Promise<void> {
  const file = join(git.clone.workTree, '.git')
  if (link !== null && (await readRegular(file))?.equals(link) !== true) await replaceFile(file, link)
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() === true
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null
}
