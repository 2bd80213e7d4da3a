// How events change the state. Pure: the only place that passes, blocks, charges or counts anything.

import { EVENTS, type Event } from '../model/event.ts'
import type { Prd, Story } from '../model/feature.ts'
import type { GateResult } from '../model/gate.ts'
import type { Limits } from '../model/limits.ts'
import type { Attempt, Failure, Kept, State, StoryRecord, TimelineEntry } from '../model/state.ts'
import { addUsage, emptyUsage, type Usage } from '../model/usage.ts'
import { mergePeople } from '../prd/merge.ts'
import { pickStory } from '../prd/select.ts'
import { excerpt } from '../system/excerpt.ts'
import { agentFor, withLimit } from './agent-limits.ts'
import { closedBreaker, struck, tried } from './breaker.ts'
import { applyCommand, notApproved } from './commands.ts'
import { withLearnings } from './learnings.ts'
import { endOfWork, estimate, idle, isGated, MAX_IDLE_JOBS, withCall } from './limits.ts'
import { isNoted, notesWith, peopleNotes, TRY_AGAIN } from './notes.ts'
import { UNCHANGED, UNGATED } from './passed.ts'
import { progressEntry } from './progress.ts'

const TIMELINE = 200
/** Between two tries to start the next job, milliseconds. */
const LEAST_PAUSE_MS = 60_000
const MEND_AGENT = 'mend the agent, then run again'
/** Joins with people's pushes in one job. */
const MAX_JOINS = 5

/** The state after an event. Total: an event that does not fit the state changes nothing. */
export function reduce(state: State, event: Event, limits: Limits): State {
  const after = reduced(state, event, limits)
  return EVENTS[event.kind].landed && after.job.landing !== null
    ? withJob(after, { landing: 'nothing' })
    : after
}

