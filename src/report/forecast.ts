// The probable cost and time of the rest of a run, by its stories so far, and the maximum of both. Pure.

import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import { sumOfUsage } from '../engine/model/usage.ts'
import { iterationsOf, runUsage, storyUsage } from '../engine/model/usage-totals.ts'
import { remaining } from '../engine/prd/select.ts'
import { iterationsLeft } from '../engine/state/limits.ts'
import { estimateSuffix, formatDuration, formatUsd, pluralize } from './figures.ts'
import { outcomeNow } from './headline.ts'

/** For all open stories together: half of the passed stories were between `low` and `high`. */
type Range = { low: number; likely: number; high: number }

export type Forecast = NonNullable<ReturnType<typeof forecastOf>>

/** The estimate for the open stories; null if no story is left, or none has passed yet. */
export function forecastOf(state: State) {
  const { prd, control, records } = state
  const open = openStories(state)
  const passedStories = prd.userStories.flatMap(({ id, passes, lastResult }) => {
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
  if (open.length === 0 || passedStories.length === 0 || outcomeNow(state) === 'complete') return null
  const rangeFor = (of: (one: (typeof passedStories)[number]) => number) =>
    rangeOf(passedStories.map(of), open.length)
  const iterations = rangeFor((one) => one.iterations)
  const spent = sumOfUsage(passedStories.map(({ usage }) => usage))
  const blocked = remaining(prd, control.scope).length - open.length
  return {
    stories: open.length,
    /** Blocked stories, which wait for a person and are not counted in the estimate. */
    blocked,
    /** How many passed stories the estimate is based on; their cost includes their rejected attempts. */
    from: passedStories.length,
    /** At least one for each story. */
    iterations: { ...iterations, low: Math.max(open.length, Math.ceil(iterations.low)) },
    /** Dollars; null if no agent reports its cost. */
    costUsd: passedStories.some(({ usage }) => usage.costUsd > 0)
      ? rangeFor(({ usage }) => usage.costUsd)
      : null,
    /** ` estimated` or ` partly estimated` if Ralph computed costs itself; else empty. */
    estimated: estimateSuffix(spent.costUsd, spent.estimatedCostUsd),
    /** Milliseconds of agents and gates, without the time that jobs wait. */
    ms: rangeFor(({ ms }) => ms),
  }
}

/** The forecast in one line of plain text, with its ranges and its basis; null without a forecast. */
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
  return `about ${parts.join(', ')} for the ${pluralize(stories, 'story', 'stories')} left${aside}, based on ${basis}`
}

/** The likely rest in short, `about $1, 3 min, 6 iterations`; before the first pass the most that the rest can take. */
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

/** Cents only below one dollar. */
function formatDollars(amount: number): string {
  return amount < 1 ? formatUsd(amount) : formatUsd(Math.round(amount)).replace('.00', '')
}

function formatMinutes(ms: number): string {
  const count = Math.max(1, Math.round(ms / 60_000))
  return count < 120 ? `${count} min` : `${Math.round(count / 60)} h`
}

/** `$1.10 ($0.80 to $1.90)`; without the bounds if they are equal as text. */
function formatRange({ low, likely, high }: Range, words: (value: number) => string, unit = ''): string {
  const [from, about, to] = [words(low), words(likely), words(high)]
  const counted = unit === '' ? about : pluralize(likely, unit)
  return from === to ? counted : `${counted} (${from} to ${to})`
}

/** From two minutes on without seconds: an estimate is not that exact. */
function formatRoughly(ms: number): string {
  return ms < 120_000
    ? formatDuration(ms)
    : formatDuration(Math.round(ms / 60_000) * 60_000).replace(' 00s', '')
}

function openStories({ prd, control }: State) {
  return remaining(prd, control.scope).filter((story) => !story.blocked)
}

/** Fewer passed stories do not show how much stories vary. */
const MIN_STORIES = 3

/** `count` times the median, with the quartiles as bounds; for few values, half of the lowest and twice the highest. */
function rangeOf(each: readonly number[], count: number): Range {
  const sorted = each.toSorted((one, other) => one - other)
  const last = sorted.length - 1
  const at = (place: number) => (sorted[place] ?? 0) * count
  const likely = at(Math.round(last / 2))
  if (sorted.length < MIN_STORIES) return { low: at(0) / 2, likely, high: at(last) * 2 }
  return { low: at(Math.floor(last / 4)), likely, high: at(Math.ceil((last * 3) / 4)) }
}

/** What the rest of a run takes at most. `leftUsd`: what the cost limit still allows; null without a limit. */
export type WorstCase = {
  iterations: number
  dearestUsd: number
  limitUsd: number | null
  leftUsd: number | null
}

/** Null if no story is open, or the run cannot continue. */
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

/** The worst case in one line, with the numbers that it is based on. */
export function describeWorstCase({ iterations, dearestUsd, limitUsd, leftUsd }: WorstCase): string {
  const atMost = iterations * dearestUsd
  if (dearestUsd === 0)
    return `${pluralize(iterations, 'more iteration')}${limitUsd === null ? ', and no cost limit is set' : `; the limit is ${formatUsd(limitUsd)}`}`
  if (limitUsd !== null && leftUsd !== null && atMost > leftUsd)
    return `${formatUsd(leftUsd)} more, then the cost limit of ${formatUsd(limitUsd)} ends the run`
  return `${formatUsd(atMost)} more: ${pluralize(iterations, 'iteration')} at ${formatUsd(dearestUsd)}, the highest cost so far`
}
