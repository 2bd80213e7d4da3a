// How a feature stands when somebody asks: at work, ended, or ready to go on. Read from the decision itself. Pure.

import { applyCommand } from './commands/apply-commands.ts'
import type { Outcome } from './model/feature.ts'
import { newJob } from './model/job.ts'
import type { Limits } from './model/limit-types.ts'
import type { Conclusion, Lease, State } from './model/state.ts'
import type { Step } from './model/step.ts'
import { nextStep } from './next-step.ts'

export type Situation =
  /** `lease`: the holder that lives; null where it is the one who asks. */
  | { kind: 'working'; lease: Lease | null }
  /** Nobody works, and this is why. `since`: what people have made of it, where that is known. */
  | EndedSituation
  /** Nobody works, and a run would go on with this step; null where nobody asked for it. */
  | { kind: 'ready'; step: Step | null }

export type EndedSituation = { kind: 'ended'; conclusion: Conclusion; since?: 'merged' | 'archived' }

/** As the job that holds the feature sees it. */
export function ownSituation({ job }: State): Situation {
  return job.ending === null
    ? { kind: 'working', lease: null }
    : { kind: 'ended', conclusion: job.ending.conclusion }
}

/** As anybody else sees it. `lives`: the lease's holder is known to be at work. */
export function situationOf(state: State, limits: Limits, now: number, lives: boolean): Situation {
  const { lease, job, prd } = state
  if (lives && lease !== null) return { kind: 'working', lease }
  const step = nextStepOfJob(state, limits, now)
  if (step.kind === 'conclude') {
    // It is complete as soon as a run has said and published it.
    const isToBeSaid = step.conclusion.outcome === 'complete' && prd.run.outcome !== 'complete'
    return isToBeSaid ? { kind: 'ready', step } : { kind: 'ended', conclusion: step.conclusion }
  }
  // There is work; what the last job ended of stands where nothing has mended it since.
  const last = job.ending?.conclusion ?? null
  // Complete without a verification: that the settings of who looks would hold one changes nothing.
  const isOver = step.kind === 'verify' && last?.outcome === 'complete' && !state.verification.asked
  const stands = isOver || ['error', 'interrupted', 'continued'].includes(last?.outcome ?? '')
  return last !== null && stands ? { kind: 'ended', conclusion: last } : { kind: 'ready', step }
}

/** The outcome as it stands now; null while there is work that nobody was kept from. */
export function situationOutcome(situation: Situation): Outcome | null {
  return situation.kind === 'ended' ? situation.conclusion.outcome : null
}

/** What a person's `ralph run` would do next. */
export function nextStepOfRun(state: State, limits: Limits, now: number): Step {
  return nextStepOfJob(applyCommand(state, { kind: 'run', id: 0, by: 'you' }), limits, now)
}

/** What the next job does once it is set up, and finds the base green and the branch where it was left. */
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