function reduced(state: State, event: Event, limits: Limits): State {
  switch (event.kind) {
    case 'synced':
      return synced(state, event, limits)
    case 'joined':
      return joined(state, event, limits)
    case 'restored':
      return withJob(
        { ...state, published: state.green },
        { branchGone: null, takesBranch: false, synced: false },
      )
    case 'push-refused':
      // Before the first publish nothing exists yet: that is an error to be mended, not a pause.
      if (state.published === null) {
        return failed(state, event.summary, `let this token push ${state.branch}, then run again`)
      }
      return reduce(state, { at: event.at, kind: 'join-failed', summary: event.summary }, limits)
    case 'push-expired':
      return expired(state, event.summary, event.at)
    case 'join-failed':
      return withJob(pausedByRalph(state, event.summary), {
        theirs: null,
        branchRefused: true,
        conclusion: null,
      })
    case 'diverged':
      // A job that ends anyway joins nothing more: the state alone is pushed, and the next job joins.
      if (
        state.job.error !== null ||
        state.job.interrupted ||
        state.job.landing !== null ||
        event.at >= endOfWork(state.job)
      ) {
        return withJob(state, { branchRefused: true })
      }
      return state.job.joins >= MAX_JOINS
        ? keepsMoving(state, event.at, limits)
        : withJob(state, { theirs: event.theirs, conclusion: null })
    case 'prepared':
      return withJob(state, { prepared: true })
    case 'baselined': {
      const red = event.gates.find((gate) => !gate.ok && !gate.advisory)
      if (red === undefined) return { ...state, baseline: 'green' }
      // bash(1): a command that was found and cannot be run, and one that was not found.
      if (/^exit 12[67]$/.test(red.ended)) {
        return failed(
          state,
          `gate ${red.name} cannot be run (${red.ended}): a program that it calls is missing`,
          `install what gate ${red.name} calls, or mend its command; its output:\n${excerpt(red.output, 4000)}`,
        )
      }
      return failed(
        state,
        `the base is red: gate ${red.name} fails before Ralph changed anything (${red.ended})`,
        `mend ${state.base.branch} first, or set baseline: off for a project that does not exist yet; its output:\n${excerpt(red.output, 4000)}`,
      )
    }
    case 'opened':
      return withJob(
        {
          ...state,
          green: event.green,
          published: event.green,
          github: event.github,
          progress: state.published === null ? [] : state.progress,
        },
        { opened: true },
      )
    case 'pushed':
      return { ...state, published: state.green, github: event.github }
    case 'reserved':
      return reserve(state, event.storyId, event.at, limits)
    case 'worked':
      return worked(state, event.session, event.at, limits)
    case 'guarded':
      return inPhase(state, 'worked', (attempt) => ({
        ...attempt,
        phase: 'guarded',
        guardedAt: event.at,
        candidate: event.candidate,
        empty: event.empty,
        remarks: event.remarks,
      }))
    case 'refused':
      return inPhase(state, 'worked', (attempt) => ({ ...attempt, phase: 'failed', failure: event.failure }))
    case 'gated':
      return inPhase(state, 'guarded', (attempt) =>
        attempt.candidate === event.candidate ? gated(attempt, event.gates) : attempt,
      )
    case 'judged':
      return judged(state, event, limits)
    case 'accepted':
      return accepted(state, event.commit, event.at)
    case 'rejected':
      return rejected(state, event.kept, limits, event.at)
    case 'returned':
      return returned(state, event.kept, limits, event.at)
    case 'verified':
      return verified(state, event, limits)
    case 'waited':
      return withJob(state, { synced: false })
    case 'concluded':
      return withJob(state, { conclusion: event.conclusion, concludedAt: event.at })
    case 'published':
      return withJob(
        {
          ...released(state, limits),
          green: event.green,
          published: event.withBranch ? event.green : state.published,
        },
        { published: true, more: event.more },
      )
    case 'dispatched':
      return withJob(
        { ...state, control: { ...state.control, continuePending: false } },
        { dispatched: true, dispatchAfter: null, nextRunId: event.runId },
      )
    case 'dispatch-failed': {
      const conclusion = { outcome: 'error' as const, reason: event.summary, until: null }
      return withJob(state, { dispatched: true, conclusion })
    }
    case 'dispatch-limited': {
      // One who keeps asking may be shut out for good (facts 3.5).
      const waiting = withJob(state, { dispatchAfter: Math.max(event.until, event.at + LEAST_PAUSE_MS) })
      return (waiting.job.dispatchAfter ?? 0) < state.job.deadline ? waiting : holdBack(waiting)
    }
    case 'reported':
      return withJob({ ...state, github: event.github }, { reported: true })
    case 'interrupted':
    case 'out-of-time': {
      if (state.job.conclusion !== null)
        return event.kind === 'interrupted' ? chainEnded(state) : holdBack(state)
      const paid = event.usage === null ? state : spend(state, state.attempt?.storyId ?? null, event.usage)
      if (event.kind === 'interrupted')
        return withJob(refund(paid, 'interrupted', 'cancelled'), { interrupted: true })
      return withJob(refund(paid, 'interrupted', 'the job deadline came first'), { theirs: null })
    }
    case 'failed':
      return failed(state, event.summary, event.fix)
  }
}

/** The job ends before a rate limit lets it start the next one: whoever looks for lost chains does that. */
function holdBack(state: State): State {
  const { conclusion, dispatchAfter, dispatched } = state.job
  if (conclusion === null || dispatchAfter === null || dispatched) return state
  const until = new Date(dispatchAfter).toISOString()
  const reason = `${conclusion.reason}; GitHub's rate limit refuses the next job until ${until}`
  return withJob(state, { dispatched: true, conclusion: { ...conclusion, reason } })
}

/** A person cancelled the job while it waited to start the next one. */
function chainEnded(state: State): State {
  const { conclusion, dispatchAfter, dispatched } = state.job
  if (conclusion === null || dispatchAfter === null || dispatched) return state
  const reason = 'cancelled before the next job was started; the state is saved'
  return withJob(state, {
    dispatched: true,
    conclusion:
      conclusion.outcome === 'continued' ? { outcome: 'interrupted', reason, until: null } : conclusion,
  })
}

