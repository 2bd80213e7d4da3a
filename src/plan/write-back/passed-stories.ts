// Which stories are marked in the documents that they were planned from. Light: it brings no parser.
import type { Story } from '../../engine/model/feature.ts'
import { PLANNED_MARK } from '../merge-plan.ts'

/** Documents were read for it when it was planned; one that a person or a session wrote stands in none. */
export function isFromDocument({ extra }: Story): boolean {
  return extra?.[PLANNED_MARK] !== undefined
}

/** Those that Ralph passed itself, and those that were split and whose parts all are. An imported pass is the document's own word. */
export function passedByRalph(stories: readonly Story[]): Set<Story> {
  const byId = new Map(stories.map((story) => [story.id, story]))
  const known = new Map<Story, boolean>()
  const isDone = (story: Story | undefined): boolean => {
    if (story === undefined) return false
    const before = known.get(story)
    if (before !== undefined) return before
    // Until it is known: a story that is its own part is done by nothing.
    known.set(story, false)
    const { skipped, extra, passes, lastResult } = story
    const parts = extra?.splitInto
    const done =
      skipped && Array.isArray(parts) && parts.length > 0
        ? parts.every((id) => isDone(byId.get(String(id))))
        : passes && !skipped && lastResult?.imported !== true
    known.set(story, done)
    return done
  }
  return new Set(stories.filter(isDone))
}
