// Who approved the newest commit of the pull request, and whose approval counts.

import { approvableHeads } from '../../engine/corrections/approvals.ts'
import type { Approvals } from '../../engine/model/correction.ts'
import type { State } from '../../engine/model/state.ts'
import type { GitHub } from '../client.ts'

type Author = { login: string; __typename: string } | null
type Review = { state: string; author: Author; commit: { oid: string } | null }
type Commit = { commit: { authors: { nodes: { user: { login: string } | null }[] } } }
type Answer = {
  repository: {
    pullRequest: {
      latestOpinionatedReviews: { nodes: Review[] } | null
      commits: { pageInfo: { hasNextPage: boolean; endCursor: string | null }; nodes: Commit[] }
    } | null
  } | null
}

const QUERY = `query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    latestOpinionatedReviews(first: 100) { nodes { state author { __typename login } commit { oid } } }
    commits(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { commit { authors(first: 20) { nodes { user { login } } } } }
    }
  } }
}`

/** GitHub lists at most 250 commits of a pull request. */
const MAX_PAGES = 3

/** The approvals of the head. A dismissed review, or one with a later request for changes, is not an approval. */
export async function readApprovals(
  { api, repo }: GitHub,
  state: State,
  pull: number,
  mayWrite: (login: string) => Promise<boolean>,
): Promise<Approvals> {
  const heads = approvableHeads(state)
  const authors = new Set<string>()
  let reviews: Review[] = []
  let after: string | null = null
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const variables = { owner: repo.owner, name: repo.repo, number: pull, after }
    const answer: Answer = await api.graphql<Answer>(QUERY, variables)
    const found = answer.repository?.pullRequest
    if (found == null) break
    reviews = found.latestOpinionatedReviews?.nodes ?? []
    for (const { commit } of found.commits.nodes)
      for (const { user } of commit.authors.nodes) if (user !== null) authors.add(user.login.toLowerCase())
    if (!found.commits.pageInfo.hasNextPage) break
    after = found.commits.pageInfo.endCursor
  }
  const by: string[] = []
  const others: Approvals['others'] = []
  const { starters = [] } = state.control
  for (const { state: opinion, author, commit } of reviews) {
    if (opinion !== 'APPROVED' || author === null) continue
    const name = author.login.toLowerCase()
    const why =
      author.__typename !== 'User'
        ? 'is not a person'
        : starters.includes(name)
          ? 'began the run or approved its plan'
          : authors.has(name)
            ? 'committed to the branch'
            : !heads.includes(commit?.oid ?? '')
              ? 'approved an earlier commit'
              : (await mayWrite(author.login))
                ? null
                : 'has no write access'
    if (why === null) by.push(author.login)
    else others.push({ login: author.login, why })
  }
  return { heads, by, others }
}
