// The correction that merges the base branch: its session sees both sides, because the merge is in its work tree. Pure.

import type { BranchEdit } from '../model/branch-edit.ts'
import type { CorrectionRequest } from '../model/correction.ts'
import type { State } from '../model/state.ts'
import { fenced, sanitizeText } from '../model/text.ts'

/**
 * `kept`: the merged tree, with conflict markers, and the tree before it. `paths`: files with a conflict. `failed`: what failed on the
 * merge; empty if it has a conflict.
 */
export function baseRequest(
  state: State,
  edit: BranchEdit,
  { kept, paths, failed }: { kept: { tree: string; base: string }; paths: readonly string[]; failed: string },
): CorrectionRequest {
  const commit = edit.kind === 'update' ? edit.theirs : ''
  const source = { kind: 'base' as const, commit, branch: state.base.branch, paths: [...paths] }
  const stories = state.prd.userStories
    .filter(({ passes }) => passes)
    .slice(0, 30)
    .map(({ id, title }) => `${id}: ${title}`)
  const text = [`The stories of this feature:\n${fenced(stories.join('\n'))}`]
  if (failed !== '') text.push(`What failed on the merge:\n${fenced(sanitizeText(failed))}`)
  return { story: null, source, text: text.join('\n\n'), kept }
}
