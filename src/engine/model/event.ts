// What can happen, and what people can say. `reduce` turns it into state.

import type { Candidate, Failure, Session } from './attempt.ts'
import type { Prd, StoryEvidence } from './feature.ts'
import type { GateResult } from './gate.ts'
import type { AfterSteps } from './pipeline-step.ts'
import type { Proposal } from './plan-state.ts'
import type { Conclusion, GithubIds, SavedWork } from './state.ts'
import type { SessionKind, Usage } from './usage.ts'

/** What people can ask of a run, by comment or by CLI; `id` is the comment's, `by` the login, `at` when it was said, epoch milliseconds. */
export type Command = { id: number; by: string; at?: number } & (
  | { kind: 'run' }
  | { kind: 'pause' }
  | { kind: 'stop' }
  /** `fresh`: the work of the attempts before is thrown away. */
  | { kind: 'retry'; stories: string[] | 'all'; guidance: string; fresh?: true }
  | { kind: 'redo'; stories: string[] | 'all'; guidance: string }
  | { kind: 'skip'; stories: string[]; guidance: string }
  | { kind: 'note'; stories: string[]; guidance: string }
  | { kind: 'add'; title: string; description: string; criteria: string[] }
  | { kind: 'verify' }
  /** Stories that are done leave prd.json. */
  | { kind: 'archive' }
  | { kind: 'split'; story: string; guidance: string }
  | { kind: 'plan'; guidance: string }
  /** `story`: of its split; null: of the whole. `digest`: the stories that are meant, or null for those shown last. */
  | { kind: 'approve'; story: string | null; digest: string | null }
  | { kind: 'limit'; what: 'iterations' | 'cost'; amount: number }
  | { kind: 'refused' }
)

/** prd.json as people left it on the branch, and the ids in the one that they edited. */
export type PeopleEdits = {
  prd: Prd
  seen: string[]
  /** They edited prd.md, which nothing reads, to say otherwise than their prd.json. */
  page: boolean
}

/** A story that had passed and whose code is not in the branch that people left; `kept` is its work, to be built on. */
export type RevertedStory = {
  storyId: string
  kept: SavedWork | null
  /** Its `gate` is the one that the story broke, and has to make green. */
  failure: Failure
  /** Where it names one of them: their places and pictures are looked for at the story. */
  gates?: readonly GateResult[]
}

/** The branch of people and ours in one. `code`: it is not what our gates have seen. */
export type JoinedBranch = {
  green: string
  people: PeopleEdits | null
  code: boolean
  takenBack: RevertedStory[]
  /** Entries of progress.txt that the new head does not hold. */
  entries: string[]
}

/** What a judge or a planner used whose word came too late; `storyId` null: on the whole. */
export type SpentUsage = { storyId: string | null; kind: SessionKind; usage: Usage }

/** What happened; `at` is epoch milliseconds. `reduce` is the only place that turns it into state. */
export type Event = {
  at: number
} /** `context`: context.md on the branch, where a plan waits that an approval would be for. */ & (
  | {
      kind: 'synced'
      commands: Command[]
      theirs: { head: string } | 'merged' | 'deleted' | null
      /** context.md on the branch, where a plan waits: an approval is for it, too. */
      context?: string
    }
  | ({ kind: 'joined'; theirs: string } & Omit<JoinedBranch, 'code'>)
  | { kind: 'restored' }
  | { kind: 'join-failed'; summary: string }
  | { kind: 'prepared' }
  | { kind: 'baselined'; gates: GateResult[] }
  /** `context`: of a plan, as the commit that was made here holds it. */
  | { kind: 'opened'; green: string; github: GithubIds; context?: string }
  /** `worker`: the job of a wave whose attempt it is. */
  | { kind: 'reserved'; storyId: string; worker?: string }
  /** A worker takes an attempt that none has in work, or (null) leaves its own for any to go on with. */
  | { kind: 'assigned'; storyId: string; worker: string | null }
  /** A worker has to end in the middle of an attempt. */
  | { kind: 'abandoned'; storyId: string; why: string; spent: SpentUsage | null }
  | { kind: 'worked'; storyId: string; session: Session }
  | { kind: 'guarded'; storyId: string; candidate: Candidate }
  | { kind: 'refused'; storyId: string; failure: Failure }
  /** The candidate stands on another commit now; its gates have to run again. */
  | { kind: 'rebased'; storyId: string; base: string; candidate: Candidate }
  /** What it changed was changed otherwise by what landed meanwhile. */
  | { kind: 'conflicted'; storyId: string; failure: Failure }
  /** `paths`: files that stood as they were when gates ran once more. */
  | { kind: 'gated'; storyId: string; commit: string; gates: GateResult[]; paths?: string[] }
  | { kind: 'judged'; storyId: string; verdict: Verdict; usage: Usage }
  | { kind: 'accepted'; storyId: string; commit: string; after?: AfterSteps }
  | { kind: 'rejected'; storyId: string; kept: SavedWork | null }
  | { kind: 'returned'; storyId: string; kept: SavedWork | null }
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
      /** Paths of people's documents that were brought up to date. */
      documents?: string[]
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
  /** `storyId`: the attempt that cannot begin; it is given back. */
  | { kind: 'failed'; summary: string; fix: string; storyId?: string }
)

export type EventOf<K extends Event['kind']> = Extract<Event, { kind: K }>

type Row = {
  /** It is saved before the loop goes on; the rest is lost with the iteration in flight at most. */
  durable: boolean
  /** What other jobs have done, and one that only lands was there for, is landed with it. */
  landed: boolean
}

const PASSING: Row = { durable: false, landed: false }
const DURABLE: Row = { durable: true, landed: false }

export const EVENTS = {
  synced: PASSING,
  joined: { durable: false, landed: true },
  restored: PASSING,
  'join-failed': { durable: true, landed: true },
  prepared: PASSING,
  baselined: { durable: false, landed: true },
  opened: PASSING,
  reserved: DURABLE,
  assigned: DURABLE,
  abandoned: DURABLE,
  worked: PASSING,
  guarded: PASSING,
  refused: PASSING,
  rebased: PASSING,
  conflicted: PASSING,
  gated: PASSING,
  judged: PASSING,
  accepted: DURABLE,
  rejected: DURABLE,
  returned: DURABLE,
  verified: { durable: true, landed: true },
  planned: { durable: true, landed: true },
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
  failed: PASSING,
} satisfies Record<Event['kind'], Row>

/** What the judge said of the finished work. `none`: it erred or said neither, so it has not approved. */
export type Verdict =
  /** `evidence`: left out by a judge that named none. */
  | { kind: 'verified'; evidence?: readonly StoryEvidence[] }
  /** `gate`: the one whose output shows it; left out where a judge says it. `detail`: what stands before that output. */
  | { kind: 'reset'; stories: string[]; reason: string; gate?: string; detail?: string }
  | { kind: 'limit'; notBefore: number | null; message: string }
  /** The agent cannot work at all: a person must act. */
  | { kind: 'refused'; message: string; fix?: string }
  | { kind: 'none'; message: string }
