// What the rest of a run will probably cost and take, from what its stories did so far; and at worst. Pure.
import { iterationsLeft } from '../engine/limits.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import { sumOfUsage } from '../engine/model/usage.ts'
import { iterationsOf, runUsage, storyUsage } from '../engine/model/usage-totals.ts'
import { remaining } from '../engine/prd/select.ts'
import { estimateSuffix, formatDuration, formatUsd, pluralize } from './figures.ts'
import { outcomeNow } from './headline.ts'

/** For all open stories together: half of what came before lay between `low` and `high`. */
type Range = { low: number; likely: number; high: number }

export type Forecast = NonNullable<ReturnType<typeof forecastOf>>

/** Null where no story is left, or none has passed yet to base an estimate on. */
export function forecastOf(state: State) {
  const { prd, control, records } = state
  const open = openStories(state)
  const past = prd.userStories.flatMap(({ id, passes, lastResult }) => {
    const record = records[id]
    return passes && lastResult?.imported !== true && record !== undefined && record.attempts > 0
      ? [
          {
            ms: record.ms,
            usage: storyUsage(state, id),
            iterations: Math.max(1, lastResult?.attempts ?? record.attempts),
          },
        ]
      : []
  })
  if (open.length === 0 || past.length === 0 || outcomeNow(state) === 'complete') return null
  const all = (of: (one: (typeof past)[number]) => number) => rangeOf(past.map(of), open.length)
  const iterations = all((one) => one.iterations)
  const spent = sumOfUsage(past.map(({ usage }) => usage))
  const blocked = remaining(prd, control.scope).length - open.length
  return {
    stories: open.length,
    /** These wait for a person, and are not in it. */
    blocked,
    /** How many passed stories it is based on; their cost includes their rejected attempts. */
    from: past.length,
    /** One a story at the least. */
    iterations: { ...iterations, low: Math.max(open.length, Math.ceil(iterations.low)) },
    /** Dollars; null where no agent reports its cost. */
    costUsd: past.some(({ usage }) => usage.costUsd > 0) ? all(({ usage }) => usage.costUsd) : null,
    /** How far Ralph computed the costs itself: ` estimated`, ` partly estimated`, or empty. */
    estimated: estimateSuffix(spent.costUsd, spent.estimatedCostUsd),
    /** Of agents and gates, milliseconds: what jobs wait for is not in it. */
    ms: all(({ ms }) => ms),
  }
}

/** In one line for people, plain: about what, for which stories, and how far it may be off; null as the forecast is. */
export function describeForecast(forecast: Forecast | null): string | null {
  if (forecast === null) return null
  const { stories, blocked, from, iterations, costUsd, estimated, ms } = forecast
  const parts = [
    costUsd === null ? '' : formatRange(costUsd, formatUsd) + estimated,
    formatRange(ms, formatRoughly),
    formatRange(iterations, String, 'iteration'),
  ].filter((part) => part !== '')
  const aside = blocked === 0 ? '' : `, ${pluralize(blocked, 'blocked one', 'blocked ones')} not counted`
  const basis = from === 1 ? 'the one that passed' : `the ${from} that passed`
  return `about ${parts.join(', ')} for the ${pluralize(stories, 'story', 'stories')} left${aside}, going by ${basis}`
}

/** `about $1, 3 min, 6 iterations left`: what is likely; before the first pass what it takes at most. The ranges are in the report. */
export function describeOutlook(forecast: Forecast | null, worst: WorstCase | null): string | null {
  if (forecast !== null) {
    const { costUsd, ms, iterations } = forecast
    const cost = costUsd === null ? [] : [formatDollars(costUsd.likely)]
    return `about ${[...cost, formatMinutes(ms.likely), pluralize(iterations.likely, 'iteration')].join(', ')}`
  }
  if (worst === null) return null
  const { iterations, dearestUsd, leftUsd } = worst
  const cost = dearestUsd === 0 ? [] : [formatDollars(Math.min(iterations * dearestUsd, leftUsd ?? Infinity))]
  return `at most ${[...cost, pluralize(iterations, 'iteration')].join(', ')}`
}

