// Lists and compares trees whose hash was checked: git itself trusts whatever is in .git/objects.

import type { Change } from '../engine/model/change.ts'
import { DamagedClone } from '../system/errors.ts'
import { fromLatin1, pathText } from '../system/path-text.ts'
import { type CatFile, TREE, type Tree, type TreeEntry } from './cat-file.ts'

type Pair = { folder: string; old: string | null; current: string | null }

/** The changes from one commit or tree to another, like `git diff-tree -r --raw --no-renames`. */
export async function changesBetween(objects: CatFile, from: string, to: string): Promise<Change[]> {
  const [old, current] = [await objects.root(from), await objects.root(to)]
  if (old === null || current === null)
    throw new DamagedClone(`there is no commit ${old === null ? from : to} in it`)
  const found: { name: Buffer; change: Change }[] = []
  let level: Pair[] = old === current ? [] : [{ folder: '', old, current: current }]
  // Level by level, so that all folders of a level are read together.
  while (level.length > 0) {
    const wanted = [
      ...new Set(level.flatMap((pair) => [pair.old, pair.current]).filter((oid) => oid !== null)),
    ]
    const read = await objects.trees(wanted)
    const trees = new Map(wanted.map((oid, index) => [oid, read[index]]))
    const next: Pair[] = []
    for (const pair of level) {
      const [left, right] = [trees.get(pair.old ?? ''), trees.get(pair.current ?? '')]
      for (const name of namesOf(left, right)) {
        const [before, after] = [left?.get(name), right?.get(name)]
        if (before?.oid === after?.oid && before?.mode === after?.mode) continue
        const path = `${pair.folder}${name}`
        const [oldFolder, newFolder] = [folderOf(before), folderOf(after)]
        if (oldFolder !== null || newFolder !== null)
          next.push({ folder: `${path}/`, old: oldFolder, current: newFolder })
        const change = changeOf(
          oldFolder === null ? before : undefined,
          newFolder === null ? after : undefined,
        )
        if (change === null) continue
        const bytes = Buffer.from(path, 'latin1')
        found.push({ name: bytes, change: { ...change, path: pathText(bytes) } })
      }
    }
    level = next
  }
  found.sort((a, b) => a.name.compare(b.name))
  return found.map(({ change }) => change)
}

/** A file, a link or a submodule of a tree, its path in latin1. */
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
  const files: TreeFile[] = []
  await walkTree(objects, name, folder, (path, entry) => {
    if (entry.mode !== TREE) files.push({ ...entry, path })
    if (files.length > most) throw new Error(`there are more than ${most} files`)
  })
  return files
}

/** The paths of all folders of a commit or tree. */
export async function foldersIn(objects: CatFile, name: string): Promise<string[]> {
  const folders: string[] = []
  await walkTree(objects, name, '', (path, entry) => {
    if (entry.mode === TREE) folders.push(fromLatin1(path))
  })
  return folders
}

/** The paths of all files of a commit or tree, or of a folder in it (which ends in `/`). */
export async function pathsIn(objects: CatFile, name: string, folder = ''): Promise<string[]> {
  return (await filesOf(objects, name, folder)).map(({ path }) => fromLatin1(path))
}

async function walkTree(
  objects: CatFile,
  name: string,
  folder: string,
  visit: (path: string, entry: TreeEntry) => void,
): Promise<void> {
  const root = folder === '' ? await objects.root(name) : await objects.folder(name, folder.slice(0, -1))
  if (root === null && folder === '') throw new DamagedClone(`there is no commit ${name} in it`)
  let level = root === null ? [] : [{ path: folder, oid: root }]
  while (level.length > 0) {
    const trees = await objects.trees(
      level.map(({ oid }) => oid),
      'once',
    )
    const next: typeof level = []
    for (const [at, { path }] of level.entries())
      for (const [part, entry] of trees[at] ?? []) {
        visit(`${path}${part}`, entry)
        if (entry.mode === TREE) next.push({ path: `${path}${part}/`, oid: entry.oid })
      }
    level = next
  }
}

/**
 * Whether two trees have the same files. Their ids may differ all the same, as git accepts modes that old versions and importers
 * wrote, but writes normalized ones.
 */
export async function haveSameFiles(objects: CatFile, one: string, other: string): Promise<boolean> {
  return one === other || (await changesBetween(objects, one, other)).length === 0
}

function namesOf(left: Tree | undefined, right: Tree | undefined): Set<string> {
  return new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])])
}

function folderOf(entry: TreeEntry | undefined): string | null {
  return entry?.mode === TREE ? entry.oid : null
}

function changeOf(before: TreeEntry | undefined, after: TreeEntry | undefined): Omit<Change, 'path'> | null {
  const none = '0'.repeat((before ?? after)?.oid.length ?? 0)
  const [old, current] = [before ?? { mode: '000000', oid: none }, after ?? { mode: '000000', oid: none }]
  if (before === undefined && after === undefined) return null
  const isOther = old.mode.slice(0, 3) !== current.mode.slice(0, 3)
  const status = before === undefined ? 'A' : after === undefined ? 'D' : isOther ? 'T' : 'M'
  return { status, oldMode: old.mode, newMode: current.mode, oldOid: old.oid, newOid: current.oid }
}
