// Turns the stand-in's records into the objects that GitHub's API and its events show.

import { accountId } from './accounts.ts'
import type { Check, Comment, Identity, Issue, Json, Reaction, Run, Status } from './model.ts'
import type { World } from './world.ts'

export function nodeId(kind: string, id: number | string): string {
  return Buffer.from(`${kind}:${id}`).toString('base64url')
}
/** The parts that `nodeId` was made of; null for a foreign one. */
export function fromNodeId(id: string): { kind: string; id: string } | null {
  const found = /^(\w+):(.+)$/.exec(Buffer.from(id, 'base64url').toString())
  return found === null ? null : { kind: found[1] ?? '', id: found[2] ?? '' }
}

export function renderUser(world: World, login: string): Json {
  const url = `${world.url}/users/${encodeURIComponent(login)}`
  const id = accountId(login)
  return {
    login,
    id,
    node_id: nodeId('User', id),
    avatar_url: `${world.url}/avatars/u/${id}`,
    gravatar_id: '',
    url,
    html_url: `${world.url}/${login.endsWith('[bot]') ? `apps/${login.slice(0, -5)}` : login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: login.endsWith('[bot]') ? 'Bot' : login === world.settings.owner ? 'Organization' : 'User',
    site_admin: false,
  }
}

export function renderApp(world: World, app: NonNullable<Identity['app']>): Json {
  const born = `${world.born.toISOString().slice(0, 19)}Z`
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    owner: renderUser(world, 'github'),
    name: app.slug === 'github-actions' ? 'GitHub Actions' : app.slug,
    description: null,
    external_url: `${world.url}/${app.slug}`,
    html_url: `${world.url}/apps/${app.slug}`,
    created_at: born,
    updated_at: born,
    permissions: { metadata: 'read' },
    events: [],
  }
}

const collections = {
  archive: '{archive_format}{/ref}',
  assignees: '{/user}',
  blobs: '/git/blobs{/sha}',
  branches: '{/branch}',
  collaborators: '{/collaborator}',
  comments: '{/number}',
  commits: '{/sha}',
  compare: '/compare/{base}...{head}',
  contents: '/contents/{+path}',
  contributors: '',
  deployments: '',
  downloads: '',
  events: '',
  forks: '',
  git_commits: '/git/commits{/sha}',
  git_refs: '/git/refs{/sha}',
  git_tags: '/git/tags{/sha}',
  hooks: '',
  issue_comment: '/issues/comments{/number}',
  issue_events: '/issues/events{/number}',
  issues: '{/number}',
  keys: '{/key_id}',
  labels: '{/name}',
  languages: '',
  merges: '',
  milestones: '{/number}',
  notifications: '{?since,all,participating}',
  pulls: '{/number}',
  releases: '{/id}',
  stargazers: '',
  statuses: '{/sha}',
  subscribers: '',
  subscription: '',
  tags: '',
  teams: '',
  trees: '/git/trees{/sha}',
}

export function apiUrl(world: World, path = ''): string {
  return `${world.url}/repos/${world.fullName}${path}`
}
export function htmlUrl(world: World, path = ''): string {
  return `${world.url}/${world.fullName}${path}`
}

export function renderRepository(world: World): Json {
  const { settings } = world
  const born = `${world.born.toISOString().slice(0, 19)}Z`
  const open = [...world.issues.values()].filter((issue) => issue.state === 'open').length
  const id = accountId(world.fullName)
  const urls = Object.entries(collections).map(([name, rest]) => [
    `${name}_url`,
    apiUrl(world, rest.startsWith('/') && !rest.startsWith('/{') ? rest : `/${name}${rest}`),
  ])
  return {
    ...Object.fromEntries(urls),
    id,
    node_id: nodeId('Repository', id),
    name: settings.repo,
    full_name: world.fullName,
    owner: renderUser(world, settings.owner),
    private: settings.private,
    visibility: settings.private ? 'private' : 'public',
    html_url: htmlUrl(world),
    description: null,
    fork: false,
    url: apiUrl(world),
    clone_url: `${htmlUrl(world)}.git`,
    git_url: `${htmlUrl(world)}.git`,
    ssh_url: `${htmlUrl(world)}.git`,
    svn_url: htmlUrl(world),
    default_branch: settings.defaultBranch,
    forks: 0,
    forks_count: 0,
    has_downloads: true,
    has_issues: true,
    has_projects: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    homepage: null,
    language: null,
    archived: false,
    disabled: false,
    mirror_url: null,
    open_issues: open,
    open_issues_count: open,
    license: null,
    pushed_at: born,
    created_at: born,
    updated_at: born,
    size: 1,
    stargazers_count: 0,
    watchers: 0,
    watchers_count: 0,
    network_count: 0,
    subscribers_count: 0,
    web_commit_signoff_required: false,
    topics: [],
    is_template: false,
    allow_forking: true,
  }
}

export function renderLabel(world: World, name: string): Json {
  const label = world.labels.get(name)
  const id = label?.id ?? 0
  return {
    id,
    node_id: nodeId('Label', id),
    url: apiUrl(world, `/labels/${encodeURIComponent(name)}`),
    name,
    description: label?.description ?? null,
    color: label?.color ?? 'ededed',
    default: false,
  }
}

export function renderReactions(world: World, subject: string, url: string): Json {
  const of = world.reactions.filter((reaction) => reaction.subject === subject)
  const kinds = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'eyes', 'rocket']
  const counts = kinds.map((kind) => [kind, of.filter((reaction) => reaction.content === kind).length])
  return { url: `${url}/reactions`, total_count: of.length, ...Object.fromEntries(counts) }
}
export function renderReaction(world: World, reaction: Reaction): Json {
  return {
    id: reaction.id,
    node_id: nodeId('Reaction', reaction.id),
    user: renderUser(world, reaction.login),
    content: reaction.content,
    created_at: reaction.createdAt,
  }
}

export function renderComment(world: World, comment: Comment): Json {
  const url = apiUrl(world, `/issues/comments/${comment.id}`)
  const isPull = world.issues.get(comment.number)?.pull !== null
  return {
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    url,
    html_url: htmlUrl(world, `/${isPull ? 'pull' : 'issues'}/${comment.number}#issuecomment-${comment.id}`),
    issue_url: apiUrl(world, `/issues/${comment.number}`),
    user: renderUser(world, comment.login),
    body: comment.body,
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    author_association: world.associationOf(comment.login),
    performed_via_github_app: comment.app === null ? null : renderApp(world, comment.app),
    reactions: renderReactions(world, `comment:${comment.id}`, url),
  }
}

