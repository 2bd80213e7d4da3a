// States before version 5 kept usage as sums: of the run, of stories, of the last iterations, and by agent. They are read as a list of
// sessions whose totals are these sums. Pure.
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

const Row = z.looseObject({
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
  timeline: z.array(Row),
  ledger: z.exactOptional(z.array(OldLedgerRow)),
  largestSession: z.exactOptional(Largest),
})
type OldUsage = z.infer<typeof OldUsage>
type OldRow = z.infer<typeof Row>
type OldLedgerRow = z.infer<typeof OldLedgerRow>
/** An entry before its agent and model are known. */
type Part = { entry: Omit<SessionEntry, keyof Usage | 'agent' | 'model' | 'version'>; usage: Usage }

/** Converts to version 5, unchecked. */
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

/** The usage of a returned attempt may itself be an estimate. */
function largestIn(timeline: readonly OldRow[]): Largest {
  const known = timeline.filter(({ result }) => result !== 'returned')
  const most = (of: 'costUsd' | 'tokens') => Math.max(0, ...known.map((row) => row[of]))
  return { costUsd: most('costUsd'), tokens: most('tokens') }
}

function startOf({ at, ms }: OldRow): number {
  return at - ms
}

/** The iterations in the timeline, then the rest of each story, then the rest of the run. */
function partsOf({ prd, records, timeline }: OldUsage): Part[] {
  const { iterations, usage } = prd.run
  const left = new Map<string | null, Usage>(
    Object.entries(records).map(([id, record]) => [id, record.usage]),
  )
  left.set(null, [...left.values()].reduce(subtractUsage, usage))
  const rows = timeline.map((row): Part => {
    const { storyId, iteration, at } = row
    const of = left.has(storyId) ? storyId : null
    const pool = left.get(of) ?? emptyUsage()
    const used = usageOfRow(row, pool)
    left.set(of, subtractUsage(pool, used))
    const from = startOf(row)
    return { entry: { ...EARLIER, storyId, iteration, attempt: from, from, to: at }, usage: used }
  })
  const others = [...left].map(([storyId, rest]): Part => {
    return { entry: { ...EARLIER, storyId, iteration: iterations }, usage: rest }
  })
  return [...rows, ...others]
}

const EARLIER = {
  attempt: null,
  kind: 'earlier',
  from: 0,
  to: 0,
  largest: { costUsd: 0, tokens: 0 },
} as const

/** Of what its story used: what the row names, and the rest of each amount as far as it must be of this iteration. */
function usageOfRow({ costUsd, estimatedCostUsd = 0, tokens, agentMs = 0 }: OldRow, of: Usage): Usage {
  const inputTokens = Math.min(tokens, of.inputTokens)
  const named = { costUsd, estimatedCostUsd, inputTokens, outputTokens: tokens - inputTokens }
  return leastUsage(of, {
    ...emptyUsage(),
    calls: costUsd + tokens > 0 ? 1 : 0,
    agentSeconds: agentMs / 1000,
    ...named,
  })
}

/** Assigns the parts to the rows of the ledger in order, as far as these reach, so that both keep their totals. */
function assignOwners(parts: readonly Part[], ledger: readonly OldLedgerRow[]): SessionEntry[] {
  const rows = ledger.map(({ version, agent, model, tokens, ...amounts }) => ({
    owner: { version, agent, model },
    left: { ...emptyUsage(), ...amounts, inputTokens: tokens },
  }))
  const entries: SessionEntry[] = []
  for (const { entry, usage } of parts) {
    let left = usage
    for (const row of rows) {
      if (!isUsed(row.left)) continue
      const tokens = row.left.inputTokens
      const inputTokens = Math.min(left.inputTokens, tokens)
      const { calls, costUsd, agentSeconds } = row.left
      const bounds = { calls, costUsd, agentSeconds, inputTokens, outputTokens: tokens - inputTokens }
      const part = leastUsage(left, { ...UNLIMITED, ...bounds })
      if (!isUsed(part)) continue
      entries.push({ ...entry, ...row.owner, ...part })
      left = subtractUsage(left, part)
      row.left = subtractUsage(row.left, { ...part, inputTokens: tokensOf(part) })
    }
    if (isUsed(left)) entries.push({ ...entry, version: '', agent: null, model: null, ...left })
  }
  return entries
}

const most = Number.POSITIVE_INFINITY
const UNLIMITED: Usage = {
  ...{ calls: most, inputTokens: most, outputTokens: most, cachedTokens: most, costUsd: most },
  ...{ agentSeconds: most, estimatedCostUsd: most, estimatedTokens: most, turns: most },
}
