// What a run cost: by story, by job, and how much of it went into attempts that were rejected. Pure.
import { grouped } from '../model/each.ts'
import type { TimelineEntry } from '../model/state.ts'
import type { Usage } from '../model/usage.ts'
import type { StoryView } from './stories.ts'
import { many, tokens, usd } from './words.ts'

export type Costs = ReturnType<typeof costsOf>

/** `timeline`: the iterations that are still told, one by one; `usage`: of the whole run. */
export function costsOf(
  stories: readonly StoryView[],
  timeline: readonly TimelineEntry[],
  usage: Pick<Usage, 'costUsd'>,
) {
  const told = stories.reduce((sum, { usage }) => sum + usage.costUsd, 0)
  const jobs = [...grouped(timeline, ({ job }) => job)].map(([job, entries]) => {
    const countOf = (wanted: TimelineEntry['result']) =>
      entries.filter(({ result }) => result === wanted).length
    return {
      job,
      endedAt: entries.at(-1)?.at ?? 0,
      passed: countOf('passed'),
      rejected: countOf('rejected'),
      ...summed(entries),
    }
  })
  return {
    /** The dearest stories first, and where each stands among all. */
    byStory: dearest(stories),
    byJob: jobs,
    rejected: rejectedOf(timeline),
    /** Dollars that no story, and no attempt that is still told, has cost. */
    besideStoriesUsd: usage.costUsd - told,
    besideAttemptsUsd: usage.costUsd - summed(timeline).costUsd,
  }
}

function dearest(stories: readonly StoryView[]) {
  const used = ({ usage }: StoryView) => usage.inputTokens + usage.outputTokens
  return stories
    .map((story, at) => ({ story, at }))
    .filter(({ story }) => story.attempts + story.givenBack > 0)
    .sort(
      ({ story: one }, { story: other }) =>
        other.usage.costUsd - one.usage.costUsd || used(other) - used(one),
    )
}

/** Of the iterations that the state still tells of: what those that came to nothing cost, and how many they were. */
function rejectedOf(timeline: readonly TimelineEntry[]): { cost: string; count: string } | null {
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
