// One frame of the live dashboard: a list of all features, and the selected one below it, in lines that fit the terminal. Without a
// terminal, the same as plain lines.
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
  /** The last line: the source of the views, and errors in reading them. */
  note: string
}

/** The maximum number of columns: wider lines are hard to read. */
const MAX_WIDTH = 120
/** A terminal with fewer columns shows no bar of calls. */
const NARROW_WIDTH = 60

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
  const width = Math.min(MAX_WIDTH, Math.max(20, size.width))
  const look = { ...size, width }
  const view = views[selected] ?? views[0]
  const keys = views.length > 1 ? 'q quits, j/k another feature' : 'q quits'
  const foot = paint(fit(terminalText(` ${keys} · ${note}`, 400), width), ['dim'], look)
  if (view === undefined) return fillHeight([' nothing to show yet'], foot, size.height)
  const list = views.length > 1 ? featureRows(views, selected, look) : []
  const head = headerRows(view, look)
  const room = size.height - list.length - head.length - 1
  return fillHeight([...list, ...head, ...bodyRows(view, room, look)], foot, size.height)
}

function fillHeight(lines: readonly string[], foot: string, height: number): string[] {
  const room = Math.max(0, height - 1)
  const shown = lines.slice(0, room)
  return [...shown, ...Array<string>(room - shown.length).fill(''), foot]
}

/** One line for each feature. If there are too many, those around the selected one. */
function featureRows(views: readonly LiveView[], selected: number, look: Size): string[] {
  const maxRows = Math.max(3, Math.floor(look.height / 4))
  const from = Math.max(0, Math.min(selected - Math.floor(maxRows / 2), views.length - maxRows))
  const rows = views.slice(from, from + maxRows).map((view, index) => {
    const isSelected = from + index === selected
    const { status, counts, feature, headline } = view
    const name = pad(terminalText(feature, 100), Math.min(24, Math.floor(look.width / 3)))
    const left = `${isSelected ? '›' : ' '} ${name} `
    const mark = `${status.mark} ${status.title.padEnd(8)}`
    const progress = `${textBar(counts.passed, counts.total, 8)} ${counts.passed}/${counts.total}`
    const room = look.width - textWidth(left) - textWidth(mark) - 1
    const rest = fit(terminalText(`${progress}  ${headline.text}`, 300), Math.max(0, room))
    return `${paint(left, isSelected ? ['bold'] : [], look)}${paint(mark, ['bold', status.colour], look)} ${rest}`
  })
  const hidden = views.length - rows.length
  const title = hidden > 0 ? `Features (${hidden} more)` : 'Features'
  return [rule(title, look.width, look), ...rows]
}

/** With fewer rows the header has no frame, and each of its texts has one row, to leave room for the stories. */
const LOW_HEIGHT = 30

/** Status and next action, in the colour of the status. */
function headerRows(view: LiveView, look: Size): string[] {
  const isLow = look.height < LOW_HEIGHT
  const innerWidth = look.width - (isLow ? 2 : 4)
  const { mark, title, colour } = view.status
  const state = `${mark} ${title}`
  const name = terminalText([view.branch, view.project].filter(Boolean).join(' · '), 200)
  const stateRow = `${paint(state, ['bold', colour], look)}  ${pad(name, innerWidth - textWidth(state) - 2)}`
  const paragraphRows = (text: string, colours: readonly Colour[]) =>
    paragraph(text, innerWidth, isLow ? 1 : 4).map((line) => paint(pad(line, innerWidth), colours, look))
  const rows = [
    stateRow,
    ...paragraphRows(view.headline.text, ['bold']),
    ...paragraphRows(`Next: ${toPlainText(view.next)}`, view.isCalling ? ['bold', 'yellow'] : []),
    ...(view.needs === null ? [] : paragraphRows(toPlainText(view.needs), ['yellow'])),
  ]
  return isLow ? rows.map((row) => ` ${row}`) : boxed(rows, innerWidth, [colour], look).split('\n')
}

