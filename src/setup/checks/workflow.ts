// Checks the workflow: whether GitHub can start it, whether Ralph can start it again, and whether its jobs have the permissions that
// they need.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { agentVariables } from '../../agents/agent.ts'
import { findAgent } from '../../agents/registry.ts'
import type { Workspace } from '../../app/workspace.ts'
import { ACTION } from '../../engine/model/version.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { readRegularFileSync } from '../../system/files.ts'
import { ACTIONS_LOCK, LOCK_FIX } from '../actions-lock.ts'
import {
  type Checkout,
  type CheckResult,
  faultResult,
  okResult,
  requireCheckout,
  type Subject,
  toFaults,
  warningResult,
} from './subject.ts'
import {
  type Ci,
  findCi,
  isWorkflow,
  type RalphJob,
  type Role,
  readWorkflow,
  WORKFLOWS,
  type WorkflowFile,
} from './workflow-file.ts'

const INIT = 'run `ralph init`, or copy examples/ralph.yml to .github/workflows/ralph.yml'

export async function checkWorkflow(subject: Subject): Promise<CheckResult[]> {
  const checkout = requireCheckout(subject)
  const { ci, workspace } = checkout
  if (ci === null)
    return [await describeMissing(subject, checkout), ...(await unpinnedHere(subject, workspace))]
  const { path, jobs } = ci.file
  const found = [
    ...toFaults(ci.mistakes.map((mistake) => ({ ...mistake, path: `${path}: ${mistake.path}` }))),
    ...dispatchFaults(ci),
    ...ci.files.flatMap(unpinnedFaults),
    ...ci.unlocked.map(({ path: at, uses }) =>
      faultResult(
        `${ACTIONS_LOCK} lists ${at} without ${uses.join(', ')}, so GitHub starts no job (startup_failure)`,
        '',
        LOCK_FIX,
      ),
    ),
    ...jobs.flatMap((job) => jobFaults(job, `${path}: job ${job.id}`, ci)),
  ]
  return found.length > 0 ? found : [okResult(`${path} on ${checkout.defaultBranch.name}`)]
}

async function describeMissing(
  subject: Subject,
  { workspace, defaultBranch }: Checkout,
): Promise<CheckResult> {
  const { clone } = workspace
  const branch = defaultBranch.name
  const isAction = subject.settings.surface === 'action'
  const resultOf = isAction ? faultResult : warningResult
  const onOwnBranch =
    clone.head === null ? null : await findCi(workspace, clone.head, subject.env, subject.action)
  if (onOwnBranch !== null) {
    const found = `${onOwnBranch.file.path} is on ${clone.branch ?? 'this commit'}, but not on ${branch}`
    return resultOf(found, '', `merge it into ${branch}, because GitHub starts it only from there`)
  }
  const files = await readdir(join(clone.workTree, WORKFLOWS)).catch(() => [])
  if (files.some((name) => isWorkflow(WORKFLOWS + name) && name.startsWith('ralph')))
    return warningResult(
      `the workflow is not on ${branch} yet`,
      '',
      `commit the workflow, and push it to ${branch}`,
    )
  const hasRemote = [...clone.config.keys()].some((key) => /^remote\..+\.url$/.test(key))
  if (!isAction && !hasRemote) return okResult('there is none; the command line needs none')
  const found = `no workflow on ${branch} has \`uses: ${ACTION}\``
  return resultOf(found, '', isAction ? INIT : `${INIT}; the command line needs none`)
}

/** Uncommitted workflow files of `ralph init` without a network: they have no version of the action yet. */
async function unpinnedHere({ action }: Subject, { clone }: Workspace): Promise<CheckResult[]> {
  const folder = join(clone.workTree, WORKFLOWS)
  const names = (await readdir(folder).catch(() => [])).filter((name) => isWorkflow(WORKFLOWS + name))
  const files = names.map((name) =>
    readWorkflow(WORKFLOWS + name, readRegularFileSync(join(folder, name))?.toString('utf8') ?? '', action),
  )
  return files.flatMap((file) => (file === null ? [] : unpinnedFaults(file)))
}

/** Jobs whose `uses:` still has the placeholder for a version: they cannot start. */
function unpinnedFaults({ path, jobs }: WorkflowFile): CheckResult[] {
  return jobs.flatMap(({ id, uses }) => {
    if (!/@<.*>$/.test(uses)) return []
    const fix = `run \`ralph init\` again when you are online, or \`ralph init --pin COMMIT\` with the commit that git ls-remote https://github.com/${ACTION} v1 prints`
    return [faultResult(`${path}: job ${id} has no version of the action yet: ${uses}`, '', fix)]
  })
}

const INPUTS = ['feature', 'generation']

