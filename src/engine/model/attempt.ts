// An attempt at a story: its session, the work that the session left, and the phase that it is in.
import * as z from 'zod/mini'
import { GateResult } from './gate.ts'
import { Circuits } from './pipeline-step.ts'
import { SessionKind, Usage } from './usage.ts'

/** Why an attempt was rejected, in one line, and the output that shows it (`failureOutput` of engine/model/gate-output.ts). */
export type Failure = z.infer<typeof Failure>
export const Failure = z.object({
  kind: z.enum(['session', 'stuck', 'empty-diff', 'guard', 'gates', 'judge', 'conflict']),
  summary: z.string(),
  /** Further text that no gate's output holds; often empty. */
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
  /** When the vendor's limit ends, epoch milliseconds; null where the vendor does not say. */
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
  /** The tree that the set-up session before it left, now or in the saved work that it grew from. Empty: not known. */
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
  /** The circuits after the pipeline's steps; left out where none changed. */
  circuits: z.exactOptional(Circuits),
})

/** Work that the guard let through. The gates run on this commit's tree, and exactly this commit lands. */
export type Candidate = z.infer<typeof Candidate>
export const Candidate = z.object({
  commit: z.string(),
  /** It changes nothing outside `.ralph/`: only an independent judge can let it pass. */
  empty: z.boolean(),
  /** The code is the same on which a gate was red at the last attempt: a gate that is green now is flaky. */
  wasRed: z.exactOptional(z.literal(true)),
  /** Every changed file is a test, or a file beside one. */
  testsOnly: z.exactOptional(z.literal(true)),
  /** What the guard and the watchers noticed and did not refuse, for the check run. */
  remarks: z.array(z.string()),
  /** The message of the commit that the agent made itself, on one line. */
  summary: z.exactOptional(z.string()),
  /** Epoch milliseconds. */
  builtAt: z.number(),
  /** How many of the pending progress entries its progress.txt holds; left out: all. */
  entries: z.exactOptional(z.number()),
})

/** The estimate for a session whose vendor reports nothing; null where nothing is known and no limit is set. */
export type Reservation = z.infer<typeof Reservation>
export const Reservation = z.object({
  costUsd: z.nullable(z.number()),
  tokens: z.nullable(z.number()),
  /** A share of the limit, since the run has no finished session yet. What is counted of the session itself takes precedence. */
  isShare: z.exactOptional(z.literal(true)),
})

const Reserved = z.object({
  storyId: z.string(),
  /** Which of several candidates for the story it makes, from 1 on; left out where it makes the only one. */
  slot: z.exactOptional(z.number()),
  /** 1-based, counted by story. Candidates for the same choice have the same number. */
  number: z.number(),
  /** The number of the story's sessions until then, where several sessions make candidates. */
  ordinal: z.exactOptional(z.number()),
  iteration: z.number(),
  agent: z.enum(['first', 'fallback']),
  /** The model of the ladder that it works with; left out without a ladder. */
  model: z.exactOptional(z.string()),
  /** The green commit that it grows from. */
  base: z.string(),
  /** Epoch milliseconds. */
  startedAt: z.number(),
  /** What is charged as *estimated* where the job is lost. */
  reserved: Reservation,
  /** A person asked to begin anew: the work that it leaves is discarded, as is the saved work that it grew from. */
  unwanted: z.boolean(),
  /** It runs in a work tree of its own, beside other attempts. */
  inLane: z.exactOptional(z.literal(true)),
  /** The worker of a wave that has it in work; left out: any worker may go on with its candidate. */
  worker: z.exactOptional(z.string()),
  /** The slot of the candidate that the gates chose; the sessions of all of them are charged already. */
  chosen: z.exactOptional(z.number()),
  phase: z.literal('reserved'),
})
const Worked = z.extend(Reserved, { phase: z.literal('worked'), session: Session })
const Guarded = z.extend(Worked, {
  phase: z.literal('guarded'),
  candidate: Candidate,
  /** Its place in the train, in whose order candidates land. Left out where stories are worked on one after the other. */
  place: z.exactOptional(z.number()),
  /** Gates were red on it while a candidate before it had not landed: either of the two may be the cause until that one is decided. */
  redBehind: z.exactOptional(z.literal(true)),
  /** How often it was rebased, and its gates had to run again. */
  rebased: z.exactOptional(z.number()),
})
const Gated = z.extend(Guarded, {
  phase: z.literal('gated'),
  gates: z.array(GateResult),
  /** Files that were put back to their earlier version for the second run of the gates. */
  paths: z.exactOptional(z.array(z.string())),
})

const Failed = z.extend(Worked, {
  phase: z.literal('failed'),
  testsOnly: z.exactOptional(z.literal(true)),
  remarks: z.array(z.string()),
  gates: z.array(GateResult),
  failure: Failure,
})

/** An attempt whose gates have run, or that failed before: one of the candidates to choose from. */
export const AttemptDone = z.discriminatedUnion('phase', [Gated, Failed])

/** An iteration in work. It is saved before the agent starts, so that a crash cannot hide its cost. */
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
    /** Its candidate, where it ran beside others: by now the tree may hold another story's work. */
    left: z.exactOptional(z.string()),
    message: z.string(),
  }),
])

/** Tells attempts apart that are in work at the same time. */
export type AttemptId = { storyId: string; slot?: number }

export function idOf({ storyId, slot }: AttemptId): AttemptId {
  return slot === undefined ? { storyId } : { storyId, slot }
}

/** The attempt's key in the state: the story's id, which has no `#`, and the slot. */
export function attemptKey({ storyId, slot }: AttemptId): string {
  return slot === undefined ? storyId : `${storyId}#${slot}`
}

/** An attempt whose candidate is built and not landed. */
export type AttemptWithCandidate = AttemptIn<'guarded' | 'gated' | 'judged'>

/** By phase. */
const WITH_CANDIDATE: Readonly<Record<Attempt['phase'], boolean>> = {
  reserved: false,
  worked: false,
  guarded: true,
  gated: true,
  judged: true,
  failed: false,
  returned: false,
}

export function hasCandidate(attempt: Attempt): attempt is AttemptWithCandidate {
  return WITH_CANDIDATE[attempt.phase]
}

export type AttemptIn<P extends Attempt['phase']> = Extract<Attempt, { phase: P }>
