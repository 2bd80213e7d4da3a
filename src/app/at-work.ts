// Whether a run works on a feature, or in a checkout, now. A run has both to itself.
import { hostname } from 'node:os'
import { formatHolder, isExpired } from '../engine/lease.ts'
import type { Lease, State } from '../engine/model/state.ts'
import { UserError } from '../system/errors.ts'
import { isProcessAlive, isStopped } from '../system/process-table.ts'
import type { ClaimRequest } from './claim-feature.ts'
import type { Workspace } from './workspace.ts'

/**
 * Whether the lease's holder is at work. On this machine its process is looked up; of another machine only the lease's expiry is known. A
 * process that runs keeps an expired lease, since it may wait for a vendor's limit; one that was stopped loses it.
 */
export async function isAlive(lease: Lease | null): Promise<boolean> {
  if (lease === null) return false
  const isOver = isExpired(lease, Date.now())
  if (lease.host !== hostname()) return !isOver
  if (!(await isProcessAlive(lease.pid, lease.startTime))) return false
  return !isOver || !(await isStopped(lease.pid))
}

export class AtWork extends UserError {}

/** The error for a feature that a run works on already. `found`: a sentence that names the run. */
export function atWorkError(found: string): AtWork {
  const fix = 'wait until that run ends, or end it with `ralph stop`'
  return new AtWork({ path: 'feature', found: `${found}.`, expected: '', fix })
}

/** Throws UserError if a run works on the feature now. */
export async function refuseAtWork({ lease, feature }: State): Promise<void> {
  if (lease !== null && (await isAlive(lease)))
    throw atWorkError(`${formatHolder(lease)} works on ${feature}`)
}

/** Throws UserError if a run of another feature works in this checkout: its branch is checked out here. */
export async function refuseOtherRun(
  { workspace: { clone, store }, base }: { workspace: Workspace; base: ClaimRequest['base'] },
  branch: string,
): Promise<void> {
  if (clone.branch === null || clone.branch === branch || clone.branch === base.defaultBranch) return
  for (const folder of (await store.list()).keys()) {
    const { state: other } = (await store.load(folder).catch(() => null)) ?? {}
    const isHere = other?.branch === clone.branch && (await isAlive(other.lease))
    if (!isHere || other.lease === null) continue
    const found = `${formatHolder(other.lease)} works on ${other.feature} in this work tree.`
    const fix = `wait until that run ends, or create another work tree with \`ralph worktree\``
    throw new AtWork({ path: 'work tree', found, expected: '', fix })
  }
}