function synced(state: State, event: Extract<Event, { kind: 'synced' }>, limits: Limits): State {
  const { commands, theirs } = event
  const asked = state.job.takesBranch || commands.some((command) => command.kind === 'run')
  const heard = withJob(commands.reduce(applyCommand, state), { synced: true, takesBranch: asked })
  if (theirs === null) return heard
  if (theirs === 'merged' || theirs === 'deleted') return withJob(heard, { branchGone: theirs })
  if (state.job.joins >= MAX_JOINS) return keepsMoving(heard, event.at, limits)
  return withJob(heard, { theirs: theirs.head })
}

/** People's commits are ours now. Nothing passes that their branch does not hold. */
function joined(state: State, event: Extract<Event, { kind: 'joined' }>, limits: Limits): State {
  const { people, takenBack, entries } = event
  const prd =
    people === null
      ? state.prd
      : mergePeople(state.prd, people.prd, new Set(people.seen), (id) => isNoted(state, id)).prd
  const moved = {
    ...state,
    prd,
    green: event.green,
    published: event.theirs,
    progress: [...entries, ...state.progress],
    // A story that people removed takes its work and its record along: its name may be given again.
    kept: inPlan(state.kept, prd),
    records: inPlan(state.records, prd),
  }
  const joins = state.job.joins + 1
  let after = withJob(unverified(moved), { theirs: null, joins, takesBranch: false, synced: false })
  for (const { storyId, kept, failure } of takenBack) {
    if (kept !== null) after = { ...after, kept: { ...after.kept, [storyId]: kept } }
    after = revert(after, storyId, failure, event.at, limits)
  }
  return after
}

function inPlan<T>(all: Record<string, T>, prd: Prd): Record<string, T> {
  const ids = new Set(prd.userStories.map((story) => story.id))
  return Object.fromEntries(Object.entries(all).filter(([id]) => ids.has(id)))
}

/** The next job has a token that is known again; the state alone is saved until then. */
function expired(state: State, summary: string, at: number): State {
  const before = state.job.conclusion?.outcome ?? 'continued'
  if (before === 'error' || before === 'interrupted' || before === 'paused')
    return withJob(state, { branchRefused: true })
  const conclusion = { outcome: 'continued' as const, reason: summary, until: null }
  if (state.published === null || (idle(state, conclusion) && state.control.idleJobs + 1 >= MAX_IDLE_JOBS))
    return failed(
      withJob(state, { conclusion: null }),
      summary,
      'give a publish-token that is valid, then run again',
    )
  return withJob(state, { branchRefused: true, conclusion, concludedAt: at })
}

/** A person's own pause stays theirs. */
function pausedByRalph(state: State, reason: string): State {
  if (state.control.paused !== null && state.control.paused.by !== 'ralph') return state
  return { ...state, control: { ...state.control, paused: { reason, by: 'ralph' } } }
}

/** The branch moves whenever we look: the state is saved, and a person decides. */
function keepsMoving(state: State, at: number, limits: Limits): State {
  return reduce(state, { at, kind: 'join-failed', summary: 'people keep pushing to the branch' }, limits)
}

/** The state as the job leaves it: lease free, generation moved on, so that a doubled dispatch cannot fork the chain. */
export function released(state: State, limits: Limits): State {
  const { conclusion } = state.job
  const outcome = conclusion?.outcome ?? null
  const goesOn = outcome === 'continued' && limits.redispatch
  const idleJobs = conclusion !== null && idle(state, conclusion) ? state.control.idleJobs + 1 : 0
  const ended = state.job.concludedAt === null ? null : new Date(state.job.concludedAt).toISOString()
  return {
    ...state,
    lease: null,
    generation: state.generation + 1,
    control: {
      ...state.control,
      continuePending: goesOn,
      mendedRun: goesOn ? (state.lease?.runId ?? null) : state.control.mendedRun,
      idleJobs,
      notBefore: conclusion?.until ?? null,
    },
    prd: {
      ...state.prd,
      run: {
        ...state.prd.run,
        outcome: outcome === 'continued' ? null : outcome,
        currentStoryId: null,
        completedAt: outcome === 'complete' ? (state.prd.run.completedAt ?? ended) : null,
      },
    },
  }
}

