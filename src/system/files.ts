// Files in places that are not ours alone: an agent may have put a pipe, a link or a folder where a file is expected.
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

/** A file's bytes, or null for anything else: a pipe would be read for ever, a link leads elsewhere. */
export async function readRegularFile(file: string): Promise<Buffer | null> {
  return readRegularFileSync(file)
}

/**
 * The same at once: for small files a turn through the thread pool costs ten times what the system takes. Null for one of more
 * than `most` bytes, too.
 */
export function readRegularFileSync(file: string, most = Number.POSITIVE_INFINITY): Buffer | null {
  let handle: number | null = null
  try {
    const at = fsPath(file)
    if (lstatSync(at, { throwIfNoEntry: false })?.isFile() !== true) return null
    // Whatever has taken its place meanwhile: nobody waits for it.
    handle = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = fstatSync(handle)
    return found.isFile() && found.size <= most ? readFileSync(handle) : null
  } catch {
    return null
  } finally {
    if (handle !== null) closeSync(handle)
  }
}

/** Removes whatever stands there, however deep and closed its folders are; most often nothing does. */
export function removeSync(file: string): void {
  try {
    if (lstatSync(fsPath(file), { throwIfNoEntry: false }) === undefined) return
  } catch {
    return // what is above it is no folder, or closed: nothing of it can be read either
  }
  removeDeep(fsPath(file))
}

function removeDeep(file: string | Buffer): void {
  try {
    rmSync(file, { force: true, recursive: true })
  } catch {
    flatten(Buffer.from(file))
    rmSync(file, { force: true, recursive: true })
  }
}

/** Opens folders, and moves up those whose path is longer than the system takes. */
function flatten(top: Buffer): void {
  const left = [top]
  let moved = 0
  for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) continue
    chmodSync(folder, 0o700)
    for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
      if (!entry.isDirectory()) continue
      const inside = inFolder(folder, entry.name)
      if (inside.length <= top.length + LONGEST_PATH / 2) {
        left.push(inside)
        continue
      }
      moved += 1
      const near = inFolder(top, Buffer.from(`.ralph-${moved}`))
      chmodSync(inside, 0o700)
      renameSync(inside, near)
      left.push(near)
    }
  }
}

function inFolder(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), name])
}

/**
 * Puts a file in its place in one move: whoever dies here leaves the old one or the new one, whole. Another process may do
 * the same at this moment, so each has a name of its own beside it.
 */
export async function replaceFile(file: string, bytes: Uint8Array | string, mode = 0o666): Promise<void> {
  const fresh = `${file}.ralph-${process.pid}`
  removeSync(fresh)
  removeStaleCopies(file)
  const handle = await open(fresh, 'wx', mode)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(fresh, file).catch(async () => {
    // A folder stands in its place.
    removeSync(file)
    await rename(fresh, file)
  })
}

/** Removes what processes that were killed left of a file. */
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

/** Makes the way to a file free: real folders below `root`, and nothing but a regular file at its end. */
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
 * Where a path of the work tree is; null where something above it is no folder: a link there leads elsewhere, and what
 * it leads to is not ours to look at, or to remove. `seen` spares a caller with many paths the same questions.
 */
export async function resolveInTree(
  top: string,
  path: string,
  seen: Map<string, Promise<boolean>> = new Map(),
): Promise<string | null> {
  let at = top
  for (const part of path.split('/').filter(Boolean).slice(0, -1)) {
    at = join(at, part)
    const known = seen.get(at) ?? isFolder(at)
    seen.set(at, known)
    if (!(await known)) return null
  }
  return join(top, path)
}

/** The first part of a path below `top` that is a link, whatever it leads to; null where none is. */
export async function firstLinkIn(top: string, path: string): Promise<string | null> {
  const parts = path.split('/')
  for (const at of parts.map((_, index) => parts.slice(0, index + 1).join('/')))
    if ((await lstat(fsPath(join(top, at))).catch(() => null))?.isSymbolicLink() === true) return at
  return null
}

