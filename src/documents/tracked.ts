// The two shapes of sprint-status.yaml: `development_status` (a map of short names) and `sprints[].stories[]`.
import { isGiven, isRaw, type Raw } from '../prd/migrate.ts'
import { titleOfSlug } from './words.ts'

/** A story of a tracker: where it stands in the file, and where its status does. */
export type Tracked = {
  id: string
  title: string
  status: string
  at: readonly (string | number)[]
  statusAt: readonly (string | number)[]
  /** Fields of the second shape. */
  more: Raw
}

/** Every story that the file tracks, in both shapes; epics and retrospectives are none. */
export function trackedIn(fields: Raw): Tracked[] {
  return [...fromMap(fields.development_status), ...fromSprints(fields.sprints)]
}

// `1-2-user-login`; a letter marks a story that was put in between: `1-2b-...`.
const key = /^(\d{1,4})-(\d{1,4}[a-z]?)(?:-(.*))?$/

function fromMap(statuses: unknown): Tracked[] {
  if (!isRaw(statuses)) return []
  return Object.entries(statuses).flatMap(([name, entry]) => {
    const [, epic, number, slug = ''] = key.exec(name) ?? []
    const isPlain = !isRaw(entry)
    const status = isPlain ? entry : entry.status
    if (epic === undefined || number === undefined || !isGiven(status)) return []
    const at = ['development_status', name]
    const id = `${epic}.${number}`
    const statusAt = isPlain ? at : [...at, 'status']
    return [{ id, title: titleOfSlug(slug) || `Story ${id}`, status: String(status), at, statusAt, more: {} }]
  })
}

function fromSprints(sprints: unknown): Tracked[] {
  if (!Array.isArray(sprints)) return []
  return sprints.flatMap((sprint: unknown, index) => {
    const stories = isRaw(sprint) && Array.isArray(sprint.stories) ? sprint.stories : []
    return stories.flatMap((story: unknown, number): Tracked[] => {
      if (!isRaw(story)) return []
      const { id: plain, story_id, key: named, title, name, status = '', ...more } = story
      const id = plain ?? story_id ?? named
      if (!isGiven(id)) return []
      const at = ['sprints', index, 'stories', number]
      const told = String(title ?? name ?? `Story ${String(id)}`)
      return [{ id: String(id), title: told, status: String(status), at, statusAt: [...at, 'status'], more }]
    })
  })
}
