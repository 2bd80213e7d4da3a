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
    const fix = `look at ${repositoryUrl(place)}/settings/environments`
    return [
      unknownResult(
        `which branches may use the environment ${names.join(', ')} is not shown to this token`,
        fix,
      ),
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
  const expected = `an environment that only ${branch} may use`
  if (!isThere) {
    const found = `${name} does not exist: GitHub makes it when a job starts, open to every branch`
    return warningResult(found, expected, limit)
  }
  if (policy === null) {
    const found = `every branch may use ${name}: a workflow on any of them can take its secrets`
    return warningResult(found, expected, limit)
  }
  if (policy.protected_branches) return okResult(`only protected branches may use ${name}`)
  const others = branches.filter((one) => one !== branch)
  if (others.length === 0 && branches.length > 0) return okResult(`only ${branch} may use ${name}`)
  if (branches.includes(branch))
    return warningResult(
      `${others.join(', ')} may use ${name} as well`,
      expected,
      `remove what is not needed there`,
    )
  const found = `${branch} may not use ${name}: no job of Ralph can start`
  return warningResult(
    found,
    expected,
    `gh api -X POST ${PATH}/${name}/deployment-branch-policies -f name=${shellWord(branch)}`,
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
    const found = `${LABEL} does not exist, so GitHub drops it from the issue form and no issue becomes a plan`
    return [warningResult(found, `the label ${LABEL}`, `gh label create ${LABEL}`)]
  }
}
