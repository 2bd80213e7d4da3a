// `.ralph/archive/`: the folders of runs that a new run replaced, each with a page of its learnings.

import type { State } from '../engine/model/state.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { type CatFile, TREE } from '../git/cat-file.ts'
import { filesOf } from '../git/trees.ts'
import { learningsPage } from '../report/agents-md.ts'
import { fromLatin1 } from '../system/path-text.ts'
import { featureOfFolder } from './find-features.ts'

/** A folder to move, or to copy (`isCopied`) if the new run uses it as well. */
export type FolderMove = { from: string; to: string; isCopied: boolean }
export type ArchivePlan = { moves: FolderMove[]; files: Map<string, string> }

export const ARCHIVE = '.ralph/archive'

/** Which folders to archive: the feature's older ones, and the current one if the run begins again. Overwrites no archived folder. */
export async function planArchive(objects: CatFile, state: State): Promise<ArchivePlan> {
  const { green, folder, feature, control } = state
  const taken = new Set(await foldersIn(objects, green, ARCHIVE))
  const moves: FolderMove[] = []
  const files = new Map<string, string>()
  for (const name of await foldersIn(objects, green, '.ralph')) {
    const from = `.ralph/${name}`
    const stays = from === folder
    if (featureOfFolder(name) !== feature || (stays && !control.anew)) continue
    const text = await objects.text(`${green}:${from}/prd.json`)
    const parsed = text === null ? null : parsePrd(text, from)
    const run = parsed?.ok === true ? parsed.prd.run : null
    // A plan that was never run belongs to this run.
    if (stays && run?.startedAt == null) continue
    const free = freeName(name, taken)
    taken.add(free)
    moves.push({ from, to: `${ARCHIVE}/${free}`, isCopied: stays })
    const page = run === null ? null : learningsPage(free, run.learnings)
    if (page !== null) files.set(`${ARCHIVE}/${free}/learnings.md`, page)
  }
  return { moves, files }
}

/** The name, or the first free one of `<name>-2`, `<name>-3` and so on. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let at = 1; ; at += 1) {
    const free = at === 1 ? name : `${name}-${at}`
    if (!taken.has(free)) return free
  }
}

/** A free path for a JSON file of that name in a folder, with `-2` and so on as in `freeName`. */
export async function freeFile(
  objects: CatFile,
  commit: string,
  folder: string,
  name: string,
): Promise<string> {
  const files = await filesOf(objects, commit, `${folder}/`)
  const taken = new Set(files.map(({ path }) => path.slice(folder.length + 1).replace(/\.json$/, '')))
  return `${folder}/${freeName(name, taken)}.json`
}

/** Names of the folders in a folder. */
async function foldersIn(objects: CatFile, commit: string, folder: string): Promise<string[]> {
  const treeId = await objects.folder(commit, folder)
  const entries = treeId === null ? [] : [...(await objects.tree(treeId))]
  return entries.flatMap(([bytes, { mode }]) => (mode === TREE ? [fromLatin1(bytes)] : []))
}
