// Files of the work tree, written all or none, whoever fails or is killed in the middle; and through no link.
import { lstatSync, type Stats } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod/mini'
import { featureOfFolder } from '../git/features.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { readRegular, replaceFile } from '../system/files.ts'

/** Path in the work tree to its text, in the order in which they are written. */
export type Files = Readonly<Record<string, string>>

/** `gitDir`: where a journal makes durable what is to be written; null for none. */
type Place = { workTree: string; gitDir: string | null }

/** The files as they were and as they are to be; it stands until every one is written. */
const Journal = z.array(z.object({ path: z.string(), before: z.nullable(z.string()), after: z.string() }))
type Journal = z.infer<typeof Journal>

const journalIn = (gitDir: string) => join(gitDir, 'ralph', 'plan.json')

/**
 * Writes files of the work tree. What fails is undone; where Ralph is killed behind its journal, `finishWriting` does the
 * rest. Gives the paths that changed. Throws UserError where no file of ours can stand.
 */
export async function writeAll(place: Place, files: Files): Promise<string[]> {
  const journal = await changesBy(place, files)
  if (journal.length === 0) return []
  if (place.gitDir !== null) {
    await mkdir(join(place.gitDir, 'ralph'), { recursive: true })
    await replaceFile(journalIn(place.gitDir), JSON.stringify(journal))
  }
  try {
    await apply(place, journal)
  } finally {
    await forget(place)
  }
  return journal.map(({ path }) => path)
}

/** What writing the files would change. */
export async function changesBy({ workTree }: Pick<Place, 'workTree'>, files: Files): Promise<Journal> {
  const changes: Journal = []
  for (const [path, after] of Object.entries(files)) {
    const before = await textOf(workTree, path)
    if (before !== after) changes.push({ path, before, after })
  }
  return changes
}

/** Does the rest of what a killed `ralph plan` was writing; a file that somebody has changed meanwhile stays theirs. */
export async function finishWriting(place: { workTree: string; gitDir: string }): Promise<void> {
  const text = (await readRegular(journalIn(place.gitDir)))?.toString('utf8')
  if (text === undefined) return
  // What fails is tried again the next time: only the journal knows what is missing.
  await apply(place, plannedIn(text))
  await forget(place)
}

async function forget({ gitDir }: Place): Promise<void> {
  if (gitDir !== null) await rm(journalIn(gitDir), { force: true })
}

/** Whoever writes there must not make us write elsewhere. */
function plannedIn(text: string): Journal {
  try {
    return Journal.parse(JSON.parse(text)).filter(({ path }) => isPlanned(path))
  } catch {
    return []
  }
}

function isPlanned(path: string): boolean {
  const [top, folder = '', name = '', ...more] = path.split('/')
  if (path === 'ralph.config.yml') return true
  const isInFeature = top === '.ralph' && featureOfFolder(folder) !== null && more.length === 0
  return isInFeature && /^(?:prd\.md|prd\.json|context\.md|done(?:-\d+)?\.json)$/.test(name)
}

async function apply({ workTree }: Place, journal: Journal): Promise<void> {
  const undo: (() => Promise<unknown>)[] = []
  try {
    for (const { path, before, after } of journal) {
      if ((await textOf(workTree, path)) !== before) continue
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
}

/** A file's text, or null where there is none. Throws UserError where a link or the like stands in the way. */
export async function textOf(workTree: string, path: string): Promise<string | null> {
  const wrong = detours(workTree, [path])
  if (wrong.length > 0) throw new UserError(wrong)
  const found = lstatSync(join(workTree, path), { throwIfNoEntry: false })
  if (found === undefined) return null
  if (!found.isFile()) throw new UserError(inTheWay(path, found, 'a file, or nothing'))
  return (await readRegular(join(workTree, path)))?.toString('utf8') ?? null
}

/** What stands in the place of a folder above one of the files: a link leads to somebody else's files. */
export function detours(workTree: string, paths: readonly string[]): Mistake[] {
  const wrong = new Map<string, Mistake>()
  for (const path of paths) {
    const parts = path.split('/')
    for (let count = 1; count < parts.length; count += 1) {
      const folder = parts.slice(0, count).join('/')
      const found = lstatSync(join(workTree, folder), { throwIfNoEntry: false })
      if (found?.isDirectory() === true) continue
      if (found !== undefined) wrong.set(folder, inTheWay(folder, found, 'a folder of this repository'))
      break
    }
  }
  return [...wrong.values()]
}

function inTheWay(path: string, found: Stats, expected: string): Mistake {
  const kind = found.isDirectory() ? 'a folder' : 'a file'
  const what = found.isSymbolicLink() ? 'a link' : kind
  return { path, found: what, expected, fix: 'move it away, then run again' }
}
