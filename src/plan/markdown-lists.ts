// Markdown for the formats: headings, paragraphs and lists in their order, each with its line. Their text is unchanged, with
// emphasis and links.
import type { List, ListItem, Nodes, RootContent } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'

export type Heading = { kind: 'heading'; line: number; level: number; text: string }
/** A paragraph. White space around its lines is removed. */
type Paragraph = { kind: 'words'; line: number; lines: string[] }
type Points = { kind: 'points'; line: number; points: Point[] }
/** Code, a quotation or a table, unchanged. */
type Verbatim = { kind: 'verbatim'; line: number; text: string }
export type Block = Heading | Paragraph | Points | Verbatim

/**
 * An item of a list. `text`: its first line, with the lines that it wraps onto. `done`: null without a box. `more`: other lines and
 * paragraphs. `points`: the items below it.
 */
export type Point = { line: number; text: string; done: boolean | null; more: string[]; points: Point[] }

// Inline syntax is not parsed: that is quicker, and nested brackets or stars take no time. A line of dashes below a text is not a
// heading, since agents write it as a rule.
const UNREAD = [
  'setextUnderline',
  ...['attention', 'autolink', 'characterEscape', 'characterReference', 'codeText', 'definition'],
  ...['hardBreakEscape', 'htmlText', 'labelEnd', 'labelStartImage', 'labelStartLink'],
]

/** The blocks of the text, without comments and rules. */
export function parseBlocks(text: string): Block[] {
  const root = fromMarkdown(text, { extensions: [{ disable: { null: UNREAD } }] })
  return root.children.flatMap((node) => blocks(node, text))
}

function blocks(node: RootContent, text: string): Block[] {
  const line = lineOf(node)
  if (node.type === 'heading')
    return [{ kind: 'heading', line, level: node.depth, text: headingText(node, text) }]
  if (node.type === 'paragraph')
    return [
      {
        kind: 'words',
        line,
        lines: sourceOf(node, text)
          .split('\n')
          .map((one) => one.trim()),
      },
    ]
  if (node.type === 'list') return listBlocks(node, text)
  if (node.type === 'html' || node.type === 'thematicBreak') return []
  return [{ kind: 'verbatim', line, text: sourceOf(node, text) }]
}

/** The list, and after it the lazy continuation lines of its last item, which begin at the margin. */
function listBlocks(list: List, text: string): Block[] {
  const lazyLines: Line[] = []
  const points = list.children.map((item) => pointOf(item, text, lazyLines))
  const block: Points = { kind: 'points', line: lineOf(list), points }
  const [first] = lazyLines
  if (first === undefined) return [block]
  return [block, { kind: 'words', line: first.line, lines: lazyLines.map((one) => one.text.trim()) }]
}

/** The text of an item, and of each item below it. */
export function pointLines({ text, more, points }: Point): string[] {
  return [[text, ...more].join(' '), ...points.flatMap(pointLines)]
}

/** The line numbers of an item and the items below it, as far as they have boxes. */
export function boxLines({ line, done, points }: Point): number[] {
  return [...(done === null ? [] : [line]), ...points.flatMap(boxLines)]
}

type Line = { line: number; text: string }

// [ ] and [] open, [x] done, anything else (as [~]) open. Text may follow without a space, unless it makes a link or Kiro's star.
const box = /^\[([ xX~/-]?)\](?:$|[ \t](.*)|(?=\*\*|[^\s([:*\\])(.*))/s

// A line that is not a continuation of the one before: a field, or a remark that begins with a symbol.
const ownLine = /^(?:[_>|\u2192]|\p{Extended_Pictographic}|\*{0,2}\p{Lu}[\p{L} -]{1,30}\*{0,2}[:\uff1a])/u
/** A shorter line was not wrapped, in characters. */
const MIN_WRAPPED = 50

/** Whether the text was wrapped onto the line. If not, the line is its own remark. */
function isWrapped(text: string, line: string): boolean {
  if (line === '' || ownLine.test(line)) return false
  const isNewSentence = /^[`"'(*]*\p{Lu}/u.test(line) && /[.!?:]\W*$/.test(text)
  return !isNewSentence && (text.length >= MIN_WRAPPED || !/^[`"'(*]*\p{Lu}/u.test(line))
}

/** Lazy continuation lines (not indented further than the item's bullet) are added to `lazyLines`. */
function pointOf(item: ListItem, text: string, lazyLines: Line[]): Point {
  const margin = indentOf(text, item)
  const point: Point = { line: lineOf(item), text: '', done: null, more: [], points: [] }
  const lines: Line[] = []
  for (const [index, node] of item.children.entries()) {
    if (node.type === 'list') point.points.push(...node.children.map((one) => pointOf(one, text, lines)))
    else if (node.type === 'paragraph') {
      const [first, ...rest] = linesOf(node, text)
      if (index > 0 && first !== undefined) point.more.push(first.text.trim())
      else {
        point.text = first?.text.trim() ?? ''
        joinWrapped(point, rest, margin)
      }
      lines.push(...rest)
    } else if (node.type !== 'html' && node.type !== 'thematicBreak') point.more.push(sourceOf(node, text))
  }
  for (const line of lines) {
    if (indentIn(line.text) > margin) point.more.push(line.text.trim())
    else lazyLines.push(line)
  }
  const [, mark, rest, attached = ''] = box.exec(point.text) ?? []
  if (mark === undefined) return point
  return { ...point, text: (rest ?? attached).trim(), done: mark.toLowerCase() === 'x' }
}

/** Moves the lines that the text was wrapped onto from `rest` to the text. */
function joinWrapped(point: Point, rest: Line[], margin: number): void {
  let last = point.text
  for (let next = rest[0]; next !== undefined; next = rest[0]) {
    const words = next.text.trim()
    if (indentIn(next.text) <= margin || !isWrapped(last, words)) return
    point.text += ` ${words}`
    last = words
    rest.shift()
  }
}

function linesOf(node: Nodes, text: string): Line[] {
  const from = lineOf(node)
  return sourceOf(node, text)
    .split('\n')
    .map((one, index) => ({ line: from + index, text: one }))
}

function sourceOf(node: Nodes, text: string): string {
  return text.slice(node.position?.start.offset, node.position?.end.offset)
}

function lineOf(node: Nodes): number {
  return node.position?.start.line ?? 1
}

/** Columns before the node's line begins; a tab counts as four. */
function indentOf(text: string, node: Nodes): number {
  const offset = node.position?.start.offset ?? 0
  return indentIn(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))
}

function indentIn(line: string): number {
  return (/^[ \t]*/.exec(line)?.[0] ?? '').replaceAll('\t', '    ').length
}

function headingText(node: Nodes & { type: 'heading' }, text: string): string {
  const start = node.children[0]?.position?.start.offset
  const end = node.children.at(-1)?.position?.end.offset
  return start === undefined ? '' : text.slice(start, end).trim()
}
