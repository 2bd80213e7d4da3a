// The two pictures of a report: the iterations in time, and what depends on what.
import { grouped } from '../../model/each.ts'
import type { TimelineEntry } from '../../model/state.ts'
import { oneLine } from '../../model/text.ts'
import { STANDINGS } from '../outcomes.ts'
import { dependenciesOf, type Edge, type StoryView } from '../stories.ts'
import type { View } from '../view.ts'
import { humanMs, many, usd, utc } from '../words.ts'
import { html, type Markup, nothing } from './markup.ts'

const MOST_LANES = 60
const LANE = 30
const HEAD = 26
/** A pause beyond this is cut to its length, and told. */
const LONGEST_GAP_MS = 60_000
const MOST_MARKS = 24

type Placed = { entry: TimelineEntry; from: number; to: number }
type Mark = { at: number; label: string }

/** The iterations: a lane a story, from left to right the time that was worked; long waits are cut short. */
export function timelinePicture({ timeline, stories }: View): Markup {
  const worked = timeline.filter(({ ms }) => ms > 0)
  if (worked.length === 0) return nothing
  const { placed, marks, length } = placedIn(worked)
  const lanes = [...grouped(placed, ({ entry }) => entry.storyId)].slice(-MOST_LANES)
  const shown = new Set(lanes.map(([id]) => id))
  const titles = new Map(stories.map(({ id, title }) => [id, title]))
  const percent = (at: number) => `${Math.round((at / length) * 10_000) / 100}%`
  const height = HEAD + lanes.length * LANE + 4
  const drawn = lanes.map(([id, attempts], at) => {
    const top = HEAD + at * LANE
    const tries = attempts.length > 1 ? ` · ${attempts.length} attempts` : ''
    return html`<text x="0" y="${top + 11}"><tspan class="strong">${oneLine(id, 40)}</tspan> ${oneLine(titles.get(id) ?? '', 60)}${tries}</text>
${attempts.map((one) => attemptShape(one, top + 15, percent))}${attempts.map((one) => signShape(one, top + 24, percent))}`
  })
  const lines = marks
    .slice(0, MOST_MARKS)
    .map(
      ({ at, label }) =>
        html`<line class="mark" x1="${percent(at)}" x2="${percent(at)}" y1="14" y2="${height}"/><text class="tick" x="${percent(at)}" y="10">${label}</text>`,
    )
  const left = new Set(worked.map(({ storyId }) => storyId)).size - shown.size
  const more =
    left > 0
      ? html`<p class="aside">The ${lanes.length} stories that were worked on last; ${left} more before them.</p>`
      : nothing
  return html`<svg class="timeline" role="img" aria-label="${many(worked.length, 'iteration')} in order of time" width="100%" height="${height}">${lines}${drawn}</svg>
<p class="legend"><i class="agent"></i> agent <i class="gates"></i> gates <i class="rest"></i> the rest <b class="good">✔</b> passed <b class="bad">✘</b> rejected <b>↩</b> given back, counts as no attempt · ${utc(worked[0]?.at ?? 0)} to ${utc(worked.at(-1)?.at ?? 0)}</p>${more}`
}

/** Places on a line without the long pauses; `length` is its end, milliseconds. */
function placedIn(entries: readonly TimelineEntry[]): { placed: Placed[]; marks: Mark[]; length: number } {
  const placed: Placed[] = []
  const marks: Mark[] = []
  let [at, before, job] = [0, 0, 0]
  for (const entry of entries) {
    const began = entry.at - entry.ms
    const gap = before === 0 ? 0 : Math.max(0, began - before)
    if (entry.job !== job)
      marks.push({ at: at + Math.min(gap, LONGEST_GAP_MS), label: `job ${entry.job}${waited(gap)}` })
    else if (gap > 10 * LONGEST_GAP_MS) marks.push({ at: at + LONGEST_GAP_MS, label: waited(gap).trim() })
    at += Math.min(gap, LONGEST_GAP_MS)
    placed.push({ entry, from: at, to: at + entry.ms })
    at += entry.ms
    before = entry.at
    job = entry.job
  }
  return { placed, marks: apart(marks, at), length: Math.max(1, at) }
}

function waited(gap: number): string {
  return gap > 5 * LONGEST_GAP_MS ? ` after ${humanMs(gap)}` : ''
}

/** Labels that would stand over each other are left out. */
function apart(marks: readonly Mark[], length: number): Mark[] {
  const kept: Mark[] = []
  for (const mark of marks) {
    const last = kept.at(-1)
    if (last === undefined || mark.at - last.at > length * (0.05 + 0.008 * last.label.length)) kept.push(mark)
  }
  return kept
}

const SIGNS: Readonly<Record<TimelineEntry['result'], readonly [sign: string, kind: string]>> = {
  passed: ['✔', 'good'],
  rejected: ['✘', 'bad'],
  reset: ['✘', 'bad'],
  returned: ['↩', ''],
}

