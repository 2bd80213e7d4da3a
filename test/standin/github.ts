// The stand-in for GitHub: one repository behind one loopback server that speaks REST, GraphQL and git.
//
// A simulation of ours, held to GitHub's own contract: every request and every answer is checked against GitHub's
// OpenAPI description (and every query against its GraphQL schema), git is real git, the rest follows the facts that
// were collected about the real site. What it can not show: true latency, the secondary rate limits, eventual
// consistency, pages for people, other repositories, and anything that GitHub changed since. Of forks it has only branches and their pull
// requests.
//
//   await using github = await startGitHub({ people: { alice: 'admin' }, files: { 'README.md': 'Hello' } })
//   process.env.GITHUB_API_URL = process.env.GITHUB_SERVER_URL = github.url
//   const token = github.mintJobToken({ contents: 'write', pull_requests: 'write' })
//   ...
//   assert.deepEqual(github.violations, [])
import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountId } from './accounts.ts'
import { type Bare, type Files, zero } from './bare.ts'
import { type Fault, type FaultMatcher, type FaultOptions, Faults } from './faults.ts'
import { startGateway } from './gateway.ts'
import { dequeue, enqueue } from './merge-queue.ts'
import type {
  Check,
  Comment,
  Issue,
  Json,
  Level,
  Permissions,
  Push,
  Reaction,
  SeenRequest,
  Thread,
  ThreadComment,
  TokenOptions,
} from './model.ts'
import { renderIssue, renderLabel } from './render.ts'
import { forkRef, type NewPull, openPull, renderFullPull } from './rest/pulls.ts'
import { replyInThread, submitReview } from './reviews.ts'
import { type Settings, World } from './world.ts'

export type { Fault, FaultAnswer, FaultMatcher, FaultOptions } from './faults.ts'
export type * from './model.ts'

export interface GitHubOptions extends Partial<Settings> {
  /** The files of the first commit on the default branch. */
  files?: Record<string, string>
  people?: Record<string, Level>
  tokens?: Record<string, TokenOptions>
  /** Where the bare repository goes; a temporary folder that is removed at the end by default. */
  root?: string
}

export type PullView = Json & {
  number: number
  title: string
  body: string | null
  state: string
  draft: boolean
  merged: boolean
  head: { ref: string; sha: string }
  base: { ref: string; sha: string }
}

export interface GitHub extends AsyncDisposable {
  /** Both GITHUB_API_URL and GITHUB_SERVER_URL (`/api/v3` in front of a path is taken, too). */
  readonly url: string
  /** GITHUB_API_URL, also of the servers whose API has a path of its own. */
  readonly apiUrl: string
  readonly graphqlUrl: string
  readonly owner: string
  readonly repo: string
  readonly fullName: string
  readonly cloneUrl: string
  /** For the runner and for what this interface does not offer. */
  readonly world: World
  /** The real repository; `bare.run([...])` is git in it. */
  readonly bare: Bare
  /** May be changed at any time. */
  people: Record<string, Level>
  readonly settings: Settings
  /** What did not keep to GitHub's contract, requests and answers alike. Empty is good. */
  readonly violations: string[]
  /** Every request there was, in the order of arrival. */
  readonly requests: SeenRequest[]
  /** Every ref that a client of git or of the API moved. */
  readonly pushes: Push[]

  addToken: (token: string, options: TokenOptions) => void
  /** A token as a job gets it; `revokeToken` is what the end of the job does to it. */
  mintJobToken: (permissions: Permissions) => string
  revokeToken: (token: string) => void

