// Events of a run and commands of people. `reduce` turns them into state.

import type { AttemptId, Candidate, Failure, Session } from './attempt.ts'
import type { BranchEdit, BuiltEdit } from './branch-edit.ts'
import type { CorrectionRequest, Holds } from './correction.ts'
import type { Counterexample, Weighed } from './counterexample.ts'
import type { Example, ExampleResult } from './example.ts'
import type { ChangeSize, StoryEvidence } from './feature.ts'
import type { GateBaselines, GateResult } from './gate.ts'
import type { JoinedBranch, RevertedStory } from './joined-branch.ts'
import type { Mutant } from './mutant.ts'
import type { AfterSteps } from './pipeline-step.ts'
import type { Proposal } from './plan-state.ts'
import type { SavedWork } from './saved-work.ts'
import type { Conclusion, GithubIds } from './state.ts'
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
  /** The base branch is merged into the branch. */
  | { kind: 'update' }
  /** The commits of passed stories are reverted. */
  | { kind: 'drop'; stories: string[]; guidance: string }
  /** A correction. `story`: whose work it corrects; null: the feature's. */
  | { kind: 'fix'; story: string | null; text: string }
  /** Finished stories leave prd.json. */
  | { kind: 'archive' }
  | { kind: 'split'; story: string; guidance: string }
  | { kind: 'plan'; guidance: string }
  /** `story`: whose split is approved; null: the plan of the feature. `digest`: of the approved text; null: as shown last. */
  | { kind: 'approve'; story: string | null; digest: string | null }
  /** New packages, by name in lower case. */
  | { kind: 'allow'; packages: string[] | 'all' }
  | { kind: 'limit'; what: 'iterations' | 'cost'; amount: number }
  | { kind: 'refused' }
)

/** Usage of a judge or planner that was cut short. `storyId` is null if it was about the whole feature. */
export type SpentUsage = { storyId: string | null; kind: SessionKind; usage: Usage }

/** An event; `at` is epoch milliseconds. Only `reduce` turns events into state. */
export type Event = {
  at: number
} & (
  | {
      kind: 'synced'
      commands: Command[]
      theirs: { head: string } | 'merged' | 'deleted' | null
      /** context.md on the branch while a plan waits for approval, since an approval covers it as well. */
      context?: string
      /** Corrections that reviews and checks ask for. */
      requests?: CorrectionRequest[]
      holds?: Partial<Holds>
      /** The head of the base branch, if the branch does not contain it. */
      baseHead?: string
    }
  /** People's commits are joined. `join-built`: they have code, so the gates are next. */
  | ({ kind: 'joined'; theirs: string } & JoinedBranch)
  | ({ kind: 'join-built'; theirs: string } & JoinedBranch)
  /** `broken`: the story that makes a gate red there, if it is known. */
  | { kind: 'join-gated'; gates: GateResult[]; broken: RevertedStory | null }
  | { kind: 'restored' }
  | { kind: 'join-failed'; summary: string }
  | { kind: 'prepared' }
  | { kind: 'baselined'; gates: GateResult[] }
  /** `context`: context.md of a plan in the first commit. */
  | { kind: 'opened'; green: string; github: GithubIds; context?: string }
  /** `worker`: the worker of a wave that has the attempt. `github`: new ids of pull request and comment since the last save. */
  | { kind: 'reserved'; storyId: string; worker?: string; github?: Partial<GithubIds> }
  /** A worker takes a free attempt, or (null) leaves its own attempt to any other worker. */
  | (AttemptId & { kind: 'assigned'; worker: string | null })
  /** A worker has to end in the middle of an attempt. */
  | (AttemptId & { kind: 'abandoned'; why: string; spent: SpentUsage | null })
  /** The job that had the attempt handed nothing over that could be used. */
  | (AttemptId & { kind: 'lost'; why: string })
  | (AttemptId & { kind: 'worked'; session: Session })
  /** `touched`: the files that it changes, or their folders; only of an attempt in parallel. */
  | (AttemptId & { kind: 'guarded'; candidate: Candidate; touched?: readonly string[] })
  | (AttemptId & { kind: 'refused'; failure: Failure })
  /** The candidate was rebased onto another commit; its gates have to run again. */
  | (AttemptId & { kind: 'rebased'; base: string; candidate: Candidate })
  /** Its change conflicts with commits that landed meanwhile. */
  | (AttemptId & { kind: 'conflicted'; failure: Failure })
  /**
   * `paths`: files that were put back to their earlier version for the run with the checks as they were. `unproved`: the product changed,
   * and no gate fails without that change. `unnoticed`: no gate fails with any of these mistakes in the new code. `base`: the baselines of gates that first ran on the attempt's base.
   */
  | (AttemptId & {
      kind: 'gated'
      commit: string
      gates: GateResult[]
      base?: GateBaselines
      paths?: string[]
      unproved?: true
      unnoticed?: Mutant[]
    })
  /** `answer.examples`: all examples of the story, each expected value sealed. */
  | { kind: 'exampled'; storyId: string; answer: ExamplesAnswer; usage: Usage }
  | { kind: 'answered'; storyId: string; answer: QuestionAnswer; usage: Usage }
  | (AttemptId & { kind: 'tried'; commit: string; answer: TriedAnswer; usage: Usage })
  | (AttemptId & { kind: 'judged'; verdict: Verdict; usage: Usage })
  /** `undone`: earlier stories whose work this commit removed. */
  | (AttemptId & {
      kind: 'accepted'
      commit: string
      after?: AfterSteps
      undone?: string[]
      changed?: ChangeSize
    })
  /** One of several candidates is done. `lines`: how many lines it added and removed; null if it failed, and `kept` is its work. */
  | (AttemptId & { kind: 'entered'; lines: number | null; kept: SavedWork | null })
  /** This story gets no further candidates: one of the existing ones is chosen. */
  | { kind: 'decided'; storyId: string }
  | (AttemptId & { kind: 'rejected'; kept: SavedWork | null })
  | (AttemptId & { kind: 'returned'; kept: SavedWork | null })
  /** Every gate is green on the whole feature, so that a judge is next. `usage`: of a judge about what gates no longer check. */
  | { kind: 'whole-gated'; gates: GateResult[]; usage: Usage }
  /** The final verification has its verdict, by a red gate or by a judge. */
  | { kind: 'verified'; gates: GateResult[]; verdict: Verdict; usage: Usage; weighed?: Weighed }
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
  /** An edit of the branch is a commit, and the gates decide on it. */
  | { kind: 'edit-built'; built: BuiltEdit }
  | { kind: 'edit-gated'; gates: GateResult[] }
  /** The branch was edited without a session. `green`: its new commit; `refused`: why it stays; `request`: what a session has to do. */
  | { kind: 'edited'; edit: BranchEdit; green?: string; refused?: string; request?: CorrectionRequest }
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
  /** `attempt`: the attempt that cannot begin and is returned uncharged. */
  | { kind: 'failed'; summary: string; fix: string; attempt?: AttemptId }
)

