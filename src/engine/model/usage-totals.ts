// Every total of usage, as a sum over the list of sessions in the state. No other file adds usage up. Pure.
import { groupBy } from './each-once.ts'
import type { State, TimelineEntry } from './state.ts'
import {
  emptyUsage,
  type Largest,
  type SessionEntry,
  type SessionKind,
  sumOfUsage,
  tokensOf,
  type Usage,
} from './usage.ts'

type List = readonly SessionEntry[]
type Sessions = { readonly sessions: List }

export function runUsage({ sessions }: Sessions): Usage {
  return totalOf(sessions)
}

export function storyUsage({ sessions }: Sessions, storyId: string): Usage {
  return sumOfUsage(byStory(sessions).get(storyId) ?? [])
}

/** The usage of the attempt at a story that began at `startedAt`, epoch milliseconds. */
export function attemptUsage({ sessions }: Sessions, storyId: string, startedAt: number): Usage {
  return sumOfUsage(byAttempt(sessions).get(attemptKey(storyId, startedAt)) ?? [])
}

/** The usage of several attempts at a story. */
export function attemptsUsage(
  state: Sessions,
  storyId: string,
  attempts: readonly Readonly<{ startedAt: number }>[],
): Usage {
  return sumOfUsage(attempts.map(({ startedAt }) => attemptUsage(state, storyId, startedAt)))
}

/** The usage of an attempt by the kind of its sessions. */
export function attemptKinds(
  { sessions }: Sessions,
  storyId: string,
  startedAt: number,
): ReadonlyMap<SessionKind, Usage> {
  return usageByKind({ sessions: byAttempt(sessions).get(attemptKey(storyId, startedAt)) ?? [] })
}

export function usageByKind({ sessions }: Sessions): ReadonlyMap<SessionKind, Usage> {
  const kinds = groupBy(sessions, ({ kind }) => kind)
  return new Map([...kinds].map(([kind, entries]) => [kind, sumOfUsage(entries)]))
}

/** One of the last 200 iterations, with its usage. */
export type Iteration = ReturnType<typeof iterationsOf>[number]

export function iterationsOf(state: Sessions & Pick<State, 'timeline'>) {
  return state.timeline.map(({ startedAt, at, job, gatesMs, kind, ...entry }) => {
    const { storyId, ms } = entry
    const usage = startedAt === undefined ? null : attemptUsage(state, storyId, startedAt)
    const { costUsd, estimatedCostUsd } = usage ?? emptyUsage()
    return {
      ...entry,
      costUsd,
      ...(estimatedCostUsd === undefined ? {} : { estimatedCostUsd }),
      tokens: usage === null ? 0 : tokensOf(usage),
      at,
      job,
      ...(usage === null ? {} : { agentMs: Math.min(ms, Math.round(usage.agentSeconds * 1000)) }),
      ...(gatesMs === undefined ? {} : { gatesMs }),
      ...(kind === undefined ? {} : { kind }),
    }
  })
}

/** Sums over some iterations. */
export function iterationTotals(iterations: readonly Iteration[]) {
  const sum = (of: (one: Iteration) => number) => iterations.reduce((total, one) => total + of(one), 0)
  return {
    costUsd: sum(({ costUsd }) => costUsd),
    estimatedCostUsd: sum((one) => one.estimatedCostUsd ?? 0),
    tokens: sum(({ tokens }) => tokens),
    ms: sum(({ ms }) => ms),
  }
}

/** Dollars of the run beyond what these used. */
export function costBeyond(all: Pick<Usage, 'costUsd'>, some: readonly Pick<Usage, 'costUsd'>[]): number {
  return all.costUsd - some.reduce((sum, { costUsd }) => sum + costUsd, 0)
}

/** Usage by version of Ralph, agent (null: not known) and model (null: the agent's own choice). */
export type LedgerRow = ReturnType<typeof ledgerOf>[number]

export function ledgerOf(sessions: List) {
  const rows = groupBy(sessions, ({ version, agent, model }) => JSON.stringify([version, agent, model]))
  return [...rows.values()].map((entries) => {
    const { version = '', agent = null, model = null } = entries[0] ?? {}
    return { version, agent, model, ...sumOfUsage(entries) }
  })
}

/** The largest session that ended by itself and whose vendor reported its usage; null if none is known. */
export function largestSession({ sessions }: Sessions): Largest | null {
  const largest = largestIn(sessions)
  return largest.costUsd + largest.tokens > 0 ? largest : null
}

/** The largest session, also among those that are summed up. A reservation is for an attempt, so the sessions of an attempt count as one. */
export function largestOf(sessions: List): Largest {
  const single = sessions.filter(({ largest }) => largest === undefined)
  const works = groupBy([...single.entries()], ([at, { storyId, attempt, kind }]) =>
    attempt === null || kind === 'judge' ? at : attemptKey(storyId, attempt),
  )
  const known = [...works.values()]
    .map((work) => work.map(([, entry]) => entry))
    .filter((work) => !work.some(isEstimated))
    .map(sumOfUsage)
    .map((usage): Largest => ({ costUsd: usage.costUsd, tokens: tokensOf(usage) }))
  const all = [...known, ...sessions.flatMap(({ largest }) => largest ?? [])]
  const most = (of: keyof Largest) => all.reduce((max, one) => Math.max(max, one[of]), 0)
  return { costUsd: most('costUsd'), tokens: most('tokens') }
}

function isEstimated({ cutShort, estimatedTokens }: SessionEntry): boolean {
  return cutShort === true || estimatedTokens !== undefined
}

/** Whether an entry is of one of these attempts. */
export function isOfAttempts(
  attempts: readonly Pick<TimelineEntry, 'storyId' | 'startedAt'>[],
): (entry: SessionEntry) => boolean {
  const named = new Set(attempts.map(({ storyId, startedAt }) => attemptKey(storyId, startedAt ?? null)))
  return ({ storyId, attempt }) => attempt !== null && named.has(attemptKey(storyId, attempt))
}

function attemptKey(storyId: string | null, startedAt: number | null): string {
  return `${startedAt} ${storyId}`
}

/** Memoizes by the list itself: totals are needed at every step, and the list changes only with a new session. */
function memoizeByList<T>(make: (sessions: List) => T): (sessions: List) => T {
  const known = new WeakMap<List, { made: T }>()
  return (sessions) => {
    const { made } = known.get(sessions) ?? { made: make(sessions) }
    known.set(sessions, { made })
    return made
  }
}

const totalOf = memoizeByList(sumOfUsage)
const largestIn = memoizeByList(largestOf)
const byStory = memoizeByList((sessions) => groupBy(sessions, ({ storyId }) => storyId))
const byAttempt = memoizeByList((sessions) =>
  groupBy(
    sessions.filter(({ attempt }) => attempt !== null),
    ({ storyId, attempt }) => attemptKey(storyId, attempt),
  ),
)
