// Writes files of the work tree: all of them, or none if one fails, and never through a link.
import { lstatSync, type Stats } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Mistake, UserError } from '../system/errors.ts'
import { readRegularFile, replaceFile } from '../system/files.ts'

/** Path in the work tree to its text, in the order in which they are written. */
export type Files = Readonly<Record<string, string>>

type Change = { path: string; before: string | null; after: string }

/**
 * Writes files of the work tree, in their order. If one fails, all are undone. Returns the paths that changed. Throws UserError
 * if a link or a folder is at the place of a file.
 */
export async function writeFiles(workTree: string, files: Files): Promise<string[]> {
  const changes = await plannedChanges(workTree, files)
  const undo: (() => Promise<unknown>)[] = []
  try {
    for (const { path, before, after } of changes) {
      const file = join(workTree, path)
      const made = await mkdir(dirname(file), { recursive: true })
      if (made !== undefined) undo.push(() => rm(made, { recursive: true, force: true }))
      undo.push(() => (before === null ? rm(file, { force: true }) : replaceFile(file, before)))
      await replaceFile(file, after)
    }
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => {})
    throw error
  }
  return changes.map(({ path }) => path)
}

/** What writing the files would change. */
export async function plannedChanges(workTree: string, files: Files): Promise<Change[]> {
  const changes: Change[] = []
  for (const [path, after] of Object.entries(files)) {
    const before = await readText(workTree, path)
    if (before !== after) changes.push({ path, before, after })
  }
  return changes
}

/** A file's text, or null if there is none. Throws UserError if a link or a folder is instead. */
export async function readText(workTree: string, path: string): Promise<string | null> {
  const mistakes = linkMistakes(workTree, [path])
  if (mistakes.length > 0) throw new UserError(mistakes)
  const found = lstatSync(join(workTree, path), { throwIfNoEntry: false })
  if (found === undefined) return null
  if (!found.isFile()) throw new UserError(inTheWay(path, found, 'a file, or nothing'))
  return (await readRegularFile(join(workTree, path)))?.toString('utf8') ?? null
}

/** Mistakes for parent folders of the files that are links or no folders: a link leads out of the tree. */
export function linkMistakes(workTree: string, paths: readonly string[]): Mistake[] {
  const mistakes = new Map<string, Mistake>()
  for (const path of paths) {
    const parts = path.split('/')
    for (let count = 1; count < parts.length; count += 1) {
      const folder = parts.slice(0, count).join('/')
      const found = lstatSync(join(workTree, folder), { throwIfNoEntry: false })
      if (found?.isDirectory() === true) continue
      if (found !== undefined) mistakes.set(folder, inTheWay(folder, found, 'a folder of this repository'))
      break
    }
  }
  return [...mistakes.values()]
}

function inTheWay(path: string, found: Stats, expected: string): Mistake {
  const kind = found.isDirectory() ? 'a folder' : 'a file'
  const what = found.isSymbolicLink() ? 'a link' : kind
  return { path, found: what, expected, fix: 'move it away, then run again' }
}
