// What GitHub itself says: whether the workflow is switched on, who may open pull requests, what rules hold, what is newer.
import { type GitHub, isForbidden, statusOf } from '../github/client.ts'
import { repositoryUrl } from '../github/place.ts'
import { ACTION, VERSION } from '../model/version.ts'
import type { Ci } from './ci.ts'
import { fault, fine, type Result, unknown, warning } from './result.ts'
import { type Checkout, checkoutOf, type Subject } from './subject.ts'

/** What a token may not see, it is told as 403 or as 404. */
function hidden(error: unknown): boolean {
  return isForbidden(error) || statusOf(error) === 404
}

/** The workflow, and GitHub to be asked about it; null where there is nothing to ask, or nobody to ask it of. */
function askable(subject: Subject): { github: GitHub; checkout: Checkout; ci: Ci } | null {
  const checkout = checkoutOf(subject)
  const { ci } = checkout
  return ci === null || subject.github === null ? null : { github: subject.github, checkout, ci }
}

/** Whether it is asked at all, said once for everything that it would have told. */
export function githubItself(subject: Subject): Result | Result[] {
  const { ci } = checkoutOf(subject)
  if (subject.github !== null || ci === null) return []
  const found =
    'not asked whether the workflow is switched on, who may open pull requests, and what rules hold'
  return unknown(found, 'give a token: GH_TOKEN=$(gh auth token) ralph doctor')
}

export async function workflowState(subject: Subject): Promise<Result | Result[]> {
  const asked = askable(subject)
  if (asked === null) return []
  const { ci, github } = asked
  const { api, at } = github
  const file = ci.file.path.split('/').at(-1) ?? ''
  const { data } = await api.rest.actions.getWorkflow({ ...at, workflow_id: file })
  if (data.state === 'active') return fine(`${file} is switched on`)
  return fault(
    `${file} is switched off (${data.state})`,
    'a workflow that can be started',
    `gh workflow enable ${file}`,
  )
}

export async function pullRequests(subject: Subject): Promise<Result | Result[]> {
  const asked = askable(subject)
  if (asked === null) return []
  const { ci, github } = asked
  const { settings } = ci
  if (settings.pullRequest === 'none') return fine('none is opened: pull-request: none')
  if (hasPublisher(ci)) return fine('opened by publish-token')
  const { api, at, place } = github
  const page = `${repositoryUrl(place)}/settings/actions`
  const box = '"Allow GitHub Actions to create and approve pull requests"'
  try {
    const { data } = await api.rest.actions.getGithubActionsDefaultWorkflowPermissionsRepository(at)
    if (data.can_approve_pull_request_reviews) return fine('Actions may open them')
    const found = 'Actions may not open them: a person has to, by a link in the summary'
    return warning(
      found,
      'the setting that lets Actions open pull requests',
      `tick ${box} at ${page}, or give publish-token`,
    )
  } catch (error) {
    if (!hidden(error)) throw error
    return unknown(
      'whether Actions may open them is for admins to see',
      `look whether ${box} is ticked at ${page}`,
    )
  }
}

/** A secret that is not set gives an empty one, which nobody can see here. */
function hasPublisher({ job, settings }: Ci): boolean {
  return settings.publishToken !== null || job.unread.includes('publish-token')
}

/** Rules by which a push to Ralph's branch may be turned down. */
const REFUSING: ReadonlySet<string> = new Set([
  ...['creation', 'update', 'pull_request', 'required_signatures', 'required_status_checks', 'workflows'],
  ...[
    'required_linear_history',
    'commit_message_pattern',
    'commit_author_email_pattern',
    'branch_name_pattern',
  ],
])

export async function rules(subject: Subject): Promise<Result[]> {
  const asked = askable(subject)
  if (asked === null) return []
  const { checkout, ci, github } = asked
  const { settings } = ci
  const branch = `${settings.branchPrefix}${subject.feature ?? 'feature'}`
  const base = settings.baseBranch ?? checkout.defaultBranch.name
  try {
    const [refusing, required] = [await refusingRules(github, branch), await requiredChecks(github, base)]
    const found: Result[] = []
    if (refusing.length > 0) {
      const fix = `leave ${settings.branchPrefix}* out of the ruleset, or let GitHub Actions bypass it: ${repositoryUrl(github.place)}/settings/rules`
      found.push(
        warning(`rules on ${branch}: ${refusing.join(', ')}`, 'a branch that Ralph may push to', fix),
      )
    }
    const own = required.filter((name) => name !== 'ralph' && !name.startsWith('ralph / '))
    if (own.length > 0 && !hasPublisher(ci)) {
      const words = `${base} requires ${own.slice(0, 5).join(', ')}, which no push of the job's token starts`
      found.push(
        warning(
          words,
          'required checks that start by themselves',
          'give publish-token (an App\'s), or press "Update branch" on the pull request',
        ),
      )
    }
    return found.length > 0 ? found : [fine(`nothing on ${base} or ${branch} is in the way`)]
  } catch (error) {
    if (!hidden(error)) throw error
    return [unknown('this token may not see them', `look at ${repositoryUrl(github.place)}/settings/rules`)]
  }
}

async function refusingRules({ api, at }: GitHub, branch: string): Promise<string[]> {
  const { data } = await api.rest.repos.getBranchRules({ ...at, branch, per_page: 100 })
  return [...new Set(data.map(({ type }) => type))].filter((type) => REFUSING.has(type))
}

async function requiredChecks({ api, at }: GitHub, base: string): Promise<string[]> {
  const { data } = await api.rest.repos.getBranch({ ...at, branch: base })
  const { data: ruled } = await api.rest.repos.getBranchRules({ ...at, branch: base, per_page: 100 })
  const byRules = ruled.flatMap((rule) =>
    rule.type === 'required_status_checks'
      ? (rule.parameters?.required_status_checks ?? []).map(({ context }) => context)
      : [],
  )
  return [...new Set([...(data.protection.required_status_checks?.contexts ?? []), ...byRules])]
}

/** A look that may fail without a word: nobody is kept from working by an older version. */
export async function release(subject: Subject): Promise<Result | Result[]> {
  const fix = `see https://github.com/${ACTION}/releases`
  const not = unknown(`${VERSION}; the newest one is not known`, fix)
  if (subject.github === null) return []
  const [owner = '', repo = ''] = subject.action.split('/')
  const newest = await subject.github.api.rest.repos.getLatestRelease({ owner, repo }).then(
    ({ data }) => data.tag_name,
    () => null,
  )
  if (newest === null) return not
  if (!isNewer(newest, VERSION)) return fine(`${VERSION} is the newest`)
  return warning(
    `${VERSION}, and ${newest} is there`,
    'the newest release',
    `${fix}, then put its SHA behind uses: ${ACTION}@`,
  )
}

/** By numbers; what has none is not newer. */
export function isNewer(tag: string, version: string): boolean {
  const numbers = (text: string) => /^v?(\d+)\.(\d+)\.(\d+)$/.exec(text.trim())?.slice(1).map(Number) ?? []
  const [one, other] = [numbers(tag), numbers(version)]
  const at = one.findIndex((part, index) => part !== other[index])
  return at >= 0 && (one[at] ?? 0) > (other[at] ?? 0)
}
