// Estimates a session's usage if its vendor does not report it: from its stream, the user's prices, or the reservation.
// Estimates are marked as such. Pure.

import type { AgentEvent, Usage } from '../engine/model/agent-event.ts'
import type { Reservation } from '../engine/model/attempt.ts'
import type * as model from '../engine/model/usage.ts'
import type { Price } from '../engine/model/usage.ts'
import type { SessionResult } from './agent.ts'

/** An estimate from a session's stream: the number of answers, and the tokens that they probably took. */
export type StreamEstimate = { answers: number; inputTokens: number; outputTokens: number }

/** What the vendor's responses to a session took, as Ralph's proxy counted it. */
export type MeasuredTokens = { inputTokens: number; outputTokens: number; cachedTokens: number }

/** The list price of a large model, used if no price is configured. */
const DEFAULT_PRICE: Price = { input: 5, output: 25, cached: 0.5 }
/** The part of every request that is the program's own prompt and tools (claude: 50 KB). */
const OWN_PROMPT_TOKENS = 10_000
const CHARACTERS_PER_TOKEN = 4

/** Whether the vendor says what a session used; zero dollars is an answer as well. */
export function hasReported(usage: Usage): boolean {
  return usage.inputTokens + usage.outputTokens > 0 || usage.costUsd !== null
}

/** A session that reports a smaller part of what was measured is not believed about its cost either. */
const BELIEVED_PART = 0.5

/** The larger of what a session reported and what was measured: a session may report anything. */
export function atLeastMeasured(usage: Usage, measured: MeasuredTokens | null): Usage {
  if (measured === null) return usage
  return {
    ...usage,
    inputTokens: Math.max(usage.inputTokens, measured.inputTokens),
    outputTokens: Math.max(usage.outputTokens, measured.outputTokens),
    cachedTokens: Math.max(usage.cachedTokens, measured.cachedTokens),
  }
}

/**
 * The cost of what was measured, USD, if the session hid most of it: by the user's prices, else at that of a large model. Null if
 * the session is believed.
 */
export function costOfHidden(
  usage: Usage,
  measured: MeasuredTokens | null,
  prices: Readonly<Record<string, Price>>,
  model: string | null,
): number | null {
  if (measured === null || total(usage) >= BELIEVED_PART * total(measured)) return null
  const counted = atLeastMeasured(usage, measured)
  return costByPrices(counted, prices, model) ?? costAt(counted, DEFAULT_PRICE)
}

function total(tokens: { inputTokens: number; outputTokens: number }): number {
  return tokens.inputTokens + tokens.outputTokens
}

/**
 * The cost by these prices, in USD; null if there are none. `model` is what Ralph asked for, or null for the agent's own choice. Without
 * a known model the highest price counts, so that a limit holds for every model.
 */
export function costByPrices(
  usage: Usage,
  prices: Readonly<Record<string, Price>>,
  model: string | null,
): number | null {
  const named = model !== null && Object.hasOwn(prices, model) ? prices[model] : undefined
  const candidates = named === undefined ? Object.values(prices) : [named]
  return candidates.length === 0 ? null : Math.max(...candidates.map((price) => costAt(usage, price)))
}

function costAt(usage: Usage, price: Price): number {
  const cached = Math.min(usage.cachedTokens, usage.inputTokens)
  const input = (usage.inputTokens - cached) * price.input + cached * (price.cached ?? price.input)
  return (input + usage.outputTokens * price.output) / 1_000_000
}

/**
 * Estimates tokens during a session, for vendors that report them only at the end. Each answer counts as a request that sent
 * the prompt and the whole conversation again.
 */
export function streamMeter(promptLength: number) {
  const estimate: StreamEstimate = { answers: 0, inputTokens: 0, outputTokens: 0 }
  let sentLength = promptLength
  let isAnswering = false
  return {
    estimate,
    line(length: number, events: readonly AgentEvent[]): void {
      for (const event of events) {
        if (event.kind !== 'text' && event.kind !== 'tool') continue
        // An answer may come in many pieces, and ends with the tool that it asks for.
        if (!isAnswering) {
          estimate.answers += 1
          estimate.inputTokens += OWN_PROMPT_TOKENS + Math.ceil(sentLength / CHARACTERS_PER_TOKEN)
        }
        isAnswering = event.kind === 'text'
        if (event.kind === 'text')
          estimate.outputTokens += Math.ceil(event.text.length / CHARACTERS_PER_TOKEN)
      }
      sentLength += length
    },
  }
}

/**
 * The usage that a session is charged with: what it reported, and at least what was measured. Without reported tokens, the estimate from
 * the stream counts, but at least the reservation. Without a reported cost, the user's prices count. Without prices, the reservation
 * does, or more if the tokens cost more. A reservation may be only a share of the limit. Then it is not a lower bound once the vendor
 * reported usage or the stream showed an answer. A session that the vendor refused before any answer is free.
 */
export function finalUsage(
  result: Pick<SessionResult, 'status' | 'usage' | 'estimate' | 'measured'>,
  prices: Readonly<Record<string, Price>>,
  model: string | null,
  reserved: Reservation,
): model.Usage {
  const { measured = null, usage: reported } = result
  // Usage that was not reported at all is estimated below.
  const usage = hasReported(reported) ? atLeastMeasured(reported, measured) : reported
  const hiddenCost = hasReported(reported) ? costOfHidden(reported, measured, prices, model) : null
  const isFree = usage.calls === 0 || (result.estimate.answers === 0 && REFUSED.has(result.status))
  const isLimited = reserved.costUsd !== null || reserved.tokens !== null
  const isReported = hasReported(usage)
  const counted =
    isReported || isFree || !isLimited ? usage : { ...usage, ...estimateTokens(result.estimate, reserved) }
  const isShareOnly = reserved.isShare === true && (isReported || result.estimate.answers > 0)
  const lowerBound = isShareOnly ? 0 : reserved.costUsd
  const reservedOrMore =
    isFree || reserved.costUsd === null ? 0 : Math.max(lowerBound ?? 0, costAt(counted, DEFAULT_PRICE))
  const estimated =
    usage.costUsd === null
      ? (costByPrices(counted, prices, model) ?? Math.max(reservedOrMore, hiddenCost ?? 0))
      : Math.max(0, (hiddenCost ?? 0) - usage.costUsd)
  return {
    calls: usage.calls,
    inputTokens: amount(counted.inputTokens),
    outputTokens: amount(counted.outputTokens),
    cachedTokens: amount(counted.cachedTokens),
    costUsd: amount((usage.costUsd ?? 0) + estimated),
    agentSeconds: Math.round(usage.agentSeconds * 10) / 10,
    ...(estimated > 0 ? { estimatedCostUsd: amount(estimated) } : {}),
    ...(counted === usage ? {} : { estimatedTokens: amount(counted.inputTokens + counted.outputTokens) }),
    ...(usage.turns === null ? {} : { turns: amount(usage.turns) }),
  }
}

const REFUSED: ReadonlySet<SessionResult['status']> = new Set(['limit', 'overloaded', 'auth', 'not-started'])

function estimateTokens(
  { answers, inputTokens, outputTokens }: StreamEstimate,
  { tokens, isShare }: Reservation,
) {
  const lowerBound = isShare && answers > 0 ? 0 : Math.ceil(tokens ?? 0)
  return { inputTokens: Math.max(inputTokens, lowerBound - outputTokens), outputTokens }
}

/** Limits a number that an agent reports, so that sums stay valid in JSON. */
function amount(value: number): number {
  return Math.min(Math.max(value, 0), 1e12) || 0
}
