// Backlog.md: backlog/tasks/ has a file for each task. Boxes are criteria; dependencies and status are in the front matter.
import { isObject } from '../../engine/model/json.ts'
import { frontMatterOf, type OpenDocument } from '../open-document.ts'
import { urgencyOf, withoutEmphasis } from '../story-words.ts'
import type { DocumentSet, Format, Mark, Reading } from '../types.ts'
import { flattenBoxes, parseBoxes } from './boxes.ts'

const FOLDER = /(?:^|\/)\.?backlog\/tasks\/$/

export const backlogMd: Format = {
  name: 'Backlog.md',
  rank: 'detailed',
  discoveryPath: /^\.?backlog\/(?:tasks\/[^/]+\.md|config\.ya?ml)$/,
  matches: ({ folder, name, path, isMarkdown, frontFields, frontMatter, text }) =>
    /(?:^|\/)\.?backlog\/config\.ya?ml$/.test(path) ||
    (FOLDER.test(folder) &&
      isMarkdown &&
      name !== '' &&
      (isGivenText(frontFields.id) ||
        (frontMatter.mistakes.length > 0 && /^id:/m.test(frontMatterOf(text))))),
  read,
}

function isGivenText(value: unknown): value is string | number {
  return (typeof value === 'string' && value.trim() !== '') || typeof value === 'number'
}

