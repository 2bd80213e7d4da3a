// Which stories are marked in the documents that they were planned from. Light: it brings no parser.
import type { Story } from '../../model/feature.ts'
import { PLANNED_MARK } from '../merge.ts'

/** Documents were read for it when it was planned; one that a person or a session wrote stands in none. */
export function isFromDocument({ extra }: Story): boolean {
  return extra?.[PLANNED_MARK] !== undefined
}

/** Those that Ralph passed itself, and those that were split and whose parts all are. An imported pass is the document's own word. */
export function passedHere(stories: readonly Story[]): Set<Story> {
  const byId = new Map(stories.map((story) => [story.id, story]))
  const isDone = (story: Story | undefined, above: readonly Story[]): boolean => {
    if (story === undefined || above.includes(story)) return false
    const parts = story.extra?.splitInto
    if (story.skipped && Array.isArray(parts) && parts.length > 0)
      return parts.every((id) => isDone(byId.get(String(id)), [...above, story]))
    return story.passes && !story.skipped && story.lastResult?.imported !== true
  }
  return new Set(stories.filter((story) => isDone(story, [])))
}
