// What stories will probably cost before the first of them has passed: by this repository's earlier runs, else as a range by size. Pure.
import type { Prd, Story } from '../engine/model/feature.ts'
import { formatUsd, pluralize } from './figures.ts'

/** A run of a feature that is over or at work: what it cost, for how many stories that passed in it. */
export type EarlierRun = { stories: number; costUsd: number }

/** Dollars for all stories together. `runs`: the number of earlier runs that the estimate is based on; 0: on the size of the stories alone. */
export type ExpectedCost = { low: number; likely: number | null; high: number; stories: number; runs: number }

/** A story of up to so many criteria is the size of an issue. */
const CRITERIA_OF_AN_ISSUE = 3
/**
 * Dollars for a solved issue: with the cheapest ladder of docs/cost.md, and with the strongest model at two attempts. The judge of the
 * whole is one more.
 */
const OF_AN_ISSUE = { low: 0.35, high: 1.5 }

/** A run that says it cost more is not believed: anything may have written its prd.json. */
const MOST_USD = 1_000_000

export function earlierRuns(prds: readonly Pick<Prd, 'run' | 'userStories'>[]): EarlierRun[] {
  return prds.flatMap(({ run, userStories }) => {
    const worked = userStories.filter(({ passes, lastResult }) => passes && lastResult?.imported !== true)
    const costUsd = run.usage?.costUsd ?? 0
    const isKnown = worked.length > 0 && costUsd > 0 && costUsd <= MOST_USD
    return isKnown ? [{ stories: worked.length, costUsd }] : []
  })
}

/** Null where there is no story. */
export function expectedCost(
  stories: readonly Pick<Story, 'acceptanceCriteria'>[],
  earlier: readonly EarlierRun[],
): ExpectedCost | null {
  const count = stories.length
  if (count === 0) return null
  const each = earlier.map((run) => run.costUsd / run.stories).sort((one, other) => one - other)
  const [least, most] = [each[0], each.at(-1)]
  if (least === undefined || most === undefined) {
    const issues = stories.map((story) => Math.ceil(story.acceptanceCriteria.length / CRITERIA_OF_AN_ISSUE))
    const size = issues.reduce((sum, one) => sum + Math.max(1, one), 1)
    return {
      low: size * OF_AN_ISSUE.low,
      likely: null,
      high: size * OF_AN_ISSUE.high,
      stories: count,
      runs: 0,
    }
  }
  const all = earlier.reduce((sum, run) => ({
    costUsd: sum.costUsd + run.costUsd,
    stories: sum.stories + run.stories,
  }))
  const likely = (all.costUsd / all.stories) * count
  // One run does not show how much runs differ.
  const [low, high] = each.length === 1 ? [likely / 2, likely * 2] : [least * count, most * count]
  return { low, likely, high, stories: count, runs: earlier.length }
}

export function describeExpectedCost({ low, likely, high, stories, runs }: ExpectedCost): string {
  const what = pluralize(stories, 'story', 'stories')
  if (likely === null)
    return `roughly ${formatUsd(low)} to ${formatUsd(high)} for ${what}, by the number of their criteria: no earlier run of this repository says more`
  return `about ${formatUsd(likely)} (${formatUsd(low)} to ${formatUsd(high)}) for ${what}, going by ${pluralize(runs, 'earlier run')} of this repository`
}

const STEP_USD = 5

/** A cost limit in round dollars, half again as much as the earlier runs suggest; null without earlier runs. */
export function proposedLimit(
  open: readonly Pick<Story, 'acceptanceCriteria'>[],
  earlier: readonly EarlierRun[],
): number | null {
  if (earlier.length === 0) return null
  const expected = expectedCost(open, earlier)?.high ?? 0
  const dearest = Math.max(...earlier.map(({ costUsd }) => costUsd))
  return Math.max(STEP_USD, Math.ceil((1.5 * Math.max(expected, dearest)) / STEP_USD) * STEP_USD)
}
