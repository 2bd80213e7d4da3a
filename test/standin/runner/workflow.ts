// Workflow files: GitHub's own parser finds the mistakes, plain YAML gives the values.
// (The parser's converted events drop `type: number` and the defaults of inputs; its tokens carry no more than the YAML.)
import { registerHooks } from 'node:module'
import { parse } from 'yaml'
import type { Json } from '../model.ts'

export interface InputSpec {
  type: string
  required: boolean
  default: unknown
  options: string[]
}
export interface StepSpec extends Json {
  id?: string
  name?: string
  if?: unknown
  uses?: string
  run?: string
  with?: Json
  env?: Json
  shell?: string
  'working-directory'?: string
  'continue-on-error'?: unknown
  'timeout-minutes'?: unknown
}
export interface JobSpec extends Json {
  name?: string
  needs?: string | string[]
  if?: unknown
  permissions?: unknown
  concurrency?: unknown
  strategy?: Json
  env?: Json
  outputs?: Json
  steps?: StepSpec[]
  uses?: string
  'runs-on'?: unknown
  'timeout-minutes'?: unknown
  defaults?: Json
}
export interface Workflow {
  path: string
  name: string
  runName: string | null
  on: Record<string, unknown>
  inputs: Record<string, InputSpec>
  permissions: unknown
  concurrency: unknown
  env: Json
  defaults: Json
  jobs: Record<string, JobSpec>
}
export class WorkflowError extends Error {
  override name = 'WorkflowError'
}

// The parser imports JSON without saying so, which Node refuses; this says it.
let parser: Promise<typeof import('@actions/workflow-parser')> | null = null
function loadParser(): NonNullable<typeof parser> {
  if (parser !== null) return parser
  const hooks = registerHooks({
    load: (url, context, next) =>
      url.endsWith('.json') && url.includes('/@actions/')
        ? next(url, { ...context, importAttributes: { type: 'json' } })
        : next(url, context),
  })
  parser = import('@actions/workflow-parser').finally(() => hooks.deregister())
  return parser
}

/** Every event asks each workflow, and few of them change in a test. */
const known = new Map<string, Promise<Workflow>>()

/** Reads a workflow file. Throws a WorkflowError with every mistake, each with its line. */
export function readWorkflow(path: string, text: string): Promise<Workflow> {
  const key = `${path}\n${text}`
  const workflow = known.get(key) ?? parseText(path, text)
  known.set(key, workflow)
  return workflow
}

async function parseText(path: string, text: string): Promise<Workflow> {
  const { parseWorkflow, convertWorkflowTemplate, NoOperationTraceWriter } = await loadParser()
  const result = parseWorkflow({ name: path, content: text }, new NoOperationTraceWriter())
  const mistakes = result.context.errors.getErrors().map((error) => error.message)
  if (result.value !== undefined && mistakes.length === 0) {
    const template = await convertWorkflowTemplate(result.context, result.value)
    mistakes.push(...(template.errors ?? []).map((error) => error.Message))
  }
  const raw: Json = mistakes.length === 0 ? parse(text) : {}
  const on = normalise(raw.on)
  const inputs = inputsOf(on.workflow_dispatch)
  if (Object.keys(inputs).length > 25)
    mistakes.push('failed to parse workflow: you may only define up to 25 inputs')
  for (const found of groupsOf(raw)) {
    if (found.queue === 'max' && found['cancel-in-progress'] === true)
      mistakes.push('queue: max can not be combined with cancel-in-progress: true')
  }
  if (mistakes.length > 0) throw new WorkflowError(`Invalid workflow file: ${path}: ${mistakes.join('; ')}`)
  return {
    path,
    name: typeof raw.name === 'string' ? raw.name : path,
    runName: typeof raw['run-name'] === 'string' ? raw['run-name'] : null,
    on,
    inputs,
    permissions: raw.permissions,
    concurrency: raw.concurrency,
    env: (raw.env ?? {}) as Json,
    defaults: (raw.defaults ?? {}) as Json,
    jobs: raw.jobs as Record<string, JobSpec>,
  }
}

