// Reads what the repository's other features cost, from the prd.json files of a commit.

import { isPrdPath } from '../branch/find-features.ts'
import { ARCHIVE } from '../branch/run-archive.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import type { CatFile } from '../git/cat-file.ts'
import { pathsIn } from '../git/trees.ts'
import { type EarlierRun, earlierRuns } from '../report/expected-cost.ts'

/** Only the newest runs are read: they predict the next one best. */
const MAX_RUNS = 20

/** The earlier runs, the newest last, without the feature in `folder`. A file that cannot be read is left out. */
export async function readEarlierRuns(
  objects: CatFile,
  commit: string,
  folder: string,
): Promise<EarlierRun[]> {
  const all = await pathsIn(objects, commit, '.ralph/').catch(() => [])
  const isRun = (path: string) =>
    isPrdPath(path) || (path.startsWith(`${ARCHIVE}/`) && path.endsWith('/prd.json'))
  const paths = all.filter((path) => isRun(path) && !path.startsWith(`${folder}/`))
  const newest = newestRuns(paths)
  const texts = await Promise.all(newest.map((path) => objects.text(`${commit}:${path}`).catch(() => null)))
  const prds = texts.flatMap((text, index) => {
    const parsed = text === null ? null : parsePrd(text, newest[index] ?? '')
    return parsed?.ok === true ? [parsed.prd] : []
  })
  return earlierRuns(prds)
}

/** The newest of these prd.json paths, by the dates in the names of their folders, the newest last. Paths in the archive count as well. */
export function newestRuns(paths: readonly string[]): string[] {
  const folderOf = (path: string) => path.split('/').at(-2) ?? ''
  return [...paths].sort((a, b) => (folderOf(a) < folderOf(b) ? -1 : 1)).slice(-MAX_RUNS)
}
