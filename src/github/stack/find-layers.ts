// What GitHub has of a stack: the head of each branch and its newest pull request. One request for up to 50 branches.
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
/** Forks may have branches of the same name. */
const MAX_PULLS = 5

type Node = {
  number: number
  url: string
  state: 'OPEN' | 'CLOSED' | 'MERGED'
  title: string
  body: string
  baseRefName: string
  headRefOid: string
  isCrossRepository: boolean
  mergeCommit: { oid: string } | null
}
type Answer = { repository: Record<string, { target: { oid: string } | null } | { nodes: Node[] } | null> }

export type LayerFound = { head: string | null; pull: LayerPull | null }

export async function findLayers(github: GitHub, branches: readonly string[]): Promise<LayerFound[]> {
  const found: LayerFound[] = []
  for (let from = 0; from < branches.length; from += MAX_BRANCHES)
    found.push(...(await findSome(github, branches.slice(from, from + MAX_BRANCHES))))
  return found
}

async function findSome({ api, repo }: GitHub, branches: readonly string[]): Promise<LayerFound[]> {
  const parameters = branches.map((_, index) => `, $ref${index}: String!, $name${index}: String!`)
  const fields = branches.map(
    (_, index) => `
    ref${index}: ref(qualifiedName: $ref${index}) { target { oid } }
    pulls${index}: pullRequests(headRefName: $name${index}, last: ${MAX_PULLS}) { nodes {
      number url state title body baseRefName headRefOid isCrossRepository mergeCommit { oid }
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
  return branches.map((_, index) => {
    const ref = repository[`ref${index}`]
    const pulls = repository[`pulls${index}`]
    const nodes = pulls != null && 'nodes' in pulls ? pulls.nodes : []
    const own = nodes.filter(({ isCrossRepository }) => !isCrossRepository)
    const newest = own.sort((one, other) => one.number - other.number).at(-1)
    const head = ref != null && 'target' in ref ? (ref.target?.oid ?? null) : null
    return { head, pull: newest === undefined ? null : pullOf(newest) }
  })
}

const STATES = { OPEN: 'open', CLOSED: 'closed', MERGED: 'merged' } as const

function pullOf({ number, url, state, title, body, ...rest }: Node): LayerPull {
  const { baseRefName: base, headRefOid: head, mergeCommit } = rest
  return { number, url, state: STATES[state], title, body, base, head, mergeCommit: mergeCommit?.oid ?? null }
}
