// The durable state of a feature: one zod definition gives its type and its reader.
import * as z from 'zod/mini'
import { Attempt, CandidateDone, Failure } from './attempt.ts'
import { BuiltEdit } from './branch-edit.ts'
import { Correction, Holds } from './correction.ts'
import { Counterexample } from './counterexample.ts'
import { AddedDependency } from './dependency.ts'
import { StoryExamples } from './example.ts'
import { ChangeSize, Outcome, Prd, RunRecord, Scope, Story } from './feature.ts'
import { GateBaseline, GateResult, Screenshot } from './gate.ts'
import { JoinedBranch } from './joined-branch.ts'
import { Circuits } from './pipeline-step.ts'
import { Plan } from './plan-state.ts'
import { SavedWork } from './saved-work.ts'
import { SessionEntry } from './usage.ts'

/** How and why a job ends; `until` is when work may continue after a wait, epoch milliseconds. */
export type Conclusion = z.infer<typeof Conclusion>
export const Conclusion = z.object({ outcome: Outcome, reason: z.string(), until: z.nullable(z.number()) })

/** A story's breaker. `until`: when an open one allows a trial, epoch milliseconds. The other fields describe the last attempt. */
export type Breaker = z.infer<typeof Breaker>
export const Breaker = z.object({
  position: z.enum(['closed', 'half-open', 'open']),
  until: z.nullable(z.number()),
  tree: z.nullable(z.string()),
  sameTree: z.number(),
  error: z.nullable(z.string()),
  sameError: z.number(),
  /** Attempts in a row that changed only tests (`testsOnly`), and that the agent declared done (`doneInRow`). */
  testsOnly: z.exactOptional(z.number()),
  doneInRow: z.exactOptional(z.number()),
  output: z.number(),
  history: z.array(z.object({ at: z.number(), from: z.string(), to: z.string(), why: z.string() })),
})

/** How the gates chose among candidates. `slot`: the chosen one; `result`: `green, 12 lines`, or why it failed. */
export type Choice = z.infer<typeof Choice>
export const Choice = z.object({
  slot: z.number(),
  why: z.string(),
  candidates: z.array(z.object({ slot: z.number(), startedAt: z.number(), result: z.string() })),
})

/** What the state has about a story in addition to prd.json. */
export type StoryRecord = z.infer<typeof StoryRecord>
export const StoryRecord = z.object({
  /** Which of several candidates was chosen at its last attempt. */
  choice: z.exactOptional(Choice),
  failure: z.nullable(Failure),
  /** Gate results of its last attempt. */
  gates: z.array(GateResult),
  remarks: z.array(z.string()),
  /** Lost and cancelled attempts in a row, without a finished gate run between them. */
  interruptions: z.number(),
  breaker: Breaker,
  /** All attempts ever, charged or not. */
  attempts: z.number(),
  /** How many of `attempts` were returned uncharged. */
  givenBack: z.exactOptional(z.number()),
  /** Gates and agent together, milliseconds. */
  ms: z.number(),
  /** The green commit of its last pass. */
  commit: z.nullable(z.string()),
  /** What its commits changed, for jobs whose clone does not have them. Of several commits the files are those of the largest. */
  changed: z.exactOptional(ChangeSize),
  /** Ralph's own note within the story's notes, or empty. */
  note: z.string(),
  /** How often it was blocked because it is too large for one session. */
  tooLarge: z.exactOptional(z.number()),
  /** Files whose changed expectations a judge approved. */
  expected: z.exactOptional(z.array(z.string())),
  /** Gates that were red in the final verification because of it. They run for it whatever its tags; an empty change cannot pass. */
  owes: z.exactOptional(z.array(z.string())),
  /** What judges left to show that it is not met: they run with its gates until they are green. */
  counterexamples: z.exactOptional(z.array(Counterexample)),
  /** A judge refused it without a counterexample: the next refusal in words is void. */
  refusedInWords: z.exactOptional(z.literal(true)),
  /** The tree of its first attempt with red gates since it last passed: a later attempt must not weaken the tests in it. */
  redTree: z.exactOptional(z.string()),
  /** Stories whose work changed the same lines. This story is no longer worked on at the same time as these. */
  conflicts: z.exactOptional(z.array(z.string())),
  /** Files that its parallel attempts changed and the plan does not name, or folders for all files in them; at most 50. */
  touched: z.exactOptional(z.array(z.string())),
  /** How far up the model ladder it is; left out: at the first rung. */
  rung: z.exactOptional(z.number()),
  /** Why the last request to split it failed. */
  unsplit: z.exactOptional(z.string()),
  /** With `examples: sealed`. */
  examples: z.exactOptional(StoryExamples),
})

