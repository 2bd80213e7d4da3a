// An attempt, from its reservation until it is ready to be accepted, rejected or returned. Pure.

import { haltOnPortConflict, recordBaseRuns, recordFirstRuns } from '../gating/gate-memory.ts'
import {
  type Attempt,
  type AttemptId,
  type AttemptIn,
  asGuarded,
  assignedWorker,
  attemptKey,
  type Failure,
  type GreenAttempt,
  hasCandidate,
  idOf,
  isChosen,
  isGreen,
  isInLane,
  isInWork,
  placeOf,
  type RejectableAttempt,
  type Runner,
  type Session,
  slotOf,
  withoutWorker,
} from '../model/attempt.ts'
import type { EventOf } from '../model/event.ts'
import { type GateResult, gateFindings } from '../model/gate.ts'
import type { Limits } from '../model/limit-types.ts'
import { describeMutant } from '../model/mutant.ts'
import type { State } from '../model/state.ts'
import { pickStory } from '../prd/select.ts'
import { startTrial } from '../state/breaker.ts'
import { beginContest, contestOf, nextSlot, waitToBeChosen } from '../state/contests.ts'
import { dependenciesToJudge } from '../state/dependencies.ts'
import {
  chooseAgent,
  countCalls,
  estimateSession,
  FIX_AGENT,
  recordAgentUnavailable,
  withAgentLimit,
} from '../state/limits.ts'
import { rungFor } from '../state/model-ladder.ts'
import { recordSession } from '../state/record-session.ts'
import { withTouched } from '../state/shared-files.ts'
import {
  haltWithError,
  incrementCount,
  redGate,
  redGateReason,
  sessionOf,
  withAttempt,
  withoutAttempt,
  withPipelineResult,
  withReady,
  withRecord,
} from '../state/state-updates.ts'
import { withLearnings } from '../state/story-notes.ts'

/** The attempt if it is in this phase, else null: events for another phase are ignored. */
export function attemptIn<P extends Attempt['phase']>(
  { attempts }: State,
  id: AttemptId,
  phase: P,
): AttemptIn<P> | null {
  const attempt = attempts[attemptKey(id)]
  const isInPhase = (one: Attempt | undefined): one is AttemptIn<P> => one?.phase === phase
  return isInPhase(attempt) ? attempt : null
}

export function reserve(state: State, event: EventOf<'reserved'>, limits: Limits): State {
  const { storyId, at, worker } = event
  const story = pickStory(state.prd, (candidate) => candidate.id === storyId)
  const open = Object.values(state.attempts)
  const next = story === null ? null : nextSlot(state, story, limits)
  if (story === null || next === null || open.length >= maxOpenAttempts(state, limits)) return state
  const { of, slot } = next
  const contested = beginContest(state, storyId, of)
  const started = withRecord(contested, storyId, ({ choice: _before, ...record }) => ({
    ...record,
    attempts: record.attempts + 1,
    breaker: startTrial(record.breaker, at),
  }))
  const agentChoice = chooseAgent(state, limits, at, story.retries)
  const model = agentChoice === 'first' ? rungFor(state, limits, story) : null
  const run = {
    ...state.prd.run,
    currentStoryId: storyId,
    startedAt: state.prd.run.startedAt ?? new Date(at).toISOString(),
  }
  const begun = incrementCount(countCalls({ ...started, prd: { ...state.prd, run } }, at), 'begun')
  return withAttempt(withReady(begun, { synced: false }), {
    phase: 'reserved',
    storyId,
    ...(slot === undefined
      ? {}
      : { contest: { stage: 'open', slot, ordinal: started.records[storyId]?.attempts ?? 1 } }),
    number: story.retries + 1,
    iteration: Math.max(state.prd.run.iterations, ...open.map((one) => one.iteration)) + 1,
    agent: agentChoice,
    ...(model === null ? {} : { model }),
    base: contestOf(started, storyId)?.base ?? state.green,
    startedAt: at,
    reserved: estimateSession(state, limits),
    unwanted: false,
    runner: runnerFor(limits, worker),
  })
}

