// The steps of an attempt without its gates and its judge: its session, with a set-up session before it, and the inspection of its work.
// The work then lands, or is saved for the next attempt.

import { DamagedClone, messageOf } from '../../system/errors.ts'
import {
  type Attempt,
  type AttemptIn,
  type AttemptWithCandidate,
  type CandidateDone,
  type Failure,
  type GreenAttempt,
  idOf,
  isChosen,
  isInLane,
  type Session,
  slotOf,
} from '../model/attempt.ts'
import { counterexampleName } from '../model/counterexample.ts'
import type { Inspection, Ports } from '../model/ports.ts'
import type { SavedWork } from '../model/saved-work.ts'
import type { State } from '../model/state.ts'
import { addUsage } from '../model/usage.ts'
import { exhaustedBudget } from '../state/limits.ts'
import { recordSession } from '../state/record-session.ts'
import { redGate, redService } from '../state/state-updates.ts'
import { type StepContext, type StepResult, sessionBounds } from '../state/step-context.ts'
import { storiesToReopen } from './undone.ts'

/** Runs a story's session, after a set-up session if that is due. */
export async function work(attempt: AttemptIn<'reserved'>, context: StepContext): Promise<StepResult> {
  const { state, ports } = context
  const { storyId, base } = attempt
  const id = idOf(attempt)
  const { conflict } = await ports.repository.checkOut(base, state.kept[storyId] ?? null)
  if (slotOf(attempt) !== undefined) await ports.repository.ignored.forCandidate()
  const begin = (from: State, now: number) =>
    ports.agent.work(state, attempt, { ...sessionBounds(from, context.limits, now), conflict }, ports.signal)
  if (!isSetUp(state, storyId, conflict))
    return { kind: 'worked', ...id, session: await runAfterSetUp(attempt, context, begin) }
  const session = await begin(state, context.now)
  const setUp = state.control.setUp === true ? undefined : state.kept[storyId]?.setUp
  return { kind: 'worked', ...id, session: setUp === undefined ? session : { ...session, setUp } }
}

/** Whether no set-up session is due: a passed story contains a set-up, or the story's own saved work does and still applies. */
function isSetUp({ control, kept }: State, storyId: string, conflict: string | null): boolean {
  return control.setUp === true || (kept[storyId]?.setUp !== undefined && conflict === null)
}

/** Runs both sessions and returns them as one, as guard and gates check their work together. `setUp`: the tree between them. */
async function runAfterSetUp(
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
  const setUp = (await currentWork(storyId, state, ports))?.tree ?? ''
  const done = {
    at: ports.clock.now(),
    kind: 'set-up',
    ...idOf(attempt),
    usage: first.usage,
    cutShort: true,
  } as const
  const left = recordSession(state, done, limits)
  const exhausted = exhaustedBudget(left, limits)
  if (exhausted !== null)
    return { ...first, others, status: 'interrupted', message: `after the set-up, ${exhausted}`, setUp }
  const session = await begin(left, ports.clock.now())
  const usage = addUsage(first.usage, session.usage)
  const learnings = [...first.learnings, ...session.learnings]
  return { ...session, usage, others: [...others, ...(session.others ?? [])], learnings, setUp }
}

/** Whether a session finished, and neither said that it is stuck nor that it is not done. */
export function hasSucceeded({ status, hints }: Session): boolean {
  return status === 'finished' && hints.stuck === null && !hints.notDone
}

/** Inspects the session's work. The event has the candidate for the gates, or the failure. */
export async function guard(attempt: AttemptIn<'worked'>, context: StepContext): Promise<StepResult> {
  const { storyId, session } = attempt
  const id = idOf(attempt)
  const inspection = await inspect(attempt, context)
  if (inspection.kind === 'refused') return { kind: 'refused', ...id, failure: inspection.failure }
  const candidate = {
    ...inspection.candidate,
    empty: inspection.candidate.empty || (await hasOnlySetUpWork(attempt, context)),
    ...((await isSameRedCode(attempt, context)) ? { wasRed: true as const } : {}),
  }
  const unfixed = candidate.empty ? unfixedGate(storyId, context.state) : null
  if (unfixed !== null) return { kind: 'refused', ...id, failure: unfixed }
  const isAllowed = !candidate.empty || (context.limits.finalVerification && session.hints.done)
  const { touched } = inspection
  if (isAllowed) return { kind: 'guarded', ...id, candidate, ...(touched === undefined ? {} : { touched }) }
  const failure: Failure = { kind: 'empty-diff', summary: 'the session changed nothing', detail: '' }
  return { kind: 'refused', ...id, failure }
}

