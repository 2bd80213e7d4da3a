// Ralph's jobs in workflow files: their roles, permissions, timeouts and settings.
import type { Workspace } from '../../app/workspace.ts'
import { asObject, asString, type Json } from '../../engine/model/json.ts'
import { pathsIn } from '../../git/trees.ts'
import type { Environment } from '../../isolation/untrusted-env.ts'
import { resolveSettings, type Settings } from '../../settings/read-settings.ts'
import type { Mistake } from '../../system/errors.ts'
import { ACTIONS_LOCK, unlockedActions } from '../actions-lock.ts'
import { yamlObject } from '../yaml-object.ts'

/** What a step of Ralph's does, by its `command`; `comment` is the job that answers comments, `worker` one of a matrix. */
export type Role =
  | ('run' | 'comment' | 'resume-lost' | 'look')
  | ('claim' | 'work' | 'gate' | 'land')
  | ('worker' | 'join')

export type RalphJob = {
  id: string
  role: Role
  /** By scope; `all` for `read-all` and `write-all`; null if the workflow sets none. */
  permissions: Readonly<Record<string, string>> | null
  /** The shorter one of job and step, milliseconds. */
  timeoutMs: number
  /** Inputs of the step with constant values; `unread`: names of inputs with expressions, which cannot be evaluated here. */
  inputs: Readonly<Record<string, string>>
  unread: readonly string[]
  /** Names of variables that step, job and workflow set. */
  env: readonly string[]
  /** The environment whose secrets the job gets; null without one, or if an expression names it. */
  environment: string | null
  /** Inputs of the `actions/checkout` step before Ralph's; null if there is none. */
  checkout: Readonly<Record<string, unknown>> | null
  uses: string
}

export type WorkflowFile = {
  path: string
  /** Inputs of workflow_dispatch; null if that does not start it. */
  dispatchInputs: readonly string[] | null
  events: readonly string[]
  jobs: readonly RalphJob[]
}

/** GitHub's default timeout of a job. */
const DEFAULT_TIMEOUT_MS = 360 * 60_000

/** A file that starts Ralph, or null; one that is not a YAML map starts nothing. `action`: `owner/repo`. */
export function readWorkflow(path: string, text: string, action: string): WorkflowFile | null {
  const workflow = yamlObject(text) ?? {}
  const jobs = Object.entries(mapOf(workflow.jobs)).flatMap(([id, job]) => {
    const found = readJob(id, mapOf(job), workflow, action)
    return found === null ? [] : [found]
  })
  if (jobs.length === 0) return null
  const { on } = workflow
  const events = eventsOf(on)
  const isDispatched = events.includes('workflow_dispatch')
  const dispatchInputs = Object.keys(mapOf(mapOf(mapOf(on).workflow_dispatch).inputs))
  return { path, events, jobs, dispatchInputs: isDispatched ? dispatchInputs : null }
}

/** The names of the events in the `on` of a workflow. */
export function eventsOf(on: unknown): string[] {
  return typeof on === 'string' ? [on] : Array.isArray(on) ? on.map(String) : Object.keys(mapOf(on))
}

function mapOf(value: unknown): Json {
  return asObject(value) ?? {}
}

function readJob(id: string, job: Json, workflow: Json, action: string): RalphJob | null {
  const steps = Array.isArray(job.steps) ? job.steps.map(mapOf) : []
  const isOf = (uses: unknown, name: string) =>
    typeof uses === 'string' && uses.toLowerCase().startsWith(`${name.toLowerCase()}@`)
  const at = steps.findIndex(({ uses }) => isOf(uses, action))
  const step = steps[at]
  if (step === undefined) return null
  const before = steps.slice(0, at).findLast(({ uses }) => isOf(uses, 'actions/checkout'))
  const stepInputs = Object.entries(mapOf(step.with)).map(
    ([name, value]) => [name.toLowerCase(), `${value}`] as const,
  )
  const isUnread = ([, value]: readonly [string, string]) => value.includes('${{')
  const inputs = stepInputs.filter((one) => one[0] !== 'command' && !isUnread(one))
  const env = [workflow.env, job.env, step.env].flatMap((one) => Object.keys(mapOf(one)))
  const command = String(mapOf(step.with).command ?? '').trim()
  const timeouts = [job['timeout-minutes'], step['timeout-minutes']].filter((one) => typeof one === 'number')
  return {
    id,
    // At `separate-job` a worker hands its session over, by an output.
    role:
      command === 'work' && env.includes('RALPH_WORKER') && job.outputs === undefined
        ? 'worker'
        : roleOf(command, String(job.if ?? '')),
    permissions: permissionsOf(job.permissions ?? workflow.permissions),
    timeoutMs: Math.min(DEFAULT_TIMEOUT_MS, ...timeouts.map((minutes) => minutes * 60_000)),
    inputs: Object.fromEntries(inputs),
    unread: stepInputs.filter(isUnread).map(([name]) => name),
    env,
    environment: environmentOf(job.environment),
    checkout: before === undefined ? null : mapOf(before.with),
    uses: String(step.uses),
  }
}

