// The one pull request of a feature: found by its branch, opened as a draft, made ready on completion.
import { type GitHub, isForbidden, isUnknown, ONCE, saidByGitHub, statusOf } from './client.ts'
import type { Worded } from './pull-text.ts'

export type Pull = Worded & {
  number: number
  url: string
  nodeId: string
  draft: boolean
  labels: string[]
}

export type PullRequest = { branch: string; base: string; title: string; body: string; draft: boolean }

/** `forbidden`: this token may not, so a permission or a switch is missing. */
export type Refused = { kind: 'refused'; reason: string; forbidden: boolean }
export type Opened = { kind: 'open'; pull: Pull } | Refused

/** The open pull request from this branch of this repository, or null. */
export async function findPull({ api, at }: GitHub, branch: string): Promise<Pull | null> {
  const { data } = await api.rest.pulls.list({
    ...at,
    head: `${at.owner}:${branch}`,
    state: 'open',
    per_page: 10,
  })
  const found = data.find(
    (pull) => pull.head.ref === branch && pull.head.repo?.full_name === `${at.owner}/${at.repo}`,
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
  labels: readonly { name: string }[]
}): Pull {
  return {
    number: found.number,
    url: found.html_url,
    nodeId: found.node_id,
    draft: found.draft === true,
    title: found.title,
    body: found.body ?? '',
    labels: found.labels.map(({ name }) => name),
  }
}

/** Opens the pull request. `refused` says why, where Actions may not or there is nothing to compare. */
export async function openPull(github: GitHub, wanted: PullRequest, isLast = false): Promise<Opened> {
  const { branch: head, ...rest } = wanted
  try {
    const { data } = await github.api.rest.pulls.create({ ...github.at, head, ...rest, ...ONCE })
    return { kind: 'open', pull: pullOf(data) }
  } catch (error) {
    // The answer may be lost although it was opened; and a repository may know no drafts. GitHub takes no second one, so
    // where it cannot be looked up either, asking again does no harm.
    const there = await findPull(github, head).catch((lost: unknown) => {
      github.warn(`the pull requests could not be looked up: ${saidByGitHub(lost)}`)
      return null
    })
    if (there !== null) return { kind: 'open', pull: there }
    if (statusOf(error) === 422 && wanted.draft && /draft/i.test(saidByGitHub(error))) {
      return openPull(github, { ...wanted, draft: false }, isLast)
    }
    if (isUnknown(error) && !isLast) return openPull(github, wanted, true)
    return { kind: 'refused', reason: saidByGitHub(error), forbidden: isForbidden(error) }
  }
}

/** Takes the draft mark off. */
export async function makeReady({ api }: GitHub, pull: Pull): Promise<void> {
  const mutation = `mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`
  await api.graphql(mutation, { id: pull.nodeId })
}

export async function updatePull(
  { api, at }: GitHub,
  number: number,
  change: Partial<Worded>,
): Promise<void> {
  await api.rest.pulls.update({ ...at, pull_number: number, ...change })
}
