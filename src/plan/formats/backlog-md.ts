// Backlog.md: a file a task in backlog/tasks/. Its boxes are criteria; what it waits for and what it has come to stand in front.
import { isRaw } from '../../engine/prd/migrate.ts'
import { frontOf, type Opened } from '../open-document.ts'
import { plain, urgencyOf } from '../story-words.ts'
import type { Beside, Format, Mark, Reading } from '../types.ts'
import { boxesOf, flat } from './boxes.ts'

const FOLDER = /(?:^|\/)\.?backlog\/tasks\/$/

export const backlogMd: Format = {
  name: 'Backlog.md',
  rank: 'detailed',
  found: /^\.?backlog\/(?:tasks\/[^/]+\.md|config\.ya?ml)$/,
  reads: ({ folder, name, path, isMarkdown, head, front, text }) =>
    /(?:^|\/)\.?backlog\/config\.ya?ml$/.test(path) ||
    (FOLDER.test(folder) &&
      isMarkdown &&
      name !== '' &&
      (isGivenText(head.id) || (front.mistakes.length > 0 && /^id:/m.test(frontOf(text))))),
  read,
}

function isGivenText(value: unknown): value is string | number {
  return (typeof value === 'string' && value.trim() !== '') || typeof value === 'number'
}

function read(document: Opened, beside: Beside): Partial<Reading> {
  const { head, front, isYaml, blocks } = document
  if (isYaml)
    return {
      prose: 'none',
      what: 'settings of Backlog.md',
      root: { project: document.fields.project_name ?? null },
    }
  if (front.mistakes.length > 0) return { mistakes: front.mistakes }
  const all = beside.all.filter((one) => one.folder === document.folder)
  const idOf = (one: Opened) => String(one.head.id ?? '').toLowerCase()
  const known = new Map(all.map((one) => [idOf(one), String(one.head.id)]))
  const needs = [head.dependencies ?? []]
    .flat()
    .map((one: unknown) => String(isRaw(one) ? one.id : one).toLowerCase())
  const dependsOn = needs.flatMap((one) => known.get(one) ?? known.get(`task-${one}`) ?? [])
  const status = String(head.status ?? '')
  const notes: string[] = []
  if (/\b(?:cancell?ed|won'?t|rejected|duplicate|obsolete|archived)\b/i.test(status))
    return { prose: 'none', what: `a task that is ${status}` }
  const gone = needs.filter((one) => !known.has(one) && !known.has(`task-${one}`))
  if (gone.length > 0) notes.push(`it waits for ${gone.join(', ')}, which is no open task: left out.`)
  const boxes = flat(boxesOf(blocks))
  const isCriterion = boxes.filter(({ headings }) =>
    headings.some(({ text }) => /^acceptance criteria\b/i.test(plain(text))),
  )
  const criteria = isCriterion.map(({ text }) => text.replace(/^#\d{1,3}[ \t]+/, ''))
  const doneWord = doneIn(beside, document)
  const parent = isGivenText(head.parent_task_id)
    ? known.get(String(head.parent_task_id).toLowerCase())
    : undefined
  // Its boxes are for people, who look at each criterion.
  const marks: Mark[] = [{ kind: 'value', at: ['status'], value: doneWord }]
  return {
    notes,
    boxes: boxes.length - isCriterion.length,
    stories: [
      {
        line: 1,
        raw: {
          ...{
            id: String(head.id),
            title: head.title ?? document.title,
            dependsOn,
            acceptanceCriteria: criteria,
          },
          epicId: isGivenText(head.milestone) ? String(head.milestone) : (parent ?? null),
          description: section(document.text, 'Description'),
          passes: /done|complete/i.test(status),
          ...(Array.isArray(head.labels) && head.labels.length > 0 ? { tags: head.labels.map(String) } : {}),
        },
        urgency: urgency(head),
        marks,
      },
    ],
  }
}

/** A place that was given by hand comes before the words for a priority. */
function urgency({ ordinal, priority }: Opened['head']): number {
  const words = typeof priority === 'string' ? urgencyOf(priority) : 1
  return typeof ordinal === 'number' ? words + Math.min(Math.max(ordinal, 0), 1e9) / 1e10 : words + 0.5
}

/** The word for done of this project's own statuses. */
function doneIn(beside: Beside, { folder }: Opened): string {
  const base = folder.replace(/tasks\/$/, '')
  const config = beside.at(`${base}config.yml`) ?? beside.at(`${base}config.yaml`)
  const statuses: unknown = config?.fields.statuses
  const words = Array.isArray(statuses) ? statuses.map(String) : []
  return words.find((word) => /done|complete/i.test(word)) ?? 'Done'
}

/** What stands below a heading of the second level, without the marks around it. */
function section(text: string, heading: string): string {
  const found =
    text.split(/^(?=##[ \t])/m).find((one) => one.replace(/^##[ \t]+/, '').startsWith(heading)) ?? ''
  return found
    .replace(/^##[^\n]*\n/, '')
    .replace(/<!--.*?(?:-->|$)/gs, '')
    .trim()
}
