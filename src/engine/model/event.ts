// Events of a run and commands of people. `reduce` turns them into state.

import type { AttemptId, Candidate, Failure, Session } from './attempt.ts'
import type { Prd, StoryEvidence } from './feature.ts'
import type { GateResult } from './gate.ts'
import type { AfterSteps } from './pipeline-step.ts'
import type { Proposal } from './plan-state.ts'
import type { Conclusion, GithubIds, SavedWork } from './state.ts'
import type { SessionKind, Usage } from './usage.ts'

/** A command by comment or by CLI. `id`: of the comment; `by`: the login; `at`: when it was written, epoch milliseconds. */
export type Command = { id: number; by: string; at?: number } & (
  | { kind: 'run' }
  | { kind: 'pause' }
  | { kind: 'stop' }
  /** `fresh`: the saved work is discarded. */
  | { kind: 'retry'; stories: string[] | 'all'; guidance: string; fresh?: true }
  | { kind: 'redo'; stories: string[] | 'all'; guidance: string }
  | { kind: 'skip'; stories: string[]; guidance: string }
  | { kind: 'note'; stories: string[]; guidance: string }
  | { kind: 'add'; title: string; description: string; criteria: string[] }
  | { kind: 'verify' }
  /** Finished stories leave prd.json. */
  | { kind: 'archive' }
  | { kind: 'split'; story: string; guidance: string }
  | { kind: 'plan'; guidance: string }
  /** `story`: whose split is approved; null: the plan of the feature. `digest`: of the approved text; null: as shown last. */
  | { kind: 'approve'; story: string | null; digest: string | null }
  | { kind: 'limit'; what: 'iterations' | 'cost'; amount: number }
  | { kind: 'refused' }
)

/** prd.json as people left it on the branch. `seen`: the story ids of the version that they edited. */
export type PeopleEdits = {
  prd: Prd
  seen: string[]
  /** They edited prd.md, which Ralph does not read, and it now differs from their prd.json. */
  page: boolean
}

/** A story that had passed and whose code is no longer in the branch of people. `kept`: its saved work, for the next attempt. */
export type RevertedStory = {
  storyId: string
  kept: SavedWork | null
  /** `failure.gate`: the gate that the story broke and has to make green. */
  failure: Failure
  /** The gate results, where `failure` names a gate: the story's page shows their annotations and screenshots. */
  gates?: readonly GateResult[]
}

/** The branch of people joined with ours. `code`: the result holds code that no gate of the run has seen. */
export type JoinedBranch = {
  green: string
  people: PeopleEdits | null
  code: boolean
  takenBack: RevertedStory[]
  /** Entries of progress.txt that the new head does not hold. */
  entries: string[]
}

/** Usage of a judge or planner that was cut short. `storyId` null: it was about the whole feature. */
export type SpentUsage = { storyId: string | null; kind: SessionKind; usage: Usage }

