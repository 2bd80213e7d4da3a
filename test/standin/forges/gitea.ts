// Gitea's and Forgejo's answers, from the same records as GitHub's. What they lack is left out: checks, GraphQL, artifacts.
import type { Identity, Json, Run } from '../model.ts'
import { dispatch, workflowPaths } from '../rest/actions.ts'
import { type Call, created, type Endpoints, empty, numberParam, ok, pagedBy, text } from '../rest/call.ts'
import { openPull } from '../rest/pulls.ts'
import { commitOf, readCommit } from '../rest/repository.ts'
import { HttpError, notFound, type World } from '../world.ts'
import {
  apiUrl,
  htmlUrl,
  isDraftTitle,
  renderComment,
  renderForgejoRun,
  renderGiteaRun,
  renderIssue,
  renderLabel,
  renderPull,
  renderRepository,
  renderStatus,
  renderUser,
} from './render.ts'

function paged<T>(call: Call, items: T[], wrap?: (page: T[]) => unknown) {
  const { pageSize } = call.world.settings
  return pagedBy(call, items, { name: 'limit', most: pageSize, usual: pageSize }, wrap)
}

async function renderCommit(world: World, sha: string): Promise<Json> {
  const raw = await readCommit(world, sha)
  return {
    sha,
    url: apiUrl(world, `/git/commits/${sha}`),
    html_url: htmlUrl(world, `/commit/${sha}`),
    commit: { message: raw.message, author: raw.author, committer: raw.committer },
    parents: raw.parents.map((parent) => ({ sha: parent, url: apiUrl(world, `/git/commits/${parent}`) })),
  }
}

/** Who may ask what another person may do: administrators of the repository only, and everybody about themselves. */
function mayLookUp(world: World, identity: Identity, login: string): boolean {
  const isAdmin = identity.kind === 'user' && world.permissionOf(identity.login).permission === 'admin'
  return isAdmin || identity.login === login
}

function needWrite(identity: Identity): void {
  if (identity.kind === 'user' && identity.permissions.contents !== 'write')
    throw new HttpError(403, 'user should have a permission to write to a repo')
}

function refuseMissingLabels(world: World, wanted: unknown): string[] {
  return (Array.isArray(wanted) ? wanted : []).map((one) => {
    const found = [...world.labels].find(([name, { id }]) => id === one || name === one)
    if (found === undefined) throw new HttpError(404, `label does not exist [label_id: ${one}]`)
    return found[0]
  })
}

const repository: Endpoints = {
  '/user': { needs: [], answer: ({ world, identity }) => ok(renderUser(world, identity.login)) },
  '/version': { needs: [], answer: ({ world }) => ok({ version: world.dialect.version }) },
  '/repos/{owner}/{repo}': { needs: [], answer: ({ world }) => ok(renderRepository(world)) },
  '/repos/{owner}/{repo}/collaborators/{collaborator}/permission': {
    needs: [],
    answer: ({ world, params, identity }) => {
      const login = params.collaborator ?? ''
      if (!mayLookUp(world, identity, login))
        throw new HttpError(
          403,
          'Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own',
        )
      const permission = login === world.settings.owner ? 'owner' : world.permissionOf(login).permission
      return ok({ permission, role_name: permission, user: renderUser(world, login) })
    },
  },
  '/repos/{owner}/{repo}/contents/{filepath}': {
    needs: [],
    answer: async ({ world, params, query }) => {
      const at = await world.bare.resolve(query.get('ref') ?? world.settings.defaultBranch)
      const path = params.filepath ?? ''
      const kind = at === null ? null : await world.bare.ask(['cat-file', '-t', `${at}:${path}`])
      if (kind !== 'blob') throw notFound()
      const bytes = await world.bare.bytes(['cat-file', 'blob', `${at}:${path}`])
      const name = path.split('/').at(-1) ?? ''
      const sha = await world.bare.run(['rev-parse', `${at}:${path}`])
      return ok({
        name,
        path,
        sha,
        type: 'file',
        size: bytes.length,
        encoding: 'base64',
        content: bytes.toString('base64'),
      })
    },
  },
  '/repos/{owner}/{repo}/git/refs/{ref}': {
    needs: [],
    answer: async ({ world, params }) => {
      const all = [...(await world.bare.refs())].filter(([ref]) => ref.startsWith(`refs/${params.ref}`))
      if (all.length === 0) throw notFound()
      const object = (sha: string): Json => ({
        type: 'commit',
        sha,
        url: apiUrl(world, `/git/commits/${sha}`),
      })
      return ok(all.map(([ref, sha]) => ({ ref, url: apiUrl(world, `/git/${ref}`), object: object(sha) })))
    },
  },
  '/repos/{owner}/{repo}/commits': {
    needs: [],
    answer: async (call) => {
      const { world, query } = call
      const from = await commitOf(world, query.get('sha') ?? world.settings.defaultBranch)
      const page = paged(call, (await world.bare.run(['rev-list', from])).split('\n'))
      return {
        ...page,
        body: await Promise.all((page.body as string[]).map((sha) => renderCommit(world, sha))),
      }
    },
  },
}

