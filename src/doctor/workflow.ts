// The workflow: whether GitHub can start it, whether Ralph can start it again, and whether its jobs may do what they have to.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { variablesOf } from '../agents/agent.ts'
import { findAgent } from '../agents/registry.ts'
import { ACTION } from '../model/version.ts'
import type { Settings } from '../settings/index.ts'
import { type Ci, ciAt, isWorkflow, WORKFLOWS } from './ci.ts'
import { fault, faultsOf, fine, type Result, warning } from './result.ts'
import { type Checkout, checkoutOf, type Subject } from './subject.ts'
import type { RalphJob, Role } from './workflow-file.ts'

const INIT = 'run `ralph init`, or copy examples/ralph.yml to .github/workflows/ralph.yml'

export async function workflow(subject: Subject): Promise<Result[]> {
  const checkout = checkoutOf(subject)
  const { ci } = checkout
  if (ci === null) return [await missing(subject, checkout)]
  const found = [
    ...faultsOf(ci.mistakes.map((one) => ({ ...one, path: `${ci.file.path}: ${one.path}` }))),
    ...dispatchFaults(ci),
    ...ci.file.jobs.flatMap((job) => jobFaults(job, ci, subject.settings.surface)),
  ]
  return found.length > 0 ? found : [fine(`${ci.file.path} on ${checkout.defaultBranch.name}`)]
}

async function missing(subject: Subject, { workspace, defaultBranch }: Checkout): Promise<Result> {
  const { clone } = workspace
  const expected = `a workflow with \`uses: ${ACTION}\` on ${defaultBranch.name}`
  const elsewhere =
    clone.head === null ? null : await ciAt(workspace, clone.head, subject.env, subject.action)
  const isAction = subject.settings.surface === 'action'
  if (elsewhere !== null) {
    const found = `${elsewhere.file.path} is on ${clone.branch ?? 'this commit'}, and not on ${defaultBranch.name}`
    const fix = `merge it into ${defaultBranch.name}: GitHub starts it from there alone`
    return isAction ? fault(found, expected, fix) : warning(found, expected, fix)
  }
  if (await isUncommitted(clone.workTree))
    return warning(
      `not on ${defaultBranch.name} yet`,
      expected,
      'commit it, and push it to the default branch',
    )
  if (isAction) return fault('none starts Ralph', expected, INIT)
  const hasRemote = [...clone.config.keys()].some((key) => /^remote\..+\.url$/.test(key))
  if (!hasRemote) return fine('none; the command line needs none')
  return warning('none starts Ralph', expected, `${INIT}; the command line needs none`)
}

async function isUncommitted(workTree: string): Promise<boolean> {
  const names = await readdir(join(workTree, WORKFLOWS)).catch(() => [])
  return names.some((name) => isWorkflow(WORKFLOWS + name) && name.startsWith('ralph'))
}

const INPUTS = ['feature', 'generation']

function dispatchFaults({ file: { path, dispatchInputs } }: Ci): Result[] {
  const declared = INPUTS.map((name) => `${name}: { type: string }`).join(', ')
  const expected = `on: { workflow_dispatch: { inputs: { ${declared} } } }`
  if (dispatchInputs === null)
    return [fault(`${path} is not started by workflow_dispatch`, expected, `write ${expected}`)]
  const lacking = INPUTS.filter((name) => !dispatchInputs.includes(name))
  if (lacking.length === 0) return []
  const found = `${path} does not declare the input ${lacking.join(' and ')}`
  return [fault(found, expected, `add to its workflow_dispatch inputs: ${lacking.join(', ')}`)]
}

const WITH_CHECKOUT: ReadonlySet<Role> = new Set(['run', 'claim', 'work', 'gate', 'land'])
/** Inputs of actions/checkout that leave something out, or change files on their way. */
const PARTIAL = ['filter', 'sparse-checkout', 'lfs']