/** What happened; `at` is epoch milliseconds. `reduce` is the only place that turns it into state. */
export type Event = {
  at: number
} & (
  | {
      kind: 'synced'
      commands: Command[]
      theirs: { head: string } | 'merged' | 'deleted' | null
      /** context.md on the branch, where a plan waits: an approval covers it, too. */
      context?: string
    }
  | ({ kind: 'joined'; theirs: string } & Omit<JoinedBranch, 'code'>)
  | { kind: 'restored' }
  | { kind: 'join-failed'; summary: string }
  | { kind: 'prepared' }
  | { kind: 'baselined'; gates: GateResult[] }
  /** `context`: context.md of a plan, as the first commit holds it. */
  | { kind: 'opened'; green: string; github: GithubIds; context?: string }
  /** `worker`: of a wave, which has the attempt. `github`: what was learned of pull request and comment since the last save. */
  | { kind: 'reserved'; storyId: string; worker?: string; github?: Partial<GithubIds> }
  /** A worker takes a free attempt, or (null) leaves its own to any other. */
  | (AttemptId & { kind: 'assigned'; worker: string | null })
  /** A worker has to end in the middle of an attempt. */
  | (AttemptId & { kind: 'abandoned'; why: string; spent: SpentUsage | null })
  | (AttemptId & { kind: 'worked'; session: Session })
  /** `touched`: the files that it changes, or their folders; of an attempt beside others alone. */
  | (AttemptId & { kind: 'guarded'; candidate: Candidate; touched?: readonly string[] })
  | (AttemptId & { kind: 'refused'; failure: Failure })
  /** The candidate was rebased onto another commit; its gates have to run again. */
  | (AttemptId & { kind: 'rebased'; base: string; candidate: Candidate })
  /** Its change conflicts with what landed meanwhile. */
  | (AttemptId & { kind: 'conflicted'; failure: Failure })
  /** `paths`: files that were put back to their earlier version for the second run of the gates. */
  | (AttemptId & { kind: 'gated'; commit: string; gates: GateResult[]; paths?: string[] })
  | (AttemptId & { kind: 'judged'; verdict: Verdict; usage: Usage })
  | (AttemptId & { kind: 'accepted'; commit: string; after?: AfterSteps })
  /** One of several candidates is done. `lines`: how many its change added and removed; null where it failed, and `kept` is its work. */
  | (AttemptId & { kind: 'entered'; lines: number | null; kept: SavedWork | null })
  /** The run cannot go on with further candidates for this story: it is chosen among those that are there. */
  | { kind: 'decided'; storyId: string }
  | (AttemptId & { kind: 'rejected'; kept: SavedWork | null })
  | (AttemptId & { kind: 'returned'; kept: SavedWork | null })
  | { kind: 'verified'; gates: GateResult[]; verdict: Verdict; usage: Usage }
  | { kind: 'planned'; split: string | null; proposal: Proposal; usage: Usage }
  | { kind: 'concluded'; conclusion: Conclusion }
  | { kind: 'pushed'; github: GithubIds }
  | {
      kind: 'published'
      green: string
      withBranch: boolean
      more: boolean
      context?: string
      /** Paths of people's documents that the commit updates. */
      documents?: string[]
      /** Ids of the stories that could not be marked in them; they replace those of before. */
      unmarked?: string[]
    }
  | { kind: 'diverged'; theirs: string }
  | { kind: 'dispatched'; runId: number | null }
  | { kind: 'dispatch-failed'; summary: string }
  | { kind: 'dispatch-limited'; until: number }
  | { kind: 'reported'; github: GithubIds }
  | { kind: 'waited' }
  | { kind: 'interrupted'; spent: SpentUsage | null }
  | { kind: 'push-refused'; summary: string }
  | { kind: 'push-expired'; summary: string }
  | { kind: 'out-of-time'; spent: SpentUsage | null }
  /** `attempt`: the one that cannot begin; it is returned uncharged. */
  | { kind: 'failed'; summary: string; fix: string; attempt?: AttemptId }
)

export type EventOf<K extends Event['kind']> = Extract<Event, { kind: K }>

type Row = {
  /** The state is saved before the loop goes on. A crash loses other events, at most those of one iteration. */
  durable: boolean
  /** It completes the landing, in a job that only lands what other jobs did. */
  landed: boolean
  /** Other workers of a wave have to know of it before this one goes on: their next step depends on it. */
  shared: boolean
}

const PASSING: Row = { durable: false, landed: false, shared: false }
const DURABLE: Row = { durable: true, landed: false, shared: true }
const SHARED: Row = { durable: false, landed: false, shared: true }

export const EVENTS = {
  synced: PASSING,
  joined: { durable: false, landed: true, shared: false },
  restored: PASSING,
  'join-failed': { durable: true, landed: true, shared: true },
  prepared: PASSING,
  baselined: { durable: false, landed: true, shared: false },
  opened: PASSING,
  reserved: DURABLE,
  assigned: DURABLE,
  abandoned: DURABLE,
  worked: PASSING,
  guarded: SHARED,
  refused: PASSING,
  rebased: SHARED,
  conflicted: PASSING,
  gated: PASSING,
  judged: PASSING,
  accepted: DURABLE,
  entered: DURABLE,
  decided: DURABLE,
  rejected: DURABLE,
  returned: DURABLE,
  verified: { durable: true, landed: true, shared: true },
  planned: { durable: true, landed: true, shared: true },
  concluded: PASSING,
  pushed: PASSING,
  published: PASSING,
  diverged: PASSING,
  dispatched: PASSING,
  'dispatch-failed': PASSING,
  'dispatch-limited': PASSING,
  reported: PASSING,
  waited: DURABLE,
  interrupted: PASSING,
  'push-refused': PASSING,
  'push-expired': PASSING,
  'out-of-time': PASSING,
  failed: SHARED,
} satisfies Record<Event['kind'], Row>

/** The judge's verdict. `none`: the session failed or gave no verdict, which approves nothing. */
export type Verdict =
  /** `evidence`: left out where the judge named none. */
  | { kind: 'verified'; evidence?: readonly StoryEvidence[] }
  /** `gate`: whose output shows it; left out where a judge decided. `detail`: text before that output. */
  | { kind: 'reset'; stories: string[]; reason: string; gate?: string; detail?: string }
  | { kind: 'limit'; notBefore: number | null; message: string }
  /** The agent cannot work at all, and a person must act. */
  | { kind: 'refused'; message: string; fix?: string }
  | { kind: 'none'; message: string }
