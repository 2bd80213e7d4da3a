// The situation of a feature: at work, ended, or ready to continue. It is derived from the decision of the next step. Pure.

import { applyCommand } from './commands/apply-commands.ts'
import type { Outcome } from './model/feature.ts'
import { newJob } from './model/job.ts'
import type { Limits } from './model/limit-types.ts'
import type { Conclusion, Lease, State } from './model/state.ts'
import { isVerification, type Step } from './model/step.ts'
import { nextStep } from './next-step.ts'

export type Situation =
  /** `lease`: of the job at work; null if the job itself asks. */
  | { kind: 'working'; lease: Lease | null }
  /** No job works; the reason. */
  | EndedSituation
  /** No job works, and a run would continue with this step; null if the step was not computed. */
  | { kind: 'ready'; step: Step | null }

export type EndedSituation = {
  kind: 'ended'
  conclusion: Conclusion
  since?: 'auto-merge' | 'merged' | 'archived'
}

/** The situation for the job that holds the feature. */
export function ownSituation({ job }: State): Situation {
  return job.ending === null
    ? { kind: 'working', lease: null }
    : { kind: 'ended', conclusion: job.ending.conclusion }
}

/** The situation for any other process. `isHolderAlive`: the lease's holder is known to be at work. */
export function situationOf(state: State, limits: Limits, now: number, isHolderAlive: boolean): Situation {
  const { lease, job, prd } = state
  if (isHolderAlive && lease !== null) return { kind: 'working', lease }
  const step = nextStepOfJob(state, limits, now)
  if (step.kind === 'conclude') {
    // A run is complete only once a job has concluded and published it.
    const isUnpublished = step.conclusion.outcome === 'complete' && prd.run.outcome !== 'complete'
    return isUnpublished ? { kind: 'ready', step } : { kind: 'ended', conclusion: step.conclusion }
  }
  // There is work. The last job's end still counts if only a new run can change it.
  const last = job.ending?.conclusion ?? null
  // A run that completed without a verification stays complete, even if the reader's own settings ask for one.
  const isOver = isVerification(step) && last?.outcome === 'complete' && !state.verification.asked
  const stillCounts = isOver || ['error', 'interrupted', 'continued'].includes(last?.outcome ?? '')
  return last !== null && stillCounts ? { kind: 'ended', conclusion: last } : { kind: 'ready', step }
}

/** The outcome now; null while a job is at work, or could continue. */
export function situationOutcome(situation: Situation): Outcome | null {
  return situation.kind === 'ended' ? situation.conclusion.outcome : null
}

/** What a person's `ralph run` would do next. */
export function nextStepOfRun(state: State, limits: Limits, now: number): Step {
  return nextStepOfJob(applyCommand(state, { kind: 'run', id: 0, by: 'you' }), limits, now)
}

/** The next job's first step after its set-up, if it finds the base green and the branch unchanged. */
export function nextStepOfJob(state: State, limits: Limits, now: number): Step {
  const { run } = state.prd
  const job = {
    ...newJob(now, Number.MAX_SAFE_INTEGER, state.job.gatedTags),
    ready: { synced: true, prepared: true, opened: true },
    takesBranch: state.job.takesBranch,
  }
  const prd = { ...state.prd, run: { ...run, jobs: run.jobs + 1 } }
  const idle = { ...state, prd, job, attempts: {}, baseline: 'green' as const, published: state.green }
  return nextStep(idle, limits, now)
}