function dispatchFaults({ file: { path, dispatchInputs } }: Ci): CheckResult[] {
  const declared = INPUTS.map((name) => `${name}: { type: string }`).join(', ')
  const trigger = `on: { workflow_dispatch: { inputs: { ${declared} } } }`
  if (dispatchInputs === null)
    return [faultResult(`${path} has no workflow_dispatch trigger`, '', `add ${trigger}`)]
  const lacking = INPUTS.filter((name) => !dispatchInputs.includes(name))
  if (lacking.length === 0) return []
  const found = `${path} does not declare the input ${lacking.join(' and ')}`
  return [faultResult(found, '', `add to its workflow_dispatch inputs: ${lacking.join(', ')}`)]
}

const ROLES_WITH_CHECKOUT: ReadonlySet<Role> = new Set([
  'run',
  'claim',
  'work',
  'gate',
  'land',
  'worker',
  'join',
])
const ROLES_WITH_KEY: ReadonlySet<Role> = new Set(['run', 'work', 'worker', 'join'])
/** Inputs of actions/checkout that leave files out, or change them. */
const PARTIAL_INPUTS = ['filter', 'sparse-checkout', 'lfs']

function jobFaults(job: RalphJob, place: string, ci: Ci): CheckResult[] {
  const found: CheckResult[] = []
  if (ROLES_WITH_CHECKOUT.has(job.role) && job.checkout === null) {
    const fix = 'put `- uses: actions/checkout@v7` before the step of Ralph'
    found.push(faultResult(`${place} does not check out the repository`, '', fix))
  }
  for (const name of PARTIAL_INPUTS) {
    const value = job.checkout?.[name] ?? ''
    if (value === false || value === '') continue
    const fix = `leave ${name} out of actions/checkout in ${ci.file.path}`
    const text = `${place} checks out with ${name}: ${value}, so files are missing or changed`
    found.push(faultResult(text, '', fix))
  }
  const vendor = findAgent(ci.settings.agent)
  const keys = vendor?.login?.keys ?? []
  const names = [...(vendor === null ? [] : agentVariables(vendor)), ...ci.settings.agentEnv]
  const isKeyless = ci.settings.auth === 'oidc'
  if (
    !isKeyless &&
    ROLES_WITH_KEY.has(job.role) &&
    keys.length > 0 &&
    !job.env.some((name) => names.includes(name))
  ) {
    const env = `env: { ${keys[0]}: \${{ secrets.${keys[0]} }} }`
    const fix = `add to the step: ${env} (or ignore this if ${ci.settings.agent} is logged in on your own runner)`
    found.push(warningResult(`${place} gives ${ci.settings.agent} no key`, '', fix))
  }
  return found
}

type Permissions = Readonly<Record<string, 'read' | 'write'>>

/** Roles that publish, and that start the next job. */
const PUBLISHING_ROLES: ReadonlySet<Role> = new Set(['run', 'claim', 'land', 'join'])

/** The permissions that a job of this role needs. */
function requiredPermissions(role: Role, { reportAs }: Settings, events: readonly string[]): Permissions {
  const report: Permissions = reportAs === 'none' ? {} : { [reportAs]: 'write' }
  const issues: Permissions = events.includes('issues') ? { issues: 'write' } : {}
  const conversation: Permissions = { 'pull-requests': 'write', actions: 'write', ...issues }
  if (role === 'worker') return { contents: 'write', 'pull-requests': 'write', ...issues, ...report }
  if (PUBLISHING_ROLES.has(role)) return { contents: 'write', ...conversation, ...report }
  if (role === 'comment') return { contents: 'read', ...conversation }
  if (role === 'resume-lost') return { contents: 'read', actions: 'write', ...report }
  return { contents: 'read' }
}

export function checkPermissions(subject: Subject): CheckResult[] {
  const { ci } = requireCheckout(subject)
  if (ci === null) return []
  const { file, settings } = ci
  const found = file.jobs.flatMap((job) => {
    const needs = Object.entries(requiredPermissions(job.role, settings, file.events))
    const formatPermissions = (list: typeof needs) =>
      list.map(([scope, access]) => `${scope}: ${access}`).join(', ')
    const place = `${file.path}: job ${job.id}`
    const neededText = formatPermissions(needs)
    const fix = `add to the job: permissions: { ${neededText} }`
    const { permissions } = job
    if (permissions === null)
      return [
        warningResult(
          `${place} has no \`permissions:\`, so it gets the default permissions of the repository`,
          '',
          fix,
        ),
      ]
    const lacking = needs.filter(([scope, access]) => {
      const granted = permissions[scope] ?? permissions.all ?? 'none'
      return granted !== access && granted !== 'write'
    })
    if (lacking.length === 0) return []
    return [faultResult(`${place} lacks ${formatPermissions(lacking)}`, '', fix)]
  })
  return found.length > 0 ? found : [okResult(`${file.path}: every job has the permissions that it needs`)]
}
