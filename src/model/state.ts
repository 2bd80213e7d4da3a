// The durable state of a feature. Types only.
import type { Outcome, Prd } from './feature.ts'
import type { GateResult } from './gate.ts'
import type { Usage } from './usage.ts'

/** How and why a job ends; `until` is when work may go on after a wait, epoch milliseconds. */
export type Conclusion = { outcome: Outcome; reason: string; until: number | null }

/** Why an attempt was rejected, in words for people (`summary`, one line) and for the next prompt (`detail`, bounded). */
export type Failure = {
  kind: 'session' | 'stuck' | 'empty-diff' | 'guard' | 'gates' | 'judge' | 'conflict'
  summary: string
  detail: string
}

/** Why an attempt was given back without being charged. */
export type ReturnReason = 'limit' | 'overloaded' | 'interrupted' | 'lost'

/** The agent's session as the loop sees it; the words in it are hints only. */
export type Session = {
  /** `finished`: ended without error. `failed`: charged. The rest is not charged; `auth` and `not-started` end the job. */
  status: 'finished' | 'failed' | 'limit' | 'overloaded' | 'auth' | 'not-started' | 'interrupted'
  message: string
  usage: Usage
  /** Epoch milliseconds at which a limited vendor answers again, where it says so. */
  resetsAt: number | null
  hints: { done: boolean; notDone: boolean; stuck: string | null }
  learnings: string[]
}

/** An iteration in work. It is reserved durably before the agent starts, so that a crash cannot hide its cost. */
export type Attempt = {
  storyId: string
  /** 1-based, counted by story. */
  number: number
  iteration: number
  agent: 'first' | 'fallback'
  /** Epoch milliseconds. */
  startedAt: number
  /** What a takeover charges as *estimated* when the job was lost; null where nothing is known and no limit is set. */
  reservedCostUsd: number | null
  /** The same; left out in states of older versions. */
  reservedTokens?: number | null
  phase: 'reserved' | 'worked' | 'guarded' | 'gated' | 'judged' | 'failed' | 'returned'
  /** When the candidate was built, epoch milliseconds. */
  guardedAt: number
  session: Session | null
  /** The commit whose tree the gates ran on; what is gated is what is committed. */
  candidate: string | null
  /** No change beside `.ralph/`: passes only through an independent judge. */
  empty: boolean
  /** What the guard and the watchers saw and did not refuse, for the check. */
  remarks: string[]
  gates: GateResult[]
  failure: Failure | null
  returned: { reason: ReturnReason; message: string } | null
  /** A person wants to begin anew: what it leaves, which grew from what was kept, is thrown away with that. */
  unwanted?: true
}

/** The work of a story's rejected attempts: a tree, and the green commit it grew from. */
export type Kept = { base: string; tree: string; dropped: string[] }

/** `until`: when an open one lets a trial through, epoch milliseconds. The rest is of the last attempt, to compare with. */
export type Breaker = {
  position: 'closed' | 'half-open' | 'open'
  until: number | null
  tree: string | null
  sameTree: number
  error: string | null
  sameError: number
  output: number
  history: { at: number; from: string; to: string; why: string }[]
}

/** What is known of a story beside prd.json. */
export type StoryRecord = {
  failure: Failure | null
  /** Gate results of its last attempt. */
  gates: GateResult[]
  remarks: string[]
  /** Lost or cancelled attempts in a row without a finished gate run. */
  interruptions: number
  breaker: Breaker
  usage: Usage
  /** All attempts ever, charged or not. */
  attempts: number
  /** Gates and agent together, milliseconds. */
  ms: number
  /** The green commit of its last pass. */
  commit: string | null
  /** Ralph's own word in its notes; a state of before has none. */
  note?: string
}

/** Who works on a feature now. Dead when that job has completed or `expiresAt` passed. */
export type Lease = {
  holder: string
  nonce: string
  /** Epoch milliseconds. */
  expiresAt: number
  runId: number | null
  runAttempt: number | null
  url: string | null
  host: string
  pid: number
  /** When that process started, to tell it from a later one with the same pid. */
  startTime: string
  /** In the environment of every process that is not trusted: those that outlive the holder are found by it. */
  mark: string
}

