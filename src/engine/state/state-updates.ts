// Small changes of a state, which the reducers are made of. Pure.

import { type Attempt, type AttemptId, attemptKey, isChosen } from '../model/attempt.ts'
import type { Prd, Story } from '../model/feature.ts'
import { type GateResult, isRed, isService } from '../model/gate.ts'
import type { AfterSteps } from '../model/pipeline-step.ts'
import type { Job, State, StoryRecord, TimelineEntry, Verification } from '../model/state.ts'
import { closedBreaker } from './breaker.ts'
import { notesWith, progressEntry, withoutDoneLine } from './story-notes.ts'

const MAX_TIMELINE = 200

export function withJob(state: State, change: Partial<Job>): State {
  return { ...state, job: { ...state.job, ...change } }
}

export function withReady(state: State, change: Partial<Job['ready']>): State {
  return withJob(state, { ready: { ...state.job.ready, ...change } })
}

export function incrementCount(state: State, what: keyof Job['counts']): State {
  const { counts } = state.job
  return withJob(state, { counts: { ...counts, [what]: counts[what] + 1 } })
}

/** Halts the job with this error; an earlier error is kept. */
export function haltWithError(state: State, summary: string, fix: string): State {
  return state.job.halted?.kind === 'error'
    ? state
    : withJob(state, { halted: { kind: 'error', summary, fix } })
}

export function withAttempt(state: State, attempt: Attempt): State {
  return { ...state, attempts: { ...state.attempts, [attemptKey(attempt)]: attempt } }
}

export function withoutAttempt(state: State, id: AttemptId | Attempt): State {
  return { ...state, attempts: withoutKey(state.attempts, attemptKey(id)) }
}

export function withoutKey<T>(all: Record<string, T>, id: string): Record<string, T> {
  const { [id]: _gone, ...others } = all
  return others
}

export function sessionOf(attempt: Attempt) {
  return attempt.phase === 'reserved' ? null : attempt.session
}

function gatesOf(attempt: Attempt): readonly GateResult[] {
  return 'gates' in attempt ? attempt.gates : []
}

export function emptyRecord(): StoryRecord {
  return {
    failure: null,
    gates: [],
    remarks: [],
    interruptions: 0,
    breaker: closedBreaker(),
    attempts: 0,
    ms: 0,
    commit: null,
    note: '',
  }
}

export function withRecord(state: State, id: string, change: (record: StoryRecord) => StoryRecord): State {
  return { ...state, records: { ...state.records, [id]: change(state.records[id] ?? emptyRecord()) } }
}

export function mapStory(prd: Prd, id: string, change: (story: Story) => Story): Prd {
  return { ...prd, userStories: prd.userStories.map((story) => (story.id === id ? change(story) : story)) }
}

/** Sets Ralph's note on a story, after the notes of people. */
export function withNote(state: State, storyId: string, note: string): State {
  const record = state.records[storyId]
  const prd = mapStory(state.prd, storyId, (story) => ({ ...story, notes: notesWith(story, record, note) }))
  return withRecord({ ...state, prd }, storyId, (old) => ({ ...old, note }))
}

/** The verification as before its first session; a request of a person for one is kept. */
export function unapprovedVerification(state: State): Verification {
  const { gated: _gates, taken: _taken, ...verification } = state.verification
  return { ...verification, approved: false, sessions: 0, message: '' }
}

/** Takes the approval back: to be called when code or stories change. */
export function withoutApproval(state: State): State {
  return { ...state, verification: unapprovedVerification(state) }
}

/** Applies the result of pipeline steps: their circuits, and a pause if they end the run. */
export function withPipelineResult(state: State, { pause, circuits }: AfterSteps): State {
  const { circuits: before, ...rest } = state.control
  const after = circuits ?? before ?? {}
  const paused = pause === undefined ? rest.paused : { reason: pause, by: 'ralph' }
  const control = { ...rest, paused, ...(Object.keys(after).length === 0 ? {} : { circuits: after }) }
  return pause === undefined && circuits === undefined ? state : { ...state, control }
}

/** Counts an iteration of the run and of the job. */
export function chargeIteration(
  state: State,
  attempt: Attempt,
  result: TimelineEntry['result'],
  summary: string,
  at: number,
): State {
  // The sessions of a chosen candidate, and of the others, were counted when each was done.
  if (isChosen(attempt)) return recordAttemptTime(state, attempt, result, summary, at)
  const run = { ...state.prd.run, iterations: state.prd.run.iterations + 1, currentStoryId: null }
  const control = { ...state.control, limited: 0 }
  const paid = incrementCount({ ...state, control, prd: { ...state.prd, run } }, 'iterations')
  return recordAttemptTime(paid, attempt, result, summary, at)
}

