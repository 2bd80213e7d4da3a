// What the events of sealed examples change: a story gets its examples, and a candidate passes its trial or is rejected. Pure.

import { idOf } from '../model/attempt.ts'
import type { EventOf } from '../model/event.ts'
import type { ExampleResult, StoryExamples } from '../model/example.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State } from '../model/state.ts'
import { criteriaDigest } from '../planning/proposed-plan.ts'
import { countCalls, recordAgentUnavailable } from '../state/limits.ts'
import { recordSession } from '../state/record-session.ts'
import { mapStory, withAttempt, withNote, withRecord } from '../state/state-updates.ts'
import { TRY_AGAIN } from '../state/story-notes.ts'
import { attemptIn, fail, refund } from './attempt-events.ts'

const NO_EXAMPLES: StoryExamples = { written: '', failed: 0, mismatches: 0, none: [], results: [] }

export function exampled(state: State, event: EventOf<'exampled'>, limits: Limits): State {
  const { storyId, answer, usage, at } = event
  const story = state.prd.userStories.find(({ id }) => id === storyId)
  const counted = countCalls(state, at, Math.min(1, usage.calls))
  const paid = recordSession(counted, { at, kind: 'examples', storyId, usage }, limits)
  if (story === undefined) return paid
  switch (answer.kind) {
    case 'written': {
      const { examples, none } = answer
      const prd = mapStory(paid.prd, storyId, (one) => ({ ...one, examples }))
      const written = criteriaDigest(story)
      return withExamples({ ...paid, prd }, storyId, (before) => ({ ...before, written, failed: 0, none }))
    }
    case 'contradiction': {
      const prd = mapStory(paid.prd, storyId, (one) => ({ ...one, blocked: true }))
      const note = `its examples contradict its criteria: ${answer.why}. Change one of them in prd.json. ${TRY_AGAIN} ${storyId} then continues`
      return withNote({ ...paid, prd }, storyId, note)
    }
    case 'none':
      return withExamples(paid, storyId, (before) => ({ ...before, failed: before.failed + 1 }))
    case 'limit':
    case 'refused':
      return recordAgentUnavailable(paid, answer, limits, event)
  }
}

export function tried(state: State, event: EventOf<'tried'>, limits: Limits): State {
  const { commit, answer, usage, at, storyId } = event
  const attempt = attemptIn(state, event, 'gated')
  if (attempt === null || attempt.candidate.commit !== commit) return state
  const counted = countCalls(state, at, usage.calls)
  const paid = recordSession(counted, { at, kind: 'glue', ...idOf(event), usage }, limits)
  if (answer.kind !== 'tried')
    return refund(recordAgentUnavailable(paid, answer, limits, event), event, 'limit', answer.message)
  const { results } = answer
  const wrong = results.filter(({ result }) => result === 'mismatch')
  const known = withExamples(paid, storyId, (before) => ({
    ...before,
    results,
    mismatches: before.mismatches + (wrong.length > 0 ? 1 : 0),
  }))
  const now = { ...attempt, tried: results }
  const [first] = wrong
  if (first === undefined) return withAttempt(known, withTrialRemarks(now, results))
  const more = wrong.length === 1 ? '' : `, and ${wrong.length - 1} more`
  const summary = `example ${first.example} of criterion ${first.criterion} is not met: ${first.why}${more}`
  return fail(known, now, 'examples', summary, {
    detail: wrong.slice(0, MAX_SHOWN).map(describe).join('\n\n'),
  })
}

const MAX_SHOWN = 5

/** The text for the next session. It has the expected value only from the third mismatch on. */
function describe({ example, criterion, why, given = '', actual = '', expected }: ExampleResult): string {
  const lines = [
    `Example ${example} of criterion ${criterion}: ${why}.`,
    `given: ${given}`,
    `actual: ${actual}`,
  ]
  return [...lines, ...(expected === undefined ? [] : [`expected: ${expected}`])].join('\n')
}

type Tried = NonNullable<ReturnType<typeof attemptIn<'gated'>>>

function withTrialRemarks(attempt: Tried, results: readonly ExampleResult[]): Tried {
  const remarks = results.flatMap(({ example, criterion, result, why }) =>
    result === 'none' ? [`criterion ${criterion}: example ${example} was not tried: ${why}`] : [],
  )
  const { candidate } = attempt
  return { ...attempt, candidate: { ...candidate, remarks: [...candidate.remarks, ...remarks] } }
}

function withExamples(
  state: State,
  storyId: string,
  change: (examples: StoryExamples) => StoryExamples,
): State {
  return withRecord(state, storyId, (record) => ({
    ...record,
    examples: change(record.examples ?? NO_EXAMPLES),
  }))
}
