// Who works on a feature now, as a run that does not work on it can tell.
import type { GitHub } from '../github/client.ts'
import { runOf } from '../github/dispatch.ts'
import { expired } from '../loop/lease.ts'
import type { State } from '../model/state.ts'

/** Whether somebody holds the feature, as far as the state's own time tells. */
export function working(state: State | null): boolean {
  return state?.lease != null && !expired(state.lease, Date.now())
}

/** Whether the run that holds it still goes on. */
export async function holderLives(github: GitHub, { lease }: State): Promise<boolean> {
  // On somebody's machine: only the lease's own time is known.
  if (lease?.runId == null) return true
  return (await runOf(github, lease.runId))?.status !== 'completed'
}
