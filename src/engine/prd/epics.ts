// Names of epics. prd.json holds them where people or documents give them: as a map of ids to names, or as a list. Pure.
import type { Prd, Story } from '../model/feature.ts'
import { isObject } from '../model/json.ts'
import type { Raw } from './migrate.ts'

/** The name of a story's epic; its id where it has no name; empty where the story has no epic. */
export function epicName({ extra }: Pick<Prd, 'extra'>, story: Story): string {
  const own = story.extra ?? {}
  const known = nameIn(own.epicName ?? own.epicTitle ?? own.epic_name ?? own.epic)
  if (known !== null) return known
  if (story.epicId === null) return ''
  return nameIn(entryFor(extra?.epics, story.epicId)) ?? story.epicId
}

function entryFor(epics: unknown, id: string): unknown {
  if (isObject(epics)) return Object.hasOwn(epics, id) ? epics[id] : null
  if (!Array.isArray(epics)) return null
  return epics.find((one) => isObject(one) && [one.id, one.epicId, one.epic_id].includes(id)) ?? null
}

function nameIn(value: unknown): string | null {
  const { name, title }: Raw = isObject(value) ? value : { name: value }
  const found = name ?? title
  return typeof found === 'string' && found.trim() !== '' ? found : null
}
