// Updates sprint-status.yaml: statuses of stories and figures counted from them. Comments, order and layout stay.
import { parseDocument } from 'yaml'
import type { Prd, Story } from '../engine/model/feature.ts'
import { isObject } from '../engine/model/json.ts'
import type { Raw } from '../engine/prd/migrate.ts'
import { pointsOf, readTrackedStories, type TrackedStory } from './formats/sprint-tracker.ts'
import { scalarAt } from './yaml-scalar.ts'

/** Statuses in their order. Ralph never lowers a status, and leaves an unknown word unchanged. */
const LEVELS = [
  ['backlog', 'notstarted', 'todo', 'planned', 'pending', 'open'],
  ['drafted', 'draft', 'contexted'],
  ['readyfordev', 'ready', 'approved'],
  ['inprogress', 'started', 'active', 'doing', 'current'],
  ['review', 'inreview', 'readyforreview', 'devcomplete', 'codereview'],
  ['done', 'completed', 'complete', 'closed', 'accepted'],
]
const IN_PROGRESS = 3
const DONE = LEVELS.length - 1

type Path = readonly (string | number)[]
/** A story of the file, with its level before and after the update. */
type Moved = TrackedStory & { before: number; level: number }

/** The text with the current statuses of the stories; null if nothing changes. */
export function updateSprintStatus(text: string, prd: Prd): string | null {
  const document = parseDocument(text)
  const fields = plainValue(document)
  if (fields === null) return null
  const edits: { from: number; to: number; word: string }[] = []
  /** Replaces a scalar, and keeps its quotes. False if there is none. */
  const write = (at: Path, word: string): boolean => {
    const node = scalarAt(document, at)
    if (node === null) return false
    const [from, to] = node.range
    const quote = /^["']/.exec(text.slice(from, to))?.[0] ?? ''
    edits.push({ from, to, word: `${quote}${word}${quote}` })
    return true
  }
  /** Raises a status to `wanted` if it is lower. Returns its level afterwards. */
  const raise = (at: Path, status: string, wanted: number, spelled: Spelling): number => {
    const level = levelOf(status)
    if (level < 0 || level >= wanted) return level
    return write(at, spelled(wanted)) ? wanted : level
  }
  const tracked = readTrackedStories(fields)
  const spelled = spelling(tracked.map(({ status }) => status))
  const stories = new Map(prd.userStories.map((story) => [story.id, story]))
  const moved = tracked.map((one): Moved => {
    const level = raise(one.statusAt, one.status, wantedLevel(stories.get(one.id)), spelled)
    return { ...one, before: levelOf(one.status), level }
  })
  const { development_status: all } = fields
  const keys = Object.keys(isObject(all) ? all : {})
  for (const [key, status] of Object.entries(isObject(all) ? all : {})) {
    if (!EPIC.test(key) || typeof status !== 'string') continue
    const below = storiesBelow(key, keys)
    const [, number] = /^epic-(\d+)$/.exec(key) ?? []
    const own = moved.filter(
      ({ id, at: [list, name] }) =>
        list === 'development_status' &&
        (number === undefined ? below.includes(String(name)) : id.split('.')[0] === number),
    )
    raise(['development_status', key], status, groupLevel(own), spelled)
  }
  const groups = [...groupsIn(fields, 'sprints', moved), ...groupsIn(fields, 'epics', moved)]
  const words = groups.map(({ status }) => String(status ?? '')).filter((word) => word !== '')
  const groupSpelled = spelling(words, doneWord(tracked.map(({ status }) => status)) ?? 'completed')
  for (const { at, status, own } of groups)
    if (typeof status === 'string') raise([...at, 'status'], status, groupLevel(own), groupSpelled)
  // Totals are counted again only if a status has changed: otherwise the file stays unchanged.
  if (edits.length === 0) return null
  const whole: Group = {
    at: [],
    status: null,
    points: fields.completed_points,
    own: withoutDuplicates(moved),
  }
  for (const { at, points, own } of [...groups, whole]) {
    const now = pointsWith(points, own)
    if (now !== points) write([...at, 'completed_points'], String(now))
  }
  for (const [key, count] of Object.entries(countsOf(fields, moved)))
    if (isObject(fields.metrics) && typeof fields.metrics[key] === 'number' && fields.metrics[key] !== count)
      write(['metrics', key], String(count))
  const inOrder = edits.toSorted((a, b) => b.from - a.from)
  return inOrder.reduce((now, { from, to, word }) => now.slice(0, from) + word + now.slice(to), text)
}

/** `epic-1`, and a project's own such as `supp-epic-1`. */
const EPIC = /(?:^|-)epic-\w+$/i

/** The keys after that of an epic, up to the next epic's. If no key has the numbers of its stories, its stories are these. */
function storiesBelow(epic: string, keys: readonly string[]): string[] {
  const after = keys.slice(keys.indexOf(epic) + 1)
  const end = after.findIndex((key) => EPIC.test(key))
  return end < 0 ? after : after.slice(0, end)
}

/** Null if the file is not a valid map, has an undefined alias, or too many aliases. */
function plainValue(document: ReturnType<typeof parseDocument>): Raw | null {
  try {
    const value: unknown = document.errors.length > 0 ? null : document.toJS({ maxAliasCount: 100 })
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** A sprint or an epic, with its stories. */
type Group = { at: Path; status: unknown; points: unknown; own: Moved[] }

function groupsIn(fields: Raw, name: 'sprints' | 'epics', moved: readonly Moved[]): Group[] {
  const lists = fields[name]
  if (!Array.isArray(lists)) return []
  return lists.flatMap((list: unknown, index) => {
    if (!isObject(list)) return []
    const own = moved.filter(({ at }) => at[0] === name && at[1] === index)
    return [{ at: [name, index], status: list.status, points: list.completed_points, own }]
  })
}

/** Each story once, as it may be listed in an epic and in a sprint. */
function withoutDuplicates(moved: readonly Moved[]): Moved[] {
  return moved.filter(({ id }, index) => moved.findIndex((one) => one.id === id) === index)
}

/** The level of a sprint or epic by its stories; -1 if it does not change. */
function groupLevel(own: readonly Moved[]): number {
  if (own.length === 0) return -1
  if (own.every(({ level }) => level === DONE)) return DONE
  return own.some(({ level }) => level >= IN_PROGRESS) ? IN_PROGRESS : -1
}

/** `completed_points` for these stories. A larger number that people wrote stays. */
function pointsWith(before: unknown, own: readonly Moved[]): unknown {
  if (typeof before !== 'number') return before
  const pointsIn = (stories: readonly Moved[]) =>
    stories.reduce((sum, { more }) => {
      const points = pointsOf(more)
      return sum + (typeof points === 'number' ? points : 0)
    }, 0)
  const done = own.filter(({ level }) => level === DONE)
  const isNew = ({ before: levelBefore }: Moved) => levelBefore !== DONE
  return Math.max(before + pointsIn(done.filter(isNew)), pointsIn(done))
}

/** The figures of `metrics`, counted like BMAD does. */
function countsOf({ epics }: Raw, moved: readonly Moved[]): Record<string, number> {
  const listed = moved.filter(({ at }) => at[0] === 'epics')
  const count = (matches: (level: number) => boolean) => listed.filter(({ level }) => matches(level)).length
  if (listed.length === 0) return {}
  return {
    total_epics: Array.isArray(epics) ? epics.length : 0,
    total_stories: listed.length,
    stories_completed: count((level) => level === DONE),
    stories_in_progress: count((level) => level >= IN_PROGRESS && level < DONE),
    stories_not_started: count((level) => level < IN_PROGRESS),
  }
}

function levelOf(status: string): number {
  const word = status.toLowerCase().replace(/[^a-z]/g, '')
  return LEVELS.findIndex((words) => words.includes(word))
}

/** The level that a story reached by Ralph's work; -1 for none. An imported pass came from the documents and does not count. */
function wantedLevel(story: Story | undefined): number {
  if (story === undefined || story.skipped) return -1
  if (story.passes) return story.lastResult?.imported === true ? -1 : DONE
  return story.retries > 0 || story.blocked ? IN_PROGRESS : -1
}

type Spelling = (level: number) => string

function doneWord(words: readonly string[]): string | undefined {
  return words.map((word) => word.toLowerCase()).find((word) => word === 'done' || word === 'completed')
}

/** Spells statuses like the file does. `otherwise`: the word for done if the file has none. */
function spelling(words: readonly string[], otherwise = 'done'): Spelling {
  const lower = words.map((word) => word.toLowerCase())
  const isSnake = lower.some((word) => word.includes('_'))
  const done = doneWord(words)
  const isActive = !lower.some((word) => /^in[-_]progress$/.test(word)) && lower.includes('active')
  return (level) => {
    if (level === DONE) return done ?? (isSnake ? 'completed' : otherwise)
    if (isActive) return 'active'
    return isSnake ? 'in_progress' : 'in-progress'
  }
}
