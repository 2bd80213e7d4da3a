// The records that the stand-in for GitHub keeps: people and tokens, issues and pull requests, checks, runs.
export type Json = Record<string, unknown>
export type Level = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none'
export type Access = 'read' | 'write' | 'none'
export type Scope = 'contents' | 'checks' | 'pull_requests' | 'issues' | 'actions' | 'statuses'
export type Permissions = Partial<Record<Scope, Access>>

export interface TokenOptions {
  login: string
  type: 'User' | 'Bot'
  permissions: Permissions
}

/** Who is behind a token. `job`: a GITHUB_TOKEN, whose doings start no runs (facts 3.2). */
export interface Identity {
  token: string
  kind: 'job' | 'app' | 'user'
  login: string
  type: 'User' | 'Bot'
  permissions: Permissions
  app: { id: number; slug: string } | null
  job: { runId: number; jobId: number; name: string } | null
}

export interface Issue {
  id: number
  number: number
  title: string
  body: string | null
  state: 'open' | 'closed'
  login: string
  labels: string[]
  createdAt: string
  updatedAt: string
  closedAt: string | null
  /** Its number. */
  milestone: number | null
  pull: Pull | null
}

export interface Pull {
  head: string
  /** Whose fork has the branch; null: this repository has it. */
  fork: string | null
  base: string
  headSha: string
  baseSha: string
  draft: boolean
  /** When auto-merge was turned on, or null. */
  autoMergeAt: string | null
  mergedAt: string | null
  mergedBy: string | null
  mergeSha: string | null
}

export interface Comment {
  id: number
  number: number
  login: string
  app: Identity['app']
  body: string
  createdAt: string
  updatedAt: string
}

/** A thread of a review, and a review as a whole. `line`: null once the diff has moved on. */
export interface Thread {
  id: number
  number: number
  path: string
  line: number | null
  startLine: number | null
  hunk: string
  isResolved: boolean
  comments: ThreadComment[]
}
export interface ThreadComment {
  id: number
  login: string
  body: string
  createdAt: string
}
export interface Review {
  id: number
  number: number
  login: string
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED'
  body: string
  /** The commit that it is about. */
  head: string
}

export interface Reaction {
  id: number
  subject: string
  login: string
  content: string
  createdAt: string
}

export interface Annotation extends Json {
  path: string
  start_line: number
  end_line: number
  annotation_level: 'notice' | 'warning' | 'failure'
  message: string
}

export interface Check {
  id: number
  name: string
  sha: string
  app: { id: number; slug: string }
  suite: number
  status: string
  conclusion: string | null
  startedAt: string | null
  completedAt: string | null
  externalId: string | null
  detailsUrl: string | null
  title: string | null
  summary: string | null
  text: string | null
  annotations: Annotation[]
  /** The log of its job; null: GitHub has none. */
  log?: string | null
  /** The check run that Actions itself makes for each of its jobs. */
  ofJob: boolean
}

export interface Status {
  id: number
  sha: string
  state: string
  context: string
  description: string | null
  targetUrl: string | null
  login: string
  createdAt: string
}

export type Conclusion = 'success' | 'failure' | 'cancelled' | 'skipped' | 'action_required'

export interface Run {
  id: number
  number: number
  attempt: number
  workflow: string
  workflowName: string
  title: string
  event: string
  payload: Json
  actor: string
  ref: string
  sha: string
  inputs: Record<string, string>
  status: 'queued' | 'pending' | 'in_progress' | 'completed'
  conclusion: Conclusion | null
  createdAt: string
  updatedAt: string
  jobs: Job[]
  /** The jobs of attempts before this one. */
  earlier: Job[]
  /** Why the workflow could not be run at all. */
  error: string | null
}

export interface Job {
  id: number
  key: string
  name: string
  attempt: number
  status: 'queued' | 'pending' | 'in_progress' | 'completed'
  conclusion: Conclusion | null
  createdAt: string
  startedAt: string | null
  completedAt: string | null
  labels: string[]
  steps: Step[]
  outputs: Record<string, string>
  token: string | null
  /** What the action gets as ACTIONS_RUNTIME_TOKEN; null before the job runs. */
  runtimeToken: string | null
  permissions: Permissions
  workspace: string | null
  /** What the runner itself said of the job: timeouts, orphans it ended, outputs it dropped. */
  notes: string[]
}

export interface Step {
  number: number
  id: string
  name: string
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: Conclusion | null
  outcome: Conclusion | null
  outputs: Record<string, string>
  state: Record<string, string>
  /** What the log page would show: secrets masked, workflow commands taken out. */
  log: string
  annotations: StepAnnotation[]
  masks: string[]
  summary: string
  startedAt: string | null
  completedAt: string | null
}

export interface StepAnnotation {
  level: 'error' | 'warning' | 'notice'
  message: string
  properties: Record<string, string>
}

/** An entry of a pull request's timeline. `commit`: of the merge group; null: none was made. */
export interface QueueEvent {
  number: number
  kind: 'added' | 'removed'
  /** As the timeline has it, which is not the word of the event's payload. */
  reason: string | null
  commit: string | null
  createdAt: string
}

/** Something that happened on the site; workflows listen to it. */
export interface SiteEvent {
  name: string
  action: string | null
  payload: Json
  actor: string
  /** A job's own token did it. Of such events only those of pull requests are told, and they wait for approval. */
  byJob: boolean
}

/** Who does something: a person of a test, or whoever is behind a token. */
export type Doer = { login: string } & Partial<Pick<Identity, 'kind' | 'app' | 'job'>>

export interface SeenRequest {
  kind: 'rest' | 'graphql' | 'git' | 'service'
  method: string
  path: string
  query: string
  status: number
  operation: string | null
  /** The field of a GraphQL mutation, such as `resolveReviewThread`. */
  mutation: string | null
  token: string | null
  login: string | null
  job: Identity['job']
  at: number
  ms: number
}

export interface Push {
  ref: string
  before: string
  after: string
  login: string
  job: Identity['job']
  at: number
}