function jobFaults(job: RalphJob, { file: { path }, settings }: Ci, surface: Settings['surface']): Result[] {
  const found: Result[] = []
  const where = `${path}: job ${job.id}`
  if (/@<.*>$/.test(job.uses)) {
    const fix = `put a release's full SHA there: git ls-remote https://github.com/${ACTION} v1`
    // On a laptop a run needs no workflow.
    const grade = surface === 'cli' ? warning : fault
    found.push(grade(`${where} uses ${job.uses}`, 'a version of the action', fix))
  }
  if (WITH_CHECKOUT.has(job.role) && job.checkout === null)
    found.push(
      fault(
        `${where} checks nothing out`,
        'actions/checkout before Ralph',
        'put `- uses: actions/checkout@v7` before it',
      ),
    )
  for (const name of PARTIAL) {
    const value = job.checkout?.[name]
    if (value === undefined || value === false || value === '') continue
    const fix = `leave ${name} out of actions/checkout in ${path}`
    found.push(
      fault(`${where} checks out with ${name}: ${value}`, 'files as they are committed, all of them', fix),
    )
  }
  const lacks = keyLack(job, settings)
  if (lacks !== null) found.push(warning(`${where} ${lacks.found}`, lacks.expected, lacks.fix))
  return found
}

function keyLack(job: RalphJob, settings: Settings): Omit<Result, 'state'> | null {
  const login = findAgent(settings.agent)?.login ?? null
  const isAgents = job.role === 'run' || job.role === 'work'
  if (!isAgents || login === null) return null
  const vendor = findAgent(settings.agent)
  const names = [...(vendor === null ? [] : variablesOf(vendor)), ...settings.agentEnv]
  if (job.env.some((name) => names.includes(name))) return null
  const key = login.keys[0] ?? ''
  return {
    found: `gives ${settings.agent} no key`,
    expected: `${login.keys.join(' or ')} in the env of the step`,
    fix: `add to the step: env: { ${key}: \${{ secrets.${key} }} }; a runner of your own may be logged in`,
  }
}

type Rights = Readonly<Record<string, 'read' | 'write'>>

/** What the job of a role cannot do without. */
function needsOf(role: Role, { reportAs }: Settings, events: readonly string[]): Rights {
  const report: Rights =
    reportAs === 'checks' ? { checks: 'write' } : reportAs === 'statuses' ? { statuses: 'write' } : {}
  const issues: Rights = events.includes('issues') ? { issues: 'write' } : {}
  const talk: Rights = { 'pull-requests': 'write', actions: 'write', ...issues }
  switch (role) {
    case 'run':
    case 'claim':
    case 'land':
      return { contents: 'write', ...talk, ...report }
    case 'comment':
      return { contents: 'read', ...talk }
    case 'resume-lost':
      return { contents: 'read', actions: 'write', ...report }
    default:
      return { contents: 'read' }
  }
}

export function permissions(subject: Subject): Result[] {
  const { ci } = checkoutOf(subject)
  if (ci === null) return []
  const { file, settings } = ci
  const found = file.jobs.flatMap((job) => {
    const needs = Object.entries(needsOf(job.role, settings, file.events))
    const wanted = needs.map(([scope, right]) => `${scope}: ${right}`).join(', ')
    const where = `${file.path}: job ${job.id}`
    const fix = `write into the job: permissions: { ${wanted} }`
    if (job.permissions === null)
      return [warning(`${where} says none, and has what the repository's setting gives`, wanted, fix)]
    const { permissions } = job
    const lacking = needs.filter(([scope, right]) => !has(permissions, scope, right))
    if (lacking.length === 0) return []
    const missing = lacking.map(([scope, right]) => `${scope}: ${right}`).join(', ')
    return [fault(`${where} lacks ${missing}`, wanted, fix)]
  })
  return found.length > 0 ? found : [fine(`${file.path}: every job has what it needs`)]
}

function has(permissions: Readonly<Record<string, string>>, scope: string, right: string): boolean {
  const given = permissions[scope] ?? permissions.all ?? 'none'
  return given === 'write' || given === right
}
