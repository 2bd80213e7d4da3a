// The state between two saves, in a file next to Ralph's refs. A save in git takes two git processes and six objects; this takes one
// write. It is only for stores without a remote, and counts as long as the ref is at the commit that it follows.

import { join } from 'node:path'
import * as z from 'zod/mini'
import { jsonObject } from '../engine/model/json.ts'
import type { State } from '../engine/model/state.ts'
import { readState, STATE_FILE, STATE_FOLDER, stateFiles } from '../engine/stored-state.ts'
import type { CatFile } from '../git/cat-file.ts'
import type { Git } from '../git/git.ts'
import { fileStamp, readRegularFile, removeSync, replaceFile } from '../system/files.ts'
import { storedBlob } from './state-commit.ts'

/** A file of the state: its text, or the blob that an earlier save wrote. */
const NotedFile = z.union([z.object({ text: z.string() }), z.object({ oid: z.string() })])
const Note = z.object({ follows: z.string(), files: z.record(z.string(), NotedFile) })
type Note = z.infer<typeof Note>

/** Writes the state that follows the saved one of commit `follows`, and syncs it to the disk. */
export async function writeStateNote(git: Git, ref: string, follows: string, state: State): Promise<void> {
  const { text, lists } = stateFiles(state)
  const files: Note['files'] = { [STATE_FILE]: { text } }
  for (const [name, file] of lists) {
    const oid = storedBlob(git, file)
    files[`${STATE_FOLDER}/${name}`] = oid === null ? { text: file.text } : { oid }
  }
  await replaceFile(fileOf(git, ref), JSON.stringify({ follows, files } satisfies Note))
}

/** The state that was noted after this commit of the ref; null if there is none, or if it cannot be read. */
export async function readStateNote(
  git: Git,
  objects: CatFile,
  ref: string,
  follows: string,
): Promise<State | null> {
  const bytes = await readRegularFile(fileOf(git, ref))
  const note = bytes === null ? null : Note.safeParse(jsonObject(bytes.toString('utf8')))
  if (note?.success !== true || note.data.follows !== follows) return null
  const { files } = note.data
  const read = async (name: string) => {
    const file = files[name]
    if (file === undefined) return null
    return 'text' in file ? file.text : await objects.text(file.oid)
  }
  // A program may have damaged it. Then the saved state counts, and the attempt is returned.
  return readState(read).catch(() => null)
}

/** Changes with every note of the ref; empty if there is none. */
export function stateNoteStamp(git: Git, ref: string): string {
  return fileStamp(fileOf(git, ref)) ?? ''
}

export function removeStateNote(git: Git, ref: string): void {
  removeSync(fileOf(git, ref))
}

function fileOf({ shared }: Git, ref: string): string {
  return join(shared, `state-${ref.slice(ref.lastIndexOf('/') + 1)}.json`)
}
