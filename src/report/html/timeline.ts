// The iterations as a picture: a lane a story, from left to right the time that was worked; long waits are cut short.

import { grouped } from '../../model/each.ts'
import type { TimelineEntry } from '../../model/state.ts'
import { oneLine } from '../../model/text.ts'
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
<p class="legend"><i class="agent"></i> agent <i class="gates"></i> gates <i class="rest"></i> the rest <b class="good">✔</b> passed <b class="bad">✘</b> rejected <b>↩</b> given back, uncharged · ${utc(worked[0]?.at ?? 0)} to ${utc(worked.at(-1)?.at ?? 0)}</p>${more}`
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
