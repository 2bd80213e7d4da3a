// How much each story of a run changed, for reports.
import type { State } from '../engine/model/state.ts'
import type { Git } from '../git/git.ts'
import { shallowCommits } from '../git/own-directory.ts'
import type { StoryChange } from '../report/stories.ts'
import { storiesIn } from './story-commits.ts'

/** By story id, from a whole clone; empty in a shallow one. A commit that several stories share counts for each of them. */
export async function changesByStory(
  git: Git,
  { base, green, nonce }: Pick<State, 'base' | 'green' | 'nonce'>,
): Promise<Readonly<Record<string, StoryChange>>> {
  // The oldest commit of a shallow clone has no parent, so it seems to add every file.
  if (nonce === '' || shallowCommits(git.shared).length > 0) return {}
  const range = `${base.sha}..${green}`
  const [messages, sizes] = await Promise.all([git.messages(range), git.sizes(range)])
  const totals = new Map<string, { paths: Set<string>; added: number; removed: number }>()
  for (const { commit, message } of messages) {
    for (const storyId of storiesIn(message, nonce)) {
      const total = totals.get(storyId) ?? { paths: new Set(), added: 0, removed: 0 }
      for (const { path, added, removed } of sizes.get(commit) ?? []) {
        total.paths.add(path)
        total.added += added
        total.removed += removed
      }
      totals.set(storyId, total)
    }
  }
  return Object.fromEntries(
    [...totals].map(([id, { paths, added, removed }]) => [id, { files: paths.size, added, removed }]),
  )
}
