// What stories will probably cost, before the first of them has passed: by earlier runs in the repository, else by their size. Pure.
import type { Prd, Story } from '../engine/model/feature.ts'
import { formatUsd, pluralize } from './figures.ts'

/** Another run in the repository, ended or not: its cost, and how many stories passed in it. */
export type EarlierRun = { stories: number; costUsd: number }

/** Dollars for all stories together. `runs`: how many earlier runs the estimate is based on; 0 if only on the size of the stories. */
export type ExpectedCost = { low: number; likely: number | null; high: number; stories: number; runs: number }

/** A story with up to this many criteria counts as one issue. */
const CRITERIA_OF_AN_ISSUE = 3
/**
 * Dollars for a solved issue: with the cheapest ladder of docs/cost.md, and with the strongest model and two attempts. The judge of
 * the final verification counts as one more issue.
 */
const USD_OF_AN_ISSUE = { low: 0.35, high: 1.5 }

/** A prd.json that claims a higher cost is ignored: agents can write that file. */
const MAX_USD = 1_000_000

export function earlierRuns(prds: readonly Pick<Prd, 'run' | 'userStories'>[]): EarlierRun[] {
  return prds.flatMap(({ run, userStories }) => {
    const worked = userStories.filter(({ passes, lastResult }) => passes && lastResult?.imported !== true)
    const costUsd = run.usage?.costUsd ?? 0
    const isKnown = worked.length > 0 && costUsd > 0 && costUsd <= MAX_USD
    return isKnown ? [{ stories: worked.length, costUsd }] : []
  })
}

/** The estimate for these stories; null without stories. */
export function expectedCost(
  stories: readonly Pick<Story, 'acceptanceCriteria'>[],
  earlier: readonly EarlierRun[],
): ExpectedCost | null {
  const count = stories.length
  if (count === 0) return null
  const perStory = earlier.map((run) => run.costUsd / run.stories).sort((one, other) => one - other)
  const [least, most] = [perStory[0], perStory.at(-1)]
  if (least === undefined || most === undefined) {
    const issues = stories.map((story) => Math.ceil(story.acceptanceCriteria.length / CRITERIA_OF_AN_ISSUE))
    const size = issues.reduce((sum, one) => sum + Math.max(1, one), 1)
    return {
      low: size * USD_OF_AN_ISSUE.low,
      likely: null,
      high: size * USD_OF_AN_ISSUE.high,
      stories: count,
      runs: 0,
    }
  }
  const total = earlier.reduce((sum, run) => ({
    costUsd: sum.costUsd + run.costUsd,
    stories: sum.stories + run.stories,
  }))
  const likely = (total.costUsd / total.stories) * count
  // One run does not show how much the cost of a story varies.
  const [low, high] = perStory.length === 1 ? [likely / 2, likely * 2] : [least * count, most * count]
  return { low, likely, high, stories: count, runs: earlier.length }
}

export function describeExpectedCost({ low, likely, high, stories, runs }: ExpectedCost): string {
  const what = pluralize(stories, 'story', 'stories')
  if (likely === null)
    return `roughly ${formatUsd(low)} to ${formatUsd(high)} for ${what}, based only on the number of criteria, because this repository has no earlier run`
  return `about ${formatUsd(likely)} (${formatUsd(low)} to ${formatUsd(high)}) for ${what}, based on ${pluralize(runs, 'earlier run')} of this repository`
}

const STEP_USD = 5

/** A cost limit in multiples of five dollars, one and a half times what earlier runs suggest; null without earlier runs. */
export function proposedLimit(
  open: readonly Pick<Story, 'acceptanceCriteria'>[],
  earlier: readonly EarlierRun[],
): number | null {
  if (earlier.length === 0) return null
  const expected = expectedCost(open, earlier)?.high ?? 0
  const dearest = Math.max(...earlier.map(({ costUsd }) => costUsd))
  return Math.max(STEP_USD, Math.ceil((1.5 * Math.max(expected, dearest)) / STEP_USD) * STEP_USD)
}
