// What the stand-in for GitHub knows: one repository, its people, and everything that was ever said or checked in it.

import { randomBytes } from 'node:crypto'
import { accountId } from './accounts.ts'
import { Bare, type Person, zero } from './bare.ts'
import { CacheService } from './cache-entries.ts'
import { DIALECTS, type Dialect, type DialectName } from './forges/dialects.ts'
import type {
  Check,
  Comment,
  Doer,
  Identity,
  Issue,
  Json,
  Level,
  Permissions,
  Push,
  QueueEvent,
  Reaction,
  Review,
  Run,
  SeenRequest,
  SiteEvent,
  Status,
  Thread,
  TokenOptions,
} from './model.ts'
import { contractOf } from './openapi.ts'
import { renderComment, renderEvent, renderPullOfEvent } from './render.ts'
import { ResultsService } from './results.ts'
import { newSigningKey, type SigningKey } from './signing-key.ts'

const afterPush = new Set(['opened', 'synchronize', 'reopened'])

export interface BranchRule {
  type: string
  parameters: Json
}

export interface Settings {
  /** Which server it is. */
  dialect: DialectName
  owner: string
  repo: string
  defaultBranch: string
  /** A private repository hides itself from strangers and answers `none` for their permission. */
  private: boolean
  /** The switch "Allow GitHub Actions to create and approve pull requests". */
  actionsMayOpenPullRequests: boolean
  draftPullRequests: boolean
  /** Branches that nobody may push to. */
  protectedBranches: string[]
  /** The switch "Allow auto-merge". */
  allowsAutoMerge: boolean
  /** Checks that a branch requires, by branch. */
  requiredChecks: Record<string, string[]>
  /** The rules of rulesets, by branch; one without parameters by its type alone. */
  branchRules: Record<string, (string | BranchRule)[]>
  /** Branches that may use an environment, by its name; null: every branch. */
  environments: Record<string, string[] | null>
  /** The newest release of repositories, also of others, by `owner/repo`. */
  releases: Record<string, string>
  /** Pushes by apps that touch .github/workflows: `strict` also counts what a merge brings in (facts 3.4). */
  workflowGuard: 'strict' | 'lenient' | 'off'
  /** Commits that the API makes stay unsigned, as GitHub's do for a personal token. */
  unsignedCommits: boolean
  /** An old server that does not know `return_run_details`. */
  oldDispatch: boolean
  /** The most items in a page of Gitea and Forgejo, whatever a request asks for. */
  pageSize: number
  requestsPerHour: number
  /** Workflow files that were disabled in the UI. */
  disabledWorkflows: string[]
}

export class HttpError extends Error {
  readonly status: number
  readonly errors: Json[] | undefined
  constructor(status: number, message: string, errors?: Json[]) {
    super(message)
    this.status = status
    this.errors = errors
  }
}
export const notFound = (): HttpError => new HttpError(404, 'Not Found')
export const invalid = (...errors: Json[]): HttpError => new HttpError(422, 'Validation Failed', errors)
export const noAccess = (): HttpError => new HttpError(403, 'Resource not accessible by integration')

export class World {
  readonly settings: Settings
  readonly bare: Bare
  url = ''
  people: Record<string, Level>
  readonly tokens = new Map<string, Identity>()
  readonly issues = new Map<number, Issue>()
  /** By their numbers. */
  readonly milestones = new Map<number, { title: string; createdAt: string }>()
  readonly comments = new Map<number, Comment>()
  readonly reactions: Reaction[] = []
  readonly threads = new Map<number, Thread>()
  readonly reviews: Review[] = []
  readonly queueEvents: QueueEvent[] = []
  /** Authors of commits of every pull request, besides Ralph. */
  readonly committers = new Set<string>()
  readonly checks = new Map<number, Check>()
  readonly statuses: Status[] = []
  readonly runs: Run[] = []
  readonly labels = new Map<string, { id: number; color: string; description: string | null }>()
  readonly pushes: Push[] = []
  readonly requests: SeenRequest[] = []
  readonly violations: string[] = []
  readonly used = new Map<string, number>()
  readonly results = new ResultsService()
  readonly cache = new CacheService()
  /** Why uploads or downloads of artifacts fail now; null while they work. */
  artifactFault: { what: 'upload' | 'download'; message: string } | null = null
  /** How to stop a run; the runner sets it. */
  cancelRun: ((run: Run) => void) | null = null
  readonly #awaited: { number: number; resolve: (comment: Comment) => void }[] = []
  readonly #listeners: ((event: SiteEvent) => void)[] = []
  readonly #runListeners: ((run: Run) => void)[] = []
  #lastId = 1000
  #lastNumber = 0
  readonly born = new Date()
  #signingKey: Promise<SigningKey> | null = null

  constructor(settings: Settings, people: Record<string, Level>, path: string) {
    this.settings = settings
    this.people = people
    this.bare = new Bare(path)
  }

  /** Made when the first commit is signed. Its folder is next to the repository, and is removed with it. */
  signingKey(): Promise<SigningKey> {
    this.#signingKey ??= newSigningKey(`${this.bare.path}.gnupg`)
    return this.#signingKey
  }

