// The texts that say what gates run: of a change, and of files beside it that did not change.
import type { Change } from '../../engine/model/change.ts'
import { isTooLong } from '../../system/files.ts'
import type { FileChange } from './changed-tests.ts'
import { isReadForPins, namedElsewhere } from './gate-definitions.ts'

/** Where contents are read from, by an id or `<commit>:<path>`; null where there is no such path. */
export type Objects = {
  info(name: string): Promise<{ size: number } | null>
  contents(name: string): Promise<Uint8Array | null>
}

/** Where gates are defined, in the folders that changed and above them. */
const SOURCES = ['package.json', 'Makefile', 'makefile', 'GNUmakefile']
const MOST_SOURCES = 200
/** Texts of one change together, in characters; of files beyond it only the names count. */
export const READ = 64 * 1024 * 1024

/** The files of a change as far as they say what gates run, with those beside it. Of others an id stands for the text. */
export async function gateSources(
  changes: readonly Change[],
  objects: Objects,
  base: string,
  gateCommands: string[],
): Promise<FileChange[]> {
  const files: FileChange[] = []
  let left = READ
  for (const { path, status, oldOid, newOid } of changes) {
    if (isTooLong(path)) continue
    const [old, now] = [status === 'A' ? null : oldOid, status === 'D' ? null : newOid]
    const isRead = isReadForPins(path) && left > 0
    const read = async (oid: string | null) =>
      oid === null || !isRead ? oid : ((await small(oid, objects)) ?? oid)
    const [before, after] = [await read(old), await read(now)]
    left -= (before?.length ?? 0) + (after?.length ?? 0)
    files.push({ path, before, after })
  }
  return withSources(files, objects, base, (all) => namedElsewhere([...all], gateCommands))
}

/** With the files that did not change and say what a gate runs: package.json may name the script that did. */
export async function withSources(
  changed: readonly FileChange[],
  objects: Objects,
  base: string,
  namedIn: (files: readonly FileChange[]) => readonly string[] | null | Promise<readonly string[] | null>,
): Promise<FileChange[]> {
  const files = [...changed]
  const known = new Set(changed.map(({ path }) => path))
  const add = async (path: string): Promise<void> => {
    if (known.has(path) || known.size > changed.length + MOST_SOURCES || /[\n\0]/.test(path)) return
    known.add(path)
    const text = await small(`${base}:${path}`, objects)
    if (text !== null) files.push({ path, before: text, after: text })
  }
  const folders = new Set([''])
  for (const { path } of changed) {
    for (let at = path.lastIndexOf('/'); at > 0 && folders.size < 50; at = path.lastIndexOf('/', at - 1))
      folders.add(path.slice(0, at + 1))
  }
  for (const folder of folders) for (const name of SOURCES) await add(folder + name)
  // A script may name the next one.
  for (let count = -1; count < files.length; ) {
    count = files.length
    for (const name of (await namedIn(files)) ?? []) await add(name)
  }
  return files
}

/** The text of a blob of at most a megabyte; larger ones are no tests and no gate definitions. */
export async function small(name: string, objects: Objects): Promise<string | null> {
  const info = await objects.info(name)
  if (info === null || info.size > 1024 * 1024) return null
  const bytes = await objects.contents(name)
  return bytes === null ? null : Buffer.from(bytes).toString('utf8')
}
