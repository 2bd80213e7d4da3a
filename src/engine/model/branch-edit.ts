// Edits of the branch that no session makes.
import * as z from 'zod/mini'

/** `theirs`: the head of the base branch. `isAsked`: a person asked for it, so it is merged even without a conflict. */
export type BranchEdit = z.infer<typeof BranchEdit>
export const BranchEdit = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('update'), theirs: z.string(), isAsked: z.boolean() }),
  z.object({ kind: z.literal('drop'), stories: z.array(z.string()) }),
])

/** An edit as a commit on `onto`, whose gates have not run yet. `tree` and `base`: trees of the commit and of `onto`, without Ralph's state. */
export type BuiltEdit = z.infer<typeof BuiltEdit>
export const BuiltEdit = z.object({
  edit: BranchEdit,
  onto: z.string(),
  commit: z.string(),
  tree: z.string(),
  base: z.string(),
})

/** What an edit would make. `tree` and `base`: trees of the result, with conflict markers, and of the commit before it. */
export type EditedBranch =
  | { kind: 'same' }
  /** `isNeeded`: the base has work of the branch under other commits, after a squash or rebase. GitHub shows conflicts until this is merged. */
  | { kind: 'edited'; commit: string; tree: string; base: string; isNeeded?: boolean }
  | { kind: 'conflict'; paths: readonly string[]; tree: string; base: string }
  /** Other stories changed the same lines since. */
  | { kind: 'needed'; paths: readonly string[]; stories: readonly string[] }
