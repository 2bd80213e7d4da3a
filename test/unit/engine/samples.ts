// What the loop's tests share: states, limits, sessions and gates to begin with, and a job driven by a script.

import { type AttemptIn, type Candidate, idOf, type Session } from '../../../src/engine/model/attempt.ts'
import type { Command, Event } from '../../../src/engine/model/event.ts'
import type { Outcome, Story } from '../../../src/engine/model/feature.ts'
import type { GateResult } from '../../../src/engine/model/gate.ts'
import { emptyControl, newJob, openAttempt } from '../../../src/engine/model/job.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { IgnoredPort } from '../../../src/engine/model/ports.ts'
import type { Conclusion, State } from '../../../src/engine/model/state.ts'
import type { Step } from '../../../src/engine/model/step.ts'
import { emptyUsage, type SessionEntry, type Usage } from '../../../src/engine/model/usage.ts'
import { VERSION } from '../../../src/engine/model/version.ts'
import { nextStep } from '../../../src/engine/next-step.ts'
import { mustAskQuestions } from '../../../src/engine/planning/plan-questions.ts'
import { emptyRun, newStory } from '../../../src/engine/prd/schema.ts'
import { reduce } from '../../../src/engine/reduce.ts'

/** 2026-01-10 14:05 UTC. */
export const NOW = Date.UTC(2026, 0, 10, 14, 5)
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

/** An event as a script says it: it is of the attempt in work, where it names none. */
export type Happening = Event extends infer E
  ? E extends { kind: 'reserved' }
    ? Omit<E, 'at'>
    : E extends { storyId: string }
      ? Omit<E, 'at' | 'storyId'> & { storyId?: string }
      : Omit<E, 'at'>
  : never

export function eventOf(happened: Happening, state: State, at: number): Event {
  // Every event of an attempt gets its story here; the others do not look at it.
  const open = openAttempt(state)
  const id = open === null ? { storyId: '' } : idOf(open)
  return { ...id, ...happened, at } as Event
}

/** The attempt in work, which has its session and nothing more. */
export function workedIn(state: State): AttemptIn<'worked'> {
  const attempt = openAttempt(state)
  if (attempt?.phase !== 'worked') throw new Error(`no attempt has worked: ${attempt?.phase}`)
  return attempt
}

/** The attempt in work, whose session has not begun. */
export function reservedIn(state: State): AttemptIn<'reserved'> {
  const attempt = openAttempt(state)
  if (attempt?.phase !== 'reserved') throw new Error(`no attempt is reserved: ${attempt?.phase}`)
  return attempt
}

/** A work tree in which nobody makes ignored files. */
export const NO_IGNORED: IgnoredPort = {
  forGates: async () => ({ made: [], changed: [] }),
  forGatesAgain: async () => {},
  forSession: async () => {},
  forCandidate: async () => {},
  afterPrepare: async () => {},
  fromBefore: () => [],
  restoreAll: async () => {},
}

export function built(commit: string, empty = false, remarks: string[] = []): Candidate {
  return { commit, empty, remarks, builtAt: NOW }
}

/** An attempt before its session. */
export const RESERVED: AttemptIn<'reserved'> = {
  phase: 'reserved',
  runner: { at: 'checkout' },
  storyId: 'US-001',
  number: 1,
  iteration: 1,
  agent: 'first',
  base: 'base',
  startedAt: 0,
  reserved: { costUsd: null, tokens: null },
  unwanted: false,
}

/** Limits that never end a small example by themselves. */
export function limitsWith(changes: Partial<Limits> = {}): Limits {
  return {
    iterationsPerJob: 0,
    maxIterations: 50,
    maxJobs: 20,
    maxAttempts: 3,
    maxInterruptions: 3,
    iterationTimeoutMs: 30 * MINUTE,
    gatesMs: 0,
    agent: 'claude',
    fallback: null,
    waits: false,
    // Out of the way; breaker.test.ts has the thresholds that people have.
    breaker: { noProgress: 999, sameError: 999, outputDecline: 100, coolDownMs: 0 },
    maxCostUsd: null,
    maxTokens: null,
    maxAgentTimeMs: null,
    callsPerHour: null,
    baseline: false,
    recordsBaseline: false,
    approvesPlans: false,
    finalVerification: false,
    weakenedTests: 'off',
    needsProof: 'off',
    evidence: 'ask',
    stopOnBlocked: false,
    redispatch: true,
    publishEach: false,
    maxParallel: 1,
    ...changes,
  }
}

