// The stream-json of Claude Code, which amp and cursor print too: facts/agents.md, "Streams" and "claude, in detail".

import type { Exit } from '../system/process.ts'
import {
  type AgentEvent,
  type Classified,
  noUsage,
  type SessionStatus,
  type StreamParser,
  type Usage,
} from './agent.ts'
import { classified, endedByUs, ourEnding, sayStatus, silentEnding, stderrLine, withWords } from './ending.ts'
import { amount, type Json, jsonEvent, number, object, objects, string, toolTarget } from './json.ts'
import { readRefusal, startRefusal, statusOfRefusal } from './refusal.ts'

/** Where the programs that print this format differ. */
export type Dialect = {
  /** `result`: the result event has the last answer; `last-message`: it has all answers in a row (cursor). */
  finalText: 'result' | 'last-message'
  /** Messages arrive as they are written, without a stop reason; one that has it came whole. */
  streamed: boolean
  /** `input_tokens` includes what was read from the cache or written to it. */
  cacheCounted: boolean
  /** See startRefusal. */
  refusals: readonly RegExp[]
}

/** A parser of one session's stream-json. */
export function streamJsonParser(dialect: Dialect): StreamParser {
  return new StreamJsonParser(dialect)
}

class StreamJsonParser implements StreamParser {
  readonly #dialect: Dialect
  #result: Json | null = null
  /** The last event was a `result`: nothing was begun after it. */
  #atRest = false
  /** The last event was a request that failed and is tried again. */
  #retrying: { status: number | null } | null = null
  #permissionMode: string | null = null
  /** `error` of an assistant message that the program itself made up for a failed request. */
  #apiError: string | null = null
  #brokenStream = false
  #resetsAt: number | null = null
  readonly #stderr = stderrLine()
  #turns = 0
  #lastMessage = ''
  readonly #messages = new Map<string, Tokens>()
  readonly #refusal: ReturnType<typeof startRefusal>

  constructor(dialect: Dialect) {
    this.#dialect = dialect
    this.#refusal = startRefusal(dialect.refusals)
  }

  line(stream: 'stdout' | 'stderr', line: string): AgentEvent[] {
    const event = stream === 'stdout' ? jsonEvent(line) : null
    if (event === null) {
      this.#refusal.line(line)
      if (stream === 'stderr') this.#stderr.push(line)
      return []
    }
    this.#refusal.started()
    const type = string(event.type)
    if (type === 'result') return this.#onResult(event)
    if (type === 'rate_limit_event') return this.#onRateLimit(object(event.rate_limit_info))
    if (type === 'system') return this.#onSystem(event)
    if (type === 'assistant' || type === 'user' || type === 'tool_call') {
      this.#atRest = false
      this.#retrying = null
    }
    if (type === 'tool_call') return this.#onToolCall(event)
    return type === 'assistant' ? this.#onAssistant(event) : []
  }