function groupsOf(raw: Json): Json[] {
  const jobs = Object.values((raw.jobs ?? {}) as Record<string, JobSpec>)
  return [raw.concurrency, ...jobs.map((job) => job.concurrency)].filter(
    (one): one is Json => typeof one === 'object' && one !== null,
  )
}
function normalise(on: unknown): Record<string, unknown> {
  if (typeof on === 'string') return { [on]: {} }
  if (Array.isArray(on)) return Object.fromEntries(on.map((name) => [String(name), {}]))
  return (on ?? {}) as Record<string, unknown>
}
function inputsOf(dispatch: unknown): Record<string, InputSpec> {
  const given = ((dispatch as Json | null | undefined)?.inputs ?? {}) as Record<string, Json | null>
  const entries = Object.entries(given).map(([name, spec]): [string, InputSpec] => [
    name,
    {
      type: String(spec?.type ?? 'string'),
      required: spec?.required === true,
      default: spec?.default,
      options: ((spec?.options ?? []) as unknown[]).map(String),
    },
  ])
  return Object.fromEntries(entries)
}

/** Does the workflow listen to this event, to this kind of it, and on this ref? (Filters by path are not simulated.) */
export function listens(
  workflow: Workflow,
  event: { name: string; action: string | null; ref?: string },
): boolean {
  const { name, action, ref } = event
  if (!(name in workflow.on)) return false
  const filter = (workflow.on[name] ?? {}) as Json
  const types = filter.types ?? (name === 'pull_request' ? ['opened', 'synchronize', 'reopened'] : undefined)
  if (action !== null && types !== undefined && ![types].flat().includes(action)) return false
  return ref === undefined || passes(filter, ref)
}
function passes(filter: Json, ref: string): boolean {
  const isTag = ref.startsWith('refs/tags/')
  const name = ref.replace(/^refs\/(heads|tags)\//, '')
  const [own, other] = isTag ? ['tags', 'branches'] : ['branches', 'tags']
  const patterns = (key: string): string[] => [filter[key] ?? []].flat().map(String)
  const hasOwn = own in filter || `${own}-ignore` in filter
  if (!hasOwn) return !(other in filter || `${other}-ignore` in filter)
  if (patterns(`${own}-ignore`).some((pattern) => glob(pattern).test(name))) return false
  if (!(own in filter)) return true
  // The last pattern that matches decides; one with ! takes away.
  const last = patterns(own).findLast((pattern) => glob(pattern.replace(/^!/, '')).test(name))
  return last !== undefined && !last.startsWith('!')
}
function glob(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+^$()|{}\\]/g, '\\$&')
  const source = escaped.split('**').map((part) => part.replaceAll('*', '[^/]*').replaceAll('?', '[^/]'))
  return new RegExp(`^${source.join('.*')}$`)
}

/** Fills in the defaults of a dispatch, all as strings. Throws a WorkflowError in GitHub's words. */
export function dispatchInputs(workflow: Workflow, given: Json): Record<string, string> {
  const unexpected = Object.keys(given).filter((name) => !(name in workflow.inputs))
  if (unexpected.length > 0)
    throw new WorkflowError(`Unexpected inputs provided: ${JSON.stringify(unexpected)}`)
  if (JSON.stringify(given).length > 65_535) throw new WorkflowError('inputs are too large.')
  const entries = Object.entries(workflow.inputs).map(([name, spec]) => {
    const value = given[name] ?? spec.default ?? (spec.type === 'boolean' ? false : '')
    const written = String(value)
    if (spec.required && written === '') throw new WorkflowError(`Required input '${name}' not provided`)
    const isChoice = spec.type === 'choice' && written !== ''
    if (isChoice && !spec.options.includes(written))
      throw new WorkflowError(
        `Provided value '${written}' for input '${name}' not in the list of allowed values`,
      )
    if (spec.type === 'boolean' && written !== 'true' && written !== 'false')
      throw new WorkflowError(
        `Provided value '${written}' for input '${name}' not in the list of allowed values`,
      )
    if (spec.type === 'number' && written !== '' && Number.isNaN(Number(written)))
      throw new WorkflowError(`Provided value '${written}' for input '${name}' is not a number`)
    return [name, written]
  })
  return Object.fromEntries(entries)
}

/** The `inputs` context: booleans and numbers keep their type, unlike in `github.event.inputs`. */
export function typedInputs(workflow: Workflow, inputs: Record<string, string>): Json {
  const entries = Object.entries(inputs).map(([name, value]) => {
    const type = workflow.inputs[name]?.type
    if (type === 'boolean') return [name, value === 'true']
    return [name, type === 'number' && value !== '' ? Number(value) : value]
  })
  return Object.fromEntries(entries)
}
