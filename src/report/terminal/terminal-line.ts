// Formats a line of a log for a terminal or a job's log. Its texts may be hostile.
import { sanitizeText } from '../../engine/model/text.ts'
import { selectLines } from '../../system/excerpt.ts'
import { terminalText } from '../escape.ts'
import { pluralize } from '../figures.ts'
import type { Line, Tagged } from '../log/log-line.ts'
import type { Colour } from '../outcomes.ts'
import { fit, textWidth, wrap } from './width.ts'

/** What the output can show. `plain` (a pipe, a log): no boxes, ASCII signs, infinite width. */
export type Look = { width: number; colour: boolean; plain: boolean }

/** The part of a stream that is needed. */
export type Screen = { write(text: string): unknown; isTTY?: boolean; columns?: number }

export function lookOf(screen: Screen, noColour: boolean): Look {
  const isTerminal = screen.isTTY === true
  return {
    width: isTerminal ? Math.min(100, screen.columns ?? 80) : Number.POSITIVE_INFINITY,
    colour: isTerminal && !noColour,
    plain: !isTerminal,
  }
}

const CODES: Readonly<Record<Colour, number>> = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  cyan: 36,
}

/** The maximum number of rows of a failed gate's output; the rest is in the log. */
const OUTPUT_ROWS = 9
/** The maximum number of characters of a line that is not cut to a width. */
const MAX_LINE_LENGTH = 2000

export function paint(text: string, colours: readonly Colour[], { colour }: Look): string {
  if (!colour || text === '' || colours.length === 0) return text
  return `\u001b[${colours.map((name) => CODES[name]).join(';')}m${text}\u001b[0m`
}

/** The colours of a line of a diff. */
export function diffColours(line: string): readonly Colour[] {
  if (/^(?:diff |---|\+\+\+|commit )/.test(line)) return ['bold']
  if (line.startsWith('@@')) return ['cyan']
  if (line.startsWith('+')) return ['green']
  return line.startsWith('-') ? ['red'] : []
}

export function formatLines(lines: readonly Line[], look: Look): string[] {
  return lines.flatMap((line) => ('heading' in line ? formatHeading(line, look) : formatTagged(line, look)))
}

function formatTagged({ tag, text, colours = [], mark, output = '' }: Tagged, look: Look): string[] {
  const width = Math.max(20, look.width)
  const short = terminalText(tag, 40).replace(/[[\]]/g, '') || '-'
  const name = `[${fit(short, Math.floor(width * 0.4))}]`
  const labelled = mark === undefined || look.plain ? text : `${mark} ${text}`
  const room = width - textWidth(name) - 1
  // A warning is shown in full. Its further lines begin with a bar, so that its text never begins a line.
  const parts =
    tag === 'warning' ? wrap(terminalText(labelled, MAX_LINE_LENGTH), room) : [fitText(labelled, room)]
  const lines = parts.map((part, at) => {
    const head = at === 0 ? paint(name, ['cyan'], look) : `${' '.repeat(textWidth(name) - 1)}│`
    return `${head} ${paint(part, colours, look)}`
  })
  return [...lines, ...quoteOutput(output, look)]
}

function formatHeading({ heading, end = '' }: { heading: string; end?: string }, look: Look): string[] {
  const room = Math.max(20, look.width) - 8 - end.length
  return ['', paint(`=== ${fitText(heading, room)}${end} ===`, ['bold'], look)]
}

function fitText(text: string, room: number): string {
  return fit(terminalText(text, Math.min(MAX_LINE_LENGTH, room * 4)), room)
}

/** The most important lines of a program's output. Each begins with a bar, so that the output never begins a line. */
function quoteOutput(output: string, look: Look): string[] {
  const all = sanitizeText(output)
    .split('\n')
    .map((text) => text.replaceAll('\t', '  ').trimEnd())
    .filter((text) => text !== '')
  const rows = all.length < OUTPUT_ROWS ? all : selectLines(all, OUTPUT_ROWS, () => 1, 1)
  const mark = look.plain ? '  | ' : '  │ '
  const room = look.plain ? 500 : Math.max(20, look.width) - 4
  return rows.map((row, at) => {
    if (typeof row === 'number') {
      const where = at === 0 ? ' before' : at === rows.length - 1 ? ' more' : ''
      return paint(`${mark}... ${pluralize(row, 'line')}${where}`, ['dim'], look)
    }
    const indent = /^ */.exec(row)?.[0].slice(0, 16) ?? ''
    const text = indent + terminalText(row, MAX_LINE_LENGTH)
    return paint(mark + (look.plain ? text.slice(0, room) : fit(text, room)), ['dim'], look)
  })
}