function runnerFor({ maxParallel }: Limits, worker: string | undefined): Runner {
  if (maxParallel === 1) return { at: 'checkout' }
  return worker === undefined ? { at: 'lane' } : { at: 'lane', worker }
}

/** The maximum number of attempts at a time. Workers of a wave leave candidates that wait for others, and begin the next story. */
export function maxOpenAttempts({ job }: State, { maxParallel }: Limits): number {
  return job.wave === undefined ? maxParallel : maxParallel + MAX_WAITING
}

/** How many candidates may wait in the train. If one fails, every later candidate needs another gate run. */
const MAX_WAITING = 4

/** A worker takes an attempt that has none, or leaves (`worker: null`) a candidate that waits for others. */
export function assigned(state: State, event: EventOf<'assigned'>): State {
  const { worker } = event
  const attempt = state.attempts[attemptKey(event)]
  if (attempt === undefined) return state
  // The candidate before it may have landed meanwhile. If that made this attempt fail, this worker has to end it.
  const isFree = worker === null ? hasCandidate(attempt) : assignedWorker(attempt) === undefined
  if (!isFree) return state
  const free = withoutWorker(attempt)
  return withAttempt(state, worker === null ? free : { ...free, runner: { at: 'lane', worker } })
}

/** Any other worker may take over the candidate. An attempt without a candidate is returned uncharged. */
export function abandoned(state: State, event: EventOf<'abandoned'>, limits: Limits): State {
  const { why, spent, at } = event
  const id = idOf(event)
  const paid = spent === null ? state : recordSession(state, { ...spent, at, cutShort: true }, limits)
  const attempt = paid.attempts[attemptKey(id)]
  if (attempt === undefined || !hasCandidate(attempt)) return refund(paid, id, 'interrupted', why)
  return assigned(paid, { kind: 'assigned', ...id, worker: null, at })
}

export function worked(state: State, event: EventOf<'worked'>, limits: Limits): State {
  const { session, at } = event
  const attempt = attemptIn(state, event, 'reserved')
  if (attempt === null) return state
  // The attempt counted its first call when it began. A set-up session and pipeline steps are further calls.
  const counted = withPipelineResult(countCalls(state, at, session.usage.calls - 1), session)
  const { usage, others } = session
  const cutShort = session.status === 'interrupted'
  const spent = recordSession(
    counted,
    { at, kind: 'run', ...idOf(event), usage, cutShort, ...(others && { others }) },
    limits,
  )
  const paid = withSessionLearnings(spent, session.learnings)
  const now: AttemptIn<'worked'> = { ...attempt, phase: 'worked', session }
  const next = withAttempt(paid, now)
  const { hints, message } = session
  switch (session.status) {
    case 'finished':
      if (hints.stuck !== null) return fail(next, now, 'stuck', `the agent says it is stuck: ${hints.stuck}`)
      return hints.notDone ? fail(next, now, 'stuck', 'the agent says that it is not done') : next
    case 'failed':
      return fail(next, now, 'session', message, { detail: session.detail ?? '' })
    case 'limit':
    case 'overloaded':
      return refund(
        withAgentLimit(next, attempt.agent, limits, session.resetsAt, at),
        event,
        session.status,
        message,
      )
    case 'interrupted':
      return refund(next, event, 'interrupted', message)
    case 'auth':
    case 'not-started':
      return haltWithError(refund(next, event, 'limit', message), message, FIX_AGENT)
  }
}

export function guarded(before: State, event: EventOf<'guarded'>): State {
  const { storyId, candidate, touched = [] } = event
  const attempt = attemptIn(before, event, 'worked')
  if (attempt === null) return before
  const state = withTouchedFiles(before, storyId, touched)
  return withAttempt(state, {
    ...attempt,
    phase: 'guarded',
    candidate,
    // A candidate of a contest gets its place only when it is chosen.
    ...(slotOf(attempt) === undefined ? lastInTrain(state, attempt) : {}),
  })
}

/** The last place of the train. There is no train if stories are worked on one after another. */
export function lastInTrain({ attempts }: State, attempt: Attempt): Pick<AttemptIn<'guarded'>, 'train'> {
  if (!isInLane(attempt)) return {}
  const places = Object.values(attempts).map((one) => (hasCandidate(one) ? placeOf(one) : 0))
  return { train: { place: Math.max(0, ...places) + 1, isRedBehind: false } }
}

