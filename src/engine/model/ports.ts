// What the loop needs from the world. Adapters implement these; the loop knows nothing else.

import type { AttemptIn, AttemptWithCandidate, Candidate, Failure, Reservation, Session } from './attempt.ts'
import type { Command, Event, JoinedBranch, Verdict } from './event.ts'
import type { Story } from './feature.ts'
import type { GateBaseline, GateResult, Screenshot } from './gate.ts'
import type { AfterSteps, SessionStep } from './pipeline-step.ts'
import type { PlanTask, Proposal } from './plan-state.ts'
import type { Conclusion, SavedWork, State } from './state.ts'
import type { Step } from './step.ts'
import type { Usage } from './usage.ts'

export type Clock = {
  /** Epoch milliseconds. */
  now(): number
  /** Comes back after that time, or when the signal aborts; never throws. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** What a session may take, and what it counts as where its vendor does not say; null without a bound. */
export type SessionBounds = {
  timeoutMs: number
  budget: { costUsd: number | null; tokens: number | null }
  reserved: Reservation
  /** What the vendor's stream, or the proxy, has counted of the session so far; called as that grows. */
  onUsed?: (usage: Usage) => void
}

/** The stories by their ids, and what the gates have just said of the tree. */
export type JudgeTask = {
  stories: readonly string[]
  gates: readonly GateResult[]
  /** Of the pages of these stories; each lies where `picturePath` says. */
  pictures?: readonly Screenshot[]
  /** The one question, in the place of a judgement: whether the stories ask for this change of what gates expect. */
  expectation?: Expectation
  /** Nothing was changed for the story: its gates were green before it, and show nothing of it. */
  isUnchanged?: true
}

/** What gates no longer check, or say against the tests as they were, since a change of these files. */
export type Expectation = {
  findings: readonly string[]
  paths: readonly string[]
  /** Commits. */
  from: string
  to: string
}

/** Starts fresh sessions. Never throws for what the agent does. */
export type AgentPort = {
  work(
    state: State,
    attempt: AttemptIn<'reserved'>,
    /** `conflict`: why the work of earlier attempts is not in the tree, or null. `step`: which one of a pipeline it is. */
    how: SessionBounds & { conflict: string | null; step?: SessionStep },
    signal: AbortSignal,
  ): Promise<Session>
  /** Sets the project up, in the tree that the story's session then finds; null where nobody wrote how. */
  setUp(
    state: State,
    attempt: AttemptIn<'reserved'>,
    bounds: SessionBounds,
    signal: AbortSignal,
  ): Promise<Session | null>
  /** Judges whether the stories' criteria are met by the tree as it stands. */
  judge(
    state: State,
    task: JudgeTask,
    bounds: SessionBounds,
    signal: AbortSignal,
  ): Promise<{ verdict: Verdict; usage: Usage }>
  /** Proposes stories. The session may read the tree as it stands; what it writes there is thrown away by the caller. */
  plan(
    state: State,
    task: PlanTask,
    bounds: SessionBounds,
    signal: AbortSignal,
  ): Promise<{ proposal: Proposal; usage: Usage }>
  /** The steps of a pipeline behind the commit, on the candidate that passed; left out where there are none. */
  afterwards?(
    state: State,
    attempt: AttemptIn<'gated' | 'judged'>,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<AfterSteps>
}

export type GateRun = {
  of: 'baseline' | 'story' | 'join' | 'whole'
  /** Those for these tags, and those for every story; null: all. */
  tags: readonly string[] | null
  /** Whose work is looked at. */
  stories: readonly Story[]
  /** In the names of the logs: `US-002-1-test.log`. */
  what: string
  /** The commit that is checked out, and the one that its change began at. */
  commit: string
  from: string
  /** By gate; empty before the baseline. */
  baseline: Readonly<Record<string, GateBaseline>>
  /** How pages looked when they last were green, the newest last. */
  pages?: readonly Screenshot[]
  /** Gates that run whatever their tags: each was red on the whole, and the story has to make it green. */
  also?: readonly string[]
  /** Only these gates; those whose files they need run with them, and never end the run. */
  only?: readonly string[]
  /** What is green counts for the final verification, too: gates are told of the change what they would be told there, from this commit. */
  fork?: string
  /** The commit has files of tests as they were before the change. */
  asItWas?: true
}

/**
 * A fresh clone in a folder of its own, with a home and temporary folders of its own and no file that a commit does not hold.
 * Removed when it is disposed of.
 */
export type CleanRoom = AsyncDisposable & {
  /** Makes it a new checkout of this commit; the next `prepare` installs from nothing. */
  checkOut(commit: string): Promise<void>
  /** Puts tracked files back to the commit after a gate wrote into them. */
  restore(commit: string): Promise<boolean>
  ignored: Pick<IgnoredPort, 'prepared' | 'forGatesAgain'>
  gates: Pick<GatesPort, 'run' | 'prepare'>
}

/** Ends, when it is disposed of, what gates had beside them. */
export type GatesPort = Partial<AsyncDisposable> & {
  /** Its results go from job to job, and stand for the commit that is handed over alone. */
  readonly isHandedOver?: true
  /** The gates in order; stops at the first blocking failure. */
  run(run: GateRun, signal: AbortSignal): Promise<GateResult[]>
  /** Runs the `prepare` command where the commit's lockfiles are not those that it last ran for; null when it need not. */
  prepare(commit: string, signal: AbortSignal, what?: string): Promise<GateResult | null>
  /** By gate what its result on the commit depends on, as a digest; empty for one whose result never counts again. */
  keys?(commit: string): Promise<Readonly<Record<string, string>>>
  /** Whether there is a command for it. */
  readonly canPrepare: boolean
  /** Forgets what programs left outside the tree: the next `prepare` runs in any case, as far as possible in a new home. */
  renew(): Promise<void>
}

/** Files in the work tree that no commit holds: gates see none that a session made, and sessions none that gates made. */
export type IgnoredPort = {
  /**
   * The tree for gates. `canPrepare`: folders that are for all, and in which a session changed something, go too, so that
   * `prepare` makes them again. Null where there is too much to look at, and gates see all of it.
   */
  forGates(canPrepare: boolean): Promise<IgnoredWork | null>
  /** The tree for sessions, with what earlier ones left there. */
  forSession(): Promise<void>
  /** `prepare` has run: what it made is for all. */
  prepared(): Promise<void>
  /** Between two runs of gates: what the first made goes, so that the second does not believe it. */
  forGatesAgain(): Promise<void>
  /** What is for all: what was there before anything ran, and what `prepare` made. Folders that hold nothing else end in `/`. */
  shared(): readonly string[]
  /** All in one tree again. */
  reunite(): Promise<void>
}

/** What a session did to ignored files: paths as git has them, folders ending in `/`. */
export type IgnoredWork = {
  /** Made by it, and out of the tree while gates run. */
  made: string[]
  /** What was there before, and in which it changed something. */
  changed: string[]
}

/** The work tree and the objects of the repository, seen through Ralph's own git directory. */
export type RepositoryPort = {
  readonly ignored: IgnoredPort
  /** Makes the work tree exactly `commit` (with the story's kept work on top, where it applies); ignored files stay. */
  checkOut(commit: string, kept: SavedWork | null): Promise<{ conflict: string | null }>
  /** The same for `commit` alone, without ignored files that came since the job began, where the tree is Ralph's own. */
  renew(commit: string): Promise<void>
  /** Checks what the agent left, restores what is Ralph's, and builds the candidate commit. */
  inspect(state: State, attempt: AttemptIn<'worked'>, builtAt: number): Promise<Inspection>
  /**
   * An attempt's candidate, built anew on `state.green`, or why it does not fit there. `state` is the run as it stands when that
   * commit has landed; the work tree is left alone.
   */
  rebase(
    state: State,
    attempt: AttemptWithCandidate,
  ): Promise<{ candidate: Candidate } | { conflict: Failure }>
  /** Puts the work tree back to `commit` after gates or a judge wrote into it; true when it had changed. */
  restore(commit: string): Promise<boolean>
  /**
   * Makes `commit`, which is checked out, what a judge may see: documents for agents are those of `fork`, and ignored files
   * that came since the run began are put aside; pictures of pages stand at their paths. `close` brings back what was, when the commit is restored.
   */
  openForJudge(
    fork: string,
    commit: string,
    pictures: readonly { path: string; blob: string }[],
  ): Promise<{ close(): Promise<void> }>
  /** The story's work as it stands beside `.ralph/`, after the guard's filter; what was kept before where it cannot be read. */
  keep(state: State, storyId: string): Promise<SavedWork | null>
  /**
   * A commit on top of `state.green` that holds prd.json and progress.txt as the state says, or null if nothing changed. `documents`:
   * the paths of people's documents that it brings up to date. `unmarked`: ids of stories that passed and could not be marked there.
   */
  record(
    state: State,
    subject: string,
  ): Promise<{ commit: string; documents: string[]; unmarked?: string[] } | null>
  /**
   * Brings `theirs` and our green commit together; where they conflict, theirs stays and our stories are taken back.
   * `refused`: people rewrote the branch, and nobody said that it is to be taken as it is (`job.takesBranch`).
   */
  join(state: State, theirs: string): Promise<JoinedBranch | { refused: string }>
  /**
   * A commit like `to`, but that the files which its gates' tests and settings are made of stand as they were at `from`; null
   * where the change between them touches none. `but`: paths whose change was asked for. `only`: no others. `red`: the tree on
   * which gates were red before, whose tests stand as they were there, though `from` does not have them.
   */
  asItWas(
    from: string,
    to: string,
    which: { but?: readonly string[]; only?: readonly string[]; red?: string },
  ): Promise<{ commit: string; paths: string[] } | null>
  /**
   * The commits from the fork point to the green one, the oldest first, each with the story of this run that it is. Of the others,
   * which people made, `paths` are the files that they changed.
   */
  history(state: State): Promise<{ commit: string; storyId: string | null; paths: string[] }[]>
  /** A file's text at a commit, or null: what agents read there is Ralph's or people's, never the session's. */
  read(commit: string, path: string): Promise<string | null>
}

export type Inspection = { kind: 'candidate'; candidate: Candidate } | { kind: 'refused'; failure: Failure }

export type StorePort = {
  /**
   * The state as another worker of the same wave has left it, with the commits of its candidates; left out where a run is one
   * process. Throws LeaseLost when the lease is not ours any more.
   */
  newest?(ours: State): Promise<State>
  /** Makes the state durable (one compare-and-swap). Throws LeaseLost when somebody else has the feature. */
  save(state: State): Promise<void>
  /** One atomic push of state and, where asked, branch. */
  publish(
    state: State,
    withBranch: boolean,
  ): Promise<
    | { kind: 'published' }
    | { kind: 'diverged'; theirs: string }
    | { kind: 'refused'; reason: string }
    /** The token that pushes the branch is over: a fresh job has a fresh one. */
    | { kind: 'expired'; reason: string }
  >
  /** A branch head that we do not know, or `gone`; null when the branch is where we left it. */
  theirs(state: State): Promise<{ head: string } | 'gone' | null>
  /** Makes a branch that is gone again, at the green commit. */
  restore(state: State): Promise<{ kind: 'published' } | { kind: 'refused'; reason: string }>
}

/** Commands of people, in order, after `state.control.lastComment`. */
export type QueuePort = {
  /** Whether reading asks nobody over a network. */
  isLocal?: true
  /** Reads and acknowledges them. */
  read(state: State): Promise<Command[]>
  /** Whether there is one that wants work; touches nothing. */
  waiting(state: State): Promise<boolean>
  /** Whether there is one that ends a wait; asks nobody over a network. */
  arrived(state: State): Promise<boolean>
}

/** `runId` is null where it is not known; `until`: when a rate limit lets it be tried again, epoch milliseconds. */
export type DispatchResult = { kind: 'dispatched'; runId: number | null } | { kind: 'limited'; until: number }

export type DispatchPort = {
  /** Starts the next job. Throws when it was refused. */
  dispatch(state: State): Promise<DispatchResult>
}

/** Watches a run, such as a terminal or a notifier. What goes wrong in one is a warning, and changes nothing. */
export type Observer = {
  /** Before a step is performed; `state` is the one before it. */
  step?(step: Step, state: State): Promise<void>
  /** When what happened is durable; `state` is the one after it. */
  event?(event: Event, state: State): Promise<void>
  /** When the job is over, however it ended: the last chance for what is still under way, for seconds at most. */
  settle?(): Promise<void>
}

/** The feature's page for people, and what stands on its commits. Gives what it learns; its own errors are warnings. */
export type PullRequestPort = {
  /** The branch is about to move away from the head that checks stand on. What is left to do there is in the answer. */
  beforePublish(state: State, head: string): Promise<State['github']>
  opened(state: State): Promise<State['github']>
  finished(state: State, conclusion: Conclusion): Promise<State['github']>
  merged(state: State): Promise<boolean>
}

/** A work tree of its own for an attempt, beside others; what is in it goes when it is disposed of. */
export type Lane = AsyncDisposable &
  Pick<Ports, 'agent' | 'gates' | 'repository'> & {
    /** Whose attempt it is for from now on. */
    takes(storyId: string): void
  }

export type Ports = {
  clock: Clock
  agent: AgentPort
  gates: GatesPort
  /** Null where gates run in the work tree alone: `clean-room: off`, and jobs that only take over results. */
  openCleanRoom: ((state: State) => Promise<CleanRoom>) | null
  repository: RepositoryPort
  /** Opens one more; left out where stories are worked on one after the other. */
  openLane?(state: State): Promise<Lane>
  store: StorePort
  queue: QueuePort
  dispatch: DispatchPort
  observers: readonly Observer[]
  pullRequest: PullRequestPort
  warn(message: string): void
  signal: AbortSignal
}

/** Somebody else holds the feature: this process moves nothing any more. */
export class LeaseLost extends Error {
  constructor(detail: string) {
    super(`another run has taken this feature over: ${detail}`)
    this.name = 'LeaseLost'
  }
}

/** An entry is found by both; what it is made of goes into `version`. */
export type CacheEntry = { key: string; version: string }

/** Files kept between jobs. Both reject where the service does not answer, and nothing may depend on either. */
export interface FileCache {
  /** Writes the entry to a file that is not there yet; false where there is none. */
  get(entry: CacheEntry, file: string, signal: AbortSignal): Promise<boolean>
  put(entry: CacheEntry, file: string, signal: AbortSignal): Promise<void>
}