function read(document: OpenDocument, documents: DocumentSet): Partial<Reading> {
  const { frontFields, frontMatter, isYaml, blocks } = document
  if (isYaml)
    return {
      prose: 'none',
      what: 'settings of Backlog.md',
      root: { project: document.fields.project_name ?? null },
    }
  if (frontMatter.mistakes.length > 0) return { mistakes: frontMatter.mistakes }
  const tasks = tasksOf(documents, document.folder)
  const findId = (key: string) => {
    const found = tasks.find(key)
    return found === undefined ? undefined : String(found.frontFields.id)
  }
  const needs = needsOf(document)
  const dependsOn = needs.flatMap((need) => findId(need) ?? [])
  const status = String(frontFields.status ?? '')
  const notes: string[] = []
  if (LEFT.test(status)) return { prose: 'none', what: `a task that is ${status}` }
  const unknown = needs.filter((need) => findId(need) === undefined)
  if (unknown.length > 0)
    notes.push(`Ralph drops its dependency on ${unknown.join(', ')}, because there is no such open task.`)
  const children = tasks.childrenOf(document)
  const boxes = flattenBoxes(parseBoxes(blocks))
  const criteriaBoxes = boxes.filter(({ headings }) =>
    headings.some(({ text }) => /^acceptance criteria\b/i.test(withoutEmphasis(text))),
  )
  const parent = isGivenText(frontFields.parent_task_id)
    ? findId(String(frontFields.parent_task_id).toLowerCase())
    : undefined
  if (children.length > 0 && criteriaBoxes.length === 0 && section(document.text, 'Description') === '') {
    const what = 'the epic of its subtasks'
    return { prose: 'none', what, notes: [`${String(frontFields.id)}: ${what}.`] }
  }
  // A child that waits for its parent is listed as such, and no child of it waits the other way.
  const before = children.filter((child) => !waitsFor(child, document, tasks))
  const { labels } = frontFields
  const tags = Array.isArray(labels) && labels.length > 0 ? { tags: labels.map(String) } : {}
  // Ralph does not tick the boxes, because people check each criterion.
  const marks: Mark[] = [{ kind: 'value', at: ['status'], value: doneStatus(documents, document) }]
  return {
    notes,
    boxes: boxes.length - criteriaBoxes.length,
    stories: [
      {
        line: 1,
        raw: {
          id: String(frontFields.id),
          title: frontFields.title ?? document.title,
          dependsOn: [...new Set([...dependsOn, ...before.map((child) => String(child.frontFields.id))])],
          acceptanceCriteria: criteriaBoxes.map(({ text }) => text.replace(/^#\d{1,3}[ \t]+/, '')),
          epicId: isGivenText(frontFields.milestone) ? String(frontFields.milestone) : (parent ?? null),
          description: section(document.text, 'Description'),
          passes: /done|complete/i.test(status),
          ...tags,
        },
        urgency: urgency(frontFields),
        marks,
      },
    ],
  }
}

function keyOf({ frontFields: { id } }: OpenDocument): string {
  return String(id ?? '').toLowerCase()
}

/** The tasks of a folder by their ids. */
class Tasks {
  readonly #byKey = new Map<string, OpenDocument>()
  readonly #byNumber = new Map<string, OpenDocument>()
  readonly #children = new Map<OpenDocument, OpenDocument[]>()

  constructor(tasks: readonly OpenDocument[]) {
    for (const task of tasks) {
      const key = keyOf(task)
      if (key === '') continue
      if (!this.#byKey.has(key)) this.#byKey.set(key, task)
      if (!this.#byNumber.has(numberOf(key))) this.#byNumber.set(numberOf(key), task)
    }
    for (const task of tasks) {
      const { parent_task_id: parent, status } = task.frontFields
      const found = isGivenText(parent) && !LEFT.test(String(status)) ? this.find(String(parent)) : undefined
      if (found !== undefined) this.#children.set(found, [...(this.#children.get(found) ?? []), task])
    }
  }

  /** The task of an id. The prefix may be left out or be that of an earlier setting: `7`, `task-7` and `BACK-7` are one. */
  find(id: string): OpenDocument | undefined {
    const key = id.toLowerCase()
    return this.#byKey.get(key) ?? this.#byNumber.get(numberOf(key))
  }

  /** The subtasks of a task: it is worked on after them. */
  childrenOf(task: OpenDocument): readonly OpenDocument[] {
    return this.#children.get(task) ?? []
  }
}

function numberOf(key: string): string {
  return key.replace(/^[a-z]+-/, '')
}

const known = new WeakMap<DocumentSet, Map<string, Tasks>>()

/** Each folder is indexed once: every task asks for the others. */
function tasksOf(documents: DocumentSet, folder: string): Tasks {
  const folders = known.get(documents) ?? new Map<string, Tasks>()
  known.set(documents, folders)
  const found = folders.get(folder) ?? new Tasks(documents.all.filter((one) => one.folder === folder))
  folders.set(folder, found)
  return found
}

const LEFT = /\b(?:cancell?ed|won'?t|rejected|duplicate|obsolete|archived)\b/i

function needsOf({ frontFields }: OpenDocument): string[] {
  return [frontFields.dependencies ?? []]
    .flat()
    .map((need: unknown) => String(isObject(need) ? need.id : need).toLowerCase())
}

/** Whether a task depends on another one, at any distance. */
function waitsFor(task: OpenDocument, other: OpenDocument, tasks: Tasks): boolean {
  const left = [task]
  const seen = new Set<OpenDocument>()
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next === other) return true
    if (seen.has(next)) continue
    seen.add(next)
    for (const need of needsOf(next)) left.push(...[tasks.find(need) ?? []].flat())
  }
  return false
}

/** The urgency of the priority. `ordinal` adds less than 1 to it, so it orders tasks of the same priority. */
function urgency({ ordinal, priority }: OpenDocument['frontFields']): number {
  const base = typeof priority === 'string' ? urgencyOf(priority) : 1
  if (typeof ordinal !== 'number') return base + 0.5
  return base + Math.min(Math.max(ordinal, 0), 1e9) / 1e10
}

/** The project's own word for the status of a finished task. */
function doneStatus(documents: DocumentSet, { folder }: OpenDocument): string {
  const base = folder.replace(/tasks\/$/, '')
  const config = documents.at(`${base}config.yml`) ?? documents.at(`${base}config.yaml`)
  const statuses: unknown = config?.fields.statuses
  const words = Array.isArray(statuses) ? statuses.map(String) : []
  return words.find((word) => /done|complete/i.test(word)) ?? 'Done'
}

/** The text below a heading of the second level, without comments. */
function section(text: string, heading: string): string {
  const sections = text.split(/^(?=##[ \t])/m)
  const found = sections.find((part) => part.replace(/^##[ \t]+/, '').startsWith(heading)) ?? ''
  return found
    .replace(/^##[^\n]*\n/, '')
    .replace(/<!--.*?(?:-->|$)/gs, '')
    .trim()
}