  comment: (login: string, number: number, body: string) => Comment
  editComment: (login: string, id: number, body: string) => Comment
  deleteComment: (login: string, id: number) => void
  /** Submits a review; gives its threads. */
  review: (login: string, number: number, review: Parameters<typeof submitReview>[3]) => Thread[]
  replyInThread: (login: string, thread: number, body: string) => ThreadComment
  threads: (number: number) => Thread[]
  openIssue: (login: string, title: string, body?: string, labels?: string[]) => Issue
  label: (login: string, number: number, label: string) => void
  /** A new milestone with these issues; gives its number. */
  milestone: (title: string, issues: readonly number[]) => number
  openPull: (login: string, pull: Partial<NewPull> & { head: string }) => Promise<Issue>
  closePull: (number: number, login?: string) => void
  /** Merges as the button does. Rejects when there are conflicts. */
  mergePull: (login: string, number: number, how?: 'merge' | 'squash' | 'rebase') => Promise<string>
  /** A person presses *Merge when ready*; gives the commit of the merge group, or null if there is a conflict. */
  enqueue: (number: number) => Promise<string | null>
  /** The queue takes it out. `reason`: as the event has it, such as `CI_FAILURE`. */
  dequeue: (number: number, reason: string) => Promise<void>
  /** A person's push: one commit with these files (null deletes) on a branch, made from the default one if new. */
  commit: (branch: string, files: Files, message?: string, login?: string) => Promise<string>
  /** One commit on a branch of the person's fork, as in `commit`. `openPull` with `head: 'mallory:branch'` proposes it. */
  commitInFork: (login: string, branch: string, files: Files) => Promise<string>
  deleteBranch: (branch: string) => Promise<void>
  head: (branch: string) => Promise<string | null>
  /** A file's text on a branch or at a commit. */
  read: (ref: string, path: string) => Promise<string | null>

  pulls: () => Promise<PullView[]>
  issue: (number: number) => Issue
  comments: (number: number) => Comment[]
  /** As soon as there is one. */
  firstComment: (number: number) => Promise<Comment>
  reactions: (commentId: number) => Reaction[]
  /** The check runs on a commit, oldest first; those that Actions makes for its own jobs only on request. */
  checksOf: (sha: string, options?: { withJobs?: boolean }) => Check[]
  statusesOf: (sha: string) => World['statuses']
  /** A check of the project's own CI is done on a commit, and tells the workflows. `login`: of its App. */
  check: (branch: string, sha: string, check: Partial<Check> & { name: string }) => Check
  /** Lets the next matching requests fail; see faults.ts. */
  fault: (matcher: FaultMatcher, answer: Fault['answer'], options?: FaultOptions) => Fault
}

