// sprint-status.yaml of BMAD, in both shapes: what each story has come to. Its titles are only short names.
import { isGiven, isRaw, many, type Raw } from '../../prd/migrate.ts'
import type { Data, Opened } from '../opened.ts'
import { place, planAt } from '../places.ts'
import { type Format, type Reading, type ReadStory, reading } from '../types.ts'
import { isDone, titleOfSlug } from '../words.ts'

export const sprintTracker: Format = {
  name: 'sprint status',
  found: planAt('sprint-status\\.ya?ml'),
  reads: ({ isYaml, fields }) => isYaml && (isRaw(fields.development_status) || hasSprints(fields)),
  read,
}

function hasSprints({ sprints }: Raw): boolean {
  return Array.isArray(sprints) && sprints.some((sprint) => isRaw(sprint) && Array.isArray(sprint.stories))
}

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

function read({ path, fields, data: { data, mistakes } }: Opened): Reading {
  if (data === null) return reading({ mistakes })
  const tracked = trackedIn(fields)
  const done = tracked.filter(({ status }) => isDone(status)).length
  const root = { project: fields.project ?? fields.project_name ?? null }
  const notes = [`the standing of ${many(tracked.length, 'story')}, ${done} of them done.`]
  const context = [{ about: 'sprint' as const, text: sprintOf(fields, tracked, done) }]
  return reading({ root, stories: tracked.map((one) => storyOf(path, one, data)), notes, context })
}

function storyOf(path: string, { id, title, status, at, more }: Tracked, data: Data): ReadStory {
  const line = data.lineOf(at)
  const dependsOn = more.depends_on ?? more.dependsOn ?? more.dependencies
  return {
    path,
    line,
    format: sprintTracker.name,
    rank: 'listed',
    standing: 'tracked',
    place: (field) => place(path, line, field),
    raw: {
      id,
      title,
      epicId: more.epic_id ?? more.epicId ?? more.epic ?? null,
      description: more.description ?? null,
      acceptanceCriteria: more.acceptance_criteria ?? more.acceptanceCriteria ?? null,
      dependsOn: Array.isArray(dependsOn) ? dependsOn : null,
      passes: isDone(status),
    },
    urgency: 1,
    mayLackCriteria: true,
  }
}

/** One line for context.md: which sprint it is, and how far. */
function sprintOf({ sprints }: Raw, tracked: readonly Tracked[], done: number): string {
  const all = Array.isArray(sprints) ? sprints.filter(isRaw) : []
  const active = all.find(({ status }) => /^(?:active|in[ _-]progress|current)$/i.test(String(status ?? '')))
  const goal = active?.goal ?? active?.sprint_goal
  const number = active?.sprint_number ?? active?.number ?? active?.name
  const named = number === undefined ? [] : [`Sprint ${String(number)}.`]
  const aim = typeof goal === 'string' ? [`Its goal: ${goal.replace(/[.\s]+$/, '')}.`] : []
  return [...named, ...aim, `${done} of ${many(tracked.length, 'story')} done before this run.`].join(' ')
}
