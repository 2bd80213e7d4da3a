import * as z from 'zod/mini'

/** The work of a story's rejected attempts: a tree, and the green commit it grew from. */
export type SavedWork = z.infer<typeof SavedWork>
export const SavedWork = z.object({
  base: z.string(),
  tree: z.string(),
  dropped: z.array(z.string()),
  /** If it contains a set-up session's work: the tree after that session. Empty: not known. */
  setUp: z.exactOptional(z.string()),
})
