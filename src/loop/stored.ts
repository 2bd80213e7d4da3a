// States as git holds them: what a new one begins with, and those that an older version wrote. Pure.
import type { Control, State } from '../model/state.ts'

export function emptyControl(): Control {
  return {
    paused: null,
    granted: { iterations: 0, costUsd: 0 },
    notBefore: null,
    agentLimits: {},
    guidance: {},
    lastComment: 0,
    calls: [],
    idleJobs: 0,
    jobsBefore: 0,
    limited: 0,
    continuePending: false,
    mendedRun: null,
    chosen: {},
  }
}

/** Limits as they stood before each belonged to an agent: whose they were was not said, so that agent is asked again. */
type Older = { firstNotBefore?: unknown; fallbackNotBefore?: unknown }

/** The state in the text of `state.json`. Throws SyntaxError where it is no JSON. */
export function stateFrom(text: string): State {
  const state: Omit<State, 'control'> & { control: Partial<Control> & Older } = JSON.parse(text)
  const { firstNotBefore: _first, fallbackNotBefore: _fallback, ...control } = state.control
  return { ...state, records: withNotes(state), control: { ...emptyControl(), ...control } }
}

/** Notes that Ralph wrote before it kept its own word apart from people's. */
const OURS = /^(?:blocked after|interrupted) \d+ |^rests until /

function withNotes({ records, prd }: Pick<State, 'records' | 'prd'>): State['records'] {
  const known = { ...records }
  for (const { id, notes } of prd.userStories) {
    const record = known[id]
    if (record === undefined || record.note !== undefined || notes === '') continue
    if (OURS.test(notes) || notes === record.failure?.summary) known[id] = { ...record, note: notes }
  }
  return known
}
