// Writes files all or none: each is written beside its place first, then all are moved, and what fails is undone.
import { lstatSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Change } from '../init/files.ts'
import type { Mistake } from '../system/errors.ts'
import { removeNow, replaceFile } from '../system/files.ts'

/** Writes what is new or completed. Throws with everything as it was. */
export async function writeAll(top: string, changes: readonly Change[]): Promise<void> {
  const undo: (() => Promise<unknown>)[] = []
  try {
    const staged: { fresh: string; file: string; before: string | null }[] = []
    for (const { path, text, before } of changes) {
      const file = join(top, path)
      const made = await mkdir(dirname(file), { recursive: true })
      if (made !== undefined) undo.push(() => rm(made, { recursive: true, force: true }))
      const fresh = `${file}.ralph`
      removeNow(fresh)
      undo.push(() => rm(fresh, { force: true }))
      const handle = await open(fresh, 'wx')
      try {
        await handle.writeFile(text)
        await handle.sync()
      } finally {
        await handle.close()
      }
      staged.push({ fresh, file, before })
    }
    for (const { fresh, file, before } of staged) {
      await rename(fresh, file)
      undo.push(() => (before === null ? rm(file, { force: true }) : replaceFile(file, before)))
    }
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => {})
    throw error
  }
}

/** What stands in the place of a folder: a link leads to somebody else's files. */
export function detours(top: string, paths: readonly string[]): Mistake[] {
  const wrong = new Map(paths.flatMap((path) => detourOf(top, path) ?? []))
  return [...wrong].map(([path, found]) => ({
    path,
    found,
    expected: 'a folder of this repository',
    fix: 'put a real folder there',
  }))
}

/** The first part of the way to a file that is no folder. */
function detourOf(top: string, path: string): [string, string][] | null {
  const parts = path.split('/')
  for (let count = 1; count < parts.length; count += 1) {
    const folder = parts.slice(0, count).join('/')
    const found = lstatSync(join(top, folder), { throwIfNoEntry: false })
    if (found === undefined) return null
    if (!found.isDirectory()) return [[folder, found.isSymbolicLink() ? 'a link' : 'a file']]
  }
  return null
}
