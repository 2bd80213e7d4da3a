// One frame of the live dashboard: a list of all features, and the selected one below it, in lines that fit the terminal. The same
// as plain lines where there is no terminal.
import { terminalText } from '../escape.ts'
import { formatDuration, formatUsd, pluralize, textBar } from '../figures.ts'
import { describeLanes, describeWorker } from '../in-work.ts'
import type { LiveView } from '../live-view.ts'
import { describeCalls, LEVELS, type StopCondition } from '../monitor-view.ts'
import { type Colour, RESULTS, STORY_STATUSES, type StoryStatus } from '../outcomes.ts'
import { toPlainText } from '../sentence.ts'
import { formatStatusCounts } from '../stories.ts'
import { boxed } from './panels.ts'
import { type Look, paint } from './terminal-line.ts'
import { fit, pad, textWidth, wrap } from './width.ts'

/** `height` in rows. */
export type Size = Look & { height: number }

export type Frame = {
  views: readonly LiveView[]
  /** Index of the view that is shown in full. */
  selected: number
  /** The last line: where the views come from, and errors in reading them. */
  note: string
}

/** The most columns: wider lines are hard to read. */
const WIDEST = 120
const NARROW = 60

/** Further stories and iterations are not shown. */
const MAX_STORIES = 200
const MAX_ITERATIONS = 12

const COLOURS: Readonly<Partial<Record<StoryStatus, readonly Colour[]>>> = {
  passed: ['green'],
  working: ['cyan'],
  rejected: ['yellow'],
  blocked: ['red'],
}
const LEVEL_COLOURS: Readonly<Record<StopCondition['level'], readonly Colour[]>> = {
  good: ['green'],
  far: [],
  near: ['yellow'],
  met: ['red', 'bold'],
}
const HEALTH = { closed: [], 'half-open': ['yellow'], open: ['red'] } satisfies Record<string, Colour[]>

/** Exactly `height` lines of at most `width` columns. */
export function frameLines({ views, selected, note }: Frame, size: Size): string[] {
  const width = Math.min(WIDEST, Math.max(20, size.width))
  const look = { ...size, width }
  const shown = views[selected] ?? views[0]
  const keys = views.length > 1 ? 'q quits, j/k another feature' : 'q quits'
  const foot = paint(fit(terminalText(` ${keys} · ${note}`, 400), width), ['dim'], look)
  if (shown === undefined) return fillHeight([' nothing to show yet'], foot, size.height)
  const list = views.length > 1 ? featureRows(views, selected, look) : []
  const head = headerRows(shown, look)
  const room = size.height - list.length - head.length - 1
  return fillHeight([...list, ...head, ...bodyRows(shown, room, look)], foot, size.height)
}

function fillHeight(lines: readonly string[], foot: string, height: number): string[] {
  const room = Math.max(0, height - 1)
  const cut = lines.slice(0, room)
  return [...cut, ...Array<string>(room - cut.length).fill(''), foot]
}

/** One line for each feature; where there are many, those around the selected one. */
function featureRows(views: readonly LiveView[], selected: number, look: Size): string[] {
  const most = Math.max(3, Math.floor(look.height / 4))
  const from = Math.max(0, Math.min(selected - Math.floor(most / 2), views.length - most))
  const rows = views.slice(from, from + most).map((one, at) => {
    const isChosen = from + at === selected
    const { status, counts } = one
    const done = `${textBar(counts.passed, counts.total, 8)} ${counts.passed}/${counts.total}`
    const name = pad(terminalText(one.feature, 100), Math.min(24, Math.floor(look.width / 3)))
    const left = `${isChosen ? '›' : ' '} ${name} `
    const mark = `${status.mark} ${status.title.padEnd(8)}`
    const room = look.width - textWidth(left) - textWidth(mark) - 1
    const rest = fit(terminalText(`${done}  ${one.headline.text}`, 300), Math.max(0, room))
    return `${paint(left, isChosen ? ['bold'] : [], look)}${paint(mark, ['bold', status.colour], look)} ${rest}`
  })
  const hidden = views.length - rows.length
  const title = hidden > 0 ? `Features (${hidden} more)` : 'Features'
  return [rule(title, look.width, look), ...rows]
}

/** A terminal with fewer rows shows the header without a frame, and each text in one row, to leave room for the stories. */
const FEW_ROWS = 30

