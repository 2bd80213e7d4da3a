// Workflows, their dispatch, their runs and jobs.
import type { Json, Run } from '../model.ts'
import { apiUrl, htmlUrl, nodeId, renderEvent, renderRun, workflowId } from '../render.ts'
import { dispatchInputs, readWorkflow, type Workflow, WorkflowError } from '../runner/workflow.ts'
import { HttpError, noAccess, notFound, type World } from '../world.ts'
import { type Call, type Endpoints, numberParam, ok, paged, text } from './call.ts'

/** The workflow files at a commit. */
export async function workflowPaths(world: World, at: string): Promise<string[]> {
  for (const folder of world.dialect.workflowFolders) {
    const names = (await world.bare.list(at, folder)).filter((name) => /\.ya?ml$/.test(name))
    if (names.length > 0) return names.map((name) => `${folder}/${name}`)
  }
  return []
}

export interface Dispatch {
  /** The name of the file, its path, or its number. */
  workflow: string
  ref: string
  inputs: Json
  actor: string
}
/** Queues a run as the endpoint does: the file must be on the default branch, and runs as it is at `ref`. */
export async function dispatch(world: World, wanted: Dispatch): Promise<Run> {
  const { settings, bare } = world
  const known = await workflowPaths(world, `refs/heads/${settings.defaultBranch}`)
  const path = known.find(
    (one) =>
      one === wanted.workflow ||
      one.endsWith(`/${wanted.workflow}`) ||
      String(workflowId(one)) === wanted.workflow,
  )
  if (path === undefined) throw notFound()
  if (settings.disabledWorkflows.some((file) => path.endsWith(`/${file}`)))
    throw new HttpError(422, "Cannot trigger a 'workflow_dispatch' on a disabled workflow")
  const branch = wanted.ref.replace(/^refs\/(heads|tags)\//, '')
  const fullRefs = [`refs/heads/${branch}`, `refs/tags/${branch}`]
  const refs = await bare.refs()
  const ref = fullRefs.find((one) => refs.has(one))
  if (ref === undefined) throw new HttpError(422, `No ref found for: ${wanted.ref}`)
  const sha = (await bare.resolve(ref)) ?? ''
  const onDefault = await parse(world, `refs/heads/${settings.defaultBranch}`, path)
  const workflow = await parse(world, sha, path)
  if (!('workflow_dispatch' in onDefault.on) || !('workflow_dispatch' in workflow.on))
    throw new HttpError(422, "Workflow does not have 'workflow_dispatch' trigger")
  const inputs = asHttp(() => dispatchInputs(workflow, wanted.inputs))
  const full = { inputs, ref, workflow: path, ...renderEvent(world, wanted.actor) }
  const payload = world.eventPayload('workflow_dispatch', null, full)
  const run = newRun(world, {
    workflow,
    event: 'workflow_dispatch',
    payload,
    actor: wanted.actor,
    ref,
    sha,
    inputs,
  })
  world.addRun(run)
  return run
}
async function parse(world: World, at: string, path: string): Promise<Workflow> {
  const content = await world.bare.read(at, path)
  if (content === null) throw new HttpError(422, `Workflow file ${path} is not at that ref`)
  try {
    return await readWorkflow(path, content)
  } catch (error) {
    if (error instanceof WorkflowError) throw new HttpError(422, error.message)
    throw error
  }
}
function asHttp<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (error instanceof WorkflowError) throw new HttpError(422, error.message)
    throw error
  }
}

export interface NewRun {
  workflow: Pick<Workflow, 'path' | 'name'>
  event: string
  payload: Json
  actor: string
  ref: string
  sha: string
  inputs: Record<string, string>
}
export function newRun(world: World, wanted: NewRun): Run {
  const now = world.now()
  const { workflow, ...rest } = wanted
  return {
    id: world.nextId(),
    number: world.runs.filter((run) => run.workflow === workflow.path).length + 1,
    attempt: 1,
    workflow: workflow.path,
    workflowName: workflow.name,
    title: workflow.name,
    ...rest,
    status: 'queued',
    conclusion: null,
    createdAt: now,
    updatedAt: now,
    jobs: [],
    earlier: [],
    error: null,
  }
}