/** Records which files the attempt changed. Other stories that are expected to change one of them then wait for it. */
function withTouchedFiles(state: State, storyId: string, touched: readonly string[]): State {
  const story = state.prd.userStories.find(({ id }) => id === storyId)
  if (story === undefined || touched.length === 0) return state
  return withRecord(state, storyId, (record) => withTouched(record, story, touched))
}

export function refused(state: State, event: EventOf<'refused'>): State {
  const attempt = attemptIn(state, event, 'worked')
  return attempt === null ? state : withAttempt(state, rejectable(attempt, event.failure))
}

/** Gates have not run on the rebased candidate, so the earlier results are removed. */
export function rebased(state: State, event: EventOf<'rebased'>): State {
  const { base, candidate } = event
  const attempt = state.attempts[attemptKey(event)]
  if (attempt === undefined || !hasCandidate(attempt)) return state
  return withAttempt(state, {
    ...asGuarded(attempt),
    ...(attempt.train === undefined ? {} : { train: { ...attempt.train, isRedBehind: false } }),
    base,
    candidate,
    rebased: (attempt.rebased ?? 0) + 1,
  })
}

/** Not a failed attempt: the story's next session builds on its saved work and on what landed. */
export function conflicted(state: State, event: EventOf<'conflicted'>): State {
  const { storyId, failure } = event
  const attempt = state.attempts[attemptKey(event)]
  if (attempt === undefined || !hasCandidate(attempt)) return state
  const returned = refund(state, event, 'conflict', failure.summary)
  // It conflicts with candidates before it in the train; later ones are not involved.
  const place = placeOf(attempt)
  const others = Object.values(state.attempts)
    .filter((other) => slotOf(other) === undefined && hasCandidate(other) && placeOf(other) < place)
    .map((other) => other.storyId)
  return withRecord(returned, storyId, (record) => ({
    ...record,
    failure,
    conflicts: [...new Set([...(record.conflicts ?? []), ...others])],
  }))
}

export function gated(before: State, event: EventOf<'gated'>, limits: Limits): State {
  const { commit, gates, paths } = event
  const attempt = attemptIn(before, event, 'guarded')
  if (attempt === null || attempt.candidate.commit !== commit) return before
  const state = recordBaseRuns(before, attempt, event.base)
  const earlierPaths = paths === undefined ? {} : { paths }
  const now: AttemptIn<'gated'> = { ...attempt, phase: 'gated', gates, ...earlierPaths }
  const red = redGate(gates)
  // In the train the candidate may be on top of another one that has not landed. Then either of the two may be the cause, so the attempt
  // does not fail. Its gates run again after the other one has landed or left. A candidate of a contest does fail: its base has landed, so
  // only its own change can be the cause.
  const { train, base } = attempt
  if (red !== undefined && train !== undefined && base !== state.green)
    return withAttempt(state, { ...attempt, train: { ...train, isRedBehind: true } })
  if (red === undefined && attempt.candidate.wasRed === true) return failAsFlaky(state, now)
  const [finding] = gateFindings(gates)
  if (red === undefined && finding !== undefined && limits.weakenedTests === 'fail')
    return fail(state, now, 'gates', finding, describeWeakened(gates))
  const remarks = proofRemarks(event)
  const [unproved] = remarks
  if (red === undefined && unproved !== undefined && limits.needsProof === 'require')
    return fail(state, now, 'gates', unproved, {
      detail: describeProof(event),
    })
  if (red === undefined) return recordFirstRuns(withAttempt(state, noted(now, remarks)), gates)
  const ended = haltOnPortConflict(state, gates)
  if (ended !== null) return refund(ended, event, 'limit', redGateReason(red, gates))
  return fail(state, now, 'gates', redGateReason(red, gates), { gate: red.name })
}

const UNPROVED = 'no gate fails without this change, so no test shows that the change works'
const PROOF_ASKED =
  'The gates pass with this change, and also when its product files are reset. Write a test that fails without the change.'
