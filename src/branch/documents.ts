// People's documents that an outcome brings up to date, in the commit that ends the run: found in the green commit, edited, written.

import { type CatFile, TREE, type TreeEntry } from '../git/cat-file.ts'
import { filesOf, type TreeFile } from '../git/tree-walk.ts'
import { messageOf } from '../system/errors.ts'
import { fromLatin1, quotedPath } from '../system/path-text.ts'

/** What becomes of a document. */
export type DocumentEdit = {
  /** Folders at the top that are looked through beside the top itself. */
  folders: RegExp | null
  isAt(path: string): boolean
  /** Where one is made if there is none; null: nowhere. */
  otherwise: string | null
  /** Its new text; null where it stays as it is. Given null where there is none. */
  edited(text: string | null): string | null
}

/** A longer one was not written by a person. */
const MOST_BYTES = 1_000_000
/** Of one kind. */
const MOST_FILES = 5
const PLAIN_FILE = /^100/

/** The documents that change, with their new texts. What cannot be edited stays, and is told: it must not end a run. */
export async function editedDocuments(
  objects: CatFile,
  commit: string,
  edits: readonly DocumentEdit[],
  warn: (message: string) => void,
): Promise<[path: string, text: string][]> {
  const changed: [string, string][] = []
  const top = edits.length === 0 ? [] : await topOf(objects, commit)
  for (const edit of edits) {
    const found = await filesFor(objects, commit, top, edit)
    const made = found.length > 0 || edit.otherwise === null ? null : edit.edited(null)
    const folder = top.find(([name]) => edit.isAt(name))?.[0]
    if (made !== null && folder !== undefined)
      warn(`${JSON.stringify(folder)} was not brought up to date: it is a folder`)
    else if (made !== null && edit.otherwise !== null) changed.push([edit.otherwise, made])
    for (const file of found) {
      const path = fromLatin1(file.path)
      try {
        const text = await textOf(objects, file)
        const after = edit.edited(text)
        if (after !== null && after !== text) changed.push([path, after])
      } catch (error) {
        warn(`${quotedPath(path)} was not brought up to date: ${messageOf(error)}`)
      }
    }
  }
  return changed
}

async function topOf(objects: CatFile, commit: string): Promise<[name: string, entry: TreeEntry][]> {
  const root = await objects.root(commit)
  const [entries] = await objects.trees(root === null ? [] : [root])
  return [...(entries ?? [])]
}

async function filesFor(
  objects: CatFile,
  commit: string,
  top: readonly [string, TreeEntry][],
  { folders, isAt }: DocumentEdit,
): Promise<TreeFile[]> {
  const files = top.flatMap(([path, entry]) => (entry.mode === TREE ? [] : [{ path, ...entry }]))
  for (const [name, { mode }] of top)
    if (mode === TREE && folders?.test(name)) files.push(...(await filesOf(objects, commit, `${name}/`)))
  return files.filter(({ path }) => isAt(path)).slice(0, MOST_FILES)
}

async function textOf(objects: CatFile, { mode, oid }: TreeFile): Promise<string> {
  if (!PLAIN_FILE.test(mode)) throw new Error('it is no plain file')
  const bytes = (await objects.contents(oid)) ?? Buffer.alloc(0)
  if (bytes.length > MOST_BYTES) throw new Error('it is too large')
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}