export function renderMilestone(world: World, number: number): Json {
  const { title, createdAt } = world.milestones.get(number) ?? { title: '', createdAt: world.now() }
  const url = apiUrl(world, `/milestones/${number}`)
  const own = [...world.issues.values()].filter(({ milestone }) => milestone === number)
  return {
    id: number,
    node_id: nodeId('Milestone', number),
    number,
    title,
    description: null,
    state: 'open',
    creator: renderUser(world, world.settings.owner),
    open_issues: own.filter(({ state }) => state === 'open').length,
    closed_issues: own.filter(({ state }) => state === 'closed').length,
    url,
    html_url: htmlUrl(world, `/milestone/${number}`),
    labels_url: `${url}/labels`,
    created_at: createdAt,
    updated_at: createdAt,
    closed_at: null,
    due_on: null,
  }
}

export function renderIssue(world: World, issue: Issue): Json {
  const url = apiUrl(world, `/issues/${issue.number}`)
  const html = htmlUrl(world, `/${issue.pull === null ? 'issues' : 'pull'}/${issue.number}`)
  const pullUrl = apiUrl(world, `/pulls/${issue.number}`)
  return {
    id: issue.id,
    node_id: nodeId('Issue', issue.number),
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    state_reason: null,
    locked: false,
    active_lock_reason: null,
    user: renderUser(world, issue.login),
    labels: issue.labels.map((label) => renderLabel(world, label)),
    assignee: null,
    assignees: [],
    milestone: issue.milestone === null ? null : renderMilestone(world, issue.milestone),
    comments: [...world.comments.values()].filter((comment) => comment.number === issue.number).length,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    author_association: world.associationOf(issue.login),
    url,
    html_url: html,
    repository_url: apiUrl(world),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    reactions: renderReactions(world, `issue:${issue.number}`, url),
    ...(issue.pull === null
      ? {}
      : {
          draft: issue.pull.draft,
          pull_request: {
            url: pullUrl,
            html_url: html,
            diff_url: `${html}.diff`,
            patch_url: `${html}.patch`,
            merged_at: issue.pull.mergedAt,
          },
        }),
  }
}

/** What every event's payload has. */
export function renderEvent(world: World, login: string): Json {
  return { repository: renderRepository(world), sender: renderUser(world, login) }
}
renderEvent.issue = (world: World, number: number): Json => renderIssue(world, world.issue(number))

/** A pull request as events show it. Counts of its changes are not simulated there. */
export function renderPullOfEvent(world: World, issue: Issue): Json {
  const { pull } = issue
  const isOpen = issue.state === 'open'
  return {
    ...renderPull(world, issue),
    merged: pull?.mergedAt != null,
    merged_by: pull?.mergedBy == null ? null : renderUser(world, pull.mergedBy),
    mergeable: isOpen ? true : null,
    mergeable_state: pull?.draft === true ? 'draft' : isOpen ? 'clean' : 'unknown',
    maintainer_can_modify: false,
    comments: [...world.comments.values()].filter((comment) => comment.number === issue.number).length,
    review_comments: 0,
    commits: 0,
    additions: 0,
    deletions: 0,
    changed_files: 0,
  }
}

