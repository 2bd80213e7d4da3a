// A candidate that merges the base branch: its second parent, and which of its changes are the session's own.

import type { Failure } from '../engine/model/attempt.ts'
import type { Change } from '../engine/model/change.ts'
import type { State } from '../engine/model/state.ts'
import type { CatFile } from '../git/cat-file.ts'
import { displayPath } from '../system/path-text.ts'

/** The commit of the base branch that the story's candidate merges; null for any other story. */
export function mergedCommit({ corrections = {} }: State, storyId: string): string | null {
  const source = corrections[storyId]?.source
  return source?.kind === 'base' && source.commit !== '' ? source.commit : null
}

/** The changes without those that only take the base branch's version of a file: people reviewed these. */
export async function ownChanges(
  objects: CatFile,
  changes: readonly Change[],
  theirs: string | null,
): Promise<Change[]> {
  if (theirs === null) return [...changes]
  const own: Change[] = []
  for (const change of changes) {
    const entry = await objects.entry(theirs, change.path)
    const isTheirs =
      entry === null ? change.status === 'D' : entry.oid === change.newOid && entry.mode === change.newMode
    if (!isTheirs) own.push(change)
  }
  return own
}

/** The refusal of a merge in which a conflict is left, or null. */
export async function leftMarkers(
  objects: CatFile,
  changes: readonly Change[],
  theirs: string | null,
): Promise<Failure | null> {
  if (theirs === null) return null
  const left: string[] = []
  for (const { path, status, newOid } of changes) {
    if (status === 'D') continue
    const text = (await objects.contents(newOid).catch(() => null))?.toString('utf8') ?? ''
    if (/^<{7} .*$/m.test(text) && /^>{7} .*$/m.test(text)) left.push(displayPath(path))
  }
  if (left.length === 0) return null
  const summary = `a conflict marker is left in ${left.slice(0, 3).join(', ')}`
  return { kind: 'guard', summary, detail: `Resolve every conflict in:\n${left.slice(0, 50).join('\n')}` }
}
