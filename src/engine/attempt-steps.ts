// The steps of an attempt beside its gates: the session (behind the one that sets the project up), the look at what it left, and
// putting that away.

import { DamagedClone, messageOf } from '../system/errors.ts'
import { budgetLeft, estimateSession, exhaustedBudget, sessionMs } from './limits.ts'
import type { Attempt, AttemptIn, Failure, Session } from './model/attempt.ts'
import type { Event } from './model/event.ts'
import type { Limits } from './model/limit-types.ts'
import type { Inspection, Ports, SessionBounds } from './model/ports.ts'
import type { SavedWork, State } from './model/state.ts'
import { addUsage } from './model/usage.ts'
import { recordSession } from './record-session.ts'
import { redGate, redService } from './state-updates.ts'

export type StepResult = Event extends infer E ? (E extends { at: number } ? Omit<E, 'at'> : never) : never

/** What a step is done with: the signal aborts with the job's time, too. `now` is when it began, epoch milliseconds. */
export type StepContext = { state: State; limits: Limits; ports: Ports; now: number }

/** A story's session, behind the one that sets the project up, where there is to be one. */
export async function work(attempt: AttemptIn<'reserved'>, context: StepContext): Promise<StepResult> {
  const { state, ports } = context
  const { storyId, base } = attempt
  const { conflict } = await ports.repository.checkOut(base, state.kept[storyId] ?? null)
  const begin = (from: State, now: number) =>
    ports.agent.work(state, attempt, { ...sessionBounds(from, context.limits, now), conflict }, ports.signal)
  if (!isSetUp(state, storyId, conflict))
    return { kind: 'worked', storyId, session: await behindSetUp(attempt, context, begin) }
  const session = await begin(state, context.now)
  const setUp = state.control.setUp === true ? undefined : state.kept[storyId]?.setUp
  return { kind: 'worked', storyId, session: setUp === undefined ? session : { ...session, setUp } }
}

/** Whether the tree is set up already: by a story that passed, or by the story's own kept work, where that fits. */
function isSetUp({ control, kept }: State, storyId: string, conflict: string | null): boolean {
  return control.setUp === true || (kept[storyId]?.setUp !== undefined && conflict === null)
}

/** Both sessions as one of the attempt: guard and gates see their work together. `setUp` is the tree between them. */
async function behindSetUp(
  attempt: AttemptIn<'reserved'>,
  { state, limits, ports, now }: StepContext,
  begin: (from: State, now: number) => Promise<Session>,
): Promise<Session> {
  const { storyId } = attempt
  const first = await ports.agent.setUp(state, attempt, sessionBounds(state, limits, now), ports.signal)
  if (first === null) return begin(state, now)
  const others = [{ agent: null, model: null, kind: 'set-up' as const, usage: first.usage }]
  if (!hasSucceeded(first)) {
    const { hints, message } = first
    const stuck = hints.stuck === null ? null : `set-up: ${hints.stuck}`
    return { ...first, others, message: `set-up: ${message}`, hints: { ...hints, stuck } }
  }
  const setUp = (await workAsItStands(storyId, state, ports))?.tree ?? ''
  const done = { at: ports.clock.now(), kind: 'set-up', storyId, usage: first.usage, cutShort: true } as const
  const left = recordSession(state, done, limits)
  const over = exhaustedBudget(left, limits)
  if (over !== null)
    return { ...first, others, status: 'interrupted', message: `after the set-up ${over}`, setUp }
  const session = await begin(left, ports.clock.now())
  const usage = addUsage(first.usage, session.usage)
  const learnings = [...first.learnings, ...session.learnings]
  return { ...session, usage, others: [...others, ...(session.others ?? [])], learnings, setUp }
}

/** Whether a session leaves something to go on with. */
export function hasSucceeded({ status, hints }: Session): boolean {
  return status === 'finished' && hints.stuck === null && !hints.notDone
}