const statuses: Endpoints = {
  '/repos/{owner}/{repo}/statuses/{sha}': {
    needs: [],
    answer: async ({ world, params, body, identity }) => {
      needWrite(identity)
      const sha = await commitOf(world, params.sha ?? '')
      const status = {
        id: world.nextId(),
        sha,
        state: text(body, 'state') ?? '',
        context: text(body, 'context') ?? 'default',
        description: text(body, 'description') ?? null,
        targetUrl: text(body, 'target_url') ?? null,
        login: identity.login,
        createdAt: world.now(),
      }
      world.statuses.push(status)
      return created(renderStatus(world, status))
    },
  },
  '/repos/{owner}/{repo}/commits/{ref}/statuses': {
    needs: [],
    answer: async (call) => {
      const sha = await commitOf(call.world, call.params.ref ?? '')
      const own = call.world.statuses.filter((status) => status.sha === sha).toReversed()
      return paged(call, own, (page) => page.map((status) => renderStatus(call.world, status)))
    },
  },
}

const pulls: Endpoints = {
  'GET /repos/{owner}/{repo}/pulls': {
    needs: [],
    answer: (call) => {
      const state = call.query.get('state') ?? 'open'
      const list = [...call.world.issues.values()]
        .filter((issue) => issue.pull !== null && (state === 'all' || issue.state === state))
        .toReversed()
      return paged(call, list, (page) => page.map((issue) => renderPull(call.world, issue)))
    },
  },
  'POST /repos/{owner}/{repo}/pulls': {
    needs: [],
    answer: async ({ world, body, identity }) => {
      needWrite(identity)
      const title = text(body, 'title') ?? ''
      const issue = await openPull(world, identity, {
        title,
        body: text(body, 'body') ?? null,
        head: text(body, 'head') ?? '',
        base: text(body, 'base') ?? '',
        draft: isDraftTitle(title),
      }).catch((error: unknown) => {
        // A second pull request of a branch is a conflict here.
        const isTaken =
          error instanceof HttpError && JSON.stringify(error.errors ?? '').includes('already exists')
        throw isTaken ? new HttpError(409, 'pull request already exists for these targets') : error
      })
      world.raisePull('opened', issue, identity)
      return created(renderPull(world, issue))
    },
  },
  'GET /repos/{owner}/{repo}/pulls/{index}': {
    needs: [],
    answer: (call) => ok(renderPull(call.world, call.world.issue(numberParam(call, 'index')))),
  },
  'PATCH /repos/{owner}/{repo}/pulls/{index}': {
    needs: [],
    answer: (call) => {
      const { world, body } = call
      needWrite(call.identity)
      const issue = world.issue(numberParam(call, 'index'))
      if (issue.pull === null) throw notFound()
      const title = text(body, 'title')
      if (title !== undefined) {
        issue.title = title
        issue.pull.draft = isDraftTitle(title)
      }
      issue.body = text(body, 'body') ?? issue.body
      issue.updatedAt = world.now()
      return created(renderPull(world, issue))
    },
  },
  '/repos/{owner}/{repo}/pulls/{index}/files': {
    needs: [],
    answer: async (call) => {
      const { pull } = call.world.issue(numberParam(call, 'index'))
      if (pull === null) throw notFound()
      const range = `refs/heads/${pull.base}...${pull.headSha}`
      const names = (await call.world.bare.run(['diff', '--name-only', '--no-renames', range])).split('\n')
      return paged(call, names.filter(Boolean), (page) =>
        page.map((filename) => ({ filename, status: 'changed' })),
      )
    },
  },
}

