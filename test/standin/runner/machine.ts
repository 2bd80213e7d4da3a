// What a job finds on its machine: folders, the environment, the `github` and `runner` contexts.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { accountId } from '../accounts.ts'
import type { Job, Json, Run } from '../model.ts'
import type { World } from '../world.ts'

export interface Folders {
  base: string
  /** GITHUB_WORKSPACE */
  workspace: string
  runnerWorkspace: string
  temp: string
  home: string
  /** Where the runner puts the actions that a job uses. */
  actions: string
  tools: string
  eventFile: string
  commands: string
  /** Where the artifacts of the job are kept when it is over. */
  artifacts: string
}

/** The folders of a machine that is new. `samePaths`: they have the same paths as those of the job before, which are removed. */
export async function makeFolders(
  world: World,
  workRoot: string,
  { run, job, samePaths }: { run: Run; job: Job; samePaths: boolean },
): Promise<Folders> {
  const base = join(workRoot, samePaths ? 'machine' : `${run.id}-${job.attempt}-${job.id}`)
  if (samePaths) await rm(base, { recursive: true, force: true })
  const temp = join(base, 'work', '_temp')
  const runnerWorkspace = join(base, 'work', world.settings.repo)
  const folders = {
    base,
    runnerWorkspace,
    workspace: join(runnerWorkspace, world.settings.repo),
    temp,
    home: join(base, 'home'),
    actions: join(base, 'work', '_actions'),
    tools: join(base, 'tools'),
    eventFile: join(temp, '_github_workflow', 'event.json'),
    commands: join(temp, '_runner_file_commands'),
    artifacts: join(samePaths ? join(workRoot, `${run.id}-${job.id}`) : base, 'artifacts'),
  }
  const all = [
    folders.workspace,
    folders.home,
    folders.tools,
    join(temp, '_github_workflow'),
    folders.commands,
  ]
  await Promise.all(all.map((folder) => mkdir(folder, { recursive: true })))
  await writeFile(folders.eventFile, JSON.stringify(run.payload, null, 2))
  return folders
}

/** The `github` context; `folders` is null where no machine is there yet (an `if:` of a job). */
export function githubContext(world: World, run: Run, job: Job | null, folders: Folders | null): Json {
  const { settings } = world
  const refName = run.ref.replace(/^refs\/(heads|tags|pull)\//, '')
  const isTag = run.ref.startsWith('refs/tags/')
  return {
    token: job?.token ?? '',
    job: job?.key ?? '',
    ref: run.ref,
    ref_name: refName,
    ref_type: isTag ? 'tag' : 'branch',
    ref_protected: settings.protectedBranches.includes(refName),
    sha: run.sha,
    repository: world.fullName,
    repository_id: String(accountId(world.fullName)),
    repository_owner: settings.owner,
    repository_owner_id: String(accountId(settings.owner)),
    repository_visibility: settings.private ? 'private' : 'public',
    repositoryUrl: `${world.url}/${world.fullName}.git`,
    run_id: String(run.id),
    run_number: String(run.number),
    run_attempt: String(run.attempt),
    retention_days: '90',
    actor: run.actor,
    actor_id: String(accountId(run.actor)),
    triggering_actor: run.actor,
    workflow: world.dialect.api === '/api/v1' ? (run.workflow.split('/').at(-1) ?? '') : run.workflowName,
    workflow_ref: `${world.fullName}/${run.workflow}@${run.ref}`,
    workflow_sha: run.sha,
    ...sides(run),
    event_name: run.event,
    event: run.payload,
    server_url: world.url,
    api_url: `${world.url}${world.dialect.api}`,
    graphql_url: `${world.url}${world.dialect.graphql ?? '/graphql'}`,
    ...(folders === null ? {} : { workspace: folders.workspace, event_path: folders.eventFile }),
  }
}

/** Only the runs of pull requests have these. */
function sides(run: Run): Json {
  const pull = run.payload.pull_request as { head: { ref: string }; base: { ref: string } } | undefined
  return { head_ref: pull?.head.ref ?? '', base_ref: pull?.base.ref ?? '' }
}

// The runner exports these keys of the context and no others (facts 1.4); the token is not among them.
const exported = [
  'action_ref',
  'action_repository',
  'action',
  'actor',
  'actor_id',
  'api_url',
  'base_ref',
  'event_name',
  'event_path',
  'graphql_url',
  'head_ref',
  'job',
  'ref_name',
  'ref_protected',
  'ref_type',
  'ref',
  'repository',
  'repository_id',
  'repository_owner',
  'repository_owner_id',
  'retention_days',
  'run_attempt',
  'run_id',
  'run_number',
  'server_url',
  'sha',
  'triggering_actor',
  'workflow',
  'workflow_ref',
  'workflow_sha',
  'workspace',
]
export function githubEnvironment(context: Json): Record<string, string> {
  const pairs = exported
    .filter((key) => context[key] !== undefined)
    .map((key) => [`GITHUB_${key.toUpperCase()}`, String(context[key])])
  return Object.fromEntries(pairs)
}

export function runnerContext(folders: Folders): Json {
  return {
    os: process.platform === 'darwin' ? 'macOS' : 'Linux',
    arch: process.arch === 'arm64' ? 'ARM64' : 'X64',
    name: 'Stand-in 1',
    environment: 'github-hosted',
    temp: folders.temp,
    tool_cache: folders.tools,
    workspace: folders.runnerWorkspace,
  }
}
export function runnerEnvironment(folders: Folders, trackingId: string): Record<string, string> {
  const context = runnerContext(folders)
  return {
    RUNNER_OS: String(context.os),
    RUNNER_ARCH: String(context.arch),
    RUNNER_NAME: String(context.name),
    RUNNER_ENVIRONMENT: 'github-hosted',
    RUNNER_TEMP: folders.temp,
    RUNNER_TOOL_CACHE: folders.tools,
    RUNNER_WORKSPACE: folders.runnerWorkspace,
    RUNNER_TRACKING_ID: trackingId,
    GITHUB_ACTIONS: 'true',
  }
}
/** Where the runner gives a job its identity, and the token to ask for it. */
export type IdentityService = { url: string; token: string }

/** What only actions get, never `run:` steps. `identity`: of a job with `id-token: write`. */
export function serviceEnvironment(
  world: World,
  token: string,
  identity: IdentityService | null,
): Record<string, string> {
  return {
    ACTIONS_RUNTIME_URL: `${world.url}/_services/`,
    ACTIONS_RUNTIME_TOKEN: token,
    ...(identity === null
      ? {}
      : {
          ACTIONS_ID_TOKEN_REQUEST_URL: identity.url,
          ACTIONS_ID_TOKEN_REQUEST_TOKEN: identity.token,
        }),
    ACTIONS_RESULTS_URL: `${world.url}/_services/`,
    ACTIONS_CACHE_URL: `${world.url}/_services/`,
    ACTIONS_CACHE_SERVICE_V2: 'True',
    ACTIONS_CACHE_MODE: 'write',
  }
}
