// Questions to GitHub: may Actions open pull requests, and which release is the newest?

import { ACTION, isNewer, VERSION } from '../../engine/model/version.ts'
import { httpStatusOf, isForbidden } from '../../github/client.ts'
import { repositoryUrl } from '../../github/repository-address.ts'
import {
  type CheckResult,
  okResult,
  requireCheckout,
  type Subject,
  unknownResult,
  warningResult,
} from './subject.ts'

/** Whether GitHub can be asked. If not, one finding replaces all checks that would ask it. */
export function checkGitHubAccess(subject: Subject): CheckResult[] {
  const { ci } = requireCheckout(subject)
  if (subject.github !== null || ci === null) return []
  return [
    unknownResult(
      'without a token, Ralph cannot ask GitHub whether Actions may open pull requests',
      'run GH_TOKEN=$(gh auth token) ralph doctor',
    ),
  ]
}

const BOX = '"Allow GitHub Actions to create and approve pull requests"'

export async function checkPullRequests(subject: Subject): Promise<CheckResult[]> {
  const { ci } = requireCheckout(subject)
  const { github } = subject
  // Without a workflow, runs open no pull request, so there is no row. Without a token, the row `github` says what is missing.
  if (ci === null || github === null) return []
  const { job, settings } = ci
  if (settings.pullRequest === 'none')
    return [okResult('Ralph opens none, because of the setting `pull-request: none`')]
  // If the secret is not set, the token is empty. That cannot be seen from here.
  if (settings.publishToken !== null || job.unread.includes('publish-token'))
    return [okResult('Ralph opens them with publish-token')]
  const { api, repo, place } = github
  const page = `${repositoryUrl(place)}/settings/actions`
  try {
    const { data } = await api.rest.actions.getGithubActionsDefaultWorkflowPermissionsRepository(repo)
    if (data.can_approve_pull_request_reviews) return [okResult('Actions may open them')]
    const found = 'Actions may not open them. A person has to use the link in the job summary'
    const command =
      'gh api -X PUT repos/{owner}/{repo}/actions/permissions/workflow -F can_approve_pull_request_reviews=true'
    const fix = `run ${command} (or tick ${BOX} at ${page}), or set publish-token`
    return [warningResult(found, '', fix)]
  } catch (error) {
    // GitHub answers 403 or 404 where a token may not see something.
    if (!(isForbidden(error) || httpStatusOf(error) === 404)) throw error
    const found = 'only an admin can see whether Actions may open them'
    return [unknownResult(found, `check whether ${BOX} is ticked at ${page}`)]
  }
}

/** Whether a newer release exists. A failed request is not a fault: an older version still works. */
export async function checkRelease({ github, action }: Subject): Promise<CheckResult[]> {
  if (github === null) return []
  const [owner = '', repo = ''] = action.split('/')
  const newest = await github.api.rest.repos.getLatestRelease({ owner, repo }).then(
    ({ data }) => data.tag_name,
    () => null,
  )
  const fix = `see https://github.com/${ACTION}/releases`
  if (newest === null)
    return [unknownResult(`${VERSION}; Ralph could not find out which release is the newest`, fix)]
  if (!isNewer(newest, VERSION)) return [okResult(`${VERSION} is the newest`)]
  const upgradeFix = 'run `ralph upgrade`, which shows the changes and updates the pin'
  return [warningResult(`${newest} is available (you have ${VERSION})`, '', upgradeFix)]
}
