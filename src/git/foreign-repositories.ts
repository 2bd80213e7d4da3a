// Files in the place of a submodule that is not checked out. git does not show them; and if they are a repository, git runs programs
// that its configuration names.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { firstLinkIn, isFolder, namesIn, removeSync } from '../system/files.ts'
import { fromLatin1, fsPath } from '../system/path-text.ts'

/** Paths: a set, or a map by path. */
export type PathSet = Pick<ReadonlySet<string>, 'has'>

/** A work tree, the submodules of its index (`gitlinks`), and those that are checked out (`known`). */
export type SubmodulePlaces = { top: string; gitlinks: ReadonlySet<string>; known: PathSet }

/** `folder`: the folder of the submodule; null if `path` is a link above it, which git does not follow. */
type ForeignRepository = { path: string; folder: string | null }

/** The paths of such files. Files of checked-out submodules are not among them. */
export async function findForeignRepositories(places: SubmodulePlaces): Promise<string[]> {
  return (await collectForeign(places)).map(({ path }) => path)
}

/** Removes them. Call it before every `git add`, which would run programs that a repository there configures. */
export async function removeForeignRepositories(places: SubmodulePlaces): Promise<string[]> {
  const { top } = places
  const found = await collectForeign(places)
  for (const { path, folder } of found) if (folder === null) removeSync(join(top, path))
  for (const folder of new Set(found.map((one) => one.folder))) {
    if (folder === null) continue
    removeSync(join(top, folder))
    await mkdir(fsPath(join(top, folder)))
  }
  return found.map(({ path }) => path)
}

async function collectForeign({ top, gitlinks, known }: SubmodulePlaces): Promise<ForeignRepository[]> {
  const found = new Map<string, ForeignRepository>()
  for (const name of gitlinks) {
    const path = fromLatin1(name)
    const link = await firstLinkIn(top, path)
    if (link !== null) found.set(link, { path: link, folder: null })
    if (link !== null || known.has(path) || !(await isFolder(join(top, path)))) continue
    for (const inside of await namesIn(join(top, path)).catch(() => ['']))
      found.set(`${path}/${inside}`, { path: `${path}/${inside}`, folder: path })
  }
  return [...found.values()]
}
