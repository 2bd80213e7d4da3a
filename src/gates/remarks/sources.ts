// Reads the texts that say what gates run: changed files, and unchanged ones that define a gate.
import type { Change } from '../../engine/model/change.ts'
import { isTooLong } from '../../system/files.ts'
import type { FileChange } from './changed-tests.ts'
import { findUnreadGateFiles, isGateSource } from './gate-definitions.ts'

/** Reads objects of the repository by id or `<commit>:<path>`; gives null where there is none. */
export type ObjectReader = {
  info(name: string): Promise<{ size: number } | null>
  contents(name: string): Promise<Uint8Array | null>
}

/** Files that define gates; looked for in each folder of a changed file, and in those above it. */
const SOURCES = ['package.json', 'Makefile', 'makefile', 'GNUmakefile']
const MAX_SOURCES = 200
/** Characters that are read of one change; of files beyond that only names and object ids are compared. */
export const MAX_TEXT = 64 * 1024 * 1024

/** The files of a change, and unchanged ones that say what gates run. A file that says nothing of that has its object id as its text. */
export async function gateSources(
  changes: readonly Change[],
  objects: ObjectReader,
  base: string,
  gateCommands: string[],
): Promise<FileChange[]> {
  const files: FileChange[] = []
  let left = MAX_TEXT
  for (const { path, status, oldOid, newOid } of changes) {
    if (isTooLong(path)) continue
    const [old, now] = [status === 'A' ? null : oldOid, status === 'D' ? null : newOid]
    const isRead = isGateSource(path) && left > 0
    const read = async (oid: string | null) =>
      oid === null || !isRead ? oid : ((await readSmallBlob(oid, objects)) ?? oid)
    const [before, after] = [await read(old), await read(now)]
    left -= (before?.length ?? 0) + (after?.length ?? 0)
    files.push({ path, before, after })
  }
  return withSources(files, objects, base, (all) => findUnreadGateFiles([...all], gateCommands))
}

/** Adds unchanged files that say what a gate runs: an unchanged package.json may name the script that changed. */
export async function withSources(
  changed: readonly FileChange[],
  objects: ObjectReader,
  base: string,
  namedIn: (files: readonly FileChange[]) => readonly string[] | null | Promise<readonly string[] | null>,
): Promise<FileChange[]> {
  const files = [...changed]
  const known = new Set(changed.map(({ path }) => path))
  const add = async (path: string): Promise<void> => {
    if (known.has(path) || known.size > changed.length + MAX_SOURCES || /[\n\0]/.test(path)) return
    known.add(path)
    const text = await readSmallBlob(`${base}:${path}`, objects)
    if (text !== null) files.push({ path, before: text, after: text })
  }
  const folders = new Set([''])
  for (const { path } of changed) {
    for (let at = path.lastIndexOf('/'); at > 0 && folders.size < 50; at = path.lastIndexOf('/', at - 1))
      folders.add(path.slice(0, at + 1))
  }
  for (const folder of folders) for (const name of SOURCES) await add(folder + name)
  // Each file that was added may name the next one.
  for (let count = -1; count < files.length; ) {
    count = files.length
    for (const name of (await namedIn(files)) ?? []) await add(name)
  }
  return files
}

/** The text of a blob; null where there is none, or where it is larger than a megabyte: tests and gate definitions are smaller. */
export async function readSmallBlob(name: string, objects: ObjectReader): Promise<string | null> {
  const info = await objects.info(name)
  if (info === null || info.size > 1024 * 1024) return null
  const bytes = await objects.contents(name)
  return bytes === null ? null : Buffer.from(bytes).toString('utf8')
}