export function stories(...ids: string[]): Story[] {
  return ids.map((id) => newStory({ id, title: `story ${id}`, acceptanceCriteria: [`${id} works`] }))
}

/** A feature that was just claimed by its first job. */
export function stateOf(userStories: Story[], changes: Partial<State> = {}): State {
  return {
    version: 1,
    feature: 'auth',
    importedFrom: null,
    storiesDigest: '',
    folder: '.ralph/2026-01-10-auth',
    branch: 'ralph/auth',
    base: { branch: 'main', sha: changes.green ?? 'base' },
    nonce: 'n',
    generation: 0,
    prd: {
      schemaVersion: 2,
      project: 'Shop',
      branchName: 'ralph/auth',
      description: '',
      run: { ...emptyRun(), jobs: 1 },
      userStories,
    },
    green: 'base',
    published: null,
    baseline: 'pending',
    attempts: {},
    kept: {},
    records: {},
    control: emptyControl(),
    verification: { approved: false, asked: false, sessions: 0, message: '' },
    progress: [],
    recent: [],
    timeline: [],
    sessions: [],
    lease: null,
    github: { pull: null, pullUrl: null, comment: null, head: null, unclosed: [] },
    job: newJob(NOW, NOW + 5 * HOUR),
    ...changes,
  }
}

export function used(costUsd: number): Usage {
  return {
    ...emptyUsage(),
    calls: 1,
    inputTokens: costUsd * 1000,
    outputTokens: costUsd * 100,
    costUsd,
    agentSeconds: costUsd * 10,
  }
}

/** A session of the run, as the state lists it. */
export function entryWith(changes: Partial<SessionEntry> = {}): SessionEntry {
  return {
    ...emptyUsage(),
    calls: 1,
    storyId: null,
    iteration: 0,
    attempt: null,
    kind: 'run',
    agent: 'claude',
    model: null,
    version: VERSION,
    from: NOW,
    to: NOW,
    ...changes,
  }
}

export function session(changes: Partial<Session> = {}): Session {
  return {
    status: 'finished',
    message: 'it went well',
    usage: used(1),
    resetsAt: null,
    hints: { done: false, notDone: false, stuck: null },
    learnings: [],
    ...changes,
  }
}

export function gate(ok: boolean, changes: Partial<GateResult> = {}): GateResult {
  return {
    name: 'test',
    ok,
    advisory: false,
    ended: ok ? 'exit 0' : 'exit 1',
    ms: 10,
    output: ok ? '' : 'it broke',
    ...changes,
  }
}

