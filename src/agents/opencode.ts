// opencode: `opencode run --format json`. Facts: facts/agents.md, "Command lines", "Streams", "The others".

import type { Exit } from '../system/process.ts'
import {
  type AgentEvent,
  type AgentVendor,
  type Classified,
  type Command,
  type CommandOptions,
  noUsage,
  type SessionStatus,
  type StreamParser,
  type Usage,
} from './agent.ts'
import {
  classified,
  endedByUs,
  type Retrying,
  sayStatus,
  silentEnding,
  stderrLine,
  withWords,
} from './ending.ts'
import { amount, type Json, jsonEvent, jsonObject, number, object, string, toolTarget } from './json.ts'
import { type Refusal, readRefusal, statusOfRefusal } from './refusal.ts'

export const opencode: AgentVendor = {
  name: 'opencode',
  program: 'opencode',
  install: 'npm install -g opencode-ai',
  npm: 'opencode-ai',
  writesHome: true,
  env: [
    'OPENCODE_API_KEY',
    'OPENCODE_CONFIG',
    'OPENCODE_CONFIG_CONTENT',
    'OPENCODE_CONFIG_DIR',
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'OPENROUTER_API_KEY',
    'GEMINI_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'GROQ_API_KEY',
    'MISTRAL_API_KEY',
    'DEEPSEEK_API_KEY',
    'XAI_API_KEY',
    'ZAI_API_KEY',
    'MOONSHOT_API_KEY',
    'AWS_REGION',
    'AWS_BEARER_TOKEN_BEDROCK',
  ],
  // It has models that need no key.
  login: null,
  command(options: CommandOptions): Command {
    const model = options.model === undefined ? [] : ['--model', options.model]
    return {
      // It asks its server again for hours without an event: its error log is the only word of that.
      args: [
        ...['run', '--format', 'json', '--print-logs', '--log-level', 'ERROR'],
        ...model,
        ...options.extraArgs,
      ],
      env: {
        OPENCODE_CONFIG_CONTENT: configuration(options.env.OPENCODE_CONFIG_CONTENT),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      },
      promptChannel: 'stdin',
    }
  },
  parser: () => new OpencodeParser(),
}

/** The user's configuration with the permissions that a session without a person needs. */
function configuration(users: string | undefined): string {
  const given = jsonObject(users ?? '{}') ?? {}
  const permission = { edit: 'allow', bash: 'allow', ...object(given.permission) }
  return JSON.stringify({ autoupdate: false, share: 'disabled', ...given, permission })
}

class OpencodeParser implements StreamParser {
  /** Text since the last step began: the answer is what the last step says. */
  #text: string[] = []
  #lastReason: string | null = null
  #error: { status: SessionStatus; message: string; resetsAt: number | null; ref: string | null } | null =
    null
  /** What its log says of errors that an event only refers to. */
  readonly #causes = new Map<string, { name: string; message: string }>()
  #rejected: string | null = null
  #retrying: Retrying = null
  #attempt = 0
  readonly #stderr = stderrLine()
  readonly #usage = noUsage()
  #cost = 0
  #steps = 0

  line(stream: 'stdout' | 'stderr', line: string): AgentEvent[] {
    if (stream === 'stderr') return this.#onLog(line)
    const event = jsonEvent(line)
    const part = object(event?.part)
    if (event !== null) this.#retrying = null
    switch (string(event?.type)) {
      case 'step_start':
        this.#text = []
        this.#lastReason = null
        this.#error = null
        return []
      case 'text': {
        const text = string(part?.text) ?? ''
        this.#text.push(text)
        return [{ kind: 'text', text }]
      }
      case 'tool_use':
        return this.#onTool(part)
      case 'step_finish':
        return this.#onFinish(part)
      case 'error':
        return event === null ? [] : this.#onError(event)
      default:
        return []
    }
  }