function runsOf(call: Call, all: Run[]): ReturnType<typeof paged> {
  const { world, query } = call
  const is = (name: string, ...values: (string | null)[]): boolean =>
    !query.has(name) || values.includes(query.get(name))
  const list = all
    .filter((run) => is('actor', run.actor) && is('event', run.event) && is('head_sha', run.sha))
    .filter((run) => is('status', run.status, run.conclusion))
    .filter((run) => is('branch', run.ref.replace('refs/heads/', '')))
    .toReversed()
  return paged(call, list, (page) => ({
    total_count: list.length,
    workflow_runs: page.map((run) => renderRun(world, run)),
  }))
}
async function renderWorkflow(world: World, path: string): Promise<Json> {
  const id = workflowId(path)
  const born = `${world.born.toISOString().slice(0, 19)}Z`
  const isOff = world.settings.disabledWorkflows.some((file) => path.endsWith(`/${file}`))
  return {
    id,
    node_id: nodeId('Workflow', id),
    // A file that is no workflow is called by its path.
    name: await parse(world, `refs/heads/${world.settings.defaultBranch}`, path).then(
      (workflow) => workflow.name,
      () => path,
    ),
    path,
    state: isOff ? 'disabled_manually' : 'active',
    created_at: born,
    updated_at: born,
    url: apiUrl(world, `/actions/workflows/${id}`),
    html_url: htmlUrl(world, `/blob/${world.settings.defaultBranch}/${path}`),
    badge_url: htmlUrl(world, `/workflows/${path}/badge.svg`),
  }
}
async function workflowOf(call: Call): Promise<string> {
  const name = call.params.workflow_id ?? ''
  const known = await workflowPaths(call.world, `refs/heads/${call.world.settings.defaultBranch}`)
  const path = known.find((one) => one.endsWith(`/${name}`) || String(workflowId(one)) === name)
  if (path === undefined) throw notFound()
  return path
}

export const actions: Endpoints = {
  'actions/list-repo-workflows': {
    needs: ['actions:read'],
    answer: async (call) => {
      const paths = await workflowPaths(call.world, `refs/heads/${call.world.settings.defaultBranch}`)
      const all = await Promise.all(paths.map((path) => renderWorkflow(call.world, path)))
      return paged(call, all, (workflows) => ({ total_count: all.length, workflows }))
    },
  },
  'actions/get-workflow': {
    needs: ['actions:read'],
    answer: async (call) => ok(await renderWorkflow(call.world, await workflowOf(call))),
  },
  'actions/create-workflow-dispatch': {
    needs: ['actions:write'],
    answer: async ({ world, params, body, identity }) => {
      if (world.settings.oldDispatch && 'return_run_details' in body)
        throw new HttpError(422, 'Invalid request.\n\n"return_run_details" is not a permitted key.')
      const run = await dispatch(world, {
        workflow: params.workflow_id ?? '',
        ref: text(body, 'ref') ?? '',
        inputs: (body.inputs ?? {}) as Json,
        actor: identity.login,
      })
      if (body.return_run_details !== true) return { status: 204 }
      const url = apiUrl(world, `/actions/runs/${run.id}`)
      return ok({
        workflow_run_id: run.id,
        run_url: url,
        html_url: htmlUrl(world, `/actions/runs/${run.id}`),
      })
    },
  },
  'actions/list-workflow-runs': {
    needs: ['actions:read'],
    answer: async (call) => {
      const path = await workflowOf(call)
      return runsOf(
        call,
        call.world.runs.filter((run) => run.workflow === path),
      )
    },
  },
  'actions/get-workflow-run': {
    needs: ['actions:read'],
    answer: (call) => ok(renderRun(call.world, call.world.run(numberParam(call, 'run_id')))),
  },
  'actions/cancel-workflow-run': {
    needs: ['actions:write'],
    answer: (call) => {
      const run = call.world.run(numberParam(call, 'run_id'))
      if (run.status === 'completed')
        throw new HttpError(409, 'Cannot cancel a workflow run that is completed.')
      call.world.cancelRun?.(run)
      return { status: 202, body: {} }
    },
  },
  // Needs the administration permission, which no job's token can have (facts 3.3): an admin's own token has it.
  'actions/get-github-actions-default-workflow-permissions-repository': {
    needs: [],
    answer: ({ world, identity }) => {
      const isAdmin = identity.kind === 'user' && world.permissionOf(identity.login).permission === 'admin'
      if (!isAdmin) throw noAccess()
      return ok({
        default_workflow_permissions: 'read',
        can_approve_pull_request_reviews: world.settings.actionsMayOpenPullRequests,
      })
    },
  },
}