const issues: Endpoints = {
  '/repos/{owner}/{repo}/issues/{index}': {
    needs: [],
    answer: (call) => ok(renderIssue(call.world, call.world.issue(numberParam(call, 'index')))),
  },
  'GET /repos/{owner}/{repo}/issues/{index}/comments': {
    needs: [],
    answer: (call) => {
      const { number } = call.world.issue(numberParam(call, 'index'))
      const own = [...call.world.comments.values()].filter((comment) => comment.number === number)
      return ok(own.map((comment) => renderComment(call.world, comment)))
    },
  },
  'POST /repos/{owner}/{repo}/issues/{index}/comments': {
    needs: [],
    answer: (call) => {
      const { world, body, identity } = call
      const { number } = world.issue(numberParam(call, 'index'))
      return created(renderComment(world, world.addComment(number, identity, text(body, 'body') ?? '')))
    },
  },
  'PATCH /repos/{owner}/{repo}/issues/comments/{id}': {
    needs: [],
    answer: (call) => {
      const { world, body, identity } = call
      const comment = world.editComment(numberParam(call, 'id'), identity, text(body, 'body') ?? '')
      return ok(renderComment(world, comment))
    },
  },
  'DELETE /repos/{owner}/{repo}/issues/comments/{id}': {
    needs: [],
    answer: (call) => {
      call.world.deleteComment(numberParam(call, 'id'), call.identity)
      return empty
    },
  },
  '/repos/{owner}/{repo}/issues/comments/{id}/reactions': {
    needs: [],
    answer: (call) => {
      const { world, identity } = call
      const subject = `comment:${numberParam(call, 'id')}`
      const content = text(call.body, 'content') ?? ''
      const made = { id: world.nextId(), subject, login: identity.login, content, createdAt: world.now() }
      world.reactions.push(made)
      return created({ user: renderUser(world, identity.login), content, created_at: made.createdAt })
    },
  },
  'GET /repos/{owner}/{repo}/labels': {
    needs: [],
    answer: (call) =>
      paged(call, [...call.world.labels.keys()], (page) => page.map((name) => renderLabel(call.world, name))),
  },
  'POST /repos/{owner}/{repo}/labels': {
    needs: [],
    answer: ({ world, body, identity }) => {
      needWrite(identity)
      const name = world.label(text(body, 'name') ?? '')
      return created(renderLabel(world, name))
    },
  },
  '/repos/{owner}/{repo}/issues/{index}/labels': {
    needs: [],
    answer: (call) => {
      const { world, body } = call
      const issue = world.issue(numberParam(call, 'index'))
      for (const name of refuseMissingLabels(world, body.labels)) world.addLabel(issue, name)
      return ok(issue.labels.map((name) => renderLabel(world, name)))
    },
  },
  '/repos/{owner}/{repo}/issues/{index}/labels/{id}': {
    needs: [],
    answer: (call) => removeLabel(call, 'id'),
  },
  '/repos/{owner}/{repo}/issues/{index}/labels/{identifier}': {
    needs: [],
    answer: (call) => removeLabel(call, 'identifier'),
  },
}

function removeLabel(call: Call, param: string) {
  const issue = call.world.issue(numberParam(call, 'index'))
  const [name] = refuseMissingLabels(call.world, [numberParam(call, param)])
  issue.labels = issue.labels.filter((one) => one !== name)
  return empty
}

async function start({ world, body, identity }: Call, workflow: string): Promise<Run> {
  needWrite(identity)
  return dispatch(world, {
    workflow,
    ref: text(body, 'ref') ?? '',
    inputs: (body.inputs ?? {}) as Json,
    actor: identity.login,
  })
}

function runsOf({ world, query }: Call, workflow: string | null): Run[] {
  const event = query.get('event')
  return world.runs
    .filter((run) => workflow === null || run.workflow.endsWith(`/${workflow}`))
    .filter((run) => event === null || run.event === event)
    .toReversed()
}

export const GITEA: Endpoints = {
  ...repository,
  ...statuses,
  ...pulls,
  ...issues,
  '/repos/{owner}/{repo}/actions/workflows': {
    needs: [],
    answer: async ({ world }) => {
      const paths = await workflowPaths(world, `refs/heads/${world.settings.defaultBranch}`)
      const workflows = paths.map((path) => ({
        id: path.split('/').at(-1),
        name: path.split('/').at(-1),
        path,
        state: 'active',
      }))
      return ok({ total_count: workflows.length, workflows })
    },
  },
  '/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches': {
    needs: [],
    answer: async (call) => {
      const { world, query } = call
      const run = await start(call, call.params.workflow_id ?? '')
      if (world.settings.oldDispatch || query.get('return_run_details') !== 'true') return empty
      return ok({
        workflow_run_id: run.id,
        run_url: apiUrl(world, `/actions/runs/${run.id}`),
        html_url: htmlUrl(world, `/actions/runs/${run.id}`),
      })
    },
  },
  '/repos/{owner}/{repo}/actions/runs/{run}': {
    needs: [],
    answer: (call) => ok(renderGiteaRun(call.world, call.world.run(numberParam(call, 'run')))),
  },
  '/repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs': {
    needs: [],
    answer: (call) => {
      const runs = runsOf(call, call.params.workflow_id ?? '')
      return paged(call, runs, (page) => ({
        total_count: runs.length,
        workflow_runs: page.map((run) => renderGiteaRun(call.world, run)),
      }))
    },
  },
}

export const FORGEJO: Endpoints = {
  ...repository,
  ...statuses,
  ...pulls,
  ...issues,
  '/repos/{owner}/{repo}/actions/workflows/{workflowfilename}/dispatches': {
    needs: [],
    answer: async (call) => {
      const run = await start(call, call.params.workflowfilename ?? '')
      if (call.body.return_run_info !== true) return empty
      return created({ id: run.id, run_number: run.number, jobs: [] })
    },
  },
  '/repos/{owner}/{repo}/actions/runs/{run_id}': {
    needs: [],
    answer: (call) => ok(renderForgejoRun(call.world, call.world.run(numberParam(call, 'run_id')))),
  },
  '/repos/{owner}/{repo}/actions/runs': {
    needs: [],
    answer: (call) => {
      const runs = runsOf(call, call.query.get('workflow_id'))
      return paged(call, runs, (page) => ({
        total_count: runs.length,
        workflow_runs: page.map((run) => renderForgejoRun(call.world, run)),
      }))
    },
  },
}
