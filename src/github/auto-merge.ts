// `auto-merge: true`: GitHub merges the pull request of a complete run as soon as the rules of its base are met. If there is a merge queue,
// it uses that. Ralph merges nothing itself, and turns auto-merge off while a run is at work.

import { type GitHub, githubMessage, isForbidden } from './client.ts'

const LOOK = `query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    autoMergeAllowed
    viewerDefaultMergeMethod
    pullRequest(number: $number) { id headRefOid isInMergeQueue autoMergeRequest { enabledAt } }
  }
}`
const ENABLE = `mutation ($id: ID!, $head: GitObjectID!, $mergeMethod: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: { pullRequestId: $id, expectedHeadOid: $head, mergeMethod: $mergeMethod }) { clientMutationId }
}`
const DISABLE = `mutation ($id: ID!) { disablePullRequestAutoMerge(input: { pullRequestId: $id }) { clientMutationId } }`

type Seen = {
  repository: {
    autoMergeAllowed: boolean
    viewerDefaultMergeMethod: string
    pullRequest: {
      id: string
      headRefOid: string
      isInMergeQueue: boolean
      autoMergeRequest: { enabledAt: string } | null
    } | null
  }
}

/** Whether GitHub merges it by itself, and what to tell people about that. */
export type AutoMerge = { isOn: boolean; note: string }

/**
 * Turns auto-merge on for this pull request if its head is `head`. Returns what to tell people. `base`: the branch that it goes to.
 * Throws what GitHub answers to the look itself.
 */
export async function enableAutoMerge(
  github: GitHub,
  number: number,
  { head, base }: { head: string; base: string },
): Promise<AutoMerge | null> {
  const { repository } = await look(github, number)
  const { autoMergeAllowed, viewerDefaultMergeMethod: mergeMethod, pullRequest } = repository
  if (pullRequest === null) return null
  // Commits that people pushed since the gates ran are reviewed first.
  if (pullRequest.headRefOid !== head)
    return off('the pull request has commits on which the gates have not run yet')
  if (pullRequest.isInMergeQueue || pullRequest.autoMergeRequest !== null) return on(base)
  if (!autoMergeAllowed)
    return off(
      'this repository does not allow it. Tick Settings > General > "Allow auto-merge", or remove auto-merge: true',
    )
  try {
    await github.api.graphql(ENABLE, { id: pullRequest.id, head, mergeMethod })
    return on(base)
  } catch (error) {
    return refusal(error, base)
  }
}

/** Turns auto-merge off before a run continues with a pull request that was complete. */
export async function disableAutoMerge(github: GitHub, number: number): Promise<void> {
  const { pullRequest } = (await look(github, number)).repository
  if (pullRequest === null || pullRequest.autoMergeRequest === null) return
  await github.api.graphql(DISABLE, { id: pullRequest.id })
}

function look({ api, repo }: GitHub, number: number): Promise<Seen> {
  return api.graphql<Seen>(LOOK, { owner: repo.owner, name: repo.repo, number })
}

function on(base: string): AutoMerge {
  return { isOn: true, note: `Auto-merge is on: GitHub merges this as soon as the rules of ${base} are met` }
}

function off(why: string): AutoMerge {
  return { isOn: false, note: `Auto-merge is not on: ${why}` }
}

function refusal(error: unknown, base: string): AutoMerge {
  const reason = githubMessage(error)
  // "Pull request is in clean status": no rule makes it wait, so GitHub has nothing to do later.
  if (/clean status/i.test(reason))
    return off(
      `no rule of ${base} requires anything before a merge. Require an approval or the check ralph, or merge the pull request yourself`,
    )
  const fix = isForbidden(error) ? ' Give the token contents: write and pull-requests: write' : ''
  return off(`${reason.replace(/\.$/, '')}.${fix}`)
}