/** What the session left, as the guard lets it through: the candidate for the gates. */
export async function guard(attempt: AttemptIn<'worked'>, context: StepContext): Promise<StepResult> {
  const { storyId, session } = attempt
  const seen = await inspected(attempt, context)
  if (seen.kind === 'refused') return { kind: 'refused', storyId, failure: seen.failure }
  const candidate = {
    ...seen.candidate,
    empty: seen.candidate.empty || (await isSetUpAlone(attempt, context)),
    ...((await isAsItWasRed(attempt, context)) ? { wasRed: true as const } : {}),
  }
  const owed = candidate.empty ? unanswered(storyId, context.state) : null
  if (owed !== null) return { kind: 'refused', storyId, failure: owed }
  const isAllowed = !candidate.empty || (context.limits.finalVerification && session.hints.done)
  if (isAllowed) return { kind: 'guarded', storyId, candidate }
  const failure: Failure = { kind: 'empty-diff', summary: 'the session changed nothing', detail: '' }
  return { kind: 'refused', storyId, failure }
}

/** A red gate is answered by a change, whatever anybody says. */
function unanswered(storyId: string, { records }: State): Failure | null {
  const { owes = [], failure = null } = records[storyId] ?? {}
  const [gate] = owes
  if (gate === undefined) return null
  const summary = `gate ${gate} was red on the whole because of this story, and the session changed nothing`
  return { ...failure, kind: 'empty-diff', summary, detail: failure?.detail ?? '' }
}

/** Whether the code is what a gate was red on at the attempt before. One that was given back since may have left other work. */
async function isAsItWasRed(
  { storyId }: AttemptIn<'worked'>,
  { state, ports }: StepContext,
): Promise<boolean> {
  const record = state.records[storyId]
  if (record?.failure?.kind !== 'gates' || redService(record.gates) !== undefined) return false
  if (redGate(record.gates) === undefined && !record.gates.some(({ flaky }) => flaky === true)) return false
  return (await workAsItStands(storyId, state, ports))?.tree === record.breaker.tree
}

/** A set-up alone is no work on the story: a session that added nothing to it has changed nothing. */
async function isSetUpAlone({ storyId, session }: AttemptIn<'worked'>, { state, ports }: StepContext) {
  const { setUp = '' } = session
  return setUp !== '' && (await workAsItStands(storyId, state, ports))?.tree === setUp
}

/**
 * What the session left is hostile: an error while somebody looks at it is its doing, and refuses the attempt. Where the
 * clone is damaged, or the tree cannot even be restored, no story can be judged here, and the run ends.
 */
async function inspected(
  attempt: AttemptIn<'worked'>,
  { state, ports, now }: StepContext,
): Promise<Inspection> {
  try {
    return await ports.repository.inspect(state, attempt, now)
  } catch (error) {
    if (error instanceof DamagedClone) throw error
    await ports.repository.restore(state.green)
    const detail = messageOf(error).slice(0, 2000)
    return {
      kind: 'refused',
      failure: { kind: 'guard', summary: 'what the session left could not be looked at', detail },
    }
  }
}

/** Leaves a clean tree at the green commit and keeps the work for the story's next attempt. */
export async function stashAttempt(attempt: Attempt, { state, ports }: StepContext) {
  const { storyId } = attempt
  // Its work tree went with the process that had it.
  const isGone = attempt.inLane === true && attempt.phase === 'returned' && attempt.reason === 'lost'
  const left = attempt.phase === 'returned' ? attempt.left : undefined
  if (left !== undefined && !isGone) await ports.repository.checkOut(left, null)
  const from = left === undefined ? state : { ...state, green: attempt.base }
  const kept = isGone ? (state.kept[storyId] ?? null) : await workAsItStands(storyId, from, ports)
  await ports.repository.checkOut(state.green, null)
  return { storyId, kept }
}

/** The story's work after the guard's filter; null for none. What cannot be looked at cannot be kept. */
function workAsItStands(storyId: string, state: State, { repository }: Ports): Promise<SavedWork | null> {
  return repository.keep(state, storyId).catch((error: unknown) => {
    if (error instanceof DamagedClone) throw error
    return null
  })
}

export function sessionBounds(state: State, limits: Limits, now: number): SessionBounds {
  return {
    timeoutMs: sessionMs(state, limits, now),
    budget: budgetLeft(state, limits),
    reserved: estimateSession(state, limits),
  }
}
