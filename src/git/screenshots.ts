// Pictures of pages as blobs: written and read, and as the entries of a state's commit that keep them.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pictureName } from '../loop/evidence.ts'
import { screenshotBlobs } from '../loop/screenshots.ts'
import type { Screenshot } from '../model/gate.ts'
import type { State } from '../model/state.ts'
import type { CatFile } from './cat-file.ts'
import type { Git } from './git.ts'
import type { NewEntry } from './objects.ts'

/** The id of a picture that is in the clone's objects now. */
export async function writeScreenshot(git: Git, objects: CatFile, picture: Buffer): Promise<string> {
  const writer = git.writer(git.clone.head ?? '')
  const blob = writer.add('blob', picture)
  await objects.prove(await writer.flush())
  return blob
}

/** A picture's bytes (WebP), or null where it is not there, is no picture, or is not what its id is the hash of. */
export async function readScreenshot(objects: CatFile, blob: string): Promise<Buffer | null> {
  if (!/^[0-9a-f]{40,64}$/.test(blob)) return null
  const found = await objects.contents(blob).catch(() => null)
  return found !== null && isWebp(found) ? found : null
}

/** RFC 9649, section 2.3. */
function isWebp(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
}

/** Writes pictures into a folder, each as `pictureName` calls it. Gives the names; those that are gone have none. */
export async function writeScreenshots(
  objects: CatFile,
  pictures: readonly Screenshot[],
  folder: string,
): Promise<string[]> {
  const names = new Set<string>()
  for (const one of pictures) {
    const picture = await readScreenshot(objects, one.blob)
    if (picture === null) continue
    names.add(pictureName(one))
    await writeFile(join(folder, `${pictureName(one)}.webp`), picture)
  }
  return [...names]
}

/** What keeps the pictures that the state names. One that is gone is left out: a commit must name nothing that is not there. */
export async function screenshotEntries(objects: CatFile, state: State): Promise<NewEntry[]> {
  const entries: NewEntry[] = []
  for (const blob of screenshotBlobs(state)) {
    const info = await objects.info(blob).catch(() => null)
    if (info?.type === 'blob') entries.push({ name: `${blob}.webp`, mode: '100644', oid: blob })
  }
  return entries
}
