// Markdown check lists (the progress files of plan/build Ralph, fix plans) as user stories.
import {
  draftOf,
  indentOf,
  type Line,
  linesOf,
  type Place,
  type Point,
  pointOf,
  urgencyOf,
  withId,
} from './markdown-lines.ts'
import { many, type Raw } from './migrate.ts'
import { type ParsedPrd, readDraft } from './read.ts'
import { headingsOverIds, readStoryHeadings, storyHeadings } from './story-headings.ts'

/** Whether the text holds at least one check box of a markdown list, or a heading of a story. */
export function isChecklist(text: string): boolean {
  const isBox = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX~/-]\]/m
  return isBox.test(text) || storyHeadings(linesOf(text)).length > 0
}

/**
 * A check list as a feature: each outer box is a story, what is indented below it its criteria (bullets) and
 * description (text), bullets under "Notes" or "Learnings" become learnings. A line RALPH_DONE is not believed.
 * Where headings with an id are the stories, boxes are their criteria.
 */
export function parseChecklist(text: string, source: string): ParsedPrd {
  const lines = linesOf(text)
  const headings = storyHeadings(lines)
  const areTitles = headingsOverIds(lines)
  if (headings.length > 0 && !areTitles) return readDraft(readStoryHeadings(lines, source), [], new Set())
  const { project, items, learnings, claimsDone } = readBoxes(lines)
  if (items.length === 0) {
    const fix = 'write a story as "- [ ] what it brings"'
    return { ok: false, mistakes: [{ path: source, found: 'no check box', expected: 'a check list', fix }] }
  }
  const notes = [`${many(items.length, 'box')} of the check list read as user stories.`]
  const open = items.filter(({ point }) => !point.done).length
  if (claimsDone)
    notes.push(`RALPH_DONE is not believed: the boxes count, and ${open} of ${items.length} are open.`)
  if (headings.length > 0) {
    const named = headings.slice(0, 10).map(({ id, line }) => `${id} (line ${line})`)
    const were = headings.length === 1 ? 'was not read as a story' : 'were not read as stories'
    notes.push(`${named.join(', ')} ${were}: boxes of this file have ids of their own.`)
  }
  return readDraft(draftOf(source, { project, run: { learnings } }, items, asStory, notes), [], new Set())
}

type Item = Place & { point: Point; criteria: string[]; description: string[] }

type Sheet = { project: string; items: Item[]; learnings: string[]; claimsDone: boolean }

function readBoxes(lines: readonly Line[]): Sheet {
  const sheet: Sheet = { project: '', items: [], learnings: [], claimsDone: false }
  let section: string | null = null
  let item: Item | null = null
  for (const { number, text, isCode, heading } of lines) {
    if (isCode || text.trim() === '') continue
    const point = pointOf(text)
    if (heading !== null) {
      if (section === null) sheet.project = heading.text.replace(/^progress:?[ \t]*/i, '').trim()
      section = heading.text
      item = null
    } else if (item !== null && indentOf(text) > item.point.indent) {
      if (point === null) item.description.push(text.trim())
      else if (point.text !== '') item.criteria.push(point.text)
    } else if (point === null || point.done === null) {
      item = null
      if (text.trim() === 'RALPH_DONE') sheet.claimsDone = true
      if (point !== null && /^(notes|learnings|discoveries)\b/i.test(section ?? ''))
        sheet.learnings.push(point.text)
    } else {
      // Fix plans sort their lists under "High Priority", "Medium Priority", "Low Priority".
      item = { line: number, urgency: urgencyOf(section ?? ''), point, criteria: [], description: [] }
      sheet.items.push(item)
    }
  }
  return sheet
}

function asStory({ point, criteria, description }: Item): Raw {
  const named = withId(point.text)
  return {
    id: named?.id,
    title: named?.title ?? point.text,
    description: description.join('\n'),
    acceptanceCriteria: criteria,
    passes: point.done,
  }
}