/** What the world answers where the script says nothing: everything goes well. */
export function goesWell(step: Step, state: State, count: number): Happening {
  switch (step.kind) {
    case 'sync':
      return { kind: 'synced', commands: [], theirs: null }
    case 'join':
      return {
        kind: 'joined',
        green: `join-${count}`,
        theirs: step.theirs,
        people: null,
        takenBack: [],
        entries: [],
      }
    case 'gate-join':
      return { kind: 'join-gated', gates: [gate(true)], broken: null }
    case 'gate-edit':
      return { kind: 'edit-gated', gates: [gate(true)] }
    case 'restore':
      return { kind: 'restored' }
    case 'prepare':
      return { kind: 'prepared' }
    case 'baseline':
      return { kind: 'baselined', gates: [gate(true)] }
    case 'open':
      return {
        kind: 'opened',
        green: state.published === null ? `open-${count}` : state.green,
        github: state.github,
      }
    case 'reserve':
      return { kind: 'reserved', storyId: step.storyId }
    case 'agent':
      return { kind: 'worked', session: session() }
    case 'guard':
      return { kind: 'guarded', candidate: built(`candidate-${count}`) }
    case 'rebase':
      return { kind: 'rebased', base: step.onto, candidate: built(`candidate-${count}`) }
    case 'gates':
      return { kind: 'gated', commit: step.attempt.candidate.commit, gates: [gate(true)] }
    case 'examples':
      return {
        kind: 'exampled',
        storyId: step.storyId,
        answer: { kind: 'written', examples: [], none: [] },
        usage: used(1),
      }
    case 'try':
      return {
        kind: 'tried',
        commit: step.attempt.candidate.commit,
        answer: { kind: 'tried', results: [] },
        usage: used(1),
      }
    case 'answer':
      return {
        kind: 'answered',
        storyId: step.storyId,
        answer: { kind: 'words', text: 'because' },
        usage: used(1),
      }
    case 'judge':
      return { kind: 'judged', verdict: { kind: 'verified' }, usage: used(1) }
    case 'accept':
      return { kind: 'accepted', commit: step.attempt.candidate.commit }
    case 'enter':
      return { kind: 'entered', lines: count, kept: null }
    case 'decide':
      return { kind: 'decided', storyId: step.storyId }
    case 'reject':
      return { kind: 'rejected', kept: null }
    case 'return':
      return { kind: 'returned', kept: null }
    case 'wait':
      return { kind: 'waited' }
    case 'verify':
      return { kind: 'whole-gated', gates: [gate(true)], usage: emptyUsage() }
    case 'judge-whole':
      return { kind: 'verified', gates: [gate(true)], verdict: { kind: 'verified' }, usage: used(1) }
    case 'plan': {
      if (step.split === null && mustAskQuestions(state.plan?.interview)) {
        const questions = count % 2 === 0 ? [] : [{ text: 'Which?', options: ['one', 'two'] }]
        return { kind: 'planned', split: null, proposal: { kind: 'asked', questions }, usage: used(1) }
      }
      const of = (id: string) => newStory({ id: `${step.split ?? 'NEW'}-${id}`, title: id })
      const stories = [of(`${count}a`), of(`${count}b`)]
      const proposal = { kind: 'proposed', project: '', description: '', context: '', stories, questions: [] }
      return {
        kind: 'planned',
        split: step.split,
        proposal: { ...proposal, kind: 'proposed' },
        usage: used(1),
      }
    }
    case 'push':
      return { kind: 'pushed', github: state.github }
    case 'edit':
      return { kind: 'edited', edit: step.edit, green: `edited-${count}` }
    case 'conclude':
      return { kind: 'concluded', conclusion: step.conclusion }
    case 'publish':
      return { kind: 'published', green: state.green, withBranch: true, more: false }
    case 'dispatch':
      return { kind: 'dispatched', runId: 7 }
    case 'report':
      return { kind: 'reported', github: state.github }
    case 'stop':
      throw new Error('nothing is done after stop')
  }
}

/** Answers one step; null: all goes well. `now` is epoch milliseconds. */
export type Script = (step: Step, state: State, now: number) => Happening | null

export type Ran = {
  state: State
  conclusion: Conclusion
  outcome: Outcome
  /** The kinds of the steps, in order, with the story where there is one. */
  steps: string[]
  now: number
}

/** Drives one job to its stop; throws when it takes more than `most` steps. Each step takes a second. */
export function runJob(
  start: State,
  limits: Limits,
  script: Script = () => null,
  begin = NOW,
  most = 2000,
): Ran {
  let state = start
  let now = begin
  const steps: string[] = []
  for (;;) {
    const step = nextStep(state, limits, now)
    if (step.kind === 'stop')
      return { state, conclusion: step.conclusion, outcome: step.conclusion.outcome, steps, now }
    steps.push(named(step))
    if (steps.length > most) throw new Error(`no end after ${most} steps: … ${steps.slice(-12).join(', ')}`)
    now = step.kind === 'wait' ? Math.max(now, step.until) : now + 1000
    const happened = script(step, state, now) ?? goesWell(step, state, steps.length)
    state = reduce(state, eventOf(happened, state, now), limits)
  }
}

function named(step: Step): string {
  if ('storyId' in step) return `${step.kind} ${step.storyId}`
  if ('attempt' in step) return `${step.kind} ${step.attempt.storyId}`
  if (step.kind === 'conclude') return `conclude ${step.conclusion.outcome}`
  return step.kind
}

/** The next job of the chain, claimed at `now` from what the last one left. */
export function anotherJob(state: State, now = NOW + HOUR): State {
  const run = { ...state.prd.run, jobs: state.prd.run.jobs + 1 }
  return { ...state, prd: { ...state.prd, run }, job: newJob(now, now + 5 * HOUR) }
}

/** Commands heard at the first look of the job, and nothing after. */
export function saying(
  commands: Command[],
  otherwise: Script = () => null,
  theirs: 'deleted' | null = null,
): Script {
  let said = false
  return (step, state, now) => {
    if (step.kind !== 'sync' || said) return otherwise(step, state, now)
    said = true
    return { kind: 'synced', commands, theirs }
  }
}

export function storyOf(state: State, id: string): Story {
  const story = state.prd.userStories.find((one) => one.id === id)
  if (story === undefined) throw new Error(`${id} is not there`)
  return story
}

/** The value with everything in it frozen, so that a change of it throws. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const part of Object.values(value)) frozen(part)
  return value
}
