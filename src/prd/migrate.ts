// The migration ladder: every known prd.json becomes version 2, still unchecked. Nothing unknown is lost.

import { shown } from '../model/text.ts'
import type { Mistake } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import { isGiven, isRaw, type Raw } from './fields.ts'

/** Version 2 in shape, its values unchecked, with the names under which people know its fields. */
export type Draft = {
  root: Raw
  list: readonly unknown[]
  /** The path of a field of the feature, such as `prd.json: run`. */
  rootPath: (key: string) => string
  /** The path of a story or of its field, as its own file calls it: `prd.json: tasks[2].completed`. */
  storyPath: (index: number, key?: string) => string
  /** The format has no acceptance criteria, or may leave them out: title or description take their place. */
  mayLackCriteria: boolean
  /** Not a run of ours in progress, so what passed has passed elsewhere. */
  imported: boolean
  /** Plain sentences: what was changed, and what means something else here. */
  notes: string[]
}

const newest = 2

/** `raw` as version 2, with what stands in the way in `mistakes`; null for a version of the future. */
export function migrate(raw: Raw, source: string, mistakes: Mistake[]): Draft | null {
  const version = schemaVersion(raw, source, mistakes)
  if (version === null) return null
  const listName = Array.isArray(raw.tasks) && !isGiven(raw.userStories) ? 'tasks' : 'userStories'
  const list = raw[listName]
  const originals: readonly unknown[] = Array.isArray(list) ? list : []
  if (originals.length === 0) mistakes.push(noStories(raw, source))
  const notes: string[] = []
  const latest = version === newest && listName === 'userStories'
  const nameOf = latest ? (_raw: unknown, key: string) => key : nameIn
  const storyPath = (index: number, key?: string): string => {
    const place = `${source}: ${listName}[${index}]`
    return key === undefined ? place : `${place}.${nameOf(originals[index], key)}`
  }
  const rootPath = (key: string): string =>
    `${source}: ${key === 'userStories' ? listName : nameOf(raw, key)}`
  const draft = {
    root: raw,
    list: originals,
    rootPath,
    storyPath,
    mayLackCriteria: false,
    imported: true,
    notes,
  }
  const asStories = listName === 'tasks' ? tasksToStories(draft, mistakes) : draft
  const climbed = version < newest ? unversionedToVersion2(asStories) : asStories
  const imported = !(latest && isRunOfOurs(raw.run))
  if (imported) sayWhatIsNotRun(climbed)
  return { ...climbed, imported }
}

function schemaVersion(raw: Raw, source: string, mistakes: Mistake[]): number | null {
  const version = raw.schemaVersion ?? 1
  const path = `${source}: schemaVersion`
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    mistakes.push({
      path,
      found: shown(version),
      expected: `${newest}`,
      fix: `write ${newest}, or leave it out`,
    })
    return newest
  }
  if (version <= newest) return version
  const fix = `this Ralph reads up to ${newest}: upgrade Ralph`
  mistakes.push({ path, found: shown(version), expected: `at most ${newest}`, fix })
  return null
}

function noStories(raw: Raw, source: string): Mistake {
  const named = isGiven(raw.userStories) || !isGiven(raw.tasks) ? 'userStories' : 'tasks'
  const expected = 'a list with at least one user story'
  const path = `${source}: ${named}`
  const lists = Object.keys(raw).filter((key) => Array.isArray(raw[key]) && key !== named)
  const other = lists[0]
  if (!isGiven(raw[named]) && other !== undefined && lists.length === 1) {
    return { path, found: 'nothing', expected, fix: `rename ${shown(other)} to "userStories"` }
  }
  const fix = 'add a story: {"id": "US-001", "title": "...", "acceptanceCriteria": ["..."]}'
  return { path, found: shown(raw[named] ?? undefined), expected, fix }
}

// What the older formats call our fields.
const olderNames: { readonly [key: string]: readonly string[] } = {
  project: ['name'],
  title: ['name'],
  tags: ['labels'],
  retries: ['attempts'],
  passes: ['completed', 'status'],
}

/** How this object itself calls the field, so that a mistake is found where it was made. */
function nameIn(raw: unknown, key: string): string {
  if (!isRaw(raw) || isGiven(raw[key])) return key
  return olderNames[key]?.find((older) => isGiven(raw[older])) ?? key
}

function rename(raw: Raw, from: string, to: string): Raw {
  if (!isGiven(raw[from]) || isGiven(raw[to])) return raw
  const { [from]: value, ...rest } = raw
  return { ...rest, [to]: value }
}

// ---- tasks (ralphy, steps Ralph) -> userStories

const statuses = ['todo', 'in_progress', 'done', 'failed']

