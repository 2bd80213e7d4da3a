// Outcomes of attempts: a story passes, a failed attempt is charged, an attempt is returned uncharged, or a passed story is reopened. The
// work of a story passes only here, and only with the candidate that the gates checked. Pure.

import { needsTrial } from '../examples/examples-of.ts'
import { updateTestCounts } from '../gating/gate-memory.ts'
import { keepNamesOf } from '../gating/proved-tests.ts'
import { type Attempt, attemptKey, type Candidate, isGreen } from '../model/attempt.ts'
import type { EventOf } from '../model/event.ts'
import type { ChangeSize, LastResult, Story } from '../model/feature.ts'
import { failureOutput } from '../model/gate-output.ts'
import { isGated } from '../model/job.ts'
import type { RevertedStory } from '../model/joined-branch.ts'
import type { Limits } from '../model/limit-types.ts'
import type { SavedWork } from '../model/saved-work.ts'
import type { State, TimelineEntry } from '../model/state.ts'
import { suggestSplit } from '../planning/plan-events.ts'
import { closedBreaker, describeFalseDone, recordFailure } from '../state/breaker.ts'
import { recordDependencies } from '../state/dependencies.ts'
import { climb, ladderOf } from '../state/model-ladder.ts'
import {
  appendProgress,
  appendTimeline,
  attemptProgressEntry,
  chargeIteration,
  mapStory,
  recordAttemptTime,
  redGate,
  sessionOf,
  withNote,
  withoutApproval,
  withoutAttempt,
  withoutKey,
  withPipelineResult,
  withRecord,
} from '../state/state-updates.ts'
import { peopleNotes, progressEntry, quoteAgent, TRY_AGAIN } from '../state/story-notes.ts'
import { needsJudge } from './attempt-events.ts'
import { withMergedBase } from './pending-edit.ts'

export function rejected(state: State, event: EventOf<'rejected'>, limits: Limits): State {
  const { storyId, kept, at } = event
  const attempt = state.attempts[attemptKey(event)]
  if (attempt?.phase !== 'failed') return state
  const { failure, gates, remarks } = attempt
  // If no gate ran, the previous result of the gate that the failure names is kept.
  const before = state.records[storyId]?.gates ?? []
  const gateResults = gates.length > 0 ? gates : before.filter(({ name }) => name === failure.gate)
  const output = failureOutput(failure, gateResults)?.output ?? ''
  const retried = withoutAttempt(countFailedAttempt(state, storyId, failure.summary, limits), event)
  const saved = { ...retried, kept: withSavedWork(state.kept, attempt, kept) }
  const charged = chargeIteration(saved, attempt, 'rejected', failure.summary, at)
  const compared = { ...failure, output, testsOnly: attempt.testsOnly === true }
  const { breaker: known = closedBreaker() } = state.records[storyId] ?? {}
  const breaker = recordFailure(known, attempt.session, compared, kept, limits.breaker, at)
  const next = [failure.summary, describeFalseDone(breaker)].filter(Boolean).join('; ')
  const written = appendProgress(
    charged,
    attemptProgressEntry(state, attempt, 'FAILED', next, at, agentSummary(attempt, {})),
  )
  const noted = withRecord(written, storyId, (record) => ({
    ...record,
    failure,
    gates: gateResults,
    remarks,
    ...(record.redTree === undefined && kept !== null && redGate(gates) !== undefined
      ? { redTree: kept.tree }
      : {}),
    interruptions: gates.length > 0 ? 0 : record.interruptions,
    breaker,
    // A failure of the fallback agent does not make the first agent climb its model ladder.
    ...(attempt.model === undefined
      ? {}
      : climb(record.rung, failure, ladderForStory(state, storyId, limits))),
  }))
  return withRestNote(suggestSplit(noted, storyId, failure), storyId)
}

function ladderForStory({ prd }: State, storyId: string, limits: Limits): readonly string[] {
  const story = prd.userStories.find(({ id }) => id === storyId)
  return story === undefined ? [] : ladderOf(limits, story)
}

/** If the story's breaker is open, adds a note: until when the story rests, and which command tries it at once. */
function withRestNote(state: State, storyId: string): State {
  const breaker = state.records[storyId]?.breaker
  if (breaker?.position !== 'open' || breaker.until === null) return state
  const until = new Date(breaker.until).toISOString()
  const why = breaker.history.at(-1)?.why ?? ''
  if (state.prd.userStories.some((story) => story.id === storyId && story.blocked)) return state
  return withNote(state, storyId, `waits until ${until}: ${why}. ${retryHint(storyId)} at once`)
}