/** The job that works on a feature now. It is dead when that job has completed or `expiresAt` has passed. */
export type Lease = z.infer<typeof Lease>
export const Lease = z.object({
  holder: z.string(),
  nonce: z.string(),
  /** Epoch milliseconds. */
  expiresAt: z.number(),
  runId: z.nullable(z.number()),
  runAttempt: z.nullable(z.number()),
  url: z.nullable(z.string()),
  host: z.string(),
  pid: z.number(),
  /** When that process started, to tell it from a later one with the same pid. */
  startTime: z.string(),
  /** A value in the environment of every untrusted process, by which processes that outlive the holder are found. */
  mark: z.string(),
})

/** Candidates for one story, each made by its own session from the same base. One is chosen when `of` of them are done. */
export type Contest = z.infer<typeof Contest>
export const Contest = z.object({
  of: z.number(),
  base: z.string(),
  done: z.array(
    z.object({
      attempt: CandidateDone,
      /** How many lines its change added and removed; null if it failed. */
      lines: z.nullable(z.number()),
      kept: z.nullable(SavedWork),
    }),
  ),
})

/** Requests of people and limits of the platform; kept over jobs (prd.json: run.control). */
export type Control = z.infer<typeof Control>
export const Control = z.object({
  paused: z.nullable(z.object({ reason: z.string(), by: z.string() })),
  /** Added to the limits by `/ralph limit`. */
  granted: z.object({ iterations: z.number(), costUsd: z.number() }),
  /** When the wait that ended the last job is over, epoch milliseconds: no job is dispatched before. */
  notBefore: z.nullable(z.number()),
  /** Until when an agent's vendor is at its limit, by the agent's name; epoch milliseconds. */
  agentLimits: z.record(z.string(), z.number()),
  guidance: z.record(z.string(), z.array(z.string())),
  /** The highest id of a handled comment. */
  lastComment: z.number(),
  /** Start times of agent sessions in the last hour, epoch milliseconds. */
  calls: z.array(z.number()),
  /** Sessions in a row that a vendor's limit or overload ended. */
  limited: z.number(),
  /** Jobs in a row without a charged iteration. */
  idleJobs: z.number(),
  /** Jobs before the one in which a person last asked to continue: `max-jobs` counts from there. */
  jobsBefore: z.number(),
  /** The last push announced a next job that has not started yet. A job that looks for lost chains dispatches it if needed. */
  continuePending: z.boolean(),
  /** The workflow run that has to start the next job: it may still wait to do so, or a person stopped it. */
  mendedRun: z.nullable(z.number()),
  /** A story passed with the work of a set-up session: no further one runs. */
  setUp: z.exactOptional(z.literal(true)),
  /** Inputs that the person chose at kick-off. */
  chosen: z.record(z.string(), z.string()),
  /** The run began again, and the previous one is not in the archive yet. */
  anew: z._default(z.boolean(), false),
  /** The people who began the run or approved its plan, in lower case: their approvals do not count. */
  starters: z.exactOptional(z.array(z.string())),
  /** The circuits of pipeline steps that failed the last time. */
  circuits: z.exactOptional(Circuits),
  /** The part of the feature that the kick-off was for; null: all of it. */
  scope: z._default(z.nullable(Scope), null),
})

export type Verification = z.infer<typeof Verification>
export const Verification = z.object({
  /** Whether a judge approved exactly the present code. A change of code or stories withdraws it. */
  approved: z.boolean(),
  /** A person typed `verify`: it is repeated until it approves, even if the setting switches it off. */
  asked: z.boolean(),
  /** Judge sessions in a row without a verdict. */
  sessions: z.number(),
  message: z.string(),
  /** Gates whose earlier result was reused: `test as at US-004, 3 min ago`. */
  taken: z.exactOptional(z.array(z.string())),
  /** Refusals of judges that did not count, and why; the last 20. */
  voided: z.exactOptional(z.array(z.string())),
  /** The remarks of its gates when it last ran. */
  remarks: z.exactOptional(z.array(z.string())),
  /** The gates that were green on this commit when the judge gave no verdict, so that only the judge is asked again. */
  gated: z.exactOptional(z.object({ commit: z.string(), gates: z.array(GateResult) })),
})