  end(exit: Exit): Classified {
    const usage = this.#usage()
    const result = this.#result
    const answer = this.#dialect.finalText === 'result' ? string(result?.result) : this.#lastMessage
    const text = answer ?? ''
    const refused = this.#refusal.ending(exit)
    if (refused !== null && result === null) return classified(refused, usage, '')
    const ours = ourEnding(exit)
    // Ended by us while it only waited for its background tasks: the answer was complete.
    const waited = this.#atRest && (exit.kind === 'timeout' || exit.kind === 'idle')
    if (ours !== null && !waited)
      return classified(endedByUs(exit, this.#retrying) ?? ours, usage, '', this.#resetsAt)
    if (result === null) return classified(silentEnding(exit, this.#stderr.text()), usage, '')
    const failure = this.#failure(result)
    // The text of an error is the program's, not the agent's.
    if (failure !== null)
      return classified(failure, usage, result.is_error === true ? '' : text, this.#resetsAt)
    if (!waited && !(exit.kind === 'exit' && exit.code === 0)) {
      return classified(silentEnding(exit, this.#stderr.text()), usage, text)
    }
    if (!this.#atRest) {
      return classified(
        { status: 'failed', message: 'the agent began another turn and did not end it' },
        usage,
        text,
      )
    }
    return classified({ status: 'finished', message: this.#finishedMessage(result, waited) }, usage, text)
  }

  #onSystem(event: Json): AgentEvent[] {
    const subtype = string(event.subtype)
    if (subtype === 'init') {
      this.#atRest = false
      this.#permissionMode = string(event.permissionMode)
    }
    if (subtype !== 'api_retry') return []
    this.#atRest = false
    const status = number(event.error_status)
    this.#retrying = { status }
    return [{ kind: 'retry', status, attempt: amount(event.attempt) }]
  }

  #onRateLimit(info: Json | null): AgentEvent[] {
    if (string(info?.status) !== 'rejected') return []
    const seconds = number(info?.resetsAt)
    this.#resetsAt = seconds === null || seconds <= 0 ? null : seconds * 1000
    return [{ kind: 'limit', resetsAt: this.#resetsAt }]
  }

  #onAssistant(event: Json): AgentEvent[] {
    const message = object(event.message)
    if (message === null) return []
    const error = string(event.error)
    this.#count(message)
    if (string(event.parent_tool_use_id) !== null) return []
    this.#apiError = error
    // Streamed messages arrive without a stop reason; one that has it came whole, because the stream broke off and
    // was asked again. Its text may be a part only (recordings miderror, middrop, midhang).
    if (this.#dialect.streamed && error === null && string(message.stop_reason) !== null)
      this.#brokenStream = true
    const events: AgentEvent[] = []
    for (const part of objects(message.content)) {
      const text = string(part.text)
      if (part.type === 'text' && text !== null) {
        this.#lastMessage = error === null ? text : ''
        events.push(error === null ? { kind: 'text', text } : { kind: 'error', message: text })
      }
      if (part.type === 'tool_use') {
        events.push({ kind: 'tool', name: string(part.name) ?? 'tool', target: toolTarget(part.input) })
      }
    }
    events.push({ kind: 'usage', usage: this.#usage() })
    return events
  }

  /** cursor: `tool_call: { readToolCall: { args: { path } } }`. */
  #onToolCall(event: Json): AgentEvent[] {
    this.#lastMessage = ''
    if (event.subtype !== 'started') return []
    const [key, call] = Object.entries(object(event.tool_call) ?? {})[0] ?? []
    const name = (key ?? 'tool').replace(/ToolCall$/, '')
    return [{ kind: 'tool', name, target: toolTarget(object(call)?.args) }]
  }

  #onResult(event: Json): AgentEvent[] {
    // A background task that ends brings a second init and a second result: the last one counts.
    this.#result = event
    this.#atRest = true
    this.#retrying = null
    this.#turns += amount(event.num_turns)
    return [{ kind: 'usage', usage: this.#usage() }]
  }

  /** A message arrives in parts with the same id and usage; the value is the one at its start. */
  #count(message: Json): void {
    const usage = object(message.usage)
    if (usage === null) return
    const id = string(message.id) ?? `message ${this.#messages.size}`
    this.#messages.set(id, this.#tokens(usage))
  }

  #tokens(usage: Json): Tokens {
    const cached = amount(usage.cache_read_input_tokens)
    const besides = this.#dialect.cacheCounted ? 0 : cached + amount(usage.cache_creation_input_tokens)
    return { input: amount(usage.input_tokens) + besides, cached, output: amount(usage.output_tokens) }
  }

  /** `usage` leaves subagents out; `modelUsage` and the cost are cumulative over results, turns are per result. */
  #usage(): Usage {
    const result = this.#result
    const models = objects(Object.values(object(result?.modelUsage) ?? {}))
    const total = object(result?.usage)
    const counted =
      models.length > 0
        ? models.map(modelTokens)
        : total === null
          ? [...this.#messages.values()]
          : [this.#tokens(total)]
    const usage = noUsage()
    for (const tokens of counted) {
      usage.inputTokens += tokens.input
      usage.cachedTokens += tokens.cached
      usage.outputTokens += tokens.output
    }
    if (result === null) return usage
    usage.turns = this.#turns
    const cost = number(result.total_cost_usd)
    if (cost !== null && cost >= 0) {
      usage.costUsd = cost
      usage.costSource = 'vendor'
    }
    return usage
  }

  /** Why the result is none; null when it is one. Exit codes and `subtype` say too little: both can look well. */
  #failure(result: Json): { status: SessionStatus; message: string } | null {
    const subtype = string(result.subtype) ?? 'success'
    const reason = string(result.terminal_reason)
    const words = string(result.result) ?? string(result.error) ?? objectsText(result.errors)
    if (subtype === 'error_max_turns' || subtype === 'error_max_budget_usd') {
      return { status: 'max-turns', message: withWords('the session reached its bound', words) }
    }
    if (result.is_error === true || subtype !== 'success') {
      if (reason === 'blocking_limit' || reason === 'prompt_too_long') {
        return { status: 'context', message: withWords('the prompt is too long', words) }
      }
      const said = readRefusal(words)
      const named = [this.#apiError, result.api_error, result.api_error_type]
      const status = statusOfRefusal({
        http: number(result.api_error_status) ?? said.http,
        codes: [...named.flatMap((code) => string(code) ?? []), ...said.codes],
        message: said.message,
      })
      return { status, message: withWords(sayStatus(status), words) }
    }
    const denials = objects(result.permission_denials)
    // With permissions skipped, what is denied is denied by the user's own rules, and the agent goes around it.
    if (denials.length > 0 && this.#permissionMode !== 'bypassPermissions') {
      const tools = [...new Set(denials.map((denial) => string(denial.tool_name) ?? 'a tool'))].join(', ')
      return { status: 'refused-permission', message: `the agent was not allowed to use ${tools}` }
    }
    if (number(result.num_turns) === 0) {
      return { status: 'failed', message: 'the prompt ran as a command of the agent; no model was asked' }
    }
    return null
  }

  #finishedMessage(result: Json, waited: boolean): string {
    const notes = [
      waited ? 'its background tasks were ended' : '',
      this.#brokenStream ? "an answer's stream broke off, so a text may be partial" : '',
      objects(result.permission_denials).length > 0 ? 'some tool uses were denied' : '',
    ].filter((note) => note !== '')
    return ['the session finished', ...notes].join('; ')
  }
}

type Tokens = { input: number; cached: number; output: number }

function modelTokens(model: Json): Tokens {
  const cached = amount(model.cacheReadInputTokens)
  const input = amount(model.inputTokens) + cached + amount(model.cacheCreationInputTokens)
  return { input, cached, output: amount(model.outputTokens) }
}

function objectsText(errors: unknown): string {
  return Array.isArray(errors) ? errors.filter((error) => typeof error === 'string').join('; ') : ''
}
