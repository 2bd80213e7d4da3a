// The two pictures of a report: the timeline of iterations, and the graph of dependencies.
import { groupBy } from '../../engine/model/each-once.ts'
import { oneLine } from '../../engine/model/text.ts'
import type { Iteration } from '../../engine/model/usage-totals.ts'
import { formatDuration, pluralize } from '../figures.ts'
import { RESULTS, STORY_STATUSES } from '../outcomes.ts'
import { dependenciesOf, type Edge, type StoryView } from '../stories.ts'
import type { View } from '../view.ts'
import { html, icon, type Markup, nothing } from './markup.ts'

const MAX_LANES = 60
const LANE = 30
const HEAD = 26
/** A longer pause is drawn at this length, with its true length where it ends. */
const MAX_GAP_MS = 60_000
const MAX_MARKS = 12

type PlacedAttempt = { entry: Iteration; from: number; to: number }
type Mark = { at: number; label: string }

/** The timeline: a lane for each story, time from left to right, long pauses shortened. */
export function timelinePicture({ timeline, stories }: View): Markup {
  const worked = timeline.filter(({ ms }) => ms > 0)
  if (worked.length === 0) return nothing
  const { placed, marks, length } = layOut(worked)
  const all = [...groupBy(placed, ({ entry }) => entry.storyId)]
  const lanes = all.slice(-MAX_LANES)
  const titles = new Map(stories.map(({ id, title }) => [id, title]))
  const percent = (at: number) => `${Math.round((at / length) * 10_000) / 100}%`
  const height = HEAD + lanes.length * LANE + 4
  const drawn = lanes.map(([id, attempts], at) => {
    const top = HEAD + at * LANE
    return html`<text x="0" y="${top + 11}"><tspan class="strong">${oneLine(id, 40)}</tspan> ${oneLine(titles.get(id) ?? '', 60)}</text>
${attempts.map((one) => attemptShape(one, top + 15, percent))}${attempts.map((one) => signShape(one, top + 24, percent))}`
  })
  const lines = marks
    .slice(-MAX_MARKS)
    .map(
      ({ at, label }) =>
        html`<line class="mark" x1="${percent(at)}" x2="${percent(at)}" y1="14" y2="${height}"/><text class="tick" x="${percent(at)}" y="10">${label}</text>`,
    )
  const more =
    all.length > lanes.length
      ? html`<p class="aside">The ${lanes.length} stories that sessions worked on last; ${all.length - lanes.length} earlier ones are not shown.</p>`
      : nothing
  return html`<svg class="timeline" role="img" aria-label="${pluralize(worked.length, 'iteration')} in order of time" width="100%" height="${height}">${lines}${drawn}</svg>
<p class="legend"><i class="agent"></i> agent <i class="gates"></i> gates <i class="rest"></i> other <b class="good">✔</b> passed <b class="bad">✘</b> rejected <b>◆</b> a candidate that was not chosen <b>↺</b> reset <b>↩</b> given back, does not count as an attempt</p>${more}`
}

/** Positions of attempts with long pauses shortened, and marks where jobs begin; all values in milliseconds, up to `length`. */
function layOut(entries: readonly Iteration[]): { placed: PlacedAttempt[]; marks: Mark[]; length: number } {
  const placed: PlacedAttempt[] = []
  const marks: Mark[] = []
  let [at, before, job] = [0, entries[0]?.at ?? 0, 0]
  for (const entry of entries) {
    const gap = Math.max(0, entry.at - entry.ms - before)
    at += Math.min(gap, MAX_GAP_MS)
    const begins = entry.job === job ? [] : [`job ${entry.job}`]
    const waited = gap > 5 * MAX_GAP_MS ? [`after ${formatDuration(gap)}`] : []
    const label = [...begins, ...waited].join(' ')
    if (label !== '') marks.push({ at, label })
    placed.push({ entry, from: at, to: at + entry.ms })
    at += entry.ms
    before = entry.at
    job = entry.job
  }
  // Labels that would overlap are left out.
  const isApart = (mark: Mark, last: Mark | undefined) =>
    last === undefined || mark.at - last.at > at * (0.05 + 0.008 * last.label.length)
  const shown: Mark[] = []
  for (const mark of marks) if (isApart(mark, shown.at(-1))) shown.push(mark)
  return { placed, marks: shown, length: Math.max(1, at) }
}

const KINDS: Readonly<Record<string, string>> = { green: 'good', red: 'bad' }

