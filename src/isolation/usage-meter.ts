// Reads a request's usage from the vendor's response: an event stream or one JSON object, in four wire formats. Pure.
import { asCount, asObject, jsonObject } from '../engine/model/json.ts'

export type ModelUsage = { requests: number; inputTokens: number; outputTokens: number; cachedTokens: number }
type Tokens = Omit<ModelUsage, 'requests'>

/** UTF-16 units. A longer line or body holds files, not usage. */
const MAX_TEXT = 1024 * 1024

/** Adds up the usage of responses. Call `chunk` for each part of one, and `end` in any case. */
export function createUsageMeter(): {
  used(): ModelUsage
  response(contentType: string): { chunk(bytes: Uint8Array): void; end(): void }
} {
  const total: ModelUsage = { requests: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
  return {
    used: () => ({ ...total }),
    response(contentType) {
      total.requests += 1
      const isStream = /event-stream/i.test(contentType)
      const decoder = new TextDecoder()
      let rest = ''
      let isTooLong = false
      let tokens: Tokens = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
      const read = (text: string) => {
        tokens = maximum(tokens, tokensIn(text))
      }
      return {
        chunk(bytes) {
          rest += decoder.decode(bytes, { stream: true })
          if (isStream) {
            const lines = rest.split('\n')
            rest = lines.pop() ?? ''
            for (const line of lines) {
              if (line.startsWith('data:') && !isTooLong) read(line.slice('data:'.length))
              isTooLong = false
            }
          }
          if (rest.length > MAX_TEXT) [rest, isTooLong] = ['', true]
        },
        end() {
          if (!isTooLong) read(isStream ? rest.replace(/^data:/, '') : rest)
          total.inputTokens += tokens.inputTokens
          total.outputTokens += tokens.outputTokens
          total.cachedTokens += tokens.cachedTokens
        },
      }
    },
  }
}

/** Within one response, every number is a running total, so the greatest counts. */
function maximum(one: Tokens, other: Tokens): Tokens {
  return {
    inputTokens: Math.max(one.inputTokens, other.inputTokens),
    outputTokens: Math.max(one.outputTokens, other.outputTokens),
    cachedTokens: Math.max(one.cachedTokens, other.cachedTokens),
  }
}

function tokensIn(text: string): Tokens {
  const event = (/"usage(?:Metadata)?"/.test(text) ? jsonObject(text) : null) ?? {}
  const within = (value: unknown) => asObject(value) ?? {}
  const usage = within(
    event.usage ?? within(event.message).usage ?? within(event.response).usage ?? event.usageMetadata,
  )
  const cachedApart = asCount(usage.cache_read_input_tokens) // Anthropic counts it beside the input
  const details = within(usage.input_tokens_details ?? usage.prompt_tokens_details)
  const cachedWithin = asCount(details.cached_tokens) + asCount(usage.cachedContentTokenCount)
  const input = asCount(usage.input_tokens ?? usage.prompt_tokens ?? usage.promptTokenCount)
  const output = asCount(usage.output_tokens ?? usage.completion_tokens ?? usage.candidatesTokenCount)
  return {
    inputTokens: input + cachedApart + asCount(usage.cache_creation_input_tokens),
    outputTokens: output + asCount(usage.thoughtsTokenCount),
    cachedTokens: cachedApart + cachedWithin,
  }
}
