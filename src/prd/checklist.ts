// Markdown check lists (the progress files of plan/build Ralph, fix plans) as user stories.
import type { Mistake } from '../system/errors.ts'
import { headingOf, indentOf, linesOf, pointOf, withId } from './markdown-lines.ts'
import { type Draft, many, type Raw } from './migrate.ts'
import { type ParsedPrd, readDraft } from './read.ts'
import { hasStoryHeadings, headingsOverIds, readStoryHeadings, urgencyOf } from './story-headings.ts'

/** Whether the text holds at least one check box of a markdown list, or a heading of a story. */
export function isChecklist(text: string): boolean {
  return /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX~/-]\]/m.test(text) || hasStoryHeadings(text)
}

/**
 * A check list as a feature: each outer box is a story, what is indented below it its criteria (bullets) and
 * description (text), bullets under "Notes" or "Learnings" become learnings. A line RALPH_DONE is not believed.
 * Where headings with an id are the stories, boxes are their criteria.
 */
export function parseChecklist(text: string, source: string): ParsedPrd {
  const sections = headingsOverIds(text)
  if (sections === null && hasStoryHeadings(text))
    return readDraft(readStoryHeadings(text, source), [], new Set())
  const sheet = readLines(text)
  if (sheet.items.length === 0) {
    const fix = 'write a story as "- [ ] what it brings"'
    const mistake: Mistake = { path: source, found: 'no check box', expected: 'a check list', fix }
    return { ok: false, mistakes: [mistake] }
  }
  const draft = asDraft(sheet, source)
  if (sections !== null && sections.length > 0) {
    const [were, stories] = sections.length === 1 ? ['was', 'a story'] : ['were', 'stories']
    draft.notes.push(
      `${sections.slice(0, 10).join(', ')} ${were} not read as ${stories}: boxes of this file have ids of their own.`,
    )
  }
  return readDraft(draft, [], new Set())
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
  for (const { number, text: line, isCode } of linesOf(text)) {
    if (isCode || line.trim() === '') continue
    const title = headingOf(line)?.text
    if (title !== undefined) {
      if (sheet.project === '' && heading === '')
        sheet.project = title.replace(/^progress:?[ \t]*/i, '').trim()
      heading = title
      item = null
    } else if (item !== null && indentOf(line) > item.indent) addDetail(item, line)
    else item = addOuterLine(sheet, line, heading, number)
  }
  return sheet
}

function addDetail(item: Item, line: string): void {
  const point = pointOf(line)
  if (point === null) item.description.push(line.trim())
  else item.criteria.push(point.text)
}

/** The story that begins on this line, or null. */
function addOuterLine(sheet: Sheet, line: string, heading: string, number: number): Item | null {
  const point = pointOf(line)
  if (point === null) {
    if (line.trim() === 'RALPH_DONE') sheet.saidDone = true
    return null
  }
  if (point.done === null) {
    if (/^(notes|learnings|discoveries)\b/i.test(heading)) sheet.learnings.push(point.text)
    return null
  }
  const item: Item = {
    line: number,
    indent: point.indent,
    title: point.text,
    done: point.done,
    // Fix plans sort their lists under "High Priority", "Medium Priority", "Low Priority".
    urgency: urgencyOf(heading),
    criteria: [],
    description: [],
  }
  sheet.items.push(item)
  return item
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
  const named = withId(item.title)
  return {
    id: named?.id,
    title: named?.title ?? item.title,
    description: item.description.join('\n'),
    acceptanceCriteria: item.criteria.filter((criterion) => criterion !== ''),
    priority,
    passes: item.done,
  }
}
