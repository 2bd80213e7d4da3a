// What a person sets up once at GitHub: the environment that holds the agent's key, and the label of the issue form.
import { httpStatusOf, isForbidden } from '../../github/client.ts'
import { repositoryUrl } from '../../github/repository-address.ts'
import { shellWord } from '../../system/shell-word.ts'
import {
  type CheckResult,
  okResult,
  requireCheckout,
  type Subject,
  unknownResult,
  warningResult,
} from './subject.ts'

const PATH = 'repos/{owner}/{repo}/environments'

/** Whether the environments of the workflow's jobs give their secrets to the default branch only. */
export async function checkEnvironment(subject: Subject): Promise<CheckResult[]> {
  const { ci, defaultBranch } = requireCheckout(subject)
  const { github } = subject
  if (ci === null || github === null) return []
  const names = [...new Set(ci.file.jobs.flatMap(({ environment }) => environment ?? []))]
  if (names.length === 0) return []
  const { api, repo, place } = github
  try {
    const { data } = await api.rest.repos.getAllEnvironments({ ...repo, per_page: 100 })
    const results: CheckResult[] = []
    for (const name of names) {
      const found = data.environments?.find((one) => one.name.toLowerCase() === name.toLowerCase())
      const policy = found?.deployment_branch_policy ?? null
      const branches = policy?.custom_branch_policies === true ? await branchesOf(github, name) : []
      results.push(
        ofEnvironment(name, { isThere: found !== undefined, policy, branches }, defaultBranch.name),
      )
    }
    return results
  } catch (error) {
    if (!(isForbidden(error) || httpStatusOf(error) === 404)) throw error
    const fix = `check this yourself at ${repositoryUrl(place)}/settings/environments`
    return [
      unknownResult(`this token cannot see which branches may use the environment ${names.join(', ')}`, fix),
    ]
  }
}

async function branchesOf({ api, repo }: NonNullable<Subject['github']>, name: string): Promise<string[]> {
  const { data } = await api.rest.repos.listDeploymentBranchPolicies({ ...repo, environment_name: name })
  return data.branch_policies.map((one) => one.name ?? '')
}

type Environment = {
  isThere: boolean
  policy: { protected_branches: boolean; custom_branch_policies: boolean } | null
  branches: readonly string[]
}

function ofEnvironment(
  name: string,
  { isThere, policy, branches }: Environment,
  branch: string,
): CheckResult {
  const limit = `gh api -X PUT ${PATH}/${name} -F 'deployment_branch_policy[protected_branches]=false' -F 'deployment_branch_policy[custom_branch_policies]=true' && gh api -X POST ${PATH}/${name}/deployment-branch-policies -f name=${shellWord(branch)}`
  const fix = `to allow only ${branch}, run: ${limit}`
  if (!isThere) {
    const found = `${name} does not exist. When a job starts, GitHub creates it, open to every branch`
    return warningResult(found, '', fix)
  }
  if (policy === null) {
    const found = `every branch may use ${name}, so a workflow on any branch can read its secrets`
    return warningResult(found, '', fix)
  }
  if (policy.protected_branches) return okResult(`only protected branches may use ${name}`)
  const others = branches.filter((one) => one !== branch)
  if (others.length === 0 && branches.length > 0) return okResult(`only ${branch} may use ${name}`)
  if (branches.includes(branch))
    return warningResult(
      `besides ${branch}, these branches may use ${name}: ${others.join(', ')}`,
      '',
      `remove those that do not need it from the environment ${name}`,
    )
  const found = `${branch} may not use ${name}, so no job of Ralph can start`
  return warningResult(
    found,
    '',
    `run: gh api -X POST ${PATH}/${name}/deployment-branch-policies -f name=${shellWord(branch)}`,
  )
}

const LABEL = 'ralph-plan'
const FORM = '.github/ISSUE_TEMPLATE/ralph.yml'

/** Whether the label of the issue form exists: GitHub drops a label that does not, and no issue becomes a plan. */
export async function checkLabel(subject: Subject): Promise<CheckResult[]> {
  const { ci, defaultBranch, workspace } = requireCheckout(subject)
  const { github } = subject
  if (ci === null || github === null || !ci.file.events.includes('issues')) return []
  if ((await workspace.objects.info(`${defaultBranch.sha}:${FORM}`)) === null) return []
  try {
    await github.api.rest.issues.getLabel({ ...github.repo, name: LABEL })
    return [okResult(`${LABEL} exists`)]
  } catch (error) {
    if (httpStatusOf(error) !== 404) throw error
    const found = `${LABEL} does not exist. GitHub therefore leaves it out of issues from the form, and no plan starts`
    return [warningResult(found, '', `run: gh label create ${LABEL}`)]
  }
}
