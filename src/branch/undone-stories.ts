// Which earlier stories a candidate undoes: their files are again as they were before the story.
import type { Change } from '../engine/model/change.ts'
import type { UndoneStory } from '../engine/model/ports.ts'
import type { CatFile } from '../git/cat-file.ts'
import { changesBetween } from '../git/trees.ts'

/** The commits of stories that landed, and perhaps others, the oldest first. */
type History = readonly { commit: string; storyId: string | null }[]
type Files = Map<string, string>

export type UndoneOptions = {
  /** The green commit that the candidate is based on. */
  green: string
  candidate: string
  history: History
  isRalphPath(path: string): boolean
}

/**
 * Compares whole files, by their ids. A file counts as undone if the candidate changes it to what it was at a commit before the story. So
 * code that a later story moves or rewrites is not undone.
 */
export async function undoneStories(objects: CatFile, options: UndoneOptions): Promise<UndoneStory[]> {
  const { green, candidate, history, isRalphPath } = options
  const changed: Files = new Map()
  for (const { path, newOid } of await changesBetween(objects, green, candidate))
    if (!isRalphPath(path)) changed.set(path, idOf(newOid))
  if (changed.size === 0) return []
  const stories = new Map<string, Map<string, Set<string>>>()
  /** The object ids that each file had up to this commit. */
  const earlier = new Map<string, Set<string>>()
  for (const { commit, storyId } of history) {
    for (const { path, oldOid, newOid } of await changesOf(objects, `${commit}^`, commit)) {
      if (isRalphPath(path)) continue
      const known = earlier.get(path) ?? new Set()
      known.add(idOf(oldOid))
      if (storyId !== null) {
        const files = stories.get(storyId) ?? new Map<string, Set<string>>()
        if (!files.has(path)) files.set(path, new Set(known))
        stories.set(storyId, files)
      }
      known.add(idOf(newOid))
      earlier.set(path, known)
    }
  }
  const undone: UndoneStory[] = []
  for (const [storyId, files] of stories) {
    const isUndone = async (path: string, known: ReadonlySet<string>) =>
      known.has(changed.get(path) ?? (await oidOf(objects, green, path)))
    const paths: string[] = []
    let left = 0
    for (const [path, known] of files)
      if (!(await isUndone(path, known))) left += 1
      else if (changed.has(path)) paths.push(path)
    if (paths.length > 0) undone.push({ storyId, paths, isAll: left === 0 })
  }
  return undone
}

/** Changes of commits that landed never change, so each is read once in a run, however many stories have landed. */
const landed = new WeakMap<CatFile, Map<string, Promise<readonly Change[]>>>()

function changesOf(objects: CatFile, from: string, to: string): Promise<readonly Change[]> {
  const known = landed.get(objects) ?? new Map<string, Promise<readonly Change[]>>()
  landed.set(objects, known)
  const pair = `${from} ${to}`
  const changes = known.get(pair) ?? changesBetween(objects, from, to)
  known.set(pair, changes)
  return changes
}

/** The id of a file that does not exist, the same for every object format. */
const idOf = (oid: string) => (/^0+$/.test(oid) ? '' : oid)

async function oidOf(objects: CatFile, commit: string, path: string): Promise<string> {
  return (await objects.info(`${commit}:${path}`))?.oid ?? ''
}
