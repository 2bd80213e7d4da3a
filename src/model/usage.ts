// What agents use, and what it costs.
import * as z from 'zod/mini'

/** Fields of a file that Ralph does not know. They survive reading and writing, flat, behind the known ones. */
export type Extra = z.infer<typeof Extra>
export const Extra = z.record(z.string(), z.unknown())

/** What agents have used. Tokens and calls are counts, `costUsd` is dollars, `agentSeconds` is seconds. */
export type Usage = z.infer<typeof Usage>
export const Usage = z.object({
  calls: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number(),
  costUsd: z.number(),
  agentSeconds: z.number(),
  /** The parts that Ralph estimated, since the agent did not report them. */
  estimatedCostUsd: z.exactOptional(z.number()),
  estimatedTokens: z.exactOptional(z.number()),
  /** The agents' own count, where they give one. */
  turns: z.exactOptional(z.number()),
  extra: z.exactOptional(Extra),
})

/** US dollars for a million tokens. `cached` null: cached input costs as much as other input. */
export type Price = { input: number; output: number; cached: number | null }

const usageKeys = ['calls', 'inputTokens', 'outputTokens', 'cachedTokens', 'costUsd', 'agentSeconds'] as const
/** Written only where there is something to say. */
const optionalUsageKeys = ['estimatedCostUsd', 'estimatedTokens', 'turns'] as const

export function emptyUsage(): Usage {
  return { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, agentSeconds: 0 }
}

/** Both together; unknown fields of `a` win over those of `b`. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = emptyUsage()
  for (const key of usageKeys) sum[key] = a[key] + b[key]
  for (const key of optionalUsageKeys) {
    const total = (a[key] ?? 0) + (b[key] ?? 0)
    if (total > 0) sum[key] = total
  }
  if (a.extra || b.extra) sum.extra = { ...b.extra, ...a.extra }
  return sum
}
