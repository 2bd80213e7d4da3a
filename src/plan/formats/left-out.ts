// Of a list of issues or tasks as data: names the entries that make no story, and the stories that wait for one of them.
import { oneLine, truncate } from '../../engine/model/text.ts'
import type { Raw } from '../../engine/prd/migrate.ts'
import type { ParsedStory } from '../types.ts'

/** Entries that a note names at most. */
const MAX_NAMED = 20

/** `3 Import; 5 Sync`. */
export function nameEntries(entries: readonly Raw[]): string {
  const named = entries.slice(0, MAX_NAMED).map(({ id, title, name, description }) => {
    const words = oneLine(String(title ?? name ?? description ?? ''), 60)
    return `${oneLine(String(id ?? ''), 40)} ${words}`.trim()
  })
  return `${named.join('; ')}${entries.length > MAX_NAMED ? ' ...' : ''}`
}

/** The stories without dependencies on what is no story of the list, and a note that names these. */
export function keepKnownNeeds(stories: readonly ParsedStory[]): { stories: ParsedStory[]; notes: string[] } {
  const known = new Set(stories.map(({ raw }) => raw.id))
  const waits: string[] = []
  const kept = stories.map((story) => {
    const { id, dependsOn } = story.raw
    const needs = (Array.isArray(dependsOn) ? dependsOn : []).map(String).filter((one) => one !== id)
    const gone = needs.filter((one) => !known.has(one))
    if (gone.length > 0 && story.raw.passes !== true) {
      const names = gone.slice(0, MAX_NAMED).map((one) => oneLine(one, 40))
      waits.push(`${oneLine(String(id ?? story.raw.title), 40)} for ${names.join(', ')}`)
    }
    return { ...story, raw: { ...story.raw, dependsOn: needs.filter((one) => known.has(one)) } }
  })
  const list = truncate(waits.slice(0, MAX_NAMED).join('; '), 2_000)
  const note = `these wait for what is no story here; they wait no more: ${list}${waits.length > MAX_NAMED ? ' ...' : ''}.`
  return { stories: kept, notes: waits.length === 0 ? [] : [note] }
}
