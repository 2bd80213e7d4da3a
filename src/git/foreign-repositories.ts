// Finds files in the folder of a submodule that is not checked out. git does not show such files. If they are a repository, git even
// runs programs that its configuration names.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { firstLinkIn, isFolder, namesIn, removeSync } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'

/** A set of paths, or a map by path. */
export type PathSet = Pick<ReadonlySet<string>, 'has'>

/** A work tree, the submodules of its index (`gitlinks`), and those that are checked out (`known`). */
export type SubmodulePlaces = { top: string; gitlinks: ReadonlySet<string>; known: PathSet }

/** A file or folder in the folder of a submodule. `folder` is null if `path` is a link above the submodule, which git does not follow. */
type ForeignFile = { path: string; folder: string | null }

/** The paths of files in the folders of submodules that are not checked out. */
export async function findForeignRepositories(places: SubmodulePlaces): Promise<string[]> {
  return (await collectForeign(places)).map(({ path }) => path)
}

/** Removes these files, and returns their paths. Call it before every `git add`, which would run programs that a repository there names. */
export async function removeForeignRepositories(places: SubmodulePlaces): Promise<string[]> {
  const { top } = places
  const found = await collectForeign(places)
  for (const { path, folder } of found) if (folder === null) removeSync(join(top, path))
  const folders = new Set(found.flatMap(({ folder }) => folder ?? []))
  for (const folder of folders) {
    removeSync(join(top, folder))
    await mkdir(fsPath(join(top, folder)))
  }
  return found.map(({ path }) => path)
}

async function collectForeign({ top, gitlinks, known }: SubmodulePlaces): Promise<ForeignFile[]> {
  const found = new Map<string, ForeignFile>()
  for (const path of gitlinks) {
    const link = await firstLinkIn(top, path)
    if (link !== null) {
      found.set(link, { path: link, folder: null })
      continue
    }
    if (known.has(path) || !(await isFolder(join(top, path)))) continue
    // A folder that cannot be read counts as one file without a name, so that it is reported.
    for (const file of await namesIn(join(top, path)).catch(() => ['']))
      found.set(`${path}/${file}`, { path: `${path}/${file}`, folder: path })
  }
  return [...found.values()]
}
