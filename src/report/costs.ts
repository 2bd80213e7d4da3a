// What a run cost: by story, by job, and in rejected attempts. Pure.
import { groupBy } from '../engine/model/each-once.ts'
import { tokensOf, type Usage } from '../engine/model/usage.ts'
import { costBeyond, type Iteration, iterationTotals } from '../engine/model/usage-totals.ts'
import { formatTokens, formatUsd, pluralize } from './figures.ts'
import type { StoryView } from './stories.ts'

export type Costs = ReturnType<typeof costsOf>

/** `timeline`: the iterations that the state still lists one by one; `usage`: that of the whole run. */
export function costsOf(
  stories: readonly StoryView[],
  timeline: readonly Iteration[],
  usage: Pick<Usage, 'costUsd'>,
) {
  const ofStories = stories.map((story) => story.usage)
  const jobs = [...groupBy(timeline, ({ job }) => job)].map(([job, entries]) => {
    const countOf = (counted: Iteration['result']) =>
      entries.filter(({ result }) => result === counted).length
    return {
      job,
      endedAt: entries.at(-1)?.at ?? 0,
      passed: countOf('passed'),
      rejected: countOf('rejected'),
      ...iterationTotals(entries),
    }
  })
  return {
    /** The most expensive story first, each with its index in the list of all stories. */
    byStory: sortByCost(stories),
    byJob: jobs,
    rejected: rejectedOf(timeline),
    /** Dollars that belong to no story. */
    besideStoriesUsd: costBeyond(usage, ofStories),
    /** Dollars that belong to no attempt in the timeline. */
    besideAttemptsUsd: costBeyond(usage, timeline),
  }
}

function sortByCost(stories: readonly StoryView[]) {
  return stories
    .map((story, at) => ({ story, at }))
    .filter(({ story }) => story.attempts + story.givenBack > 0)
    .sort(({ story: { usage: a } }, { story: { usage: b } }) => {
      return b.costUsd - a.costUsd || tokensOf(b) - tokensOf(a)
    })
}

/** Cost and number of the rejected attempts in the timeline; null if there are none. */
function rejectedOf(timeline: readonly Iteration[]): { cost: string; count: string } | null {
  const rejected = timeline.filter(({ result }) => result === 'rejected')
  if (rejected.length === 0) return null
  const { costUsd, tokens } = iterationTotals(rejected)
  return {
    cost: costUsd > 0 ? formatUsd(costUsd) : `${formatTokens(tokens)} tokens`,
    count: pluralize(rejected.length, 'attempt'),
  }
}