export function returned(state: State, event: EventOf<'returned'>, limits: Limits): State {
  const { storyId, kept, at } = event
  const attempt = state.attempts[attemptKey(event)]
  if (attempt?.phase !== 'returned') return state
  const run = { ...state.prd.run, currentStoryId: null }
  const closed = withoutAttempt({ ...state, prd: { ...state.prd, run } }, event)
  const isConflict = attempt.reason === 'conflict'
  // A conflict is not a failed attempt, but it counts as an iteration, so that a run with nothing but conflicts ends.
  const write = isConflict ? chargeIteration : recordAttemptTime
  const freed = write(closed, attempt, 'returned', attempt.message, at)
  const noted = withRecord(freed, storyId, (old) => ({ ...old, givenBack: (old.givenBack ?? 0) + 1 }))
  const saved = kept === null ? noted : { ...noted, kept: withSavedWork(state.kept, attempt, kept) }
  if (attempt.reason !== 'lost' && attempt.reason !== 'interrupted') return saved
  const interruptions = (saved.records[storyId]?.interruptions ?? 0) + 1
  const counted = withRecord(saved, storyId, (old) => ({ ...old, interruptions }))
  if (interruptions < limits.maxInterruptions) return counted
  const note = `its job was lost or stopped ${interruptions} times in a row before the gates had finished. Find out why. ${retryHint(storyId)}`
  const prd = mapStory(counted.prd, storyId, (story) => ({ ...story, blocked: true }))
  return withNote({ ...counted, prd }, storyId, note)
}

/** The saved work after an attempt. An attempt that left no work removes that of earlier ones. */
function withSavedWork(all: State['kept'], attempt: Attempt, kept: SavedWork | null): State['kept'] {
  const { storyId, unwanted } = attempt
  if (kept === null || unwanted) return withoutKey(all, storyId)
  const setUp = sessionOf(attempt)?.setUp
  return { ...all, [storyId]: setUp === undefined ? kept : { ...kept, setUp } }
}

/** Reopens a passed story with one more failed attempt, the failure for its next prompt, and the gates that show it. */
export function revert(
  state: State,
  id: string,
  { failure, gates = [] }: Pick<RevertedStory, 'failure' | 'gates'>,
  at: number,
  limits: Limits,
): State {
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
    at,
    job: state.prd.run.jobs,
  }
  const line = progressEntry({
    iteration: entry.iteration,
    storyId: id,
    title: story.title,
    status: 'RESET',
    completedAt: new Date(at).toISOString(),
    learning: '',
    next: failure.summary,
  })
  const recorded = appendProgress(
    appendTimeline(countFailedAttempt({ ...state, prd }, id, failure.summary, limits), entry),
    line,
  )
  const shownGates = failure.gate === undefined ? {} : { gates: [...gates] }
  return withRecord(recorded, id, (record) => {
    return {
      ...record,
      ...shownGates,
      ...climb(record.rung, failure, ladderOf(limits, story)),
      failure,
      commit: null,
    }
  })
}

/** Counts a failed attempt; the last allowed one blocks the story, with a note that says how a person can continue. */
function countFailedAttempt(state: State, storyId: string, summary: string, limits: Limits): State {
  const story = state.prd.userStories.find((one) => one.id === storyId)
  if (story === undefined) return state
  const retries = story.retries + 1
  const blocked = retries >= limits.maxAttempts
  const note = blocked
    ? `blocked after ${retries} failed ${retries === 1 ? 'attempt' : 'attempts'}: ${summary}. ${retryHint(storyId)}`
    : summary
  const prd = mapStory(state.prd, storyId, (one) => ({ ...one, retries, blocked }))
  return withNote({ ...state, prd }, storyId, note)
}

/** How a person can retry a story, without a command's prefix: the note is read on pull requests and on command lines. */
function retryHint(storyId: string): string {
  return `${TRY_AGAIN} ${storyId} -- <hint> tries it again`
}

function withMore(before: ChangeSize | undefined, more: ChangeSize): ChangeSize {
  if (before === undefined) return more
  const files = Math.max(before.files, more.files)
  return { files, added: before.added + more.added, removed: before.removed + more.removed }
}

/** In prd.json: a story without a change passed. */
export const UNCHANGED = "without a change, on a judge's word"

/** In prd.json: a story passed although no blocking gate runs for it. */
export const UNGATED = 'without a gate'

/** Whether the story passed with a change that no gate checked. */
export function passedUngated(story: Story): boolean {
  return passedAs(story, 'ungated')
}

/** Whether the story passed in this run without a change, by a judge's verdict. */
export function passedUnchanged(story: Story): boolean {
  return passedAs(story, 'unchanged')
}

function passedAs({ passes, lastResult }: Story, how: LastResult['how']): boolean {
  return passes && lastResult !== null && lastResult.imported !== true && lastResult.how === how
}

/** The ids of the stories that a story was split into; empty if it was not split. */
export function splitInto({ skipped, extra }: Story): string[] {
  const parts = extra?.splitInto
  return skipped && Array.isArray(parts) ? parts.map(String) : []
}

