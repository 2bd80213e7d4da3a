// Backlog.md: a file a task in backlog/tasks/. Boxes are criteria; dependencies and status are in the front matter.
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
  const all = documents.all.filter((one) => one.folder === document.folder)
  const idOf = (one: OpenDocument) => String(one.frontFields.id ?? '').toLowerCase()
  const known = new Map(all.map((one) => [idOf(one), String(one.frontFields.id)]))
  const needs = [frontFields.dependencies ?? []]
    .flat()
    .map((one: unknown) => String(isObject(one) ? one.id : one).toLowerCase())
  const dependsOn = needs.flatMap((one) => known.get(one) ?? known.get(`task-${one}`) ?? [])
  const status = String(frontFields.status ?? '')
  const notes: string[] = []
  if (/\b(?:cancell?ed|won'?t|rejected|duplicate|obsolete|archived)\b/i.test(status))
    return { prose: 'none', what: `a task that is ${status}` }
  const gone = needs.filter((one) => !known.has(one) && !known.has(`task-${one}`))
  if (gone.length > 0) notes.push(`it waits for ${gone.join(', ')}, which is no open task: left out.`)
  const boxes = flattenBoxes(parseBoxes(blocks))
  const isCriterion = boxes.filter(({ headings }) =>
    headings.some(({ text }) => /^acceptance criteria\b/i.test(withoutEmphasis(text))),
  )
  const criteria = isCriterion.map(({ text }) => text.replace(/^#\d{1,3}[ \t]+/, ''))
  const doneWord = doneIn(documents, document)
  const parent = isGivenText(frontFields.parent_task_id)
    ? known.get(String(frontFields.parent_task_id).toLowerCase())
    : undefined
  // Ralph does not tick its boxes, since people check each criterion.
  const marks: Mark[] = [{ kind: 'value', at: ['status'], value: doneWord }]
  return {
    notes,
    boxes: boxes.length - isCriterion.length,
    stories: [
      {
        line: 1,
        raw: {
          ...{
            id: String(frontFields.id),
            title: frontFields.title ?? document.title,
            dependsOn,
            acceptanceCriteria: criteria,
          },
          epicId: isGivenText(frontFields.milestone) ? String(frontFields.milestone) : (parent ?? null),
          description: section(document.text, 'Description'),
          passes: /done|complete/i.test(status),
          ...(Array.isArray(frontFields.labels) && frontFields.labels.length > 0
            ? { tags: frontFields.labels.map(String) }
            : {}),
        },
        urgency: urgency(frontFields),
        marks,
      },
    ],
  }
}

/** `ordinal` refines the order within a priority. */
function urgency({ ordinal, priority }: OpenDocument['frontFields']): number {
  const words = typeof priority === 'string' ? urgencyOf(priority) : 1
  return typeof ordinal === 'number' ? words + Math.min(Math.max(ordinal, 0), 1e9) / 1e10 : words + 0.5
}

/** The status for done among the project's own statuses. */
function doneIn(documents: DocumentSet, { folder }: OpenDocument): string {
  const base = folder.replace(/tasks\/$/, '')
  const config = documents.at(`${base}config.yml`) ?? documents.at(`${base}config.yaml`)
  const statuses: unknown = config?.fields.statuses
  const words = Array.isArray(statuses) ? statuses.map(String) : []
  return words.find((word) => /done|complete/i.test(word)) ?? 'Done'
}

/** The text below a heading of the second level, without comments. */
function section(text: string, heading: string): string {
  const found =
    text.split(/^(?=##[ \t])/m).find((one) => one.replace(/^##[ \t]+/, '').startsWith(heading)) ?? ''
  return found
    .replace(/^##[^\n]*\n/, '')
    .replace(/<!--.*?(?:-->|$)/gs, '')
    .trim()
}