const UNNOTICED = 'no test fails if Ralph puts a mistake into the new code: '
const NOTICE_ASKED =
  'Ralph put each of these mistakes into the new code, and the gates still passed. Write tests that compare the results of the new code with the right ones.'

/** What the gates do not check of the change, for people: nothing fails without it, or with a mistake in it. */
export function proofRemarks({
  unproved,
  unnoticed = [],
}: Pick<EventOf<'gated'>, 'unproved' | 'unnoticed'>): string[] {
  const [first, ...others] = unnoticed
  const more = others.length === 0 ? '' : ` (and with ${others.length} more)`
  return [
    ...(unproved === true ? [UNPROVED] : []),
    ...(first === undefined ? [] : [`${UNNOTICED}${describeMutant(first)}${more}`]),
  ]
}

/** What the next session has to do. */
function describeProof({ unproved, unnoticed = [] }: EventOf<'gated'>): string {
  return unproved === true
    ? PROOF_ASKED
    : [NOTICE_ASKED, ...unnoticed.map((one) => `- ${describeMutant(one)}`)].join('\n')
}

/** Adds these remarks. Gates on an earlier base may have left such remarks, which go. */
function noted(attempt: AttemptIn<'gated'>, remarks: readonly string[]): AttemptIn<'gated'> {
  const { candidate } = attempt
  const others = candidate.remarks.filter((one) => one !== UNPROVED && !one.startsWith(UNNOTICED))
  return { ...attempt, candidate: { ...candidate, remarks: [...others, ...remarks] } }
}

/** Whether a judge has to decide: the change is empty, adds packages, or gates check less than before. */
export function needsJudge({ candidate, gates }: GreenAttempt, limits: Limits): boolean {
  const isWeakened = limits.weakenedTests === 'judge' && gateFindings(gates).length > 0
  return candidate.empty || isWeakened || dependenciesToJudge(candidate, limits).length > 0
}

const PACKAGES_ASKED = { detail: 'Add no package that the acceptance criteria do not need.' }

/** The details for the next attempt: the gate that is red with the earlier tests, and what gates no longer check. */
function describeWeakened(gates: readonly GateResult[]): Partial<Failure> {
  const red = gates.find(({ further, ok }) => further === 'checks' && !ok)
  const lines = gateFindings(gates).map((line) => `- ${line}`)
  const ask = 'Keep what the tests expected, unless the acceptance criteria ask for another result.'
  return { detail: [ask, ...lines].join('\n'), ...(red === undefined ? {} : { gate: red.name }) }
}

/** Fails an attempt whose gate was red before and is green now, on the same code: a flaky gate passes no story. */
function failAsFlaky(state: State, attempt: AttemptIn<'gated'>): State {
  const { failure = null, gates = [] } = state.records[attempt.storyId] ?? {}
  const before = redGate(gates) ?? gates.find((gate) => gate.flaky === true)
  const name = before?.name ?? ''
  const summary = `gate ${name} is flaky: it failed in the previous attempt, and now passes on the same code`
  const marked = attempt.gates.map((gate) =>
    gate.name === name ? { ...gate, flaky: true as const, remarks: [FLAKY, ...(gate.remarks ?? [])] } : gate,
  )
  const detail =
    before?.flaky === true
      ? (failure?.detail ?? '')
      : `Red:\n${before?.output ?? ''}\n\nGreen on the same code:`
  return fail(state, { ...attempt, gates: marked }, 'gates', summary, { detail, gate: name })
}

const FLAKY = 'flaky: it failed, then passed on the same code. Fix it, or accept it with `retries`'