function environmentOf(value: unknown): string | null {
  const name = typeof value === 'string' ? value : asString(mapOf(value).name)
  return name === null || name === '' || name.includes('${{') ? null : name
}

const ROLES: readonly Role[] = ['run', 'claim', 'work', 'gate', 'land', 'join', 'resume-lost']

function roleOf(command: string, condition: string): Role {
  if (command === '' || command === 'auto') {
    const isAnswer = /issue_comment|'issues'/.test(condition) && !/workflow_dispatch/.test(condition)
    return isAnswer ? 'comment' : 'run'
  }
  // An expression is an input of workflow_dispatch: a person who starts work chooses it.
  if (command === 'plan' || command.includes('${{')) return 'run'
  return ROLES.find((role) => role === command) ?? 'look'
}

function permissionsOf(value: unknown): Record<string, string> | null {
  if (value === undefined || value === null) return null
  if (value === 'write-all' || value === 'read-all') return { all: value.replace('-all', '') }
  return Object.fromEntries(Object.entries(mapOf(value)).map(([scope, right]) => [scope, String(right)]))
}

export const WORKFLOWS = '.github/workflows/'

export type Ci = {
  file: WorkflowFile
  /** All workflows that start Ralph, `file` included. */
  files: readonly WorkflowFile[]
  /** The first job that works on features. */
  job: RalphJob
  settings: Settings
  /** Actions of workflows that the lock file lists without them. */
  unlocked: readonly { path: string; uses: readonly string[] }[]
  /** Mistakes in the step's own inputs; empty if an input has an expression. */
  mistakes: readonly Mistake[]
}

const WORKING: ReadonlySet<Role> = new Set(['run', 'claim'])

/** The workflows at a commit that start Ralph, by name. */
async function workflowsAt({ objects }: Workspace, commit: string, action: string): Promise<WorkflowFile[]> {
  const files: WorkflowFile[] = []
  for (const path of (await pathsIn(objects, commit, WORKFLOWS)).filter(isWorkflow).sort()) {
    const file = readWorkflow(path, (await objects.text(`${commit}:${path}`)) ?? '', action)
    if (file !== null) files.push(file)
  }
  return files
}

/** The workflow at a commit that works on features; null if there is none. */
export async function findCi(
  workspace: Workspace,
  commit: string,
  env: Environment,
  action: string,
): Promise<Ci | null> {
  const look = (path: string) => workspace.objects.text(`${commit}:${path}`)
  const files = await workflowsAt(workspace, commit, action)
  const unlocked = await unlockedIn(files, look)
  for (const file of files) {
    const job = file.jobs.find(({ role }) => WORKING.has(role))
    if (job === undefined) continue
    const result = await resolveSettings({ inputs: job.inputs, env, surface: 'action' }, look)
    const all = result.ok || job.unread.length > 0 ? [] : result.mistakes
    const mistakes = all.filter(({ path: at }) => /^input\b/.test(at))
    return { file, files, job, unlocked, settings: result.settings, mistakes }
  }
  return null
}

async function unlockedIn(files: readonly WorkflowFile[], look: (path: string) => Promise<string | null>) {
  const lock = await look(ACTIONS_LOCK)
  if (lock === null) return []
  const found = files.map(async ({ path }) => ({
    path,
    uses: unlockedActions(lock, path, (await look(path)) ?? ''),
  }))
  return (await Promise.all(found)).filter(({ uses }) => uses.length > 0)
}

export function isWorkflow(path: string): boolean {
  return /^\.github\/workflows\/[^/]+\.ya?ml$/.test(path)
}
