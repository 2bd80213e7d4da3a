// A job's results for machines: the action's outputs, the CLI's JSON line, the exit codes. Pure (contract, design 2 and 4).
import type { Outcome } from '../model/feature.ts'
import type { State } from '../model/state.ts'
import { counts } from '../prd/select.ts'

export const EXIT_CODES: Readonly<Record<Outcome, number>> = {
  complete: 0,
  stuck: 1,
  'max-iterations': 2,
  budget: 3,
  paused: 4,
  continued: 5,
  error: 64,
  interrupted: 130,
}

/** Numbers as numbers, absent as null. The action's outputs are the same in kebab-case. */
export type Outputs = {
  outcome: Outcome | null
  feature: string | null
  branch: string | null
  pullRequestNumber: number | null
  pullRequestUrl: string | null
  iterations: number
  storiesTotal: number
  storiesPassed: number
  storiesBlocked: number
  costUsd: number
  nextRunId: number | null
  reportPath: string | null
}

export function outputsOf(state: State | null, outcome: Outcome | null, reportPath: string | null): Outputs {
  if (state === null) return { ...NOTHING, outcome, reportPath }
  const { total, passed, blocked } = counts(state.prd)
  return {
    outcome,
    feature: state.feature,
    branch: state.branch,
    pullRequestNumber: state.github.pull,
    pullRequestUrl: state.github.pullUrl,
    iterations: state.prd.run.iterations,
    storiesTotal: total,
    storiesPassed: passed,
    storiesBlocked: blocked,
    costUsd: Math.round(state.prd.run.usage.costUsd * 1e6) / 1e6,
    nextRunId: state.job.nextRunId,
    reportPath,
  }
}

const NOTHING: Outputs = {
  outcome: null,
  feature: null,
  branch: null,
  pullRequestNumber: null,
  pullRequestUrl: null,
  iterations: 0,
  storiesTotal: 0,
  storiesPassed: 0,
  storiesBlocked: 0,
  costUsd: 0,
  nextRunId: null,
  reportPath: null,
}
