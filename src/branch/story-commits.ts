// Finds the commits of a run's stories by their trailers.
import type { Git } from '../git/git.ts'

/** Commits of this run's stories, the newest first. A squashed commit has the trailers of several stories in its message. */
export async function storyCommits(
  git: Git,
  range: string,
  nonce: string,
): Promise<{ storyId: string; commit: string }[]> {
  return (await git.messages(range)).flatMap(({ commit, message }) =>
    storiesIn(message, nonce).map((storyId) => ({ storyId, commit })),
  )
}

/** The stories of this run that a commit's message names. */
export function storiesIn(message: string, nonce: string): string[] {
  // Other features may have a US-001 as well: only commits with this run's nonce count.
  const isOurs = [...message.matchAll(/^Ralph-Run: *(\S+) *$/gm)].some(([, run]) => run === nonce)
  if (!isOurs) return []
  // A correction's commit names the story that it corrects, and then the correction.
  const found = message.matchAll(/^Ralph-Story: *(\S+) *$|^Ralph-Fixes: *(\S+)(?: .*)?$/gm)
  return [...new Set([...found].map(([, storyId, correctionId]) => storyId ?? correctionId ?? ''))]
}
