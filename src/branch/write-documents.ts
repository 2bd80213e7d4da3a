// Updates people's documents in the commit that ends a run: finds them in the green commit and edits them.

import { type CatFile, TREE, type TreeEntry } from '../git/cat-file.ts'
import { filesOf, type TreeFile } from '../git/trees.ts'
import { DamagedClone, messageOf } from '../system/errors.ts'
import { fromLatin1, quotedPath } from '../system/path-text.ts'

/** An edit of a document. */
export type DocumentEdit = {
  /** Top-level folders to search, in addition to the top itself. */
  folders: RegExp | null
  matches(path: string): boolean
  /** Where to create the document if there is none; null if it is not to be created. */
  createAt: string | null
  /** The new text of a document (`text` is null if there is none); null leaves it unchanged. */
  editText(text: string | null): string | null
}

/** An edit of several documents that are read together. */
export type DocumentSetEdit = {
  /** Selects the paths to read from those of all files. */
  selectPaths(paths: readonly string[]): Promise<readonly string[]>
  /** The new texts by path, warnings for people, and the ids of stories that could not be marked. */
  editTexts(files: readonly { path: string; text: string }[]): Promise<{
    texts: ReadonlyMap<string, string>
    warnings: readonly string[]
    unmarked?: readonly string[]
  }>
}

/** Bytes. A longer document was not written by a person. */
const MAX_BYTES = 1_000_000
/** The maximum number of documents that one edit may change. */
const MAX_FILES = 5
/** Limits for documents that are read together, and for the files of a commit: programs, not people, write more. */
const MAX_TOTAL = { files: 2_000, bytes: 5_000_000 }
const MAX_PATHS = 200_000
const REGULAR_FILE = /^100/

/**
 * The documents that change, with their new texts. A document that cannot be edited is left unchanged with a warning, as it must not
 * end a run. Adds the ids of stories that could not be marked to `unmarked`.
 */
export async function editDocuments(
  objects: CatFile,
  commit: string,
  edits: readonly (DocumentEdit | DocumentSetEdit)[],
  warn: (message: string) => void,
  unmarked: string[] = [],
): Promise<[path: string, text: string][]> {
  const changed: [string, string][] = []
  const top = edits.length === 0 ? [] : await topEntries(objects, commit)
  for (const edit of edits) {
    if ('selectPaths' in edit) {
      changed.push(...(await editSet(objects, commit, edit, warn, unmarked)))
      continue
    }
    const found = await matchingFiles(objects, commit, top, edit)
    const created = found.length > 0 || edit.createAt === null ? null : edit.editText(null)
    const folder = top.find(([name]) => edit.matches(name))?.[0]
    if (created !== null && folder !== undefined)
      warn(`Ralph did not update ${JSON.stringify(folder)}, because it is a folder`)
    else if (created !== null && edit.createAt !== null) changed.push([edit.createAt, created])
    for (const file of found) {
      const { path } = file
      try {
        const text = await textOf(objects, file)
        const after = edit.editText(text)
        if (after !== null && after !== text) changed.push([path, after])
      } catch (error) {
        warn(`Ralph did not update ${quotedPath(path)}: ${messageOf(error)}`)
      }
    }
  }
  return changed
}

async function editSet(
  objects: CatFile,
  commit: string,
  edit: DocumentSetEdit,
  warn: (message: string) => void,
  unmarked: string[],
): Promise<[path: string, text: string][]> {
  try {
    const {
      texts,
      warnings,
      unmarked: left = [],
    } = await edit.editTexts(await textsOf(objects, commit, edit, warn))
    for (const text of warnings) warn(text)
    unmarked.push(...left)
    return [...texts]
  } catch (error) {
    if (error instanceof DamagedClone) throw error
    warn(`Ralph did not update the plan’s documents: ${messageOf(error)}`)
    return []
  }
}

async function textsOf(
  objects: CatFile,
  commit: string,
  { selectPaths: among }: DocumentSetEdit,
  warn: (message: string) => void,
): Promise<{ path: string; text: string }[]> {
  const all = await filesOf(objects, commit, '', MAX_PATHS)
  const byPath = new Map(all.map((file) => [file.path, file]))
  const wanted = (await among([...byPath.keys()])).flatMap((path) => byPath.get(path) ?? [])
  if (wanted.length > MAX_TOTAL.files) throw new Error(`there are more than ${MAX_TOTAL.files} documents`)
  const read: { path: string; text: string }[] = []
  let left = MAX_TOTAL.bytes
  for (const file of wanted) {
    const { path } = file
    try {
      const text = await textOf(objects, file)
      left -= text.length
      read.push({ path, text })
    } catch (error) {
      if (error instanceof DamagedClone) throw error
      warn(`Ralph did not update ${quotedPath(path)}: ${messageOf(error)}`)
    }
    if (left < 0) throw new Error(`the documents are larger than ${MAX_TOTAL.bytes / 1e6} MB in total`)
  }
  return read
}

async function topEntries(objects: CatFile, commit: string): Promise<[name: string, entry: TreeEntry][]> {
  const root = await objects.root(commit)
  const entries = root === null ? [] : [...(await objects.tree(root))]
  return entries.map(([name, entry]) => [fromLatin1(name), entry])
}

async function matchingFiles(
  objects: CatFile,
  commit: string,
  top: readonly [string, TreeEntry][],
  { folders, matches: isAt }: DocumentEdit,
): Promise<TreeFile[]> {
  const files = top.flatMap(([path, entry]) => (entry.mode === TREE ? [] : [{ path, ...entry }]))
  for (const [name, { mode }] of top)
    if (mode === TREE && folders?.test(name)) files.push(...(await filesOf(objects, commit, `${name}/`)))
  return files.filter(({ path }) => isAt(path)).slice(0, MAX_FILES)
}

async function textOf(objects: CatFile, { mode, oid }: TreeFile): Promise<string> {
  if (!REGULAR_FILE.test(mode)) throw new Error('it is not a plain file')
  const size = (await objects.info(oid))?.size ?? 0
  if (size > MAX_BYTES) throw new Error('it is too large')
  const bytes = (await objects.contents(oid)) ?? Buffer.alloc(0)
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}
