// What sessions used, by month, version, agent and model: for who sums it up over features. Pure.
import type { Event } from '../model/event.ts'
import type { Limits } from '../model/limits.ts'
import type { LedgerEntry, State } from '../model/state.ts'
import type { Usage } from '../model/usage.ts'
import { VERSION } from '../model/version.ts'
import { agentFor } from './limits.ts'

/** The state after an event, with what it used beyond the state before in the ledger. */
export function entered(before: State, after: State, event: Event, limits: Limits): State {
  const [old, now] = [before.prd.run.usage, after.prd.run.usage]
  if (old === now) return after
  const all = who(before, event, now.agentSeconds - old.agentSeconds, limits)
  const when = { month: new Date(event.at).toISOString().slice(0, 7), version: VERSION }
  const others = event.kind === 'worked' ? (event.session.others ?? []) : []
  const own = others.reduce((left, { usage }) => less(left, amounts(usage)), less(amounts(now), amounts(old)))
  const entries = others.map(({ agent, model, usage }) => ({
    ...when,
    agent: agent ?? all.agent,
    model,
    ...amounts(usage),
  }))
  const paid = withEntry(after, { ...when, ...all, ...own })
  return entries.reduce((state, used) => withEntry(state, hasRoom(state, used) ? used : nameless(used)), paid)
}

/** The names of others may come from a job that runs what is not trusted: so many rows, and beyond them one a month. */
const MOST_ROWS = 200

function hasRoom({ ledger = [] }: State, used: LedgerEntry): boolean {
  return ledger.length < MOST_ROWS || ledger.some((entry) => keyOf(entry) === keyOf(used))
}

function nameless(used: LedgerEntry): LedgerEntry {
  return { ...used, agent: 'other', model: null }
}

function withEntry(state: State, used: LedgerEntry): State {
  if (used.calls <= 0 && used.tokens <= 0 && used.costUsd <= 0) return state
  const { ledger = [] } = state
  const at = ledger.findIndex((entry) => keyOf(entry) === keyOf(used))
  return { ...state, ledger: at < 0 ? [...ledger, used] : ledger.with(at, added(ledger[at] ?? used, used)) }
}

type Amounts = Pick<LedgerEntry, 'calls' | 'tokens' | 'costUsd' | 'agentSeconds'>

function amounts({ calls, inputTokens, outputTokens, costUsd, agentSeconds }: Usage): Amounts {
  return { calls, tokens: inputTokens + outputTokens, costUsd, agentSeconds }
}

function less(one: Amounts, other: Amounts): Amounts {
  return {
    calls: Math.max(0, one.calls - other.calls),
    tokens: Math.max(0, one.tokens - other.tokens),
    costUsd: Math.max(0, one.costUsd - other.costUsd),
    agentSeconds: Math.max(0, one.agentSeconds - other.agentSeconds),
  }
}

function keyOf({ month, version, agent, model }: LedgerEntry): string {
  return JSON.stringify([month, version, agent, model])
}

function added(one: LedgerEntry, other: LedgerEntry): LedgerEntry {
  return {
    ...one,
    calls: one.calls + other.calls,
    tokens: one.tokens + other.tokens,
    costUsd: one.costUsd + other.costUsd,
    agentSeconds: one.agentSeconds + other.agentSeconds,
  }
}

/** Whose session it was. Who judges or plans was decided when it began. */
function who(
  state: State,
  event: Event,
  seconds: number,
  limits: Limits,
): Pick<LedgerEntry, 'agent' | 'model'> {
  const attempt = event.kind === 'worked' ? state.attempts[event.storyId] : undefined
  const which = attempt?.agent ?? agentFor(state, limits, event.at - seconds * 1000)
  if (which === 'fallback' && limits.fallback !== null) return { agent: limits.fallback, model: null }
  const mode = event.kind === 'worked' ? 'run' : event.kind === 'planned' ? 'plan' : 'verify'
  return { agent: limits.agent, model: limits.models?.[mode] ?? null }
}
