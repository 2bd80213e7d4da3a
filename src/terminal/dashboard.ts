// One frame of the live dashboard: lines that fit a terminal of this size, the selected feature below a list of all; and the
// same as plain lines, where there is no terminal.
import { terminalText } from '../report/escape.ts'
import { callsWords, type Dashboard, type Exit } from '../report/monitor.ts'
import { type Colour, STANDINGS, type Standing } from '../report/outcomes.ts'
import { bar, humanMs, many, usd } from '../report/words.ts'
import { boxed } from './boxes.ts'
import { type Look, paint } from './line.ts'
import { fit, pad, textWidth, wrap } from './width.ts'

/** `height` in rows. */
export type Size = Look & { height: number }

export type Frame = {
  dashboards: readonly Dashboard[]
  /** Which of them is shown in full. */
  selected: number
  /** Below all: how it is followed, and what went wrong with that. */
  note: string
}

/** At most; wider lines are hard to read. */
const WIDEST = 160
/** From here on two columns stand beside each other. */
const TWO_COLUMNS = 100
const NARROW = 60
/** Rows from which on an outlook has two of them. */
const HIGH = 40
/** Rows below which each section gets two at first. */
const LOW = 12

/** The cell of a bar, and its colours. */
const CELLS: Readonly<Record<Standing, readonly [cell: string, colours: readonly Colour[]]>> = {
  passed: ['█', ['green']],
  skipped: ['▬', ['dim']],
  working: ['▶', ['cyan']],
  rejected: ['▒', ['yellow']],
  blocked: ['■', ['red']],
  waiting: ['░', ['dim']],
  open: ['░', []],
  outside: ['·', ['dim']],
}
const LEVELS: Readonly<Record<Exit['level'], readonly [mark: string, colours: readonly Colour[]]>> = {
  good: ['✔', ['green']],
  far: ['○', []],
  near: ['◐', ['yellow']],
  met: ['●', ['red', 'bold']],
}
const CIRCUIT = { closed: [], 'half-open': ['yellow'], open: ['red'] } satisfies Record<string, Colour[]>
const RESULTS: Readonly<Record<string, readonly [mark: string, colour: Colour]>> = {
  passed: ['✔', 'green'],
  rejected: ['✘', 'red'],
  returned: ['↩', 'yellow'],
  reset: ['↺', 'yellow'],
}

/** Exactly `height` lines of at most `width` columns. */
export function frameLines({ dashboards, selected, note }: Frame, size: Size): string[] {
  const width = Math.min(WIDEST, Math.max(20, size.width))
  const look = { ...size, width }
  const shown = dashboards[selected] ?? dashboards[0]
  const keys = dashboards.length > 1 ? 'q quits, j/k another feature' : 'q quits'
  const foot = paint(fit(terminalText(` ${keys} · ${note}`, 400), width), ['dim'], look)
  if (shown === undefined) return filled([' nothing to show yet'], foot, size.height)
  const list = dashboards.length > 1 ? listOf(dashboards, selected, look) : []
  const head = headOf(shown, look)
  const room = size.height - list.length - head.length - 1
  return filled([...list, ...head, ...bodyOf(shown, room, look)], foot, size.height)
}

function filled(lines: readonly string[], foot: string, height: number): string[] {
  const room = Math.max(0, height - 1)
  const cut = lines.slice(0, room)
  return [...cut, ...Array<string>(room - cut.length).fill(''), foot]
}

/** One line a feature, those around the selected one where there are many. */
function listOf(dashboards: readonly Dashboard[], selected: number, look: Size): string[] {
  const most = Math.max(3, Math.floor(look.height / 4))
  const from = Math.max(0, Math.min(selected - Math.floor(most / 2), dashboards.length - most))
  const rows = dashboards.slice(from, from + most).map((one, at) => {
    const isChosen = from + at === selected
    const { status, counts } = one
    const done = `${bar(counts.passed, counts.total, 8)} ${counts.passed}/${counts.total}`
    const name = pad(terminalText(one.feature, 100), Math.min(24, Math.floor(look.width / 3)))
    const left = `${isChosen ? '›' : ' '} ${name} `
    const mark = `${status.mark} ${status.title.padEnd(8)}`
    const room = look.width - textWidth(left) - textWidth(mark) - 1
    const rest = fit(terminalText(`${done}  ${one.headline}`, 300), Math.max(0, room))
    return `${paint(left, isChosen ? ['bold'] : [], look)}${paint(mark, ['bold', status.colour], look)} ${rest}`
  })
  const hidden = dashboards.length - rows.length
  const title = hidden > 0 ? `Features (${hidden} more)` : 'Features'
  return [rule(title, look.width, look), ...rows]
}

