// What agents use, and what it costs: sums, and the sessions that they are made of.
import * as z from 'zod/mini'

/** Fields of a file that Ralph does not know. Reading and writing keeps them, behind the known fields. */
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
})

/** What a session is for. `earlier`: part of a sum that an older version of the state held. */
export type SessionKind = z.infer<typeof SessionKind>
export const SessionKind = z.enum(['run', 'set-up', 'step', 'judge', 'verify', 'plan', 'split', 'earlier'])

/** The cost and tokens of the largest of some sessions. */
export type Largest = z.infer<typeof Largest>
export const Largest = z.object({ costUsd: z.number(), tokens: z.number() })

/** A session and its usage; or, with `largest`, the sum of older sessions of the same story, kind, agent and version. */
export type SessionEntry = z.infer<typeof SessionEntry>
export const SessionEntry = z.extend(Usage, {
  /** Null: it was for no story in particular. */
  storyId: z.nullable(z.string()),
  iteration: z.number(),
  /** When its attempt began, epoch milliseconds, which identifies the attempt; null: it belongs to none. */
  attempt: z.nullable(z.number()),
  kind: SessionKind,
  /** Null: not known, as of a job that was lost. */
  agent: z.nullable(z.string()),
  /** Null: the agent's own choice. */
  model: z.nullable(z.string()),
  /** Of Ralph; empty where it is not known. */
  version: z.string(),
  /** Epoch milliseconds. */
  from: z.number(),
  to: z.number(),
  /** It was ended early, so it does not count as a typical size of a session. */
  cutShort: z.exactOptional(z.literal(true)),
  largest: z.exactOptional(Largest),
})

/** US dollars for a million tokens. `cached` null: cached input costs as much as other input. */
export type Price = { input: number; output: number; cached: number | null }

const AMOUNTS = ['calls', 'inputTokens', 'outputTokens', 'cachedTokens', 'costUsd', 'agentSeconds'] as const
/** Written only where they are above zero. */
const OPTIONAL_AMOUNTS = ['estimatedCostUsd', 'estimatedTokens', 'turns'] as const
/** Rounds to nine decimals: later digits are floating-point noise of a subtraction. */
const BILLION = 1e9

export function emptyUsage(): Usage {
  return { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, agentSeconds: 0 }
}

export function addUsage(one: Usage, other: Usage): Usage {
  return sumOfUsage([one, other])
}

/** The sum, in order, in one pass also over thousands. */
export function sumOfUsage(all: readonly Usage[]): Usage {
  const sum = emptyUsage()
  const more = { estimatedCostUsd: 0, estimatedTokens: 0, turns: 0 }
  for (const one of all) {
    for (const key of AMOUNTS) sum[key] += one[key]
    for (const key of OPTIONAL_AMOUNTS) more[key] += one[key] ?? 0
  }
  for (const key of OPTIONAL_AMOUNTS) if (more[key] > 0) sum[key] = more[key]
  return sum
}

/** The difference of each amount, never below zero. */
export function subtractUsage(one: Usage, other: Usage): Usage {
  return combined(one, other, (a, b) => Math.max(0, Math.round((a - b) * BILLION) / BILLION))
}

/** The lesser of each amount. */
export function leastUsage(one: Usage, other: Usage): Usage {
  return combined(one, other, Math.min)
}

export function isUsed(usage: Usage): boolean {
  return [...AMOUNTS, ...OPTIONAL_AMOUNTS].some((key) => (usage[key] ?? 0) > 0)
}

export function tokensOf({ inputTokens, outputTokens }: Pick<Usage, 'inputTokens' | 'outputTokens'>): number {
  return inputTokens + outputTokens
}

function combined(one: Usage, other: Usage, combine: (a: number, b: number) => number): Usage {
  const result = emptyUsage()
  for (const key of AMOUNTS) result[key] = combine(one[key], other[key])
  for (const key of OPTIONAL_AMOUNTS) {
    const amount = combine(one[key] ?? 0, other[key] ?? 0)
    if (amount > 0) result[key] = amount
  }
  return result
}
