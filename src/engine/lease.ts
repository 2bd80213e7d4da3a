// The lease: which job may work on a feature now. Pure; the adapters check whether a holder is alive.

import type { Lease, State } from './model/state.ts'
import { MAX_IDLE_JOBS } from './state/limits.ts'

/** Whether a lease's time has passed. Before that, only the platform or the process table can say that its holder is dead. */
export function isExpired(lease: Lease, now: number): boolean {
  return lease.expiresAt <= now
}

/** How long a lease is valid without a renewal: an iteration, its gates, and ten minutes, in milliseconds. */
export function leaseMs(iterationTimeoutMs: number, gatesMs: number): number {
  return iterationTimeoutMs + gatesMs + 10 * 60_000
}

/** The holder for people: `run 123 (https://…)` or `process 42 on host`. */
export function formatHolder(lease: Lease): string {
  if (lease.runId !== null)
    return lease.url === null ? `run ${lease.runId}` : `run ${lease.runId} (${lease.url})`
  return `process ${lease.pid} on ${lease.host}`
}

/** The platform's status of the run that holds the lease (`at`: since when, epoch milliseconds); null if it is not known. */
export type HolderRun = { status: string; conclusion: string | null; at: number } | null

/** A dispatched run that has not ended. `isNamed`: the workflow has a `run-name`; `since`: epoch milliseconds. */
export type UnfinishedRun = {
  id: number
  url: string
  title: string
  isNamed: boolean
  hasBegun: boolean
  since: number
}

/**
 * The run that is this feature's next job while no job holds the lease; it reads every command before it works. Null if there is none.
 * A run's inputs cannot be read, so its name has to contain the feature. Without a `run-name`, only a job that the chain waits for counts.
 */
export function nextJobAmong(runs: readonly UnfinishedRun[], state: State): UnfinishedRun | null {
  const { feature, job, control } = state
  // A run that has begun may have read the comments already, unless the chain still waits for it.
  const isReading = (run: UnfinishedRun) =>
    !run.hasBegun || (control.continuePending && run.id !== control.mendedRun)
  const isOurs = ({ title, isNamed }: UnfinishedRun) =>
    isNamed ? title.split(/\s+/).includes(feature) : control.continuePending
  return runs.find((run) => run.since >= job.startedAt && isReading(run) && isOurs(run)) ?? null
}

/** Why a lost chain has to be resumed; null if it is at work, has ended, or was paused by a person. */
export function lostChainReason(state: State, holder: HolderRun, now: number): string | null {
  const { control, lease, prd } = state
  if (control.paused !== null || control.idleJobs >= MAX_IDLE_JOBS) return null
  if (control.notBefore !== null && control.notBefore > now) return null
  if (lease !== null) {
    const isOver = holder === null ? isExpired(lease, now) : holder.status === 'completed'
    return isOver && !wasStopped(holder, state) ? 'the job that worked on it was lost' : null
  }
  if (control.mendedRun !== null && (holder?.status !== 'completed' || wasStopped(holder, state))) return null
  if (control.continuePending) return 'the next job never started'
  const waited = prd.run.outcome === 'paused' && control.notBefore !== null
  return waited ? 'the wait is over' : null
}

/**
 * Why no job may be started only to put the stack in order; null if one may. Such a job would also continue the run. `working`: a job that
 * has not ended does it. The other reasons are for people.
 */
export function wakeObstacle(state: State, holder: HolderRun, now: number): string | null {
  const { control, lease } = state
  const isWorking = holder === null ? lease !== null && !isExpired(lease, now) : holder.status !== 'completed'
  if (isWorking) return 'working'
  if (wasStopped(holder, state)) return 'a person cancelled its last job'
  if (control.paused !== null && control.paused.by !== 'ralph') return 'a person paused it'
  if (control.idleJobs >= MAX_IDLE_JOBS) return 'its last jobs made no progress'
  const { notBefore } = control
  if (notBefore === null || notBefore <= now) return null
  return `it waits until ${new Date(notBefore).toISOString()}`
}

/** Whether a person stopped the job: it was cancelled before its own deadline. */
function wasStopped(holder: HolderRun, { job }: State): boolean {
  return holder?.conclusion === 'cancelled' && holder.at < job.deadline
}

/** Milliseconds. GitHub itself closes a check as stale that stays open for longer. */
const STALE_MS = 14 * 24 * 3_600_000

/** Whether an ended job may have left checks open: no job works on the feature, and the last one began within the stale time. */
export function mayHaveOpenChecks(state: State, holder: HolderRun, now: number): boolean {
  const { lease, published, job, control } = state
  // A job that has released its lease may still wait to dispatch the next one.
  const isOver =
    holder === null ? lease === null && control.mendedRun === null : holder.status === 'completed'
  return published !== null && isOver && job.startedAt > now - STALE_MS
}
