// The boxes on a terminal: the live header above the lines, and the result of a run. In a pipe, the same as plain lines.
import type { Surface } from '../../engine/commands/command-table.ts'
import { terminalText } from '../escape.ts'
import {
  costLabel,
  describeTokens,
  formatCountdown,
  formatDuration,
  formatUtc,
  hasCost,
  listNames,
  pluralize,
  textBar,
} from '../figures.ts'
import { findingLines } from '../findings.ts'
import type { Header } from '../header.ts'
import { type Colour, OUTCOMES } from '../outcomes.ts'
import { toPlainText } from '../sentence.ts'
import { describeChange } from '../stories.ts'
import type { View } from '../view.ts'
import { type Look, paint } from './terminal-line.ts'
import { fit, pad, textWidth, wrap } from './width.ts'

export type Field = readonly [label: string, value: string]

/** The live header: progress of the run, in lines of exactly the terminal's width (at least 24, at most 100). */
export function banner(header: Header, look: Look): string {
  const inner = innerWidth(look.width)
  const { passed, blocked, skipped, total } = header.counts
  const aside = `${skipped > 0 ? `, ${skipped} skipped` : ''}${blocked > 0 ? `, ${blocked} blocked` : ''}`
  const fields: Field[] = [
    ['Project', header.project || header.feature],
    ['Branch', header.branch],
    ['Stories', `${passed}/${total} complete${aside}`],
    ['Iteration', formatIteration(header)],
    ['Cost', formatHeaderCost(header)],
    ['Agent time', formatAgentTime(header)],
  ]
  const cells = inner >= 40 ? 10 : 5
  const rest = ` ${passed}/${total} ${terminalText(header.titleInWork || header.inWork?.storyId || '')}`
  const done = paint(textBar(passed, total, cells), ['green'], look)
  const live = `[${done}]${pad(rest.trimEnd(), inner - cells - 2)}`
  return boxed([...fieldRows(fields, inner, look), live], inner, ['cyan'], look)
}

/** One line, `ralph/auth: 4/6 stories, iteration 8/50, $1.42, working on US-005`. */
export function plainBanner(header: Header): string {
  const { passed, blocked, total } = header.counts
  const { inWork } = header
  const parts = [
    `${passed}/${total} stories`,
    blocked > 0 ? `${blocked} blocked` : '',
    `iteration ${formatIteration(header)}`,
    // "cost" is added if the label has no amount: there is no column title here.
    `${hasCost(header.usage) ? '' : 'cost '}${formatHeaderCost(header)}`,
    inWork === null ? '' : `working on ${inWork.storyId}`,
  ]
  return terminalText(`${header.branch}: ${parts.filter((part) => part !== '').join(', ')}`)
}

function formatIteration({ iteration, most }: Header): string {
  return most.iterations === null ? String(iteration) : `${iteration}/${most.iterations}`
}

function formatHeaderCost({ usage, most }: Header): string {
  return costLabel(usage, most.costUsd)
}

function formatAgentTime({ usage }: Header): string {
  return formatDuration(usage.agentSeconds * 1000)
}

/**
 * The result that a run prints last: outcome, stories, cost, time, where to look and what to do next. `places`: names and addresses
 * (`Report`, `/path/report.html`), in order.
 */
