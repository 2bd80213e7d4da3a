// States of version 1, which Ralph 1.0 wrote: an attempt and a job full of nulls for what they had not come to. Pure.
import * as z from 'zod/mini'
import { GateResult } from '../model/gate.ts'
import { emptyControl } from '../model/job.ts'
import { type Attempt, Conclusion, Failure, type Job, Session, type State } from '../model/state.ts'

const orNull = <T extends z.core.$ZodType>(schema: T) => z._default(z.nullable(schema), null)
const flag = z._default(z.boolean(), false)
const count = z._default(z.number(), 0)

const OldAttempt = z.object({
  storyId: z.string(),
  number: z.number(),
  iteration: z.number(),
  agent: z.enum(['first', 'fallback']),
  startedAt: z.number(),
  reservedCostUsd: orNull(z.number()),
  reservedTokens: orNull(z.number()),
  phase: z.string(),
  session: orNull(Session),
  remarks: z._default(z.array(z.string()), []),
  gates: z._default(z.array(GateResult), []),
  failure: orNull(Failure),
  returned: orNull(
    z.object({ reason: z.enum(['limit', 'overloaded', 'interrupted', 'lost']), message: z.string() }),
  ),
  unwanted: flag,
})

const OldJob = z.object({
  startedAt: z.number(),
  deadline: z.number(),
  gatedTags: orNull(z.array(z.string())),
  iterations: count,
  begun: count,
  joins: count,
  synced: flag,
  prepared: flag,
  opened: flag,
  theirs: orNull(z.string()),
  branchGone: orNull(z.enum(['merged', 'deleted'])),
  branchRefused: flag,
  takesBranch: flag,
  landing: orNull(z.enum(['attempt', 'baseline', 'join', 'verify', 'lost', 'nothing'])),
  interrupted: flag,
  error: orNull(z.object({ summary: z.string(), fix: z.string() })),
  conclusion: orNull(Conclusion),
  concludedAt: orNull(z.number()),
  published: flag,
  more: flag,
  dispatched: flag,
  dispatchAfter: orNull(z.number()),
  nextRunId: orNull(z.number()),
  reported: flag,
})

const OldRecord = z.looseObject({
  failure: orNull(z.looseObject({ summary: z.string() })),
  note: z.optional(z.string()),
})

/** What differs; the rest is read with the state itself. */
const OldState = z.looseObject({
  green: z.string(),
  attempt: orNull(OldAttempt),
  job: OldJob,
  records: z.record(z.string(), OldRecord),
  control: z.looseObject({}),
  verification: z.looseObject({}),
  github: z.looseObject({}),
  prd: z.looseObject({ userStories: z.array(z.looseObject({ id: z.string(), notes: z.string() })) }),
})
type OldState = z.infer<typeof OldState>

/** As a state of version 2, still to be read; what is no state stays what it is. */
export function migrated(found: unknown): unknown {
  const { data } = OldState.safeParse(found)
  if (data === undefined) return found
  const { attempt, job, ...rest } = data
  // Whose the limits of vendors were was not said at first: those agents are asked again.
  const { firstNotBefore: _first, fallbackNotBefore: _fallback, ...control } = data.control
  return {
    ...rest,
    version: 2,
    attempts: attempt === null ? {} : { [attempt.storyId]: attemptOf(attempt, data.green) },
    records: withNotes(data),
    control: { ...emptyControl(), ...control },
    verification: { asked: false, ...data.verification },
    github: { unclosed: [], ...data.github },
    job: jobOf(job),
  } satisfies { [K in keyof State]?: unknown }
}

/** One that was still in work is given back by whoever takes the feature over: only what it was charged matters. */
function attemptOf(old: z.infer<typeof OldAttempt>, base: string): Attempt {
  const { storyId, number, iteration, agent, startedAt, unwanted, session, gates, remarks } = old
  const reserved = { costUsd: old.reservedCostUsd, tokens: old.reservedTokens }
  const begun = { storyId, number, iteration, agent, base, startedAt, reserved, unwanted }
  if (old.returned !== null) return { ...begun, phase: 'returned', session, ...old.returned }
  if (session === null) return { ...begun, phase: 'reserved' }
  return old.failure === null
    ? { ...begun, phase: 'worked', session }
    : { ...begun, phase: 'failed', session, gates, remarks, failure: old.failure }
}

function jobOf(old: z.infer<typeof OldJob>): Job {
  const { startedAt, deadline, gatedTags, iterations, begun, joins, synced, prepared, opened } = old
  const { takesBranch, landing, conclusion, published, more, reported } = old
  const at = old.concludedAt ?? startedAt
  return {
    startedAt,
    deadline,
    gatedTags,
    counts: { iterations, begun, joins },
    ready: { synced, prepared, opened },
    branch: branchOf(old),
    takesBranch,
    landing,
    halted:
      old.error !== null ? { kind: 'error', ...old.error } : old.interrupted ? { kind: 'interrupted' } : null,
    ending: conclusion === null ? null : { conclusion, at, published, more, next: nextOf(old), reported },
  }
}

function branchOf({ branchRefused, branchGone, theirs }: z.infer<typeof OldJob>): Job['branch'] {
  if (branchRefused) return { kind: 'refused' }
  if (branchGone !== null) return { kind: 'gone', how: branchGone }
  return theirs === null ? { kind: 'ours' } : { kind: 'moved', head: theirs }
}

function nextOf({ dispatched, dispatchAfter: until, nextRunId: runId }: z.infer<typeof OldJob>) {
  if (dispatched)
    return until === null || runId !== null
      ? { kind: 'started' as const, runId }
      : { kind: 'held' as const, until }
  return until === null ? { kind: 'open' as const } : { kind: 'limited' as const, until }
}

/** Notes that Ralph wrote before it kept its own word apart from people's. */
const OURS = /^(?:blocked after|interrupted) \d+ |^rests until /

function withNotes({ records, prd }: OldState): OldState['records'] {
  const notes = new Map(prd.userStories.map((story) => [story.id, story.notes]))
  return Object.fromEntries(
    Object.entries(records).map(([id, record]) => {
      const there = notes.get(id) ?? ''
      const isOurs = OURS.test(there) || there === record.failure?.summary
      return [id, { ...record, note: record.note ?? (isOurs ? there : '') }]
    }),
  )
}