export type EventOf<K extends Event['kind']> = Extract<Event, { kind: K }>

type Row = {
  /** Whether the state is saved before the loop continues. A crash can lose other events, at most those of one iteration. */
  isDurable: boolean
  /** Whether it is a result for the whole feature: a baseline, a join, a final verification or a plan. */
  isForFeature: boolean
  /** Whether the other workers of a wave must get the event before this worker continues, because their next step depends on it. */
  isShared: boolean
}

const PASSING: Row = { isDurable: false, isForFeature: false, isShared: false }
const DURABLE: Row = { isDurable: true, isForFeature: false, isShared: true }
const SHARED: Row = { isDurable: false, isForFeature: false, isShared: true }

export const EVENTS = {
  synced: PASSING,
  joined: { isDurable: false, isForFeature: true, isShared: false },
  restored: PASSING,
  'join-built': PASSING,
  'join-gated': { isDurable: false, isForFeature: true, isShared: false },
  'edit-built': PASSING,
  'edit-gated': { isDurable: false, isForFeature: true, isShared: false },
  'join-failed': { isDurable: true, isForFeature: true, isShared: true },
  prepared: PASSING,
  baselined: { isDurable: false, isForFeature: true, isShared: false },
  opened: PASSING,
  reserved: DURABLE,
  assigned: DURABLE,
  abandoned: DURABLE,
  lost: DURABLE,
  worked: PASSING,
  guarded: SHARED,
  refused: PASSING,
  rebased: SHARED,
  conflicted: PASSING,
  gated: PASSING,
  exampled: DURABLE,
  answered: DURABLE,
  tried: PASSING,
  judged: PASSING,
  accepted: DURABLE,
  entered: DURABLE,
  decided: DURABLE,
  rejected: DURABLE,
  returned: DURABLE,
  'whole-gated': SHARED,
  verified: { isDurable: true, isForFeature: true, isShared: true },
  planned: { isDurable: true, isForFeature: true, isShared: true },
  concluded: PASSING,
  pushed: PASSING,
  published: PASSING,
  edited: DURABLE,
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

/** What a session that writes examples, or a glue, could not do. */
export type NoAnswer =
  | { kind: 'limit'; notBefore: number | null; message: string }
  | { kind: 'refused'; message: string; fix?: string }
  | { kind: 'none'; message: string }

export type ExamplesAnswer =
  | { kind: 'written'; examples: Example[]; none: { criterion: number; why: string }[] }
  /** An example contradicts a criterion, or another example: people decide. */
  | { kind: 'contradiction'; why: string }
  | NoAnswer

/** `change`: the thread asks for a change after all. */
export type QuestionAnswer = { kind: 'words'; text: string } | { kind: 'change' } | NoAnswer

/** `tried`: the result of each example. Without a usable glue each of them is `none`. */
export type TriedAnswer = { kind: 'tried'; results: ExampleResult[] } | Exclude<NoAnswer, { kind: 'none' }>

/** The judge's verdict. `none`: the session failed or gave no verdict, which approves nothing. */
export type Verdict =
  /** `evidence`: left out if the judge named none. */
  | { kind: 'verified'; evidence?: readonly StoryEvidence[] }
  /** `gate`: the gate whose output shows it; left out if a judge decided. `detail`: text before that output. */
  | {
      kind: 'reset'
      stories: string[]
      reason: string
      gate?: string
      detail?: string
      /** What a judge left to show it, before it ran. */
      counterexamples?: readonly Counterexample[]
    }
  | { kind: 'limit'; notBefore: number | null; message: string }
  /** The agent cannot work at all, and a person must act. */
  | { kind: 'refused'; message: string; fix?: string }
  | { kind: 'none'; message: string }