/** Status and next action, in the colour of the status. */
function headerRows(one: LiveView, look: Size): string[] {
  const isLow = look.height < FEW_ROWS
  const inner = look.width - (isLow ? 2 : 4)
  const { mark, title, colour } = one.status
  const state = `${mark} ${title}`
  const name = terminalText([one.branch, one.project].filter(Boolean).join(' · '), 200)
  const first = `${paint(state, ['bold', colour], look)}  ${pad(name, inner - textWidth(state) - 2)}`
  const rows = (text: string, colours: readonly Colour[]) =>
    paragraph(text, inner, isLow ? 1 : 4).map((line) => paint(pad(line, inner), colours, look))
  const shown = [
    first,
    ...rows(one.headline.text, ['bold']),
    ...rows(`Next: ${toPlainText(one.next)}`, one.isCalling ? ['bold', 'yellow'] : []),
    ...(one.needs === null ? [] : rows(toPlainText(one.needs), ['yellow'])),
  ]
  return isLow ? shown.map((row) => ` ${row}`) : boxed(shown, inner, [colour], look).split('\n')
}

/** The text in at most `most` lines; a text that is cut ends with `…`. */
function paragraph(text: string, width: number, most: number): string[] {
  const lines = wrap(terminalText(text, 600), width)
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), fit(lines.slice(most - 1).join(' '), width)]
}

/** `all`: how many lines there would be, to count those that are left out. */
type Section = { title: string; lines: string[]; all?: number }

/** The progress of the stories, and below it the sections, the most important first. */
function bodyRows(one: LiveView, room: number, look: Size): string[] {
  const [done, ...figures] = figureLines(one, look)
  const run = { title: 'Run', lines: figures }
  const others = [
    nowSection(one, look),
    run,
    lastLinesSection(one, look),
    stopSection(one, look),
    iterationSection(one, look),
  ]
  return [done ?? '', ...stackSections(storySection(one, look), others, room - 1, look)]
}

/** Bars and figures, each after its name; the progress of the stories comes first. */
function figureLines(one: LiveView, look: Size): string[] {
  const { width } = look
  const column = 10
  const cells = Math.max(6, Math.min(30, Math.floor(width / 4)))
  const row = (name: string, text: string, colours: readonly Colour[] = []) =>
    ` ${paint(name.padEnd(column), ['dim'], look)}${paint(fit(terminalText(text, 400), width - column - 2), colours, look)}`
  const { passed, total } = one.counts
  const others = formatStatusCounts(one.bar.filter(([status]) => status !== 'passed'))
  const { used, most } = one.calls
  const calls = most === null || width < NARROW ? '' : `${textBar(used, most, cells)} `
  const figures = one.figures.map(([name, value]) => `${name} ${terminalText(value, 60)}`).join(' · ')
  return [
    row(
      'Stories',
      [`${textBar(passed, total, cells)} ${passed}/${total}`, others].filter(Boolean).join(' · '),
    ),
    row('Health', one.circuit.text, HEALTH[one.circuit.position]),
    ...(one.outlook === null ? [] : [row('Remaining', one.outlook)]),
    row('Calls/h', `${calls}${describeCalls(one.calls, one.now)}`, one.calls.isHeld ? ['yellow'] : []),
    ...wrap(figures, width - 2).map((line) => ` ${line}`),
  ]
}

function nowSection({ workers, lanes, status, now }: LiveView, look: Size): Section {
  const [first, ...others] = workers
  if (first === undefined) return { title: 'Now', lines: [] }
  const line = (text: string, ...colours: readonly Colour[]) =>
    ` ${paint(fit(terminalText(text), look.width - 2), colours, look)}`
  if (others.length > 0) {
    // Titles are in the list of stories.
    const lines = workers.map((one) => line(`${one.id} · ${describeWorker(one, now)}`, status.colour))
    return { title: `Now: ${describeLanes(workers, lanes)}`, lines }
  }
  const lines = [
    line(first.title, 'bold'),
    line(
      `${first.which} · ${first.doing} · ${formatDuration(Math.max(0, now - first.startedAt))}`,
      status.colour,
    ),
    ...(first.before === '' ? [] : [line(`before: ${first.before}`, 'yellow')]),
  ]
  return { title: `Now: ${first.id}`, lines }
}

function lastLinesSection({ lines }: LiveView, { width }: Size): Section {
  const room = width - 2
  const shown = lines.map((line) => ` ${fit(terminalText(line, room * 4), room)}`)
  return { title: LAST_LINES, lines: shown.filter((line) => line.trim() !== '') }
}

const LAST_LINES = 'Last lines'

function stopSection({ exits: all }: LiveView, look: Size): Section {
  const lines = all.map(({ name, text, level }) => {
    const label = `${LEVELS[level]} ${name.padEnd(13)}`
    return ` ${paint(label, LEVEL_COLOURS[level], look)}${fit(terminalText(text, 200), look.width - textWidth(label) - 2)}`
  })
  return { title: 'Ends when', lines }
}