export function judged(state: State, event: EventOf<'judged'>, limits: Limits): State {
  const { verdict, usage, at } = event
  const gated = attemptIn(state, event, 'gated')
  if (gated === null || !needsJudge(gated, limits)) return state
  const paid = recordSession(countCalls(state, at), { at, kind: 'judge', ...idOf(event), usage }, limits)
  if (!gated.candidate.empty && (verdict.kind === 'reset' || verdict.kind === 'none')) {
    const [finding = ''] = [...gateFindings(gated.gates), ...dependenciesToJudge(gated.candidate, limits)]
    const why =
      verdict.kind === 'reset'
        ? `a judge says that the story does not require this: ${verdict.reason}`
        : `no judge confirmed that the story requires this: ${verdict.message}`
    const details = gateFindings(gated.gates).length > 0 ? describeWeakened(gated.gates) : PACKAGES_ASKED
    return fail(paid, gated, 'judge', `${finding}; ${why}`, details)
  }
  switch (verdict.kind) {
    case 'verified':
      return withAttempt(paid, { ...gated, phase: 'judged' })
    case 'reset':
      return fail(paid, gated, 'judge', `nothing was changed, and the judge disagrees: ${verdict.reason}`)
    case 'limit':
    case 'refused':
      return refund(recordAgentUnavailable(paid, verdict, limits, event), event, 'limit', verdict.message)
    case 'none': {
      const why = `nothing was changed, and no judge confirmed that no change was needed: ${verdict.message}`
      return fail(paid, gated, 'empty-diff', why)
    }
  }
}

/** Returns an attempt in progress without charging it: it was cancelled, stopped by a limit, or lost. */
export function refund(
  state: State,
  id: AttemptId | Attempt,
  reason: AttemptIn<'returned'>['reason'],
  message: string,
): State {
  const attempt = state.attempts[attemptKey(id)]
  if (attempt === undefined) return state
  // A chosen candidate with green gates needs no further session: it waits in the contest and lands later. After a conflict its work
  // no longer applies, so it is returned like any other attempt.
  if (isChosen(attempt) && isGreen(attempt) && reason !== 'conflict')
    return waitToBeChosen(withoutAttempt(state, attempt), attempt)
  const session = sessionOf(attempt)
  const isApart = isInLane(attempt) || isChosen(attempt)
  const left = isApart && hasCandidate(attempt) ? { left: attempt.candidate.commit } : {}
  return withAttempt(state, {
    ...reservedFields(attempt),
    phase: 'returned',
    session,
    reason,
    message,
    ...left,
  })
}

/** Returns all attempts in progress. Failed and returned attempts are left to their own next step. */
export function refundAll(state: State, reason: AttemptIn<'returned'>['reason'], message: string): State {
  return attemptsInWork(state).reduce((after, attempt) => refund(after, attempt, reason, message), state)
}

export function attemptsInWork({ attempts }: State): Attempt[] {
  return Object.values(attempts).filter(isInWork)
}

export function fail(
  state: State,
  attempt: RejectableAttempt,
  kind: Failure['kind'],
  summary: string,
  details: Partial<Failure> = {},
): State {
  return withAttempt(state, rejectable(attempt, { kind, summary, detail: '', ...details }))
}

function rejectable(attempt: RejectableAttempt, failure: Failure): AttemptIn<'failed'> {
  const { session } = attempt
  const candidate = hasCandidate(attempt) ? attempt.candidate : null
  const remarks = candidate?.remarks ?? []
  const gates = isGreen(attempt) ? attempt.gates : []
  const tried = isGreen(attempt) && attempt.tried !== undefined ? { tried: attempt.tried } : {}
  const isTestsOnly = candidate?.testsOnly === true
  const testsOnly = isTestsOnly ? { testsOnly: true as const } : {}
  return {
    ...reservedFields(attempt),
    phase: 'failed',
    session,
    ...testsOnly,
    remarks,
    gates,
    failure,
    ...tried,
  }
}

function reservedFields(attempt: Attempt) {
  const { storyId, number, iteration, agent, base, startedAt, reserved, unwanted } = attempt
  const { runner, model, contest } = attempt
  return {
    ...{ storyId, number, iteration, agent, base, startedAt, reserved, unwanted, runner },
    ...(model === undefined ? {} : { model }),
    ...(contest === undefined ? {} : { contest }),
  }
}

function withSessionLearnings(state: State, learnings: Session['learnings']): State {
  if (learnings.length === 0) return state
  const run = { ...state.prd.run, learnings: withLearnings(state.prd.run.learnings, learnings) }
  return { ...state, prd: { ...state.prd, run } }
}
