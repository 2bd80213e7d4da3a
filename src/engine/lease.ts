// Who may work on a feature now. Pure; whether a holder lives is asked by the adapters.

import { MAX_IDLE_JOBS } from './limits.ts'
import type { Lease, State } from './model/state.ts'

/** A lease is over when its time has passed; before that only the platform or the process table can say. */
export function isExpired(lease: Lease, now: number): boolean {
  return lease.expiresAt <= now
}

/** How long a lease holds without a renewal: an iteration, its gates, and ten minutes, milliseconds. */
export function leaseMs(iterationTimeoutMs: number, gatesMs: number): number {
  return iterationTimeoutMs + gatesMs + 10 * 60_000
}

/** The holder in words: `run 123 (https://…)` or `process 42 on host`. */
export function formatHolder(lease: Lease): string {
  if (lease.runId !== null)
    return lease.url === null ? `run ${lease.runId}` : `run ${lease.runId} (${lease.url})`
  return `process ${lease.pid} on ${lease.host}`
}

/** How the run that holds the lease stands on the platform (`at`: since when, epoch ms); null where it could not be asked. */
export type HolderRun = { status: string; conclusion: string | null; at: number } | null

/** Why the chain is to be resumed, in words, or null: it works, it has ended, or a person wants it to rest. */
export function lostChainReason(state: State, holder: HolderRun, now: number): string | null {
  const { control, lease, prd } = state
  if (control.paused !== null || control.idleJobs >= MAX_IDLE_JOBS) return null
  if (control.notBefore !== null && control.notBefore > now) return null
  if (lease !== null) {
    const isOver = holder === null ? isExpired(lease, now) : holder.status === 'completed'
    return isOver && !stopped(holder, state) ? 'the job that worked on it was lost' : null
  }
  if (control.mendedRun !== null && (holder?.status !== 'completed' || stopped(holder, state))) return null
  if (control.continuePending) return 'the next job was promised and never started'
  const waited = prd.run.outcome === 'paused' && control.notBefore !== null
  return waited ? 'the time to wait for is over' : null
}

/** A job that was cancelled before our own deadline was stopped by a person. */
function stopped(holder: HolderRun, { job }: State): boolean {
  return holder?.conclusion === 'cancelled' && holder.at < job.deadline
}

/** GitHub itself calls a check stale that is open for longer. */
const STALE_MS = 14 * 24 * 3_600_000

/** Whether a job that is over may have left checks open: no job works on the feature, and the last began not long ago. */
export function mayHaveOpenChecks(state: State, holder: HolderRun, now: number): boolean {
  const { lease, published, job, control } = state
  // A job that has released its lease may still wait to dispatch the next one.
  const isOver =
    holder === null ? lease === null && control.mendedRun === null : holder.status === 'completed'
  return published !== null && isOver && job.startedAt > now - STALE_MS
}
