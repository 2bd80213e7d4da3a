// A job's results for machines: the action's outputs, the CLI's JSON line, the exit codes. Users rely on these names and numbers.

import type { Outcome } from '../engine/model/feature.ts'
import type { State } from '../engine/model/state.ts'
import { runUsage } from '../engine/model/usage-totals.ts'
import { countOutOfScope } from '../engine/prd/scope.ts'
import { counts } from '../engine/prd/select.ts'

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

/** A value that does not exist is null. The action's outputs have the same names in kebab-case. */
export type Outputs = ReturnType<typeof outputsOf>

/** `scope` if the run is for a part of the feature: which part, and its counts. The other outputs count the whole feature. */
export function scopeInJson({ prd, control: { scope } }: State): Record<string, unknown> {
  if (scope === null) return {}
  const { total, passed } = counts(prd, scope)
  const { stories, epic } = scope
  return { scope: { stories, epic, total, passed, notAskedFor: countOutOfScope(prd, scope) } }
}

export function outputsOf(
  state: State | null,
  outcome: Outcome | null,
  reportPath: string | null,
  attestation: { path: string; subject: string } | null = null,
) {
  const stories = state === null ? null : counts(state.prd)
  const run = state?.prd.run
  const next = state?.job.ending?.next
  return {
    outcome,
    feature: state?.feature ?? null,
    branch: state?.branch ?? null,
    pullRequestNumber: state?.github.pull ?? null,
    pullRequestUrl: state?.github.pullUrl ?? null,
    iterations: run?.iterations ?? 0,
    storiesTotal: stories?.total ?? 0,
    storiesPassed: stories?.passed ?? 0,
    storiesBlocked: stories?.blocked ?? 0,
    costUsd: Math.round((state === null ? 0 : runUsage(state).costUsd) * 1e6) / 1e6,
    nextRunId: next?.kind === 'started' ? next.runId : null,
    reportPath,
    attestationPath: attestation?.path ?? null,
    attestationSubject: attestation?.subject ?? null,
  }
}
