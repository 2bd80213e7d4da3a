// Files whose stored content a filter of `.gitattributes` writes, such as pointers of Git LFS. Ralph's git runs no filters: they are
// programs, and an agent could change what they run.

import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Change } from '../engine/model/change.ts'
import { UserError } from '../system/errors.ts'
import { displayPath, fsPath } from '../system/path-text.ts'
import type { CatFile } from './cat-file.ts'
import type { Git } from './git.ts'
import { isAttributesFile } from './git-index.ts'
import { nulFields } from './git-process.ts'
import type { WorkTree } from './work-tree.ts'

/** What a file of Git LFS begins with if it is a pointer. */
const LFS_POINTER = 'version https://git-lfs.github.com/spec/'
/** Bytes. git-lfs takes a longer file for content. */
const MAX_POINTER_BYTES = 1024

/** The names of filters that the clone had when the job began. */
function filtersOf({ clone: { config } }: Git): Set<string> {
  const names = new Set<string>()
  for (const key of config.keys()) {
    const name = /^filter\.(.+)\.(?:clean|smudge|process|required)$/.exec(key)?.[1]
    if (name !== undefined) names.add(name)
  }
  return names
}

/** Throws UserError if the work tree has files that a filter rewrote. Pointer files of Git LFS are accepted like any other file. */
export async function refuseFiltered(git: Git, objects: CatFile): Promise<void> {
  const { head, workTree } = git.clone
  for (const name of filtersOf(git)) {
    const listed = await git.runOnClone(['ls-files', '-z', '--', `:(attr:filter=${name})`], { accept: [128] })
    for (const path of listed.stdout.split('\0').filter(Boolean)) {
      const file = await lstat(fsPath(join(workTree, path))).catch(() => null)
      const blob = await objects.info(`${head}:${path}`)
      // A filter that rewrote the file changed its size.
      if (file?.isFile() !== true || blob === null || file.size === blob.size) continue
      throw new UserError({
        path: displayPath(path),
        found: `the git filter ${name} has rewritten this file, but Ralph needs the files exactly as they are committed.`,
        expected: '',
        fix: 'check out without the filter (actions/checkout: lfs: false; here: git lfs uninstall --local, then git checkout .)',
      })
    }
  }
}

export type FilteredFile = { path: string; filter: string }

/**
 * Changed files that git would store through a filter of the clone, or through Git LFS, even if the machine does not have it. Deleted
 * files and pointers of Git LFS are left out.
 */
export async function filteredFiles(
  { git, objects, index }: WorkTree,
  changes: readonly Change[],
): Promise<FilteredFile[]> {
  const files = changes.filter(({ newMode }) => newMode.startsWith('100'))
  const { attributes } = await index.listing()
  const all = [...attributes, ...changes.map(({ path }) => path).filter(isAttributesFile)]
  // Ralph's own configuration names no filter.
  if (all.every((path) => path === '.ralph/.gitattributes')) return []
  const input = files.map(({ path }) => `${path}\0`).join('')
  const fields = nulFields(await git.run(['check-attr', '-z', '--stdin', 'filter'], { input }))
  const filters = filtersOf(git).add('lfs')
  const found: FilteredFile[] = []
  for (const [index, { path, newOid }] of files.entries()) {
    const filter = fields[3 * index + 2] ?? ''
    if (!filters.has(filter.toLowerCase())) continue
    if (filter === 'lfs' && (await isPointer(objects, newOid))) continue
    found.push({ path, filter })
  }
  return found
}

async function isPointer(objects: CatFile, oid: string): Promise<boolean> {
  if (((await objects.info(oid))?.size ?? 0) > MAX_POINTER_BYTES) return false
  return (await objects.text(oid))?.startsWith(LFS_POINTER) === true
}
