// What it cost: by story, by job, by attempt, and how much of it went into attempts that were rejected.
import { grouped } from '../../model/each.ts'
import type { TimelineEntry } from '../../model/state.ts'
import { forecastWords, worstWords } from '../forecast.ts'
import { ITERATIONS } from '../parts.ts'
import type { Columns } from '../sentence.ts'
import type { StoryView } from '../stories.ts'
import { MOST_TIMELINE, type View } from '../view.ts'
import { costIfAny, costLabel, humanMs, many, tokens, tokenWords, usd, utc } from '../words.ts'
import { folded, html, type Markup, nothing, table, words } from './markup.ts'

/** Of the iterations that the state still tells of: what those that came to nothing cost, and how many they were. */
export function wastedWords({ timeline }: View): { cost: string; count: string } | null {
  const lost = timeline.filter(({ result }) => result === 'rejected')
  if (lost.length === 0) return null
  const { costUsd, tokens: used } = summed(lost)
  return { cost: costUsd > 0 ? usd(costUsd) : `${tokens(used)} tokens`, count: many(lost.length, 'attempt') }
}

function summed(entries: readonly TimelineEntry[]) {
  const sum = (of: 'costUsd' | 'tokens' | 'ms') => entries.reduce((total, entry) => total + entry[of], 0)
  const estimatedCostUsd = entries.reduce((total, entry) => total + (entry.estimatedCostUsd ?? 0), 0)
  return { costUsd: sum('costUsd'), estimatedCostUsd, tokens: sum('tokens'), ms: sum('ms') }
}

export function costTables(view: View): Markup {
  const { timeline, worst } = view
  if (view.usage.calls === 0 && timeline.length === 0) return nothing
  const probably = forecastWords(view.forecast)
  const likely = probably === null ? nothing : html`<p><b>Probably:</b> ${probably}.</p>`
  const ahead = worst === null ? nothing : html`<p><b>At worst:</b> ${worstWords(worst)}.</p>`
  return html`${likely}${ahead}<h3>By story</h3>${byStory(view)}<h3>By job</h3>${byJob(view)}${folded(`By attempt (${timeline.length})`, table(ITERATIONS, timeline))}`
}

type Row = { story: StoryView; at: number }

const STORIES: Columns<Row, Markup> = [
  ['Story', 'text', ({ story, at }) => html`<a href="#s${at}">${words(story.id, 64)}</a>`],
  ['Cost', 'figure', ({ story: { usage } }) => costLabel(usage)],
  ['Tokens', 'figure', ({ story: { usage } }) => tokenWords(usage)],
  ['Time', 'figure', ({ story: { ms } }) => humanMs(ms)],
  ['Attempts', 'figure', ({ story: { attempts } }) => attempts],
]
const MOST_ROWS = 25
/** Less is what adding up leaves. */
const LEAST_USD = 0.0001

function byStory({ stories, usage }: View): Markup {
  const used = ({ story: { usage } }: Row) => usage.inputTokens + usage.outputTokens
  const paid = stories
    .map((story, at) => ({ story, at }))
    .filter(({ story }) => story.attempts + story.givenBack > 0)
    .sort((one, other) => other.story.usage.costUsd - one.story.usage.costUsd || used(other) - used(one))
  const left = paid.length - MOST_ROWS
  const more =
    left > 0
      ? html`<p class="aside">The ${MOST_ROWS} dearest; ${many(left, 'more story', 'more stories')}.</p>`
      : nothing
  const told = paid.reduce((sum, { story }) => sum + story.usage.costUsd, 0)
  return html`${table(STORIES, paid.slice(0, MOST_ROWS))}${more}${beside('the stories, for verification and plans', usage.costUsd - told)}`
}

function beside(what: string, costUsd: number): Markup {
  return costUsd < LEAST_USD ? nothing : html`<p class="aside">Beside ${what}: ${usd(costUsd)}.</p>`
}

type Job = { job: number; entries: readonly TimelineEntry[] } & ReturnType<typeof summed>

const countOf = ({ entries }: Job, result: TimelineEntry['result']) =>
  entries.filter((entry) => entry.result === result).length

const JOBS: Columns<Job> = [
  ['Job', 'figure', ({ job }) => job],
  ['Ended (UTC)', 'text', ({ entries }) => utc(entries.at(-1)?.at ?? 0).replace(' UTC', '')],
  ['Passed', 'figure', (job) => countOf(job, 'passed')],
  ['Rejected', 'figure', (job) => countOf(job, 'rejected')],
  ['Cost', 'figure', costIfAny],
  ['Tokens', 'figure', (job) => tokens(job.tokens)],
  ['Time', 'figure', ({ ms }) => humanMs(ms)],
]

function byJob({ timeline, usage }: View): Markup {
  const jobs = [...grouped(timeline, ({ job }) => job)].map(([job, entries]) => {
    return { job, entries, ...summed(entries) }
  })
  const others = `${timeline.length < MOST_TIMELINE ? '' : 'attempts before them, '}verification and plans`
  const rest = beside(`these attempts, for ${others}`, usage.costUsd - summed(timeline).costUsd)
  return html`${table(JOBS, jobs)}${rest}`
}
