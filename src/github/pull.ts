// The one pull request of a feature: found by its branch, opened as a draft, made ready on completion.
import { type Api, isForbidden, isUnknown, ONCE, saidByGitHub, statusOf } from './client.ts'
import type { Place } from './place.ts'
import type { Worded } from './pull-text.ts'

export type Pull = Worded & { number: number; url: string; nodeId: string; draft: boolean }

export type PullRequest = { branch: string; base: string; title: string; body: string; draft: boolean }

/** `forbidden`: this token may not, so a permission or a switch is missing. */
export type Refused = { kind: 'refused'; reason: string; forbidden: boolean }
export type Opened = { kind: 'open'; pull: Pull } | Refused

/** The open pull request from this branch of this repository, or null. */
export async function findPull(api: Api, place: Place, branch: string): Promise<Pull | null> {
  const { owner, repo } = place
  const { data } = await api.rest.pulls.list({
    owner,
    repo,
    head: `${owner}:${branch}`,
    state: 'open',
    per_page: 10,
  })
  const found = data.find(
    (pull) => pull.head.ref === branch && pull.head.repo?.full_name === `${owner}/${repo}`,
  )
  return found === undefined ? null : pullOf(found)
}

function pullOf(found: {
  number: number
  html_url: string
  node_id: string
  draft?: boolean
  title: string
  body: string | null
}): Pull {
  return {
    number: found.number,
    url: found.html_url,
    nodeId: found.node_id,
    draft: found.draft === true,
    title: found.title,
    body: found.body ?? '',
  }
}

/** Opens the pull request. `refused` says why, where Actions may not (facts 3.3) or there is nothing to compare. */
export async function openPull(
  api: Api,
  place: Place,
  wanted: PullRequest,
  warn: (message: string) => void,
  isLast = false,
): Promise<Opened> {
  const { owner, repo } = place
  const { branch: head, base, title, body } = wanted
  try {
    const { data } = await api.rest.pulls.create({
      owner,
      repo,
      head,
      base,
      title,
      body,
      draft: wanted.draft,
      ...ONCE,
    })
    return { kind: 'open', pull: pullOf(data) }
  } catch (error) {
    // The answer may be lost although it was opened; and a repository may know no drafts. GitHub takes no second one, so
    // where it cannot be looked up either, asking again does no harm.
    const there = await findPull(api, place, head).catch((lost: unknown) => {
      warn(`the pull requests could not be looked up: ${saidByGitHub(lost)}`)
      return null
    })
    if (there !== null) return { kind: 'open', pull: there }
    if (statusOf(error) === 422 && wanted.draft && /draft/i.test(saidByGitHub(error))) {
      return openPull(api, place, { ...wanted, draft: false }, warn, isLast)
    }
    if (isUnknown(error) && !isLast) return openPull(api, place, wanted, warn, true)
    return { kind: 'refused', reason: saidByGitHub(error), forbidden: isForbidden(error) }
  }
}

/** Takes the draft mark off. */
export async function makeReady(api: Api, pull: Pull): Promise<void> {
  const mutation = `mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`
  await api.graphql(mutation, { id: pull.nodeId })
}

export async function updatePull(
  api: Api,
  place: Place,
  number: number,
  change: Partial<Worded>,
): Promise<void> {
  await api.rest.pulls.update({ owner: place.owner, repo: place.repo, pull_number: number, ...change })
}
