// Edits of the branch that no session makes. Types only.

/** `theirs`: the head of the base branch. `isAsked`: a person asked for it, so it is merged even without a conflict. */
export type BranchEdit =
  | { kind: 'update'; theirs: string; isAsked: boolean }
  | { kind: 'drop'; stories: readonly string[] }

/** What an edit would make. `tree` and `base`: trees of the result, with conflict markers, and of the commit before it. */
export type EditedBranch =
  | { kind: 'same' }
  | { kind: 'edited'; commit: string; tree: string; base: string }
  | { kind: 'conflict'; paths: readonly string[]; tree: string; base: string }
  /** Other stories changed the same lines since. */
  | { kind: 'needed'; paths: readonly string[]; stories: readonly string[] }
