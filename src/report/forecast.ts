// What the rest of a run will probably cost and take, from what its stories did so far; and at worst. Pure.
import { iterationsLeft } from '../loop/limits.ts'
import type { Limits } from '../model/limits.ts'
import type { State } from '../model/state.ts'
import { remaining } from '../prd/select.ts'
import { inWork, outcomeNow } from './headline.ts'
import { humanMs, many, usd } from './words.ts'

/** For all open stories together: half of what came before lay between `low` and `high`. */
type Range = { low: number; likely: number; high: number }

export type Forecast = NonNullable<ReturnType<typeof forecastOf>>

/** Null where nothing is left, or no story has passed yet that could tell. `now` in epoch milliseconds. */
export function forecastOf(state: State, now: number) {
  const { prd, control, records } = state
  const open = openStories(state)
  const past = prd.userStories.flatMap(({ id, passes, lastResult }) => {
    const record = records[id]
    return passes && lastResult?.imported !== true && record !== undefined && record.attempts > 0
      ? [{ ...record, iterations: Math.max(1, lastResult?.attempts ?? record.attempts) }]
      : []
  })
  if (open.length === 0 || past.length === 0 || outcomeNow(state) === 'complete') return null
  const all = (each: readonly number[]) => mapRange(eachRange(each), (one) => one * open.length)
  const costs = past.map(({ usage }) => usage.costUsd)
  const costUsd = costs.some((cost) => cost > 0) ? all(costs) : null
  const iterations = mapRange(all(past.map((one) => one.iterations)), (count) =>
    Math.max(open.length, Math.round(count)),
  )
  const attempt = inWork(state)
  const passed = attempt === null ? 0 : Math.max(0, now - attempt.startedAt)
  // The story in work takes no less than it has taken already.
  const others = all(past.map(({ ms }) => ms))
  const ms = mapRange(others, (one) => Math.max(one - passed, (one * (open.length - 1)) / open.length))
  const blocked = remaining(prd, control.scope).length - open.length
  return {
    stories: open.length,
    /** These wait for a person, and are not in it. */
    blocked,
    /** The passed stories that it is told from, their rejected attempts among what they cost. */
    from: past.length,
    iterations,
    /** Dollars; null where no agent says what it costs. */
    costUsd,
    /** Of agents and gates, milliseconds: what jobs wait for is not in it. */
    ms,
  }
}

/** In one line for people, plain: about what, for which stories, and how far it may be off; null as the forecast is. */
export function forecastWords(forecast: Forecast | null): string | null {
  if (forecast === null) return null
  const { stories, blocked, from, iterations, costUsd, ms } = forecast
  const parts = [
    costUsd === null ? '' : ranged(costUsd, usd),
    ranged(ms, roughly),
    ranged(iterations, String, 'iteration'),
  ].filter((part) => part !== '')
  const aside = blocked === 0 ? '' : `, ${many(blocked, 'blocked one', 'blocked ones')} not counted`
  const basis = from === 1 ? 'the one that passed' : `the ${from} that passed`
  return `about ${parts.join(', ')} for the ${many(stories, 'story', 'stories')} left${aside}, going by ${basis}`
}

/** What is to be expected where there is one line for it: what is likely, and before the first pass the worst case. */
export function outlookWords(forecast: Forecast | null, worst: string | null): string | null {
  return forecastWords(forecast) ?? (worst === null ? null : `at worst ${worst}`)
}

/** `$1.10 ($0.80 to $1.90)`; without the bounds where they read alike. */
function ranged({ low, likely, high }: Range, words: (value: number) => string, unit = ''): string {
  const [from, about, to] = [words(low), words(likely), words(high)]
  const counted = unit === '' ? about : many(likely, unit)
  return from === to ? counted : `${counted} (${from} to ${to})`
}

/** Seconds are noise in what is only likely. */
function roughly(ms: number): string {
  return ms < 120_000 ? humanMs(ms) : humanMs(Math.round(ms / 60_000) * 60_000).replace(' 00s', '')
}

function openStories({ prd, control }: State) {
  return remaining(prd, control.scope).filter((story) => !story.blocked)
}

/** Of one or two stories nobody knows how far others will be off. */
const FEW = 3

function eachRange(each: readonly number[]): Range {
  const sorted = each.toSorted((one, other) => one - other)
  const likely = quantile(sorted, 0.5)
  if (sorted.length < FEW) return { low: quantile(sorted, 0) / 2, likely, high: quantile(sorted, 1) * 2 }
  // A few dear ones make most of a sum.
  const mean = sorted.reduce((sum, one) => sum + one, 0) / sorted.length
  return { low: quantile(sorted, 0.25), likely, high: Math.max(quantile(sorted, 0.75), mean) }
}

function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)] ?? 0
  return below + ((sorted[Math.ceil(at)] ?? below) - below) * (at - Math.floor(at))
}

function mapRange({ low, likely, high }: Range, map: (value: number) => number): Range {
  return { low: map(low), likely: map(likely), high: map(high) }
}

/** What the rest of the run may cost at most; null where nothing can be said. Money in USD. */
export function worstCase(state: State, limits: Limits): string | null {
  const open = openStories(state)
  const outcome = outcomeNow(state)
  if (open.length === 0 || outcome === 'complete' || outcome === 'stuck') return null
  const attempts = open.reduce((sum, story) => sum + Math.max(1, limits.maxAttempts - story.retries), 0)
  const iterations = Math.max(0, Math.min(attempts, iterationsLeft(state, limits)))
  const { costUsd } = state.prd.run.usage
  const allowed = limits.maxCostUsd === null ? null : limits.maxCostUsd + state.control.granted.costUsd
  const paid = state.timeline.map((entry) => entry.costUsd).filter((cost) => cost > 0)
  const capped = allowed === null ? '' : `; the limit is ${usd(allowed)}`
  if (paid.length === 0) {
    return `${many(iterations, 'more iteration')}${allowed === null ? ', and no cost limit is set' : capped}`
  }
  const dearest = Math.max(...paid)
  const atMost = iterations * dearest
  if (allowed !== null && costUsd + atMost > allowed) {
    return `${usd(Math.max(0, allowed - costUsd))} more, then the cost limit of ${usd(allowed)} ends the run`
  }
  return `${usd(atMost)} more: ${many(iterations, 'iteration')} at ${usd(dearest)}, the dearest so far${capped}`
}
