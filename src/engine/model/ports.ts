// The ports of the loop: all that it needs from the outside. Adapters implement them.

import type {
  AttemptIn,
  AttemptWithCandidate,
  Candidate,
  Failure,
  GreenAttempt,
  Reservation,
  Session,
} from './attempt.ts'
import type { BranchEdit, EditedBranch } from './branch-edit.ts'
import type { Heard, Place, Suggestion } from './correction.ts'
import type { Counterexample } from './counterexample.ts'
import type { Command, Event, NoAnswer, Verdict } from './event.ts'
import type { GlueRun, SealedValue } from './example.ts'
import type { ChangeSize, Story } from './feature.ts'
import type { GateBaseline, GateResult, Screenshot } from './gate.ts'
import type { JoinedBranch } from './joined-branch.ts'
import type { Mutant } from './mutant.ts'
import type { AfterSteps, SessionStep } from './pipeline-step.ts'
import type { PlanTask, Proposal } from './plan-state.ts'
import type { SavedWork } from './saved-work.ts'
import type { Conclusion, State } from './state.ts'
import type { Step } from './step.ts'
import type { Usage } from './usage.ts'

export type Clock = {
  /** Epoch milliseconds. */
  now(): number
  /** Resolves after that time, or when the signal aborts; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The limits of a session, and its estimate if its vendor reports no usage; null: unlimited. */
export type SessionBounds = {
  timeoutMs: number
  budget: { costUsd: number | null; tokens: number | null }
  reserved: Reservation
  /** Called with the session's usage so far, as the vendor's stream or the proxy counts it. */
  onUsed?: (usage: Usage) => void
}

/** What a judge decides on: stories by their ids, and the results of the gates that just ran. */
export type JudgeTask = {
  stories: readonly string[]
  gates: readonly GateResult[]
  /** Screenshots of the pages of these stories; each is stored at its `picturePath`. */
  pictures?: readonly Screenshot[]
  /** Asks one question instead of a judgement: whether the stories ask for this change of what gates expect. */
  expectation?: Expectation
  /** Asks whether the criteria of the story ask for what this counterexample checks. `output`: of its red run. */
  counterexample?: Counterexample & { output: string }
  /** Nothing was changed for the story, so its green gates prove nothing. */
  isUnchanged?: true
}

/** What gates no longer check since a change of these files, or the earlier tests that are red on it. */
export type Expectation = {
  findings: readonly string[]
  paths: readonly string[]
  /** New packages, a line each: whether the stories need them. */
  packages?: readonly string[]
  /** Commits. */
  from: string
  to: string
}

/**
 * A session about a story's examples. `write`: examples for criteria, without any work in the tree; `known` are those that exist, with what
 * they expect. `glue`: a program that calls the product with what examples give; it never sees the expected values.
 */
export type ExamplesTask =
  | {
      kind: 'write'
      storyId: string
      known: readonly { criterion: number; given: unknown; expect: unknown }[]
    }
  | {
      kind: 'glue'
      storyId: string
      givens: readonly { example: number; criterion: number; given: unknown }[]
      /** What was wrong with the last glue; empty for the first. */
      message: string
    }

/** A session that answers in words, and whose writes are thrown away. `answer`: the question of a reviewer, which is this correction. */
export type WordsTask = ExamplesTask | { kind: 'answer'; storyId: string }

/** The answer of such a session as it wrote it, or why there is none. */
export type Words = { kind: 'words'; text: string } | NoAnswer

/** Seals values with a key that no worker has. `open` gives null for a box that this key does not open. */
export type SealPort = {
  seal(value: unknown): SealedValue
  open(value: unknown): { value: unknown } | null
}

/** Starts fresh sessions. A failing agent is a result, never an exception. */
export type AgentPort = {
  work(
    state: State,
    attempt: AttemptIn<'reserved'>,
    /** `conflict`: why the saved work is not in the tree, or null. `step`: the pipeline step that the session is. */
    how: SessionBounds & { conflict: string | null; step?: SessionStep },
    signal: AbortSignal,
  ): Promise<Session>
  /** Sets the project up, in the tree that the story's session then works in; null if there is no prompt for it. */
  setUp(
    state: State,
    attempt: AttemptIn<'reserved'>,
    bounds: SessionBounds,
    signal: AbortSignal,
  ): Promise<Session | null>
  /** Judges whether the checked-out tree meets the stories' criteria. */
  judge(
    state: State,
    task: JudgeTask,
    bounds: SessionBounds,
    signal: AbortSignal,
  ): Promise<{ verdict: Verdict; usage: Usage }>
  /** Proposes stories. The session may read the checked-out tree; the caller discards what it writes there. */
  plan(
    state: State,
    task: PlanTask,
    bounds: SessionBounds,
    signal: AbortSignal,
  ): Promise<{ proposal: Proposal; usage: Usage }>
  /** An answer about examples is in no log. Left out if the agent has no such sessions. */
  ask?(
    state: State,
    task: WordsTask,
    bounds: SessionBounds,
    signal: AbortSignal,
  ): Promise<{ answer: Words; usage: Usage }>
  /** Runs the pipeline steps after the commit, on the candidate that passed; left out if there are none. */
  afterwards?(
    state: State,
    attempt: GreenAttempt,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<AfterSteps>
}

export type GateRun = {
  of: 'baseline' | 'story' | 'join' | 'whole'
  /** Gates for these tags, and gates for every story; null: all. */
  tags: readonly string[] | null
  /** The stories whose work the gates check. */
  stories: readonly Story[]
  /** The prefix of the logs' names: `US-002-1` in `US-002-1-test.log`. */
  what: string
  /** `commit` is checked out; its change began at `from`. */
  commit: string
  from: string
  /** By gate; empty before the baseline. */
  baseline: Readonly<Record<string, GateBaseline>>
  /** Screenshots of the last green runs, the newest last. */
  pages?: readonly Screenshot[]
  /** Gates that run whatever their tags: each was red in the final verification, and the story has to make it green. */
  also?: readonly string[]
  /** Only these gates; those whose files they need run with them, and never end the run. */
  only?: readonly string[]
  /** They run after the gates: a judge left them, and the story has to make them green. */
  counterexamples?: readonly Counterexample[]
  /** Set if results also count for the final verification: the fork point, which gates get as the start of the change. */
  fork?: string
  /**
   * The commit holds the `checks` (all except the product), or the `product`, as they were before. `mutant`: it holds a mistake of
   * Ralph's. `base`: it is the base of the change. Only with the checks as they were, a red gate ends the run.
   */
  further?: 'checks' | 'product' | 'mutant' | 'base'
  /** The maximum time of each gate, in milliseconds, in addition to its own limit. */
  timeoutsMs?: Readonly<Record<string, number>>
}

/** A fresh clone in its own folder, with its own home and temporary folders, and no untracked file. Disposing it removes it. */
export type CleanRoom = AsyncDisposable & {
  /** Makes it a new checkout of this commit, so the next `prepare` installs everything again. */
  checkOut(commit: string): Promise<void>
  /** Puts tracked files back to the commit after a gate wrote into them. */
  restore(commit: string): Promise<boolean>
  ignored: Pick<IgnoredPort, 'afterPrepare' | 'forGatesAgain'>
  gates: Pick<GatesPort, 'run' | 'prepare'>
  /** Runs a command as the gates' user, after writing files that the tree does not have. Left out if the room cannot. */
  runGlue?(glue: GlueInRoom, signal: AbortSignal): Promise<GlueRun>
}

/** `givens`: the text of the file that RALPH_GIVENS names. */
export type GlueInRoom = {
  files: readonly { path: string; text: string }[]
  run: string
  givens: string
  timeoutMs: number
}

/** Runs gates. Disposing it ends the services that ran alongside them. */
export type GatesPort = Partial<AsyncDisposable> & {
  /** The gates in order; stops at the first blocking failure. */
  run(run: GateRun, signal: AbortSignal): Promise<GateResult[]>
  /** The names of the gates for these tags, and of those `also` to run. Left out: no gate runs on the base of a story. */
  names?(asked: Pick<GateRun, 'tags' | 'also'>): readonly string[]
  /** Runs the `prepare` command where the lockfiles differ from those of its last run; null if that is not needed. */
  prepare(commit: string, signal: AbortSignal, what?: string): Promise<GateResult | null>
  /** By gate, a digest of all that its result on the commit depends on; empty if its result is never reused. `base` is its RALPH_BASE. */
  keys?(commit: string, base: string): Promise<Readonly<Record<string, string>>>
  /** Whether a `prepare` command is configured. */
  readonly canPrepare: boolean
  /** Makes the next `prepare` run in any case, and in a new home if possible, so that nothing left outside the tree counts. */
  renew(): Promise<void>
}

/** Ignored files in the work tree: gates see none that a session made, and sessions none that gates made. */
export type IgnoredPort = {
  /**
   * Prepares the tree for gates. `canPrepare`: shared folders in which a session changed something are moved away as well, so that
   * `prepare` makes them again. Null if there are too many files to compare: gates see all of them then.
   */
  forGates(canPrepare: boolean): Promise<IgnoredWork | null>
  /** Prepares the tree for sessions, with the ignored files of earlier ones. */
  forSession(): Promise<void>
  /** Before a candidate's session: moves the ignored files of earlier sessions away, until the run ends. */
  forCandidate(): Promise<void>
  /** To be called after `prepare`: the files that it made are shared. */
  afterPrepare(): Promise<void>
  /** Between two runs of gates: removes what the first made, so that the second does not rely on it. */
  forGatesAgain(): Promise<void>
  /** Ignored files from before the run. Folders of only such files end in `/`. */
  fromBefore(): readonly string[]
  /** Puts all of them into one tree again. */
  restoreAll(): Promise<void>
}

/** Changes of a session to ignored files. Paths as git prints them; folders end in `/`. */
export type IgnoredWork = {
  /** Files that it made: moved away while gates run. */
  made: string[]
  /** Earlier files and folders in which it changed something. */
  changed: string[]
}

/**
 * A commit with the checks as they were. `paths`: the files in which it differs from the change. `touchesBase`: one of them existed before.
 * `kept`: files outside of the product that keep the packages of the change.
 */
export type EarlierChecks = { commit: string; paths: string[]; touchesBase: boolean; kept?: string[] }

/** `paths`: files of the story that the candidate undoes. `isAll`: nothing of the story is left. */
export type UndoneStory = { storyId: string; paths: string[]; isAll: boolean }

/** `code`: whether the result has code that no gate of the run has checked. */
export type JoinResult = JoinedBranch & { code: boolean }

/** The work tree and the objects of the repository, seen through Ralph's own git directory. */
export type RepositoryPort = {
  readonly ignored: IgnoredPort
  /** Makes the work tree exactly `commit` (with the story's saved work on top, if it applies); ignored files stay. */
  checkOut(commit: string, kept: SavedWork | null): Promise<{ conflict: string | null }>
  /** Like `checkOut` without saved work. In a tree that only Ralph uses, it also removes ignored files made since the job began. */
  renew(commit: string): Promise<void>
  /** Checks what the agent left, restores Ralph's own files, and builds the candidate commit. */
  inspect(state: State, attempt: AttemptIn<'worked'>, builtAt: number): Promise<Inspection>
  /**
   * Builds an attempt's candidate again on `state.green`, or gives the conflict. `state` is the run as it will be when that
   * commit has landed. The work tree is not touched.
   */
  rebase(
    state: State,
    attempt: AttemptWithCandidate,
  ): Promise<{ candidate: Candidate } | { conflict: Failure }>
  /** Puts the work tree back to `commit` after gates or a judge wrote into it; true when it had changed. */
  restore(commit: string): Promise<boolean>
  /**
   * Prepares the checked-out `commit` for a judge. It takes the documents for agents from `fork`, hides ignored files made since the
   * run began, and writes screenshots to their paths. `close`, after `restore`, brings the hidden files back.
   */
  openForJudge(
    fork: string,
    commit: string,
    pictures: readonly { path: string; blob: string }[],
  ): Promise<{ close(): Promise<void> }>
  /** The work that a candidate's commit holds, as it is saved for the story's next attempt. The work tree is not touched. */
  workOf(state: State, candidate: { base: string; commit: string }): Promise<SavedWork>
  /** Saves the story's work outside `.ralph/`, after the guard's filter. If it cannot be read, returns the earlier saved work. */
  saveWork(state: State, storyId: string): Promise<SavedWork | null>
  /**
   * Commits prd.json and progress.txt as the state has them, on top of `state.green`; the commit is null if nothing changed.
   * `documents`: the paths of people's documents that the commit updates. `unmarked`: ids of passed stories that could not be
   * marked there; left out if the documents were not examined.
   */
  record(
    state: State,
    subject: string,
  ): Promise<{ commit: string | null; documents: string[]; unmarked?: string[] }>
  /**
   * Joins people's branch head with the green commit. If they conflict, people's version stays and the stories are reverted.
   * `refused`: people rewrote the branch, and no `run` asked Ralph to accept that (`job.takesBranch`).
   */
  join(state: State, theirs: string): Promise<JoinResult | { refused: string }>
  /**
   * The checks as they were: a commit like `from` with only the product of the change. It is `from` itself if only checks changed, and null
   * if it would equal the change. `fork`: the commit that no agent wrote. `but`: paths that keep their change, since it was asked for.
   * `only`: no other paths. `red`: the tree on which gates were red before. Files outside of the product that only this tree has are taken
   * from it. `newPackages`: manifests and lockfiles keep their packages.
   */
  asItWas(
    from: string,
    to: string,
    which: {
      fork: string
      but?: readonly string[]
      only?: readonly string[]
      red?: string
      newPackages?: boolean
    },
  ): Promise<EarlierChecks | null>
  /** The product as it was: a commit like `to` with the product of `from`, or null if it would equal `from` or `to`. */
  withoutProduct(
    from: string,
    to: string,
    fork: string,
  ): Promise<{ commit: string | null; changesProduct: boolean }>
  /** At most `count` one-line mistakes for the new product code of a change. */
  mutants(from: string, to: string, options: { fork: string; count: number }): Promise<Mutant[]>
  /** A commit like `to` with this mistake; null if its line is not there. */
  withMutant(to: string, mutant: Mutant): Promise<string | null>
  /**
   * The commits from the fork point to the green one, the oldest first, each with its story. Commits of people have none, and
   * `paths` are the files that they changed.
   */
  history(state: State): Promise<{ commit: string; storyId: string | null; paths: string[] }[]>
  /** Makes the commit of an edit, with conflict markers in a tree if it conflicts. The work tree is not touched. */
  edit(state: State, edit: BranchEdit): Promise<EditedBranch>
  /** The tree of the green commit with the suggestions that still fit, and how many these are; null if none does. */
  suggested?(
    state: State,
    suggestions: readonly Suggestion[],
  ): Promise<{ base: string; tree: string; count: number } | null>
  /** The story whose commit wrote these lines of the green commit last; null if it was none of this run. */
  storyAt(state: State, place: Place): Promise<string | null>
  /** What changed between two commits. Left out: nothing is recorded. */
  changeSize?(from: string, to: string): Promise<ChangeSize>
  /** Earlier stories whose files the candidate puts back as they were before them. Left out: this is not checked. */
  undone?(state: State, candidate: string): Promise<UndoneStory[]>
  /** How many lines of the product a change added and removed. Those of tests, settings and documents do not count. */
  productLines(state: State, from: string, to: string): Promise<number>
  /** New files that a judge left in the work tree, within bounds. Left out: its counterexamples do not run here. */
  leftFiles?(commit: string): Promise<Counterexample['files']>
  /** The lines of a commit that the feature wrote, by file and without Ralph's own files; null if its fork point is not known. */
  writtenLines?(state: State, commit: string): Promise<ReadonlyMap<string, readonly number[]> | null>
  /** A file's text at a commit, or null. Texts for agents are read this way, so that no session can have changed them. */
  read(commit: string, path: string): Promise<string | null>
}

/** `touched`: the files that a candidate alongside others changes, or their folders. */
export type Inspection =
  | { kind: 'candidate'; candidate: Candidate; touched?: readonly string[] }
  | { kind: 'refused'; failure: Failure }

export type StorePort = {
  /**
   * The state as another worker of the same wave saved it, with the commits of its candidates. Left out if a run is a single process.
   * Throws LeaseLost when the lease is no longer ours.
   */
  loadNewest?(ours: State): Promise<State>
  /** Makes the state durable (one compare-and-swap). Throws LeaseLost when another run has taken the feature. */
  save(state: State): Promise<void>
  /**
   * Makes the state durable until the next save, without a request and without git. Left out if there is a remote. Throws LeaseLost when
   * another run has taken the feature.
   */
  note?(state: State): Promise<void>
  /** One atomic push of the state and, if asked, the branch. */
  publish(
    state: State,
    withBranch: boolean,
  ): Promise<
    | { kind: 'published' }
    | { kind: 'diverged'; theirs: string }
    | { kind: 'refused'; reason: string }
    /** The token for the branch has expired: a new job gets a new one. */
    | { kind: 'expired'; reason: string }
  >
  /**
   * The branch head if people moved it, or `gone` if they deleted it; null if the branch is as Ralph left it. `isAnew`: the remote is
   * read now; else an answer of it, at most a minute old, is used if there is one.
   */
  peoplesHead(state: State, isAnew: boolean): Promise<{ head: string } | 'gone' | null>
  /** The head of the base branch, fetched, if the green commit does not contain it; else null. Left out without a remote. */
  baseHead?(state: State): Promise<string | null>
  /** Makes a deleted branch again, at the green commit. */
  restore(state: State): Promise<{ kind: 'published' } | { kind: 'refused'; reason: string }>
}

/** Commands of people, in order, after `state.control.lastComment`. */
export type QueuePort = {
  /** Whether the queue works without the network. */
  isLocal?: true
  /** Reads and acknowledges them. */
  read(state: State): Promise<Command[]>
  /** Whether a command waits that needs a job; reads only. */
  waiting(state: State): Promise<boolean>
  /** Whether a command has arrived that ends a wait; works without the network. */
  arrived(state: State): Promise<boolean>
}

/** What the pull request says besides commands. Errors are warnings: it is read again later. */
export type CorrectionPort = {
  read(state: State): Promise<Heard>
}

/** `runId` is null if it is not known; `until`: when the rate limit ends, epoch milliseconds. */
export type DispatchResult = { kind: 'dispatched'; runId: number | null } | { kind: 'limited'; until: number }

export type DispatchPort = {
  /** Starts the next job. Throws when it was refused. */
  dispatch(state: State): Promise<DispatchResult>
}

/** Watches a run, such as a terminal or a notifier. An error in one is a warning, and changes nothing. */
export type Observer = {
  /** Before a step is performed; `state` is the one before it. */
  step?(step: Step, state: State): Promise<void>
  /** When an event is durable; `state` is the one after it. */
  event?(event: Event, state: State): Promise<void>
  /** When the job is over, however it ended: finishes what is still under way, within seconds. */
  settle?(): Promise<void>
}

/** The pull request and the checks on its commits. Each method gives the ids that it learned; its own errors are warnings. */
export type PullRequestPort = {
  /** Called before the branch moves away from the head with open checks. Checks that could not be closed are in the answer. */
  beforePublish(state: State, head: string): Promise<State['github']>
  /** `isNew`: the push before made the branch. */
  opened(state: State, isNew?: boolean): Promise<State['github']>
  /** The ids that posts in the background got since the last call; waits for these posts, for some seconds, or until `signal`. */
  newIds(signal: AbortSignal): Promise<Partial<State['github']>>
  finished(state: State, conclusion: Conclusion): Promise<State['github']>
  merged(state: State): Promise<boolean>
}

/** A work tree for one attempt at a time, parallel to others. Disposing it removes its files. */
export type Lane = AsyncDisposable &
  Pick<Ports, 'agent' | 'gates' | 'repository'> & {
    /** Assigns it to the attempt at this story. */
    assign(storyId: string): void
  }

export type Ports = {
  clock: Clock
  /** At least 0, below 1. */
  random(): number
  agent: AgentPort
  gates: GatesPort
  /** Null if gates only run in the work tree: `clean-room: off`, and jobs that only take over results. */
  openCleanRoom: ((state: State) => Promise<CleanRoom>) | null
  repository: RepositoryPort
  /** With `examples: sealed`. */
  seal?: SealPort
  /** Opens one more lane; left out if stories are worked on one after the other. */
  openLane?(state: State): Promise<Lane>
  store: StorePort
  queue: QueuePort
  /** Left out if there is no pull request that could be read. */
  corrections?: CorrectionPort
  dispatch: DispatchPort
  observers: readonly Observer[]
  pullRequest: PullRequestPort
  warn(message: string): void
  signal: AbortSignal
}

/** Another run holds the feature: this process must no longer push or change anything. */
export class LeaseLost extends Error {
  constructor(detail: string) {
    super(`another run has taken over this feature: ${detail}`)
    this.name = 'LeaseLost'
  }
}

/** An entry is looked up by both; `version` is a digest of what it is made from. */
export type CacheEntry = { key: string; version: string }

/** Files cached between jobs. All methods reject if the service does not answer: callers must work without it. */
export interface FileCache {
  /** Writes the entry to `file`, which must not exist yet; false if there is no such entry. */
  get(entry: CacheEntry, file: string, signal: AbortSignal): Promise<boolean>
  put(entry: CacheEntry, file: string, signal: AbortSignal): Promise<void>
}
