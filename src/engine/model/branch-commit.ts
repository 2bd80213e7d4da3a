// A commit of the feature's branch, as a stack of pull requests needs it.

/** A commit of the feature's own line of history. `stories`: those that it belongs to, and those of the commits that it merged. */
export type BranchCommit = {
  commit: string
  stories: readonly string[]
  /** It reverts stories that people dropped. */
  isRevert: boolean
}
