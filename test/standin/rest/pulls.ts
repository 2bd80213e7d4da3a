// Pull requests.
import type { Identity, Issue, Json } from '../model.ts'
import { htmlUrl, renderPull, renderPullOfEvent } from '../render.ts'
import { HttpError, invalid, notFound, type World } from '../world.ts'
import { type Call, created, type Endpoints, flag, numberParam, ok, paged, text } from './call.ts'

/** A pull request as its own page shows it. */
export async function renderFullPull(world: World, issue: Issue): Promise<Json> {
  const { pull } = issue
  if (pull === null) throw notFound()
  const range = `${pull.baseSha}...${pull.headSha}`
  const stat = (await world.bare.ask(['diff', '--shortstat', range])) ?? ''
  const count = (word: RegExp): number => Number(word.exec(stat)?.[1] ?? 0)
  const commits = await world.bare.ask(['rev-list', '--count', `${pull.baseSha}..${pull.headSha}`])
  return {
    ...renderPullOfEvent(world, issue),
    commits: Number(commits ?? 0),
    additions: count(/(\d+) insertion/),
    deletions: count(/(\d+) deletion/),
    changed_files: count(/(\d+) file/),
  }
}

/** Where the repository has a branch of a fork: GitHub keeps the objects of both together. Clients do not see it. */
export function forkRef(owner: string, branch: string): string {
  return `refs/forks/${owner}/${branch}`
}

export interface NewPull {
  title: string
  body: string | null
  head: string
  base: string
  draft: boolean
}
/** Opens a pull request, or refuses it in GitHub's words. */
export async function openPull(world: World, by: Identity, wanted: NewPull): Promise<Issue> {
  const { settings, bare } = world
  if (by.kind === 'job' && !settings.actionsMayOpenPullRequests)
    throw new HttpError(403, 'GitHub Actions is not permitted to create or approve pull requests')
  const colon = wanted.head.indexOf(':')
  const head = wanted.head.slice(colon + 1)
  const isForeign = colon > 0 && wanted.head.slice(0, colon) !== settings.owner
  const fork = isForeign ? wanted.head.slice(0, colon) : null
  const headSha = fork === null ? await bare.head(head) : await bare.resolve(forkRef(fork, head))
  if (headSha === null) throw invalid({ resource: 'PullRequest', field: 'head', code: 'invalid' })
  const baseSha = await bare.head(wanted.base)
  if (baseSha === null) throw invalid({ resource: 'PullRequest', field: 'base', code: 'invalid' })
  const refuse = (message: string): HttpError => invalid({ resource: 'PullRequest', code: 'custom', message })
  const ahead = await bare.ask(['rev-list', '--count', `${baseSha}..${headSha}`])
  if (Number(ahead) === 0) throw refuse(`No commits between ${wanted.base} and ${head}`)
  if (wanted.draft && !settings.draftPullRequests)
    throw new HttpError(422, 'Draft pull requests are not supported in this repository.')
  const isTaken = world
    .pullsNamed(head)
    .some((one) => one.pull.fork === fork && one.state === 'open' && one.pull.base === wanted.base)
  if (isTaken) throw refuse(`A pull request already exists for ${fork ?? settings.owner}:${head}.`)
  const issue = world.addIssue(by.login, wanted.title, wanted.body, [], {
    head,
    fork,
    base: wanted.base,
    headSha,
    baseSha,
    draft: wanted.draft,
    mergedAt: null,
    mergedBy: null,
    autoMergeAt: null,
    mergeSha: null,
  })
  await bare.run(['update-ref', `refs/pull/${issue.number}/head`, headSha])
  return issue
}

function checkBody(body: string | undefined): void {
  if (body !== undefined && body.length > 65_536)
    throw invalid({
      resource: 'PullRequest',
      code: 'custom',
      field: 'body',
      message: 'body is too long (maximum is 65536 characters)',
    })
}
function list(call: Call): Issue[] {
  const { world, query } = call
  const state = query.get('state') ?? 'open'
  // Without "owner:" GitHub ignores the filter, and gives all.
  const head = /^([^:]+):(.+)$/.exec(query.get('head') ?? '')
  const base = query.get('base')
  const ascending = query.get('direction') === 'asc'
  return [...world.issues.values()]
    .filter((issue) => issue.pull !== null && (state === 'all' || issue.state === state))
    .filter(({ pull }) => {
      const owner = pull?.fork ?? world.settings.owner
      return head === null || (head[1] === owner && pull?.head === head[2])
    })
    .filter((issue) => base === null || issue.pull?.base === base)
    .sort((a, b) => (ascending ? a.number - b.number : b.number - a.number))
}

