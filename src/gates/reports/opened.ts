// A file read by one handle: programs may live that put another in its place, or move a folder above it, at any moment.
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { sep } from 'node:path'

/** A regular file's bytes where it really stands below `top`; `too-large` for more than `most`; null for anything else. */
export async function readBelow(
  top: string,
  file: string,
  most: number,
): Promise<Buffer<ArrayBuffer> | 'too-large' | null> {
  let handle: FileHandle | null = null
  try {
    // A device may act when it is opened.
    if (!(await lstat(file)).isFile()) return null
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = await handle.stat()
    if (!found.isFile() || !(await placeOf(handle, file)).startsWith(`${await realpath(top)}${sep}`))
      return null
    return found.size > most ? 'too-large' : await upTo(handle, most)
  } catch {
    return null
  } finally {
    await handle?.close()
  }
}

/** Of the handle itself where the system tells it. */
function placeOf({ fd }: FileHandle, file: string): Promise<string> {
  return process.platform === 'linux' ? readlink(`/proc/self/fd/${fd}`) : realpath(file)
}

/** It may grow while it is read. */
async function upTo(handle: FileHandle, most: number): Promise<Buffer<ArrayBuffer> | 'too-large'> {
  const parts: Buffer<ArrayBuffer>[] = []
  for (let read = 0; read <= most; ) {
    const part = Buffer.alloc(Math.min(64 * 1024, most + 1 - read))
    const { bytesRead } = await handle.read(part, 0, part.length, read)
    if (bytesRead === 0) return Buffer.concat(parts)
    parts.push(part.subarray(0, bytesRead))
    read += bytesRead
  }
  return 'too-large'
}
