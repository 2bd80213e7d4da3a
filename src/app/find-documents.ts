// Reads documents from a folder on disk, or from a commit: regular files only, and at most MAX_BYTES together.

import { lstat, readdir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { Prd } from '../engine/model/feature.ts'
import { describeValue } from '../engine/model/text.ts'
import { looksLikeJson, parsePrd } from '../engine/prd/parse.ts'
import type { CatFile } from '../git/cat-file.ts'
import { filesOf } from '../git/trees.ts'
import type { DocumentFile, RequestedUse } from '../plan/types.ts'
import { decodeText } from '../system/decode-text.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { readRegularFile } from '../system/files.ts'
import { nearest } from '../system/nearest.ts'

/** A work tree on disk, or a commit, which need not be checked out. */
export type DocumentPlace = { workTree: string } | { objects: CatFile; commit: string }

/** Why a file is read: found by its name, or named by a person. */
type ReadReason = Omit<DocumentFile, 'path' | 'text' | 'as'>

const MAX_BYTES = 5_000_000
const MAX_FILES = 2_000

/**
 * The documents at these paths: files or folders, relative to the repository; `FILE#part` takes a part of a file. With null, the
 * documents that are known by their name or place. `as`: the kinds of files that a person names; these are read as well. `note` is
 * called with the files of a named folder that cannot be read. Throws UserError for a missing path, and for too many or too large files.
 */
export async function readDocumentFiles(
  place: DocumentPlace,
  requested: readonly string[] | null,
  as: ReadonlyMap<string, RequestedUse> = new Map(),
  note: (text: string) => void = () => {},
): Promise<DocumentFile[]> {
  const { findDocuments } = await import('../plan/documents.ts')
  const tree =
    'workTree' in place ? await treeOnDisk(place.workTree) : await treeOfCommit(place.objects, place.commit)
  const found = requested === null ? findDocuments(await tree.list('')) : []
  const named = await filesFor(tree, [...(requested ?? []), ...as.keys()], findDocuments, note)
  const chosen = new Map([
    ...found.map((path): [string, ReadReason] => [path, { isDiscovered: true }]),
    ...named,
  ])
  if (chosen.size > MAX_FILES) {
    const fix = 'name only the files that have the stories'
    throw new UserError({
      path: '--from',
      found: `these are ${chosen.size} files, but Ralph reads at most ${MAX_FILES}.`,
      expected: '',
      fix,
    })
  }
  const files: DocumentFile[] = []
  let room = MAX_BYTES
  for (const [path, reason] of chosen) {
    room -= await tree.size(path)
    if (room < 0) throw new UserError(tooLarge(path))
    const text = await readText(tree, path)
    const kind = as.get(path)
    if (typeof text === 'string')
      files.push({ path, text, ...reason, ...(kind === undefined ? {} : { as: kind }) })
    else if (chosen.size === 1) throw new UserError(text)
    else
      note(
        `${describeValue(path)}: ${text.found.replace(/\.$/, '')}. Ralph leaves this file out. To change this: ${text.fix}.`,
      )
    const source = typeof text === 'string' ? sourcePageOf(path, text) : null
    if (source !== null && !chosen.has(source) && (await tree.isFile(source)))
      chosen.set(source, { isDiscovered: true })
  }
  return files
}

/** The text of a file; a mistake if it cannot be read, which costs only this file. */
async function readText(tree: Tree, path: string): Promise<string | Mistake> {
  const bytes = await tree.bytes(path).catch(() => null)
  const text = bytes === null ? null : decodeText(bytes)
  if (text !== null) return text
  const found = bytes === null ? 'you have no permission to read this file.' : 'this file is not text.'
  const fix = bytes === null ? 'make it readable (chmod u+r)' : 'save it as UTF-8'
  return { path, found, expected: '', fix }
}

/** The page that a prd.json names as its source in `metadata.sourcePrd`; else null. */
function sourcePageOf(path: string, text: string): string | null {
  const [, page] = path.endsWith('.json')
    ? (/"sourcePrd"\s*:\s*"(?:\.\/)?([^"\\]{1,300}\.md)"/.exec(text) ?? [])
    : []
  return page ?? null
}

/** Reads a feature's file: a prd.json, or Markdown that people put where it was. Every note begins with the path. */
export async function parseStories(
  text: string,
  path: string,
): Promise<{ ok: true; prd: Prd; notes: string[] } | { ok: false; mistakes: readonly Mistake[] }> {
  if (!looksLikeJson(text)) {
    const { readDocuments } = await import('../plan/documents.ts')
    const read = readDocuments([{ path, text, isNamed: true }])
    if (!read.ok) return read
    const { prd, notes } = read.documents
    if (prd.userStories.length > 0) return { ok: true, prd, notes }
  }
  const parsed = parsePrd(text, path)
  return parsed.ok ? { ...parsed, notes: parsed.notes.map((note) => `${path}: ${note}`) } : parsed
}

/** The files of a place. Links are left out: a link may lead anywhere. */
type Tree = {
  /** The paths of the files in the folder, at any depth; '' is the repository. */
  list(folder: string): Promise<string[]>
  isFile(path: string): Promise<boolean>
  size(path: string): Promise<number>
  /** Null for a file that is gone. */
  bytes(path: string): Promise<Buffer | null>
}

