// What a job says to the next ones: its own event, in the form of a hand-over. The receiver validates it (taken-events.ts).

import { idOf } from '../../engine/model/attempt.ts'
import type { Event, EventOf } from '../../engine/model/event.ts'
import type { Step } from '../../engine/model/step.ts'
import { type GateEvent, plannedOf, type WorkEvent } from './handover.ts'

/** The event of a work job; null for an event that it may not say. A judge or planner that was cut short is paid for as well. */
export function workEventOf({ kind }: Step, event: Event): WorkEvent | null {
  switch (event.kind) {
    case 'worked':
      return { kind: 'worked', ...idOf(event), session: event.session }
    case 'verified':
      return { kind: 'verified', verdict: withoutFix(event.verdict), usage: event.usage }
    case 'planned':
      return { kind: 'planned', plan: plannedOf(event.proposal, event.usage) }
    case 'interrupted':
    case 'out-of-time': {
      const { spent } = event
      const none = { kind: 'none' as const, message: 'the job ended before the session did' }
      if (spent === null) return null
      return kind === 'plan'
        ? { kind: 'planned', plan: { ...none, usage: spent.usage } }
        : { kind: 'verified', verdict: none, usage: spent.usage }
    }
    default:
      return null
  }
}

type Verdict = EventOf<'verified'>['verdict']
type HandedVerdict = Extract<WorkEvent, { kind: 'verified' }>['verdict']

/** What a person has to fix is said by the job itself. */
function withoutFix(verdict: Verdict): HandedVerdict {
  switch (verdict.kind) {
    case 'refused':
      return { kind: 'refused', message: verdict.message }
    case 'verified':
      return verdict.evidence === undefined
        ? { kind: 'verified' }
        : { kind: 'verified', evidence: [...verdict.evidence] }
    default:
      return verdict
  }
}

/** The event of a gate job, with the commit that the gates ran on; null for an event that it may not say. */
export function gateEventOf(
  step: Step,
  green: string,
  event: Event,
): { said: GateEvent; commit: string } | null {
  switch (event.kind) {
    case 'gated': {
      const { commit, gates, base, paths, unproved, unnoticed } = event
      const more = {
        ...(base === undefined ? {} : { base }),
        ...(paths === undefined ? {} : { paths }),
        ...(unproved === undefined ? {} : { unproved }),
        ...(unnoticed === undefined ? {} : { unnoticed }),
      }
      return { said: { kind: 'gated', ...idOf(event), gates, ...more }, commit }
    }
    case 'baselined':
      return { said: { kind: 'baselined', gates: event.gates }, commit: green }
    case 'join-gated': {
      if (step.kind !== 'gate-join') return null
      const { gates, broken } = event
      const blamed = broken === null ? null : { storyId: broken.storyId, summary: broken.failure.summary }
      return { said: { kind: 'join-gated', gates, broken: blamed }, commit: step.branch.joined.green }
    }
    case 'edit-gated':
      if (step.kind !== 'gate-edit') return null
      return { said: { kind: 'edit-gated', gates: event.gates }, commit: step.built.commit }
    case 'whole-gated':
      return { said: { kind: 'whole-gated', gates: event.gates }, commit: green }
    case 'verified': {
      const { gates, verdict } = event
      const blamed =
        verdict.kind === 'reset' ? verdict : { kind: 'none' as const, message: messageIn(verdict) }
      return { said: { kind: 'verified', gates, verdict: blamed }, commit: green }
    }
    default:
      return null
  }
}

function messageIn(verdict: Verdict): string {
  return 'message' in verdict ? verdict.message : ''
}