type Built = Pick<Candidate, 'empty' | 'builtAt' | 'summary'>

export function accepted(state: State, event: EventOf<'accepted'>, limits: Limits): State {
  const { storyId, commit, at, after = {} } = event
  const attempt = state.attempts[attemptKey(event)]
  if (attempt === undefined || !isGreen(attempt)) return state
  const { candidate, gates } = attempt
  // The branch only moves forward, and only to a tree that the gates ran on.
  if (attempt.base !== state.green) return state
  if (candidate.commit !== commit) return state
  if (attempt.phase !== 'judged' && needsJudge(attempt, limits)) return state
  if (needsTrial(attempt, state, limits)) return state
  const done = passStory(updateTestCounts(withPipelineResult(state, after), gates), attempt, candidate)
  const passed = mapStory(done.prd, storyId, (story) => ({
    ...story,
    lastResult: story.lastResult === null ? null : { ...story.lastResult, commit },
  }))
  // `chargeIteration` below counts the iteration.
  const prd = { ...passed, run: { ...passed.run, iterations: state.prd.run.iterations } }
  const landed = withMergedBase(
    { ...done, prd, kept: withoutKey(state.kept, storyId), green: commit },
    storyId,
  )
  const moved = withoutAttempt(landed, event)
  const paid = chargeIteration(moved, attempt, 'passed', howPassed(state, storyId, candidate.empty), at)
  const written = {
    ...appendProgress(paid, passedEntry(state, attempt, candidate)),
    progress: state.progress.slice(candidate.entries ?? state.progress.length),
  }
  const listed = recordDependencies(written, storyId, candidate.dependencies ?? [], limits)
  return withoutApproval(
    withRecord(
      keepNamesOf(listed, storyId),
      storyId,
      ({ unsplit: _unsplit, owes: _owes, counterexamples: _green, redTree: _redTree, ...record }) => ({
        ...record,
        failure: null,
        gates,
        remarks: candidate.remarks,
        ...(attempt.phase === 'judged' && attempt.paths !== undefined ? { expected: attempt.paths } : {}),
        interruptions: 0,
        ...(event.changed === undefined ? {} : { changed: withMore(record.changed, event.changed) }),
        ...(record.examples === undefined ? {} : { examples: { ...record.examples, mismatches: 0 } }),
        breaker: closedBreaker(),
        commit,
        note: '',
      }),
    ),
  )
}

/**
 * The state after the story has passed with this attempt. The same function makes prd.json of the candidate commit and records the
 * acceptance, so that exactly the gated content is committed.
 */
export function passStory(state: State, attempt: Attempt, built: Built): State {
  const { storyId, iteration, number } = attempt
  const how = howPassed(state, storyId, built.empty)
  const words = agentSummary(attempt, built)
  const prd = mapStory(state.prd, storyId, (story) => ({
    ...story,
    passes: true,
    blocked: false,
    lastResult: {
      completedAt: new Date(built.builtAt).toISOString(),
      commit: null,
      summary: words === '' ? how : quoteAgent(words),
      ...(HOW[how] === undefined ? {} : { how: HOW[how] }),
      iteration,
      attempts: number,
    },
    notes: peopleNotes(story, state.records[storyId]),
  }))
  const run = { ...prd.run, iterations: prd.run.iterations + 1, currentStoryId: null }
  const guidance = withoutKey(state.control.guidance, storyId)
  const setUp = sessionOf(attempt)?.setUp === undefined ? {} : { setUp: true as const }
  return { ...state, prd: { ...prd, run }, control: { ...state.control, ...setUp, guidance } }
}

function howPassed(state: State, storyId: string, empty: boolean): string {
  if (empty) return UNCHANGED
  const tags = state.prd.userStories.find((story) => story.id === storyId)?.tags ?? []
  return isGated(state.job, tags) ? 'every gate passed' : UNGATED
}

const HOW: Readonly<Record<string, 'unchanged' | 'ungated'>> = {
  [UNCHANGED]: 'unchanged',
  [UNGATED]: 'ungated',
}

/** The agent's own summary: the message of its commit, else of its final message; empty without any. */
export function agentSummary(attempt: Attempt, { summary }: Pick<Built, 'summary'>): string {
  return summary ?? sessionOf(attempt)?.summary ?? ''
}

/** The entry of progress.txt for a passed attempt. */
export function passedEntry(state: State, attempt: Attempt, built: Built): string {
  const how = howPassed(state, attempt.storyId, built.empty)
  const next = sessionOf(attempt)?.next
  const done = agentSummary(attempt, built)
  return attemptProgressEntry(
    state,
    attempt,
    'PASSED',
    next === undefined ? how : quoteAgent(next),
    built.builtAt,
    done,
  )
}
