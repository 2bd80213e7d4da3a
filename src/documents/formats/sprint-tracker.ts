// sprint-status.yaml of BMAD, in both shapes: what each story has come to. Its titles are only short names.
import { isRaw, many, type Raw } from '../../prd/migrate.ts'
import type { Data, Opened } from '../opened.ts'
import { place, planAt } from '../places.ts'
import { type Tracked, trackedIn } from '../tracked.ts'
import { type Format, type Reading, type ReadStory, reading } from '../types.ts'
import { isDone } from '../words.ts'

export const sprintTracker: Format = {
  name: 'sprint status',
  found: planAt('sprint-status\\.ya?ml'),
  reads: (document) => document.isYaml && isTracker(document.fields),
  read,
}

function isTracker({ development_status: standing, sprints }: Raw): boolean {
  if (isRaw(standing)) return true
  return Array.isArray(sprints) && sprints.some((sprint) => isRaw(sprint) && Array.isArray(sprint.stories))
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
      points: more.points ?? more.story_points ?? null,
      passes: isDone(status),
    },
    urgency: 1,
    mayLackCriteria: true,
  }
}

const LONGEST_GOAL = 1_000

/** One line for context.md: which sprint it is, and how far. */
function sprintOf({ sprints }: Raw, tracked: readonly Tracked[], done: number): string {
  const all = Array.isArray(sprints) ? sprints.filter(isRaw) : []
  const active = all.find(({ status }) => /^(?:active|in[ _-]progress|current)$/i.test(String(status ?? '')))
  const goal = active?.goal ?? active?.sprint_goal
  const number = active?.sprint_number ?? active?.number ?? active?.name
  const named = number === undefined ? [] : [`Sprint ${String(number)}.`]
  const aim =
    typeof goal === 'string' ? [`Its goal: ${goal.slice(0, LONGEST_GOAL).replace(/[.\s]+$/, '')}.`] : []
  return [...named, ...aim, `${done} of ${many(tracked.length, 'story')} done before this run.`].join(' ')
}