/** What is known of a story that was never worked on. */
export function emptyRecord(): StoryRecord {
  return {
    failure: null,
    gates: [],
    remarks: [],
    interruptions: 0,
    breaker: closedBreaker(),
    usage: emptyUsage(),
    attempts: 0,
    ms: 0,
    commit: null,
  }
}

/** Gives the attempt in work back uncharged (cancelled, limited, lost). */
export function refund(
  state: State,
  reason: NonNullable<Attempt['returned']>['reason'],
  message: string,
): State {
  return inAttempt(state, (attempt) => ({ ...attempt, phase: 'returned', returned: { reason, message } }))
}

function reserve(state: State, storyId: string, at: number, limits: Limits): State {
  const story = pickStory(state.prd, (candidate) => candidate.id === storyId)
  if (story === null || state.attempt !== null) return state
  const { costUsd, tokens } = estimate(state, limits)
  const attempt: Attempt = {
    storyId,
    number: story.retries + 1,
    iteration: state.prd.run.iterations + 1,
    agent: agentFor(state, limits, at, story.retries),
    startedAt: at,
    reservedCostUsd: costUsd,
    reservedTokens: tokens,
    phase: 'reserved',
    guardedAt: at,
    session: null,
    candidate: null,
    empty: false,
    remarks: [],
    gates: [],
    failure: null,
    returned: null,
  }
  const started = withRecord(state, storyId, (record) => ({
    ...record,
    attempts: record.attempts + 1,
    breaker: tried(record.breaker, at),
  }))
  const run = {
    ...state.prd.run,
    currentStoryId: storyId,
    startedAt: state.prd.run.startedAt ?? new Date(at).toISOString(),
  }
  const control = { ...state.control, calls: withCall(state.control.calls, at) }
  return withJob(
    { ...started, attempt, control, prd: { ...state.prd, run } },
    { begun: state.job.begun + 1, synced: false },
  )
}

function worked(state: State, session: NonNullable<Attempt['session']>, at: number, limits: Limits): State {
  if (state.attempt?.phase !== 'reserved') return state
  const { storyId } = state.attempt
  const noted = learn(spend(state, storyId, session.usage), session.learnings)
  const next = inAttempt(noted, (attempt) => ({ ...attempt, session }))
  const { hints } = session
  switch (session.status) {
    case 'finished':
      if (hints.stuck !== null) return fail(next, 'stuck', `the agent says it is stuck: ${hints.stuck}`, '')
      if (hints.notDone) return fail(next, 'stuck', 'the agent says that it is not done', '')
      return inAttempt(next, (attempt) => ({ ...attempt, phase: 'worked' }))
    case 'failed':
      return fail(next, 'session', session.message, '')
    case 'limit':
    case 'overloaded':
      return refund(
        withLimit(next, state.attempt.agent, limits, session.resetsAt, at),
        session.status,
        session.message,
      )
    case 'interrupted':
      return refund(next, 'interrupted', session.message)
    case 'auth':
    case 'not-started':
      return failed(refund(next, 'limit', session.message), session.message, MEND_AGENT)
  }
}

function gated(attempt: Attempt, gates: GateResult[]): Attempt {
  const red = gates.find((gate) => !gate.ok && !gate.advisory)
  if (red === undefined) return { ...attempt, gates, phase: 'gated' }
  const failure: Failure = {
    kind: 'gates',
    summary: `gate ${red.name} failed (${red.ended})`,
    detail: red.output,
  }
  return { ...attempt, gates, phase: 'failed', failure }
}