/** Status, and what to do: in the colour of how it stands. */
function headOf(one: Dashboard, look: Size): string[] {
  const inner = look.width - 4
  const { mark, title, colour } = one.status
  const clock = `${new Date(one.now).toISOString().slice(11, 19)} UTC`
  const state = `${mark} ${title}`
  const room = inner - textWidth(state) - 2 - (inner >= NARROW ? clock.length + 2 : 0)
  const name = terminalText([one.branch, one.project].filter(Boolean).join(' · '), 200)
  const end = inner >= NARROW ? `  ${paint(clock, ['dim'], look)}` : ''
  const first = `${paint(state, ['bold', colour], look)}  ${pad(name, room)}${end}`
  const short = look.height < 30 ? 2 : 4
  const says = paragraph(one.headline, inner, short)
  const next = paragraph(`Next: ${one.next}`, inner, short)
  const needs = one.needs === null ? [] : paragraph(one.needs, inner, short)
  const rows = [
    first,
    ...says.map((line) => paint(pad(line, inner), ['bold'], look)),
    ...next.map((line) => paint(pad(line, inner), one.isCalling ? ['bold', 'yellow'] : [], look)),
    ...needs.map((line) => paint(pad(line, inner), ['yellow'], look)),
  ]
  return boxed(rows, inner, [colour], look).split('\n')
}

/** At most so many lines; what is cut off shows that it is. */
function paragraph(text: string, width: number, most: number): string[] {
  const lines = wrap(terminalText(text, 600), width)
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), fit(lines.slice(most - 1).join(' '), width)]
}

/** `least`: rows that it gets before others get more. */
type Section = { title: string; lines: string[]; least: number }

function bodyOf(one: Dashboard, room: number, look: Size): string[] {
  const { width } = look
  const figures = figureLines(one, look)
  const left = Math.max(0, room - figures.length)
  if (width < TWO_COLUMNS) {
    const rest = [exits, iterations, stories].map((section) => section(one, width, look))
    return [...figures, ...stacked([...nowOf(one, width, look), ...rest], left, look, width)]
  }
  const column = Math.floor((width - 3) / 2)
  const first = stacked([...nowOf(one, column, look), iterations(one, column, look)], left, look, column)
  const second = stacked([exits(one, column, look), stories(one, column, look)], left, look, column)
  const rows = Math.max(first.length, second.length)
  const beside = (at: number) => `${padded(first[at] ?? '', column)}   ${second[at] ?? ''}`
  return [...figures, ...Array.from({ length: rows }, (_, at) => beside(at))]
}

/** Bars and figures, each behind its name. */
function figureLines(one: Dashboard, look: Size): string[] {
  const { width } = look
  const column = width < NARROW ? 8 : 10
  const cells = Math.max(6, Math.min(30, Math.floor(width / 4)))
  const row = (name: string, text: string, colours: readonly Colour[] = []) =>
    ` ${paint(name.padEnd(column), ['dim'], look)}${paint(fit(terminalText(text, 400), width - column - 2), colours, look)}`
  const { passed, total } = one.counts
  const count = ` ${passed}/${total}  ${standingsOf(one.bar.filter(([standing]) => standing !== 'passed'))}`
  const { used, most } = one.calls
  const calls = most === null || width < NARROW ? '' : `${bar(used, most, cells)} `
  const { position } = one.circuit
  const outlook =
    one.outlook === null ? [] : paragraph(one.outlook, width - column - 2, look.height < HIGH ? 1 : 2)
  return [
    ` ${paint('Stories'.padEnd(column), ['dim'], look)}${storyBar(one.bar, total, cells, look)}${fit(count, Math.max(0, width - column - cells - 2))}`,
    row('Calls/h', `${calls}${callsWords(one.calls, one.now)}`, one.calls.isHeld ? ['yellow'] : []),
    row('Circuit', one.circuit.text, CIRCUIT[position]),
    ...packed(one.figures, width - 2).map((line) => ` ${line}`),
    ...outlook.map((line, at) => row(at === 0 ? 'Outlook' : '', line)),
  ]
}

