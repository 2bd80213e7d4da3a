// An attempt at a story: the session, what it left, and how far it has come.
import * as z from 'zod/mini'
import { GateResult } from './gate.ts'
import { Circuits } from './pipeline-step.ts'
import { SessionKind, Usage } from './usage.ts'

/** Why an attempt was rejected: in one line, and what shows it (`failureOutput` of engine/model/gate-output.ts). */
export type Failure = z.infer<typeof Failure>
export const Failure = z.object({
  kind: z.enum(['session', 'stuck', 'empty-diff', 'guard', 'gates', 'judge', 'conflict']),
  summary: z.string(),
  /** What is not in the output of a gate; often empty. */
  detail: z.string(),
  /** Of the attempt's gates, the one whose output shows it. */
  gate: z.exactOptional(z.string()),
})

/** The agent's session as the loop sees it; the words in it are hints only. */
export type Session = z.infer<typeof Session>
export const Session = z.object({
  /** `finished`: ended without error. `haltWithError`: charged. The rest is not charged; `auth` and `not-started` end the job. */
  status: z.enum(['finished', 'failed', 'limit', 'overloaded', 'auth', 'not-started', 'interrupted']),
  message: z.string(),
  usage: Usage,
  /** Epoch milliseconds at which a limited vendor answers again, where it says so. */
  resetsAt: z.nullable(z.number()),
  hints: z.object({
    done: z.boolean(),
    notDone: z.boolean(),
    stuck: z.nullable(z.string()),
    /** How sure the words are that the work is done, of 100; left out for 0. */
    confidence: z.exactOptional(z.number()),
  }),
  learnings: z.array(z.string()),
  /** The agent's last words on what it did, on one line; its own, and checked by nobody. */
  summary: z.exactOptional(z.string()),
  /** What it leaves to whoever works next, on one line. */
  next: z.exactOptional(z.string()),
  /** The tree as a set-up session left it, before this one: now, or in the kept work that it grew from. Empty: not known. */
  setUp: z.exactOptional(z.string()),
  /** What the step of a pipeline printed that ended it, bounded. */
  detail: z.exactOptional(z.string()),
  /** Why a step of a pipeline ends the run. */
  pause: z.exactOptional(z.string()),
  /** Of `usage`, what a set-up and steps with an agent or a model of their own used; null: that of the run. */
  others: z.exactOptional(
    z.array(
      z.object({
        agent: z.nullable(z.string()),
        model: z.nullable(z.string()),
        usage: Usage,
        /** A step of a pipeline where it is left out. */
        kind: z.exactOptional(SessionKind),
      }),
    ),
  ),
  /** As the steps left them, where that changed. */
  circuits: z.exactOptional(Circuits),
})

/** What the guard let through. The commit's tree is what the gates run on, and what is gated is what is committed. */
export type Candidate = z.infer<typeof Candidate>
export const Candidate = z.object({
  commit: z.string(),
  /** No change beside `.ralph/`: passes only through an independent judge. */
  empty: z.boolean(),
  /** The code is what a gate was red on at the attempt before: green now, that gate is flaky. */
  wasRed: z.exactOptional(z.literal(true)),
  /** Every file that it changes is a test, or stands beside one. */
  testsOnly: z.exactOptional(z.literal(true)),
  /** What the guard and the watchers saw and did not refuse, for the check. */
  remarks: z.array(z.string()),
  /** The message of the commit that the agent made itself, on one line. */
  summary: z.exactOptional(z.string()),
  /** Epoch milliseconds. */
  builtAt: z.number(),
  /** How many of the entries that waited for a commit its progress.txt holds; left out: all. */
  entries: z.exactOptional(z.number()),
})

/** What a session is taken to use where its vendor does not say; null where nothing is known and no limit is set. */
export type Reservation = z.infer<typeof Reservation>
export const Reservation = z.object({
  costUsd: z.nullable(z.number()),
  tokens: z.nullable(z.number()),
  /** A share of the limit, for no session of the run is known yet: what is seen of the session counts before it. */
  isShare: z.exactOptional(z.literal(true)),
})

const Reserved = z.object({
  storyId: z.string(),
  /** 1-based, counted by story. */
  number: z.number(),
  iteration: z.number(),
  agent: z.enum(['first', 'fallback']),
  /** The rung of a model ladder that it works with; left out: there is none. */
  model: z.exactOptional(z.string()),
  /** The green commit that it grows from. */
  base: z.string(),
  /** Epoch milliseconds. */
  startedAt: z.number(),
  /** What a takeover charges as *estimated* when the job was lost. */
  reserved: Reservation,
  /** A person wants to begin anew: what it leaves, which grew from what was kept, is thrown away with that. */
  unwanted: z.boolean(),
  /** It is worked on in a work tree of its own, beside other attempts. */
  inLane: z.exactOptional(z.literal(true)),
  /** The job of a wave that has it in work; left out: none has, and any may go on with its candidate. */
  worker: z.exactOptional(z.string()),
  phase: z.literal('reserved'),
})
const Worked = z.extend(Reserved, { phase: z.literal('worked'), session: Session })
const Guarded = z.extend(Worked, {
  phase: z.literal('guarded'),
  candidate: Candidate,
  /** In the train: candidates land in this order. Left out where stories are worked on one after the other. */
  place: z.exactOptional(z.number()),
  /** Gates were red on it while a candidate before it had not landed: which of them is red is known when that one is decided. */
  redBehind: z.exactOptional(z.literal(true)),
})
const Gated = z.extend(Guarded, {
  phase: z.literal('gated'),
  gates: z.array(GateResult),
  /** Files that stood as they were when gates ran once more. */
  paths: z.exactOptional(z.array(z.string())),
})

/** An iteration in work. It is reserved durably before the agent starts, so that a crash cannot hide its cost. */
export type Attempt = z.infer<typeof Attempt>
export const Attempt = z.discriminatedUnion('phase', [
  Reserved,
  Worked,
  Guarded,
  Gated,
  /** It changed nothing, or what gates expect, and an independent judge agrees. */
  z.extend(Gated, { phase: z.literal('judged') }),
  z.extend(Worked, {
    phase: z.literal('failed'),
    testsOnly: z.exactOptional(z.literal(true)),
    remarks: z.array(z.string()),
    gates: z.array(GateResult),
    failure: Failure,
  }),
  /** Given back without being charged. */
  z.extend(Reserved, {
    phase: z.literal('returned'),
    session: z.nullable(Session),
    /** `conflict`: its work does not fit what landed meanwhile. */
    reason: z.enum(['limit', 'overloaded', 'interrupted', 'lost', 'conflict']),
    /** Its candidate, where it was worked on beside others: the tree may hold another story's work by now. */
    left: z.exactOptional(z.string()),
    message: z.string(),
  }),
])

/** An attempt whose candidate is built and not landed. */
export type AttemptWithCandidate = AttemptIn<'guarded' | 'gated' | 'judged'>

export function hasCandidate(attempt: Attempt): attempt is AttemptWithCandidate {
  return attempt.phase === 'guarded' || attempt.phase === 'gated' || attempt.phase === 'judged'
}

export type AttemptIn<P extends Attempt['phase']> = Extract<Attempt, { phase: P }>
