// Which stories are marked in the documents that they were planned from. Imports no parser.
import type { Story } from '../../engine/model/feature.ts'
import { PLANNED_MARK } from '../merge-plan.ts'

/** Whether documents were read for the story when it was planned. A story that a person or a session wrote is in none. */
export function isFromDocument({ extra }: Story): boolean {
  return extra?.[PLANNED_MARK] !== undefined
}

/** Stories that Ralph itself passed, and split stories all of whose parts are. An imported pass came from the document. */
export function passedByRalph(stories: readonly Story[]): Set<Story> {
  const byId = new Map(stories.map((story) => [story.id, story]))
  const known = new Map<Story, boolean>()
  const isDone = (story: Story | undefined): boolean => {
    if (story === undefined) return false
    const before = known.get(story)
    if (before !== undefined) return before
    // Ends the recursion for a story that is its own part.
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
