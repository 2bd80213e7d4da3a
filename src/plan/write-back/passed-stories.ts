// Which stories to mark in the documents that they were planned from. Imports no parser.
import type { Story } from '../../engine/model/feature.ts'
import { PLANNED_MARK } from '../merge-plan.ts'

/** Whether the story was read from documents, not written by a person or a session. */
export function isFromDocument({ extra }: Story): boolean {
  return extra?.[PLANNED_MARK] !== undefined
}

/** Stories that passed in a run, and split stories whose parts all did. Imported passes are left out, as they came from the document. */
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
