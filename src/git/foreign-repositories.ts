// What stands in the place of a submodule that is not checked out: git shows no file of it, and runs the programs that a repository there names.
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isFolder, openUp, readRegular } from '../system/files.ts'
import type { Git } from './git.ts'

/** The mode of a submodule, as an index has it. */
const GITLINK = Buffer.from([0, 0, 0xe0, 0])

/** `folder` is that of the submodule; null for a link above it, at which git gives up. */
type ForeignRepository = { path: string; folder: string | null }

/** What is there, at the submodules of our index; but for the files of those that are checked out (`known`). */
export async function findForeignRepositories(git: Git, known: ReadonlySet<string>): Promise<string[]> {
  return (await find(git, known)).map(({ path }) => path)
}

/** Removes it. To be called before every `git add`: it would run what a repository there names. */
export async function removeForeignRepositories(git: Git, known: ReadonlySet<string>): Promise<string[]> {
  const top = git.clone.workTree
  const found = await find(git, known)
  for (const { path, folder } of found) if (folder === null) await rm(join(top, path), { force: true })
  for (const folder of new Set(found.map((one) => one.folder))) {
    if (folder === null) continue
    await openUp(join(top, folder))
    await rm(join(top, folder), { recursive: true, force: true })
    await mkdir(join(top, folder))
  }
  return found.map(({ path }) => path)
}

async function find(git: Git, known: ReadonlySet<string>): Promise<ForeignRepository[]> {
  // Most indexes hold none: git is not asked.
  if ((await readRegular(join(git.own, 'index')))?.includes(GITLINK) !== true) return []
  const top = git.clone.workTree
  const listed = await git.run(['ls-files', '-z', '--stage'])
  const found = new Map<string, ForeignRepository>()
  for (const entry of listed.stdout.split('\0')) {
    if (!entry.startsWith('160000 ')) continue
    const path = entry.slice(entry.indexOf('\t') + 1)
    const link = await linkIn(top, path)
    if (link !== null) found.set(link, { path: link, folder: null })
    if (link !== null || known.has(path) || !(await isFolder(join(top, path)))) continue
    for (const name of await readdir(join(top, path)).catch(() => ['']))
      found.set(`${path}/${name}`, { path: `${path}/${name}`, folder: path })
  }
  return [...found.values()]
}

/** The first part of a path that is a link. */
async function linkIn(top: string, path: string): Promise<string | null> {
  const parts = path.split('/')
  for (const at of parts.map((_, index) => parts.slice(0, index + 1).join('/')))
    if ((await lstat(join(top, at)).catch(() => null))?.isSymbolicLink() === true) return at
  return null
}
