// Markdown check lists (the progress files of plan/build Ralph, fix plans) as user stories.
import type { Mistake } from '../system/errors.ts'
import type { Raw } from './fields.ts'
import { type Draft, many } from './migrate.ts'
import { type ParsedPrd, readDraft } from './read.ts'

// A bullet or number, and for check lists the box: [ ] open, [x] done, anything else (as [~]) open.
const bullet = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/
const box = /^\[([ xX~/-])\](?:[ \t]+(.*))?$/
const leadingId = /^\*{0,2}([A-Z][A-Z0-9]{0,15}-\d{1,6})\*{0,2}[ \t]*[:.\u2013-][ \t]*\*{0,2}[ \t]*(.+)$/

/** Whether the text holds at least one check box of a markdown list. */
export function isChecklist(text: string): boolean {
  return /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX~/-]\]/m.test(text)
}

/**
 * A check list as a feature: each outer box is a story, what is indented below it its criteria (bullets) and
 * description (text), bullets under "Notes" or "Learnings" become learnings. A line RALPH_DONE is not believed.
 */
export function parseChecklist(text: string, source: string): ParsedPrd {
  const sheet = readLines(text)
  if (sheet.items.length === 0) {
    const fix = 'write a story as "- [ ] what it brings"'
    const mistake: Mistake = { path: source, found: 'no check box', expected: 'a check list', fix }
    return { ok: false, mistakes: [mistake] }
  }
  return readDraft(asDraft(sheet, source), [], new Set())
}

type Item = {
  line: number
  indent: number
  title: string
  done: boolean
  urgency: number
  criteria: string[]
  description: string[]
}

type Sheet = { project: string; items: Item[]; learnings: string[]; saidDone: boolean }

function readLines(text: string): Sheet {
  const sheet: Sheet = { project: '', items: [], learnings: [], saidDone: false }
  let heading = ''
  let item: Item | null = null
  for (const [index, line] of visibleLines(text)) {
    if (line.trim() === '') continue
    const title = /^#{1,6}[ \t]+(.*)$/.exec(line)?.[1]
    if (title !== undefined) {
      if (sheet.project === '' && heading === '')
        sheet.project = title.replace(/^progress:?[ \t]*/i, '').trim()
      heading = title
      item = null
    } else if (item !== null && indentOf(line) > item.indent) addDetail(item, line)
    else item = addOuterLine(sheet, line, heading, index + 1)
  }
  return sheet
}

/** The lines with their index, without fenced code, HTML comments and the byte order mark: boxes in examples are no stories. */
function visibleLines(text: string): Array<[number, string]> {
  let fence: string | null = null
  let comment = false
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .map((line, index): [number, string] => {
      const mark: string | undefined = /^[ \t]*(```|~~~)/.exec(line)?.[1]
      if (fence !== null) {
        if (mark === fence) fence = null
        return [index, '']
      }
      if (!comment && mark !== undefined) {
        fence = mark
        return [index, '']
      }
      const wasComment = comment
      const opens = line.lastIndexOf('<!--')
      const closes = line.lastIndexOf('-->')
      if (opens >= 0 || closes >= 0) comment = opens > closes
      return [index, wasComment || opens >= 0 ? '' : line]
    })
}

function indentOf(line: string): number {
  const white = /^[ \t]*/.exec(line)?.[0] ?? ''
  return white.replaceAll('\t', '    ').length
}

function addDetail(item: Item, line: string): void {
  const point = bullet.exec(line)?.[2]
  if (point === undefined) item.description.push(line.trim())
  else item.criteria.push((box.exec(point)?.[2] ?? point).trim())
}

/** The story that begins on this line, or null. */
function addOuterLine(sheet: Sheet, line: string, heading: string, number: number): Item | null {
  const point = bullet.exec(line)?.[2]
  if (point === undefined) {
    if (line.trim() === 'RALPH_DONE') sheet.saidDone = true
    return null
  }
  const checked = box.exec(point)
  if (checked === null) {
    if (/^(notes|learnings|discoveries)\b/i.test(heading)) sheet.learnings.push(point.trim())
    return null
  }
  const item: Item = {
    line: number,
    indent: indentOf(line),
    title: (checked[2] ?? '').trim(),
    done: checked[1]?.toLowerCase() === 'x',
    urgency: urgencyOf(heading),
    criteria: [],
    description: [],
  }
  sheet.items.push(item)
  return item
}

/** Fix plans sort their lists under "High Priority", "Medium Priority", "Low Priority". */
function urgencyOf(heading: string): number {
  if (/^(critical|high|urgent)\b/i.test(heading)) return 0
  return /^low\b/i.test(heading) ? 2 : 1
}

function asDraft(sheet: Sheet, source: string): Draft {
  const inOrder = sheet.items.toSorted((a, b) => a.urgency - b.urgency)
  const rank = new Map(inOrder.map((item, index) => [item, index + 1]))
  const list = sheet.items.map((item) => asStory(item, rank.get(item) ?? 1))
  const notes = [`${many(list.length, 'box')} of the check list read as user stories.`]
  const open = sheet.items.filter((item) => !item.done).length
  if (sheet.saidDone) {
    notes.push(`RALPH_DONE is not believed: the boxes count, and ${open} of ${list.length} are open.`)
  }
  return {
    root: { project: sheet.project, run: { learnings: sheet.learnings } },
    list,
    rootPath: (key) => `${source}: ${key}`,
    storyPath: (index, key) =>
      `${source}: line ${sheet.items[index]?.line}${key === undefined ? '' : ` (${key})`}`,
    mayLackCriteria: true,
    imported: true,
    notes,
  }
}

function asStory(item: Item, priority: number): Raw {
  const [, id, title] = leadingId.exec(item.title) ?? []
  return {
    id,
    title: title ?? item.title,
    description: item.description.join('\n'),
    acceptanceCriteria: item.criteria.filter((criterion) => criterion !== ''),
    priority,
    passes: item.done,
  }
}
