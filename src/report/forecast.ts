// What the rest of a run will probably cost and take, from what its stories did so far; and at worst. Pure.
import { iterationsLeft } from '../loop/limits.ts'
import type { Limits } from '../model/limits.ts'
import type { State } from '../model/state.ts'
import { addUsage, emptyUsage } from '../model/usage.ts'
import { remaining } from '../prd/select.ts'
import { outcomeNow } from './headline.ts'
import { estimatedPart, humanMs, many, usd } from './words.ts'

/** For all open stories together: half of what came before lay between `low` and `high`. */
type Range = { low: number; likely: number; high: number }

export type Forecast = NonNullable<ReturnType<typeof forecastOf>>

/** Null where nothing is left, or no story has passed yet that could tell. */
export function forecastOf(state: State) {
  const { prd, control, records } = state
  const open = openStories(state)
  const past = prd.userStories.flatMap(({ id, passes, lastResult }) => {
    const record = records[id]
    return passes && lastResult?.imported !== true && record !== undefined && record.attempts > 0
      ? [{ ...record, iterations: Math.max(1, lastResult?.attempts ?? record.attempts) }]
      : []
  })
  if (open.length === 0 || past.length === 0 || outcomeNow(state) === 'complete') return null
  const all = (of: (one: (typeof past)[number]) => number) => rangeOf(past.map(of), open.length)
  const iterations = all((one) => one.iterations)
  const spent = past.map(({ usage }) => usage).reduce(addUsage, emptyUsage())
  const blocked = remaining(prd, control.scope).length - open.length
  return {
    stories: open.length,
    /** These wait for a person, and are not in it. */
    blocked,
    /** The passed stories that it is told from, their rejected attempts among what they cost. */
    from: past.length,
    /** One a story at the least. */
    iterations: { ...iterations, low: Math.max(open.length, Math.ceil(iterations.low)) },
    /** Dollars; null where no agent says what it costs. */
    costUsd: past.some(({ usage }) => usage.costUsd > 0) ? all(({ usage }) => usage.costUsd) : null,
    /** How far Ralph computed the costs itself: ` estimated`, ` partly estimated`, or empty. */
    estimated: estimatedPart(spent.costUsd, spent.estimatedCostUsd),
    /** Of agents and gates, milliseconds: what jobs wait for is not in it. */
    ms: all(({ ms }) => ms),
  }
}

/** In one line for people, plain: about what, for which stories, and how far it may be off; null as the forecast is. */
export function forecastWords(forecast: Forecast | null): string | null {
  if (forecast === null) return null
  const { stories, blocked, from, iterations, costUsd, estimated, ms } = forecast
  const parts = [
    costUsd === null ? '' : ranged(costUsd, usd) + estimated,
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

/** What the rest of the run may cost at most; null where nothing can be said. Money in USD. */
export function worstCase(state: State, limits: Limits): string | null {
  const open = openStories(state)
  const outcome = outcomeNow(state)
  if (open.length === 0 || outcome === 'complete' || outcome === 'stuck') return null
  const attempts = open.reduce((sum, story) => sum + Math.max(1, limits.maxAttempts - story.retries), 0)
  const iterations = Math.max(0, Math.min(attempts, iterationsLeft(state, limits)))
  const spentUsd = state.prd.run.usage.costUsd
  const allowed = limits.maxCostUsd === null ? null : limits.maxCostUsd + state.control.granted.costUsd
  const dearest = Math.max(0, ...state.timeline.map((entry) => entry.costUsd))
  const atMost = iterations * dearest
  if (dearest === 0)
    return `${many(iterations, 'more iteration')}${allowed === null ? ', and no cost limit is set' : `; the limit is ${usd(allowed)}`}`
  if (allowed !== null && spentUsd + atMost > allowed)
    return `${usd(Math.max(0, allowed - spentUsd))} more, then the cost limit of ${usd(allowed)} ends the run`
  return `${usd(atMost)} more: ${many(iterations, 'iteration')} at ${usd(dearest)}, the dearest so far`
}
