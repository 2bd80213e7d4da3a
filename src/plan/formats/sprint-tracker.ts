// sprint-status.yaml of BMAD: the status of each story. `development_status` maps short names; `sprints[].stories[]` and
// `epics[].stories[]` list them.
import { isObject } from '../../engine/model/json.ts'
import { formatCount, isGiven, type Raw } from '../../engine/prd/migrate.ts'
import { isDone, normalizeId, slugToTitle } from '../story-words.ts'
import { type Format, type ParsedStory, planPaths } from '../types.ts'

export const sprintTracker: Format = {
  name: 'sprint status',
  rank: 'listed',
  discoveryPath: planPaths('sprint-status[^/]*\\.ya?ml', '^\\.bmad/(?:[^/]+/)?sprint-status[^/]*\\.ya?ml$'),
  matches: (document) => document.isYaml && isTracker(document.fields),
  read({ fields, data: { data, mistakes } }) {
    if (data === null) return { mistakes }
    const all = readTrackedStories(fields)
    // A story may be listed in an epic and in a sprint.
    const tracked = all.filter(({ id }, index) => all.findIndex((one) => one.id === id) === index)
    const done = tracked.filter(({ status }) => isDone(status)).length
    const of = formatCount(tracked.length, 'story')
    const text = [...sprintOf(fields), `${done} of ${of} done before this run.`].join(' ')
    return {
      root: { project: fields.project ?? fields.project_name ?? null, epics: epicNames(fields) },
      stories: tracked.map((one) => parseStory(one, data.lineOf(one.at))),
      notes: [`read as the status of ${of}, ${done} of them done.`],
      context: [{ about: 'sprint', text }],
    }
  },
}

function isTracker({ development_status: statuses, sprints, epics }: Raw): boolean {
  if (isObject(statuses)) return true
  const lists = [sprints, epics].filter((list) => Array.isArray(list)).flat()
  return lists.some((one) => isObject(one) && Array.isArray(one.stories))
}

/** Names of epics by id; null if the file has none. */
function epicNames({ epics }: Raw): Record<string, string> | null {
  const all = Array.isArray(epics) ? epics.filter(isObject) : []
  const keyField = all.flatMap((one): [string, string][] => {
    const [id, name] = [one.id ?? one.epic_id, one.name ?? one.title]
    return typeof id === 'string' && typeof name === 'string' ? [[id, name]] : []
  })
  return keyField.length === 0 ? null : Object.fromEntries(keyField)
}

function parseStory({ id, title, status, more }: TrackedStory, line: number): ParsedStory {
  const dependsOn = more.depends_on ?? more.dependsOn ?? more.dependencies
  const raw = {
    id,
    title,
    epicId: more.epic_id ?? more.epicId ?? more.epic ?? null,
    description: more.description ?? null,
    acceptanceCriteria: more.acceptance_criteria ?? more.acceptanceCriteria ?? null,
    dependsOn: Array.isArray(dependsOn) ? dependsOn : null,
    points: pointsOf(more),
    passes: isDone(status),
  }
  return { line, isTracked: true, raw }
}

/** Number and goal of the current sprint, for context.md. */
function sprintOf({ sprints, ...fields }: Raw): string[] {
  const all = Array.isArray(sprints) ? sprints.filter(isObject) : [{ ...fields, status: 'active' }]
  const active = all.find(({ status }) => /^(?:active|in[ _-]progress|current)$/i.test(String(status ?? '')))
  const number = active?.sprint_number ?? active?.number ?? active?.name
  const goal = active?.goal ?? active?.sprint_goal
  return [
    ...(number === undefined ? [] : [`Sprint ${String(number)}.`]),
    ...(typeof goal === 'string' ? [`Its goal: ${goal.slice(0, 1_000).replace(/[.\s]+$/, '')}.`] : []),
  ]
}

/** A story of a tracker, with the paths of the story and of its status in the file. */
export type TrackedStory = {
  id: string
  title: string
  status: string
  at: readonly (string | number)[]
  statusAt: readonly (string | number)[]
  /** Other fields of a listed story. */
  more: Raw
}

/** Every story that the file tracks, in each of its shapes, without epics and retrospectives. */
export function readTrackedStories(fields: Raw): TrackedStory[] {
  return [
    ...fromMap(fields.development_status),
    ...fromLists('sprints', fields.sprints),
    ...fromLists('epics', fields.epics),
  ]
}

/** The points of a listed story; null if it has none. */
export function pointsOf(more: Raw): unknown {
  return more.points ?? more.story_points ?? null
}

// `1-2-user-login`; a letter marks a story that was inserted: `1-2b-...`; a project may name its own epics: `se1-1-...`.
const key = /^([a-z]{0,12}\d{1,4}-\d{1,4}[a-z]?)(?:-(.*))?$/i
/** Keys without a story number that are not stories. */
const noStory = /(?:^|-)epic-|\bretro(?:spective)?(?:-|$)/i

/** The stories of `development_status`: every key that is not an epic and no retrospective. */
function fromMap(statuses: unknown): TrackedStory[] {
  return Object.entries(isObject(statuses) ? statuses : {}).flatMap(([name, entry]) => {
    const [, numbers = name, slug = numbers === name ? name : ''] = key.exec(name) ?? []
    const status = isObject(entry) ? entry.status : entry
    if ((!key.test(name) && noStory.test(name)) || !isGiven(status)) return []
    const at = ['development_status', name]
    const id = normalizeId(numbers)
    const statusAt = isObject(entry) ? [...at, 'status'] : at
    return [
      {
        id,
        title: slugToTitle(slug === numbers ? '' : slug) || `Story ${id}`,
        status: String(status),
        at,
        statusAt,
        more: {},
      },
    ]
  })
}

function fromLists(name: 'sprints' | 'epics', lists: unknown): TrackedStory[] {
  if (!Array.isArray(lists)) return []
  return lists.flatMap((list: unknown, index) => {
    const stories = isObject(list) && Array.isArray(list.stories) ? list.stories : []
    const epicId = name === 'epics' && isObject(list) ? (list.id ?? list.epic_id ?? null) : null
    return stories.flatMap((story: unknown, number): TrackedStory[] => {
      if (!isObject(story)) return []
      const { id: idField, story_id, key: named, title, name: nameField, status = '', ...fields } = story
      const id = idField ?? story_id ?? named
      if (!isGiven(id)) return []
      const at = [name, index, 'stories', number]
      const more = epicId === null ? fields : { epic_id: epicId, ...fields }
      const shownTitle = String(title ?? nameField ?? `Story ${String(id)}`)
      return [
        { id: String(id), title: shownTitle, status: String(status), at, statusAt: [...at, 'status'], more },
      ]
    })
  })
}
