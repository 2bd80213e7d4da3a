// Which story is next, and how far the feature has come.
import type { Prd, Story } from '../model/feature.ts'

/**
 * The story to work on now, or null when there is none: not passed, not blocked, not skipped, everything it
 * depends on passed or skipped, and `workable` (breaker closed, not taken by another worker). The lowest
 * priority wins, then the file's order.
 */
export function pickStory(prd: Prd, workable: (story: Story) => boolean = () => true): Story | null {
  const settled = new Set<string>()
  for (const story of prd.userStories) if (story.passes || story.skipped) settled.add(story.id)
  let best: Story | null = null
  for (const story of prd.userStories) {
    if (story.passes || story.blocked || story.skipped) continue
    if (best !== null && story.priority >= best.priority) continue
    if (!story.dependsOn.every((id) => settled.has(id)) || !workable(story)) continue
    best = story
  }
  return best
}

/** The stories that stand between the feature and its completion: neither passed nor skipped, so blocked ones too. */
export function remaining(prd: Prd): Story[] {
  return prd.userStories.filter((story) => !story.passes && !story.skipped)
}

/** Every story counted once: `total` is the sum of the others; `open` are those still to be worked on. */
export function counts(prd: Prd): Counts {
  const sum: Counts = { total: prd.userStories.length, passed: 0, blocked: 0, skipped: 0, open: 0 }
  for (const story of prd.userStories) sum[standing(story)] += 1
  return sum
}

export type Counts = { total: number; passed: number; blocked: number; skipped: number; open: number }

/** A pass outweighs a skip, and a skip outweighs a block: a person's decision releases what waits. */
function standing(story: Story): 'passed' | 'skipped' | 'blocked' | 'open' {
  if (story.passes) return 'passed'
  if (story.skipped) return 'skipped'
  return story.blocked ? 'blocked' : 'open'
}

/** Stories that had passed before Ralph took the feature over: no gate of the run has seen them. */
export function importedCount({ userStories }: Prd): number {
  return userStories.filter((story) => !story.skipped && story.passes && story.lastResult?.imported === true)
    .length
}