function judged(state: State, event: Extract<Event, { kind: 'judged' }>, limits: Limits): State {
  if (state.attempt?.phase !== 'gated' || !state.attempt.empty) return state
  const called = { ...state, control: { ...state.control, calls: withCall(state.control.calls, event.at) } }
  const paid = spend(called, state.attempt.storyId, event.usage)
  switch (event.verdict.kind) {
    case 'verified':
      return inAttempt(paid, (attempt) => ({ ...attempt, phase: 'judged' }))
    case 'reset':
      return fail(paid, 'judge', `nothing was changed, and the judge disagrees: ${event.verdict.reason}`, '')
    case 'limit':
      return refund(
        judgeLimited(paid, event.verdict.notBefore, limits, event),
        'limit',
        event.verdict.message,
      )
    case 'refused':
      return failed(refund(paid, 'limit', event.verdict.message), event.verdict.message, MEND_AGENT)
    case 'none':
      return fail(
        paid,
        'empty-diff',
        `nothing was changed, and nobody confirmed that nothing had to be: ${event.verdict.message}`,
        '',
      )
  }
}

/** The limit of the agent that judged; the other one judges next. */
function judgeLimited(
  state: State,
  resetsAt: number | null,
  limits: Limits,
  { at, usage }: { at: number; usage: Usage },
): State {
  // Who judges was decided when the session began.
  return withLimit(state, agentFor(state, limits, at - usage.agentSeconds * 1000), limits, resetsAt, at)
}

function accepted(state: State, commit: string, at: number): State {
  const { attempt } = state
  const ready = attempt?.phase === 'judged' || (attempt?.phase === 'gated' && !attempt.empty)
  if (attempt === null || !ready) return state
  if (attempt.candidate !== commit) return state
  const done = passStory(state, attempt)
  const prd = mapStory(done.prd, attempt.storyId, (story) => ({
    ...story,
    lastResult: story.lastResult === null ? null : { ...story.lastResult, commit },
  }))
  const { [attempt.storyId]: _used, ...kept } = state.kept
  const moved = { ...done, prd, kept, green: commit, attempt: null }
  const counted = charge(moved, attempt, 'passed', howPassed(state, attempt), at)
  const written = { ...logged(counted, passedEntry(state, attempt)), progress: [] }
  return unverified(
    withRecord(written, attempt.storyId, (record) => ({
      ...record,
      failure: null,
      gates: attempt.gates,
      remarks: attempt.remarks,
      interruptions: 0,
      breaker: closedBreaker(),
      commit,
      note: '',
    })),
  )
}

/**
 * prd.json as the candidate commit holds it: the story passed. The same function builds the candidate and records
 * its acceptance, so what was gated is what is committed.
 */
export function passStory(state: State, attempt: Attempt): State {
  const prd = mapStory(state.prd, attempt.storyId, (story) => ({
    ...story,
    passes: true,
    blocked: false,
    lastResult: {
      completedAt: new Date(attempt.guardedAt).toISOString(),
      commit: null,
      summary: howPassed(state, attempt),
      iteration: attempt.iteration,
      attempts: attempt.number,
    },
    notes: peopleNotes(story, state.records[story.id]),
  }))
  const { [attempt.storyId]: _heard, ...guidance } = state.control.guidance
  const run = { ...prd.run, iterations: attempt.iteration, currentStoryId: null }
  return { ...state, prd: { ...prd, run }, control: { ...state.control, guidance } }
}

function howPassed(state: State, attempt: Attempt): string {
  if (attempt.empty) return UNCHANGED
  const tags = state.prd.userStories.find((story) => story.id === attempt.storyId)?.tags ?? []
  return isGated(state.job, tags) ? 'every gate passed' : UNGATED
}

/** progress.txt's entry of a passing attempt. */
export function passedEntry(state: State, attempt: Attempt): string {
  return entryOf(state, attempt, 'PASSED', howPassed(state, attempt), attempt.guardedAt)
}

