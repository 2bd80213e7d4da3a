// What sessions used, by version, agent and model: for who sums it up over features. Pure.
import type { Event } from '../model/event.ts'
import type { Limits } from '../model/limits.ts'
import type { LedgerEntry, State } from '../model/state.ts'
import type { Usage } from '../model/usage.ts'
import { VERSION } from '../model/version.ts'
import { agentFor } from './limits.ts'

/** The names of others may come from a job that runs what is not trusted: so many rows, and beyond them one. */
const MOST_ROWS = 200

/** The state after an event, with what it used beyond the state before in the ledger. */
export function entered(before: State, after: State, event: Event, limits: Limits): State {
  const [old, now] = [before.prd.run.usage, after.prd.run.usage]
  if (old === now) return after
  const all = who(before, event, now.agentSeconds - old.agentSeconds, limits)
  const others = event.kind === 'worked' ? (event.session.others ?? []) : []
  const own = others.reduce((left, { usage }) => less(left, amounts(usage)), less(amounts(now), amounts(old)))
  let ledger = withEntry(after.ledger ?? [], { version: VERSION, ...all, ...own })
  for (const { agent, model, usage } of others) {
    const used = { version: VERSION, agent: agent ?? all.agent, model, ...amounts(usage) }
    const hasRoom = ledger.length < MOST_ROWS || ledger.some((entry) => isSame(entry, used))
    ledger = withEntry(ledger, hasRoom ? used : { ...used, agent: 'other', model: null })
  }
  const known = withLargest(after, event)
  return ledger.length === 0 ? known : { ...known, ledger }
}

/** One that was cut short, or of which only a guess is known, says nothing of how large sessions are. */
function withLargest(state: State, event: Event): State {
  const usage = sessionOf(event)
  if (usage === null || usage.estimatedTokens !== undefined) return state
  const { costUsd, tokens } = amounts(usage)
  if (costUsd + tokens <= 0) return state
  const before = state.largestSession ?? { costUsd: 0, tokens: 0 }
  const largestSession = {
    costUsd: Math.max(before.costUsd, costUsd),
    tokens: Math.max(before.tokens, tokens),
  }
  return { ...state, largestSession }
}

function sessionOf(event: Event): Usage | null {
  if (event.kind === 'worked') return event.session.status === 'interrupted' ? null : event.session.usage
  return event.kind === 'judged' || event.kind === 'verified' || event.kind === 'planned' ? event.usage : null
}

function withEntry(ledger: LedgerEntry[], used: LedgerEntry): LedgerEntry[] {
  if (used.calls <= 0 && used.tokens <= 0 && used.costUsd <= 0) return ledger
  const at = ledger.findIndex((entry) => isSame(entry, used))
  const before = ledger[at]
  return before === undefined ? [...ledger, used] : ledger.with(at, { ...before, ...sum(before, used) })
}

function isSame(one: LedgerEntry, other: LedgerEntry): boolean {
  const keys = ['version', 'agent', 'model'] as const
  return keys.every((key) => one[key] === other[key])
}

type Amounts = Pick<LedgerEntry, 'calls' | 'tokens' | 'costUsd' | 'agentSeconds'>

function amounts({ calls, inputTokens, outputTokens, costUsd, agentSeconds }: Usage): Amounts {
  return { calls, tokens: inputTokens + outputTokens, costUsd, agentSeconds }
}

function sum(one: Amounts, other: Amounts, sign: 1 | -1 = 1): Amounts {
  const add = (key: keyof Amounts) => Math.max(0, one[key] + sign * other[key])
  return {
    calls: add('calls'),
    tokens: add('tokens'),
    costUsd: add('costUsd'),
    agentSeconds: add('agentSeconds'),
  }
}

function less(one: Amounts, other: Amounts): Amounts {
  return sum(one, other, -1)
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
