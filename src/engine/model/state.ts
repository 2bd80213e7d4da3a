// The durable state of a feature, version 5: one definition, which types it and reads it.
import * as z from 'zod/mini'
import { Attempt, Failure } from './attempt.ts'
import { Outcome, Prd, RunRecord, Scope, Story } from './feature.ts'
import { GateBaseline, GateResult, Screenshot } from './gate.ts'
import { Circuits } from './pipeline-step.ts'
import { Plan } from './plan-state.ts'
import { SessionEntry } from './usage.ts'

/** How and why a job ends; `until` is when work may go on after a wait, epoch milliseconds. */
export type Conclusion = z.infer<typeof Conclusion>
export const Conclusion = z.object({ outcome: Outcome, reason: z.string(), until: z.nullable(z.number()) })

/** The work of a story's rejected attempts: a tree, and the green commit it grew from. */
export type SavedWork = z.infer<typeof SavedWork>
export const SavedWork = z.object({
  base: z.string(),
  tree: z.string(),
  dropped: z.array(z.string()),
  /** A set-up session's work is in it: the tree as that left it. Empty: not known. */
  setUp: z.exactOptional(z.string()),
})

/** `until`: when an open one lets a trial through, epoch milliseconds. The rest is of the last attempt, to compare with. */
export type Breaker = z.infer<typeof Breaker>
export const Breaker = z.object({
  position: z.enum(['closed', 'half-open', 'open']),
  until: z.nullable(z.number()),
  tree: z.nullable(z.string()),
  sameTree: z.number(),
  error: z.nullable(z.string()),
  sameError: z.number(),
  /** Attempts in a row that changed tests alone, and that ended with the agent's word that the story is done. */
  testsOnly: z.exactOptional(z.number()),
  doneInRow: z.exactOptional(z.number()),
  output: z.number(),
  history: z.array(z.object({ at: z.number(), from: z.string(), to: z.string(), why: z.string() })),
})

/** What is known of a story beside prd.json. */
export type StoryRecord = z.infer<typeof StoryRecord>
export const StoryRecord = z.object({
  failure: z.nullable(Failure),
  /** Gate results of its last attempt. */
  gates: z.array(GateResult),
  remarks: z.array(z.string()),
  /** Lost or cancelled attempts in a row without a finished gate run. */
  interruptions: z.number(),
  breaker: Breaker,
  /** All attempts ever, charged or not. */
  attempts: z.number(),
  /** Of them, those that were given back and count for nothing. */
  givenBack: z.exactOptional(z.number()),
  /** Gates and agent together, milliseconds. */
  ms: z.number(),
  /** The green commit of its last pass. */
  commit: z.nullable(z.string()),
  /** Ralph's own word in its notes, or empty. */
  note: z.string(),
  /** How often it was blocked because it is more than a session holds. */
  tooLarge: z.exactOptional(z.number()),
  /** Files whose change of what gates expect was asked for, as a judge said. */
  expected: z.exactOptional(z.array(z.string())),
  /** Gates that were red on the whole and reset it: they run for it whatever its tags, and only a change makes it pass. */
  owes: z.exactOptional(z.array(z.string())),
  /** The tree of its first attempt that gates were red on since it last passed: tests that it wrote there are not to be weakened. */
  redTree: z.exactOptional(z.string()),
  /** Stories whose work changed the same lines: it is not worked on beside them any more. */
  conflicts: z.exactOptional(z.array(z.string())),
  /** How far up the model ladder it is; left out: at the first rung. */
  rung: z.exactOptional(z.number()),
  /** Why it was not split when that was asked for last. */
  unsplit: z.exactOptional(z.string()),
})

/** Who works on a feature now. Dead when that job has completed or `expiresAt` passed. */
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
  /** In the environment of every process that is not trusted: those that outlive the holder are found by it. */
  mark: z.string(),
})

