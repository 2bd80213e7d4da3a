// Compares and edits trees in this process. Usually few folders differ, and git would need a new process each time.
import type { Change } from '../engine/model/change.ts'
import { fromLatin1, toLatin1 } from '../system/path-text.ts'
import { type CatFile, TREE, type Tree, type TreeEntry } from './cat-file.ts'
import { type ObjectWriter, treeBytes } from './objects.ts'

/** The maximum number of trees to read. With more of them git is faster. */
const MAX_TREES = 400
const NO_TREE: Tree = new Map()

/** The changes from one tree to another, as `git diff-tree -r` lists them; null if too many folders differ. */
export async function compareTrees(objects: CatFile, from: string, to: string): Promise<Change[] | null> {
  const changes: Change[] = []
  const pairs: { prefix: string; from: string | null; to: string | null }[] = [{ prefix: '', from, to }]
  let read = 0
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    read += 2
    if (read > MAX_TREES) return null
    const before = pair.from === null ? NO_TREE : await objects.tree(pair.from)
    const after = pair.to === null ? NO_TREE : await objects.tree(pair.to)
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const [old, now] = [before.get(name), after.get(name)]
      if (old?.oid === now?.oid && old?.mode === now?.mode) continue
      const path = pair.prefix + name
      const folders = { from: folderId(old), to: folderId(now) }
      if (folders.from !== null || folders.to !== null) pairs.push({ prefix: `${path}/`, ...folders })
      const change = changeOf(path, fileOf(old), fileOf(now), from.length)
      if (change !== null) changes.push(change)
    }
  }
  // By their bytes, as git sorts them.
  changes.sort((one, other) => (one.path < other.path ? -1 : 1))
  return changes.map((change) => ({ ...change, path: fromLatin1(change.path) }))
}

const folderId = (entry: TreeEntry | undefined) => (entry?.mode === TREE ? entry.oid : null)
const fileOf = (entry: TreeEntry | undefined) => (entry?.mode === TREE ? undefined : entry)

function changeOf(
  path: string,
  old: TreeEntry | undefined,
  now: TreeEntry | undefined,
  idLength: number,
): Change | null {
  if (old === undefined && now === undefined) return null
  const none = { mode: '000000', oid: '0'.repeat(idLength) }
  const { mode: oldMode, oid: oldOid } = old ?? none
  const { mode: newMode, oid: newOid } = now ?? none
  const isSameKind = oldMode.slice(0, 3) === newMode.slice(0, 3)
  const status = old === undefined ? 'A' : now === undefined ? 'D' : isSameKind ? 'M' : 'T'
  return { status, path, oldMode, newMode, oldOid, newOid }
}

type TreeFile = TreeEntry & { path: string }

/** The files of a tree, sorted as git sorts them, after these changes. */
export function withChanges(files: readonly TreeFile[], changes: readonly Change[]): readonly TreeFile[] {
  if (changes.length === 0) return files
  const changed = new Set(changes.map(({ path }) => path))
  const after = files.filter(({ path }) => !changed.has(path))
  for (const { status, path, newMode: mode, newOid: oid } of changes)
    if (status !== 'D') after.splice(placeOf(after, path), 0, { mode, oid, path })
  return after
}

/** Where a path belongs among sorted files. */
function placeOf(files: readonly TreeFile[], path: string): number {
  const wanted = toLatin1(path)
  let [from, to] = [0, files.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (toLatin1(files[middle]?.path ?? '') < wanted) from = middle + 1
    else to = middle
  }
  return from
}

/** By path: the new file, or null to remove it. */
export type Edits = ReadonlyMap<string, TreeEntry | null>
type Edit = { parts: readonly string[]; entry: TreeEntry | null }

/** Adds the trees with these files to the writer. Returns the id of the whole one. Folders that become empty are removed. */
export async function addEdited(
  objects: CatFile,
  writer: ObjectWriter,
  base: string,
  edits: Edits,
): Promise<string> {
  const all = [...edits].map(([path, entry]) => ({ parts: toLatin1(path).split('/'), entry }))
  return (await editFolder(objects, writer, base, all)) ?? writer.add('tree', treeBytes([]))
}

/** Null if nothing is left in the folder. */
async function editFolder(
  objects: CatFile,
  writer: ObjectWriter,
  oid: string | null,
  edits: readonly Edit[],
): Promise<string | null> {
  const entries = new Map(oid === null ? NO_TREE : await objects.tree(oid))
  const below = new Map<string, Edit[]>()
  for (const { parts, entry } of edits) {
    const [name = '', ...rest] = parts
    if (rest.length > 0) below.set(name, [...(below.get(name) ?? []), { parts: rest, entry }])
    else if (entry !== null) entries.set(name, entry)
    else if (entries.get(name)?.mode !== TREE) entries.delete(name)
  }
  for (const [name, inside] of below) {
    const folder = folderId(entries.get(name))
    const edited = await editFolder(objects, writer, folder, inside)
    if (edited !== null) entries.set(name, { mode: TREE, oid: edited })
    else if (folder !== null) entries.delete(name)
  }
  if (entries.size === 0) return null
  return writer.add('tree', treeBytes([...entries].map(([name, entry]) => ({ name, ...entry }))))
}