export type TimelineEntry = z.infer<typeof TimelineEntry>
export const TimelineEntry = z.object({
  iteration: z.number(),
  storyId: z.string(),
  attempt: z.number(),
  /** `candidate`: one of several for a story that is not chosen, at least not yet. The entry of a chosen one is replaced at its end. */
  result: z.enum(['passed', 'rejected', 'returned', 'reset', 'candidate']),
  summary: z.string(),
  ms: z.number(),
  /** When it began and when it ended, epoch milliseconds; a reset has no beginning. */
  startedAt: z.exactOptional(z.number()),
  at: z.number(),
  job: z.number(),
  /** The part of `ms` that the gates took. */
  gatesMs: z.exactOptional(z.number()),
  kind: z.exactOptional(Failure.shape.kind),
  /** See Attempt. */
  model: z.exactOptional(z.string()),
})

/** The start of the next job. `held`: a rate limit refuses it, and this job no longer waits. */
export type NextJob = z.infer<typeof NextJob>
export const NextJob = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('open') }),
  z.object({ kind: z.literal('limited'), until: z.number() }),
  z.object({ kind: z.literal('started'), runId: z.nullable(z.number()) }),
  z.object({ kind: z.literal('held'), until: z.number() }),
  z.object({ kind: z.literal('failed') }),
])

/** A job whose outcome is decided: the state is published, then the next job started, then people are notified. */
export type Ending = z.infer<typeof Ending>
export const Ending = z.object({
  conclusion: Conclusion,
  /** Epoch milliseconds. */
  at: z.number(),
  published: z.boolean(),
  /** Whether commands came in after the lease was released, which a further job has to read. */
  more: z.boolean(),
  next: NextJob,
  reported: z.boolean(),
})

/** The part of the state that belongs to one job. A job that claims the feature starts with a new one. Times are epoch milliseconds. */
export type Job = z.infer<typeof Job>
export const Job = z.object({
  startedAt: z.number(),
  deadline: z.number(),
  /** Tags of the stories that a blocking gate runs for; null: for every story; empty: `gates: none` is set. */
  gatedTags: z.nullable(z.array(z.string())),
  /** Charged iterations of this batch; attempts begun, charged or not; joins with people's commits; results for the whole feature. */
  counts: z.object({
    iterations: z.number(),
    begun: z.number(),
    joins: z.number(),
    forFeature: z.number(),
  }),
  ready: z.object({ synced: z.boolean(), prepared: z.boolean(), opened: z.boolean() }),
  branch: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('ours') }),
    /** People pushed: their commits must be joined with Ralph's. */
    z.object({ kind: z.literal('moved'), head: z.string() }),
    /** Their commits are joined, and the gates have to run on the result. */
    z.object({ kind: z.literal('joining'), head: z.string(), joined: JoinedBranch }),
    z.object({ kind: z.literal('gone'), how: z.enum(['merged', 'deleted']) }),
    /** It cannot be pushed now, so only the state is pushed. */
    z.object({ kind: z.literal('refused') }),
  ]),
  /** An edit of the branch whose gates are next. It counts only while the branch is at the commit that it was built on. */
  editing: z.exactOptional(BuiltEdit),
  /** A person typed `run`: a rewritten branch is accepted, and a deleted one is restored. */
  takesBranch: z.boolean(),
  /** A wave: workers (the jobs of a matrix) that share this state. `isOver`: they have ended, and no further attempt begins. */
  wave: z.exactOptional(z.object({ workers: z.number(), isOver: z.boolean() })),
  /** If it is set, no further attempt begins. */
  halted: z.nullable(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('interrupted') }),
      z.object({ kind: z.literal('error'), summary: z.string(), fix: z.string() }),
    ]),
  ),
  ending: z.nullable(Ending),
})

