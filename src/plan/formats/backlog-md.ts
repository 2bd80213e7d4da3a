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
  const tasks = documents.all.filter(({ folder }) => folder === document.folder)
  const keyOf = (task: OpenDocument) => String(task.frontFields.id ?? '').toLowerCase()
  const idByKey = new Map(tasks.map((task) => [keyOf(task), String(task.frontFields.id)]))
  // A dependency is an id, with or without `task-`, or an object with an id.
  const findId = (key: string) => idByKey.get(key) ?? idByKey.get(`task-${key}`)
  const needs = [frontFields.dependencies ?? []]
    .flat()
    .map((need: unknown) => String(isObject(need) ? need.id : need).toLowerCase())
  const dependsOn = needs.flatMap((need) => findId(need) ?? [])
  const status = String(frontFields.status ?? '')
  const notes: string[] = []
  if (/\b(?:cancell?ed|won'?t|rejected|duplicate|obsolete|archived)\b/i.test(status))
    return { prose: 'none', what: `a task that is ${status}` }
  const unknown = needs.filter((need) => findId(need) === undefined)
  if (unknown.length > 0) notes.push(`it waits for ${unknown.join(', ')}, which is no open task: left out.`)
  const boxes = flattenBoxes(parseBoxes(blocks))
  const criteriaBoxes = boxes.filter(({ headings }) =>
    headings.some(({ text }) => /^acceptance criteria\b/i.test(withoutEmphasis(text))),
  )
  const parent = isGivenText(frontFields.parent_task_id)
    ? idByKey.get(String(frontFields.parent_task_id).toLowerCase())
    : undefined
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
          dependsOn,
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