async function treeOfCommit(objects: CatFile, commit: string): Promise<Tree> {
  const files = (await filesOf(objects, commit)).filter(({ mode }) => mode.startsWith('100'))
  const oids = new Map(files.map(({ path, oid }) => [path, oid]))
  const oidOf = (path: string) => oids.get(path) ?? ''
  return {
    list: async (folder) => [...oids.keys()].filter((path) => folder === '' || path.startsWith(`${folder}/`)),
    isFile: async (path) => oids.has(path),
    size: async (path) => (await objects.info(oidOf(path)))?.size ?? 0,
    bytes: (path) => objects.contents(oidOf(path)),
  }
}

async function treeOnDisk(workTree: string): Promise<Tree> {
  const top = await realpath(workTree)
  /** Null for a path that does not exist, is outside the work tree, or is behind a link. */
  const stat = async (path: string) => {
    const full = join(top, path)
    const isInside = full === top || full.startsWith(`${top}${sep}`)
    const real = isInside ? await realpath(full).catch(() => null) : null
    return real === full ? lstat(real) : null
  }
  const list = async (folder: string): Promise<string[]> => {
    if (folder !== '' && !(await stat(folder))?.isDirectory()) return []
    const entries = await readdir(join(top, folder), { withFileTypes: true }).catch(() => [])
    const paths = entries.map(async (entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isFile()) return [path]
      return entry.isDirectory() && !isForeign(entry.name) ? list(path) : []
    })
    return (await Promise.all(paths)).flat().sort()
  }
  return {
    list,
    isFile: async (path) => (await stat(path))?.isFile() ?? false,
    size: async (path) => (await stat(path))?.size ?? 0,
    bytes: (path) => readRegularFile(join(top, path)),
  }
}

function isForeign(name: string): boolean {
  return ['.git', 'node_modules', 'vendor', 'target', '.venv', 'venv'].includes(name)
}

/**
 * The files at the requested paths, and why each is read. A named file is always read. Of a named folder every text file is read; of
 * the whole repository only the documents that are known by their name or place.
 */
async function filesFor(
  tree: Tree,
  requested: readonly string[],
  findDocuments: (paths: readonly string[]) => string[],
  note: (text: string) => void,
): Promise<Map<string, ReadReason>> {
  const mistakes: Mistake[] = []
  const paths = new Map<string, ReadReason>()
  for (const request of requested) {
    const { path, part } = await splitPart(tree, request.replace(/^(?:\.\/)+|^\.$/, '').replace(/\/+$/, ''))
    const isFile = await tree.isFile(path)
    const all = isFile ? [path] : await tree.list(path)
    const isFolder = path !== '' && !isFile
    const chosen = path === '' ? findDocuments(all) : all
    const read = isFolder ? all.filter(isText) : chosen
    const unread = isFolder ? all.filter((file) => !isText(file)) : []
    if (read.length === 0) mistakes.push(missingDocuments(request, unread, await tree.list('')))
    else if (unread.length > 0)
      note(
        `${describeValue(request)} has files that Ralph does not read: ${formatKinds(unread)}. It reads ${READABLE}`,
      )
    const reason = path === '' ? { isDiscovered: true } : { ...(isFile ? { isNamed: true } : {}), ...part }
    for (const file of read) if (isFile || !paths.has(file)) paths.set(file, reason)
  }
  if (mistakes.length > 0) throw new UserError(mistakes)
  return paths
}

/** Splits `tasks.json#auth` into the file and its part `auth`, unless a file has that very name. */
async function splitPart(tree: Tree, path: string): Promise<{ path: string; part: { part?: string } }> {
  const [, file, part] = /^(.+)#([^#/]+)$/.exec(path) ?? []
  if (file === undefined || part === undefined || (await tree.isFile(path)) || !(await tree.isFile(file)))
    return { path, part: {} }
  return { path: file, part: { part } }
}

function isText(path: string): boolean {
  return /\.(?:md|markdown|txt|json|ya?ml|toml)$|(?:^|\/)\.ralphrc$/i.test(path)
}

const READABLE = 'Markdown, text, JSON, YAML and TOML'

/** How many files there are of each kind, the most frequent kind first. */
function formatKinds(paths: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const path of paths) {
    const kind = /[^/]\.([^./]{1,12})$/.exec(path)?.[1]?.toLowerCase()
    const name = kind === undefined ? 'files without an extension' : `.${describeValue(kind).slice(1, -1)}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const all = [...counts]
    .sort(([nameA, countA], [nameB, countB]) => countB - countA || (nameA < nameB ? -1 : 1))
    .map(([name, count]) => `${name} (${count})`)
  return all.length <= MAX_KINDS ? all.join(', ') : `${all.slice(0, MAX_KINDS).join(', ')} and other kinds`
}

const MAX_KINDS = 8

/** `unread`: the folder's files of kinds that are not read. `all`: all files of the repository. */
function missingDocuments(path: string, unread: readonly string[], all: readonly string[]): Mistake {
  if (unread.length > 0) {
    const found = `${describeValue(path)} has only ${formatKinds(unread)}, but Ralph reads ${READABLE}.`
    return {
      path: '--from',
      found,
      expected: '',
      fix: 'save them in one of these formats',
    }
  }
  const near = nearest(path, all)
  const fix = near === null ? 'name a file, or a folder with documents' : `did you mean ${near}?`
  return {
    path: '--from',
    found: `there is no document ${describeValue(path)} in this repository.`,
    expected: '',
    fix,
  }
}

function tooLarge(path: string): Mistake {
  const found = `the documents up to and including this file are larger than ${MAX_BYTES / 1e6} MB in total.`
  return { path, found, expected: '', fix: 'name only the files that have the stories: --from FILE' }
}
