// Task Master: tasks.json with a list of tasks for each tag. One tag is one plan.
import { isObject } from '../../engine/model/json.ts'
import { oneLine, truncate } from '../../engine/model/text.ts'
import { formatCount, isGiven, type Raw } from '../../engine/prd/migrate.ts'
import type { Mistake } from '../../system/errors.ts'
import { OpenDocument } from '../open-document.ts'
import { urgencyOf } from '../story-words.ts'
import type { DocumentFile, DocumentSet, Format, ParsedStory, Reading } from '../types.ts'
import { dropUnknownDependencies, nameEntries } from './left-out.ts'

export const taskMaster: Format = {
  name: 'Task Master',
  rank: 'detailed',
  discoveryPath:
    /^(?:\.taskmaster\/(?:(?:tasks\/tasks|state)\.json|docs\/prd\.(?:txt|md))|tasks\/tasks\.json)$/,
  matches: (document) => isOtherFile(document) || tagsOf(document).length > 0,
  read,
}

/** The path of Task Master's own file of tasks. */
const OWN_TASKS = /(?:^|\/)\.taskmaster\/tasks\/tasks\.json$/

type Tag = { name: string; tasks: Raw[]; at: readonly (string | number)[] }

/** Whether it is another file of Task Master: settings, documents that tasks were made from, texts made from tasks. */
function isOtherFile(document: OpenDocument): boolean {
  return /(?:^|\/)\.taskmaster\//.test(document.path) && tagsOf(document).length === 0
}

function readOtherFile({ path, text }: OpenDocument): Partial<Reading> {
  if (/\/docs\/[^/]+\.(?:txt|md)$/.test(path) && text.trim() !== '')
    return { prose: 'background', what: 'the document that Task Master made its tasks from' }
  return {
    prose: 'none',
    what: /\.txt$/.test(path) ? 'made by Task Master from its tasks' : 'settings of Task Master',
  }
}

/** The tags that have tasks. In a file of a version without tags there is one with an empty name. */
function tagsOf(document: OpenDocument): Tag[] {
  const { path, text } = document
  if (!/\.json$/i.test(path) || !/"tasks"\s*:/.test(text)) return []
  // A file at another path may belong to any tool.
  if (!OWN_TASKS.test(path) && !/"(?:testStrategy|subtasks|details)"\s*:/.test(text)) return []
  const { fields } = document
  const listed = (value: unknown): Raw[] => (Array.isArray(value) ? value.filter(isObject) : [])
  if (Array.isArray(fields.tasks)) return [{ name: '', tasks: listed(fields.tasks), at: ['tasks'] }]
  return Object.entries(fields).flatMap(([name, tag]) =>
    isObject(tag) && Array.isArray(tag.tasks) && tag.tasks.length > 0
      ? [{ name, tasks: listed(tag.tasks), at: [name, 'tasks'] }]
      : [],
  )
}

/** The names of its tags that have tasks; none for any other file. */
export function readTagNames(file: DocumentFile): string[] {
  return tagsOf(new OpenDocument(file)).map(({ name }) => name)
}

/** Statuses of tasks that are neither done nor to be done. */
const LEFT = /^(?:deferred|cancell?ed)$/i
const DONE = /^(?:done|completed)$/i

function read(document: OpenDocument, documents: DocumentSet): Partial<Reading> {
  if (isOtherFile(document)) return readOtherFile(document)
  const tags = tagsOf(document)
  const tag = chooseTag(document, tags, documents)
  if (tag === null) return { choices: [tagMistake(document, tags)] }
  const left = tag.tasks.filter(({ status }) => LEFT.test(String(status)))
  const tasks = tag.tasks.map((task, index) => ({ task, index })).filter(({ task }) => !left.includes(task))
  const { stories, notes: waits } = dropUnknownDependencies(
    tasks.map(({ task, index }) => parseStory(document, task, [...tag.at, index])),
  )
  const ofTag = tag.name === '' ? '' : ` of the tag ${tag.name}`
  const notes = [...waits]
  if (stories.length > 0)
    notes.unshift(`${formatCount(stories.length, 'task')}${ofTag} read as user stories.`)
  const others = tags.filter((one) => one !== tag).map(({ name }) => name)
  if (others.length > 0) notes.push(`Ralph ignores its other tags: ${others.slice(0, 20).join(', ')}.`)
  if (left.length > 0) notes.push(`left out, because they are deferred or cancelled: ${nameEntries(left)}.`)
  return { stories, notes, name: /^(?:|master)$/.test(tag.name) ? null : tag.name }
}

/** The tag that a person named; else the only tag, or the only one with open tasks; else Task Master's current tag; else null. */
function chooseTag({ file, folder }: OpenDocument, tags: readonly Tag[], documents: DocumentSet): Tag | null {
  if (file.part !== undefined) return tags.find(({ name }) => name === file.part) ?? null
  const state = documents.at(folder.replace(/tasks\/$/, 'state.json'))?.fields.currentTag
  const open = tags.filter(({ tasks }) =>
    tasks.some(({ status }) => !DONE.test(String(status)) && !LEFT.test(String(status))),
  )
  const [only] = tags.length === 1 ? tags : open
  if (tags.length === 1 || open.length === 1) return only ?? null
  return tags.find(({ name }) => name === state) ?? null
}

/** Tags that a message names. */
const MAX_TAGS = 10

function tagMistake({ path, file }: OpenDocument, tags: readonly Tag[]): Mistake {
  const names = tags.map(({ name, tasks }) => `${oneLine(name, 60)} (${tasks.length})`)
  const found =
    file.part === undefined
      ? `there are ${formatCount(tags.length, 'tag')} with tasks: ${names.join(', ')}`
      : `this file has no tag ${file.part}`
  const [first = 'master', ...others] = tags.slice(0, MAX_TAGS).map(({ name }) => oneLine(name, 60))
  const more = others.length === 0 ? '' : `, or ${others.map((name) => `#${name}`).join(', ')}`
  const fix = `choose a tag: ralph plan --from ${path}#${first}${more}`
  return { path, found: `${truncate(found, 79)}.`, expected: '', fix }
}

function parseStory(
  { data: { data } }: OpenDocument,
  task: Raw,
  at: readonly (string | number)[],
): ParsedStory {
  const { id, title, description, details, testStrategy, priority, dependencies, status, subtasks } = task
  const text = (value: unknown) => (typeof value === 'string' ? value.trim() : '')
  const subs: Raw[] = Array.isArray(subtasks)
    ? subtasks.filter(isObject).filter((one) => !LEFT.test(String(one.status)))
    : []
  const needs = (Array.isArray(dependencies) ? dependencies : []).map(
    (one: unknown) => String(one).split('.')[0] ?? '',
  )
  return {
    line: data?.lineOf(at) ?? 1,
    raw: {
      ...{ id: isGiven(id) ? String(id) : undefined, title },
      description: [text(description), text(details)].filter(Boolean).join('\n\n'),
      acceptanceCriteria: [text(testStrategy), ...subs.map((one) => text(one.title))].filter(Boolean),
      dependsOn: [...new Set(needs)],
      passes: DONE.test(String(status)),
    },
    urgency: typeof priority === 'string' ? urgencyOf(priority) : 1,
    marks: isGiven(status) ? [{ kind: 'value', at: [...at, 'status'], value: 'done' }] : [],
  }
}
