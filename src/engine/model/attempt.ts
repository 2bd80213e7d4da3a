// An attempt at a story: its session, the work that the session left, and the phase that it is in.
import * as z from 'zod/mini'
import { DependencyFinding } from './dependency.ts'
import { ExampleResult } from './example.ts'
import { GateResult } from './gate.ts'
import { Circuits } from './pipeline-step.ts'
import { SessionKind, Usage } from './usage.ts'

/** Why an attempt was rejected, in one line, and the output that shows it (`failureOutput` of engine/model/gate-output.ts). */
export type Failure = z.infer<typeof Failure>
export const Failure = z.object({
  kind: z.enum(['session', 'stuck', 'empty-diff', 'guard', 'gates', 'judge', 'conflict', 'examples']),
  summary: z.string(),
  /** Further text that is in no gate's output; often empty. */
  detail: z.string(),
  /** The name of the gate whose output shows the failure. */
  gate: z.exactOptional(z.string()),
})

/** The agent's session as the loop sees it. Its texts come from the agent and are hints only. */
export type Session = z.infer<typeof Session>
export const Session = z.object({
  /** `finished`: ended without an error. `failed`: charged. The others are not charged; `auth` and `not-started` end the job. */
  status: z.enum(['finished', 'failed', 'limit', 'overloaded', 'auth', 'not-started', 'interrupted']),
  message: z.string(),
  usage: Usage,
  /** When the vendor's limit ends, epoch milliseconds; null if the vendor does not say. */
  resetsAt: z.nullable(z.number()),
  hints: z.object({
    done: z.boolean(),
    notDone: z.boolean(),
    stuck: z.nullable(z.string()),
    /** How clearly the agent's text says that the work is done, 0 to 100; left out for 0. */
    confidence: z.exactOptional(z.number()),
  }),
  learnings: z.array(z.string()),
  /** The agent's own summary of what it did, on one line, unchecked. */
  summary: z.exactOptional(z.string()),
  /** Its note for the next session, on one line. */
  next: z.exactOptional(z.string()),
  /** The tree after the set-up session, of this attempt or of the saved work that it builds on. Empty: not known. */
  setUp: z.exactOptional(z.string()),
  /** The output of the pipeline step that ended it, cut to a limit. */
  detail: z.exactOptional(z.string()),
  /** Why a pipeline step ends the run. */
  pause: z.exactOptional(z.string()),
  /** The parts of `usage` that belong to the set-up, or to steps with another agent or model; null: the run's own. */
  others: z.exactOptional(
    z.array(
      z.object({
        agent: z.nullable(z.string()),
        model: z.nullable(z.string()),
        usage: Usage,
        /** Left out: a pipeline step. */
        kind: z.exactOptional(SessionKind),
      }),
    ),
  ),
  /** The circuits after the pipeline's steps; left out if none changed. */
  circuits: z.exactOptional(Circuits),
})

/** Work that the guard let through. The gates run on this commit's tree, and exactly this commit lands. */
export type Candidate = z.infer<typeof Candidate>
export const Candidate = z.object({
  commit: z.string(),
  /** Whether it changes nothing outside of `.ralph/`: then only a judge can let it pass. */
  empty: z.boolean(),
  /** Its code is that of the last attempt, on which a gate was red: if the gate is green now, it is flaky. */
  wasRed: z.exactOptional(z.literal(true)),
  /** Every changed file is a test, or a file alongside one. */
  testsOnly: z.exactOptional(z.literal(true)),
  /** What the guard and the watchers noticed but did not refuse, for reports. */
  remarks: z.array(z.string()),
  /** The packages that it adds; left out for none. */
  dependencies: z.exactOptional(z.array(DependencyFinding)),
  /** The message of the commit that the agent made itself, on one line. */
  summary: z.exactOptional(z.string()),
  /** Epoch milliseconds. */
  builtAt: z.number(),
  /** How many of the pending entries its progress.txt has; left out: all. */
  entries: z.exactOptional(z.number()),
})

/** The estimate for a session whose vendor reports no usage; null if nothing is known and no limit is set. */
export type Reservation = z.infer<typeof Reservation>
export const Reservation = z.object({
  costUsd: z.nullable(z.number()),
  tokens: z.nullable(z.number()),
  /** It is a share of the limit, since no session of the run has finished yet. Counted usage of the session itself takes precedence. */
  isShare: z.exactOptional(z.literal(true)),
})

