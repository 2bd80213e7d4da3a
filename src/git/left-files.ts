// New files that a session left in the work tree, as texts. They are hostile: links and large or binary files are left out.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolveInTree } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'

type Bounds = { files: number; bytes: number }

/** The first files that fit into the bounds together. */
export async function readLeftFiles(
  top: string,
  paths: readonly string[],
  { files, bytes }: Bounds,
): Promise<{ path: string; text: string }[]> {
  const found: { path: string; text: string }[] = []
  let left = bytes
  for (const path of paths) {
    if (found.length >= files) break
    const text = await readRegular(top, path, left)
    if (text === null) continue
    left -= Buffer.byteLength(text)
    found.push({ path, text })
  }
  return found
}

/** The text of a regular file of at most that many bytes; null for everything else. */
async function readRegular(top: string, path: string, most: number): Promise<string | null> {
  const at = await resolveInTree(top, path)
  if (at === null) return null
  try {
    // Without NONBLOCK a named pipe would wait for a writer.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    await using file = await open(fsPath(at), flags)
    const stats = await file.stat()
    if (!stats.isFile() || stats.size > most) return null
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most + 1), 0, most + 1, 0)
    if (bytesRead > most) return null
    const bytes = buffer.subarray(0, bytesRead)
    const text = bytes.toString('utf8')
    return Buffer.from(text).equals(bytes) && !text.includes('\0') ? text : null
  } catch {
    return null
  }
}
