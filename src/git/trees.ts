// Lists and compares the trees of commits, by git.
import type { Change } from '../engine/model/change.ts'
import { DamagedClone } from '../system/errors.ts'
import type { CatFile, TreeEntry } from './cat-file.ts'
import { compareTrees, withChanges } from './compare-trees.ts'
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
  const changes = (await compared(objects, from, to)) ?? (await comparedByGit(objects, from, to))
  if (OBJECT_ID.test(from) && OBJECT_ID.test(to)) last.set(objects, { pair, changes })
  return [...changes]
}

async function compared(objects: CatFile, from: string, to: string): Promise<Change[] | null> {
  const [before, after] = [await objects.root(from), await objects.root(to)]
  return before === null || after === null ? null : compareTrees(objects, before, after)
}

async function comparedByGit(objects: CatFile, from: string, to: string): Promise<Change[]> {
  const args = ['diff-tree', '-r', '--raw', '-z', '--no-renames', '--no-abbrev', from, to]
  return parseRaw((await read(objects, args)).stdout)
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
  const files = folder === '' ? await allFiles(objects, name) : await listed(objects, name, folder)
  if (files.length > most) throw new Error(`there are more than ${most} files`)
  return files
}

/** The last tree that was listed. The next one differs from it in few files. */
const lastListed = new WeakMap<CatFile, { root: string; files: readonly TreeFile[] }>()
/** With more changes, git lists the tree again. */
const MAX_CHANGES = 500

async function allFiles(objects: CatFile, name: string): Promise<TreeFile[]> {
  const root = await objects.root(name)
  const known = lastListed.get(objects)
  const changes = root === null || known === undefined ? null : await compareTrees(objects, known.root, root)
  const isNear = known !== undefined && changes !== null && changes.length <= MAX_CHANGES
  const files = isNear ? withChanges(known.files, changes) : await listed(objects, name, '')
  if (root !== null) lastListed.set(objects, { root, files })
  return [...files]
}

async function listed(objects: CatFile, name: string, folder: string): Promise<TreeFile[]> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', name, ...(folder === '' ? [] : ['--', folder])]
  return nulFields(await read(objects, args)).map((entry) => {
    const [mode = '', , oid = ''] = entry.slice(0, entry.indexOf('\t')).split(' ')
    return { mode, oid, path: entry.slice(entry.indexOf('\t') + 1) }
  })
}

/** The paths of all files of a commit or tree, or of a folder in it (which ends in `/`). */
export async function pathsIn(objects: CatFile, name: string, folder = ''): Promise<string[]> {
  return (await filesOf(objects, name, folder)).map(({ path }) => path)
}

/** The maximum distance: fewer stories land between two calls. */
const MAX_PARENTS = 100

/**
 * Whether a commit is reached from a later one by at most 100 first parents. `borders`: the commits of a shallow clone whose parents git
 * does not follow.
 */
export async function followsFirstParents(
  objects: CatFile,
  { later, earlier, borders }: { later: string; earlier: string; borders: readonly string[] },
): Promise<boolean> {
  let at: string | undefined = later
  for (let count = 0; count < MAX_PARENTS && at !== undefined; count += 1) {
    if (at === earlier) return true
    if (borders.includes(at)) return false
    const text: string = (await objects.text(at)) ?? ''
    at = /^tree .*\nparent (\w+)$/m.exec(text.slice(0, text.indexOf('\n\n')))?.[1]
  }
  return false
}

/** These commands only read the clone. If git fails, an object is missing or damaged. */
async function read({ git }: CatFile, args: readonly string[]) {
  try {
    return await git.run(args)
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 128) throw error
    throw new DamagedClone(error.stderr.trim())
  }
}
