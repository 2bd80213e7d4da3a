// Who may work on a feature now. Pure; whether a holder lives is asked by the adapters.
import type { Lease } from '../model/state.ts'

/** A lease is over when its time has passed; before that only the platform or the process table can say. */
export function expired(lease: Lease, now: number): boolean {
  return lease.expiresAt <= now
}

/** How long a lease holds without a renewal: an iteration, its gates, and ten minutes, milliseconds. */
export function leaseMs(iterationTimeoutMs: number, gatesMs: number): number {
  return iterationTimeoutMs + gatesMs + 10 * 60_000
}

/** The holder in words: `run 123 (https://…)` or `process 42 on host`. */
export function sayHolder(lease: Lease): string {
  if (lease.runId !== null)
    return lease.url === null ? `run ${lease.runId}` : `run ${lease.runId} (${lease.url})`
  return `process ${lease.pid} on ${lease.host}`
}
