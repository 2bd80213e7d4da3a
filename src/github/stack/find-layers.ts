// What GitHub has of a stack: the head of each branch and its newest pull request. One request for up to 50 branches, and one more for each
// branch whose name many forks have.
import type { GitHub } from '../client.ts'
import type { StackPull } from './plan-stack.ts'

/** A pull request with what is needed to update it. */
export type LayerPull = StackPull & {
  url: string
  title: string
  body: string
  /** The newest commit of its branch. */
  head: string
  /** The commit that it was merged as, or null. */
  mergeCommit: string | null
}

/** With more branches, there is one more request. */
const MAX_BRANCHES = 50
/** Forks may have branches of the same name. With more pull requests than this, those of the repository are listed apart. */
const MAX_PULLS = 5
/** A branch of an earlier run may have had the same name. GitHub's clock and that of a runner may differ by less than this. */
const CLOCK_SKEW_MS = 10 * 60_000

type Node = {
  number: number
  url: string
  state: 'OPEN' | 'CLOSED' | 'MERGED'
  createdAt: string
  title: string
  body: string
  baseRefName: string
  headRefOid: string
  isCrossRepository: boolean
  mergeCommit: { oid: string } | null
  mergedAt: string | null
}
type Pulls = { totalCount: number; nodes: Node[] }
type Answer = { repository: Record<string, { target: { oid: string } | null } | Pulls | null> }

export type LayerFound = { head: string | null; pull: LayerPull | null }
/** `createdAt`: ISO 8601. */
type Dated = LayerPull & { createdAt: string }

/** In the order of the branches. `startedAt`: of the run, ISO 8601, if known; pull requests that are older are not the run's. */
export async function findLayers(
  github: GitHub,
  branches: readonly string[],
  startedAt: string | null,
): Promise<LayerFound[]> {
  const found: { head: string | null; pull: Dated | null }[] = []
  for (let from = 0; from < branches.length; from += MAX_BRANCHES)
    found.push(...(await findSome(github, branches.slice(from, from + MAX_BRANCHES))))
  const start = Date.parse(startedAt ?? '')
  const isOlder = (pull: Dated) => Date.parse(pull.createdAt) < start - CLOCK_SKEW_MS
  return found.map((one) => (one.pull !== null && isOlder(one.pull) ? { ...one, pull: null } : one))
}

async function findSome(
  github: GitHub,
  branches: readonly string[],
): Promise<{ head: string | null; pull: Dated | null }[]> {
  const { api, repo } = github
  const parameters = branches.map((_, index) => `, $ref${index}: String!, $name${index}: String!`)
  const fields = branches.map(
    (_, index) => `
    ref${index}: ref(qualifiedName: $ref${index}) { target { oid } }
    pulls${index}: pullRequests(headRefName: $name${index}, last: ${MAX_PULLS}) { totalCount nodes {
      number url state createdAt title body baseRefName headRefOid isCrossRepository mergeCommit { oid } mergedAt
    } }`,
  )
  const query = `query ($owner: String!, $repo: String!${parameters.join('')}) {
  repository(owner: $owner, name: $repo) {${fields.join('')}
  }
}`
  const names = branches.flatMap((branch, index) => [
    [`ref${index}`, `refs/heads/${branch}`],
    [`name${index}`, branch],
  ])
  const { repository } = await api.graphql<Answer>(query, { ...repo, ...Object.fromEntries(names) })
  const found = branches.map(async (branch, index) => {
    const ref = repository[`ref${index}`]
    const pulls = repository[`pulls${index}`]
    const { totalCount, nodes } = pulls != null && 'nodes' in pulls ? pulls : { totalCount: 0, nodes: [] }
    const own = nodes.filter(({ isCrossRepository }) => !isCrossRepository)
    const newest = own.sort((one, other) => one.number - other.number).at(-1)
    const head = ref != null && 'target' in ref ? (ref.target?.oid ?? null) : null
    if (newest !== undefined) return { head, pull: pullOf(newest) }
    return { head, pull: totalCount > nodes.length ? await listedPull(github, branch) : null }
  })
  return Promise.all(found)
}

/** The newest pull request from this branch of this repository: the REST API can leave out those of forks, and GraphQL cannot. */
async function listedPull({ api, repo }: GitHub, branch: string): Promise<Dated | null> {
  const head = `${repo.owner}:${branch}`
  const { data } = await api.rest.pulls.list({ ...repo, head, state: 'all', per_page: 10 })
  // The newest is first. An organization may also have a fork of the repository.
  const found = data.find((pull) => pull.head.repo?.full_name === `${repo.owner}/${repo.repo}`)
  if (found === undefined) return null
  const { number, html_url: url, created_at: createdAt, title, body, merged_at: mergedAt } = found
  const state = mergedAt !== null ? 'merged' : found.state === 'open' ? 'open' : 'closed'
  return {
    ...{ number, url, state, createdAt, title, body: body ?? '', base: found.base.ref, head: found.head.sha },
    // Of an open pull request this is a commit that GitHub merged only as a test.
    mergeCommit: mergedAt === null ? null : found.merge_commit_sha,
    mergedAt,
  }
}

const STATES = { OPEN: 'open', CLOSED: 'closed', MERGED: 'merged' } as const

function pullOf({ number, url, state, createdAt, title, body, ...rest }: Node): Dated {
  const { baseRefName: base, headRefOid: head, mergedAt } = rest
  const mergeCommit = rest.mergeCommit?.oid ?? null
  return {
    ...{ number, url, state: STATES[state], createdAt, title, body },
    ...{ base, head, mergeCommit, mergedAt },
  }
}
