// Reads what workflow files say of Ralph: which jobs start it, as what, with which rights and how long. Pure.
import { parse } from 'yaml'
import { isMap } from '../settings/types.ts'

/** What a step of Ralph's does, by its `command`; `comment` is the job that answers comments. */
export type Role = 'run' | 'claim' | 'work' | 'gate' | 'land' | 'comment' | 'resume-lost' | 'look'

export type RalphJob = {
  id: string
  role: Role
  /** By scope; `all` for the words that stand for every scope; null where nothing is said. */
  permissions: Readonly<Record<string, string>> | null
  /** The shorter one of job and step, milliseconds. */
  timeoutMs: number
  /** Inputs of the step that are plain text, and names of those whose expressions nobody can read here. */
  inputs: Readonly<Record<string, string>>
  unread: readonly string[]
  /** Names of variables that step, job and workflow set. */
  env: readonly string[]
  /** What stands before the step of Ralph's as `uses:`, with its inputs. */
  checkout: Readonly<Record<string, unknown>> | null
  uses: string
}

export type WorkflowFile = {
  path: string
  /** Inputs of workflow_dispatch; null where that does not start it. */
  dispatchInputs: readonly string[] | null
  events: readonly string[]
  jobs: readonly RalphJob[]
}

/** What GitHub gives a job that says nothing. */
const DEFAULT_TIMEOUT_MS = 360 * 60_000

/** A file that starts Ralph, or null; one that is no YAML map starts nothing. `action`: `owner/repo`. */
export function readWorkflow(path: string, text: string, action: string): WorkflowFile | null {
  const workflow = mapOf(parsed(text))
  const jobs = Object.entries(mapOf(workflow.jobs)).flatMap(([id, job]) => {
    const found = readJob(id, mapOf(job), workflow, action)
    return found === null ? [] : [found]
  })
  if (jobs.length === 0) return null
  const { on } = workflow
  const events = typeof on === 'string' ? [on] : Array.isArray(on) ? on.map(String) : Object.keys(mapOf(on))
  const dispatch = mapOf(mapOf(on).workflow_dispatch)
  const isDispatched = events.includes('workflow_dispatch')
  return {
    path,
    events,
    jobs,
    dispatchInputs: isDispatched ? Object.keys(mapOf(dispatch.inputs)) : null,
  }
}

function parsed(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return null
  }
}

function readJob(
  id: string,
  job: Readonly<Record<string, unknown>>,
  workflow: Readonly<Record<string, unknown>>,
  action: string,
): RalphJob | null {
  const steps = Array.isArray(job.steps) ? job.steps.map(mapOf) : []
  const at = steps.findIndex(({ uses }) => isAction(uses, action))
  const step = steps[at]
  if (step === undefined) return null
  const before = steps.slice(0, at).findLast(({ uses }) => isAction(uses, 'actions/checkout'))
  const given = Object.entries(mapOf(step.with)).map(
    ([name, value]) => [name.toLowerCase(), `${value}`] as const,
  )
  const inputs = given.filter(([name, value]) => name !== 'command' && !value.includes('${{'))
  const timeouts = [job['timeout-minutes'], step['timeout-minutes']].filter((one) => typeof one === 'number')
  return {
    id,
    role: roleOf(String(mapOf(step.with).command ?? ''), String(job.if ?? '')),
    permissions: permissionsOf(job.permissions ?? workflow.permissions),
    timeoutMs: Math.min(DEFAULT_TIMEOUT_MS, ...timeouts.map((minutes) => minutes * 60_000)),
    inputs: Object.fromEntries(inputs),
    unread: given.filter(([, value]) => value.includes('${{')).map(([name]) => name),
    env: [workflow.env, job.env, step.env].flatMap((env) => Object.keys(mapOf(env))),
    checkout: before === undefined ? null : mapOf(before.with),
    uses: String(step.uses),
  }
}

function isAction(uses: unknown, action: string): boolean {
  return typeof uses === 'string' && uses.toLowerCase().startsWith(`${action.toLowerCase()}@`)
}

function roleOf(command: string, condition: string): Role {
  switch (command.trim()) {
    case '':
    case 'auto':
      return /issue_comment|'issues'/.test(condition) && !/workflow_dispatch/.test(condition)
        ? 'comment'
        : 'run'
    case 'run':
    case 'plan':
      return 'run'
    case 'claim':
    case 'work':
    case 'gate':
    case 'land':
    case 'resume-lost':
      return command.trim() as Role
    default:
      // What an expression gives is chosen by a person who starts work.
      return command.includes('${{') ? 'run' : 'look'
  }
}

function permissionsOf(value: unknown): Record<string, string> | null {
  if (value === undefined || value === null) return null
  if (value === 'write-all') return { all: 'write' }
  if (value === 'read-all') return { all: 'read' }
  return Object.fromEntries(Object.entries(mapOf(value)).map(([scope, right]) => [scope, String(right)]))
}

function mapOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMap(value) ? value : {}
}