  get dialect(): Dialect {
    return DIALECTS[this.settings.dialect]
  }
  get fullName(): string {
    return `${this.settings.owner}/${this.settings.repo}`
  }
  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }
  nextNumber(): number {
    this.#lastNumber += 1
    return this.#lastNumber
  }
  now(): string {
    return `${new Date().toISOString().slice(0, 19)}Z`
  }

  addToken(token: string, options: TokenOptions): Identity {
    const slug = options.login.replace(/\[bot\]$/, '')
    const identity: Identity = {
      token,
      kind: options.type === 'User' ? 'user' : 'app',
      ...options,
      app: options.type === 'User' ? null : { id: accountId(slug), slug },
      job: null,
    }
    this.tokens.set(token, identity)
    return identity
  }
  mintJobToken(permissions: Permissions, job: Identity['job'] = null): string {
    const token = `ghs_${randomBytes(18).toString('hex')}`
    const who = { login: this.dialect.jobLogin, type: 'Bot', app: this.dialect.jobApp } as const
    this.tokens.set(token, { token, kind: 'job', permissions, job, ...who })
    return token
  }

  /** What a person may do, and the name of the role; strangers may read what is public. */
  permissionOf(login: string): { permission: 'admin' | 'write' | 'read' | 'none'; role: string } {
    const level = this.people[login] ?? (this.settings.private || login.endsWith('[bot]') ? 'none' : 'read')
    if (level === 'maintain') return { permission: 'write', role: 'maintain' }
    if (level === 'triage') return { permission: 'read', role: 'triage' }
    return { permission: level, role: level }
  }
  associationOf(login: string): string {
    if (login === this.settings.owner) return 'OWNER'
    const level = this.people[login]
    if (level === undefined || level === 'none') return 'NONE'
    return level === 'read' || level === 'triage' ? 'COLLABORATOR' : 'MEMBER'
  }
  person(login: string): Person {
    return { name: login, email: `${accountId(login)}+${login}@users.noreply.github.com` }
  }

  onEvent(listener: (event: SiteEvent) => void): void {
    this.#listeners.push(listener)
  }
  onRun(listener: (run: Run) => void): void {
    this.#runListeners.push(listener)
  }
  /** Tells the workflows of something. What a job's own token did is not told, with one exception (facts 3.2). */
  raise(name: string, action: string | null, payload: Json, by: Doer): void {
    const given = { ...(action === null ? {} : { action }), ...payload, ...renderEvent(this, by.login) }
    const full = this.eventPayload(name, action, given)
    const byJob = by.kind === 'job'
    if (byJob && !(name === 'pull_request' && afterPush.has(action ?? ''))) return
    for (const listener of this.#listeners) listener({ name, action, payload: full, actor: by.login, byJob })
  }
  /** A payload in GitHub's words, checked, as this server writes it. */
  eventPayload(name: string, action: string | null, payload: Json): Json {
    for (const problem of contractOf('github').eventProblems(name, action, payload))
      this.violations.push(`event violation: ${name}.${action}: ${problem}`)
    return this.dialect.event(this, payload)
  }
  addRun(run: Run): void {
    this.runs.push(run)
    for (const listener of this.#runListeners) listener(run)
  }

  issue(number: number): Issue {
    const found = this.issues.get(number)
    if (found === undefined) throw notFound()
    return found
  }
  addIssue(login: string, title: string, body: string | null, labels: string[], pull: Issue['pull']): Issue {
    const now = this.now()
    const issue: Issue = {
      id: this.nextId(),
      number: this.nextNumber(),
      title,
      body,
      state: 'open',
      login,
      labels: [],
      createdAt: now,
      updatedAt: now,
      closedAt: null,
      milestone: null,
      pull,
    }
    this.issues.set(issue.number, issue)
    for (const label of labels) this.addLabel(issue, label)
    return issue
  }
  label(name: string): string {
    const known = [...this.labels.keys()].find((one) => one.toLowerCase() === name.toLowerCase())
    if (known !== undefined) return known
    this.labels.set(name, { id: this.nextId(), color: 'ededed', description: null })
    return name
  }
  addLabel(issue: Issue, name: string): boolean {
    const label = this.label(name)
    if (issue.labels.includes(label)) return false
    issue.labels.push(label)
    issue.updatedAt = this.now()
    return true
  }

  /** The first comment on an issue or a pull request, as soon as there is one. */
  async firstComment(number: number): Promise<Comment> {
    const found = [...this.comments.values()].find((comment) => comment.number === number)
    if (found !== undefined) return found
    return new Promise((resolve) => this.#awaited.push({ number, resolve }))
  }
  addComment(number: number, by: Doer, body: string): Comment {
    const issue = this.issue(number)
    const now = this.now()
    const comment: Comment = {
      id: this.nextId(),
      number,
      login: by.login,
      app: by.app ?? null,
      body: checkedBody(body),
      createdAt: now,
      updatedAt: now,
    }
    this.comments.set(comment.id, comment)
    for (const one of this.#awaited) if (one.number === number) one.resolve(comment)
    issue.updatedAt = now
    this.raiseComment('created', comment, by)
    return comment
  }
  editComment(id: number, by: Doer, body: string): Comment {
    const comment = this.comments.get(id)
    if (comment === undefined) throw notFound()
    const from = comment.body
    comment.body = checkedBody(body)
    comment.updatedAt = this.now()
    this.raiseComment('edited', comment, by, { changes: { body: { from } } })
    return comment
  }
  deleteComment(id: number, by: Doer): void {
    const comment = this.comments.get(id)
    if (comment === undefined) throw notFound()
    this.comments.delete(id)
    this.raiseComment('deleted', comment, by)
  }
  raiseComment(action: string, comment: Comment, by: Doer, more: Json = {}): void {
    const payload = {
      issue: renderEvent.issue(this, comment.number),
      comment: renderComment(this, comment),
      ...more,
    }
    this.raise('issue_comment', action, payload, by)
  }
  /** Those from a branch of this name, also from forks. */
  pullsNamed(branch: string): (Issue & { pull: NonNullable<Issue['pull']> })[] {
    return [...this.issues.values()].filter(
      (issue): issue is Issue & { pull: NonNullable<Issue['pull']> } => issue.pull?.head === branch,
    )
  }

  /** Refs were moved by somebody: writes it down, tells the workflows, brings the pull requests up to date. */
  async pushed(moves: { ref: string; before: string; after: string }[], by: Doer): Promise<void> {
    for (const move of moves) {
      this.pushes.push({ ...move, login: by.login, job: by.job ?? null, at: Date.now() })
      // Only branches and tags start workflows.
      if (!/^refs\/(heads|tags)\//.test(move.ref)) continue
      const flags = {
        created: move.before === zero,
        deleted: move.after === zero,
        forced: false,
        base_ref: null,
      }
      const compare = `${this.url}/${this.fullName}/compare/${move.before.slice(0, 12)}...${move.after.slice(0, 12)}`
      const details = { compare, commits: [], head_commit: null, pusher: { name: by.login } }
      this.raise('push', null, { ...move, ...flags, ...details }, by)
    }
    if (moves.length > 0) await this.#afterRefs(by)
  }

  /** Heads, merges, branches that are gone. */
  async #afterRefs(by: Doer): Promise<void> {
    const refs = await this.bare.refs('refs/heads')
    for (const issue of this.issues.values()) {
      const pull = issue.pull
      if (pull === null || issue.state !== 'open') continue
      const head = pull.fork === null ? refs.get(`refs/heads/${pull.head}`) : pull.headSha
      let base = refs.get(`refs/heads/${pull.base}`)
      // If the base was the branch of a merged pull request, GitHub moves those on top of it to that one's own base.
      if (base === undefined) {
        const below = this.pullsNamed(pull.base).findLast(
          (one) => one.pull.fork === null && one.pull.mergedAt !== null,
        )
        base = refs.get(`refs/heads/${below?.pull.base}`)
        if (below !== undefined && base !== undefined) {
          Object.assign(pull, { base: below.pull.base, baseSha: base })
          this.raisePull('edited', issue, by, {
            changes: { base: { ref: { from: below.pull.head }, sha: { from: below.pull.headSha } } },
          })
        }
      }
      if (head === undefined || base === undefined) {
        this.close(issue, by)
        continue
      }
      if (head !== pull.headSha) {
        const before = pull.headSha
        pull.headSha = head
        issue.updatedAt = this.now()
        await this.bare.run(['update-ref', `refs/pull/${issue.number}/head`, head])
        this.raisePull('synchronize', issue, by, { before, after: head })
      }
      if (base === pull.baseSha) continue
      pull.baseSha = base
      if (await this.bare.isAncestor(head, base)) this.merged(issue, base, by)
    }
  }
  raisePull(action: string, issue: Issue, by: Doer, more: Json = {}): void {
    this.raise(
      'pull_request',
      action,
      { number: issue.number, pull_request: renderPullOfEvent(this, issue), ...more },
      by,
    )
  }
  close(issue: Issue, by: Doer): void {
    this.#closed(issue)
    if (issue.pull !== null) this.raisePull('closed', issue, by)
  }
  merged(issue: Issue, sha: string, by: Doer): void {
    if (issue.pull === null) return
    this.#closed(issue)
    Object.assign(issue.pull, { mergedAt: issue.closedAt, mergedBy: by.login, mergeSha: sha })
    this.raisePull('closed', issue, by)
  }
  #closed(issue: Issue): void {
    issue.state = 'closed'
    issue.closedAt = this.now()
    issue.updatedAt = issue.closedAt
  }

  run(id: number): Run {
    const found = this.runs.find((run) => run.id === id)
    if (found === undefined) throw notFound()
    return found
  }
}

/** The documented limit (facts 5.1); GitHub was seen to take more, which nobody should count on. */
function checkedBody(body: string): string {
  if (body.trim() === '') throw invalid({ resource: 'IssueComment', code: 'missing_field', field: 'body' })
  if (body.length > 65_536)
    throw invalid({
      resource: 'IssueComment',
      code: 'unprocessable',
      field: 'data',
      message: 'Body is too long (maximum is 65536 characters)',
    })
  return body
}
