// Lists and compares the trees of commits, by git.
import type { Change } from '../engine/model/change.ts'
import { DamagedClone } from '../system/errors.ts'
import type { CatFile, TreeEntry } from './cat-file.ts'
import { GitError, nulFields } from './git-process.ts'
import { parseRaw } from './raw-diff.ts'

/** The last comparison of two commits, which never changes: guard, gates and remarks ask for the same one. */
const last = new WeakMap<CatFile, { pair: string; changes: readonly Change[] }>()
const OBJECT_ID = /^[0-9a-f]{40,64}$/

/** The changes from one commit or tree to another. Throws DamagedClone if git cannot read one of them. */
export async function changesBetween(objects: CatFile, from: string, to: string): Promise<Change[]> {
  if (from === to) return []
  const pair = `${from} ${to}`
  const known = last.get(objects)
  if (known?.pair === pair) return [...known.changes]
  const args = ['diff-tree', '-r', '--raw', '-z', '--no-renames', '--no-abbrev', from, to]
  const changes = parseRaw((await read(objects, args)).stdout)
  if (OBJECT_ID.test(from) && OBJECT_ID.test(to)) last.set(objects, { pair, changes })
  return [...changes]
}

/** Remembers the changes between two commits that were compared in another way, so that git need not compare them again. */
export function rememberChanges(
  objects: CatFile,
  from: string,
  to: string,
  changes: readonly Change[],
): void {
  last.set(objects, { pair: `${from} ${to}`, changes })
}

/** A file, a link or a submodule of a tree. */
export type TreeFile = TreeEntry & { path: string }

/**
 * All files of a commit or tree, or of a folder in it (ending in `/`); none if there is no such folder. Rejects if there are more than
 * `most`.
 */
export async function filesOf(
  objects: CatFile,
  name: string,
  folder = '',
  most = Number.POSITIVE_INFINITY,
): Promise<TreeFile[]> {
  const listed = await read(objects, [
    'ls-tree',
    '-r',
    '-z',
    '--full-tree',
    name,
    ...(folder === '' ? [] : ['--', folder]),
  ])
  const entries = nulFields(listed)
  if (entries.length > most) throw new Error(`there are more than ${most} files`)
  return entries.map((entry) => {
    const [mode = '', , oid = ''] = entry.slice(0, entry.indexOf('\t')).split(' ')
    return { mode, oid, path: entry.slice(entry.indexOf('\t') + 1) }
  })
}

/** The paths of all files of a commit or tree, or of a folder in it (which ends in `/`). */
export async function pathsIn(objects: CatFile, name: string, folder = ''): Promise<string[]> {
  return (await filesOf(objects, name, folder)).map(({ path }) => path)
}

/** All of this only reads what is in the clone: if git cannot, an object is missing or broken. */
async function read({ git }: CatFile, args: readonly string[]) {
  try {
    return await git.run(args)
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 128) throw error
    throw new DamagedClone(error.stderr.trim())
  }
}
