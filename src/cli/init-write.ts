// Writes files all or none: each is written beside its place first, then all are moved, and what fails is undone.
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Change } from '../init/files.ts'
import { UserError } from '../system/errors.ts'
import { removeNow, replaceFile } from '../system/files.ts'

/** Writes what is new or completed. Throws with everything as it was. */
export async function writeAll(top: string, changes: readonly Change[]): Promise<void> {
  const undo: (() => Promise<unknown>)[] = []
  try {
    const staged: { fresh: string; file: string; before: string | null }[] = []
    for (const { path, text, before } of changes) {
      const file = join(top, path)
      await refuseDetour(top, path)
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

/** A link in the place of a folder leads to somebody else's files. */
async function refuseDetour(top: string, path: string): Promise<void> {
  const parts = path.split('/').slice(0, -1)
  for (const [at] of parts.entries()) {
    const folder = parts.slice(0, at + 1).join('/')
    const found = await lstat(join(top, folder)).catch(() => null)
    if (found === null || found.isDirectory()) continue
    throw new UserError({
      path: folder,
      found: found.isSymbolicLink() ? 'a link' : 'a file',
      expected: `a folder of this repository, for ${path}`,
      fix: 'put a real folder there; nothing was written',
    })
  }
}
