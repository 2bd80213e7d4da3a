// The lines of a markdown text as the readers of stories see them: bullets, boxes, and what is code or comment.

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
  const checked = box.exec(text)
  const indent = indentOf(line)
  if (checked === null) return { text: text.trim(), done: null, indent }
  return { text: (checked[2] ?? '').trim(), done: checked[1]?.toLowerCase() === 'x', indent }
}

/** Columns before the first character; a tab counts as four. */
export function indentOf(line: string): number {
  const white = /^[ \t]*/.exec(line)?.[0] ?? ''
  return white.replaceAll('\t', '    ').length
}

/** An id at the start of a point's text, as in `US-001: title`; null where there is none. */
export function withId(text: string): { id: string; title: string } | null {
  const [, id, title] = leadingId.exec(text) ?? []
  return id === undefined || title === undefined ? null : { id, title }
}

/** A line and its number from 1. `isCode`: in a fence, or the fence; a box in an example is no box. */
export type Line = { number: number; text: string; isCode: boolean }

/** The lines without HTML comments and the byte order mark. */
export function linesOf(text: string): Line[] {
  let fence: string | null = null
  let comment = false
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .map((line, index): Line => {
      const number = index + 1
      const mark: string | undefined = /^[ \t]*(```|~~~)/.exec(line)?.[1]
      if (fence !== null) {
        if (mark === fence) fence = null
        return { number, text: line, isCode: true }
      }
      if (!comment && mark !== undefined) {
        fence = mark
        return { number, text: line, isCode: true }
      }
      const wasComment = comment
      const opens = line.lastIndexOf('<!--')
      const closes = line.lastIndexOf('-->')
      if (opens >= 0 || closes >= 0) comment = opens > closes
      return { number, text: wasComment || opens >= 0 ? '' : line, isCode: false }
    })
}

/** A heading's level and text, or null. */
export function headingOf(line: string): { level: number; text: string } | null {
  const [, marks, text] = /^(#{1,6})[ \t]+(.*)$/.exec(line) ?? []
  return marks === undefined || text === undefined ? null : { level: marks.length, text }
}
