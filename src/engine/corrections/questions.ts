// Questions of reviewers: a session that cannot write answers them. If it says that the thread asks for a change, or twice gives no answer,
// the question becomes a correction like any other. Pure.

import type { EventOf } from '../model/event.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State } from '../model/state.ts'
import { countCalls, recordAgentUnavailable } from '../state/limits.ts'
import { recordSession } from '../state/record-session.ts'
import { mapStory, unapprovedVerification } from '../state/state-updates.ts'
import { kindOf } from './kinds.ts'

/** Sessions that may fail to answer one question. */
const MAX_FAILED = 2

/** Whether the story is a question that waits for its answer. */
export function isQuestion({ corrections = {} }: Pick<State, 'corrections'>, storyId: string): boolean {
  return corrections[storyId]?.source.kind === 'question'
}

export function answered(state: State, event: EventOf<'answered'>, limits: Limits): State {
  const { storyId, answer, usage, at } = event
  const counted = countCalls(state, at, Math.min(1, usage.calls))
  const paid = recordSession(counted, { at, kind: 'answer', storyId, usage }, limits)
  const correction = paid.corrections?.[storyId]
  if (correction?.source.kind !== 'question') return paid
  switch (answer.kind) {
    case 'words': {
      const lastResult = {
        completedAt: new Date(at).toISOString(),
        commit: null,
        summary: ANSWERED,
        how: 'answered' as const,
      }
      const prd = mapStory(paid.prd, storyId, (one) => ({ ...one, passes: true, blocked: false, lastResult }))
      const corrections = { ...paid.corrections, [storyId]: { ...correction, answer: answer.text } }
      return { ...paid, prd, corrections }
    }
    case 'change':
      return withChange(paid, storyId)
    case 'none': {
      const failed = (correction.failed ?? 0) + 1
      if (failed >= MAX_FAILED) return withChange(paid, storyId)
      return { ...paid, corrections: { ...paid.corrections, [storyId]: { ...correction, failed } } }
    }
    case 'limit':
    case 'refused':
      return recordAgentUnavailable(paid, answer, limits, event)
  }
}

/** In prd.json: what became of a question. */
const ANSWERED = 'answered; nothing was changed'

/** The question as a review, whose session may change code. */
function withChange(state: State, storyId: string): State {
  const correction = state.corrections?.[storyId]
  if (correction?.source.kind !== 'question') return state
  const source = { kind: 'review' as const, threads: correction.source.threads }
  const kind = kindOf(source)
  const prd = mapStory(state.prd, storyId, (one) => {
    const text = one.description.slice(one.description.indexOf('\n\n') + 2)
    return {
      ...one,
      title: kind.title(source, text),
      description: kind.description(source, text),
      acceptanceCriteria: kind.criteria(source),
    }
  })
  const corrections = { ...state.corrections, [storyId]: { source, at: correction.at } }
  return { ...state, prd, corrections, verification: unapprovedVerification(state) }
}
