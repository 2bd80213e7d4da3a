// Every known prd.json becomes version 2, still unchecked. Nothing unknown is lost.

import type { Mistake } from '../../system/errors.ts'
import { nearest } from '../../system/nearest.ts'
import { isObject } from '../model/json.ts'
import { describeValue } from '../model/text.ts'
import {
  criteriaOf,
  criterionText,
  doneFlagOf,
  listOf,
  needsOf,
  priorityOf,
  stateOf,
} from './story-fields.ts'

/** A JSON object whose fields are not checked yet. */
export type Raw = { [key: string]: unknown }

/** Version 2 in shape, its values unchecked, with the names under which people know its fields. */
export type Draft = {
  root: Raw
  list: readonly unknown[]
  /** The path of a field of the feature, such as `prd.json: run`. */
  rootPath: (key: string) => string
  /** The path of a story or of its field, as its own file calls it: `prd.json: tasks[2].completed`. */
  storyPath: (index: number, key?: string) => string
  /** Stories whose format has no acceptance criteria, or may leave them out: title or description take their place. */
  mayLackCriteria: (index: number) => boolean
  /** The file is not of a run of Ralph in progress: its passed stories passed elsewhere. */
  imported: boolean
  /** Plain sentences: what was changed, and fields that mean something else here. */
  notes: string[]
}

/** Neither absent nor null: generated files write null if a person leaves the field out. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

const LATEST_VERSION = 2

/** Names of the list of stories, those of Ralph first. */
export const LIST_NAMES = ['userStories', 'tasks', 'stories', 'features', 'user_stories'] as const

/** The name under which the file has its stories; null if it has none of them. */
export function listNameOf(raw: Raw): string | null {
  return (
    LIST_NAMES.find((name) => Array.isArray(raw[name])) ??
    LIST_NAMES.find((name) => isGiven(raw[name])) ??
    null
  )
}

/** The names of the fields in older formats: those of the feature, and of a story. */
const olderProject = [
  ['name', 'project'],
  ['title', 'project'],
] as const
const olderNames = [
  ['name', 'title'],
  ['labels', 'tags'],
  ['attempts', 'retries'],
  ['epic', 'epicId'],
  ['completed', 'passes'],
  ['status', 'passes'],
  ['state', 'passes'],
] as const

/** Converts `raw` to version 2 and adds obstacles to `mistakes`; null for a newer version. */
export function migrate(raw: Raw, source: string, mistakes: Mistake[]): Draft | null {
  const version = versionOf(raw, source, mistakes)
  if (version === null) return null
  const listName = listNameOf(raw) ?? 'userStories'
  const { [listName]: found, ...root } = raw
  const list: readonly unknown[] = Array.isArray(found) ? found : []
  if (list.length === 0) mistakes.push(emptyListMistake(raw, `${source}: ${listName}`, found))
  const isLatest = version === LATEST_VERSION && listName === 'userStories'
  // Mistakes name a field as the file does.
  const nameInFile = (fields: unknown, key: string) => (isLatest ? key : olderName(fields, key))
  const isImported = !(isLatest && isInProgress(raw))
  const draft: Draft = {
    root,
    list,
    rootPath: (key) => `${source}: ${key === 'userStories' ? listName : nameInFile(raw, key)}`,
    storyPath: (index, key) => {
      const story = `${source}: ${listName}[${index}]`
      return key === undefined ? story : `${story}.${nameInFile(list[index], key)}`
    },
    mayLackCriteria: () => false,
    imported: isImported,
    notes: isImported ? importNotes(raw, list.filter(isObject), version) : [],
  }
  if (isLatest) return draft
  const mayLackCriteria = listName !== 'userStories' || isOfRalphTui(root, list.filter(isObject))
  const ids = idsOf(list)
  return {
    ...draft,
    root: olderProject.reduce(renamed, root),
    list: list.map((found, index) => {
      if (!isObject(found)) return found
      const flagged = withFlags(withUsualFields(found, ids), draft.storyPath(index, 'status'), mistakes)
      return withResult(olderNames.reduce(renamed, flagged))
    }),
    mayLackCriteria: () => mayLackCriteria,
  }
}