/** Appends the attempt to the timeline, and adds its time to the story's record. A chosen candidate has an entry, which moves. */
export function recordAttemptTime(
  state: State,
  attempt: Attempt,
  result: TimelineEntry['result'],
  summary: string,
  at: number,
): State {
  const ms = Math.max(0, at - attempt.startedAt)
  const { storyId, iteration, number } = attempt
  const entry = {
    iteration,
    storyId,
    attempt: number,
    result,
    summary,
    ms,
    startedAt: attempt.startedAt,
    at,
    job: jobOf(state, attempt),
    gatesMs: Math.min(
      gatesOf(attempt).reduce((sum, gate) => sum + (isService(gate) ? 0 : gate.ms), 0),
      Number.MAX_SAFE_INTEGER,
    ),
    ...(attempt.phase === 'failed' ? { kind: attempt.failure.kind } : {}),
    ...(attempt.model === undefined ? {} : { model: attempt.model }),
  }
  const isGivenBack = attempt.phase === 'returned' && attempt.reason !== 'conflict'
  const isReplaced = isChosen(attempt) && !isGivenBack
  const before = isReplaced ? state.timeline.find(isEntryOf(attempt)) : undefined
  const timeline = before === undefined ? state.timeline : state.timeline.filter((one) => one !== before)
  const more = ms - (before?.ms ?? 0)
  return withRecord(appendTimeline({ ...state, timeline }, entry), storyId, (record) => ({
    ...record,
    ms: record.ms + more,
  }))
}

/** The number of the job in which the attempt began: a later job records an attempt whose job was lost. */
function jobOf({ job, prd }: State, attempt: Attempt): number {
  const isEarlier = attempt.startedAt < job.startedAt && prd.run.jobs > 1
  return isEarlier ? prd.run.jobs - 1 : prd.run.jobs
}

/** Gives whether an entry is that of the attempt, one of several candidates. */
function isEntryOf(attempt: Attempt): (entry: TimelineEntry) => boolean {
  return ({ result, storyId, iteration, startedAt }) =>
    result === 'candidate' &&
    storyId === attempt.storyId &&
    iteration === attempt.iteration &&
    startedAt === attempt.startedAt
}

export function appendTimeline(state: State, entry: TimelineEntry): State {
  return { ...state, timeline: [...state.timeline, entry].slice(-MAX_TIMELINE) }
}

export function attemptProgressEntry(
  state: State,
  attempt: Attempt,
  status: 'PASSED' | 'FAILED',
  next: string,
  at: number,
  done: string,
): string {
  const story = state.prd.userStories.find((candidate) => candidate.id === attempt.storyId)
  return progressEntry({
    iteration: attempt.iteration,
    storyId: attempt.storyId,
    title: story?.title ?? '',
    status,
    completedAt: new Date(at).toISOString(),
    done,
    learning: sessionOf(attempt)?.learnings.join('; ') ?? '',
    next,
  })
}

/** Appends an entry for progress.txt, which the next commit writes, and a shorter one for prompts. */
export function appendProgress(state: State, entry: string): State {
  const recent = [...state.recent, withoutDoneLine(entry)].slice(-3)
  return { ...state, progress: [...state.progress, entry], recent }
}

/** With documents that a commit has brought up to date; `unmarked` replaces what the state knows of stories that are not marked there. */
export function withDocuments(
  state: State,
  { documents = [], unmarked }: { documents?: readonly string[]; unmarked?: readonly string[] },
): State {
  const { unmarked: before = [], ...rest } = state
  const paths = [...new Set([...(state.documents ?? []), ...documents])].sort()
  const left = unmarked ?? before
  return {
    ...rest,
    ...(paths.length === 0 ? {} : { documents: paths }),
    ...(left.length === 0 ? {} : { unmarked: [...left] }),
  }
}

/** The first gate that failed and blocks. */
export function redGate<T extends { ok: boolean; advisory: boolean }>(gates: readonly T[]): T | undefined {
  return gates.find(isRed)
}

/** A service that did not start, or that ended: it may be the cause of red gates. */
export function redService(gates: readonly GateResult[]): GateResult | undefined {
  return gates.find((gate) => !gate.ok && isService(gate))
}

/** Why gates are red: `service web ended (exit 1) while gate e2e ran`, else `gate e2e failed (exit 1)`. */
export function redGateReason(red: GateResult, gates: readonly GateResult[]): string {
  const service = redService(gates)
  return service === undefined ? `gate ${red.name} failed (${red.ended})` : `${service.name} ${service.ended}`
}

/** Whether the branch is at the green commit, with its pull request, as the job before left it. */
export function isPushed({ control, published, green, github, job }: State): boolean {
  const { pull, head, unclosed } = github
  const isThere = job.branch.kind === 'ours' && published === green && head === green
  return isThere && !control.anew && pull !== null && unclosed.length === 0
}
