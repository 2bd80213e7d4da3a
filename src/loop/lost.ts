// Whether a chain has stopped although it should go on: asked by `resume-lost`. Pure.

import type { State } from '../model/state.ts'
import { expired } from './lease.ts'
import { MAX_IDLE_JOBS } from './limits.ts'

/** How the run that holds the lease stands on the platform (`at`: since when, epoch ms); null where it could not be asked. */
export type HolderRun = { status: string; conclusion: string | null; at: number } | null

/** Why the chain is to be resumed, in words, or null: it works, it has ended, or a person wants it to rest. */
export function whyLost(state: State, holder: HolderRun, now: number): string | null {
  const { control, lease, prd } = state
  if (control.paused !== null || control.idleJobs >= MAX_IDLE_JOBS) return null
  if (control.notBefore !== null && control.notBefore > now) return null
  if (lease !== null) return whyHeldInVain(state, holder, now)
  if (control.mendedRun !== null && (holder?.status !== 'completed' || stopped(holder, state))) return null
  if (control.continuePending) return 'the next job was promised and never started'
  const waited = prd.run.outcome === 'paused' && control.notBefore !== null
  return waited ? 'the time to wait for is over' : null
}

function whyHeldInVain(state: State, holder: HolderRun, now: number): string | null {
  const { lease } = state
  if (lease === null) return null
  const over = holder === null ? expired(lease, now) : holder.status === 'completed'
  if (!over) return null
  return stopped(holder, state) ? null : 'the job that worked on it was lost'
}

/** A job that was cancelled before our own deadline was stopped by a person. */
function stopped(holder: HolderRun, { job }: State): boolean {
  return holder?.conclusion === 'cancelled' && holder.at < job.deadline
}
