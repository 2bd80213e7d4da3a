// Turns the stand-in's records into the objects of Gitea's and Forgejo's API and events.
import { accountId } from '../accounts.ts'
import type { Comment, Issue, Json, Run } from '../model.ts'
import type { World } from '../world.ts'

const JOB_ID = -2

export function renderUser(world: World, login: string): Json {
  return {
    id: login === world.dialect.jobLogin ? JOB_ID : accountId(login) + 1,
    login,
    full_name: '',
    email: `${login}@noreply.localhost`,
    avatar_url: `${world.url}/avatars/${login}`,
    html_url: `${world.url}/${login}`,
    language: '',
    is_admin: false,
    created: world.now(),
    visibility: 'public',
  }
}

export function htmlUrl(world: World, path = ''): string {
  return `${world.url}/${world.fullName}${path}`
}
export function apiUrl(world: World, path: string): string {
  return `${world.url}/api/v1/repos/${world.fullName}${path}`
}

export function renderRepository(world: World): Json {
  return {
    id: accountId(world.fullName),
    owner: renderUser(world, world.settings.owner),
    name: world.settings.repo,
    full_name: world.fullName,
    private: world.settings.private,
    default_branch: world.settings.defaultBranch,
    html_url: htmlUrl(world),
    clone_url: `${htmlUrl(world)}.git`,
  }
}

export function renderComment(world: World, comment: Comment): Json {
  const isPull = world.issues.get(comment.number)?.pull != null
  const html = htmlUrl(world, `/${isPull ? 'pulls' : 'issues'}/${comment.number}`)
  return {
    id: comment.id,
    html_url: `${html}#issuecomment-${comment.id}`,
    pull_request_url: isPull ? html : '',
    issue_url: isPull ? '' : html,
    user: renderUser(world, comment.login),
    body: comment.body,
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
  }
}

export function renderLabel(world: World, name: string): Json {
  const label = world.labels.get(name)
  return { id: label?.id ?? 0, name, color: label?.color ?? 'ededed', description: label?.description ?? '' }
}

export function renderIssue(world: World, issue: Issue): Json {
  const { pull } = issue
  return {
    id: issue.id,
    number: issue.number,
    title: titleOf(issue),
    body: issue.body ?? '',
    state: issue.state,
    user: renderUser(world, issue.login),
    labels: issue.labels.map((name) => renderLabel(world, name)),
    comments: [...world.comments.values()].filter(({ number }) => number === issue.number).length,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    html_url: htmlUrl(world, `/${pull === null ? 'issues' : 'pulls'}/${issue.number}`),
    ...(pull === null ? {} : { pull_request: { merged: pull.mergedAt !== null, draft: pull.draft } }),
  }
}

/** A draft is a title that begins so; the switch on the page changes the title. */
const WORDS = ['WIP:', '[WIP]']
export function isDraftTitle(title: string): boolean {
  return WORDS.some((word) => title.toUpperCase().startsWith(word))
}
export function titleOf({ title, pull }: Issue): string {
  return pull?.draft === true && !isDraftTitle(title) ? `WIP: ${title}` : title
}

export function renderPull(world: World, issue: Issue): Json {
  const { pull } = issue
  if (pull === null) throw new Error(`#${issue.number} is not a pull request`)
  const side = (ref: string, sha: string): Json => ({
    label: ref,
    ref,
    sha,
    repo_id: accountId(world.fullName),
    repo: renderRepository(world),
  })
  const { pull_request: _, ...common } = renderIssue(world, issue)
  return {
    ...common,
    draft: pull.draft,
    head: side(pull.head, pull.headSha),
    base: side(pull.base, pull.baseSha),
    merged: pull.mergedAt !== null,
    mergeable: issue.state === 'open',
    url: htmlUrl(world, `/pulls/${issue.number}`),
    ...(pull.mergedAt === null ? {} : { merged_at: pull.mergedAt, merge_commit_sha: pull.mergeSha ?? '' }),
  }
}

export function renderStatus(world: World, status: World['statuses'][number]): Json {
  return {
    id: status.id,
    status: status.state,
    context: status.context,
    description: status.description ?? '',
    target_url: status.targetUrl ?? '',
    url: apiUrl(world, `/statuses/${status.sha}`),
    creator: renderUser(world, status.login),
    created_at: status.createdAt,
    updated_at: status.createdAt,
  }
}

export function renderGiteaRun(world: World, run: Run): Json {
  return {
    id: run.id,
    run_number: run.number,
    run_attempt: run.attempt,
    path: `${run.workflow.split('/').at(-1)}@${run.ref}`,
    display_title: run.title,
    event: run.event,
    status: run.status,
    ...(run.conclusion === null ? {} : { conclusion: run.conclusion }),
    head_branch: run.ref.replace(/^refs\/(heads|tags)\//, ''),
    head_sha: run.sha,
    html_url: htmlUrl(world, `/actions/runs/${run.id}`),
    url: apiUrl(world, `/actions/runs/${run.id}`),
    started_at: run.createdAt,
    completed_at: run.status === 'completed' ? run.updatedAt : '1970-01-01T00:00:00Z',
    actor: renderUser(world, run.actor),
  }
}

/** Forgejo has one word for status and conclusion. */
export function renderForgejoRun(world: World, run: Run): Json {
  const status = run.conclusion ?? (run.status === 'in_progress' ? 'running' : 'waiting')
  return {
    id: run.id,
    index_in_repo: run.number,
    title: run.title,
    workflow_id: run.workflow.split('/').at(-1) ?? '',
    event: run.event,
    status,
    commit_sha: run.sha,
    prettyref: run.ref.replace(/^refs\/(heads|tags)\//, ''),
    html_url: htmlUrl(world, `/actions/runs/${run.number}`),
    created: run.createdAt,
    started: run.createdAt,
    stopped: run.status === 'completed' ? run.updatedAt : '1970-01-01T00:00:00Z',
    updated: run.updatedAt,
    trigger_user: renderUser(world, run.actor),
  }
}

/** An event's payload as these servers write it: accounts without a type, nobody's association, null where an issue is no pull request. */
export function giteaEvent(world: World, payload: Json): Json {
  const change = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(change)
    if (typeof value !== 'object' || value === null) return value
    const record = value as Json
    if (typeof record.login === 'string' && 'node_id' in record) return renderUser(world, record.login)
    const { author_association: _a, node_id: _n, performed_via_github_app: _p, ...rest } = record
    const isIssue = 'number' in rest && 'title' in rest && !('head' in rest)
    const shown = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, change(inner)]))
    return isIssue && !('pull_request' in rest) ? { ...shown, pull_request: null } : shown
  }
  return change(payload) as Json
}