/** What people asked for and the platform imposed; kept over jobs (prd.json: run.control). */
export type Control = z.infer<typeof Control>
export const Control = z.object({
  paused: z.nullable(z.object({ reason: z.string(), by: z.string() })),
  /** Added to the limits by `/ralph limit`. */
  granted: z.object({ iterations: z.number(), costUsd: z.number() }),
  /** When the wait that ended the last job is over, epoch milliseconds: nothing is dispatched before. */
  notBefore: z.nullable(z.number()),
  /** Until when an agent's vendor is at its limit, by the agent's name; epoch milliseconds. */
  agentLimits: z.record(z.string(), z.number()),
  guidance: z.record(z.string(), z.array(z.string())),
  /** The highest comment id handled. */
  lastComment: z.number(),
  /** Start times of agent sessions in the last hour, epoch milliseconds. */
  calls: z.array(z.number()),
  /** Sessions in a row that a vendor's limit or overload ended. */
  limited: z.number(),
  /** Jobs in a row without a charged iteration. */
  idleJobs: z.number(),
  /** Jobs before the one in which a person last asked to go on: `max-jobs` counts from there. */
  jobsBefore: z.number(),
  /** The next job was promised by this push; whoever finds it dispatches again. */
  continuePending: z.boolean(),
  /** The run that left the chain to go on by itself: it may still wait to start the next job, or a person stopped it. */
  mendedRun: z.nullable(z.number()),
  /** A story passed with the work of a set-up session: there is no other. */
  setUp: z.exactOptional(z.literal(true)),
  /** Inputs that the person chose at kick-off. */
  chosen: z.record(z.string(), z.string()),
  /** The run began anew, and the archive does not hold the one before yet. */
  anew: z._default(z.boolean(), false),
  /** Of the steps of a pipeline that failed the last time. */
  circuits: z.exactOptional(Circuits),
  /** The part of the feature that the kick-off asked for; null: all of it. */
  scope: z._default(z.nullable(Scope), null),
})

export type Verification = z.infer<typeof Verification>
export const Verification = z.object({
  /** `approved` for exactly the present code; anything that changes code or stories takes it back. */
  approved: z.boolean(),
  /** A person said `runVerifyStep`: it is held until it agrees, also where the setting switches it off. */
  asked: z.boolean(),
  /** Judge sessions in a row without a verdict. */
  sessions: z.number(),
  message: z.string(),
  /** Gates that did not run again for it: `test as at US-004, 3 min ago`. */
  taken: z.exactOptional(z.array(z.string())),
  /** What its gates had to tell when it was last held. */
  remarks: z.exactOptional(z.array(z.string())),
  /** Its gates, which were green on this commit: where the judge gave no verdict only the judge is asked again. */
  gated: z.exactOptional(z.object({ commit: z.string(), gates: z.array(GateResult) })),
})

export type TimelineEntry = z.infer<typeof TimelineEntry>
export const TimelineEntry = z.object({
  iteration: z.number(),
  storyId: z.string(),
  attempt: z.number(),
  result: z.enum(['passed', 'rejected', 'returned', 'reset']),
  summary: z.string(),
  ms: z.number(),
  /** When it began and when it ended, epoch milliseconds; a reset has no beginning. */
  startedAt: z.exactOptional(z.number()),
  at: z.number(),
  job: z.number(),
  /** Of `ms`: what the gates took. */
  gatesMs: z.exactOptional(z.number()),
  kind: z.exactOptional(Failure.shape.kind),
  /** See Attempt. */
  model: z.exactOptional(z.string()),
})

/** How the next job is started. `held`: a rate limit refuses it, and this job does not wait any more. */
export type NextJob = z.infer<typeof NextJob>
export const NextJob = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('open') }),
  z.object({ kind: z.literal('limited'), until: z.number() }),
  z.object({ kind: z.literal('started'), runId: z.nullable(z.number()) }),
  z.object({ kind: z.literal('held'), until: z.number() }),
  z.object({ kind: z.literal('failed') }),
])

/** A job whose outcome is decided: it is published, then the next one is started, then people are told. */
export type Ending = z.infer<typeof Ending>
export const Ending = z.object({
  conclusion: Conclusion,
  /** Epoch milliseconds. */
  at: z.number(),
  published: z.boolean(),
  /** Commands came in after the lease was released: somebody must look at them. */
  more: z.boolean(),
  next: NextJob,
  reported: z.boolean(),
})