/** The failure of an empty change, if a gate is red because of the story: only a change can fix that. */
function unfixedGate(storyId: string, { records }: State): Failure | null {
  const { owes = [], counterexamples = [], failure = null } = records[storyId] ?? {}
  const [gate] = [...owes, ...counterexamples.map((one) => counterexampleName(one))]
  if (gate === undefined) return null
  const summary = `gate ${gate} failed in the final verification because of this story, but the session changed nothing`
  return { ...failure, kind: 'empty-diff', summary, detail: failure?.detail ?? '' }
}

/** Whether the code is that of the last rejected attempt, with a red gate. A returned attempt may have left other work since. */
async function isSameRedCode(
  { storyId }: AttemptIn<'worked'>,
  { state, ports }: StepContext,
): Promise<boolean> {
  const record = state.records[storyId]
  if (record?.failure?.kind !== 'gates' || redService(record.gates) !== undefined) return false
  if (redGate(record.gates) === undefined && !record.gates.some(({ flaky }) => flaky === true)) return false
  return (await currentWork(storyId, state, ports))?.tree === record.breaker.tree
}

/** Whether the tree is still that of the set-up session, which does not count as work on the story. */
async function hasOnlySetUpWork({ storyId, session }: AttemptIn<'worked'>, { state, ports }: StepContext) {
  const { setUp = '' } = session
  return setUp !== '' && (await currentWork(storyId, state, ports))?.tree === setUp
}

/**
 * Inspects the session's work, which is hostile: an error during the inspection refuses the attempt. If the clone is damaged, or the
 * tree cannot even be restored, no story can be checked, and the run ends.
 */
async function inspect(
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
      failure: { kind: 'guard', summary: 'Ralph could not read the files that the session left', detail },
    }
  }
}

/** Saves the work for the story's next attempt, and leaves a clean tree at the green commit. */
export async function stashAttempt(attempt: Attempt, { state, ports }: StepContext) {
  const { repository } = ports
  const { storyId, base } = attempt
  const id = idOf(attempt)
  const before = state.kept[storyId] ?? null
  const left = attempt.phase === 'returned' ? attempt.left : undefined
  // The work tree of a lost lane is gone with its process, and the run's own checkout has nothing of it.
  const isGone = isInLane(attempt) && attempt.phase === 'returned' && attempt.reason === 'lost'
  if (isGone && left === undefined) return { ...id, kept: before }
  const kept =
    left === undefined
      ? await currentWork(storyId, state, ports)
      : await repository.workOf(state, { base, commit: left }).catch(() => before)
  if (!isGone) await repository.checkOut(state.green, null)
  return { ...id, kept }
}

/** Rebases a candidate. `state`: the run when the candidate before it has landed. */
export async function rebase(
  attempt: AttemptWithCandidate,
  { state, ports }: StepContext,
): Promise<StepResult> {
  const id = idOf(attempt)
  const built = await ports.repository.rebase(state, attempt)
  if ('conflict' in built) return { kind: 'conflicted', ...id, failure: built.conflict }
  await ports.repository.checkOut(built.candidate.commit, null)
  return { kind: 'rebased', ...id, base: state.green, candidate: built.candidate }
}

/** Measures one of several candidates, or saves the work of one that failed, and leaves a clean tree. */
export async function enter(attempt: CandidateDone, context: StepContext): Promise<StepResult> {
  const { state, ports } = context
  if (attempt.phase === 'failed')
    return { kind: 'entered', lines: null, ...(await stashAttempt(attempt, context)) }
  const lines = await ports.repository.productLines(state, attempt.base, attempt.candidate.commit)
  await ports.repository.checkOut(state.green, null)
  return { kind: 'entered', ...idOf(attempt), lines, kept: null }
}

/** The pipeline steps after the commit run before the story passes. They cannot change the commit. */
export async function accept(
  attempt: GreenAttempt,
  { state, limits, ports, now }: StepContext,
): Promise<StepResult> {
  const { candidate } = attempt
  const { agent, repository, signal } = ports
  // The green commit is checked out, and no session works in it.
  if (isInLane(attempt) || isChosen(attempt)) await repository.checkOut(candidate.commit, null)
  const { timeoutMs } = sessionBounds(state, limits, now)
  const after = await agent.afterwards?.(state, attempt, timeoutMs, signal)
  const changed = await repository.changeSize?.(attempt.base, candidate.commit)
  return {
    kind: 'accepted',
    ...idOf(attempt),
    commit: candidate.commit,
    ...(after === undefined ? {} : { after }),
    ...(changed === undefined ? {} : { changed }),
    ...(await storiesToReopen(attempt, { state, ports })),
  }
}

/** The story's work in the tree, without files that the guard refuses; null without any, or if it cannot be read. */
function currentWork(storyId: string, state: State, { repository }: Ports): Promise<SavedWork | null> {
  return repository.saveWork(state, storyId).catch((error: unknown) => {
    if (error instanceof DamagedClone) throw error
    return null
  })
}