/** What people asked for and the platform imposed; kept over jobs (prd.json: run.control). */
export type Control = {
  paused: { reason: string; by: string } | null
  /** Added to the limits by `/ralph limit`. */
  granted: { iterations: number; costUsd: number }
  /** When the wait that ended the last job is over, epoch milliseconds: nothing is dispatched before. */
  notBefore: number | null
  /** Until when an agent's vendor is at its limit, by the agent's name; epoch milliseconds. */
  agentLimits: Record<string, number>
  guidance: Record<string, string[]>
  /** The highest comment id handled. */
  lastComment: number
  /** Start times of agent sessions in the last hour, epoch milliseconds. */
  calls: number[]
  /** Sessions in a row that a vendor's limit or overload ended. */
  limited: number
  /** Jobs in a row without a charged iteration. */
  idleJobs: number
  /** Jobs before the one in which a person last asked to go on: `max-jobs` counts from there. */
  jobsBefore: number
  /** The next job was promised by this push; whoever finds it dispatches again. */
  continuePending: boolean
  /** The run that left the chain to go on by itself: it may still wait to start the next job, or a person stopped it. */
  mendedRun: number | null
  /** Inputs that the person chose at kick-off. */
  chosen: Record<string, string>
}

export type Verification = {
  /** `approved` for exactly the present code; anything that changes code or stories takes it back. */
  approved: boolean
  /** A person said `verify`: it is held until it agrees, also where the setting switches it off. */
  asked?: true
  /** Judge sessions in a row without a verdict. */
  sessions: number
  message: string
}

export type TimelineEntry = {
  iteration: number
  storyId: string
  attempt: number
  result: 'passed' | 'rejected' | 'returned' | 'reset'
  summary: string
  ms: number
  costUsd: number
  /** In and out; cached ones among them. */
  tokens: number
  /** Epoch milliseconds. */
  at: number
  job: number
}

/** `lost`: it was to be landed and never came. `nothing`: it is landed. */
export type Landing = 'attempt' | 'baseline' | 'join' | 'verify' | 'lost' | 'nothing'

/** What belongs to this job alone. Made anew when a job claims the feature. */
export type Job = {
  /** Epoch milliseconds. */
  startedAt: number
  deadline: number
  /** Charged iterations of this batch. */
  iterations: number
  /** Attempts begun in this job, charged or not. */
  begun: number
  synced: boolean
  prepared: boolean
  opened: boolean
  /** Tags of the stories that a blocking gate runs for; null: for every story; empty: `gates: none` was said. Not in states of 1.0.0. */
  gatedTags?: readonly string[] | null
  /** A remote head that must be joined with ours, or null. */
  theirs: string | null
  /** Joins with people's commits in this job. */
  joins: number
  /** What other jobs have done and this one only lands (`isolation: separate-job`); null for a job that does it all. */
  landing: Landing | null
  /** A person said `run`: a branch that was rewritten is taken as it is, one that is gone is made again. */
  takesBranch: boolean
  /** How the branch went that is not there any more; null while it is. */
  branchGone: 'merged' | 'deleted' | null
  /** The branch cannot be pushed now; the state alone is. */
  branchRefused: boolean
  interrupted: boolean
  error: { summary: string; fix: string } | null
  conclusion: Conclusion | null
  concludedAt: number | null
  published: boolean
  /** Commands came in after the lease was released: somebody must look at them. */
  more: boolean
  dispatched: boolean
  /** Until then the platform's rate limit refuses the dispatch, epoch milliseconds; null where none does. */
  dispatchAfter: number | null
  nextRunId: number | null
  reported: boolean
}

/** Where Ralph speaks on GitHub: ids are hints, looked up again when they do not answer. */
export type GithubIds = {
  pull: number | null
  pullUrl: string | null
  comment: number | null
  /** The commit on which checks may still be open. */
  head: string | null
  /** Commits that the branch has left and whose checks could not be ended yet; the newest last. */
  unclosed?: string[]
}

export type State = {
  version: 1
  feature: string
  /** Where prd.json stood before the first commit moves it into the folder; null when it stands there. */
  importedFrom: string | null
  /** Digest of the base's prd.json that the run began with: later edits there are told. */
  storiesDigest: string
  /** `.ralph/<yyyy-mm-dd>-<feature>` */
  folder: string
  branch: string
  base: { branch: string; sha: string }
  nonce: string
  generation: number
  prd: Prd
  /** The newest green commit; the fork point before the first. */
  green: string
  /** The branch head as Ralph last published or adopted it; null before the first push. */
  published: string | null
  baseline: 'pending' | 'green'
  attempt: Attempt | null
  kept: Record<string, Kept>
  records: Record<string, StoryRecord>
  control: Control
  verification: Verification
  /** Entries of progress.txt that no commit holds yet. */
  progress: string[]
  /** The last three entries, for the prompt. */
  recent: string[]
  /** The last 200 iterations. */
  timeline: TimelineEntry[]
  lease: Lease | null
  github: GithubIds
  job: Job
}
