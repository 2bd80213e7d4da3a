// Before a candidate is built: takes back marks in the plan's documents that the session set for stories it did not work on.
import type { State } from '../engine/model/state.ts'
import { plannedFiles } from '../engine/prd/plan-file.ts'
import { filesOf } from '../git/trees.ts'
import type { WorkTree } from '../git/work-tree.ts'
import { isFromDocument } from '../plan/write-back/passed-stories.ts'
import { fromLatin1 } from '../system/path-text.ts'

/** Bytes. A longer document was not written by a person. */
const MAX_BYTES = 1_000_000
const MAX_PATHS = 200_000

/** The new texts by path; empty if the session changed no document of the plan. */
export async function restorePlanMarks(
  { prd, folder, green }: State,
  storyId: string,
  tree: WorkTree,
): Promise<ReadonlyMap<string, string>> {
  const hasOthers = prd.userStories.some(
    (story) => isFromDocument(story) && !story.passes && story.id !== storyId,
  )
  if (!hasOthers) return new Map()
  const paths = await candidatePaths(tree, prd, green)
  const changed = []
  for (const path of paths) {
    const before = await tree.objects.text(`${green}:${path}`)
    const after = before === null ? null : await tree.bytesAt(path, MAX_BYTES)
    if (before !== null && after !== null && !after.equals(Buffer.from(before)))
      changed.push({ path, before, after })
  }
  // The parsers are loaded only if a session wrote into a document of the plan.
  if (changed.length === 0) return new Map()
  const { findPlanDocuments, restoreMarks } = await import('../plan/documents.ts')
  const reasons = new Map(findPlanDocuments(paths, prd, folder).map((one) => [one.path, one]))
  const texts = {
    before: new Map(changed.map((one) => [one.path, one.before])),
    after: new Map(changed.map((one) => [one.path, one.after.toString()])),
  }
  const documents = async (now: ReadonlyMap<string, string>) => {
    const all = []
    for (const [path, reason] of reasons) {
      const text = now.get(path) ?? (await tree.objects.text(`${green}:${path}`))
      if (text !== null) all.push({ ...reason, text })
    }
    return all
  }
  return restoreMarks(await documents(texts.before), await documents(texts.after), prd, storyId)
}

/**
 * The documents that the plan names. If it names none, all paths of the commit. Only plain paths: others are compared byte by byte
 * elsewhere.
 */
async function candidatePaths(tree: WorkTree, prd: State['prd'], green: string): Promise<string[]> {
  const planned = [...plannedFiles(prd).keys()]
  const isPlain = (path: string) => /^[\x20-\x7e]+$/.test(path) && !/^(?:\.\.\/|\/)/.test(path)
  if (planned.length > 0) return planned.filter(isPlain)
  const { findDocuments } = await import('../plan/documents.ts')
  const all = await filesOf(tree.objects, green, '', MAX_PATHS)
  return findDocuments(all.map(({ path }) => fromLatin1(path)).filter(isPlain))
}
