// What agents use, and what it costs: the usage of a session, and arithmetic with usages.
import * as z from 'zod/mini'

/** Fields of a file that Ralph does not know. Reading and writing keeps them, after the known fields. */
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
  /** The agents' own count, if they give one. */
  turns: z.exactOptional(z.number()),
})

/** What a session is for. */
export type SessionKind = z.infer<typeof SessionKind>
export const SessionKind = z.enum([
  'run',
  'set-up',
  'step',
  'judge',
  'verify',
  'plan',
  'split',
  'examples',
  'glue',
  'answer',
])

/** The cost and tokens of the largest of some sessions. */
export type Largest = z.infer<typeof Largest>
export const Largest = z.object({ costUsd: z.number(), tokens: z.number() })

/** A session and its usage; or, with `largest`, the sum of older sessions of the same story, kind, agent and version. */
export type SessionEntry = z.infer<typeof SessionEntry>
export const SessionEntry = z.extend(Usage, {
  /** Null if the session was not for one story. */
  storyId: z.nullable(z.string()),
  iteration: z.number(),
  /** When its attempt began, epoch milliseconds: this identifies the attempt. Null if the session belongs to no attempt. */
  attempt: z.nullable(z.number()),
  kind: SessionKind,
  /** Null if not known, as after the loss of a job. */
  agent: z.nullable(z.string()),
  /** Null if the agent chose it. */
  model: z.nullable(z.string()),
  /** Ralph's version; empty if not known. */
  version: z.string(),
  /** Epoch milliseconds. */
  from: z.number(),
  to: z.number(),
  /** The session was ended early, so its size is not typical. */
  cutShort: z.exactOptional(z.literal(true)),
  largest: z.exactOptional(Largest),
})

/** US dollars for a million tokens. `cached` null: cached input costs as much as other input. */
export type Price = { input: number; output: number; cached: number | null }

const AMOUNTS = ['calls', 'inputTokens', 'outputTokens', 'cachedTokens', 'costUsd', 'agentSeconds'] as const
/** These are left out if they are zero. */
const OPTIONAL_AMOUNTS = ['estimatedCostUsd', 'estimatedTokens', 'turns'] as const
/** Rounds to nine decimals: later digits are floating-point noise of a subtraction. */
const BILLION = 1e9

export function emptyUsage(): Usage {
  return { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, agentSeconds: 0 }
}

export function addUsage(left: Usage, right: Usage): Usage {
  return sumOfUsage([left, right])
}

/** The sum, added in order. One pass, because a state may have thousands of sessions. */
export function sumOfUsage(usages: readonly Usage[]): Usage {
  const sum = emptyUsage()
  const optionalSums = { estimatedCostUsd: 0, estimatedTokens: 0, turns: 0 }
  for (const usage of usages) {
    for (const key of AMOUNTS) sum[key] += usage[key]
    for (const key of OPTIONAL_AMOUNTS) optionalSums[key] += usage[key] ?? 0
  }
  for (const key of OPTIONAL_AMOUNTS) if (optionalSums[key] > 0) sum[key] = optionalSums[key]
  return sum
}

/** The difference of each amount, never below zero. */
export function subtractUsage(left: Usage, right: Usage): Usage {
  return combineUsage(left, right, (a, b) => Math.max(0, Math.round((a - b) * BILLION) / BILLION))
}

/** The lesser of each amount. */
export function leastUsage(left: Usage, right: Usage): Usage {
  return combineUsage(left, right, Math.min)
}

export function isUsed(usage: Usage): boolean {
  return [...AMOUNTS, ...OPTIONAL_AMOUNTS].some((key) => (usage[key] ?? 0) > 0)
}

export function tokensOf({ inputTokens, outputTokens }: Pick<Usage, 'inputTokens' | 'outputTokens'>): number {
  return inputTokens + outputTokens
}

function combineUsage(left: Usage, right: Usage, combine: (a: number, b: number) => number): Usage {
  const result = emptyUsage()
  for (const key of AMOUNTS) result[key] = combine(left[key], right[key])
  for (const key of OPTIONAL_AMOUNTS) {
    const amount = combine(left[key] ?? 0, right[key] ?? 0)
    if (amount > 0) result[key] = amount
  }
  return result
}
