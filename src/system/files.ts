// Files in places that an agent can write to: there may be a pipe, a link or a folder where a file is expected.
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fsPath, pathBytes, pathText } from './path-text.ts'

/** The bytes of a regular file; null for anything else. A pipe would block for ever, and a link may lead out of the tree. */
export async function readRegularFile(file: string): Promise<Buffer | null> {
  return readRegularFileSync(file)
}

/**
 * `readRegularFile`, but synchronous: for a small file the thread pool takes ten times as long as the read itself. Also null for a file of
 * more than `maxBytes` bytes.
 */
export function readRegularFileSync(file: string, maxBytes = Number.POSITIVE_INFINITY): Buffer | null {
  let handle: number | null = null
  try {
    const at = fsPath(file)
    if (lstatSync(at, { throwIfNoEntry: false })?.isFile() !== true) return null
    // Another file may have taken its place since: these flags neither follow a link nor wait at a pipe.
    handle = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = fstatSync(handle)
    return found.isFile() && found.size <= maxBytes ? readFileSync(handle) : null
  } catch {
    return null
  } finally {
    if (handle !== null) closeSync(handle)
  }
}

/** Removes a file or folder, even if its folders are too deep or closed. Does nothing if there is none. */
export function removeSync(file: string): void {
  try {
    if (lstatSync(fsPath(file), { throwIfNoEntry: false }) === undefined) return
  } catch {
    return // its parent is not a folder, or is closed: then it cannot be read either
  }
  removeDeep(fsPath(file))
}

function removeDeep(file: string | Buffer): void {
  try {
    rmSync(file, { force: true, recursive: true })
  } catch {
    openAndFlatten(Buffer.from(file))
    rmSync(file, { force: true, recursive: true })
  }
}

/** Makes closed folders writable, and moves folders up whose path is too long for the system. */
function openAndFlatten(top: Buffer): void {
  const pending = [top]
  let moved = 0
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) continue
    chmodSync(folder, 0o700)
    for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
      if (!entry.isDirectory()) continue
      const path = inFolder(folder, entry.name)
      if (path.length <= top.length + LONGEST_PATH / 2) {
        pending.push(path)
        continue
      }
      moved += 1
      const movedTo = inFolder(top, Buffer.from(`.ralph-${moved}`))
      chmodSync(path, 0o700)
      renameSync(path, movedTo)
      pending.push(movedTo)
    }
  }
}

function inFolder(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), name])
}

/**
 * Replaces a file by a rename, so that a killed process leaves either the old file or the new one, whole. The temporary name has
 * the process id in it, because another process may replace the same file at the same time.
 */
export async function replaceFile(file: string, bytes: Uint8Array | string, mode = 0o666): Promise<void> {
  const temporary = `${file}.ralph-${process.pid}`
  removeSync(temporary)
  removeStaleCopies(file)
  const handle = await open(temporary, 'wx', mode)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file).catch(async () => {
    // There is a folder instead.
    removeSync(file)
    await rename(temporary, file)
  })
}

/** Removes the temporary copies that killed processes left alongside a file. */
function removeStaleCopies(file: string): void {
  const stem = `${basename(file)}.ralph-`
  for (const { name } of entriesSync(dirname(file))) {
    if (!name.startsWith(stem)) continue
    const pid = name.slice(stem.length)
    if (/^[1-9]\d*$/.test(pid) && isProcessGone(Number(pid))) removeSync(join(dirname(file), name))
  }
}

function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

/** Makes a path safe to write to: creates real folders below `root`, and removes links and whatever else is in the way. */
export async function clearPathTo(root: string, file: string): Promise<void> {
  let at = root
  for (const part of relative(root, dirname(file)).split(sep).filter(Boolean)) {
    at = join(at, part)
    const found = await lstat(fsPath(at)).catch(() => null)
    if (found !== null && !found.isDirectory()) await rm(fsPath(at), { force: true })
    if (found === null || !found.isDirectory()) await mkdir(fsPath(at), { recursive: true })
  }
  const found = await lstat(fsPath(file)).catch(() => null)
  if (found !== null && !found.isFile()) removeSync(file)
}

/**
 * The absolute path of a path in the tree at `top`; null if one of its parents is not a real folder. A link there could lead out of
 * the tree, to files that must not be read or removed. `seen` caches the answers for callers with many paths.
 */
export async function resolveInTree(
  top: string,
  path: string,
  seen: Map<string, Promise<boolean>> = new Map(),
): Promise<string | null> {
  let at = top
  for (const part of path.split('/').filter(Boolean).slice(0, -1)) {
    at = join(at, part)
    const isReal = seen.get(at) ?? isFolder(at)
    seen.set(at, isReal)
    if (!(await isReal)) return null
  }
  return join(top, path)
}