export function resultBox(view: View, places: readonly Field[], look: Look): string {
  const { outcome, usage, pullUrl, documents } = view
  const more = [...findingLines(view.findings).map((finding) => ['Attention', finding] as const), ...places]
  const fields: Field[] = [
    ['Stories', view.tally],
    ...changeFields(view),
    ['Iterations', `${view.iterations} in ${pluralize(Math.max(1, view.jobs), 'job')}`],
    ['Cost', `${formatHeaderCost(view)}, ${describeTokens(usage, ' tokens')}`],
    ['Agent time', formatAgentTime(view)],
    ['Branch', view.branch],
    ...(pullUrl === null ? [] : [['Look at', pullUrl] as const]),
    ...(documents.length === 0 ? [] : [['Ticked off', listNames(documents)] as const]),
    ...more.map(([name, value]) => [terminalText(name, 10), value] as const),
    ['Next', toPlainText(view.next)],
  ]
  const { title, mark, colour } = outcome === null ? view.status : OUTCOMES[outcome]
  const why = terminalText(view.reason)
  if (look.plain) {
    const head = `=== ${title}${why === '' ? '' : `: ${why}`} ===`
    const lines = fields.map(([name, value]) => `${name}: ${terminalText(value, 1000)}`)
    return [paint(head, ['bold', colour], look), ...lines].join('\n')
  }
  const inner = innerWidth(look.width)
  const top = hangingRows([`${mark} ${title}  `, ['bold', colour]], [why, []], inner, look)
  const rows = fields.flatMap(([name, value]) =>
    hangingRows(
      [`${name}:`.padEnd(12), ['dim']],
      [terminalText(value, 1000), name === 'Next' ? ['bold'] : []],
      inner,
      look,
    ),
  )
  return boxed([...top, ' '.repeat(inner), ...rows], inner, [colour], look)
}

/** The maximum number of stories whose changes are listed. */
const MAX_CHANGED = 5

/** A row for each story that passed: what its commits changed. */
function changeFields({ stories }: View): Field[] {
  const changed = stories.filter(({ status, change }) => status === 'passed' && change !== null)
  const more = changed.length - MAX_CHANGED
  const rows = changed
    .slice(0, MAX_CHANGED)
    .map(({ id, change }): Field => ['Changed', `${id}: ${describeChange(change)}`])
  return more > 0 ? [...rows, ['Changed', `and ${more} more: ralph status`]] : rows
}

type Painted = readonly [text: string, colours: readonly Colour[]]

/** A label, and after it the text, wrapped in its own column. */
function hangingRows([label, colours]: Painted, [text, own]: Painted, inner: number, look: Look): string[] {
  const column = textWidth(label)
  return wrap(text, inner - column).map((part, at) => {
    const before = at === 0 ? paint(label, colours, look) : ' '.repeat(column)
    return before + paint(pad(part, inner - column), own, look)
  })
}

/** Below the live header while it waits: `  1:05:09 left, until 14:05 UTC`. */
export function countdown(until: number, now: number, surface: Surface, look: Look): string {
  const out = surface === 'cli' ? '; Ctrl+C saves and ends' : ''
  return fit(
    `  ${formatCountdown(until, now)} left, until ${formatUtc(until)}${out}`,
    Math.max(20, look.width),
  )
}

function innerWidth(width: number): number {
  return Math.min(100, Math.max(24, Math.floor(width) || 80)) - 4
}

/** Rows of exactly `inner` columns, in a frame. */
export function boxed(
  rows: readonly string[],
  inner: number,
  colours: readonly Colour[],
  look: Look,
): string {
  const line = '═'.repeat(inner + 2)
  const side = paint('║', colours, look)
  const middle = rows.map((row) => `${side} ${row} ${side}`)
  return [paint(`╔${line}╗`, colours, look), ...middle, paint(`╚${line}╝`, colours, look)].join('\n')
}

/** Two fields a row if there is room. */
function fieldRows(fields: readonly Field[], inner: number, look: Look): string[] {
  const cell = ([label, value]: Field, columns: number) =>
    paint(`${label}: `, ['dim'], look) + pad(terminalText(value), columns - label.length - 2)
  if (inner < 56) return fields.map((field) => cell(field, inner))
  const left = Math.ceil(inner / 2)
  return fields.flatMap((field, at) => {
    const second = fields[at + 1]
    if (at % 2 === 1) return []
    if (second === undefined) return [cell(field, inner)]
    return [`${cell(field, left - 2)}  ${cell(second, inner - left)}`]
  })
}