/** The text in at most `maxLines` lines; a text that is cut ends with `…`. */
function paragraph(text: string, width: number, maxLines: number): string[] {
  const lines = wrap(terminalText(text, 600), width)
  if (lines.length <= maxLines) return lines
  const whole = lines.slice(0, maxLines - 1)
  return [...whole, fit(lines.slice(maxLines - 1).join(' '), width)]
}

/** `all`: the number of lines before any were left out; without it, `lines` has all of them. */
type Section = { title: string; lines: string[]; all?: number }

/** The progress of the stories, and below it the sections, the most important first. */
function bodyRows(view: LiveView, room: number, look: Size): string[] {
  const [progress = '', ...figures] = figureLines(view, look)
  const otherSections = [
    nowSection(view, look),
    { title: 'Run', lines: figures },
    lastLinesSection(view, look),
    stopSection(view, look),
    iterationSection(view, look),
  ]
  return [progress, ...stackSections(storySection(view, look), otherSections, room - 1, look)]
}

/** Bars and figures, each after its name; the progress of the stories comes first. */
function figureLines(view: LiveView, look: Size): string[] {
  const { width } = look
  const column = 10
  const cells = Math.max(6, Math.min(30, Math.floor(width / 4)))
  const row = (name: string, text: string, colours: readonly Colour[] = []) =>
    ` ${paint(name.padEnd(column), ['dim'], look)}${paint(fit(terminalText(text, 400), width - column - 2), colours, look)}`
  const { passed, total } = view.counts
  const progress = `${textBar(passed, total, cells)} ${passed}/${total}`
  const otherCounts = formatStatusCounts(view.bar.filter(([status]) => status !== 'passed'))
  const { used, most } = view.calls
  const callsBar = most === null || width < NARROW_WIDTH ? '' : `${textBar(used, most, cells)} `
  const calls = `${callsBar}${describeCalls(view.calls, view.now)}`
  const figures = view.figures.map(([name, value]) => `${name} ${terminalText(value, 60)}`).join(' · ')
  return [
    row('Stories', [progress, otherCounts].filter(Boolean).join(' · ')),
    row('Health', view.circuit.text, HEALTH[view.circuit.position]),
    ...(view.outlook === null ? [] : [row('Remaining', view.outlook)]),
    row('Calls/h', calls, view.calls.isHeld ? ['yellow'] : []),
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
    const lines = workers.map((worker) =>
      line(`${worker.id} · ${describeWorker(worker, now)}`, status.colour),
    )
    return { title: `Now: ${describeLanes(workers, lanes)}`, lines }
  }
  const elapsed = formatDuration(Math.max(0, now - first.startedAt))
  const lines = [
    line(first.title, 'bold'),
    line(`${first.which} · ${first.doing} · ${elapsed}`, status.colour),
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

function stopSection({ exits: conditions }: LiveView, look: Size): Section {
  const lines = conditions.map(({ name, text, level }) => {
    const label = `${LEVELS[level]} ${name.padEnd(13)}`
    const room = look.width - textWidth(label) - 2
    return ` ${paint(label, LEVEL_COLOURS[level], look)}${fit(terminalText(text, 200), room)}`
  })
  return { title: 'End conditions', lines }
}

function iterationSection({ timeline }: LiveView, look: Size): Section {
  const newest = timeline.slice(-MAX_ITERATIONS).reverse()
  const lines = newest.map(({ iteration, storyId, result, ms, costUsd, summary }) => {
    const { mark, colour } = RESULTS[result]
    const cost = costUsd > 0 ? ` ${formatUsd(costUsd)}` : ''
    const facts = `#${iteration} ${fit(terminalText(storyId, 64), 16)} ${formatDuration(ms)}${cost}`
    const text = `${facts}  ${result === 'passed' ? '' : summary}`.trimEnd()
    return ` ${paint(mark, [colour], look)} ${fit(terminalText(text, 300), look.width - 4)}`
  })
  return { title: 'Last iterations', lines }
}

function storySection({ ranked, counts }: LiveView, look: Size): Section {
  const lines = ranked.slice(0, MAX_STORIES).map(({ id, title, status, aside }) => {
    const { box } = STORY_STATUSES[status]
    const note = aside === '' ? '' : `  (${terminalText(aside, 200)})`
    const text = `${terminalText(id, 64)}  ${terminalText(title, 200)}${note}`
    return ` ${paint(fit(`${box} ${text}`, look.width - 2), COLOURS[status] ?? [], look)}`
  })
  return { title: `Stories (${counts.total})`, lines, all: counts.total }
}

/**
 * Sections below each other. First the first section gets up to half of the room. Then each section gets up to two rows, and then up
 * to five. The remaining room goes to the sections in their order.
 */
function stackSections(first: Section, others: readonly Section[], room: number, look: Size): string[] {
  const firstSized = { ...first, rows: 0 }
  const sized = [firstSized, ...others.map((section) => ({ ...section, rows: 0 }))]
  let freeRows = room
  const grow = (section: Section & { rows: number }, maxRows: number) => {
    const titleRows = section.rows === 0 ? 1 : 0
    const wanted = Math.min(maxRows, section.lines.length) - section.rows
    const added = Math.min(wanted, freeRows - titleRows)
    if (added <= 0) return
    section.rows += added
    freeRows -= added + titleRows
  }
  grow(firstSized, Math.floor(room / 2))
  for (const maxRows of [2, 5, room]) for (const section of sized) grow(section, maxRows)
  return sized.flatMap(({ title, lines, rows, all = lines.length }) => {
    if (rows === 0) return []
    // The newest line is the last one.
    const shown = title === LAST_LINES ? lines.slice(-rows) : lines.slice(0, rows)
    const isCounted = title === first.title && all > rows
    const counted = [...shown.slice(0, -1), paint(`  + ${all - rows + 1} more`, ['dim'], look)]
    return [rule(title, look.width, look), ...(isCounted ? counted : shown)]
  })
}

function rule(title: string, width: number, look: Look): string {
  const name = fit(terminalText(title, 100), width - 6)
  return paint(`── ${name} ${'─'.repeat(Math.max(0, width - textWidth(name) - 4))}`, ['dim'], look)
}

/** The frame without a terminal: one line for each figure. */
export function plainFrame({ views, note }: Pick<Frame, 'views' | 'note'>): string[] {
  return [...views.flatMap((view) => [...plainLines(view), '']), terminalText(note, 400)]
}

type PlainRow = readonly [name: string, value: string | null]

function plainLines(view: LiveView): string[] {
  const { status, workers, counts, now } = view
  const newestIterations = view.timeline.slice(-3).reverse()
  const rows: PlainRow[] = [
    ['Status', `${status.title}, ${view.headline.text}`],
    ['Next', toPlainText(view.next)],
    ['Needs attention', view.needs === null ? null : toPlainText(view.needs)],
    ['Stories', formatStatusCounts(view.bar)],
    ...view.figures,
    ['Health', view.circuit.text],
    ['Remaining', view.outlook],
    ['Calls in the last hour', describeCalls(view.calls, now)],
    ...workers.map(
      (worker): PlainRow => ['Now', `${worker.id} ${worker.title}: ${describeWorker(worker, now)}`],
    ),
    ...view.exits.map(({ name, text }): PlainRow => [`End condition: ${name}`, text]),
    ...newestIterations.map(
      ({ iteration, storyId, result, summary }): PlainRow => [
        `Iteration ${iteration}`,
        `${storyId} ${result}: ${summary}`,
      ],
    ),
    ...view.lines.slice(-5).map((line): PlainRow => ['Says', line]),
  ]
  const more = counts.total > MAX_STORIES ? ` (of ${pluralize(counts.total, 'story', 'stories')})` : ''
  return [
    `=== ${terminalText(view.branch, 200)}${more} ===`,
    ...rows.flatMap(([name, value]) => (value === null ? [] : [terminalText(`${name}: ${value}`, 600)])),
  ]
}
