// The cost of a run: by rung of the model ladder, by story, by job, by attempt.
import type { Costs } from '../costs.ts'
import {
  costLabel,
  costOrEmpty,
  describeTokens,
  formatDuration,
  formatTokens,
  formatUsd,
  formatUtc,
} from '../figures.ts'
import { ITERATIONS } from '../parts.ts'
import { costPerAttempt, percent, type Rung } from '../rungs.ts'
import type { Columns } from '../sentence.ts'
import { MAX_TIMELINE, type View } from '../view.ts'
import { collapsible, html, icon, inlineText, type Markup, nothing, table } from './markup.ts'

export function costTables({ timeline, usage, probably, atWorst, costs, rungs, unpaid }: View): Markup {
  if (usage.calls === 0 && timeline.length === 0) return nothing
  const likely = probably === null ? nothing : html`<p><b>Estimate:</b> ${probably}.</p>`
  const ahead = atWorst === null ? nothing : html`<p><b>At most:</b> ${atWorst}.</p>`
  const others = `${timeline.length < MAX_TIMELINE ? '' : 'earlier attempts, '}verification and plans`
  return html`${likely}${ahead}${rungTable({ rungs, unpaid })}<h3>By story</h3>${byStory(costs)}<h3>By job</h3>${table(JOBS, costs.byJob)}${besideNote(`table by attempt: ${others}`, costs.besideAttemptsUsd)}${collapsible(`By attempt (${timeline.length})`, table(ITERATIONS, timeline))}`
}

const RUNGS: Columns<Rung> = [
  ['Model', 'text', ({ model: text }) => ({ text, most: 120 })],
  ['Passed', 'figure', ({ passed, attempts }) => `${passed} of ${attempts}`],
  ['Rate', 'figure', ({ passed, attempts }) => percent(passed / attempts)],
  ['Cost per attempt', 'figure', (rung) => (rung.costUsd === 0 ? '' : formatUsd(costPerAttempt(rung)))],
  ['Cost', 'figure', costOrEmpty],
]

/** The rungs of a model ladder; nothing without one. */
export function rungTable({
  rungs,
  unpaid = [],
}: Pick<View, 'rungs'> & Partial<Pick<View, 'unpaid'>>): Markup {
  if (rungs.length === 0) return nothing
  const remarks = unpaid.map((text) => html`<p>${icon('⚠')} ${inlineText(text, 400)}.</p>`)
  return html`<h3>By rung</h3>${table(RUNGS, rungs)}${remarks}`
}

const STORY_COSTS: Columns<Costs['byStory'][number], Markup> = [
  ['Story', 'text', ({ story, at }) => html`<a href="#s${at}">${inlineText(story.id, 64)}</a>`],
  ['Cost', 'figure', ({ story: { usage } }) => costLabel(usage)],
  ['Tokens', 'figure', ({ story: { usage } }) => describeTokens(usage)],
  ['Time', 'figure', ({ story: { ms } }) => formatDuration(ms)],
  ['Attempts', 'figure', ({ story: { attempts } }) => attempts],
]
const MAX_ROWS = 25
/** Smaller sums are rounding errors. */
const MIN_USD = 0.0001

function byStory({ byStory: rows, besideStoriesUsd }: Costs): Markup {
  const left = rows.length - MAX_ROWS
  const more =
    left > 0
      ? html`<p class="aside">The ${MAX_ROWS} most expensive stories; ${left} more are not shown.</p>`
      : nothing
  return html`${table(STORY_COSTS, rows.slice(0, MAX_ROWS))}${more}${besideNote('table by story: verification and plans', besideStoriesUsd)}`
}

function besideNote(what: string, costUsd: number): Markup {
  return costUsd < MIN_USD ? nothing : html`<p class="aside">Not in the ${what} (${formatUsd(costUsd)}).</p>`
}

const JOBS: Columns<Costs['byJob'][number]> = [
  ['Job', 'figure', ({ job }) => job],
  ['Ended (UTC)', 'text', ({ endedAt }) => formatUtc(endedAt).replace(' UTC', '')],
  ['Passed', 'figure', ({ passed }) => passed],
  ['Rejected', 'figure', ({ rejected }) => rejected],
  ['Cost', 'figure', costOrEmpty],
  ['Tokens', 'figure', ({ tokens: used }) => formatTokens(used)],
  ['Time', 'figure', ({ ms }) => formatDuration(ms)],
]
