// How a story passes: only here, only for the candidate that was gated. Pure.
import type { EventOf } from '../model/event.ts'
import type { Story } from '../model/feature.ts'
import { isGated } from '../model/job.ts'
import type { Attempt, Candidate, State } from '../model/state.ts'
import { closedBreaker } from './breaker.ts'
import {
  charge,
  entryOf,
  logged,
  mapStory,
  sessionOf,
  unverified,
  without,
  withoutAttempt,
  withRecord,
  withSteps,
} from './change.ts'
import { withTests } from './gate-memory.ts'
import { peopleNotes } from './notes.ts'

/** How a story passed whose session had nothing to change, as prd.json keeps it. */
export const UNCHANGED = "without a change, by a judge's word"

/** How a story passed that no blocking gate runs for. */
export const UNGATED = 'without a gate'

/** Whether no gate saw the change that the story passed with. */
export function passedUngated({ passes, lastResult }: Story): boolean {
  return passes && lastResult?.imported !== true && lastResult?.summary === UNGATED
}

/** Whether a judge's word, and no change that gates could see, passed the story in this run. */
export function passedUnchanged({ passes, lastResult }: Story): boolean {
  return passes && lastResult?.imported !== true && lastResult?.summary === UNCHANGED
}

/** The smaller stories that it was split into; empty for every other. */
export function splitInto({ skipped, extra }: Story): string[] {
  const parts = extra?.splitInto
  return skipped && Array.isArray(parts) ? parts.map(String) : []
}

type Built = Pick<Candidate, 'empty' | 'builtAt'>

export function accepted(state: State, { storyId, commit, at, after = {} }: EventOf<'accepted'>): State {
  const attempt = state.attempts[storyId]
  if (attempt?.phase !== 'judged' && attempt?.phase !== 'gated') return state
  const { candidate, gates } = attempt
  if (candidate.commit !== commit || (candidate.empty && attempt.phase !== 'judged')) return state
  const done = passStory(withTests(withSteps(state, after), gates), attempt, candidate)
  const prd = mapStory(done.prd, storyId, (story) => ({
    ...story,
    lastResult: story.lastResult === null ? null : { ...story.lastResult, commit },
  }))
  const moved = withoutAttempt({ ...done, prd, kept: without(state.kept, storyId), green: commit }, storyId)
  const paid = charge(moved, attempt, 'passed', howPassed(state, storyId, candidate.empty), at)
  const written = { ...logged(paid, passedEntry(state, attempt, candidate)), progress: [] }
  return unverified(
    withRecord(written, storyId, ({ unsplit: _told, ...record }) => ({
      ...record,
      failure: null,
      gates,
      remarks: candidate.remarks,
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
export function passStory(state: State, attempt: Attempt, built: Built): State {
  const { storyId, iteration, number } = attempt
  const prd = mapStory(state.prd, storyId, (story) => ({
    ...story,
    passes: true,
    blocked: false,
    lastResult: {
      completedAt: new Date(built.builtAt).toISOString(),
      commit: null,
      summary: howPassed(state, storyId, built.empty),
      iteration,
      attempts: number,
    },
    notes: peopleNotes(story, state.records[storyId]),
  }))
  const run = { ...prd.run, iterations: iteration, currentStoryId: null }
  const guidance = without(state.control.guidance, storyId)
  const setUp = sessionOf(attempt)?.setUp === undefined ? {} : { setUp: true as const }
  return { ...state, prd: { ...prd, run }, control: { ...state.control, ...setUp, guidance } }
}

function howPassed(state: State, storyId: string, empty: boolean): string {
  if (empty) return UNCHANGED
  const tags = state.prd.userStories.find((story) => story.id === storyId)?.tags ?? []
  return isGated(state.job, tags) ? 'every gate passed' : UNGATED
}

/** progress.txt's entry of a passing attempt. */
export function passedEntry(state: State, attempt: Attempt, { empty, builtAt }: Built): string {
  return entryOf(state, attempt, 'PASSED', howPassed(state, attempt.storyId, empty), builtAt)
}
