// A mistake in one story costs that story, never the plan: it is left out, renumbered, or read with a notice.
import { isObject } from '../engine/model/json.ts'
import { idFault } from '../engine/model/safe-names.ts'
import { describeValue, oneLine } from '../engine/model/text.ts'
import { findGraphFaults } from '../engine/prd/graph.ts'
import { isGiven, type Raw } from '../engine/prd/migrate.ts'
import { findFeatureFaults, findStoryFaults } from '../engine/prd/parse.ts'
import { criterionText, listOf, priorityOf } from '../engine/prd/story-fields.ts'
import type { Mistake } from '../system/errors.ts'
import type { JoinedStory } from './join-stories.ts'

type Repaired = { stories: JoinedStory[]; notes: string[] }

/** The stories that a run can work on. Each change has a note with its place, what was done, and how to change it. */
export function repairStories(stories: readonly JoinedStory[]): Repaired {
  const notes: string[] = []
  const readable = stories.flatMap((story) => repairFields(story, notes) ?? [])
  return { stories: withoutGraphFaults(renumbered(readable, notes), notes), notes }
}

/** The fields of the feature without those that cannot be read. */
export function repairFeature(root: Raw, placeOf: (key: string) => string): { root: Raw; notes: string[] } {
  const faults = findFeatureFaults(root)
  const fields = new Set(faults.map(({ field }) => field))
  return {
    root: Object.fromEntries(Object.entries(root).filter(([key]) => !fields.has(key))),
    notes: faults.map((fault) =>
      noticeOf({ path: placeOf(fault.field), ...fault }, 'Ralph ignores this field'),
    ),
  }
}

/** A mistake that costs only its own place. `done`: what Ralph does about it. */
export function noticeOf({ path, found, expected, fix }: Mistake, done: string): string {
  const problem = expected === '' ? found.replace(/\.$/, '') : `found ${found}, expected ${expected}`
  return `${path}: ${problem}. ${done}. To change this: ${fix}.`
}

/** Null if nothing in the story says what to do. */
function repairFields(story: JoinedStory, notes: string[]): JoinedStory | null {
  const [{ place }] = story.from
  let raw = inShape(story.raw)
  for (const { field, ...words } of findStoryFaults({ acceptanceCriteria: ['done'], ...raw })) {
    const mistake = { path: place(field), ...words }
    const isEmptyList = Array.isArray(raw[field]) && raw[field].length === 0
    const value = field === 'title' ? titleFrom(raw) : field === 'id' ? idFrom(raw.id) : null
    if (field === 'title' && value === null) {
      notes.push(noticeOf({ ...mistake, path: place('title') }, 'Ralph leaves this story out'))
      return null
    }
    const { [field]: _wrong, ...rest } = raw
    raw = value === null ? rest : { ...raw, [field]: value }
    const done = value === null ? 'Ralph ignores this field' : `Ralph reads it as ${describeValue(value)}`
    // A story without criteria gets one later, and a note says so.
    if (field !== 'acceptanceCriteria' || !isEmptyList) notes.push(noticeOf(mistake, done))
  }
  return { ...story, raw }
}

/** Fields that tools write in another shape: criteria as objects or one text, dependencies as objects, priorities in words. */
function inShape(raw: Raw): Raw {
  const { acceptanceCriteria, dependsOn, priority, tags, description } = raw
  const shaped: Raw = { ...raw }
  if (isGiven(acceptanceCriteria))
    shaped.acceptanceCriteria = listOf(acceptanceCriteria).flatMap((one) => criterionText(one) ?? [])
  if (isGiven(dependsOn)) shaped.dependsOn = listOf(dependsOn).flatMap(idsOfLink)
  if (typeof priority === 'string') shaped.priority = priorityOf(priority)
  if (isGiven(tags)) shaped.tags = listOf(tags).filter((one) => typeof one === 'string' && one.trim() !== '')
  if (Array.isArray(description))
    shaped.description = description.filter((one) => typeof one === 'string').join('\n')
  return shaped
}

function idsOfLink(link: unknown): string[] {
  const id = isObject(link) ? (link.id ?? link.storyId ?? link.task) : link
  if (typeof id === 'number') return [String(id)]
  const ids = typeof id === 'string' ? id.split(/[,;]/).map((one) => one.trim()) : []
  return ids.filter((one) => !/^(?:none|n\/a|-|)$/i.test(one))
}