function iterationSection({ timeline }: LiveView, look: Size): Section {
  const newest = timeline.slice(-MAX_ITERATIONS).reverse()
  const lines = newest.map(({ iteration, storyId, result, ms, costUsd, summary }) => {
    const { mark, colour } = RESULTS[result]
    const cost = costUsd > 0 ? ` ${formatUsd(costUsd)}` : ''
    const facts = `#${iteration} ${fit(terminalText(storyId, 64), 16)} ${formatDuration(ms)}${cost}`
    return ` ${paint(mark, [colour], look)} ${fit(terminalText(`${facts}  ${result === 'passed' ? '' : summary}`.trimEnd(), 300), look.width - 4)}`
  })
  return { title: 'Last iterations', lines }
}

function storySection({ ranked, counts }: LiveView, look: Size): Section {
  const lines = ranked.slice(0, MAX_STORIES).map(({ id, title, status, aside }) => {
    const { box } = STORY_STATUSES[status]
    const text = `${terminalText(id, 64)}  ${terminalText(title, 200)}${aside === '' ? '' : `  (${terminalText(aside, 200)})`}`
    return ` ${paint(fit(`${box} ${text}`, look.width - 2), COLOURS[status] ?? [], look)}`
  })
  return { title: `Stories (${counts.total})`, lines, all: counts.total }
}

/**
 * Sections below each other. The first gets up to half of the room; then each gets up to two rows, then up to five; the remaining
 * room goes to the sections in their order.
 */
function stackSections(first: Section, others: readonly Section[], room: number, look: Size): string[] {
  const sized = [first, ...others].map((section) => ({ ...section, rows: 0 }))
  let left = room
  const grow = (one: Section & { rows: number }, most: number) => {
    const head = one.rows === 0 ? 1 : 0
    const more = Math.min(most - one.rows, one.lines.length - one.rows, left - head)
    if (more <= 0) return
    one.rows += more
    left -= more + head
  }
  for (const one of sized.slice(0, 1)) grow(one, Math.floor(room / 2))
  for (const most of [2, 5, room]) for (const one of sized) grow(one, most)
  return sized.flatMap(({ title, lines, rows, all = lines.length }) => {
    if (rows === 0) return []
    // The newest line is the last one.
    const shown = title === LAST_LINES ? lines.slice(-rows) : lines.slice(0, rows)
    const cut =
      title === first.title && all > rows
        ? [...shown.slice(0, -1), paint(`  + ${all - rows + 1} more`, ['dim'], look)]
        : shown
    return [rule(title, look.width, look), ...cut]
  })
}

function rule(title: string, width: number, look: Look): string {
  const name = fit(terminalText(title, 100), width - 6)
  return paint(`── ${name} ${'─'.repeat(Math.max(0, width - textWidth(name) - 4))}`, ['dim'], look)
}

/** The frame where there is no terminal: one line for each figure. */
export function plainFrame({ views, note }: Pick<Frame, 'views' | 'note'>): string[] {
  return [...views.flatMap((one) => [...plainLines(one), '']), terminalText(note, 400)]
}

function plainLines(one: LiveView): string[] {
  const { status, workers, counts, now } = one
  const rows: (readonly [name: string, value: string | null])[] = [
    ['Status', `${status.title}, ${one.headline.text}`],
    ['Next', toPlainText(one.next)],
    ['Needs attention', one.needs === null ? null : toPlainText(one.needs)],
    ['Stories', formatStatusCounts(one.bar)],
    ...one.figures,
    ['Health', one.circuit.text],
    ['Remaining', one.outlook],
    ['Calls in the last hour', describeCalls(one.calls, one.now)],
    ...workers.map((one) => ['Now', `${one.id} ${one.title}: ${describeWorker(one, now)}`] as const),
    ...one.exits.map(({ name, text }) => [`Ends when: ${name}`, text] as const),
    ...one.timeline
      .slice(-3)
      .reverse()
      .map(
        (entry) =>
          [`Iteration ${entry.iteration}`, `${entry.storyId} ${entry.result}: ${entry.summary}`] as const,
      ),
    ...one.lines.slice(-5).map((line) => ['Says', line] as const),
  ]
  const more = counts.total > MAX_STORIES ? ` (of ${pluralize(counts.total, 'story', 'stories')})` : ''
  return [
    `=== ${terminalText(one.branch, 200)}${more} ===`,
    ...rows.flatMap(([name, value]) => (value === null ? [] : [terminalText(`${name}: ${value}`, 600)])),
  ]
}
