// What a project's workflows run on a pull request: the jobs on Linux, each with the first row of its matrix. Pure.
import { asObject, asObjects, asString, type Json } from '../../../engine/model/json.ts'
import { yamlObject } from '../../yaml-object.ts'
import type { Folder } from '../project.ts'
import { type Calls, calledAction, calledWorkflow, startCalls } from './called-files.ts'
import { expand, isLinux, matrixValues, runsHere, type Values } from './expressions.ts'

export type CiStep =
  /** `script`: null if it holds an expression that only a run knows. */
  | { kind: 'run'; name: string; script: string | null; folder: string; env: Values }
  | { kind: 'uses'; uses: string; remark: string; inputs: Values }

export type CiService = { name: string; job: string; path: string; container: Json }

export type CiJob = { name: string; path: string; steps: CiStep[]; services: CiService[] }

const WORKFLOW = /^\.github\/workflows\/(?!ralph)[^/]+\.ya?ml$/
/** The maximum number of workflows, and jobs of each, that are read. */
const MAX_WORKFLOWS = 20
const MAX_JOBS = 40

export function pullRequestJobs(folder: Folder): CiJob[] {
  const files = folder.paths.filter((path) => WORKFLOW.test(path)).slice(0, MAX_WORKFLOWS)
  const workflows = files.flatMap((path) => {
    const text = folder.text(path)
    const workflow = yamlObject(text)
    return workflow === null ? [] : [{ path, text, workflow }]
  })
  const ofPulls = workflows.filter(({ workflow }) => startsOn(workflow, 'pull_request'))
  // A project that checks pushes only has these as its checks.
  const used = ofPulls.length > 0 ? ofPulls : workflows.filter(({ workflow }) => startsOn(workflow, 'push'))
  return used.flatMap((one) => jobsOf({ ...one, inputs: {}, calls: startCalls(folder, one.path) }))
}

type Workflow = { path: string; text: string; workflow: Json; inputs: Values; calls: Calls }

function startsOn({ on }: Json, event: string): boolean {
  if (typeof on === 'string') return on === event
  if (Array.isArray(on)) return on.includes(event)
  const events = asObject(on) ?? {}
  if (!(event in events)) return false
  const { types, branches, tags, paths } = asObject(events[event]) ?? {}
  // On labels and on closing there is nothing to check, and pushes of tags are releases.
  if (Array.isArray(types)) return types.some((type) => ['opened', 'synchronize'].includes(String(type)))
  return event !== 'push' || branches !== undefined || paths !== undefined || tags === undefined
}

function jobsOf({ path, text, workflow, inputs, calls }: Workflow): CiJob[] {
  const jobs = Object.entries(asObject(workflow.jobs) ?? {}).slice(0, MAX_JOBS)
  return jobs.flatMap(([name, value]) => {
    const job = asObject(value)
    if (job === null) return []
    const rows = linuxRows(job).filter((row) => runsHere(asString(job.if) ?? '', { matrix: row, inputs }))
    const [matrix] = rows
    if (matrix === undefined || job['continue-on-error'] === true || commitsFixes(job)) return []
    const env = { ...texts(workflow.env), ...texts(job.env) }
    const place = { text, env, inputs, folder: folderIn(job) ?? folderIn(workflow) ?? '', calls }
    const values = matrixValues(job)
    const uses = asString(job.uses)
    if (uses !== null) {
      const called = calledWorkflow(uses, withOf(job, { ...place, matrix, values }), calls)
      return called === null ? [] : jobsOf({ ...called, workflow: called.file })
    }
    const steps = asObjects(job.steps).flatMap((step) => {
      // A step that only some rows run is read as the first of these runs it.
      const own = rows.filter((row) => runsHere(asString(step.if) ?? '', { matrix: row, inputs }))
      const read = tasksOf(asString(step.run) ?? '', own.length > 0 ? own : [matrix])
      return read.flatMap((row) => readStep(step, { ...place, matrix: row, values }))
    })
    const services = Object.entries(asObject(job.services) ?? {}).flatMap(([service, container]) => {
      const object = asObject(container)
      return object === null ? [] : [{ name: service, job: name, path, container: object }]
    })
    return [{ name, path, steps, services }]
  })
}

