// What a session cost where the vendor does not say: computed from the user's prices, and marked as estimated. Pure.

import type { Usage } from './agent.ts'

/** US dollars for a million tokens. `cached` null: cached input costs as much as other input. */
export type Price = { input: number; output: number; cached: number | null }

/**
 * The cost by these prices, in USD; null where nothing is known. `model` is what Ralph asked for, or null for the agent's
 * own choice: then the dearest price counts, so that a limit holds whichever it was.
 */
export function costByPrices(
  usage: Usage,
  prices: Readonly<Record<string, Price>>,
  model: string | null,
): number | null {
  const named = model !== null && Object.hasOwn(prices, model) ? prices[model] : undefined
  const candidates = named === undefined ? Object.values(prices) : [named]
  if (candidates.length === 0) return null
  const cached = Math.min(usage.cachedTokens, usage.inputTokens)
  const costs = candidates.map(
    (price) =>
      ((usage.inputTokens - cached) * price.input +
        cached * (price.cached ?? price.input) +
        usage.outputTokens * price.output) /
      1_000_000,
  )
  return Math.max(...costs)
}
