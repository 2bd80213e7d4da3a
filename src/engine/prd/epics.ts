// Names of epics. People or documents may give them in prd.json, as a map of ids to names, or as a list. Pure.
import type { Prd, Story } from '../model/feature.ts'
import { isObject } from '../model/json.ts'
import type { Raw } from './migrate.ts'

/** The name of a story's epic, or the epic's id if it has no name; empty if the story has no epic. */
export function epicName({ extra }: Pick<Prd, 'extra'>, story: Story): string {
  const fields = story.extra ?? {}
  const nameOfStory = nameIn(fields.epicName ?? fields.epicTitle ?? fields.epic_name ?? fields.epic)
  if (nameOfStory !== null) return nameOfStory
  if (story.epicId === null) return ''
  return nameIn(entryFor(extra?.epics, story.epicId)) ?? story.epicId
}

function entryFor(epics: unknown, id: string): unknown {
  if (isObject(epics)) return Object.hasOwn(epics, id) ? epics[id] : null
  if (!Array.isArray(epics)) return null
  return epics.find((epic) => isObject(epic) && [epic.id, epic.epicId, epic.epic_id].includes(id)) ?? null
}

function nameIn(value: unknown): string | null {
  const { name, title }: Raw = isObject(value) ? value : { name: value }
  const found = name ?? title
  return typeof found === 'string' && found.trim() !== '' ? found : null
}