function attemptShape(
  { entry, from, to }: PlacedAttempt,
  top: number,
  percent: (at: number) => string,
): Markup {
  const { agentMs = 0, gatesMs = 0, ms } = entry
  const agent = Math.min(agentMs, ms)
  const gates = Math.min(gatesMs, ms - agent)
  const times = `${formatDuration(ms)}, agent ${formatDuration(agent)}, gates ${formatDuration(gates)}`
  const tooltip = `${oneLine(entry.storyId, 40)}, attempt ${entry.attempt}: ${oneLine(entry.summary, 160)} (${times})`
  const bar = (name: string, at: number, length: number) =>
    length > 0
      ? html`<rect class="${name}" x="${percent(at)}" y="${top}" width="${percent(length)}" height="9"/>`
      : nothing
  return html`<g><title>${tooltip}</title>${bar('rest', from, to - from)}${bar('agent', from, agent)}${bar('gates', from + agent, gates)}</g>`
}

/** Drawn after all bars of a lane: the next attempt begins where this one ends. */
function signShape({ entry, to }: PlacedAttempt, y: number, percent: (at: number) => string): Markup {
  const { mark, colour } = RESULTS[entry.result]
  return html`<g class="${KINDS[colour] ?? ''}"><text class="sign" x="${percent(to)}" y="${y}">${mark}</text></g>`
}

/** A larger graph is unreadable. */
const MAX_STORIES = 200
const MAX_EDGES = 600
const [WIDE, HIGH, ACROSS, DOWN] = [116, 26, 56, 10]

/** The graph of dependencies: a column for each level, stories coloured by status. */
export function dependencyPicture(stories: readonly StoryView[]): Markup {
  const { edges, drawn } = dependenciesOf(stories)
  if (edges.length === 0) return nothing
  if (drawn.length > MAX_STORIES || edges.length > MAX_EDGES)
    return html`<p class="aside">${pluralize(drawn.length, 'story', 'stories')} with ${edges.length} dependencies are too many to draw. Each story above lists its dependencies.</p>`
  const columns = assignColumns(edges)
  const rows = new Map<number, number>()
  const positions = new Map(
    drawn.map(({ at }) => {
      const column = columns.get(at) ?? 0
      const row = rows.get(column) ?? 0
      rows.set(column, row + 1)
      return [at, { x: column * (WIDE + ACROSS) + 1, y: row * (HIGH + DOWN) + 1 }]
    }),
  )
  const positionOf = (at: number) => positions.get(at) ?? { x: 0, y: 0 }
  const width = (Math.max(...rows.keys()) + 1) * (WIDE + ACROSS) - ACROSS + 2
  const height = Math.max(...rows.values()) * (HIGH + DOWN) - DOWN + 2
  const lines = edges.map(({ from, to }) => {
    const [one, other] = [positionOf(from), positionOf(to)]
    const [x1, y1, x2, y2] = [one.x + WIDE, one.y + HIGH / 2, other.x, other.y + HIGH / 2]
    return html`<path d="M${x1} ${y1}C${x1 + ACROSS / 2} ${y1} ${x2 - ACROSS / 2} ${y2} ${x2} ${y2}"/>`
  })
  const nodes = drawn.map(({ at, story }) => {
    const { x, y } = positionOf(at)
    const { sign, word } = STORY_STATUSES[story.status]
    return html`<a href="#s${at}"><g class="s-${story.status}"><title>${oneLine(story.id, 64)}: ${oneLine(story.title, 120)} (${word})</title><rect x="${x}" y="${y}" width="${WIDE}" height="${HIGH}" rx="4"/>${icon(sign, { x: x + 8, y: y + 7 })}<text x="${x + 25}" y="${y + 17}">${oneLine(story.id, 11)}</text></g></a>`
  })
  return html`<div class="wide"><svg class="graph" role="img" aria-label="what depends on what" width="${width}" height="${height}">${lines}${nodes}</svg></div>`
}

/** The column of each story: the length of the longest path to it from a story without dependencies. */
function assignColumns(edges: readonly Edge[]): Map<number, number> {
  const columns = new Map<number, number>()
  // No path has more edges than the graph. This also ends a cycle, although a valid state has none.
  for (let turn = 0; turn < edges.length; turn += 1) {
    const misplaced = edges.filter(({ from, to }) => (columns.get(to) ?? 0) <= (columns.get(from) ?? 0))
    if (misplaced.length === 0) break
    for (const { from, to } of misplaced)
      columns.set(to, Math.max(columns.get(to) ?? 0, (columns.get(from) ?? 0) + 1))
  }
  return columns
}
