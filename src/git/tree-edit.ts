// Replaces entries of a tree without git. Only the folders above the entries are written.
import { type CatFile, TREE, type TreeEntry } from './cat-file.ts'
import { type ObjectWriter, treeBytes } from './objects.ts'

/** By path (latin1): the new entry, a file or a whole folder; null removes it. */
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

/** The id of the folder after the edits; null if it has become empty. */
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
    if (rest.length > 0) {
      const folderEdits = below.get(name) ?? []
      folderEdits.push({ parts: rest, entry })
      below.set(name, folderEdits)
    } else if (entry === null) entries.delete(name)
    else entries.set(name, entry)
  }
  for (const [name, editsInFolder] of below) {
    const current = entries.get(name)
    const currentFolder = current?.mode === TREE ? current.oid : null
    const oid = await editFolder(objects, writer, currentFolder, editsInFolder)
    if (oid !== null) entries.set(name, { mode: TREE, oid })
    else if (currentFolder !== null) entries.delete(name)
  }
  if (entries.size === 0) return null
  return writer.add('tree', treeBytes([...entries].map(([name, entry]) => ({ name, ...entry }))))
}
