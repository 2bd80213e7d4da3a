// The stream-json of Claude Code (code.claude.com/docs/en/headless), which amp, cursor and qwen print also.

import type { AgentEvent } from '../engine/model/agent-event.ts'
import { asAmount, asNumber, asObject, asObjects, asString, type Json } from '../engine/model/json.ts'
import type { Exit } from '../system/process.ts'
import { EventReader, type Handlers, toolUse } from './event-reader.ts'
import {
  type Ending,
  failureEnding,
  permissionEnding,
  readRefusal,
  statusOfRefusal,
  withVendorMessage,
} from './session-end.ts'

/** Where the programs that print this format differ. */
export type Dialect = {
  /** Where the last answer is. `last-message`: not in the result event, which has all answers in a row (cursor). */
  finalText: 'result' | 'last-message'
  /** Messages come in pieces, without a stop reason. A message with a stop reason was sent whole, after the stream broke off. */
  isStreamed: boolean
  /** Whether `input_tokens` includes the tokens that were read from the cache or written to it. */
  inputIncludesCache: boolean
  /** Lines that the program prints when it has no valid login. */
  refusals: readonly RegExp[]
}

type Tokens = { input: number; cached: number; output: number }

/** Names of the mode in which every tool is allowed. */
const SKIPPING = ['bypassPermissions', 'yolo']
/** The last time that a Date can hold. */
const MAX_DATE_MS = 8.64e15

export class StreamJsonReader extends EventReader {
  readonly #dialect: Dialect
  #result: Json | null = null
  #permissionMode: string | null = null
  /** `error` of an assistant message that the program itself made up for a failed request. */
  #apiError: string | null = null
  #hasBrokenStream = false
  /** Whether the vendor rejected a request for the limit, and the agent has not used a tool since. */
  #isRejected = false
  #lastMessage = ''
  /** Tokens by message id: a message arrives in parts with the same id and usage, and counts once. */
  readonly #counted = new Map<string, Tokens>()

  constructor(dialect: Dialect) {
    super(dialect.refusals)
    this.#dialect = dialect
  }

  protected readonly handlers: Handlers = {
    system: (event) => {
      const isRetry = event.subtype === 'api_retry'
      if (!isRetry && event.subtype !== 'init') return
      this.isOver = false
      if (isRetry) return this.retryEvent(asNumber(event.error_status), asAmount(event.attempt))
      this.#permissionMode = asString(event.permissionMode) ?? asString(event.permission_mode)
      return
    },
    user: () => {
      this.#isRejected = false
      this.#onWork()
      return undefined
    },
    assistant: (event) => {
      this.#onWork()
      return this.#onAssistant(event)
    },
    /** cursor: `tool_call: { readToolCall: { args: { path } } }`. */
    tool_call: (event) => {
      this.#onWork()
      this.#lastMessage = ''
      if (event.subtype !== 'started') return
      const [key, call] = Object.entries(asObject(event.tool_call) ?? {})[0] ?? []
      return [toolUse(key?.replace(/ToolCall$/, ''), asObject(call)?.args)]
    },
    rate_limit_event: (event) => {
      const info = asObject(event.rate_limit_info)
      this.#isRejected = info?.status === 'rejected'
      if (info === null || !this.#isRejected) return
      // Without a plan's own limit, only the end of the extra usage is known.
      const resetsAt = (asAmount(info.resetsAt) || asAmount(info.overageResetsAt)) * 1000
      this.resetsAt = resetsAt === 0 || resetsAt > MAX_DATE_MS ? null : resetsAt
      return [{ kind: 'limit', resetsAt: this.resetsAt }]
    },
    /** A background task that ends brings a second init and a second result: the last one counts. */
    result: (event) => {
      this.#onWork()
      this.#result = event
      this.isComplete = true
      this.isOver = true
      const isPlain = this.isPlainAnswer(event)
      const isInResult = this.#dialect.finalText === 'result' && !isPlain
      const answer = isInResult ? asString(event.result) : this.#lastMessage
      // The text of an error is the program's, not the agent's.
      this.text = event.is_error === true && !isPlain ? '' : (answer ?? '')
      this.#countResult(event)
      return this.usageEvent()
    },
  }

  #onWork(): undefined {
    this.isOver = false
    this.retrying = null
  }

