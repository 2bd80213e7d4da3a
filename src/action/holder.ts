// Who works on a feature now, as a run that does not work on it can tell.
import * as core from '@actions/core'
import { type GitHub, saidByGitHub } from '../github/client.ts'
import { expired } from '../loop/lease.ts'
import type { State } from '../model/state.ts'

/** Whether somebody holds the feature, as far as the state's own time tells. */
export function working(state: State | null): boolean {
  return state?.lease != null && !expired(state.lease, Date.now())
}

/** Whether the run that holds it still goes on. */
export async function holderLives({ api, at }: GitHub, state: State): Promise<boolean> {
  // On somebody's machine: only the lease's own time is known.
  if (state.lease?.runId == null) return true
  const run = await api.rest.actions
    .getWorkflowRun({ ...at, run_id: state.lease.runId })
    .catch((error: unknown) => {
      core.warning(`run ${state.lease?.runId} could not be looked up: ${saidByGitHub(error)}`)
      return null
    })
  return run === null || run.data.status !== 'completed'
}