/** A pull request as lists show it; `pulls.ts` adds what only the single view has. */
export function renderPull(world: World, issue: Issue): Json {
  const { pull } = issue
  if (pull === null) throw new Error(`#${issue.number} is no pull request`)
  const url = apiUrl(world, `/pulls/${issue.number}`)
  const html = htmlUrl(world, `/pull/${issue.number}`)
  const issueUrl = apiUrl(world, `/issues/${issue.number}`)
  const statuses = apiUrl(world, `/statuses/${pull.headSha}`)
  const side = (ref: string, sha: string): Json => ({
    label: `${world.settings.owner}:${ref}`,
    ref,
    sha,
    user: renderUser(world, world.settings.owner),
    repo: renderRepository(world),
  })
  const sideOfFork = (owner: string): Json => ({
    label: `${owner}:${pull.head}`,
    ref: pull.head,
    sha: pull.headSha,
    user: renderUser(world, owner),
    repo: {
      ...renderRepository(world),
      full_name: `${owner}/${world.settings.repo}`,
      owner: renderUser(world, owner),
      fork: true,
    },
  })
  const link = (href: string): Json => ({ href })
  return {
    id: issue.id,
    node_id: nodeId('PullRequest', issue.number),
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    locked: false,
    active_lock_reason: null,
    draft: pull.draft,
    user: renderUser(world, issue.login),
    head: pull.fork === null ? side(pull.head, pull.headSha) : sideOfFork(pull.fork),
    base: side(pull.base, pull.baseSha),
    // GitHub's description of a pull request knows no label without one.
    labels: issue.labels.map((name) => ({
      ...renderLabel(world, name),
      description: world.labels.get(name)?.description ?? '',
    })),
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    milestone: null,
    auto_merge: null,
    author_association: world.associationOf(issue.login),
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    merged_at: pull.mergedAt,
    merge_commit_sha: pull.mergeSha,
    url,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: issueUrl,
    commits_url: `${url}/commits`,
    comments_url: `${issueUrl}/comments`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${url}/comments{/number}`,
    statuses_url: statuses,
    _links: {
      self: link(url),
      html: link(html),
      issue: link(issueUrl),
      comments: link(`${issueUrl}/comments`),
      review_comments: link(`${url}/comments`),
      review_comment: link(`${url}/comments{/number}`),
      commits: link(`${url}/commits`),
      statuses: link(statuses),
    },
  }
}

export function renderCheck(world: World, check: Check): Json {
  const url = apiUrl(world, `/check-runs/${check.id}`)
  const html = htmlUrl(world, `/runs/${check.id}`)
  const repo = { id: accountId(world.fullName), url: apiUrl(world), name: world.settings.repo }
  const pulls = [...world.issues.values()].filter(
    ({ pull, state }) => pull?.headSha === check.sha && state === 'open',
  )
  return {
    id: check.id,
    node_id: nodeId('CheckRun', check.id),
    name: check.name,
    head_sha: check.sha,
    external_id: check.externalId ?? '',
    url,
    html_url: html,
    details_url: check.detailsUrl ?? html,
    status: check.status,
    conclusion: check.conclusion,
    started_at: check.startedAt,
    completed_at: check.completedAt,
    check_suite: { id: check.suite },
    output: {
      title: check.title,
      summary: check.summary,
      text: check.text,
      annotations_count: check.annotations.length,
      annotations_url: `${url}/annotations`,
    },
    app: renderApp(world, check.app),
    pull_requests: pulls.map(({ id, number, pull }) => ({
      id,
      number,
      url: apiUrl(world, `/pulls/${number}`),
      head: { ref: pull?.head, sha: pull?.headSha, repo },
      base: { ref: pull?.base, sha: pull?.baseSha, repo },
    })),
  }
}

export function renderStatus(world: World, status: Status): Json {
  return {
    id: status.id,
    node_id: nodeId('StatusContext', status.id),
    url: apiUrl(world, `/statuses/${status.sha}`),
    avatar_url: null,
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: status.createdAt,
    updated_at: status.createdAt,
    creator: renderUser(world, status.login),
  }
}

export function workflowId(path: string): number {
  return accountId(path)
}

export function renderRun(world: World, run: Run): Json {
  const url = apiUrl(world, `/actions/runs/${run.id}`)
  const workflow = apiUrl(world, `/actions/workflows/${workflowId(run.workflow)}`)
  return {
    id: run.id,
    node_id: nodeId('WorkflowRun', run.id),
    name: run.workflowName,
    display_title: run.title,
    head_branch: run.ref.replace(/^refs\/(heads|tags)\//, ''),
    head_sha: run.sha,
    path: run.workflow,
    run_number: run.number,
    run_attempt: run.attempt,
    event: run.event,
    status: run.status,
    conclusion: run.conclusion,
    workflow_id: workflowId(run.workflow),
    check_suite_id: run.id,
    url,
    html_url: htmlUrl(world, `/actions/runs/${run.id}`),
    pull_requests: [],
    actor: renderUser(world, run.actor),
    triggering_actor: renderUser(world, run.actor),
    created_at: run.createdAt,
    updated_at: run.updatedAt,
    run_started_at: run.createdAt,
    head_commit: null,
    head_repository: renderRepository(world),
    repository: renderRepository(world),
    jobs_url: `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: apiUrl(world, `/check-suites/${run.id}`),
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    previous_attempt_url: null,
    workflow_url: workflow,
  }
}
