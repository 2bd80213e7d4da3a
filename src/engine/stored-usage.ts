// Reads states before version 5, which kept usage as sums: of the run, of each story, of the last iterations, and of each agent. The
// sums become a list of sessions that has the same totals. Pure.
import * as z from 'zod/mini'
import {
  emptyUsage,
  isUsed,
  Largest,
  leastUsage,
  type SessionEntry,
  subtractUsage,
  tokensOf,
  Usage,
} from './model/usage.ts'

const OldRow = z.looseObject({
  iteration: z.number(),
  storyId: z.string(),
  result: z.string(),
  ms: z.number(),
  at: z.number(),
  costUsd: z.number(),
  estimatedCostUsd: z.exactOptional(z.number()),
  tokens: z.number(),
  agentMs: z.exactOptional(z.number()),
})
const OldLedgerRow = z.object({
  version: z.string(),
  agent: z.string(),
  model: z.nullable(z.string()),
  calls: z.number(),
  tokens: z.number(),
  costUsd: z.number(),
  agentSeconds: z.number(),
})
export const OldUsage = z.looseObject({
  prd: z.looseObject({ run: z.looseObject({ iterations: z.number(), usage: Usage }) }),
  records: z.record(z.string(), z.looseObject({ usage: Usage })),
  timeline: z.array(OldRow),
  ledger: z.exactOptional(z.array(OldLedgerRow)),
  largestSession: z.exactOptional(Largest),
})
type OldUsage = z.infer<typeof OldUsage>
type OldRow = z.infer<typeof OldRow>
type OldLedgerRow = z.infer<typeof OldLedgerRow>
/** An entry before its agent and model are known. */
type Part = { entry: Omit<SessionEntry, keyof Usage | 'agent' | 'model' | 'version'>; usage: Usage }

/** Converts to version 5. The result is not validated. */
export function withSessions(old: OldUsage) {
  const { ledger = [], largestSession, ...rest } = old
  const sessions = assignOwners(partsOf(old), ledger)
  const [first] = sessions
  if (first !== undefined) sessions[0] = { ...first, largest: largestSession ?? largestIn(old.timeline) }
  const timeline = old.timeline.map((row) =>
    row.result === 'reset' ? row : { ...row, startedAt: startOf(row) },
  )
  return { ...rest, version: 5, timeline, sessions }
}

/** Returned attempts do not count: their usage may be an estimate. */
function largestIn(timeline: readonly OldRow[]): Largest {
  const measured = timeline.filter(({ result }) => result !== 'returned')
  const largest = (amount: 'costUsd' | 'tokens') => Math.max(0, ...measured.map((row) => row[amount]))
  return { costUsd: largest('costUsd'), tokens: largest('tokens') }
}

function startOf({ at, ms }: OldRow): number {
  return at - ms
}

/** A part for each iteration of the timeline, then one for the rest of each story, then one for the rest of the run. */
function partsOf({ prd, records, timeline }: OldUsage): Part[] {
  const { iterations, usage } = prd.run
  // What no part has taken yet, by story. The key null has the usage that belongs to no story.
  const remaining = new Map<string | null, Usage>(
    Object.entries(records).map(([id, record]) => [id, record.usage]),
  )
  remaining.set(null, [...remaining.values()].reduce(subtractUsage, usage))
  const iterationParts = timeline.map((row): Part => {
    const { storyId, iteration, at } = row
    const key = remaining.has(storyId) ? storyId : null
    const available = remaining.get(key) ?? emptyUsage()
    const used = usageOfRow(row, available)
    remaining.set(key, subtractUsage(available, used))
    const from = startOf(row)
    return { entry: { ...EARLIER, storyId, iteration, attempt: from, from, to: at }, usage: used }
  })
  const otherParts = [...remaining].map(([storyId, rest]): Part => {
    return { entry: { ...EARLIER, storyId, iteration: iterations }, usage: rest }
  })
  return [...iterationParts, ...otherParts]
}

const EARLIER = {
  attempt: null,
  kind: 'earlier',
  from: 0,
  to: 0,
  largest: { costUsd: 0, tokens: 0 },
} as const

/** The usage of an iteration: the amounts that its row has, at most what is available. */
function usageOfRow({ costUsd, estimatedCostUsd = 0, tokens, agentMs = 0 }: OldRow, available: Usage): Usage {
  // The row has only the sum of tokens: as many of them as possible count as input.
  const inputTokens = Math.min(tokens, available.inputTokens)
  return leastUsage(available, {
    ...emptyUsage(),
    calls: costUsd + tokens > 0 ? 1 : 0,
    agentSeconds: agentMs / 1000,
    costUsd,
    estimatedCostUsd,
    inputTokens,
    outputTokens: tokens - inputTokens,
  })
}

/**
 * Splits the parts over the agents and models of the ledger: in order, each row until its amounts are used up. So both the parts and
 * the rows keep their totals.
 */
function assignOwners(parts: readonly Part[], ledger: readonly OldLedgerRow[]): SessionEntry[] {
  const rows = ledger.map(({ version, agent, model, tokens, ...amounts }) => ({
    owner: { version, agent, model },
    // The ledger has only the sum of tokens, which is kept as input tokens here.
    remaining: { ...emptyUsage(), ...amounts, inputTokens: tokens },
  }))
  const entries: SessionEntry[] = []
  for (const { entry, usage } of parts) {
    let remaining = usage
    for (const row of rows) {
      if (!isUsed(row.remaining)) continue
      const { calls, costUsd, agentSeconds, inputTokens: tokens } = row.remaining
      const inputTokens = Math.min(remaining.inputTokens, tokens)
      const bounds = { calls, costUsd, agentSeconds, inputTokens, outputTokens: tokens - inputTokens }
      const taken = leastUsage(remaining, { ...UNLIMITED, ...bounds })
      if (!isUsed(taken)) continue
      entries.push({ ...entry, ...row.owner, ...taken })
      remaining = subtractUsage(remaining, taken)
      row.remaining = subtractUsage(row.remaining, { ...taken, inputTokens: tokensOf(taken) })
    }
    if (isUsed(remaining)) entries.push({ ...entry, version: '', agent: null, model: null, ...remaining })
  }
  return entries
}

const UNLIMITED: Usage = {
  calls: Number.POSITIVE_INFINITY,
  inputTokens: Number.POSITIVE_INFINITY,
  outputTokens: Number.POSITIVE_INFINITY,
  cachedTokens: Number.POSITIVE_INFINITY,
  costUsd: Number.POSITIVE_INFINITY,
  agentSeconds: Number.POSITIVE_INFINITY,
  estimatedCostUsd: Number.POSITIVE_INFINITY,
  estimatedTokens: Number.POSITIVE_INFINITY,
  turns: Number.POSITIVE_INFINITY,
}