/** What belongs to this job alone. Made anew when a job claims the feature. Times are epoch milliseconds. */
export type Job = z.infer<typeof Job>
export const Job = z.object({
  startedAt: z.number(),
  deadline: z.number(),
  /** Tags of the stories that a blocking gate runs for; null: for every story; empty: `gates: none` was said. */
  gatedTags: z.nullable(z.array(z.string())),
  /** Charged iterations of this batch; attempts begun, charged or not; joins with people's commits. */
  counts: z.object({ iterations: z.number(), begun: z.number(), joins: z.number() }),
  ready: z.object({ synced: z.boolean(), prepared: z.boolean(), opened: z.boolean() }),
  branch: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('ours') }),
    /** It must be joined with ours. */
    z.object({ kind: z.literal('moved'), head: z.string() }),
    z.object({ kind: z.literal('gone'), how: z.enum(['merged', 'deleted']) }),
    /** It cannot be pushed now; the state alone is. */
    z.object({ kind: z.literal('refused') }),
  ]),
  /** A person said `run`: a branch that was rewritten is taken as it is, one that is gone is made again. */
  takesBranch: z.boolean(),
  /**
   * What other jobs have done and this one only lands (`isolation: separate-job`); null for a job that does it all.
   * `lost`: it was to be landed and never came. `nothing`: it is landed.
   */
  landing: z.nullable(z.enum(['attempt', 'baseline', 'join', 'verify', 'plan', 'lost', 'nothing'])),
  /** Workers of a matrix, a job each, with this state in common; `isOver`: they have ended, and nothing more is begun. */
  wave: z.exactOptional(z.object({ workers: z.number(), isOver: z.boolean() })),
  /** Nothing more is begun. */
  halted: z.nullable(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('interrupted') }),
      z.object({ kind: z.literal('error'), summary: z.string(), fix: z.string() }),
    ]),
  ),
  ending: z.nullable(Ending),
})

export type Landing = NonNullable<Job['landing']>

/** Where Ralph speaks on GitHub: ids are hints, looked up again when they do not answer. */
export type GithubIds = z.infer<typeof GithubIds>
export const GithubIds = z.object({
  pull: z.nullable(z.number()),
  pullUrl: z.nullable(z.string()),
  comment: z.nullable(z.number()),
  /** The commit on which checks may still be open. */
  head: z.nullable(z.string()),
  /** Commits that the branch has left and whose checks could not be ended yet; the newest last. */
  unclosed: z.array(z.string()),
})

export type State = z.infer<typeof State>
export const State = z.object({
  version: z.literal(5),
  feature: z.string(),
  /** Where prd.json stood before the first commit moves it into the folder; null when it stands there. */
  importedFrom: z.nullable(z.string()),
  /** Digest of the base's prd.json that the run began with: later edits there are told. */
  storiesDigest: z.string(),
  /** `.ralph/<yyyy-mm-dd>-<feature>` */
  folder: z.string(),
  branch: z.string(),
  base: z.object({ branch: z.string(), sha: z.string() }),
  nonce: z.string(),
  generation: z.number(),
  /** What the run used is written into prd.json from `sessions`. */
  prd: z.extend(Prd, { run: z.omit(RunRecord, { usage: true }) }),
  /** The newest green commit; the fork point before the first. */
  green: z.string(),
  /** The branch head as Ralph last published or adopted it; null before the first push. */
  published: z.nullable(z.string()),
  baseline: z.enum(['pending', 'green']),
  /** What each gate took and counted there. */
  baselineGates: z.exactOptional(z.record(z.string(), GateBaseline)),
  /** How pages looked there. */
  basePages: z.exactOptional(z.array(Screenshot)),
  attempts: z.record(z.string(), Attempt),
  kept: z.record(z.string(), SavedWork),
  records: z.record(z.string(), StoryRecord),
  control: Control,
  verification: Verification,
  /** Of a feature that began without stories. */
  plan: z.exactOptional(Plan),
  /** Stories that are to become smaller ones, by the story. */
  splits: z.exactOptional(z.record(z.string(), Plan)),
  /** Stories that are done and leave the list: `pending` are those that no commit has put aside yet, `ids` all ever. */
  archive: z.exactOptional(
    z.object({
      asked: z.boolean(),
      pending: z.array(Story),
      ids: z.array(z.string()),
      /** What each of them asked for, as a digest: another story under its id is a new one. */
      words: z.exactOptional(z.record(z.string(), z.string())),
    }),
  ),
  /** Paths of people's documents that outcomes of this run have brought up to date. */
  documents: z.exactOptional(z.array(z.string())),
  /** Ids of stories that passed and that the last outcome could not mark in the documents of the plan. */
  unmarked: z.exactOptional(z.array(z.string())),
  /** People edited prd.md last, and not prd.json. */
  pageEdited: z.exactOptional(z.boolean()),
  /** Entries of progress.txt that no commit holds yet. */
  progress: z.array(z.string()),
  /** The last three entries, for the prompt. */
  recent: z.array(z.string()),
  /** The last 200 iterations. */
  timeline: z.array(TimelineEntry),
  /** The run's sessions in their order. `engine/model/usage-totals.ts` has every total of them. */
  sessions: z.array(SessionEntry),
  lease: z.nullable(Lease),
  github: GithubIds,
  job: Job,
})