/** Cents only where there are no dollars. */
function formatDollars(amount: number): string {
  return amount < 1 ? formatUsd(amount) : formatUsd(Math.round(amount)).replace('.00', '')
}

function formatMinutes(ms: number): string {
  const count = Math.max(1, Math.round(ms / 60_000))
  return count < 120 ? `${count} min` : `${Math.round(count / 60)} h`
}

/** `$1.10 ($0.80 to $1.90)`; without the bounds where they read alike. */
function formatRange({ low, likely, high }: Range, words: (value: number) => string, unit = ''): string {
  const [from, about, to] = [words(low), words(likely), words(high)]
  const counted = unit === '' ? about : pluralize(likely, unit)
  return from === to ? counted : `${counted} (${from} to ${to})`
}

/** Seconds are noise in what is only likely. */
function formatRoughly(ms: number): string {
  return ms < 120_000
    ? formatDuration(ms)
    : formatDuration(Math.round(ms / 60_000) * 60_000).replace(' 00s', '')
}

function openStories({ prd, control }: State) {
  return remaining(prd, control.scope).filter((story) => !story.blocked)
}

/** Fewer do not show how far the others will be off. */
const FEW = 3

/** Of so many stories as these: the median, and the half of them around it; of few, from half to twice what they took. */
function rangeOf(each: readonly number[], count: number): Range {
  const sorted = each.toSorted((one, other) => one - other)
  const last = sorted.length - 1
  const at = (place: number) => (sorted[place] ?? 0) * count
  const likely = at(Math.round(last / 2))
  if (sorted.length < FEW) return { low: at(0) / 2, likely, high: at(last) * 2 }
  return { low: at(Math.floor(last / 4)), likely, high: at(Math.ceil((last * 3) / 4)) }
}

/** What the rest of a run may take at most. `leftUsd`: what the limit of cost still allows; null without one. */
export type WorstCase = {
  iterations: number
  dearestUsd: number
  limitUsd: number | null
  leftUsd: number | null
}

/** Null where no story is open, or the run cannot go on. */
export function worstCase(state: State, limits: Limits): WorstCase | null {
  const open = openStories(state)
  const outcome = outcomeNow(state)
  if (open.length === 0 || outcome === 'complete' || outcome === 'stuck') return null
  const attempts = open.reduce((sum, story) => sum + Math.max(1, limits.maxAttempts - story.retries), 0)
  const iterations = Math.max(0, Math.min(attempts, iterationsLeft(state, limits)))
  const limitUsd = limits.maxCostUsd === null ? null : limits.maxCostUsd + state.control.granted.costUsd
  const leftUsd = limitUsd === null ? null : Math.max(0, limitUsd - runUsage(state).costUsd)
  const dearestUsd = Math.max(0, ...iterationsOf(state).map(({ costUsd }) => costUsd))
  return { iterations, dearestUsd, limitUsd, leftUsd }
}

/** In one line for people, with where it comes from. */
export function describeWorstCase({ iterations, dearestUsd, limitUsd, leftUsd }: WorstCase): string {
  const atMost = iterations * dearestUsd
  if (dearestUsd === 0)
    return `${pluralize(iterations, 'more iteration')}${limitUsd === null ? ', and no cost limit is set' : `; the limit is ${formatUsd(limitUsd)}`}`
  if (limitUsd !== null && leftUsd !== null && atMost > leftUsd)
    return `${formatUsd(leftUsd)} more, then the cost limit of ${formatUsd(limitUsd)} ends the run`
  return `${formatUsd(atMost)} more: ${pluralize(iterations, 'iteration')} at ${formatUsd(dearestUsd)}, the dearest so far`
}