/** Whether a run of Ralph is in progress in this file: it has `control` from its first write. A file of the earlier CLI has none. */
function isInProgress({ run }: Raw): boolean {
  return isObject(run) && isObject(run.control) && typeof run.startedAt === 'string'
}

function versionOf(raw: Raw, source: string, mistakes: Mistake[]): number | null {
  const version = raw.schemaVersion ?? 1
  const path = `${source}: schemaVersion`
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    const fix = `write ${LATEST_VERSION}, or leave it out`
    mistakes.push({ path, found: describeValue(version), expected: `${LATEST_VERSION}`, fix })
    return LATEST_VERSION
  }
  if (version <= LATEST_VERSION) return version
  const fix = `this Ralph reads up to ${LATEST_VERSION}: upgrade Ralph`
  mistakes.push({ path, found: describeValue(version), expected: `at most ${LATEST_VERSION}`, fix })
  return null
}

function emptyListMistake(raw: Raw, path: string, found: unknown): Mistake {
  const lists = Object.keys(raw).filter((key) => Array.isArray(raw[key]))
  const fix =
    !isGiven(found) && lists.length === 1
      ? `rename ${describeValue(lists[0])} to "userStories"`
      : 'add a story: {"id": "US-001", "title": "...", "acceptanceCriteria": ["..."]}'
  return {
    path,
    found: describeValue(found ?? undefined),
    expected: 'a list with at least one user story',
    fix,
  }
}

/** The name of the field in this object, so that a mistake names it as the file does. */
function olderName(fields: unknown, key: string): string {
  if (!isObject(fields) || isGiven(fields[key])) return key
  const names = [...olderProject, ...olderNames]
  return names.find(([older, newer]) => newer === key && isGiven(fields[older]))?.[0] ?? key
}

/** Criteria, dependencies and priority, which other tools write under other names and in other shapes. */
function withUsualFields(story: Raw, ids: ReadonlySet<string>): Raw {
  const { acceptanceCriteria, dependsOn, priority } = story
  const found: Raw = { ...story }
  if (Array.isArray(acceptanceCriteria) && acceptanceCriteria.some(isObject))
    found.acceptanceCriteria = acceptanceCriteria.map((one) => criterionText(one) ?? one)
  else if (!isGiven(acceptanceCriteria)) {
    const words = criteriaOf(story)
    if (words.length > 0) found.acceptanceCriteria = words
  }
  const needs = isGiven(dependsOn) ? null : needsOf(story)
  if (needs?.every((one) => ids.has(String(one)))) found.dependsOn = needs.map(String)
  if (typeof priority === 'string') found.priority = priorityOf(priority) ?? undefined
  return found
}

const STATUSES = ['todo', 'in_progress', 'done', 'failed']

function withFlags(task: Raw, path: string, mistakes: Mistake[]): Raw {
  const { status, state, ...story } = task
  const words = status ?? state
  const flag = isGiven(story.passes) ? null : doneFlagOf(story)
  const passes = story.passes ?? flag?.value
  const flagged = flag === null ? story : renamed(story, [flag.key, 'passes'])
  if (!isGiven(words)) return flagged
  const found = typeof words === 'string' ? stateOf(words) : null
  if (found === 'failed')
    return { ...flagged, passes: false, blocked: true, notes: story.notes ?? 'It had failed before.' }
  if (found === 'left out') return { ...flagged, passes: false, skipped: true }
  if (found !== null) return { ...flagged, passes: passes ?? found === 'done' }
  const near = typeof words === 'string' ? nearest(words, STATUSES) : null
  const fix = near === null ? 'write "todo", or "done" when it passes already' : `write "${near}"`
  mistakes.push({ path, found: describeValue(words), expected: STATUSES.join(', '), fix })
  return flagged
}

/** If both names are given, the older one is an unknown field. */
function renamed(raw: Raw, [from, to]: readonly [string, string]): Raw {
  if (!isGiven(raw[from]) || isGiven(raw[to])) return raw
  const { [from]: value, ...rest } = raw
  return { ...rest, [to]: value }
}

