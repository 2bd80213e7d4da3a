// Which story is next, and counts of stories by their status.
import type { Prd, Scope, Story } from '../model/feature.ts'

/** Whether a story is within the scope: null is the whole feature. */
export function inScope(scope: Scope | null): (story: Story) => boolean {
  if (scope === null) return () => true
  const named = new Set(scope.stories)
  return ({ id, epicId }) => named.has(id) || (scope.epic !== null && epicId === scope.epic)
}

/**
 * The story to work on now, or null if there is none. It has not passed, is neither blocked nor skipped, and all its dependencies have
 * passed or are skipped. It is also `workable`: its breaker is closed, and no other worker has it. The lowest priority wins, then the
 * file's order.
 */
export function pickStory(prd: Prd, workable: (story: Story) => boolean = () => true): Story | null {
  const satisfied = new Set<string>()
  for (const story of prd.userStories) if (story.passes || story.skipped) satisfied.add(story.id)
  let best: Story | null = null
  for (const story of prd.userStories) {
    if (story.passes || story.blocked || story.skipped) continue
    if (best !== null && story.priority >= best.priority) continue
    if (!story.dependsOn.every((id) => satisfied.has(id)) || !workable(story)) continue
    best = story
  }
  return best
}

/** The stories that are left before the run is complete: neither passed nor skipped, so blocked ones as well. */
export function remaining({ userStories }: Prd, scope: Scope | null = null): Story[] {
  const isInScope = inScope(scope)
  return userStories.filter((story) => !story.passes && !story.skipped && isInScope(story))
}

/** Every story counted once: `total` is the sum of the others; `open` are those still to be worked on. */
export function counts({ userStories }: Prd, scope: Scope | null = null): Counts {
  const sum: Counts = { total: 0, passed: 0, blocked: 0, skipped: 0, open: 0 }
  const isInScope = inScope(scope)
  for (const story of userStories) {
    if (!isInScope(story)) continue
    sum[statusOf(story)] += 1
    sum.total += 1
  }
  return sum
}

export type Counts = { total: number; passed: number; blocked: number; skipped: number; open: number }

/** The status of a story. A pass counts before a skip, and a skip before a block. */
function statusOf(story: Story): 'passed' | 'skipped' | 'blocked' | 'open' {
  if (story.passes) return 'passed'
  if (story.skipped) return 'skipped'
  return story.blocked ? 'blocked' : 'open'
}

/** Stories that had passed before Ralph took the feature over: no gate of the run has seen them. */
export function importedCount({ userStories }: Prd, scope: Scope | null = null): number {
  const isInScope = inScope(scope)
  return userStories.filter(
    (story) => !story.skipped && story.passes && story.lastResult?.imported === true && isInScope(story),
  ).length
}
