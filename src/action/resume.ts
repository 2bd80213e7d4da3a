// `resume-lost`, on a schedule: starts chains again whose job was lost. Idempotent: a dispatch carries the generation.
import * as core from '@actions/core'
import { createClient, saidByGitHub } from '../github/client.ts'
import { dispatchRun } from '../github/dispatch.ts'
import { type HolderRun, whyLost } from '../loop/lost.ts'
import type { State } from '../loop/state.ts'
import { UserError } from '../system/errors.ts'
import { type ActionContext, namesByApi, tokenOf } from './context.ts'
import { peekStates } from './peek.ts'

/** Looks at every feature once; gives what was done, in one line. */
export async function resumeLost(context: ActionContext): Promise<string> {
  const { place } = context
  const workflow = context.inputs.workflow?.trim() ?? ''
  if (workflow === '') {
    throw new UserError([
      {
        path: 'input workflow',
        found: 'nothing',
        expected: 'the file name of the workflow that works',
        fix: 'write workflow: ralph.yml; this workflow only resumes',
      },
    ])
  }
  const api = createClient({ token: tokenOf(context), url: place.api, warn: (text) => core.warning(text) })
  const { stateNamespace } = await namesByApi(context, api)
  const states = await peekStates(context, stateNamespace)
  const resumed: string[] = []
  let queued: boolean | null = null
  for (const state of states.values()) {
    const why = whyLost(state, await holderOf(state), Date.now())
    if (why === null) continue
    // What was dispatched and waits for a runner may be this chain's next job: the next look will tell.
    queued ??= await isQueued()
    if (queued) return 'a job waits for a runner: looking again later'
    await dispatchRun(api, place, workflow, { feature: state.feature, generation: state.generation })
    resumed.push(`${state.feature} (${why})`)
  }
  return resumed.length === 0 ? 'no chain is lost' : `resumed: ${resumed.join(', ')}`

  async function isQueued(): Promise<boolean> {
    const { owner, repo } = place
    const route = api.rest.actions.listWorkflowRuns
    const { data } = await route({
      owner,
      repo,
      workflow_id: workflow,
      event: 'workflow_dispatch',
      per_page: 30,
    })
    return data.workflow_runs.some((run) => run.status !== 'completed' && run.status !== 'in_progress')
  }

  async function holderOf(state: State): Promise<HolderRun> {
    const id = state.lease?.runId ?? state.control.mendedRun
    if (id === null) return null
    const { owner, repo } = place
    try {
      const { data } = await api.rest.actions.getWorkflowRun({ owner, repo, run_id: id })
      return { status: data.status ?? '', conclusion: data.conclusion, at: Date.parse(data.updated_at) }
    } catch (error) {
      core.warning(`run ${id} could not be looked up: ${saidByGitHub(error)}`)
      return null
    }
  }
}