/** A job that commits what its commands change checks nothing. */
function commitsFixes(job: Json): boolean {
  const used = asObjects(job.steps).map(({ uses }) => asString(uses) ?? '')
  return used.some((uses) =>
    /^(?:autofix-ci\/action|stefanzweifel\/git-auto-commit|EndBug\/add-and-commit)/.test(uses),
  )
}

/** The maximum number of rows of which a step's command is read. */
const MAX_TASKS = 6

/** The first row, or one row for each task: a matrix may name the scripts that a command runs, and not only versions. */
function tasksOf(script: string, rows: readonly Values[]): Values[] {
  const names = [...script.matchAll(/\$\{\{\s*matrix\.([\w.-]+)/g)].map(([, name = '']) => name)
  const tasks = new Map<string, Values>()
  for (const row of rows) {
    const words = names.map((name) => row[name] ?? '').filter((word) => /^[a-z]/i.test(word))
    const key = words.join('\0')
    if (!tasks.has(key)) tasks.set(key, row)
  }
  return [...tasks.values()].slice(0, MAX_TASKS)
}

/** The rows of the matrix that run on Linux, in their order. */
function linuxRows(job: Json): Values[] {
  const machine = (matrix: Values) =>
    expand(machineText(job['runs-on']), { matrix, env: {}, inputs: {} }) ?? 'ubuntu'
  const rows = matrixRows(job, {})
  const first = rows.find((row) => isLinux(machine(row)))
  return first === undefined ? [] : matrixRows(job, first).filter((row) => isLinux(machine(row)))
}

function machineText(runsOn: unknown): string {
  const group = asObject(runsOn)
  const named = group === null ? runsOn : (group.labels ?? 'ubuntu')
  return Array.isArray(named) ? named.map(String).join(' ') : String(named ?? 'ubuntu')
}

/** A few rows of the matrix: the first one, with each other machine, and those that are written out. */
function matrixRows(job: Json, start: Values): Values[] {
  const matrix = asObject(asObject(job.strategy)?.matrix) ?? {}
  const axes = Object.entries(matrix).filter(
    (entry): entry is [string, unknown[]] =>
      !['include', 'exclude'].includes(entry[0]) && Array.isArray(entry[1]),
  )
  const include = asObjects(matrix.include)
  if (axes.length === 0) return include.length === 0 ? [{}] : include.map((row) => texts(row))
  const first: Values = {
    ...flatten(Object.fromEntries(axes.map(([name, values]) => [name, values[0]]))),
    ...start,
  }
  const others = axes.flatMap(([name, values]) =>
    values.slice(1, 10).map((value) => ({ ...first, ...flatten({ [name]: value }) })),
  )
  const names = axes.map(([name]) => name)
  // An entry of `include` with a value that no axis has is a separate row, as GitHub reads it.
  const own = include
    .filter((one) =>
      axes.some(([name, values]) => name in one && !values.map(String).includes(String(one[name]))),
    )
    .map((one) => flatten(one))
  return [...[first, ...others].map((row) => withIncluded(row, names, include)), ...own]
}

/** An entry of `include` adds its keys to a row that it does not contradict. */
function withIncluded(row: Values, axes: readonly string[], include: readonly Json[]): Values {
  const fitting = include.filter((one) =>
    axes.every((name) => !(name in one) || String(one[name]) === row[name]),
  )
  return Object.assign({}, row, ...fitting.map((one) => flatten(one)))
}

/** Values that are maps become `name.key`. */
function flatten(row: Json): Values {
  const entries = Object.entries(row).flatMap(([name, value]) => {
    const object = asObject(value)
    if (object === null) return [[name, String(value ?? '')]]
    return Object.entries(object).map(([key, one]) => [`${name}.${key}`, String(one ?? '')])
  })
  return Object.fromEntries(entries)
}

function texts(value: unknown): Values {
  return flatten(asObject(value) ?? {})
}

function folderIn(job: Json): string | null {
  return asString(asObject(asObject(job.defaults)?.run)?.['working-directory'])
}

/** What a step can read: `text` is its file, and `values` are those that the job's matrix gives each name. */
type Place = {
  text: string
  matrix: Values
  env: Values
  inputs: Values
  folder: string
  values: ReadonlyMap<string, readonly string[]>
  calls: Calls
}

function readStep(step: Json, place: Place): CiStep[] {
  const { matrix, inputs } = place
  if (step['continue-on-error'] === true || !runsHere(asString(step.if) ?? '', { matrix, inputs })) return []
  const env = { ...place.env, ...texts(step.env) }
  const script = asString(step.run)
  if (script !== null) return readRun(step, script, { ...place, env })
  const uses = asString(step.uses)
  if (uses === null) return []
  const given = withOf(step, { ...place, env })
  if (uses.startsWith('./')) return stepsOfAction(uses, given, { ...place, env })
  const known = Object.entries(given).filter(([, value]) => !value.includes('${{'))
  return [{ kind: 'uses', uses, remark: remarkOn(uses, place.text), inputs: Object.fromEntries(known) }]
}

function readRun(step: Json, script: string, { matrix, env, inputs, folder }: Place): CiStep[] {
  const shell = asString(step.shell) ?? 'bash'
  if (!/^(?:bash|sh)\b/.test(shell)) return []
  const facts = { matrix, env, inputs }
  const where = expand(asString(step['working-directory']) ?? folder, facts)
  if (where === null) return []
  const own = Object.entries(texts(step.env)).flatMap(([key, value]) => {
    const known = expand(value, facts)
    return known === null ? [] : [[key, known]]
  })
  return [
    {
      kind: 'run',
      name: asString(step.name) ?? '',
      script: withVariables(expand(script, facts), env),
      folder: cleanPath(where),
      env: Object.fromEntries(own),
    },
  ]
}

/** The steps of a composite action of the same repository, which run instead of the step that uses it. */
function stepsOfAction(uses: string, given: Values, place: Place): CiStep[] {
  const called = calledAction(uses, given, place.calls)
  if (called === null) return []
  const { text, inputs, calls } = called
  const own = { ...place, text, inputs, calls, matrix: {}, folder: '', values: new Map() }
  return asObjects(asObject(called.file.runs)?.steps).flatMap((step) => readStep(step, own))
}

/** What a step or job hands over in `with`. A value that only a run knows stays an expression. */
function withOf(caller: Json, { matrix, env, inputs, values }: Place): Values {
  const given = Object.entries(texts(caller.with)).map(([key, value]) => {
    return [key, newestOf(value, values) ?? expand(value, { matrix, env, inputs }) ?? value]
  })
  return Object.fromEntries(given)
}

/** Variables of the workflow in a script are its values: a gate does not have them. Null if a value is not known. */
function withVariables(script: string | null, env: Values): string | null {
  if (script === null) return null
  const plain = Object.entries(env).filter(
    ([name, value]) => /^\w+$/.test(name) && /^[\w@%+=:,./ -]*$/.test(value),
  )
  return plain.reduce(
    (text, [name, value]) => text.replace(new RegExp(`\\$(?:${name}\\b|\\{${name}\\})`, 'g'), value),
    script,
  )
}

function cleanPath(path: string): string {
  return path.replace(/^(?:\.\/)+|^\.$|\/+$/g, '')
}

/** For a tool's version the newest of the matrix, not the first: linters of the project may need it. */
function newestOf(value: string, values: ReadonlyMap<string, readonly string[]>): string | null {
  const [, axis = ''] = /^\$\{\{\s*matrix\.([\w.-]+)\s*\}\}$/.exec(value) ?? []
  const numbers = (values.get(axis) ?? []).filter((one) => /^\d+(?:\.\d+)*(?:\.x)?$/.test(one))
  return numbers.sort((a, b) => compareVersions(b, a))[0] ?? null
}

export function compareVersions(a: string, b: string): number {
  const [one, other] = [a, b].map((text) => text.split('.').map((part) => Number.parseInt(part, 10) || 0))
  const at = [0, 1, 2].find((index) => (one?.[index] ?? 0) !== (other?.[index] ?? 0)) ?? 0
  return (one?.[at] ?? 0) - (other?.[at] ?? 0)
}

/** The remark on the line of a pinned action, which says its version. */
function remarkOn(uses: string, text: string): string {
  const line = text.split('\n').find((one) => one.includes(uses)) ?? ''
  return /#\s*(v?\d[\w.-]{0,30})/.exec(line.slice(line.indexOf(uses)))?.[1] ?? ''
}
