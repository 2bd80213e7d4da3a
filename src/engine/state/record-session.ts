// Appends sessions to the state's list, with their agent and model. Estimates the usage of lost sessions. Pure.

import { type Attempt, type AttemptId, attemptKey, idOf, type Session } from '../model/attempt.ts'
import { groupBy } from '../model/each-once.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State } from '../model/state.ts'
import {
  emptyUsage,
  isUsed,
  leastUsage,
  type SessionEntry,
  type SessionKind,
  subtractUsage,
  sumOfUsage,
  type Usage,
} from '../model/usage.ts'
import { isOfAttempts, largestOf, ledgerOf } from '../model/usage-totals.ts'
import { VERSION } from '../model/version.ts'
import { chooseAgent } from './limits.ts'

/**
 * The maximum number of different names of agents and models. An untrusted job may give any number, so further ones are recorded as
 * `other`.
 */
const MAX_NAMES = 200
/** The maximum number of entries that are single sessions. If there are more, entries of attempts that left the timeline are summed up. */
const MAX_SESSIONS = 2000

/** A session that ended at `at`, epoch milliseconds. `others`: parts of its usage that are of another kind, agent or model. */
export type Spending = {
  at: number
  kind: SessionKind
  storyId: string | null
  slot?: number
  usage: Usage
  others?: Session['others']
  cutShort?: boolean
}

/** Appends a session. */
export function recordSession(state: State, spending: Spending, limits: Limits): State {
  const { usage, others = [], kind } = spending
  const sessionOwner = ownerOf(state, spending, limits)
  const entries: SessionEntry[] = []
  let remaining = usage
  for (const other of others) {
    const part = leastUsage(remaining, other.usage)
    remaining = subtractUsage(remaining, part)
    const isSameOwner = other.agent === null && other.model === null
    const owner = isSameOwner
      ? sessionOwner
      : limitOwner(state, { agent: other.agent ?? sessionOwner.agent, model: other.model })
    entries.push(entryOf(state, { ...spending, kind: other.kind ?? 'step', usage: part }, owner))
  }
  const mainEntry = entryOf(state, { ...spending, kind, usage: remaining }, sessionOwner)
  return withEntries(state, [...entries, mainEntry])
}

/** Appends a session of a lost job, by its recorded or reserved usage. Its agent and model are not known. */
export function recordLostSession(
  state: State,
  attempt: AttemptId | Attempt | null,
  usage: Usage,
  kind: SessionKind = 'run',
): State {
  const id = attempt === null ? { storyId: null } : idOf(attempt)
  const at = attemptOf(state, id)?.startedAt ?? state.job.startedAt
  const lost = { at, kind, ...id, usage, cutShort: true }
  return withEntries(state, [entryOf(state, lost, { agent: null, model: null, version: '' })])
}

/** The attempt in progress that a session belongs to. */
function attemptOf({ attempts }: State, { storyId, slot }: Pick<Spending, 'storyId' | 'slot'>) {
  if (storyId === null) return undefined
  return attempts[attemptKey(slot === undefined ? { storyId } : { storyId, slot })]
}

type Owner = Pick<SessionEntry, 'agent' | 'model'>

/** The agent and model of a session. For a judge or planner they were chosen when it began. */
function ownerOf(state: State, spending: Spending, limits: Limits): Owner {
  const { kind, usage, at } = spending
  const attempt = kind === 'run' ? attemptOf(state, spending) : undefined
  const agentChoice = attempt?.agent ?? chooseAgent(state, limits, at - usage.agentSeconds * 1000)
  if (agentChoice === 'fallback' && limits.fallback !== null) return { agent: limits.fallback, model: null }
  if (attempt?.model !== undefined) return { agent: limits.agent, model: attempt.model }
  const mode = kind === 'run' ? 'run' : kind === 'plan' || kind === 'split' ? 'plan' : 'verify'
  return { agent: limits.agent, model: limits.models?.[mode] ?? null }
}