/** The first line of its text, bounded, for a story without a title. */
function titleFrom({ title, description, acceptanceCriteria }: Raw): string | null {
  const texts = [title, description, ...listOf(acceptanceCriteria)]
  const found = texts.find((one): one is string => typeof one === 'string' && one.trim() !== '')
  return found === undefined ? null : oneLine(found.trim().split('\n', 1)[0] ?? '', MAX_TITLE) || null
}

const MAX_TITLE = 120

/** The id without characters that git refuses in a branch; null if nothing is left. */
function idFrom(id: unknown): string | null {
  if (typeof id !== 'string' && typeof id !== 'number') return null
  const plain = String(id)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
    .slice(0, 60)
  return idFault(plain) === null ? plain : null
}

/**
 * Gives the second story with an id a new one: `TASK-1` becomes `TASK-1b`. Dependencies on the id mean the one in the same document, else
 * the first.
 */
function renumbered(stories: readonly JoinedStory[], notes: string[]): JoinedStory[] {
  const taken = new Set(stories.map(({ raw }) => String(raw.id)))
  const first = new Map<string, JoinedStory>()
  const newIds = new Map<string, string>()
  const all = stories.map((story) => {
    const { id } = story.raw
    const before = first.get(String(id))
    if (!isGiven(id) || before === undefined) {
      if (isGiven(id)) first.set(String(id), story)
      return story
    }
    const own = freeId(String(id), taken)
    taken.add(String(own))
    for (const { path } of story.from)
      if (!before.from.some((one) => one.path === path)) newIds.set(`${path}\0${id}`, own)
    notes.push(
      `${story.from[0].place('id')}: the id ${describeValue(String(id))} is already used in ${before.from[0].place()}, so this story is now ${own}. To change this: give one of the two stories another id.`,
    )
    const dependsOn = listOf(story.raw.dependsOn).filter((one) => one !== id)
    return { ...story, raw: { ...story.raw, id: own, dependsOn } }
  })
  if (newIds.size === 0) return all
  return all.map((story) => {
    const needs = listOf(story.raw.dependsOn)
    const { path } = story.from[0]
    const dependsOn = needs.map((id) => newIds.get(`${path}\0${String(id)}`) ?? id)
    return needs.length === 0 ? story : { ...story, raw: { ...story.raw, dependsOn } }
  })
}

function freeId(id: string, taken: ReadonlySet<string>): string {
  for (const letter of 'bcdefghijklmnopqrstuvwxyz') if (!taken.has(`${id}${letter}`)) return `${id}${letter}`
  for (let number = 2; ; number += 1) if (!taken.has(`${id}-${number}`)) return `${id}-${number}`
}

/** Drops dependencies on unknown stories, and of each circle the edge that closes it. */
function withoutGraphFaults(stories: readonly JoinedStory[], notes: string[]): JoinedStory[] {
  let current = [...stories]
  // A search reports a bounded number of circles.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const edges = current.map(({ raw }) => ({
      id: isGiven(raw.id) ? String(raw.id) : '',
      dependsOn: listOf(raw.dependsOn).map(String),
    }))
    const faults = findGraphFaults(edges, new Set()).filter(({ kind }) => kind !== 'duplicate')
    if (faults.length === 0) return current
    const dropped = new Map<number, Set<string>>()
    for (const fault of faults) {
      if (fault.kind === 'duplicate') continue
      const need = edges[fault.index]?.dependsOn[fault.edge] ?? ''
      dropped.set(fault.index, (dropped.get(fault.index) ?? new Set()).add(need))
      const place = current[fault.index]?.from[0].place('dependsOn') ?? ''
      const why =
        fault.kind === 'unknown'
          ? 'is not a story of this plan'
          : `waits for this story itself (${circleWords(fault.circle)})`
      notes.push(
        `${place}: ${describeValue(need)} ${why}, so Ralph drops this dependency. To change this: write the id of a story that comes before.`,
      )
    }
    current = current.map((story, index) => {
      const lost = dropped.get(index)
      if (lost === undefined) return story
      const dependsOn = listOf(story.raw.dependsOn).filter((one) => !lost.has(String(one)))
      return { ...story, raw: { ...story.raw, dependsOn } }
    })
  }
  return current
}

const MAX_ROUNDS = 50

function circleWords(circle: readonly string[]): string {
  const ids = [...circle, circle[0] ?? ''].map((id) => oneLine(id, 40))
  return ids.length <= 6 ? ids.join(' -> ') : `${ids.slice(0, 3).join(' -> ')} -> ... -> ${ids.at(-1)}`
}