/** Ralph's pull request and comment on GitHub. Ids are hints, and are looked up again if they are wrong. */
export type GithubIds = z.infer<typeof GithubIds>
export const GithubIds = z.object({
  pull: z.nullable(z.number()),
  pullUrl: z.nullable(z.string()),
  comment: z.nullable(z.number()),
  /** The commit on which checks may still be open. */
  head: z.nullable(z.string()),
  /** Earlier heads of the branch whose checks could not be closed yet; the newest last. */
  unclosed: z.array(z.string()),
  /** Corrections, by id, whose source has its reply. */
  answered: z.exactOptional(z.array(z.string())),
})

export type State = z.infer<typeof State>
export const State = z.object({
  version: z.literal(1),
  feature: z.string(),
  /** The path of prd.json before the first commit moves it into the folder; null if it is there already. */
  importedFrom: z.nullable(z.string()),
  /** A digest of the base's prd.json when the run began, to report later edits of it. */
  storiesDigest: z.string(),
  /** `.ralph/<yyyy-mm-dd>-<feature>` */
  folder: z.string(),
  branch: z.string(),
  base: z.object({ branch: z.string(), sha: z.string() }),
  nonce: z.string(),
  generation: z.number(),
  /** The usage of the run is written into prd.json from `sessions`. */
  prd: z.extend(Prd, { run: z.omit(RunRecord, { usage: true }) }),
  /** The newest green commit; the fork point before the first. */
  green: z.string(),
  /** The head of the branch that Ralph last published or adopted; null before the first push. */
  published: z.nullable(z.string()),
  /** `recorded`: a gate was red, and may be. */
  baseline: z.enum(['pending', 'green', 'recorded']),
  /** The time and test counts of each gate in the baseline. */
  baselineGates: z.exactOptional(z.record(z.string(), GateBaseline)),
  /** The screenshots of the baseline. */
  basePages: z.exactOptional(z.array(Screenshot)),
  /** By `attemptKey`. */
  attempts: z.record(z.string(), Attempt),
  /** Candidates whose gates the next wave runs, at separate-job; by `attemptKey`. */
  waiting: z.exactOptional(z.record(z.string(), Attempt)),
  /** Stories for which several candidates are made, by id. */
  contests: z.exactOptional(z.record(z.string(), Contest)),
  kept: z.record(z.string(), SavedWork),
  records: z.record(z.string(), StoryRecord),
  control: Control,
  verification: Verification,
  /** The plan of a feature that began without stories. */
  plan: z.exactOptional(Plan),
  /** Splits of stories into smaller ones, by the story's id. */
  splits: z.exactOptional(z.record(z.string(), Plan)),
  /** Finished stories that left the list. `pending`: those that no commit has archived yet; `ids`: all ever. */
  archive: z.exactOptional(
    z.object({
      asked: z.boolean(),
      pending: z.array(Story),
      ids: z.array(z.string()),
      /** A digest of each story's text: a story with another text under the same id is a new one. */
      words: z.exactOptional(z.record(z.string(), z.string())),
    }),
  ),
  /** Paths of people's documents that this run has updated. */
  documents: z.exactOptional(z.array(z.string())),
  /** Ids of stories that passed and that the last outcome could not mark in the documents of the plan. */
  unmarked: z.exactOptional(z.array(z.string())),
  /** People edited prd.md last, and not prd.json. */
  pageEdited: z.exactOptional(z.boolean()),
  /** Corrections by the id of their story. */
  corrections: z.exactOptional(z.record(z.string(), Correction)),
  /** The packages that its stories added. */
  dependencies: z.exactOptional(z.array(AddedDependency)),
  /** Stories whose commits have to be reverted. */
  drops: z.exactOptional(z.array(z.string())),
  /** The head of the base branch that was found last. `isHandled`: nothing is left to do for it. */
  baseHead: z.exactOptional(z.object({ sha: z.string(), isHandled: z.boolean(), isAsked: z.boolean() })),
  /** As the pull request was read last. */
  holds: z.exactOptional(Holds),
  /** Entries of progress.txt that no commit holds yet. */
  progress: z.array(z.string()),
  /** The last three entries, for the prompt. */
  recent: z.array(z.string()),
  /** The last 200 iterations. */
  timeline: z.array(TimelineEntry),
  /** The run's sessions in their order. `engine/model/usage-totals.ts` computes every total. */
  sessions: z.array(SessionEntry),
  lease: z.nullable(Lease),
  github: GithubIds,
  job: Job,
})