/** A folder itself, and no link to one. */
export async function isFolder(path: string): Promise<boolean> {
  return (await lstat(fsPath(path)).catch(() => null))?.isDirectory() === true
}

/** What stands in a folder, each name byte for byte; nothing where it cannot be looked into. */
export async function entriesOf(folder: string): Promise<{ name: string; isFolder: boolean }[]> {
  const options = { withFileTypes: true, encoding: 'buffer' } as const
  const entries = await readdir(fsPath(folder), options).catch(() => [])
  return entries.map((one) => ({ name: pathText(one.name), isFolder: one.isDirectory() }))
}

/** The names alone. Rejects where it cannot be looked into. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(fsPath(folder), { encoding: 'buffer' })).map(pathText)
}

/** The same at once. */
export function namesInSync(folder: string): string[] {
  return readdirSync(fsPath(folder), { encoding: 'buffer' }).map(pathText)
}

/** At once. */
export function isFolderSync(path: string): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false })?.isDirectory() === true
}

/** Nobody's paths are longer (bytes) or deeper (folders); Linux takes 4,096 bytes. */
export const LONGEST_PATH = 2048
const DEEPEST_PATH = 512

/** Whether no tool should be shown the path: what looks at its folders one by one may overflow. */
export function isTooLong(path: string): boolean {
  return path.length > LONGEST_PATH || path.split('/').length > DEEPEST_PATH
}

/**
 * Gives the owner back what is his: an agent may have closed folders. Links are not followed. What lies deeper than tools
 * bear is removed; gives its paths.
 */
export async function openClosedFolders(top: string): Promise<string[]> {
  const removed: string[] = []
  const start = pathBytes(top)
  const left: { folder: Buffer; depth: number }[] = [{ folder: start, depth: 1 }]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const { folder, depth } = at
    const found = await lstat(folder).catch(() => null)
    if (found?.isDirectory() !== true) continue
    if ((found.mode & 0o700) !== 0o700) await chmod(folder, found.mode | 0o700).catch(() => {})
    const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' }).catch(() => [])
    for (const { name } of entries.filter((one) => one.isDirectory())) {
      if (depth === 1 && name.toString() === '.git') continue
      const inside = inFolder(folder, name)
      if (depth < DEEPEST_PATH && inside.length - start.length <= LONGEST_PATH) {
        left.push({ folder: inside, depth: depth + 1 })
        continue
      }
      removed.push(pathText(inside.subarray(start.length + 1)))
      removeDeep(inside)
    }
  }
  return removed
}

/** Removes pipes, sockets and devices (and links) below a folder: whoever opens one may wait for ever. */
export function removeSpecialFiles(folder: string, recursive: boolean, andLinks = false): void {
  for (const entry of entriesSync(folder)) {
    if (entry.isDirectory() && recursive) removeSpecialFiles(join(folder, entry.name), true, andLinks)
    if (entry.isFile() || entry.isDirectory() || (entry.isSymbolicLink() && !andLinks)) continue
    removeSync(join(folder, entry.name))
  }
}

/** None of a folder that is closed, or gone meanwhile. */
function entriesSync(folder: string) {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder, { withFileTypes: true }) : []
  } catch {
    return []
  }
}

/** Longer files are no text of ours, bytes. */
const TEXT_LIMIT = 64 * 1024 * 1024

/** Makes what lies below a folder fit to be given away: texts are redacted, and whatever is no file is removed. */
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

/** By what a file is told from every other, and from what it was before somebody wrote to it; null where there is none. */
export function fileStamp(file: string): string | null {
  const found = lstatSync(file, { throwIfNoEntry: false, bigint: true })
  return found === undefined ? null : `${found.ino} ${found.size} ${found.ctimeNs} ${found.mtimeNs}`
}