/** `3 passed, 1 in work`. */
function standingsOf(parts: Dashboard['bar']): string {
  return parts.map(([standing, count]) => `${count} ${STANDINGS[standing].word}`).join(', ')
}

/** A cell for each way in which stories stand: none that there is gets lost. */
function storyBar(parts: Dashboard['bar'], total: number, cells: number, look: Look): string {
  if (total === 0) return '░'.repeat(cells)
  let left = cells
  const sized = parts.map(([standing, count]) => {
    const size = Math.max(1, Math.floor((count / total) * cells))
    left -= size
    return { standing, size }
  })
  // What rounding left, or took, is the largest part's.
  const largest = sized.reduce((most, one) => (one.size > most.size ? one : most))
  largest.size = Math.max(1, largest.size + left)
  const painted = sized.map(({ standing, size }) => {
    const [cell, colours] = CELLS[standing]
    return paint(cell.repeat(size), colours, look)
  })
  return painted.join('')
}

/** Names with their values, as many a line as fit. */
function packed(fields: readonly (readonly [string, string])[], width: number): string[] {
  const lines: string[] = []
  for (const [name, value] of fields) {
    const part = `${name} ${terminalText(value, 60)}`
    const last = lines.at(-1)
    if (last !== undefined && textWidth(last) + textWidth(part) + 3 <= width)
      lines[lines.length - 1] = `${last} · ${part}`
    else lines.push(fit(part, width))
  }
  return lines
}

function nowOf({ current, lines, status, now }: Dashboard, width: number, look: Look): Section[] {
  const room = width - 2
  const shown = lines
    .map((line) => ` ${fit(terminalText(line, room * 4), room)}`)
    .filter((line) => line.trim() !== '')
  const last: Section = { title: 'Last lines', lines: shown, least: 5 }
  if (current === null) return shown.length === 0 ? [] : [last]
  const facts = `${attemptOf(current)} · ${current.doing} · ${humanMs(Math.max(0, now - current.startedAt))}`
  const about = [
    ` ${paint(fit(terminalText(current.title), room), ['bold'], look)}`,
    ` ${paint(fit(facts, room), [status.colour], look)}`,
    ...(current.said === '' ? [] : [` ${fit(terminalText(`the agent says: ${current.said}`), room)}`]),
    ...(current.before === ''
      ? []
      : [` ${paint(fit(terminalText(`before: ${current.before}`), room), ['yellow'], look)}`]),
  ]
  return [{ title: `Now: ${current.id}`, lines: about, least: 3 }, ...(shown.length === 0 ? [] : [last])]
}

function attemptOf({ attempt, mostAttempts }: NonNullable<Dashboard['current']>): string {
  return `attempt ${attempt}${mostAttempts === null ? '' : ` of ${mostAttempts}`}`
}

function exits({ exits: all }: Dashboard, width: number, look: Look): Section {
  const lines = all.map(({ name, text, level }) => {
    const [mark, colours] = LEVELS[level]
    const label = `${mark} ${name.padEnd(13)}`
    return ` ${paint(label, colours, look)}${fit(terminalText(text, 200), width - textWidth(label) - 2)}`
  })
  return { title: 'Ends when', lines, least: 3 }
}

function iterations({ timeline }: Dashboard, width: number, look: Look): Section {
  const lines = timeline.map(({ iteration, storyId, result, ms, costUsd, summary }) => {
    const [mark, colour] = RESULTS[result] ?? ['?', 'dim']
    const cost = costUsd > 0 ? ` ${usd(costUsd)}` : ''
    const facts = `#${iteration} ${fit(terminalText(storyId, 64), 16)} ${humanMs(ms)}${cost}`
    return ` ${paint(mark, [colour], look)} ${fit(terminalText(`${facts}  ${result === 'passed' ? '' : summary}`.trimEnd(), 300), width - 4)}`
  })
  return { title: 'Last iterations', lines, least: 3 }
}