  #onAssistant(event: Json): AgentEvent[] {
    const message = asObject(event.message)
    if (message === null) return []
    this.#countMessage(message)
    // A subagent's text is not part of the agent's answer.
    if (asString(event.parent_tool_use_id) !== null) return []
    const error = asString(event.error)
    this.#apiError = error
    // The program sends a message whole if its stream broke off. The text may be incomplete (recordings miderror, middrop,
    // midhang).
    if (this.#dialect.isStreamed && error === null && asString(message.stop_reason) !== null) {
      this.#hasBrokenStream = true
    }
    const events = asObjects(message.content).flatMap((part): AgentEvent[] => {
      if (part.type === 'tool_use') return [toolUse(part.name, part.input)]
      const text = part.type === 'text' ? asString(part.text) : null
      if (text === null) return []
      this.#lastMessage = error === null ? text : ''
      return [error === null ? { kind: 'text', text } : { kind: 'error', message: text }]
    })
    return [...events, ...this.usageEvent()]
  }

  /** Adds what is new in the message's usage. After a result nothing is added: the result has the totals. */
  #countMessage(message: Json): void {
    const usage = asObject(message.usage)
    if (usage === null || this.#result !== null) return
    const tokens = this.#tokensOf(usage)
    const id = asString(message.id)
    const before = id === null ? undefined : this.#counted.get(id)
    if (id !== null) this.#counted.set(id, tokens)
    this.usage.inputTokens += tokens.input - (before?.input ?? 0)
    this.usage.cachedTokens += tokens.cached - (before?.cached ?? 0)
    this.usage.outputTokens += tokens.output - (before?.output ?? 0)
  }

  #tokensOf(usage: Json): Tokens {
    const cached = asAmount(usage.cache_read_input_tokens)
    const cache = cached + asAmount(usage.cache_creation_input_tokens)
    const input = asAmount(usage.input_tokens) + (this.#dialect.inputIncludesCache ? 0 : cache)
    return { input, cached, output: asAmount(usage.output_tokens) }
  }

  /**
   * `modelUsage` is preferred, because `usage` leaves subagents out. It and the cost cover all results until now; turns are of one result.
   */
  #countResult(result: Json): void {
    const models = asObjects(Object.values(asObject(result.modelUsage) ?? {}))
    const total = asObject(result.usage)
    if (models.length > 0 || total !== null) {
      const all = models.length > 0 ? models.map(modelTokens) : [this.#tokensOf(total ?? {})]
      this.usage.inputTokens = all.reduce((sum, tokens) => sum + tokens.input, 0)
      this.usage.cachedTokens = all.reduce((sum, tokens) => sum + tokens.cached, 0)
      this.usage.outputTokens = all.reduce((sum, tokens) => sum + tokens.output, 0)
    }
    this.usage.turns = (this.usage.turns ?? 0) + asAmount(result.num_turns)
    const cost = asNumber(result.total_cost_usd)
    this.usage.costUsd = cost !== null && cost >= 0 ? cost : null
  }

  /** Whether the program calls its result an error only because the answer is plain text, not JSON of the schema. */
  protected isPlainAnswer(_result: Json): boolean {
    return false
  }

  protected override failure(exit: Exit): Ending | null {
    if (this.#result !== null && this.isPlainAnswer(this.#result)) return null
    const resultFailure = this.#result === null ? null : this.#failureInResult(this.#result)
    const found = resultFailure ?? super.failure(exit)
    // The program does not always repeat the status of the request that the vendor rejected.
    const isUnclear = found?.status === 'failed' || found?.status === 'crashed'
    const ending =
      this.#isRejected && isUnclear ? failureEnding('limit', this.#errorText(), this.resetsAt) : found
    if (ending !== null || this.isOver) return ending
    return { status: 'failed', message: 'the agent began another turn, but did not end it' }
  }

  #errorText(): string {
    const result = this.#result ?? {}
    const error = asString(result.error) ?? asString(asObject(result.error)?.message)
    return asString(result.result) ?? error ?? textOf(result.errors)
  }

  /** Exit codes and `subtype` are not enough: both can look successful. */
  #failureInResult(result: Json): Ending | null {
    const subtype = asString(result.subtype) ?? 'success'
    const vendorMessage = this.#errorText()
    if (subtype === 'error_max_turns' || subtype === 'error_max_budget_usd') {
      return {
        status: 'max-turns',
        message: withVendorMessage('the session reached its limit', vendorMessage),
      }
    }
    if (result.is_error === true || subtype !== 'success') return this.#refusalEnding(result, vendorMessage)
    const denials = asObjects(result.permission_denials)
    // If permissions are skipped, only the user's own rules deny a tool, and the agent works without it.
    if (denials.length > 0 && !SKIPPING.includes(this.#permissionMode ?? '')) {
      return permissionEnding(denials.map((denial) => asString(denial.tool_name) ?? 'a tool'))
    }
    if (asNumber(result.num_turns) === 0) {
      return { status: 'failed', message: 'the prompt ran as a command of the agent; no model was asked' }
    }
    return null
  }

  #refusalEnding(result: Json, vendorMessage: string): Ending {
    if (result.terminal_reason === 'blocking_limit' || result.terminal_reason === 'prompt_too_long') {
      return { status: 'context', message: withVendorMessage('the prompt is too long', vendorMessage) }
    }
    const refusal = readRefusal(vendorMessage)
    const codes = [this.#apiError, result.api_error, result.api_error_type]
    const status = statusOfRefusal({
      http: asNumber(result.api_error_status) ?? refusal.http,
      codes: [...codes.flatMap((code) => asString(code) ?? []), ...refusal.codes],
      message: refusal.message,
    })
    return failureEnding(status, vendorMessage, this.resetsAt)
  }

  protected override finishedMessage(waited: boolean): string {
    const notes = [
      waited ? 'Ralph ended its background tasks' : '',
      this.#hasBrokenStream ? 'the connection broke during an answer, so the text may be incomplete' : '',
      asObjects(this.#result?.permission_denials).length > 0 ? 'some tool uses were denied' : '',
    ].filter((note) => note !== '')
    return ['the session finished', ...notes].join('; ')
  }
}

function modelTokens(model: Json): Tokens {
  const cached = asAmount(model.cacheReadInputTokens)
  const input = asAmount(model.inputTokens) + cached + asAmount(model.cacheCreationInputTokens)
  return { input, cached, output: asAmount(model.outputTokens) }
}

function textOf(errors: unknown): string {
  return Array.isArray(errors) ? errors.filter((error) => typeof error === 'string').join('; ') : ''
}
