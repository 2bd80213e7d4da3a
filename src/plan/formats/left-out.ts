// For lists of issues or tasks: notes on the entries that become no story, and on the stories that depend on one of them.
import { oneLine, truncate } from '../../engine/model/text.ts'
import type { Raw } from '../../engine/prd/migrate.ts'
import type { ParsedStory } from '../types.ts'

/** The maximum number of entries that a note names. */
const MAX_NAMED = 20

/** The ids and titles of entries: `3 Import; 5 Sync`. */
export function nameEntries(entries: readonly Raw[]): string {
  const named = entries.slice(0, MAX_NAMED).map(({ id, title, name, description }) => {
    const words = oneLine(String(title ?? name ?? description ?? ''), 60)
    return `${oneLine(String(id ?? ''), 40)} ${words}`.trim()
  })
  return `${named.join('; ')}${entries.length > MAX_NAMED ? ' ...' : ''}`
}

/** Removes dependencies on entries that are not stories of the list. A note names the stories that lost one. */
export function dropUnknownDependencies(stories: readonly ParsedStory[]): {
  stories: ParsedStory[]
  notes: string[]
} {
  const known = new Set(stories.map(({ raw }) => raw.id))
  const dropped: string[] = []
  const kept = stories.map((story) => {
    const { id, dependsOn } = story.raw
    const needs = (Array.isArray(dependsOn) ? dependsOn : []).map(String).filter((need) => need !== id)
    const unknown = needs.filter((need) => !known.has(need))
    if (unknown.length > 0 && story.raw.passes !== true) {
      const names = unknown.slice(0, MAX_NAMED).map((need) => oneLine(need, 40))
      dropped.push(`${oneLine(String(id ?? story.raw.title), 40)} on ${names.join(', ')}`)
    }
    return { ...story, raw: { ...story.raw, dependsOn: needs.filter((need) => known.has(need)) } }
  })
  if (dropped.length === 0) return { stories: kept, notes: [] }
  const list = truncate(dropped.slice(0, MAX_NAMED).join('; '), 2_000)
  const more = dropped.length > MAX_NAMED ? ' ...' : ''
  const note = `Ralph drops these dependencies, because no story has such an id: ${list}${more}.`
  return { stories: kept, notes: [note] }
}
