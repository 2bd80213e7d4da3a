// Reads a request's usage from the vendor's response: an event stream or one JSON object, in four wire formats. Pure.
import { asCount, asObject, asObjects, type Json, jsonObject } from '../engine/model/json.ts'

export type ModelUsage = { requests: number; inputTokens: number; outputTokens: number; cachedTokens: number }
type Tokens = Omit<ModelUsage, 'requests'>

/** UTF-16 units. Of a longer line or body only the end is kept: vendors write the usage after the answer. */
const MAX_TEXT = 1024 * 1024
const KEPT_END = 64 * 1024
/** UTF-16 units of a usage object, and how many of them are read in one text that cannot be parsed. */
const MAX_USAGE = 4096
const MAX_USAGES = 100
/** What a request probably took whose response has no usage. */
const CHARACTERS_PER_TOKEN = 4

export type UsageMeter = {
  used(): ModelUsage
  /** Call `chunk` for each part of a response, and `end` in any case. `requestBytes`: how long the request was. */
  response(contentType: string, requestBytes?: number): { chunk(bytes: Uint8Array): void; end(): void }
  /** Calls the listener after each response, until it is disposed. */
  onChange(listener: () => void): Disposable
}

/** Adds up the usage of responses. */
export function createUsageMeter(): UsageMeter {
  const total: ModelUsage = { requests: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
  const listeners = new Set<() => void>()
  return {
    used: () => ({ ...total }),
    response(contentType, requestBytes = 0) {
      total.requests += 1
      const response = /event-stream/i.test(contentType) ? createStream(requestBytes) : createBody()
      const decoder = new TextDecoder()
      return {
        chunk: (bytes) => response.add(decoder.decode(bytes, { stream: true })),
        end() {
          const tokens = response.end()
          total.inputTokens += tokens.inputTokens
          total.outputTokens += tokens.outputTokens
          total.cachedTokens += tokens.cachedTokens
          for (const listener of listeners) listener()
        },
      }
    },
    onChange(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
  }
}

type Reader = { add(text: string): void; end(): Tokens }

const NO_TOKENS: Tokens = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }

function createBody(): Reader {
  const body = boundedText()
  return { add: body.add, end: () => tokensIn(body.text(), body.isCut()) }
}

function createStream(requestBytes: number): Reader {
  let tokens = NO_TOKENS
  let deltas = 0
  const line = boundedText()
  const endLine = () => {
    const text = line.text()
    if (text.startsWith('data:') || line.isCut()) {
      tokens = maximum(tokens, tokensIn(text.replace(/^data:/, ''), line.isCut()))
      if (text.includes('delta"')) deltas += 1
    }
    line.clear()
  }
  return {
    add(text) {
      const [first = '', ...others] = text.split('\n')
      line.add(first)
      for (const other of others) {
        endLine()
        line.add(other)
      }
    },
    end() {
      endLine()
      if (deltas === 0 || tokens.outputTokens > 1) return tokens
      // A client can leave the usage out of a stream, or close it before its end. Each piece is about a token.
      const inputTokens = tokens.inputTokens || Math.ceil(requestBytes / CHARACTERS_PER_TOKEN)
      return { ...tokens, inputTokens, outputTokens: deltas }
    },
  }
}

/** A text of which only the end is kept if it is long. */
function boundedText() {
  let kept = ''
  let isCut = false
  return {
    text: () => kept,
    isCut: () => isCut,
    clear() {
      kept = ''
      isCut = false
    },
    add(text: string) {
      kept += text
      if (kept.length <= (isCut ? 2 * KEPT_END : MAX_TEXT)) return
      kept = kept.slice(-KEPT_END)
      isCut = true
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

/** The usage that one event or body reports. `isCut`: the text is only its end. */
function tokensIn(text: string, isCut: boolean): Tokens {
  if (!/"usage(?:Metadata)?"/.test(text)) return NO_TOKENS
  const events = isCut ? null : eventsOf(text)
  const usages = events === null ? usagesWithin(text) : events.map(usageOf)
  return usages.map(tokensOf).reduce(maximum, NO_TOKENS)
}

/** An object, or the list of objects that gemini sends without `alt=sse`; null if the text is not JSON. */
function eventsOf(text: string): Json[] | null {
  const event = jsonObject(text)
  if (event !== null) return [event]
  const list = jsonObject(`{"list":${text}}`)
  return list === null ? null : asObjects(list.list)
}

/** The usage objects in a piece of JSON. In a string, their quotes would be escaped. */
function usagesWithin(text: string): Json[] {
  const found: Json[] = []
  for (const { index, 0: start } of text.matchAll(/"usage(?:Metadata)?"\s*:\s*(?=\{)/g)) {
    if (found.length === MAX_USAGES) break
    const from = index + start.length
    const object = objectAt(text.slice(from, from + MAX_USAGE))
    if (object !== null) found.push(object)
  }
  return found
}

/** The object that a text begins with. Usage has numbers and plain words, so that a brace is never in a string. */
function objectAt(text: string): Json | null {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1
    else if (text[at] === '}') depth -= 1
    if (depth === 0) return jsonObject(text.slice(0, at + 1))
  }
  return null
}

const within = (value: unknown): Json => asObject(value) ?? {}

function usageOf(event: Json): Json {
  return within(
    event.usage ?? within(event.message).usage ?? within(event.response).usage ?? event.usageMetadata,
  )
}

function tokensOf(usage: Json): Tokens {
  const cachedApart = asCount(usage.cache_read_input_tokens) // Anthropic does not include it in the input
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