/** The place and the worker of an attempt. */
export type Runner = z.infer<typeof Runner>
export const Runner = z.discriminatedUnion('at', [
  /** In the run's checkout, as the only attempt in progress. */
  z.object({ at: z.literal('checkout') }),
  /**
   * In its own work tree, in parallel with other attempts. `worker`: the worker of a wave that works on it; left out: any worker may
   * continue with its candidate.
   */
  z.object({ at: z.literal('lane'), worker: z.exactOptional(z.string()) }),
])

/** Its part in a contest between several candidates for the story. `slot`: which of them it makes, from 1 on. */
const ContestPart = z.discriminatedUnion('stage', [
  /** Not chosen, at least not yet. `ordinal`: the number of the story's sessions so far. */
  z.object({ stage: z.literal('open'), slot: z.number(), ordinal: z.number() }),
  /** The chosen one. The sessions of all candidates are charged already. */
  z.object({ stage: z.literal('chosen'), slot: z.number() }),
])

const Reserved = z.object({
  storyId: z.string(),
  /** Left out if the story has one candidate only. */
  contest: z.exactOptional(ContestPart),
  /** 1-based, counted by story. Candidates for the same choice have the same number. */
  number: z.number(),
  iteration: z.number(),
  agent: z.enum(['first', 'fallback']),
  /** The model of the ladder that it works with; left out without a ladder. */
  model: z.exactOptional(z.string()),
  /** The green commit that it is based on. */
  base: z.string(),
  /** Epoch milliseconds. */
  startedAt: z.number(),
  /** What is charged as *estimated* if the job is lost. */
  reserved: Reservation,
  /** A person asked to begin again: its work is discarded, like the saved work that it is based on. */
  unwanted: z.boolean(),
  runner: Runner,
  phase: z.literal('reserved'),
})
const Worked = z.extend(Reserved, { phase: z.literal('worked'), session: Session })
const Guarded = z.extend(Worked, {
  phase: z.literal('guarded'),
  candidate: Candidate,
  /** Left out if stories are worked on one after another, and for a candidate of a contest that is not chosen. */
  train: z.exactOptional(
    z.object({
      /** Candidates land in the order of their places. */
      place: z.number(),
      /** Its gates were red while a candidate before it had not landed yet, so that either of the two may be the cause. */
      isRedBehind: z.boolean(),
    }),
  ),
  /** How often it was rebased and gated again. */
  rebased: z.exactOptional(z.number()),
  /** Its session ended in a run that was killed. Ignored files in the checkout may come from that session. */
  resumed: z.exactOptional(z.literal(true)),
})
const Gated = z.extend(Guarded, {
  phase: z.literal('gated'),
  gates: z.array(GateResult),
  /** Files that were put back to their earlier version for the second run of the gates. */
  paths: z.exactOptional(z.array(z.string())),
  /** The results of the story's examples; left out before they were tried. */
  tried: z.exactOptional(z.array(ExampleResult)),
})

const Failed = z.extend(Worked, {
  phase: z.literal('failed'),
  testsOnly: z.exactOptional(z.literal(true)),
  remarks: z.array(z.string()),
  gates: z.array(GateResult),
  failure: Failure,
  /** Set if an example was not met. */
  tried: z.exactOptional(z.array(ExampleResult)),
})

/** An iteration in progress. It is saved before the agent starts, so that a crash cannot hide its cost. */
export type Attempt = z.infer<typeof Attempt>
export const Attempt = z.discriminatedUnion('phase', [
  Reserved,
  Worked,
  Guarded,
  Gated,
  /** It changed nothing, or changed what gates expect, and an independent judge agrees. */
  z.extend(Gated, { phase: z.literal('judged') }),
  Failed,
  /** It ended without being charged. */
  z.extend(Reserved, {
    phase: z.literal('returned'),
    session: z.nullable(Session),
    /** `conflict`: its work does not apply on what landed meanwhile. */
    reason: z.enum(['limit', 'overloaded', 'interrupted', 'lost', 'conflict']),
    /** Its candidate, if it ran in parallel: by now its work tree may have another story's work. */
    left: z.exactOptional(z.string()),
    message: z.string(),
  }),
])

/**
 * Identifies an attempt among those in progress at the same time. `slot`: of one of several candidates. An attempt is not an id: `idOf`.
 */
export type AttemptId = { storyId: string; slot?: number; contest?: never }

export function idOf(of: AttemptId | Attempt): AttemptId {
  const { storyId } = of
  const slot = 'slot' in of ? of.slot : of.contest && slotOf({ contest: of.contest })
  return slot === undefined ? { storyId } : { storyId, slot }
}