/** The owner, or `other` if there are too many different ones already. */
function limitOwner({ sessions }: State, owner: Owner): Owner {
  const rows = ledgerOf(sessions)
  const isKnown = rows.some(({ agent, model }) => agent === owner.agent && model === owner.model)
  return isKnown || rows.length < MAX_NAMES ? owner : { agent: 'other', model: null }
}

function entryOf(state: State, spending: Spending, owner: Owner & { version?: string }): SessionEntry {
  const { storyId, kind, usage, at, cutShort } = spending
  const attempt = attemptOf(state, spending)
  return {
    storyId,
    iteration: attempt?.iteration ?? state.prd.run.iterations,
    attempt: attempt?.startedAt ?? null,
    kind,
    version: VERSION,
    ...owner,
    from: at - Math.round(usage.agentSeconds * 1000),
    to: at,
    ...usage,
    ...(cutShort === true ? { cutShort } : {}),
  }
}

function withEntries(state: State, entries: readonly SessionEntry[]): State {
  const used = entries.filter(isUsed)
  if (used.length === 0) return state
  return { ...state, sessions: compactSessions(state, [...state.sessions, ...used]) }
}

/** Sums up old entries if there are too many. The totals stay the same, and the size of the largest session is kept. */
function compactSessions({ timeline, attempts }: State, sessions: SessionEntry[]): SessionEntry[] {
  if (sessions.filter(({ largest }) => largest === undefined).length <= MAX_SESSIONS) return sessions
  const isOfKnownAttempt = isOfAttempts([...timeline, ...Object.values(attempts)])
  const old = sessions.filter((entry) => !isOfKnownAttempt(entry))
  const sums = [...groupBy(old, groupKey).values()].map(sumOf)
  const [first] = sums
  if (first !== undefined) sums[0] = { ...first, largest: largestOf(old) }
  return [...sums, ...sessions.filter(isOfKnownAttempt)]
}

function groupKey({ storyId, kind, agent, model, version }: SessionEntry): string {
  return JSON.stringify([storyId, kind, agent, model, version])
}

function sumOf(entries: readonly SessionEntry[]): SessionEntry {
  const last = entries.at(-1) as SessionEntry
  const { cutShort: _cut, ...rest } = last
  return {
    ...rest,
    attempt: null,
    from: Math.min(...entries.map(({ from }) => from)),
    to: Math.max(...entries.map(({ to }) => to)),
    ...sumOfUsage(entries),
    largest: { costUsd: 0, tokens: 0 },
  }
}

/** The estimated usage of a session that was lost before it reported any. */
export function reservedUsage({ reserved }: Pick<Attempt, 'reserved'>): Usage {
  const costUsd = reserved.costUsd ?? 0
  const inputTokens = Math.ceil(reserved.tokens ?? 0)
  return {
    ...emptyUsage(),
    inputTokens,
    costUsd,
    ...(costUsd > 0 ? { estimatedCostUsd: costUsd } : {}),
    ...(inputTokens > 0 ? { estimatedTokens: inputTokens } : {}),
  }
}

/**
 * The estimated usage of a session that was lost after the vendor or the proxy had counted `counted`. A reservation that is only a
 * share of the limit does not count alongside it.
 */
export function lostSessionUsage({ reserved }: Pick<Attempt, 'reserved'>, counted: Usage): Usage {
  const estimate = reservedUsage({ reserved: reserved.isShare ? { costUsd: null, tokens: null } : reserved })
  const costUsd = Math.max(counted.costUsd, estimate.costUsd)
  const isEstimateHigher = estimate.inputTokens > counted.inputTokens + counted.outputTokens
  const { inputTokens, outputTokens, cachedTokens } = isEstimateHigher ? estimate : counted
  const tokens = inputTokens + outputTokens
  return {
    calls: counted.calls,
    inputTokens,
    outputTokens,
    cachedTokens,
    costUsd,
    agentSeconds: counted.agentSeconds,
    ...(costUsd > 0 ? { estimatedCostUsd: costUsd } : {}),
    ...(tokens > 0 ? { estimatedTokens: tokens } : {}),
  }
}