function tasksToStories(draft: Draft, mistakes: Mistake[]): Draft {
  const { tasks, ...root } = draft.root
  const list = draft.list.map((task, index) => {
    if (!isRaw(task)) return task
    const story = rename(rename(task, 'name', 'title'), 'completed', 'passes')
    return 'status' in story ? withoutStatus(story, draft.storyPath(index), mistakes) : story
  })
  draft.notes.push(`${many(list.length, 'task')} read as user stories.`)
  const failed = draft.list.filter((task) => isRaw(task) && task.status === 'failed').length
  if (failed > 0) {
    draft.notes.push(`${many(failed, 'failed task')} came in as blocked: "retry" gives a story new attempts.`)
  }
  if (draft.list.some((task) => isRaw(task) && isGiven(task.parallel_group))) {
    draft.notes.push(
      'parallel_group is kept but orders nothing here: say with dependsOn which story needs which.',
    )
  }
  return { ...draft, root: { ...root, userStories: list }, list, mayLackCriteria: true }
}

function withoutStatus(task: Raw, path: string, mistakes: Mistake[]): Raw {
  const { status, ...story } = task
  if (!isGiven(status)) return story
  if (typeof status !== 'string' || !statuses.includes(status)) {
    const near = typeof status === 'string' ? nearest(status, statuses) : null
    const fix = near === null ? 'write "todo", or "done" when it passes already' : `write "${near}"`
    mistakes.push({ path: `${path}.status`, found: shown(status), expected: statuses.join(', '), fix })
    return story
  }
  if (status === 'failed')
    return { ...story, passes: false, blocked: true, notes: story.notes ?? 'It had failed before.' }
  return { ...story, passes: story.passes ?? status === 'done' }
}

// ---- without a version (snarktank, BMAD Ralph, ralph-tui) -> version 2

function unversionedToVersion2(draft: Draft): Draft {
  const root = rename(draft.root, 'name', 'project')
  const fromTui = root !== draft.root || isGiven(root.metadata) || draft.list.some(hasTuiFields)
  const list = draft.list.map((story) => (isRaw(story) ? storyToVersion2(story) : story))
  if (draft.list.some((story) => isRaw(story) && isGiven(story.labels)))
    draft.notes.push('labels are read as tags.')
  if (isRaw(root.stats)) {
    draft.notes.push('stats is kept but not counted: the run starts at iteration 0.')
  }
  draft.notes.push('The file was brought to schema version 2.')
  return { ...draft, root, list, mayLackCriteria: draft.mayLackCriteria || fromTui }
}

function hasTuiFields(story: unknown): boolean {
  return isRaw(story) && (isGiven(story.labels) || isGiven(story.completionNotes))
}

function storyToVersion2(story: Raw): Raw {
  const renamed = rename(rename(rename(story, 'name', 'title'), 'labels', 'tags'), 'attempts', 'retries')
  if (!('completedAt' in renamed) || isGiven(renamed.lastResult)) return renamed
  const { completedAt, ...rest } = renamed
  if (completedAt === null) return rest
  if (typeof completedAt !== 'string' || rest.passes !== true) return renamed
  return { ...rest, lastResult: { completedAt, commit: null, summary: '' } }
}

// ---- every format

/** Ours has `run.control` from its first write on; a run of the earlier CLI has not. */
function isRunOfOurs(run: unknown): boolean {
  return isRaw(run) && isRaw(run.control) && typeof run.startedAt === 'string'
}

function sayWhatIsNotRun(draft: Draft): void {
  const config = isRaw(draft.root.config) ? draft.root.config : {}
  const gates = isRaw(config.qualityGates) ? config.qualityGates : {}
  const names = Object.keys(gates).filter((name) => isGiven(gates[name]) && gates[name] !== '')
  if (names.length > 0) {
    const list = names.slice(0, 10).map(shown).join(', ')
    draft.notes.push(
      `config.qualityGates (${list}) is a proposal only: gates inside prd.json are never run; put them into the workflow.`,
    )
  }
  if (isGiven(config.maxIterations) || isGiven(config.stuckThreshold)) {
    draft.notes.push(
      'config.maxIterations and config.stuckThreshold are not read here: set max-iterations and max-attempts in the workflow.',
    )
  }
  for (const key of ['dependencies', 'depends_on', 'acceptance_criteria']) {
    if (!draft.list.some((story) => isRaw(story) && isGiven(story[key]))) continue
    const ours = key === 'acceptance_criteria' ? 'acceptanceCriteria' : 'dependsOn'
    draft.notes.push(`${key} is kept but not read: the field is called ${ours}.`)
  }
}

/** "1 task", "3 tasks", "2 stories", "4 boxes". */
export function many(count: number, word: string): string {
  if (count === 1) return `1 ${word}`
  if (word.endsWith('y')) return `${count} ${word.slice(0, -1)}ies`
  return `${count} ${word}${word.endsWith('x') ? 'es' : 's'}`
}