function stories({ stories: all, counts }: Dashboard, width: number, look: Look): Section {
  const lines = all.map(({ id, title, standing, aside }) => {
    const { box } = STANDINGS[standing]
    const text = `${terminalText(id, 64)}  ${terminalText(title, 200)}${aside === '' ? '' : `  (${terminalText(aside, 200)})`}`
    return ` ${paint(fit(`${box} ${text}`, width - 2), CELLS[standing][1], look)}`
  })
  return { title: `Stories (${counts.total})`, lines, least: 4 }
}

/** Sections below each other: each gets its least, the stories before what can be done without, and what is left goes round. */
function stacked(sections: readonly Section[], room: number, look: Look, width: number): string[] {
  const sized = sections.filter(({ lines }) => lines.length > 0).map((one) => ({ ...one, rows: 0 }))
  let left = room
  const weight = ({ title }: Section) => (title.startsWith('Now') ? 0 : title.startsWith('Stories') ? 1 : 2)
  const isLow = room < LOW
  for (const one of sized.toSorted((one, other) => weight(one) - weight(other))) {
    const rows = Math.min(isLow ? 2 : one.least, one.lines.length)
    if (left < 2) break
    one.rows = Math.min(rows, left - 1)
    left -= one.rows + 1
  }
  for (let grows = true; grows && left > 0; ) {
    grows = false
    for (const one of sized) {
      if (left === 0 || one.rows === 0 || one.rows === one.lines.length) continue
      one.rows += 1
      left -= 1
      grows = true
    }
  }
  return sized.flatMap(({ title, lines, rows }) => {
    if (rows === 0) return []
    // The newest of what was said stands last.
    const shown = title === 'Last lines' ? lines.slice(-rows) : lines.slice(0, rows)
    return [rule(title, width, look), ...shown]
  })
}

function rule(title: string, width: number, look: Look): string {
  const name = fit(terminalText(title, 100), width - 6)
  return paint(`── ${name} ${'─'.repeat(Math.max(0, width - textWidth(name) - 4))}`, ['dim'], look)
}

/** Colours take no columns. */
function padded(line: string, columns: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
  return line + ' '.repeat(Math.max(0, columns - textWidth(line.replace(/\u001b\[[\d;]*m/g, ''))))
}

/** Where there is no terminal: one line for each thing there is to say. */
export function plainFrame({ dashboards, note }: Pick<Frame, 'dashboards' | 'note'>): string[] {
  return [...dashboards.flatMap((one) => [...plainOf(one), '']), terminalText(note, 400)]
}

function plainOf(one: Dashboard): string[] {
  const { status, current, counts, stories: shown } = one
  const facts = current === null ? [] : [attemptOf(current), current.doing, humanMs(current.ms)]
  const rows: (readonly [name: string, value: string | null])[] = [
    ['Status', `${status.title}, ${one.headline}`],
    ['Next', one.next],
    ['Needs', one.needs],
    ['Stories', standingsOf(one.bar)],
    ...one.figures,
    ['Calls in the last hour', callsWords(one.calls, one.now)],
    ['Circuit', one.circuit.text],
    ['Outlook', one.outlook],
    ['Now', current === null ? null : `${current.id} ${current.title}: ${facts.join(', ')}`],
    ...one.exits.map(({ name, text }) => [`Ends when: ${name}`, text] as const),
    ...one.timeline
      .slice(0, 3)
      .map(
        (entry) =>
          [`Iteration ${entry.iteration}`, `${entry.storyId} ${entry.result}: ${entry.summary}`] as const,
      ),
    ...one.lines.slice(-5).map((line) => ['Says', line] as const),
  ]
  const more = counts.total > shown.length ? ` (of ${many(counts.total, 'story', 'stories')})` : ''
  return [
    `=== ${terminalText(one.branch, 200)}${more} ===`,
    ...rows.flatMap(([name, value]) => (value === null ? [] : [terminalText(`${name}: ${value}`, 600)])),
  ]
}
