// The event `verified` of the final verification: its verdict approves the work, or resets stories. Pure.

import { recordAgentUnavailable } from '../attempt-events.ts'
import { revert } from '../attempt-outcome.ts'
import { countCalls } from '../limits.ts'
import type { Failure } from '../model/attempt.ts'
import type { EventOf } from '../model/event.ts'
import type { StoryEvidence } from '../model/feature.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State } from '../model/state.ts'
import { inScope } from '../prd/select.ts'
import { recordSession } from '../record-session.ts'
import { redGate, redGateReason, withoutApproval, withRecord } from '../state-updates.ts'
import { haltOnPortConflict, verificationRemarks } from './gate-memory.ts'

type Verified = EventOf<'verified'>

/** The gates are green: the judge is next. */
export function wholeGated(state: State, event: EventOf<'whole-gated'>, limits: Limits): State {
  const { gates } = event
  const paid = recordVerification(state, event, limits)
  const ended = haltOnPortConflict(paid, gates)
  if (ended !== null) return ended
  const red = redGate(gates)
  return red === undefined ? withGated(paid, gates) : withoutVerdict(paid, redGateReason(red, gates), gates)
}

/** The state after gates or a judge of the verification, with their remarks and their cost. */
function recordVerification(
  state: State,
  { usage, gates, at }: Pick<Verified, 'usage' | 'gates' | 'at'>,
  limits: Limits,
): State {
  const remarks = verificationRemarks(state, gates)
  const withRemarks = { ...state, verification: { ...state.verification, remarks } }
  const counted = countCalls(withRemarks, at, Math.min(1, usage.calls))
  return recordSession(counted, { at, kind: 'verify', storyId: null, usage }, limits)
}

function withGated(state: State, gates: Verified['gates']): State {
  return { ...state, verification: { ...state.verification, gated: { commit: state.green, gates } } }
}

export function verified(state: State, event: Verified, limits: Limits): State {
  const { verdict, gates } = event
  const paid = recordVerification(state, event, limits)
  const ended = haltOnPortConflict(paid, gates)
  if (ended !== null) return ended
  switch (verdict.kind) {
    case 'verified': {
      const { remarks = [] } = paid.verification
      const verification = {
        remarks,
        approved: true,
        asked: false,
        sessions: 0,
        message: approvalOf(paid, verdict.evidence),
        ...reusedGates(gates),
      }
      return { ...withEvidence(paid, verdict.evidence ?? []), verification }
    }
    case 'limit':
    case 'refused':
      return recordAgentUnavailable(paid, verdict, limits, event)
    case 'none':
      return withoutVerdict(paid, verdict.message, gates)
    case 'reset':
      return resetStories(paid, verdict, event, limits)
  }
}

function approvalOf({ prd, control }: State, evidence: readonly StoryEvidence[] = []): string {
  const isInScope = inScope(control.scope)
  const criteria = prd.userStories.flatMap((story) =>
    story.passes && isInScope(story) ? story.acceptanceCriteria : [],
  )
  const shown = new Set(evidence.map(({ storyId, criterion }) => `${storyId}#${criterion}`)).size
  const words = shown === 0 ? 'the judge named no evidence' : `${shown} of ${criteria.length} with evidence`
  return `every criterion was judged to be met; ${words}`
}

/** Gates whose earlier result was reused, with the age of the result. */
function reusedGates(gates: Verified['gates']): { taken?: string[] } {
  const taken = gates.flatMap(({ name, asAt }) => (asAt === undefined ? [] : [`${name} as at ${asAt}`]))
  return taken.length === 0 ? {} : { taken }
}

function withEvidence(state: State, found: readonly StoryEvidence[]): State {
  const userStories = state.prd.userStories.map((story) => {
    const shown = found.filter(({ storyId }) => storyId === story.id)
    if (shown.length === 0 || story.lastResult === null) return story
    const evidence = shown.map(({ storyId: _story, ...one }) => one)
    return { ...story, lastResult: { ...story.lastResult, evidence } }
  })
  return { ...state, prd: { ...state.prd, userStories } }
}

/** The judge gave no verdict. Green gates need not run again for the next one. */
function withoutVerdict(state: State, message: string, gates: Verified['gates']): State {
  const { gated: _before, ...verification } = state.verification
  const sessions = verification.sessions + 1
  const after = { ...state, verification: { ...verification, approved: false, sessions, message } }
  return redGate(gates) === undefined ? withGated(after, gates) : after
}

function resetStories(
  state: State,
  { stories: named, reason, gate, detail = '' }: Extract<Verified['verdict'], { kind: 'reset' }>,
  { gates, at }: Verified,
  limits: Limits,
): State {
  const isInScope = inScope(state.control.scope)
  const ids = state.prd.userStories
    .filter((story) => story.passes && isInScope(story) && named.includes(story.id))
    .map(({ id }) => id)
  // A reset of stories that have not passed is not a verdict.
  if (ids.length === 0) return withoutVerdict(state, reason, gates)
  const shownGate = gate ?? redGate(gates)?.name
  // A run with the earlier tests is not a separate gate, and the story does not have to make it green.
  const requiredGate = gates.some(({ name, further }) => name === gate && further !== undefined)
    ? undefined
    : gate
  const kind = requiredGate === undefined ? 'judge' : 'gates'
  const failure: Failure = {
    kind,
    summary: reason,
    detail,
    ...(shownGate === undefined ? {} : { gate: shownGate }),
  }
  return ids.reduce((after, id) => {
    const reverted = revert(after, id, { failure, gates }, at, limits)
    return requiredGate === undefined ? reverted : requireGate(reverted, id, requiredGate)
  }, withoutApproval(state))
}

/** Makes the gate run for the story whatever its tags; an empty change cannot pass it then. */
export function requireGate(state: State, id: string, gate: string): State {
  return withRecord(state, id, (record) => ({
    ...record,
    owes: [...new Set([...(record.owes ?? []), gate])],
  }))
}
