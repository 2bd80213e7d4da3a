// What GitHub itself says: whether the workflow is switched on, who may open pull requests, what rules hold, what is newer.
import { type GitHub, isForbidden, statusOf } from '../github/client.ts'
import { repositoryUrl } from '../github/place.ts'
import { ACTION, VERSION } from '../model/version.ts'
import { checkoutOf, fault, fine, type Result, type Subject, unknown, warning } from './subject.ts'
import type { Ci } from './workflow-file.ts'

/** Whether it is asked at all, said once for everything that it would have told. */
export function githubItself(subject: Subject): Result[] {
  const { ci } = checkoutOf(subject)
  if (subject.github !== null || ci === null) return []
  const found =
    'not asked whether the workflow is switched on, who may open pull requests, and what rules hold'
  return [unknown(found, 'give a token: GH_TOKEN=$(gh auth token) ralph doctor')]
}

type Asked = { github: GitHub; ci: Ci; subject: Subject; page: string }

/** A look at what GitHub says of the workflow; nothing where there is none, or nobody to ask. `hidden` where it may not be seen. */
function asking(look: (asked: Asked) => Promise<Result[]>, hidden?: (page: string) => Result) {
  return async (subject: Subject): Promise<Result[]> => {
    const { ci } = checkoutOf(subject)
    const { github } = subject
    if (ci === null || github === null) return []
    const page = `${repositoryUrl(github.place)}/settings`
    return look({ github, ci, subject, page }).catch((error: unknown) => {
      // What a token may not see, it is told as 403 or as 404.
      if (hidden === undefined || !(isForbidden(error) || statusOf(error) === 404)) throw error
      return [hidden(page)]
    })
  }
}

export const workflowState = asking(async ({ ci, github: { api, at } }) => {
  const file = ci.file.path.split('/').at(-1) ?? ''
  const { data } = await api.rest.actions.getWorkflow({ ...at, workflow_id: file })
  if (data.state === 'active') return [fine(`${file} is switched on`)]
  const found = `${file} is switched off (${data.state})`
  return [fault(found, 'a workflow that can be started', `gh workflow enable ${file}`)]
})

const BOX = '"Allow GitHub Actions to create and approve pull requests"'

export const pullRequests = asking(
  async ({ ci, github: { api, at }, page }) => {
    if (ci.settings.pullRequest === 'none') return [fine('none is opened: pull-request: none')]
    if (hasPublisher(ci)) return [fine('opened by publish-token')]
    const { data } = await api.rest.actions.getGithubActionsDefaultWorkflowPermissionsRepository(at)
    if (data.can_approve_pull_request_reviews) return [fine('Actions may open them')]
    const found = 'Actions may not open them: a person has to, by a link in the summary'
    const fix = `tick ${BOX} at ${page}/actions, or give publish-token`
    return [warning(found, 'the setting that lets Actions open pull requests', fix)]
  },
  (page) =>
    unknown(
      'whether Actions may open them is for admins to see',
      `look whether ${BOX} is ticked at ${page}/actions`,
    ),
)

/** A secret that is not set gives an empty one, which nobody can see here. */
function hasPublisher({ job, settings }: Ci): boolean {
  return settings.publishToken !== null || job.unread.includes('publish-token')
}

/** Rules by which a push to Ralph's branch may be turned down. */
const REFUSING: ReadonlySet<string> = new Set([
  ...['creation', 'update', 'pull_request', 'required_signatures', 'required_status_checks', 'workflows'],
  ...['required_linear_history', 'commit_message_pattern', 'commit_author_email_pattern'],
  'branch_name_pattern',
])

export const rules = asking(
  async ({ ci, github: { api, at }, subject, page }) => {
    const { branchPrefix, baseBranch } = ci.settings
    const branch = `${branchPrefix}${subject.feature ?? 'feature'}`
    const base = baseBranch ?? checkoutOf(subject).defaultBranch.name
    const rulesOf = async (name: string) =>
      (await api.rest.repos.getBranchRules({ ...at, branch: name, per_page: 100 })).data
    const types = new Set((await rulesOf(branch)).map(({ type }) => type))
    const refusing = [...types].filter((type) => REFUSING.has(type))
    const found: Result[] = []
    if (refusing.length > 0) {
      const words = `rules on ${branch}: ${refusing.join(', ')}`
      const fix = `leave ${branchPrefix}* out of the ruleset, or let GitHub Actions bypass it: ${page}/rules`
      found.push(warning(words, 'a branch that Ralph may push to', fix))
    }
    const { protection } = (await api.rest.repos.getBranch({ ...at, branch: base })).data
    const ruled = (await rulesOf(base)).flatMap((rule) =>
      rule.type === 'required_status_checks' ? (rule.parameters?.required_status_checks ?? []) : [],
    )
    const contexts = protection.required_status_checks?.contexts ?? []
    const required = new Set([...contexts, ...ruled.map(({ context }) => context)])
    const others = [...required].filter((name) => name !== 'ralph' && !name.startsWith('ralph / '))
    if (others.length > 0 && !hasPublisher(ci)) {
      const words = `${base} requires ${others.slice(0, 5).join(', ')}, which no push of the job's token starts`
      const fix = 'give publish-token (an App\'s), or press "Update branch" on the pull request'
      found.push(warning(words, 'required checks that start by themselves', fix))
    }
    return found.length > 0 ? found : [fine(`nothing on ${base} or ${branch} is in the way`)]
  },
  (page) => unknown('this token may not see them', `look at ${page}/rules`),
)

/** A look that may fail without a word: nobody is kept from working by an older version. */
export async function release({ github, action }: Subject): Promise<Result[]> {
  if (github === null) return []
  const [owner = '', repo = ''] = action.split('/')
  const newest = await github.api.rest.repos.getLatestRelease({ owner, repo }).then(
    ({ data }) => data.tag_name,
    () => null,
  )
  const fix = `see https://github.com/${ACTION}/releases`
  if (newest === null) return [unknown(`${VERSION}; the newest one is not known`, fix)]
  if (!isNewer(newest, VERSION)) return [fine(`${VERSION} is the newest`)]
  const mend = `${fix}, then put its SHA behind uses: ${ACTION}@`
  return [warning(`${VERSION}, and ${newest} is there`, 'the newest release', mend)]
}

/** By numbers; what has none is not newer. */
export function isNewer(tag: string, version: string): boolean {
  const isNumbers = [tag, version].every((text) => /^v?\d+\.\d+\.\d+$/.test(text.trim()))
  const bare = (text: string) => text.trim().replace(/^v/, '')
  return isNumbers && bare(tag).localeCompare(bare(version), 'en', { numeric: true }) > 0
}
