// The header of a live view, and its figures: the part of a view that is made again at every step.
import type { Surface } from '../engine/commands/command-table.ts'
import { openAttempt } from '../engine/model/job.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import { runUsage } from '../engine/model/usage-totals.ts'
import { counts } from '../engine/prd/select.ts'
import { iterationsLeft, jobsAllowed } from '../engine/state/limits.ts'
import { costLabel, describeTokens, formatDuration, formatTokens, withLimit } from './figures.ts'
import { attemptInWork, tally } from './headline.ts'

/** Made again at every step, so it computes nothing expensive for each story. */
export type Header = ReturnType<typeof headerOf>

export function headerOf(state: State, limits: Limits | null) {
  const { run, userStories } = state.prd
  const attempt = attemptInWork(state)
  const left = limits === null ? Number.POSITIVE_INFINITY : iterationsLeft(state, limits)
  const maxCostUsd = limits?.maxCostUsd ?? null
  return {
    feature: state.feature,
    project: state.prd.project,
    branch: state.branch,
    counts: counts(state.prd),
    tally: tally(state),
    /** The attempt in work now, or null. */
    inWork: attempt,
    titleInWork: userStories.find(({ id }) => id === attempt?.storyId)?.title ?? '',
    /** The number of the iteration in work, or of the last one; `iterations` counts the charged ones. */
    iteration: openAttempt(state)?.iteration ?? run.iterations,
    iterations: run.iterations,
    jobs: run.jobs,
    usage: runUsage(state),
    pullUrl: state.github.pullUrl,
    /** The limits that end the run; null if there is none. */
    most: {
      iterations: Number.isFinite(left) ? run.iterations + left : null,
      jobs: limits === null ? null : jobsAllowed(state, limits),
      costUsd: maxCostUsd === null ? null : maxCostUsd + state.control.granted.costUsd,
      tokens: limits?.maxTokens ?? null,
      agentMs: limits?.maxAgentTimeMs ?? null,
    },
  }
}

/** Input tokens from a vendor's cache, which cost less than the others. */
function cachedFigure({ cachedTokens, inputTokens }: Header['usage']): [name: string, value: string][] {
  if (cachedTokens === 0 || inputTokens === 0) return []
  const share = Math.round((100 * Math.min(cachedTokens, inputTokens)) / inputTokens)
  return [['Cached', `${formatTokens(cachedTokens)}, ${share} % of the input`]]
}

/** Usage, with its limits. On the command line no limit of jobs is shown: there each run allows them again. */
export function figuresOf(
  { usage, most, iterations, jobs }: Header,
  surface: Surface,
): [name: string, value: string][] {
  return [
    ['Cost', costLabel(usage, most.costUsd)],
    ['Tokens', withLimit(describeTokens(usage), most.tokens, formatTokens)],
    ...cachedFigure(usage),
    ['Agent time', withLimit(formatDuration(usage.agentSeconds * 1000), most.agentMs, formatDuration)],
    ['Iterations', withLimit(String(iterations), most.iterations, String)],
    ['Jobs', withLimit(String(jobs), surface === 'cli' ? null : most.jobs, String)],
  ]
}