function rejected(state: State, kept: Kept | null, limits: Limits, at: number): State {
  const { attempt } = state
  if (attempt === null || attempt.phase !== 'failed') return state
  const failure = attempt.failure ?? { kind: 'session' as const, summary: 'failed', detail: '' }
  const retried = strike(state, attempt.storyId, failure.summary, limits)
  const saved = withKept(state.kept, attempt, kept)
  const counted = charge({ ...retried, kept: saved, attempt: null }, attempt, 'rejected', failure.summary, at)
  const entry = entryOf(state, attempt, 'FAILED', failure.summary, at)
  const told = withRecord(logged(counted, entry), attempt.storyId, (record) => ({
    ...record,
    failure,
    gates: attempt.gates,
    remarks: attempt.remarks,
    interruptions: attempt.gates.length > 0 ? 0 : record.interruptions,
    breaker: struck(record.breaker, attempt, failure, kept, limits.breaker, at),
  }))
  return rests(told, attempt.storyId)
}

/** A story whose breaker has opened says until when it rests, and how it goes on at once. */
function rests(state: State, storyId: string): State {
  const breaker = state.records[storyId]?.breaker
  if (breaker?.position !== 'open' || breaker.until === null) return state
  const until = new Date(breaker.until).toISOString()
  const why = breaker.history.at(-1)?.why ?? ''
  if (state.prd.userStories.some((story) => story.id === storyId && story.blocked)) return state
  const note = `rests until ${until}: ${why}. ${goesOnBy(storyId)} at once`
  return withNote(state, storyId, note)
}

function returned(state: State, kept: Kept | null, limits: Limits, at: number): State {
  const { attempt } = state
  if (attempt === null || attempt.phase !== 'returned') return state
  const why = attempt.returned ?? { reason: 'interrupted' as const, message: 'interrupted' }
  const saved = kept === null ? state.kept : withKept(state.kept, attempt, kept)
  const run = { ...state.prd.run, currentStoryId: null }
  const freed = noteTime(
    { ...state, kept: saved, attempt: null, prd: { ...state.prd, run } },
    attempt,
    'returned',
    why.message,
    at,
  )
  const lost = why.reason === 'lost' || why.reason === 'interrupted'
  if (!lost) return freed
  const record = freed.records[attempt.storyId] ?? emptyRecord()
  const interruptions = record.interruptions + 1
  const counted = withRecord(freed, attempt.storyId, (old) => ({ ...old, interruptions }))
  if (interruptions < limits.maxInterruptions) return counted
  const note = `interrupted ${interruptions} times in a row without a finished gate run; look at it: ${goesOnBy(attempt.storyId)}`
  const prd = mapStory(counted.prd, attempt.storyId, (story) => ({ ...story, blocked: true }))
  return withNote({ ...counted, prd }, attempt.storyId, note)
}

/** What is kept for a story now: an attempt that left nothing takes back what an earlier one had left. */
function withKept(all: State['kept'], { storyId, unwanted }: Attempt, kept: Kept | null): State['kept'] {
  const { [storyId]: _before, ...others } = all
  return kept === null || unwanted === true ? others : { ...others, [storyId]: kept }
}

function verified(state: State, event: Extract<Event, { kind: 'verified' }>, limits: Limits): State {
  const called =
    event.usage.calls > 0
      ? { ...state, control: { ...state.control, calls: withCall(state.control.calls, event.at) } }
      : state
  const paid = spend(called, null, event.usage)
  const { verdict } = event
  switch (verdict.kind) {
    case 'verified':
      return {
        ...paid,
        verification: { approved: true, sessions: 0, message: 'every criterion was judged to be met' },
      }
    case 'limit':
      return judgeLimited(paid, verdict.notBefore, limits, event)
    case 'refused':
      return failed(paid, verdict.message, MEND_AGENT)
    case 'none': {
      const sessions = paid.verification.sessions + 1
      return {
        ...paid,
        verification: { ...paid.verification, approved: false, sessions, message: verdict.message },
      }
    }
    case 'reset':
      // A judge that takes back nothing that had passed has said nothing.
      if (!state.prd.userStories.some((story) => story.passes && verdict.stories.includes(story.id))) {
        const sessions = paid.verification.sessions + 1
        return {
          ...paid,
          verification: { ...paid.verification, approved: false, sessions, message: verdict.reason },
        }
      }
      return resetStories(paid, verdict.stories, verdict.reason, event, limits)
  }
}

