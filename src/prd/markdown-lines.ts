// A markdown text as the readers of stories see it: headings, bullets, boxes, and what is code or comment.
import type { Draft, Raw } from './migrate.ts'

// A bullet or number, and for check lists the box: [ ] open, [x] done, anything else (as [~]) open.
const bullet = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/
const box = /^\[([ xX~/-])\](?:[ \t]+(.*))?$/
const leadingId = /^\*{0,2}([A-Z][A-Z0-9]{0,15}-\d{1,6})\*{0,2}[ \t]*[:.\u2013-][ \t]*\*{0,2}[ \t]*(.+)$/

/** `text` without the bullet; `done` null where there is no box. */
export type Point = { text: string; done: boolean | null; indent: number }

/** The list item that a line begins, or null. */
export function pointOf(line: string): Point | null {
  const text = bullet.exec(line)?.[2]
  if (text === undefined) return null
  const [, mark, rest = ''] = box.exec(text) ?? []
  const done = mark === undefined ? null : mark.toLowerCase() === 'x'
  return { text: (mark === undefined ? text : rest).trim(), done, indent: indentOf(line) }
}

/** Columns before the first character; a tab counts as four. */
export function indentOf(line: string): number {
  return (/^[ \t]*/.exec(line)?.[0] ?? '').replaceAll('\t', '    ').length
}

/** An id at the start of a point's text, as in `US-001: title`; null where there is none. */
export function withId(text: string): { id: string; title: string } | null {
  const [, id, title] = leadingId.exec(text) ?? []
  return id === undefined || title === undefined ? null : { id, title }
}

export type Heading = { level: number; text: string }

/** A line and its number from 1. `isCode`: in a fence, or the fence; a box in an example is no box. */
export type Line = { number: number; text: string; isCode: boolean; heading: Heading | null }

/** The lines without HTML comments and the byte order mark. */
export function linesOf(text: string): Line[] {
  let fence: string | null = null
  let isComment = false
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .map((line, index): Line => {
      const number = index + 1
      const mark: string | null = /^[ \t]*(```|~~~)/.exec(line)?.[1] ?? null
      if (fence !== null || (mark !== null && !isComment)) {
        if (fence === null) fence = mark
        else if (mark === fence) fence = null
        return { number, text: line, isCode: true, heading: null }
      }
      const wasComment = isComment
      const [opens, closes] = [line.lastIndexOf('<!--'), line.lastIndexOf('-->')]
      if (opens >= 0 || closes >= 0) isComment = opens > closes
      const shown = wasComment || opens >= 0 ? '' : line
      return { number, text: shown, isCode: false, heading: headingOf(shown) }
    })
}

function headingOf(line: string): Heading | null {
  const [, marks, text] = /^(#{1,6})[ \t]+(.*)$/.exec(line) ?? []
  return marks === undefined || text === undefined ? null : { level: marks.length, text }
}

/** How urgent a section or a priority in words is: 0 comes first. */
export function urgencyOf(text: string): number {
  if (/^(?:critical|high|urgent|must|p0)\b/i.test(text)) return 0
  return /^(?:low|could|p[23])\b/i.test(text) ? 2 : 1
}

/** Where a story begins, and how urgent it is. */
export type Place = { line: number; urgency: number }

/** The stories of a document: what is urgent comes first, and mistakes name the line. */
export function draftOf<T extends Place>(
  source: string,
  root: Raw,
  items: readonly T[],
  storyOf: (item: T) => Raw,
  notes: string[],
): Draft {
  const byUrgency = items.toSorted((a, b) => a.urgency - b.urgency)
  const rank = new Map(byUrgency.map((item, index) => [item, index + 1]))
  return {
    root,
    list: items.map((item) => {
      const story = storyOf(item)
      return { ...story, priority: story.priority ?? rank.get(item) }
    }),
    rootPath: (key) => `${source}: ${key}`,
    storyPath: (index, key) => `${source}: line ${items[index]?.line}${key === undefined ? '' : ` (${key})`}`,
    mayLackCriteria: true,
    imported: true,
    notes,
  }
}