/** Starts the stand-in; ready when it resolves. Dispose of it (`await using`) to stop the server. */
export async function startGitHub(options: GitHubOptions = {}): Promise<GitHub> {
  const { files = { 'README.md': '# A shop\n' }, people = {}, tokens = {}, root, ...given } = options
  const settings: Settings = {
    dialect: 'github',
    owner: 'acme',
    repo: 'shop',
    defaultBranch: 'main',
    private: true,
    actionsMayOpenPullRequests: true,
    draftPullRequests: true,
    protectedBranches: [],
    allowsAutoMerge: false,
    requiredChecks: {},
    branchRules: {},
    environments: {},
    releases: {},
    workflowGuard: 'strict',
    unsignedCommits: false,
    oldDispatch: false,
    pageSize: 50,
    requestsPerHour: 1000,
    disabledWorkflows: [],
    ...given,
  }
  const folder = root ?? (await mkdtemp(join(tmpdir(), 'github-')))
  const world = new World(settings, people, join(folder, `${settings.repo}.git`))
  await world.bare.create(settings.defaultBranch)
  const first = Object.keys(people)[0] ?? settings.owner
  if (Object.keys(files).length > 0)
    await world.bare.commit(settings.defaultBranch, files, 'Initial commit', world.person(first), null)
  for (const [token, who] of Object.entries(tokens)) world.addToken(token, who)
  const faults = new Faults()
  const server = await startGateway(world, faults)
  return build(world, faults, async () => {
    faults.releaseAll()
    await stop(server)
    if (root === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  })
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}

function build(world: World, faults: Faults, dispose: () => Promise<void>): GitHub {
  const { settings, bare } = world
  return {
    url: world.url,
    apiUrl: `${world.url}${world.dialect.api}`,
    graphqlUrl: `${world.url}${world.dialect.graphql ?? '/graphql'}`,
    owner: settings.owner,
    repo: settings.repo,
    fullName: world.fullName,
    cloneUrl: `${world.url}/${world.fullName}.git`,
    world,
    bare,
    get people() {
      return world.people
    },
    set people(people) {
      world.people = people
    },
    settings,
    violations: world.violations,
    requests: world.requests,
    pushes: world.pushes,
    addToken: (token, who) => void world.addToken(token, who),
    mintJobToken: (permissions) => world.mintJobToken(permissions),
    revokeToken: (token) => void world.tokens.delete(token),
    ...conversation(world),
    ...people(world),
    head: (branch) => bare.head(branch),
    read: (ref, path) => bare.read(ref, path),
    pulls: async () => {
      const list = [...world.issues.values()].filter((issue) => issue.pull !== null)
      return (await Promise.all(list.map((issue) => renderFullPull(world, issue)))) as PullView[]
    },
    checksOf: (sha, options = {}) =>
      [...world.checks.values()].filter(
        (check) => check.sha === sha && (options.withJobs === true || !check.ofJob),
      ),
    statusesOf: (sha) => world.statuses.filter((status) => status.sha === sha),
    check: (branch, sha, check) => postCheck(world, branch, sha, check),
    fault: (matcher, answer, options) => faults.order(matcher, answer, options),
    [Symbol.asyncDispose]: dispose,
  }
}

type Conversation = Pick<
  GitHub,
  | 'comment'
  | 'editComment'
  | 'deleteComment'
  | 'openIssue'
  | 'review'
  | 'replyInThread'
  | 'threads'
  | 'label'
  | 'milestone'
  | 'issue'
  | 'comments'
  | 'firstComment'
  | 'reactions'
>
function conversation(world: World): Conversation {
  return {
    comment: (login, number, body) => world.addComment(number, { login }, body),
    editComment: (login, id, body) => world.editComment(id, { login }, body),
    deleteComment: (login, id) => world.deleteComment(id, { login }),
    review: (login, number, review) => submitReview(world, login, number, review),
    replyInThread: (login, thread, body) => replyInThread(world, login, thread, body),
    threads: (number) => [...world.threads.values()].filter((thread) => thread.number === number),
    openIssue: (login, title, body = '', labels = []) => {
      const issue = world.addIssue(login, title, body, labels, null)
      world.raise('issues', 'opened', { issue: renderIssue(world, issue) }, { login })
      // An issue that is created with labels raises both (facts 5.2).
      for (const label of issue.labels) raiseLabeled(world, login, issue, label)
      return issue
    },
    label: (login, number, label) => {
      const issue = world.issue(number)
      if (world.addLabel(issue, label)) raiseLabeled(world, login, issue, world.label(label))
    },
    milestone: (title, issues) => {
      const number = world.milestones.size + 1
      world.milestones.set(number, { title, createdAt: world.now() })
      for (const one of issues) world.issue(one).milestone = number
      return number
    },
    issue: (number) => world.issue(number),
    comments: (number) => [...world.comments.values()].filter((comment) => comment.number === number),
    firstComment: (number) => world.firstComment(number),
    reactions: (id) => world.reactions.filter((reaction) => reaction.subject === `comment:${id}`),
  }
}
function raiseLabeled(world: World, login: string, issue: Issue, label: string): void {
  const payload = { issue: renderIssue(world, issue), label: renderLabel(world, label) }
  world.raise('issues', 'labeled', payload, { login })
}

type Doings = Pick<
  GitHub,
  'openPull' | 'closePull' | 'mergePull' | 'enqueue' | 'dequeue' | 'commit' | 'commitInFork' | 'deleteBranch'
>
function people(world: World): Doings {
  const { settings, bare } = world
  const pushed = (ref: string, before: string | null, after: string, login: string): Promise<void> =>
    world.pushed([{ ref, before: before ?? zero, after }], { login })
  const someone = (): string => Object.keys(world.people)[0] ?? settings.owner
  return {
    openPull: async (login, wanted) => {
      const by = {
        token: '',
        kind: 'user',
        login,
        type: 'User',
        permissions: {},
        app: null,
        job: null,
      } as const
      const blank = { title: wanted.head, body: null, base: settings.defaultBranch, draft: false }
      const issue = await openPull(world, by, { ...blank, ...wanted })
      world.raisePull('opened', issue, { login })
      return issue
    },
    closePull: (number, login = someone()) => world.close(world.issue(number), { login }),
    mergePull: async (login, number, how = 'merge') => {
      const issue = world.issue(number)
      if (issue.pull === null) throw new Error(`#${number} is no pull request`)
      const { head, base, headSha, baseSha } = issue.pull
      const who = { author: world.person(login), committer: world.person(login) }
      const merge = async () => {
        const tree = await bare.run(['merge-tree', '--write-tree', baseSha, headSha])
        const title = `Merge pull request #${number} from ${settings.owner}/${head}`
        if (how === 'merge') return bare.commitTree(tree, [baseSha, headSha], title, who)
        return bare.commitTree(tree, [baseSha], `${issue.title} (#${number})`, who)
      }
      const sha = how === 'rebase' ? await rebased(bare, baseSha, headSha, who) : await merge()
      world.merged(issue, sha, { login })
      await bare.run(['update-ref', `refs/heads/${base}`, sha, baseSha])
      await pushed(`refs/heads/${base}`, baseSha, sha, login)
      return sha
    },
    enqueue: (number) => enqueue(world, number),
    dequeue: (number, reason) => dequeue(world, number, reason),
    commit: async (branch, files, message = 'A change', login = someone()) => {
      const before = await bare.head(branch)
      const sha = await bare.commit(branch, files, message, world.person(login), settings.defaultBranch)
      await pushed(`refs/heads/${branch}`, before, sha, login)
      return sha
    },
    commitInFork: (login, branch, files) =>
      bare.commit(forkRef(login, branch), files, 'A change', world.person(login), settings.defaultBranch),
    deleteBranch: async (branch) => {
      const before = await bare.head(branch)
      await bare.run(['update-ref', '-d', `refs/heads/${branch}`])
      await pushed(`refs/heads/${branch}`, before, zero, someone())
    },
  }
}

/** Each commit of the range again, on top of the base, without merges and what the base has already. */
async function rebased(
  bare: Bare,
  base: string,
  head: string,
  who: Parameters<Bare['commitTree']>[3],
): Promise<string> {
  let onto = base
  const list = await bare.run([
    'rev-list',
    '--reverse',
    '--no-merges',
    '--cherry-pick',
    '--right-only',
    `${base}...${head}`,
  ])
  for (const commit of list.split('\n').filter(Boolean)) {
    // Helper commits give the merge its base: older versions of git have no option for it.
    const root = await bare.commitTree(`${commit}^^{tree}`, [], 'before it', who)
    const [ours, theirs] = [
      await bare.commitTree(`${onto}^{tree}`, [root], 'the base', who),
      await bare.commitTree(`${commit}^{tree}`, [root], 'it', who),
    ]
    const tree = await bare.run(['merge-tree', '--write-tree', ours, theirs])
    onto = await bare.commitTree(tree, [onto], await bare.run(['show', '-s', '--format=%B', commit]), who)
  }
  return onto
}

function postCheck(
  world: World,
  branch: string,
  sha: string,
  wanted: Partial<Check> & { name: string },
): Check {
  const now = world.now()
  const app = wanted.app ?? { id: accountId('ci'), slug: 'ci' }
  const check: Check = {
    id: world.nextId(),
    sha,
    app,
    suite: accountId(`${sha}/${app.id}`),
    status: 'completed',
    conclusion: 'success',
    startedAt: now,
    completedAt: now,
    externalId: null,
    detailsUrl: null,
    title: null,
    summary: null,
    text: null,
    annotations: [],
    ofJob: false,
    ...wanted,
  }
  world.checks.set(check.id, check)
  if (check.status !== 'completed') return check
  const suite = {
    id: check.suite,
    head_branch: branch,
    head_sha: sha,
    status: 'completed',
    conclusion: check.conclusion,
  }
  world.raise('check_suite', 'completed', { check_suite: suite }, { login: `${app.slug}[bot]` })
  return check
}
