// A commit of the feature's branch, as a stack of pull requests needs it.

/** A commit of the feature's branch without those of merged branches; `stories`: what it and the commits that it merged are for. */
export type BranchCommit = {
  commit: string
  stories: readonly string[]
  /** It reverts stories that people dropped. */
  isRevert: boolean
}