function resetStories(
  state: State,
  ids: readonly string[],
  reason: string,
  event: Extract<Event, { kind: 'verified' }>,
  limits: Limits,
): State {
  const red = event.gates.find((gate) => !gate.ok && !gate.advisory)
  const failure: Failure = { kind: 'judge', summary: reason, detail: red?.output ?? '' }
  return ids.reduce((after, id) => revert(after, id, failure, event.at, limits), unverified(state))
}

/** A story that had passed is to be worked again: one strike, and the reason for its next prompt. */
function revert(state: State, id: string, failure: Failure, at: number, limits: Limits): State {
  const story = state.prd.userStories.find((candidate) => candidate.id === id)
  if (story === undefined || !story.passes) return state
  const prd = mapStory(state.prd, id, (old) => ({ ...old, passes: false, lastResult: null }))
  const entry: TimelineEntry = {
    iteration: state.prd.run.iterations,
    storyId: id,
    attempt: story.retries + 1,
    result: 'reset',
    summary: failure.summary,
    ms: 0,
    costUsd: 0,
    tokens: 0,
    at,
    job: state.prd.run.jobs,
  }
  const told = progressEntry({
    iteration: entry.iteration,
    storyId: id,
    title: story.title,
    status: 'RESET',
    completedAt: new Date(at).toISOString(),
    learning: '',
    next: failure.summary,
  })
  const struck = logged(timed(strike({ ...state, prd }, id, failure.summary, limits), entry), told)
  return withRecord(struck, id, (record) => ({ ...record, failure, commit: null }))
}

/** One failed attempt more; the last one blocks the story with a note that a person can act on. */
function strike(state: State, storyId: string, summary: string, limits: Limits): State {
  const story = state.prd.userStories.find((one) => one.id === storyId)
  if (story === undefined) return state
  const retries = story.retries + 1
  const blocked = retries >= limits.maxAttempts
  const note = blocked
    ? `blocked after ${retries} failed attempts: ${summary}. ${goesOnBy(storyId)}`
    : summary
  const prd = mapStory(state.prd, storyId, (one) => ({ ...one, retries, blocked }))
  return withNote({ ...state, prd }, storyId, note)
}

/** For the notes, which are read beside a pull request and on a command line. */
function goesOnBy(storyId: string): string {
  return `${TRY_AGAIN} ${storyId} -- <hint> tries it again`
}

/** Ralph's word on a story, behind what people wrote there. */
function withNote(state: State, storyId: string, note: string): State {
  const record = state.records[storyId]
  const prd = mapStory(state.prd, storyId, (story) => ({ ...story, notes: notesWith(story, record, note) }))
  return withRecord({ ...state, prd }, storyId, (old) => ({ ...old, note }))
}

function charge(
  state: State,
  attempt: Attempt,
  result: TimelineEntry['result'],
  summary: string,
  at: number,
): State {
  const run = { ...state.prd.run, iterations: attempt.iteration, currentStoryId: null }
  const control = { ...state.control, limited: 0 }
  const counted = withJob(
    { ...state, control, prd: { ...state.prd, run } },
    { iterations: state.job.iterations + 1 },
  )
  return noteTime(counted, attempt, result, summary, at)
}

