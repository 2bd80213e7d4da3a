// Starts the next job: a workflow_dispatch on the default branch, with feature and generation. Implements DispatchPort.
import type { HolderRun, UnfinishedRun } from '../engine/lease.ts'
import type { DispatchPort, DispatchResult } from '../engine/model/ports.ts'
import { type GitHub, githubMessage, httpStatusOf, rateLimitedUntil } from './client.ts'

/** Dispatches `workflow` (a file name); without a generation it starts a new chain. The error names the fix. */
export async function dispatchRun(
  { api, repo, place }: GitHub,
  workflow: string,
  inputs: { feature: string; generation: number | null },
): Promise<DispatchResult> {
  const request = {
    ...repo,
    workflow_id: workflow,
    ref: place.defaultBranch,
    inputs: { feature: inputs.feature, generation: String(inputs.generation ?? '') },
  }
  const route = 'POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches'
  try {
    const answer = await api
      .request(route, { ...request, return_run_details: true })
      // An older GitHub Enterprise Server does not know return_run_details.
      .catch((error: unknown) => {
        if (!isUnknownParameter(error)) throw error
        return api.request(route, request)
      })
    return { kind: 'dispatched', runId: runId(answer.data) }
  } catch (error) {
    const until = rateLimitedUntil(error, Date.now())
    if (until !== null) return { kind: 'limited', until }
    throw new Error(dispatchErrorMessage(httpStatusOf(error), workflow, githubMessage(error)))
  }
}

function isUnknownParameter(error: unknown): boolean {
  const status = httpStatusOf(error)
  return (
    (status === 400 || status === 422) &&
    /return_run_details|Invalid (request|input)|not a permitted key/i.test(githubMessage(error))
  )
}

const FOLDER = '.github/workflows/'

/**
 * The file of the workflow called `name`, for runners that do not name the file (act, other forges). Otherwise ralph.yml if the default
 * branch has it, else null.
 */
export async function findWorkflow({ api, repo, place }: GitHub, name: string): Promise<string | null> {
  // The name of a workflow without a name is its path.
  if (/\.ya?ml$/.test(name)) return name.replace(/^.*\//, '')
  const named = await api.rest.actions
    .listRepoWorkflows({ ...repo, per_page: 100 })
    .then(({ data }) => data.workflows.filter((one) => one.name === name && one.path.startsWith(FOLDER)))
    .catch(() => [])
  const [only, ...others] = named
  if (only !== undefined && others.length === 0) return only.path.slice(FOLDER.length)
  const defaultFile = 'ralph.yml'
  return api.rest.repos
    .getContent({ ...repo, ref: place.defaultBranch, path: `${FOLDER}${defaultFile}` })
    .then(
      () => defaultFile,
      () => null,
    )
}

export function createDispatch(github: GitHub, workflow: string): DispatchPort {
  return {
    dispatch: (state) =>
      dispatchRun(github, workflow, { feature: state.feature, generation: state.generation }),
  }
}

function runId(data: unknown): number | null {
  if (typeof data !== 'object' || data === null || !('workflow_run_id' in data)) return null
  return typeof data.workflow_run_id === 'number' ? data.workflow_run_id : null
}

const FIXES: Readonly<Record<number, string>> = {
  403: 'give the job permissions: actions: write',
  404: 'the workflow must be on the default branch, with on: workflow_dispatch',
  422: 'the workflow must be enabled, and declare the inputs feature and generation',
}

function dispatchErrorMessage(status: number | null, workflow: string, message: string): string {
  const fix = FIXES[status ?? 0]
  return `Ralph could not start the workflow ${workflow}${fix === undefined ? `: ${message}` : ` (${message}): ${fix}`}`
}

/** A run of a workflow; null if GitHub does not answer. A run that was deleted counts as completed. */
export async function findWorkflowRun({ api, repo, warn }: GitHub, id: number): Promise<HolderRun> {
  try {
    const { data } = await api.rest.actions.getWorkflowRun({ ...repo, run_id: id })
    return { status: data.status ?? '', conclusion: data.conclusion, at: Date.parse(data.updated_at) }
  } catch (error) {
    if (httpStatusOf(error) === 404) return { status: 'completed', conclusion: null, at: Date.now() }
    warn(`Ralph could not look up run ${id}: ${githubMessage(error)}`)
    return null
  }
}

/** GitHub ends a job that no runner takes within a day. A run that waits longer must be waiting for a person's approval. */
const QUEUE_MS = 24 * 3_600_000

/** The dispatched runs of a workflow that have not completed. */
export async function unfinishedRuns({ api, repo }: GitHub, workflow: string): Promise<UnfinishedRun[]> {
  const route = api.rest.actions.listWorkflowRuns
  const { data } = await route({ ...repo, workflow_id: workflow, event: 'workflow_dispatch', per_page: 100 })
  return data.workflow_runs
    .filter(({ status }) => status !== 'completed')
    .map((run) => ({
      id: run.id,
      url: run.html_url,
      // The `run-name` of the workflow, or the name of the workflow.
      title: run.display_title,
      isNamed: run.display_title !== run.name,
      hasBegun: run.status === 'in_progress',
      since: Date.parse(run.run_started_at ?? run.created_at),
    }))
    .filter(({ since }) => Date.now() - since < QUEUE_MS)
}