const FILE_STATUS: Readonly<Record<string, string>> = { A: 'added', D: 'removed', M: 'modified' }

export const pulls: Endpoints = {
  'pulls/list': {
    needs: ['pull_requests:read'],
    answer: (call) => paged(call, list(call), (page) => page.map((issue) => renderPull(call.world, issue))),
  },
  'pulls/get': {
    needs: ['pull_requests:read'],
    answer: async (call) =>
      ok(await renderFullPull(call.world, call.world.issue(numberParam(call, 'pull_number')))),
  },
  'pulls/list-files': {
    needs: ['pull_requests:read'],
    answer: async (call) => {
      const { world } = call
      const { pull } = world.issue(numberParam(call, 'pull_number'))
      if (pull === null) throw new HttpError(404, 'Not Found')
      const range = `refs/heads/${pull.base}...${pull.headSha}`
      const lines = (await world.bare.run(['diff', '--raw', '--no-renames', '--abbrev=40', range]))
        .split('\n')
        .filter(Boolean)
      const files = lines.map((line) => {
        const [, , , sha = '', rest = ''] = line.split(' ')
        const [status = '', filename = ''] = rest.split('\t')
        return { sha, filename, status: FILE_STATUS[status] ?? 'modified' }
      })
      return paged(call, files, (page) =>
        page.map(({ sha, filename, status }) => ({
          ...{ sha, filename, status, additions: 0, deletions: 0, changes: 0 },
          blob_url: htmlUrl(world, `/blob/${pull.headSha}/${filename}`),
          raw_url: htmlUrl(world, `/raw/${pull.headSha}/${filename}`),
          contents_url: htmlUrl(world, `/contents/${filename}?ref=${pull.headSha}`),
        })),
      )
    },
  },
  'pulls/create': {
    needs: ['pull_requests:write'],
    answer: async ({ world, body, identity }) => {
      checkBody(text(body, 'body'))
      const title = text(body, 'title') ?? ''
      if (title.trim() === '')
        throw invalid({ resource: 'PullRequest', field: 'title', code: 'missing_field' })
      const issue = await openPull(world, identity, {
        title,
        body: text(body, 'body') ?? null,
        head: text(body, 'head') ?? '',
        base: text(body, 'base') ?? '',
        draft: flag(body, 'draft'),
      })
      world.raisePull('opened', issue, identity)
      return created(await renderFullPull(world, issue))
    },
  },
  'pulls/update': {
    needs: ['pull_requests:write'],
    answer: async (call) => {
      const { world, body } = call
      const issue = world.issue(numberParam(call, 'pull_number'))
      if (issue.pull === null) throw notFound()
      checkBody(text(body, 'body'))
      issue.title = text(body, 'title') ?? issue.title
      issue.body = text(body, 'body') ?? issue.body
      issue.updatedAt = world.now()
      const base = text(body, 'base')
      if (base !== undefined) {
        const baseSha = await world.bare.head(base)
        if (baseSha === null) throw invalid({ resource: 'PullRequest', field: 'base', code: 'invalid' })
        if (issue.state === 'closed')
          throw invalid({
            resource: 'PullRequest',
            code: 'custom',
            field: 'base',
            message: 'Cannot change the base branch of a closed pull request.',
          })
        const { head, headSha } = issue.pull
        const ahead = await world.bare.ask(['rev-list', '--count', `${baseSha}..${headSha}`])
        if (Number(ahead) === 0)
          throw invalid({
            resource: 'PullRequest',
            code: 'custom',
            field: 'base',
            message: `There are no new commits between base branch '${base}' and head branch '${head}'`,
          })
        Object.assign(issue.pull, { base, baseSha })
      }
      const state = text(body, 'state')
      if (state === 'closed' && issue.state === 'open') world.close(issue, call.identity)
      if (state === 'open' && issue.state === 'closed') {
        if (issue.pull.mergedAt !== null || (await world.bare.head(issue.pull.head)) === null)
          throw invalid({
            resource: 'PullRequest',
            code: 'custom',
            field: 'state',
            message: 'state cannot be changed.',
          })
        issue.state = 'open'
        issue.closedAt = null
        issue.pull.headSha = (await world.bare.head(issue.pull.head)) ?? issue.pull.headSha
        world.raisePull('reopened', issue, call.identity)
      }
      return ok(await renderFullPull(world, issue))
    },
  },
}
