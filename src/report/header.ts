// What a live header shows of a run, and its figures: the part of a view that is made anew at every step.
import type { Surface } from '../engine/commands/command-table.ts'
import { iterationsLeft, jobsAllowed } from '../engine/limits.ts'
import { openAttempt } from '../engine/model/job.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import { runUsage } from '../engine/model/usage-totals.ts'
import { counts } from '../engine/prd/select.ts'
import { costLabel, describeTokens, formatDuration, formatTokens, withLimit } from './figures.ts'
import { attemptInWork, tally } from './headline.ts'

/** Made anew at every step, so it looks at each story no more than it must. */
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
    /** What a session works on now. */
    inWork: attempt,
    titleInWork: userStories.find(({ id }) => id === attempt?.storyId)?.title ?? '',
    /** The one in work, or the last one; `iterations` are those that are charged. */
    iteration: openAttempt(state)?.iteration ?? run.iterations,
    iterations: run.iterations,
    jobs: run.jobs,
    usage: runUsage(state),
    pullUrl: state.github.pullUrl,
    /** Where each ends the run; null without a limit. */
    most: {
      iterations: Number.isFinite(left) ? run.iterations + left : null,
      jobs: limits === null ? null : jobsAllowed(state, limits),
      costUsd: maxCostUsd === null ? null : maxCostUsd + state.control.granted.costUsd,
      tokens: limits?.maxTokens ?? null,
      agentMs: limits?.maxAgentTimeMs ?? null,
    },
  }
}

/** Of the tokens that agents read, those that a vendor had in its cache: they cost a part of the others' price. */
function cachedFigure({ cachedTokens, inputTokens }: Header['usage']): [name: string, value: string][] {
  if (cachedTokens === 0 || inputTokens === 0) return []
  const share = Math.round((100 * Math.min(cachedTokens, inputTokens)) / inputTokens)
  return [['Cached', `${formatTokens(cachedTokens)}, ${share} % of what was read`]]
}

/** What was used, with its limit where there is one. On the command line no limit of jobs is shown: each run there allows them anew. */
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