function noteTime(
  state: State,
  attempt: Attempt,
  result: TimelineEntry['result'],
  summary: string,
  at: number,
): State {
  const ms = Math.max(0, at - attempt.startedAt)
  const { storyId, iteration, number } = attempt
  const isLost = attempt.session === null && attempt.returned?.reason === 'lost'
  const usage = attempt.session?.usage ?? (isLost ? reservedUsage(attempt) : emptyUsage())
  const entry = {
    iteration,
    storyId,
    attempt: number,
    result,
    summary,
    ms,
    costUsd: usage.costUsd,
    tokens: usage.inputTokens + usage.outputTokens,
    at,
    job: state.prd.run.jobs,
  }
  return withRecord(timed(state, entry), storyId, (record) => ({ ...record, ms: record.ms + ms }))
}

function timed(state: State, entry: TimelineEntry): State {
  return { ...state, timeline: [...state.timeline, entry].slice(-TIMELINE) }
}

function entryOf(
  state: State,
  attempt: Attempt,
  status: 'PASSED' | 'FAILED',
  next: string,
  at: number,
): string {
  const story = state.prd.userStories.find((candidate) => candidate.id === attempt.storyId)
  return progressEntry({
    iteration: attempt.iteration,
    storyId: attempt.storyId,
    title: story?.title ?? '',
    status,
    completedAt: new Date(at).toISOString(),
    learning: attempt.session?.learnings.join('; ') ?? '',
    next,
  })
}

/** The state with an entry that the next commit writes into progress.txt. */
function logged(state: State, entry: string): State {
  return { ...state, progress: [...state.progress, entry], recent: [...state.recent, entry].slice(-3) }
}

function fail(state: State, kind: Failure['kind'], summary: string, detail: string): State {
  return inAttempt(state, (attempt) => ({ ...attempt, phase: 'failed', failure: { kind, summary, detail } }))
}

function failed(state: State, summary: string, fix: string): State {
  return withJob(state, { error: state.job.error ?? { summary, fix } })
}

function unverified(state: State): State {
  return { ...state, verification: notApproved(state) }
}

/** What a session is charged that was lost before it said anything. */
export function reservedUsage({ reservedCostUsd, reservedTokens }: Attempt): Usage {
  const costUsd = reservedCostUsd ?? 0
  const inputTokens = Math.ceil(reservedTokens ?? 0)
  return {
    ...emptyUsage(),
    inputTokens,
    costUsd,
    ...(costUsd > 0 ? { estimatedCostUsd: costUsd } : {}),
    ...(inputTokens > 0 ? { estimatedTokens: inputTokens } : {}),
  }
}

/** Adds usage to the run, and to a story where it was spent on one. */
export function spend(state: State, storyId: string | null, usage: Usage): State {
  const run = { ...state.prd.run, usage: addUsage(state.prd.run.usage, usage) }
  const paid = { ...state, prd: { ...state.prd, run } }
  if (storyId === null) return paid
  return withRecord(paid, storyId, (record) => ({ ...record, usage: addUsage(record.usage, usage) }))
}

function learn(state: State, learnings: readonly string[]): State {
  if (learnings.length === 0) return state
  const run = { ...state.prd.run, learnings: withLearnings(state.prd.run.learnings, learnings) }
  return { ...state, prd: { ...state.prd, run } }
}

/** An event that comes at another moment changes nothing. */
function inPhase(state: State, phase: Attempt['phase'], change: (attempt: Attempt) => Attempt): State {
  return state.attempt?.phase === phase ? inAttempt(state, change) : state
}

function inAttempt(state: State, change: (attempt: Attempt) => Attempt): State {
  return state.attempt === null ? state : { ...state, attempt: change(state.attempt) }
}

function withJob(state: State, change: Partial<State['job']>): State {
  return { ...state, job: { ...state.job, ...change } }
}

function withRecord(state: State, id: string, change: (record: StoryRecord) => StoryRecord): State {
  return { ...state, records: { ...state.records, [id]: change(state.records[id] ?? emptyRecord()) } }
}

/** The prd with one story changed. */
export function mapStory(prd: Prd, id: string, change: (story: Story) => Story): Prd {
  return { ...prd, userStories: prd.userStories.map((story) => (story.id === id ? change(story) : story)) }
}
