// What it cost: by story, by job, by attempt, and how much of it went into attempts that were rejected.
import { grouped } from '../../model/each.ts'
import type { TimelineEntry } from '../../model/state.ts'
import { emptyUsage } from '../../model/usage.ts'
import { forecastWords } from '../forecast.ts'
import { ITERATIONS } from '../parts.ts'
import type { Columns } from '../sentence.ts'
import type { StoryView } from '../stories.ts'
import type { View } from '../view.ts'
import { costWords, hasCost, humanMs, many, NO_COST, tokens, tokenWords, usd, utc } from '../words.ts'
import { folded, html, type Markup, nothing, table, words } from './markup.ts'

export type Wasted = { attempts: number; costUsd: number; tokens: number; ms: number; share: number }

/** Of the iterations that the state still tells of: what came to nothing, and its share of all that was used: of the cost, else of the tokens. */
export function wasted({ timeline, usage }: Pick<View, 'timeline' | 'usage'>): Wasted {
  const lost = timeline.filter(({ result }) => result === 'rejected')
  const sum = (entries: readonly TimelineEntry[], of: 'costUsd' | 'tokens' | 'ms') =>
    entries.reduce((total, entry) => total + entry[of], 0)
  // Plans and verifications are no iterations, and cost, too.
  const all = {
    costUsd: Math.max(usage.costUsd, sum(timeline, 'costUsd')),
    tokens: Math.max(usage.inputTokens + usage.outputTokens, sum(timeline, 'tokens')),
    ms: sum(timeline, 'ms'),
  }
  const unit = all.costUsd > 0 ? 'costUsd' : all.tokens > 0 ? 'tokens' : 'ms'
  return {
    attempts: lost.length,
    costUsd: sum(lost, 'costUsd'),
    tokens: sum(lost, 'tokens'),
    ms: sum(lost, 'ms'),
    share: sum(lost, unit) / Math.max(Number.MIN_VALUE, all[unit]),
  }
}

export function wastedWords({ costUsd, tokens: used, ms }: Wasted): string {
  return costUsd > 0 ? usd(costUsd) : used > 0 ? `${tokens(used)} tokens` : humanMs(ms)
}

export function costTables(view: View): Markup {
  const { timeline, worst } = view
  if (view.usage.calls === 0 && timeline.length === 0) return nothing
  const rejected = wasted(view)
  const of = view.iterations > timeline.length ? ` of the last ${timeline.length} iterations` : ''
  const waste =
    rejected.attempts === 0
      ? nothing
      : html`<p><b>Rejected attempts${of}:</b> ${wastedWords(rejected)}, ${Math.round(rejected.share * 100)} % (${many(rejected.attempts, 'attempt')}).</p>`
  const probably = forecastWords(view.forecast)
  const likely = probably === null ? nothing : html`<p><b>Probably:</b> ${probably}.</p>`
  const ahead = worst === null ? nothing : html`<p><b>At worst:</b> ${worst}.</p>`
  return html`${waste}${likely}${ahead}<h3>By story</h3>${byStory(view)}<h3>By job</h3>${byJob(timeline)}${folded(`By attempt (${timeline.length})`, table(ITERATIONS, timeline))}`
}

type Row = { story: StoryView; at: number; most: number }

/** A bar as long as its share of the dearest. */
function barOf({ story, most }: Row): Markup {
  const share = most > 0 ? (sizeOf(story.usage) / most) * 100 : 0
  return html`<svg class="bar" width="100" height="10" aria-hidden="true"><rect class="rest" width="100" height="10"/><rect class="agent" width="${share}" height="10"/></svg>`
}

function sizeOf({ costUsd, inputTokens, outputTokens }: StoryView['usage']): number {
  // Dollars where there are some: tokens are far more.
  return costUsd > 0 ? costUsd * 1e9 : inputTokens + outputTokens
}

const STORIES: Columns<Row, Markup> = [
  ['Story', 'text', ({ story, at }) => html`<a href="#s${at}">${words(story.id, 64)}</a>`],
  ['', 'text', barOf],
  ['Cost', 'figure', ({ story: { usage } }) => (hasCost(usage) ? costWords(usage) : NO_COST)],
  ['Tokens', 'figure', ({ story: { usage } }) => tokenWords(usage)],
  ['Time', 'figure', ({ story: { ms } }) => humanMs(ms)],
  ['Attempts', 'figure', ({ story: { attempts } }) => attempts],
]
const MOST_ROWS = 25

function byStory({ stories, usage }: View): Markup {
  const paid = stories
    .map((story, at) => ({ story, at }))
    .filter(({ story }) => story.attempts > 0)
    .sort((one, other) => sizeOf(other.story.usage) - sizeOf(one.story.usage))
  const most = sizeOf(paid[0]?.story.usage ?? emptyUsage())
  const rows = paid.slice(0, MOST_ROWS).map((row) => ({ ...row, most }))
  const left = paid.length - rows.length
  const more =
    left > 0
      ? html`<p class="aside">The ${rows.length} dearest; ${many(left, 'more story', 'more stories')}.</p>`
      : nothing
  const rest = usage.costUsd - paid.reduce((sum, { story }) => sum + story.usage.costUsd, 0)
  const beside =
    rest > 0.004
      ? html`<p class="aside">Beside the stories, for verification and plans: ${usd(rest)}.</p>`
      : nothing
  return html`${table(STORIES, rows)}${more}${beside}`
}

type JobRow = { job: number; entries: readonly TimelineEntry[] }
const sumOf = ({ entries }: JobRow, of: (entry: TimelineEntry) => number) =>
  entries.reduce((sum, entry) => sum + of(entry), 0)
const countOf = ({ entries }: JobRow, result: TimelineEntry['result']) =>
  entries.filter((entry) => entry.result === result).length

const JOBS: Columns<JobRow> = [
  ['Job', 'figure', ({ job }) => job],
  ['Ended (UTC)', 'text', ({ entries }) => utc(entries.at(-1)?.at ?? 0).replace(' UTC', '')],
  ['Passed', 'figure', (job) => countOf(job, 'passed')],
  ['Rejected', 'figure', (job) => countOf(job, 'rejected')],
  ['Cost', 'figure', (job) => costCell(sumOf(job, ({ costUsd }) => costUsd))],
  ['Tokens', 'figure', (job) => tokens(sumOf(job, (entry) => entry.tokens))],
  ['Agent', 'figure', (job) => timeCell(sumOf(job, ({ agentMs = 0 }) => agentMs))],
  ['Gates', 'figure', (job) => timeCell(sumOf(job, ({ gatesMs = 0 }) => gatesMs))],
  ['In all', 'figure', (job) => timeCell(sumOf(job, ({ ms }) => ms))],
]

function byJob(timeline: readonly TimelineEntry[]): Markup {
  return table(
    JOBS,
    [...grouped(timeline, ({ job }) => job)].map(([job, entries]) => ({ job, entries })),
  )
}

function timeCell(ms: number): string {
  return ms > 0 ? humanMs(ms) : ''
}

function costCell(costUsd: number): string {
  return costUsd > 0 ? usd(costUsd) : ''
}
