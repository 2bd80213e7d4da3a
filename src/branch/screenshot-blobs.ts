// Screenshots as blobs. Entries of the state's commit keep them from git's garbage collection.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { State } from '../engine/model/state.ts'
import { screenshotBlobs } from '../engine/state/screenshots.ts'
import type { CatFile } from '../git/cat-file.ts'
import type { Git } from '../git/git.ts'
import type { NewEntry } from '../git/objects.ts'
import { clearPathTo } from '../system/files.ts'

/** Writes a picture into the clone's objects, and returns its id. */
export async function writeScreenshot(git: Git, picture: Buffer): Promise<string> {
  const writer = git.writer(git.clone.head ?? '')
  const blob = writer.add('blob', picture)
  await writer.flush()
  return blob
}

/** A picture's bytes (WebP). Null if there is no such blob, or if it is not a picture. */
export async function readScreenshot(objects: CatFile, blob: string): Promise<Buffer | null> {
  if (!/^[0-9a-f]{40,64}$/.test(blob)) return null
  const found = await objects.contents(blob).catch(() => null)
  return found !== null && isPicture(found) ? found : null
}

/** Ralph makes no larger pictures. */
const MAX_BYTES = 64 * 1024

/** Whether the bytes are WebP (RFC 9649, section 2.3) and not too large. */
export function isPicture(bytes: Buffer): boolean {
  if (bytes.length > MAX_BYTES) return false
  return bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
}

/** Writes a picture into the work tree for a judge. */
export async function showScreenshot(git: Git, objects: CatFile, path: string, blob: string): Promise<void> {
  const picture = await readScreenshot(objects, blob)
  if (picture === null) return
  const file = join(git.clone.workTree, path)
  await clearPathTo(git.clone.workTree, file)
  await writeFile(file, picture)
}

/** Tree entries for the pictures that the state names. Missing ones are left out, as a commit must not name missing objects. */
export async function screenshotEntries(objects: CatFile, state: State): Promise<NewEntry[]> {
  const entries: NewEntry[] = []
  for (const blob of screenshotBlobs(state)) {
    const info = await objects.info(blob).catch(() => null)
    if (info?.type === 'blob') entries.push({ name: `${blob}.webp`, mode: '100644', oid: blob })
  }
  return entries
}
