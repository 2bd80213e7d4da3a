// What the repository's other features cost, by the prd.json files of a commit: no network is asked for it.

import { isPrdPath } from '../branch/find-features.ts'
import { ARCHIVE } from '../branch/run-archive.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import type { CatFile } from '../git/cat-file.ts'
import { pathsIn } from '../git/tree-walk.ts'
import { type EarlierRun, earlierRuns } from '../report/expected-cost.ts'

/** The newest runs say the most of the next one; so many files are read. */
const MOST_RUNS = 20

/** The newest last. `folder`: of the feature that it is asked for, which counts for nothing. What cannot be read is left out. */
export async function readEarlierRuns(
  objects: CatFile,
  commit: string,
  folder: string,
): Promise<EarlierRun[]> {
  const all = await pathsIn(objects, commit, '.ralph/').catch(() => [])
  const isRun = (path: string) =>
    isPrdPath(path) || (path.startsWith(`${ARCHIVE}/`) && path.endsWith('/prd.json'))
  const paths = all.filter((path) => isRun(path) && !path.startsWith(`${folder}/`))
  const byDate = newestRuns(paths)
  const texts = await Promise.all(byDate.map((path) => objects.text(`${commit}:${path}`).catch(() => null)))
  const prds = texts.flatMap((text, at) => {
    const parsed = text === null ? null : parsePrd(text, byDate[at] ?? '')
    return parsed?.ok === true ? [parsed.prd] : []
  })
  return earlierRuns(prds)
}

/** Of these paths of prd.json the newest, the newest last, by the dates of their folders: archived or not. */
export function newestRuns(paths: readonly string[]): string[] {
  const folderOf = (path: string) => path.split('/').at(-2) ?? ''
  return [...paths].sort((one, other) => (folderOf(one) < folderOf(other) ? -1 : 1)).slice(-MOST_RUNS)
}