/** The attempt's key in the state: the story's id, which has no `#`, and the slot. */
export function attemptKey(of: AttemptId | Attempt): string {
  const { storyId, slot } = idOf(of)
  return slot === undefined ? storyId : `${storyId}#${slot}`
}

/** The slot of an attempt in an open contest. */
export function slotOf({ contest }: Pick<Attempt, 'contest'>): number | undefined {
  return contest?.stage === 'open' ? contest.slot : undefined
}

/** Whether it is the chosen one of several candidates. */
export function isChosen({ contest }: Pick<Attempt, 'contest'>): boolean {
  return contest?.stage === 'chosen'
}

/** Whether it runs in parallel with other attempts. */
export function isInLane({ runner }: Pick<Attempt, 'runner'>): boolean {
  return runner.at === 'lane'
}

/** Candidates land in the order of their places. */
export function placeOf({ train }: Pick<AttemptWithCandidate, 'train'>): number {
  return train?.place ?? 0
}

export function assignedWorker({ runner }: Pick<Attempt, 'runner'>): string | undefined {
  return runner.at === 'lane' ? runner.worker : undefined
}

/** The attempt without its worker. */
export function withoutWorker<A extends Attempt>(attempt: A): A {
  return { ...attempt, runner: { at: attempt.runner.at } }
}

export type AttemptIn<P extends Attempt['phase']> = Extract<Attempt, { phase: P }>

type PhaseRow = {
  /** Its candidate is built and not landed. */
  hasCandidate: boolean
  /** The gates are green on its candidate. A judge may still have to agree (`needsJudge`). */
  isGreen: boolean
  /** It may still pass, and people who stop the run have it returned. Otherwise its own next step ends it. */
  isInWork: boolean
  /** A guard, gate or judge may reject what its session did. */
  canBeRejected: boolean
  /** One of several candidates is done in this phase, and enters the contest. */
  entersContest: boolean
}

/** Phases are compared by this table, so that a new phase does not compile before it has a row. */
// biome-ignore format: a line for each phase
const PHASES = {
  reserved: { hasCandidate: false, isGreen: false, isInWork: true,  canBeRejected: false, entersContest: false },
  worked:   { hasCandidate: false, isGreen: false, isInWork: true,  canBeRejected: true,  entersContest: false },
  guarded:  { hasCandidate: true,  isGreen: false, isInWork: true,  canBeRejected: true,  entersContest: false },
  gated:    { hasCandidate: true,  isGreen: true,  isInWork: true,  canBeRejected: true,  entersContest: true },
  judged:   { hasCandidate: true,  isGreen: true,  isInWork: true,  canBeRejected: false, entersContest: false },
  failed:   { hasCandidate: false, isGreen: false, isInWork: false, canBeRejected: false, entersContest: true },
  returned: { hasCandidate: false, isGreen: false, isInWork: false, canBeRejected: false, entersContest: false },
} as const satisfies Record<Attempt['phase'], PhaseRow>

/** The phases whose row says yes in this column. */
type PhaseWith<Column extends keyof PhaseRow> = {
  [P in Attempt['phase']]: (typeof PHASES)[P][Column] extends true ? P : never
}[Attempt['phase']]

export type AttemptWithCandidate = AttemptIn<PhaseWith<'hasCandidate'>>
export type GreenAttempt = AttemptIn<PhaseWith<'isGreen'>>
export type RejectableAttempt = AttemptIn<PhaseWith<'canBeRejected'>>

/** The attempt before its gates ran: whatever later phases added to it is gone. */
export function asGuarded(attempt: AttemptWithCandidate): AttemptIn<'guarded'> {
  return Guarded.parse({ ...attempt, phase: 'guarded' })
}

/** One of several candidates that is done: its gates are green, or it failed. */
export type CandidateDone = AttemptIn<PhaseWith<'entersContest'>>
export const CandidateDone: z.ZodMiniType<CandidateDone> = z.discriminatedUnion('phase', [Gated, Failed])

export function hasCandidate(attempt: Attempt): attempt is AttemptWithCandidate {
  return PHASES[attempt.phase].hasCandidate
}

export function isGreen(attempt: Attempt): attempt is GreenAttempt {
  return PHASES[attempt.phase].isGreen
}

export function isInWork({ phase }: Attempt): boolean {
  return PHASES[phase].isInWork
}

export function isCandidateDone(attempt: Attempt): attempt is CandidateDone {
  return PHASES[attempt.phase].entersContest
}
