// The event `verified` of the final verification: its verdict approves the work, or resets stories. Pure.

import { excerpt } from '../../system/excerpt.ts'
import { haltOnPortConflict, verificationRemarks } from '../gating/gate-memory.ts'
import type { Failure } from '../model/attempt.ts'
import {
  type Counterexample,
  counterexampleName,
  isCounterexample,
  type Weighed,
} from '../model/counterexample.ts'
import type { EventOf } from '../model/event.ts'
import type { StoryEvidence } from '../model/feature.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State } from '../model/state.ts'
import { inScope } from '../prd/select.ts'
import { countCalls, recordAgentUnavailable } from '../state/limits.ts'
import { recordSession } from '../state/record-session.ts'
import { redGate, redGateReason, withoutApproval, withRecord } from '../state/state-updates.ts'
import { revert } from './attempt-outcome.ts'

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
  const { verdict } = event
  // Counterexamples are not gates of the feature, so the next verification does not reuse their results.
  const gates = event.gates.filter((one) => !isCounterexample(one))
  const paid = withVoided(recordVerification(state, { ...event, gates }, limits), event.weighed?.voided ?? [])
  const ended = haltOnPortConflict(paid, gates)
  if (ended !== null) return ended
  switch (verdict.kind) {
    case 'verified': {
      const { remarks = [], voided } = paid.verification
      const verification = {
        remarks,
        ...(voided === undefined ? {} : { voided }),
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

function withVoided(state: State, voided: readonly string[]): State {
  if (voided.length === 0) return state
  const all = [...(state.verification.voided ?? []), ...voided].slice(-MAX_VOIDED)
  return { ...state, verification: { ...state.verification, voided: all } }
}

const MAX_VOIDED = 20

function approvalOf({ prd, control }: State, evidence: readonly StoryEvidence[] = []): string {
  const isInScope = inScope(control.scope)
  const criteria = prd.userStories.flatMap((story) =>
    story.passes && isInScope(story) ? story.acceptanceCriteria : [],
  )
  const shown = new Set(evidence.map(({ storyId, criterion }) => `${storyId}#${criterion}`)).size
  const words = shown === 0 ? 'cited no evidence' : `cited evidence for ${shown} of ${criteria.length}`
  return `the judge found every criterion met, and ${words}`
}

/** Gates whose earlier result was reused, with the age of the result. */
function reusedGates(gates: Verified['gates']): { taken?: string[] } {
  const taken = gates.flatMap(({ name, asAt }) =>
    asAt === undefined ? [] : [`result of ${name} reused from ${asAt}`],
  )
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
  { gates, at, weighed }: Verified,
  limits: Limits,
): State {
  const isInScope = inScope(state.control.scope)
  const ids = state.prd.userStories
    .filter((story) => story.passes && isInScope(story) && named.includes(story.id))
    .map(({ id }) => id)
  // A reset of stories that have not passed is not a verdict.
  if (ids.length === 0) return withoutVerdict(state, reason, gates)
  const shownGate = gate ?? redGate(gates.filter((one) => !isCounterexample(one)))?.name
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
    const refusal = weighed?.refused.find(({ storyId }) => storyId === id)
    const why = refusal?.counterexample === undefined ? failure : shownBy(failure, refusal.counterexample)
    const reverted = revert(after, id, { failure: why, gates }, at, limits)
    const owing = refusal === undefined ? reverted : recordRefusal(reverted, id, refusal)
    return requiredGate === undefined ? owing : requireGate(owing, id, requiredGate)
  }, withoutApproval(state))
}

/** The next session reads the output of the counterexample, and how it ran. */
function shownBy(failure: Failure, counterexample: Counterexample): Failure {
  const { run, files } = counterexample
  const texts = files.map(({ path, text }) => `${path}:\n${text}`)
  const detail = excerpt([`A judge showed it by this command: ${run}`, ...texts].join('\n\n'), SHOWN_BYTES)
  return { ...failure, detail, gate: counterexampleName(counterexample) }
}

const SHOWN_BYTES = 4000
/** More would make every attempt slow. */
const MAX_OWED = 5

function recordRefusal(state: State, id: string, { counterexample }: Weighed['refused'][number]): State {
  return withRecord(state, id, (record) =>
    counterexample === undefined
      ? { ...record, refusedInWords: true as const }
      : { ...record, counterexamples: [...(record.counterexamples ?? []), counterexample].slice(-MAX_OWED) },
  )
}

/** Makes the gate run for the story whatever its tags; an empty change cannot pass it then. */
export function requireGate(state: State, id: string, gate: string): State {
  return withRecord(state, id, (record) => ({
    ...record,
    owes: [...new Set([...(record.owes ?? []), gate])],
  }))
}