  end(exit: Exit): Classified {
    const usage = this.#total()
    const text = this.#text.join('\n')
    const error = this.#error
    const ours = endedByUs(exit, error === null ? this.#retrying : null)
    // Ended after its error: it only did not leave.
    if (ours !== null && (error === null || exit.kind === 'aborted')) return classified(ours, usage, '')
    if (error !== null) return classified(this.#explained(error), usage, text, error.resetsAt)
    if (exit.kind !== 'exit' || exit.code !== 0)
      return classified(silentEnding(exit, this.#stderr.text()), usage, text)
    if (this.#lastReason === 'stop') {
      return classified({ status: 'finished', message: 'the session finished' }, usage, text)
    }
    // There is no result event: a rejected permission ends the loop after the tool calls, with exit code 0.
    if (this.#rejected !== null) {
      const message = `the agent was not allowed to use ${this.#rejected}`
      return classified({ status: 'refused-permission', message }, usage, text)
    }
    if (this.#lastReason !== null) {
      const message = `the session ended before its answer (${this.#lastReason})`
      return classified({ status: 'failed', message }, usage, text)
    }
    return classified(silentEnding(exit, this.#stderr.text()), usage, text)
  }

  /**
   * A request of the session itself that failed (not of the one that makes its title): what is not to be tried again
   * comes as an event of its own. The log line has no HTTP status.
   */
  #onLog(line: string): AgentEvent[] {
    if (!/^timestamp=\S+ level=/.test(line)) {
      this.#stderr.push(line)
      return []
    }
    const cause = /^timestamp=\S+ level=ERROR \S+ message=failed ref=(\w+) error="(\w+): ([^"]*)"/.exec(line)
    if (cause?.[1] !== undefined && this.#causes.size < MOST_CAUSES)
      this.#causes.set(cause[1], { name: cause[2] ?? '', message: cause[3] ?? '' })
    if (
      !/^timestamp=\S+ level=ERROR \S+ message="stream error" .*\bsmall=false\b.* error\.error="AI_APICallError\b/.test(
        line,
      )
    )
      return []
    this.#attempt += 1
    this.#retrying = { status: null }
    return [{ kind: 'retry', status: null, attempt: this.#attempt }]
  }

  #onTool(part: Json | null): AgentEvent[] {
    const state = object(part?.state)
    const name = string(part?.tool) ?? 'tool'
    // The program's own sentence in a field of its own.
    if (
      state?.status === 'error' &&
      string(state.error)?.startsWith('The user rejected permission') === true
    ) {
      this.#rejected = name
    }
    return [{ kind: 'tool', name, target: toolTarget(state?.input) }]
  }

  #onFinish(part: Json | null): AgentEvent[] {
    this.#lastReason = string(part?.reason)
    this.#steps += 1
    const tokens = object(part?.tokens)
    const cache = object(tokens?.cache)
    const cached = amount(cache?.read)
    this.#usage.inputTokens += amount(tokens?.input) + cached + amount(cache?.write)
    this.#usage.cachedTokens += cached
    this.#usage.outputTokens += amount(tokens?.output) + amount(tokens?.reasoning)
    this.#cost += amount(part?.cost)
    return [{ kind: 'usage', usage: this.#total() }]
  }

  #onError(event: Json): AgentEvent[] {
    const error = object(event.error)
    const data = object(error?.data)
    const words = answerOf(data).message || string(error?.name)
    const status = statusOfError(string(error?.name), data)
    const message = withWords(sayStatus(status), words)
    this.#error = { status, message, resetsAt: resetOf(event, data), ref: string(data?.ref) }
    const told: AgentEvent[] = [{ kind: 'error', message: words ?? '' }]
    return status === 'limit' ? [{ kind: 'limit', resetsAt: this.#error.resetsAt }, ...told] : told
  }

  /** A model that its configuration does not have is an error of its server, whose name stands in the log alone. */
  #explained<E extends { status: SessionStatus; message: string; ref: string | null }>(error: E): E {
    const cause = this.#causes.get(error.ref ?? '')
    if (cause === undefined) return error
    const status = statusOfError(cause.name, null)
    return { ...error, status, message: withWords(sayStatus(status), cause.message) }
  }

  /** A model without a price costs 0 in its books: then the cost is not known. */
  #total(): Usage {
    const turns = this.#steps === 0 ? null : this.#steps
    return this.#cost > 0
      ? { ...this.#usage, turns, costUsd: this.#cost, costSource: 'vendor' }
      : { ...this.#usage, turns }
  }
}

const MOST_CAUSES = 100

function statusOfError(name: string | null, data: Json | null): SessionStatus {
  if (name === 'ContextOverflowError') return 'context'
  if (name === 'ProviderAuthError' || name === 'ProviderModelNotFoundError') return 'auth'
  if (name !== 'APIError') return 'failed'
  const answer = answerOf(data)
  const status = statusOfRefusal(answer)
  return status === 'failed' && answer.http === null && data?.isRetryable === true ? 'overloaded' : status
}

/** The server's answer, as far as it came. */
function answerOf(data: Json | null): Refusal {
  const body = readRefusal(string(data?.responseBody) ?? '')
  return {
    http: number(data?.statusCode) ?? body.http,
    codes: body.codes,
    message: body.message || (string(data?.message) ?? ''),
  }
}

/** `retry-after` (seconds) of the answer, counted from the event's own time (epoch ms). */
function resetOf(event: Json, data: Json | null): number | null {
  const seconds = Number(string(object(data?.responseHeaders)?.['retry-after']) ?? Number.NaN)
  const at = number(event.timestamp)
  return at !== null && Number.isFinite(seconds) && seconds >= 0 ? at + seconds * 1000 : null
}
