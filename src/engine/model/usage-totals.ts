// Every total of what sessions used, as a sum over the list of them in the state. Nothing else adds usage up. Pure.
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

/** Of the attempt at a story that began then, epoch milliseconds. */
export function attemptUsage({ sessions }: Sessions, storyId: string, startedAt: number): Usage {
  return sumOfUsage(byAttempt(sessions).get(attemptKey(storyId, startedAt)) ?? [])
}

/** Of the same attempt, by what its sessions were for. */
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

/** The last 200 iterations with what each used. */
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

/** Of some iterations together. */
export function iterationTotals(iterations: readonly Iteration[]) {
  const sum = (of: (one: Iteration) => number) => iterations.reduce((total, one) => total + of(one), 0)
  return {
    costUsd: sum(({ costUsd }) => costUsd),
    estimatedCostUsd: sum((one) => one.estimatedCostUsd ?? 0),
    tokens: sum(({ tokens }) => tokens),
    ms: sum(({ ms }) => ms),
  }
}

/** Dollars of the run beside what these used. */
export function costBeside(all: Pick<Usage, 'costUsd'>, some: readonly Pick<Usage, 'costUsd'>[]): number {
  return all.costUsd - some.reduce((sum, { costUsd }) => sum + costUsd, 0)
}

/** What was used with this version of Ralph, this agent (null: not known) and model (null: the agent's own choice). */
export type LedgerRow = ReturnType<typeof ledgerOf>[number]

export function ledgerOf(sessions: List) {
  const rows = groupBy(sessions, ({ version, agent, model }) => JSON.stringify([version, agent, model]))
  return [...rows.values()].map((entries) => {
    const { version = '', agent = null, model = null } = entries[0] ?? {}
    return { version, agent, model, ...sumOfUsage(entries) }
  })
}

/** The largest session that came to its end and whose vendor told what it used; null where none is known. */
export function largestSession({ sessions }: Sessions): Largest | null {
  const largest = largestIn(sessions)
  return largest.costUsd + largest.tokens > 0 ? largest : null
}

/** The largest of these, and of those that they are sums of. What is reserved is for an attempt, so its sessions count as one. */
export function largestOf(sessions: List): Largest {
  const single = sessions.filter(({ largest }) => largest === undefined)
  const works = groupBy([...single.entries()], ([at, { storyId, attempt, kind }]) =>
    attempt === null || kind === 'judge' ? at : attemptKey(storyId, attempt),
  )
  const known = [...works.values()]
    .map((work) => work.map(([, entry]) => entry))
    .filter((work) => !work.some(isNotKnown))
    .map(sumOfUsage)
    .map((usage): Largest => ({ costUsd: usage.costUsd, tokens: tokensOf(usage) }))
  const all = [...known, ...sessions.flatMap(({ largest }) => largest ?? [])]
  const most = (of: keyof Largest) => all.reduce((max, one) => Math.max(max, one[of]), 0)
  return { costUsd: most('costUsd'), tokens: most('tokens') }
}

function isNotKnown({ cutShort, estimatedTokens }: SessionEntry): boolean {
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

/** Asked for at every step, and made anew only when a session has come to the list. */
function madeOnce<T>(make: (sessions: List) => T): (sessions: List) => T {
  const known = new WeakMap<List, { made: T }>()
  return (sessions) => {
    const { made } = known.get(sessions) ?? { made: make(sessions) }
    known.set(sessions, { made })
    return made
  }
}

const totalOf = madeOnce(sumOfUsage)
const largestIn = madeOnce(largestOf)
const byStory = madeOnce((sessions) => groupBy(sessions, ({ storyId }) => storyId))
const byAttempt = madeOnce((sessions) =>
  groupBy(
    sessions.filter(({ attempt }) => attempt !== null),
    ({ storyId, attempt }) => attemptKey(storyId, attempt),
  ),
)