function attemptShape({ entry, from, to }: Placed, top: number, percent: (at: number) => string): Markup {
  const { agentMs = 0, gatesMs = 0, ms } = entry
  const agent = Math.min(agentMs, ms)
  const gates = Math.min(gatesMs, ms - agent)
  const split = [
    agentMs > 0 ? `agent ${humanMs(agent)}` : '',
    gatesMs > 0 ? `gates ${humanMs(gates)}` : '',
    entry.costUsd > 0 ? usd(entry.costUsd) : '',
  ].filter(Boolean)
  const told = `${oneLine(entry.storyId, 40)}, attempt ${entry.attempt}: ${oneLine(entry.summary, 160)} (${[humanMs(ms), ...split].join(', ')})`
  const bar = (name: string, at: number, length: number) =>
    length > 0
      ? html`<rect class="${name}" x="${percent(at)}" y="${top}" width="${percent(length)}" height="9"/>`
      : nothing
  return html`<g><title>${told}</title>${bar('rest', from, to - from)}${bar('agent', from, agent)}${bar('gates', from + agent, gates)}</g>`
}

/** Drawn after all bars of a lane: the next attempt begins where this one ends. */
function signShape({ entry, to }: Placed, y: number, percent: (at: number) => string): Markup {
  const [sign, kind] = SIGNS[entry.result]
  return html`<g class="${kind}"><text class="sign" x="${percent(to)}" y="${y}">${sign}</text></g>`
}

/** Of more nobody sees anything. */
const MOST_STORIES = 200
const MOST_EDGES = 600
const [WIDE, HIGH, ACROSS, DOWN] = [116, 26, 56, 10]

/** What depends on what: a column a layer, coloured by how the stories stand. */
export function dependencyPicture(stories: readonly StoryView[]): Markup {
  const { edges, drawn } = dependenciesOf(stories)
  if (edges.length === 0) return nothing
  if (drawn.length > MOST_STORIES || edges.length > MOST_EDGES)
    return html`<p class="aside">${many(drawn.length, 'story', 'stories')} with ${edges.length} dependencies: too many to draw. Each story names its own.</p>`
  const spots = spotsOf(
    drawn.map(({ at }) => at),
    edges,
  )
  const columns = Math.max(...[...spots.values()].map(({ column }) => column)) + 1
  const rows = Math.max(...[...spots.values()].map(({ row }) => row)) + 1
  const [width, height] = [columns * (WIDE + ACROSS) - ACROSS + 2, rows * (HIGH + DOWN) - DOWN + 2]
  const x = (at: number) => (spots.get(at)?.column ?? 0) * (WIDE + ACROSS) + 1
  const y = (at: number) => (spots.get(at)?.row ?? 0) * (HIGH + DOWN) + 1
  const lines = edges.map(({ from, to }) => {
    const [x1, y1, x2, y2] = [x(from) + WIDE, y(from) + HIGH / 2, x(to), y(to) + HIGH / 2]
    return html`<path d="M${x1} ${y1}C${x1 + ACROSS / 2} ${y1} ${x2 - ACROSS / 2} ${y2} ${x2} ${y2}"/>`
  })
  const nodes = drawn.map(({ at, story }) => {
    const { sign, word } = STANDINGS[story.standing]
    return html`<a href="#s${at}"><g class="s-${story.standing}"><title>${oneLine(story.id, 64)}: ${oneLine(story.title, 120)} (${word})</title><rect x="${x(at)}" y="${y(at)}" width="${WIDE}" height="${HIGH}" rx="4"/><text x="${x(at) + 8}" y="${y(at) + 17}">${sign} ${oneLine(story.id, 11)}</text></g></a>`
  })
  return html`<div class="wide"><svg class="graph" role="img" aria-label="what depends on what" width="${width}" height="${height}">${lines}${nodes}</svg></div>`
}

/** The column is the longest way from a story that depends on none; in a column, beside what it depends on. */
function spotsOf(
  drawn: readonly number[],
  edges: readonly Edge[],
): Map<number, { column: number; row: number }> {
  const before = grouped(edges, ({ to }) => to)
  const after = grouped(edges, ({ from }) => from)
  const waits = new Map(drawn.map((at) => [at, before.get(at)?.length ?? 0]))
  const columns = new Map<number, number>()
  const ready = drawn.filter((at) => waits.get(at) === 0)
  for (const at of ready)
    for (const { to } of after.get(at) ?? []) {
      columns.set(to, Math.max(columns.get(to) ?? 0, (columns.get(at) ?? 0) + 1))
      const left = (waits.get(to) ?? 0) - 1
      waits.set(to, left)
      if (left === 0) ready.push(to)
    }
  const spots = new Map<number, { column: number; row: number }>()
  // No state of ours has a circle; one that does is drawn all the same.
  const byColumn = grouped(drawn, (at) => columns.get(at) ?? 0)
  for (const column of [...byColumn.keys()].sort((one, other) => one - other)) {
    const mean = (at: number) => {
      const rows = (before.get(at) ?? []).map(({ from }) => spots.get(from)?.row ?? 0)
      return rows.reduce((sum, row) => sum + row, 0) / Math.max(1, rows.length)
    }
    const inOrder = (byColumn.get(column) ?? []).map((at) => ({ at, mean: mean(at) }))
    inOrder.sort((one, other) => one.mean - other.mean || one.at - other.at)
    let free = 0
    for (const { at, mean: wished } of inOrder) {
      const row = Math.max(free, Math.round(wished))
      spots.set(at, { column, row })
      free = row + 1
    }
  }
  return spots
}