function idsOf(list: readonly unknown[]): Set<string> {
  return new Set(list.flatMap((one) => (isObject(one) && isGiven(one.id) ? [String(one.id)] : [])))
}

/** Whether its `dependencies` are ids of stories: some lists name packages there. */
function areDependencies({ dependencies }: Raw, ids: ReadonlySet<string>): boolean {
  return listOf(dependencies).every((one) => ids.has(String(one)))
}

/** A format whose criteria may be missing. */
function isOfRalphTui(root: Raw, stories: readonly Raw[]): boolean {
  if (isGiven(root.metadata) || (isGiven(root.name) && !isGiven(root.project))) return true
  return stories.some((story) => isGiven(story.labels) || isGiven(story.completionNotes))
}

function withResult(story: Raw): Raw {
  if (!('completedAt' in story) || isGiven(story.lastResult)) return story
  const { completedAt, ...rest } = story
  if (completedAt === null) return rest
  if (typeof completedAt !== 'string' || rest.passes !== true) return story
  return { ...rest, lastResult: { completedAt, commit: null, summary: '' } }
}

// ---- notes on a file of another tool

const WORDS: Readonly<Record<string, string>> = { tasks: 'task', features: 'feature' }

function importNotes(root: Raw, stories: readonly Raw[], version: number): string[] {
  const isOlder = version < LATEST_VERSION
  const config = isObject(root.config) ? root.config : {}
  const gates = isObject(config.qualityGates) ? config.qualityGates : {}
  const names = Object.keys(gates).filter((name) => isGiven(gates[name]) && gates[name] !== '')
  const inState = (wanted: string) =>
    stories.filter(({ status, state }) => stateOf(String(status ?? state ?? '')) === wanted).length
  const failed = isOlder ? inState('failed') : 0
  const anyHas = (key: string) => stories.some((story) => isGiven(story[key]))
  const notes: string[] = []
  const addNote = (holds: boolean, text: string) => holds && notes.push(text)
  const listName = listNameOf(root)
  if (listName !== null && listName !== 'userStories')
    notes.push(`${formatCount(stories.length, WORDS[listName] ?? 'story')} read as user stories.`)
  addNote(
    failed > 0,
    `${formatCount(failed, 'failed task')} imported as blocked. To give a story new attempts, use retry.`,
  )
  const leftOut = isOlder ? inState('left out') : 0
  addNote(
    leftOut > 0,
    `${formatCount(leftOut, 'cancelled story')} imported as skipped. To work on one, use retry.`,
  )
  const ids = idsOf(stories)
  const isUnread = stories.some(
    (story) => isGiven(story.dependencies) && !(isOlder && areDependencies(story, ids)),
  )
  addNote(isUnread, 'Ralph does not read the field dependencies: write dependsOn, a list of ids.')
  addNote(isOlder && anyHas('labels'), 'Ralph reads labels as tags.')
  addNote(isOlder && isObject(root.stats), 'Ralph does not read stats: the run starts at iteration 0.')
  addNote(isOlder, `Ralph converted the file to schema version ${LATEST_VERSION}.`)
  addNote(
    names.length > 0,
    `Ralph does not run gates from prd.json, such as config.qualityGates (${names.slice(0, 10).map(describeValue).join(', ')}): put them into the workflow.`,
  )
  addNote(
    isGiven(config.maxIterations) || isGiven(config.stuckThreshold),
    'Ralph does not read config.maxIterations and config.stuckThreshold. `ralph init` proposes them as max-iterations and max-attempts for the workflow.',
  )
  return notes
}

/** "1 task", "3 tasks", "2 stories", "4 boxes". */
export function formatCount(count: number, word: string): string {
  if (count === 1) return `1 ${word}`
  if (word.endsWith('y')) return `${count} ${word.slice(0, -1)}ies`
  return `${count} ${word}${word.endsWith('x') ? 'es' : 's'}`
}