/** The first part of a path below `top` that is a link, whatever it leads to; null if none is. */
export async function firstLinkIn(top: string, path: string): Promise<string | null> {
  const parts = path.split('/')
  for (const at of parts.map((_, index) => parts.slice(0, index + 1).join('/')))
    if ((await lstat(fsPath(join(top, at))).catch(() => null))?.isSymbolicLink() === true) return at
  return null
}

/** Whether the path is a real folder, and no link to one. */
export async function isFolder(path: string): Promise<boolean> {
  return (await lstat(fsPath(path)).catch(() => null))?.isDirectory() === true
}

/** The entries of a folder, their names byte for byte; empty if it cannot be read. */
export async function entriesOf(folder: string): Promise<{ name: string; isFolder: boolean }[]> {
  const options = { withFileTypes: true, encoding: 'buffer' } as const
  const entries = await readdir(fsPath(folder), options).catch(() => [])
  return entries.map((one) => ({ name: pathText(one.name), isFolder: one.isDirectory() }))
}

/** The names of the entries. Rejects if the folder cannot be read. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(fsPath(folder), { encoding: 'buffer' })).map(pathText)
}

/** `namesIn`, synchronous. */
export function namesInSync(folder: string): string[] {
  return readdirSync(fsPath(folder), { encoding: 'buffer' }).map(pathText)
}

/** `isFolder`, synchronous. */
export function isFolderSync(path: string): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false })?.isDirectory() === true
}

/** No real project has longer paths (bytes) or deeper ones (folders). Linux allows 4,096 bytes. */
export const LONGEST_PATH = 2048
const DEEPEST_PATH = 512

/** Whether a path is too long or deep for tools: recursive ones may overflow. */
export function isTooLong(path: string): boolean {
  return path.length > LONGEST_PATH || path.split('/').length > DEEPEST_PATH
}

/**
 * Gives the owner access to all folders again, as an agent may have closed some. Links are not followed. Folders that are too deep
 * for tools are removed. Returns their paths.
 */
export async function openClosedFolders(top: string): Promise<string[]> {
  const removed: string[] = []
  const start = pathBytes(top)
  const pending: { folder: Buffer; depth: number }[] = [{ folder: start, depth: 1 }]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { folder, depth } = at
    const found = await lstat(folder).catch(() => null)
    if (found?.isDirectory() !== true) continue
    if ((found.mode & 0o700) !== 0o700) await chmod(folder, found.mode | 0o700).catch(() => {})
    const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' }).catch(() => [])
    for (const { name } of entries.filter((one) => one.isDirectory())) {
      if (depth === 1 && name.toString() === '.git') continue
      const inside = inFolder(folder, name)
      if (depth < DEEPEST_PATH && inside.length - start.length <= LONGEST_PATH) {
        pending.push({ folder: inside, depth: depth + 1 })
        continue
      }
      removed.push(pathText(inside.subarray(start.length + 1)))
      removeDeep(inside)
    }
  }
  return removed
}

/** Removes pipes, sockets and devices (and links, if `andLinks`) below a folder: a program that opens a pipe may wait for ever. */
export function removeSpecialFiles(folder: string, recursive: boolean, andLinks = false): void {
  for (const entry of entriesSync(folder)) {
    if (entry.isDirectory() && recursive) removeSpecialFiles(join(folder, entry.name), true, andLinks)
    if (entry.isFile() || entry.isDirectory() || (entry.isSymbolicLink() && !andLinks)) continue
    removeSync(join(folder, entry.name))
  }
}

/** The entries of a folder; none of one that is closed or gone, and none through a link. */
export function entriesSync(folder: string) {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder, { withFileTypes: true }) : []
  } catch {
    return []
  }
}

/** Bytes. Ralph writes no longer text files. */
const TEXT_LIMIT = 64 * 1024 * 1024

/** Makes a folder safe to upload: redacts its texts, and removes everything that is not a regular file. */
export async function redactFiles(folder: string, redact: (text: string) => string): Promise<void> {
  if ((await lstat(folder).catch(() => null))?.isDirectory() !== true) return
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue
    const file = join(entry.parentPath, entry.name)
    const found = await lstat(file).catch(() => null)
    const bytes = found !== null && found.size <= TEXT_LIMIT ? await readRegularFile(file) : null
    if (bytes === null) {
      await rm(file, { force: true })
      continue
    }
    const text = bytes.toString('utf8')
    const clean = redact(text)
    if (clean !== text) await replaceFile(file, clean)
  }
}

/** Identifies a file in its present state: it differs after every write and every replacement. Null if there is no file. */
export function fileStamp(file: string): string | null {
  const found = lstatSync(file, { throwIfNoEntry: false, bigint: true })
  return found === undefined ? null : `${found.ino} ${found.size} ${found.ctimeNs} ${found.mtimeNs}`
}
