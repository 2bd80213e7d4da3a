// Replaces entries of a tree in this process: only the folders above them are written.
import { type CatFile, TREE, type TreeEntry } from './cat-file.ts'
import { type ObjectWriter, treeBytes } from './objects.ts'

/** Path (latin1) to its new entry, a file or a whole folder; null removes it. */
export type Edits = ReadonlyMap<string, TreeEntry | null>

type Edit = { parts: readonly string[]; entry: TreeEntry | null }

/** The id of the new tree, which `writer.flush` writes. Folders that become empty are removed. */
export async function editTree(
  objects: CatFile,
  writer: ObjectWriter,
  base: string,
  edits: Edits,
): Promise<string> {
  const all = [...edits].map(([path, entry]) => ({ parts: path.split('/'), entry }))
  if (all.length === 0) return base
  return (await editFolder(objects, writer, base, all)) ?? writer.add('tree', Buffer.alloc(0))
}

async function editFolder(
  objects: CatFile,
  writer: ObjectWriter,
  base: string | null,
  edits: readonly Edit[],
): Promise<string | null> {
  const entries = new Map(base === null ? [] : (await objects.trees([base]))[0])
  const below = new Map<string, Edit[]>()
  for (const { parts, entry } of edits) {
    const [name = '', ...rest] = parts
    const some = below.get(name) ?? []
    if (rest.length > 0) below.set(name, some)
    if (rest.length > 0) some.push({ parts: rest, entry })
    else if (entry === null) entries.delete(name)
    else entries.set(name, entry)
  }
  for (const [name, some] of below) {
    const there = entries.get(name)
    const oid = await editFolder(objects, writer, there?.mode === TREE ? there.oid : null, some)
    if (oid !== null) entries.set(name, { mode: TREE, oid })
    else if (there?.mode === TREE) entries.delete(name)
  }
  if (entries.size === 0) return null
  return writer.add('tree', treeBytes([...entries].map(([name, entry]) => ({ name, ...entry }))))
}
