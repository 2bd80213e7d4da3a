// A plan with too many stories for one run: which parts it has, so that a person can choose one.
import type { ParsedStory } from '../types.ts'

/** A plan with more stories gets a note. */
const MANY_STORIES = 100
const MAX_PARTS = 8

/** A note on a plan with many stories, with its parts and how many stories are still open in each. */
export function describePart(stories: readonly ParsedStory[]): string[] {
  if (stories.length <= MANY_STORIES) return []
  const parts = new Map<string, number>()
  for (const { raw } of stories)
    if (raw.passes !== true && typeof raw.epicId === 'string')
      parts.set(raw.epicId, (parts.get(raw.epicId) ?? 0) + 1)
  const named = [...parts]
    .slice(0, MAX_PARTS)
    .map(([epic, count]) => `--epic ${JSON.stringify(epic)} (${count} open)`)
  const more = parts.size > MAX_PARTS ? `, and ${parts.size - MAX_PARTS} more` : ''
  const choice = named.length === 0 ? '--stories US-001,US-002' : `${named.join(', ')}${more}`
  return [`${stories.length} stories are many for one run. Run a part of them: ${choice}.`]
}
