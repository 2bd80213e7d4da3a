// The files of a plan: written all or none, whoever is killed in the middle.
import { lstat, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod/mini'
import { featureOfFolder } from '../git/features.ts'
import { UserError } from '../system/errors.ts'
import { readRegular, replaceFile } from '../system/files.ts'

/** Path in the work tree to its text, in the order in which they are written. */
export type Files = Readonly<Record<string, string>>

type Place = { workTree: string; gitDir: string }

/** The files as they were and as they are to be; it stands until every one is written. */
const Journal = z.array(z.object({ path: z.string(), before: z.nullable(z.string()), after: z.string() }))
type Journal = z.infer<typeof Journal>

const journalOf = ({ gitDir }: Place) => join(gitDir, 'ralph', 'plan.json')

/**
 * Writes files of the work tree, all or none: what is to be done is made durable first, and where Ralph is killed behind
 * that, `finishWriting` does the rest. Gives the paths that changed. Throws UserError where no file of ours can stand.
 */
export async function writeAll(place: Place, files: Files): Promise<string[]> {
  const journal = await changesBy(place, files)
  if (journal.length === 0) return []
  await mkdir(dirname(journalOf(place)), { recursive: true })
  await replaceFile(journalOf(place), JSON.stringify(journal))
  await apply(place, journal)
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
export async function finishWriting(place: Place): Promise<void> {
  const text = (await readRegular(journalOf(place)))?.toString('utf8')
  if (text !== undefined) await apply(place, journalIn(text))
}

/** Whoever writes there must not make us write elsewhere. */
function journalIn(text: string): Journal {
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

async function apply(place: Place, journal: Journal): Promise<void> {
  for (const { path, before, after } of journal) {
    if ((await textOf(place.workTree, path)) !== before) continue
    const file = join(place.workTree, path)
    await mkdir(dirname(file), { recursive: true })
    await replaceFile(file, after)
  }
  await rm(journalOf(place), { force: true })
}

/** A file's text, or null where there is none. Throws UserError where a link or the like stands in the way. */
export async function textOf(workTree: string, path: string): Promise<string | null> {
  const parts = path.split('/')
  for (const at of parts.keys()) {
    const here = parts.slice(0, at + 1).join('/')
    const found = await lstat(join(workTree, here)).catch(() => null)
    if (found === null) return null
    const isLast = at === parts.length - 1
    if (isLast ? found.isFile() : found.isDirectory()) continue
    const expected = isLast ? 'a file, or nothing' : 'a folder, or nothing'
    const kind = found.isSymbolicLink() ? 'a link' : isLast ? 'no file' : 'no folder'
    throw new UserError({ path: here, found: kind, expected, fix: 'move it away, then run again' })
  }
  return (await readRegular(join(workTree, path)))?.toString('utf8') ?? null
}
