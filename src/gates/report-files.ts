// Finds and reads the report files that a gate wrote. They are as hostile as the code that the gate ran.
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir, readlink, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { buffer } from 'node:stream/consumers'
import ignore from 'ignore'
import { isFolder, resolveInTree } from '../system/files.ts'

/** The maximum number of bytes of one file, of bytes of all files, and of files that are read. */
const MAX_BYTES = 5 * 1024 * 1024
const MAX_TOTAL_BYTES = 2 * MAX_BYTES
const MAX_FILES = 300
/** How many entries of folders are searched for a glob, and how deep. */
const MAX_ENTRIES = 50_000
const MAX_DEPTH = 30

/** `top` is the work tree, `cwd` the gates' folder in it. */
export type TreeFolders = { top: string; cwd: string }

/** A stamp for each file before a gate runs, by path from `cwd`. If a file has the same stamp afterwards, the gate did not write it. */
export type Stamps = ReadonlyMap<string, string>

export async function fileStamps(where: TreeFolders, patterns: readonly string[]): Promise<Stamps> {
  const found = new Map<string, string>()
  for (const pattern of patterns)
    for (const path of await matchingPaths(where, pattern))
      found.set(path, await readStamp(join(where.cwd, path)))
  return found
}

/** Includes the ctime, which no program can set. */
async function readStamp(file: string): Promise<string> {
  const found = await lstat(file, { bigint: true }).catch(() => null)
  return found === null ? '' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
}

/** The paths that a pattern matches, without those that a link leads out of the tree. */
async function matchingPaths(where: TreeFolders, pattern: string): Promise<string[]> {
  const parts = pattern.split('/').filter((part) => part !== '.' && part !== '')
  const path = parts.join('/')
  const firstGlob = parts.findIndex((part) => /[*?[\\]/.test(part))
  if (firstGlob === -1) return (await findPlace(where, path)) === null ? [] : [path]
  const files = ignore({ ignorecase: false }).add(`/${path}`)
  const found: string[] = []
  const folders = [{ folder: parts.slice(0, firstGlob).join('/'), depth: 0 }]
  let left = MAX_ENTRIES
  for (const { folder, depth } of folders) {
    const place = left > 0 && depth < MAX_DEPTH ? await findPlace(where, folder) : null
    if (place === null || !(await isFolder(place))) continue
    const entries = await readdir(place, { withFileTypes: true }).catch(() => [])
    left -= entries.length
    for (const entry of entries) {
      const inside = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules')
        folders.push({ folder: inside, depth: depth + 1 })
      if (entry.isFile() && files.ignores(inside)) found.push(inside)
    }
  }
  return found.sort().slice(0, MAX_FILES)
}

/** The file of a path whose parents are real folders; null if there is none. */
async function findPlace({ top, cwd }: TreeFolders, path: string): Promise<string | null> {
  const place = await resolveInTree(top, relative(top, join(cwd, path)))
  return place === null || (await lstat(place).catch(() => null)) === null ? null : place
}

/** The files of one gate that were written since `before`, and remarks on files that are not read. */
export async function readNewFiles(
  where: TreeFolders,
  patterns: readonly string[],
  before: Stamps,
): Promise<{ texts: { path: string; text: string }[]; remarks: string[] }> {
  const texts: { path: string; text: string }[] = []
  const remarks: string[] = []
  let left = MAX_TOTAL_BYTES
  for (const pattern of patterns) {
    const paths = await matchingPaths(where, pattern)
    const stamps = await Promise.all(paths.map((path) => readStamp(join(where.cwd, path))))
    const fresh = paths.filter((path, at) => stamps[at] !== before.get(path))
    if (paths.length === 0) remarks.push(`report ${pattern}: there is no such file`)
    else if (fresh.length === 0)
      remarks.push(`report ${pattern}: the gate wrote no new file, and Ralph reads no old ones`)
    for (const path of fresh) {
      const read = await readInTree(where.top, join(where.cwd, path), Math.min(left, MAX_BYTES))
      if (read instanceof Buffer) {
        left -= read.length
        texts.push({ path, text: read.toString('utf8') })
      } else
        remarks.push(
          `report ${path}: ${read === 'too-large' ? 'it is too large to read' : 'it is not a readable file'}`,
        )
    }
  }
  return { texts, remarks }
}

/**
 * The bytes of a regular file whose real path is below `top`; `too-large` for more than `most`; null for anything else. All checks
 * use one handle, because a running program may replace the file or move a parent folder at any moment.
 */
export async function readInTree(
  top: string,
  file: string,
  most: number,
): Promise<Buffer | 'too-large' | null> {
  let handle: FileHandle | null = null
  try {
    // Before it is opened, because opening a device may have effects.
    if (!(await lstat(file)).isFile()) return null
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const isRegular = (await handle.stat()).isFile()
    // The real path of the open handle, if the system can give it.
    const place = await (process.platform === 'linux'
      ? readlink(`/proc/self/fd/${handle.fd}`)
      : realpath(file))
    if (!isRegular || !place.startsWith(`${await realpath(top)}${sep}`)) return null
    // One byte more than `most`, because the file may grow while it is read.
    const bytes = await buffer(handle.createReadStream({ end: most, autoClose: false }))
    return bytes.length > most ? 'too-large' : bytes
  } catch {
    return null
  } finally {
    await handle?.close()
  }
}
