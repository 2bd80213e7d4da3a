// opencode: `opencode run --format json` (opencode.ai/docs/cli).

import type { AgentEvent } from '../engine/model/agent-event.ts'
import { asAmount, asNumber, asObject, asString, type Json, jsonObject } from '../engine/model/json.ts'
import type { Exit } from '../system/process.ts'
import { type AgentVendor, flag, type SessionStatus, words } from './agent.ts'
import { appendText, EventReader, type Handlers, toolUse } from './event-reader.ts'
import {
  type Ending,
  failureEnding,
  permissionEnding,
  type Refusal,
  readRefusal,
  statusOfRefusal,
} from './session-end.ts'

export const opencode: AgentVendor = {
  name: 'opencode',
  program: 'opencode',
  install: 'npm install -g opencode-ai',
  npm: 'opencode-ai',
  tested: '1.18.33',
  env: words(`
    OPENCODE_API_KEY OPENCODE_CONFIG_CONTENT
    ANTHROPIC_API_KEY OPENAI_API_KEY OPENROUTER_API_KEY GEMINI_API_KEY GOOGLE_GENERATIVE_AI_API_KEY GROQ_API_KEY
    MISTRAL_API_KEY DEEPSEEK_API_KEY XAI_API_KEY ZAI_API_KEY MOONSHOT_API_KEY DASHSCOPE_API_KEY
    AWS_REGION AWS_BEARER_TOKEN_BEDROCK
  `),
  withheld: ['OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR'],
  // It has models that need no key.
  login: null,
  home: {
    files: words(
      '.local/share/opencode/auth.json .config/opencode/opencode.json .config/opencode/opencode.jsonc .aws',
    ),
    onlyKeys: {
      '.config/opencode/opencode.json': ['provider', 'model', 'small_model'],
      '.config/opencode/opencode.jsonc': ['provider', 'model', 'small_model'],
    },
    renewedFiles: ['.local/share/opencode/auth.json'],
    hasSingleUseTokens: true,
  },
  // It reads its list of models at models.dev, and falls back to its own.
  modelHosts: {
    always: ['models.dev'],
    byKey: {
      OPENCODE_API_KEY: ['opencode.ai'],
      ANTHROPIC_API_KEY: ['api.anthropic.com'],
      OPENAI_API_KEY: ['api.openai.com'],
      OPENROUTER_API_KEY: ['openrouter.ai'],
      GEMINI_API_KEY: ['generativelanguage.googleapis.com'],
      GOOGLE_GENERATIVE_AI_API_KEY: ['generativelanguage.googleapis.com'],
      GROQ_API_KEY: ['api.groq.com'],
      MISTRAL_API_KEY: ['api.mistral.ai'],
      DEEPSEEK_API_KEY: ['api.deepseek.com'],
      XAI_API_KEY: ['api.x.ai'],
      ZAI_API_KEY: ['api.z.ai'],
      MOONSHOT_API_KEY: ['api.moonshot.ai'],
      DASHSCOPE_API_KEY: ['dashscope-intl.aliyuncs.com'],
    },
  },
  // Keys of providers that no other agent here uses: 80 and 52 characters.
  keyShapes: [
    { what: 'an xAI key', starts: ['xai-'], key: /(?<![A-Za-z0-9_])xai-[A-Za-z0-9_]{60,}/y, also: /\d/ },
    { what: 'a Groq key', starts: ['gsk_'], key: /(?<![A-Za-z0-9_])gsk_[A-Za-z0-9]{40,}/y, also: /\d/ },
  ],
  settings: ['.opencode', 'opencode.json', 'opencode.jsonc', '.agents', '.claude'],
  slashCommands: '.opencode/command/*.md',
  reports: 'cost',
  // It repeats failed requests for hours without an event: only its error log shows that.
  args: ({ model, extraArgs }) => [
    ...words('run --format json --print-logs --log-level ERROR'),
    ...flag('--model', model),
    ...extraArgs,
  ],
  variables: ({ env }) => ({
    OPENCODE_CONFIG_CONTENT: configuration(env.OPENCODE_CONFIG_CONTENT),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }),
  parser: () => new OpencodeReader(),
}

/** The user's configuration with the permissions that a session without a person needs. */
function configuration(userConfig: string | undefined): string {
  const parsed = jsonObject(userConfig ?? '{}') ?? {}
  const permission = { edit: 'allow', bash: 'allow', ...asObject(parsed.permission) }
  return JSON.stringify({ autoupdate: false, share: 'disabled', ...parsed, permission })
}

class OpencodeReader extends EventReader {
  #lastReason: string | null = null
  #error: (Ending & { ref: string | null }) | null = null
  /** Errors in its log by their `ref`, since some events only refer to one. */
  readonly #causes = new Map<string, { name: string; message: string }>()
  #rejected: string | null = null
  #attempt = 0
  #cost = 0

  protected readonly handlers: Handlers = {
    step_start: () => {
      // The answer is what the last step says.
      this.text = ''
      this.#lastReason = null
      this.isComplete = false
      this.#error = null
      this.isOver = false
    },
    text: ({ part }) => {
      const text = asString(asObject(part)?.text) ?? ''
      this.text = appendText(this.text, this.text === '' ? text : `\n${text}`)
      return [{ kind: 'text', text }]
    },
    tool_use: (event) => {
      const part = asObject(event.part)
      const state = asObject(part?.state)
      const isRejected = asString(state?.error)?.startsWith('The user rejected permission') === true
      if (state?.status === 'error' && isRejected) this.#rejected = asString(part?.tool) ?? 'tool'
      return [toolUse(part?.tool, state?.input)]
    },
    step_finish: ({ part }) => this.#onFinish(asObject(part)),
    error: (event) => {
      const error = asObject(event.error)
      const data = asObject(error?.data)
      const name = asString(error?.name)
      const vendorMessage = answerOf(data).message || (name ?? '')
      const ending = failureEnding(statusOfError(name, data), vendorMessage, resetOf(event, data))
      this.#error = { ...ending, ref: asString(data?.ref) }
      this.isOver = true
      return this.failedWith(ending, vendorMessage)
    },
  }

  protected override isStartedBy(): boolean {
    this.retrying = null
    return true
  }

  #onFinish(part: Json | null): AgentEvent[] {
    this.#lastReason = asString(part?.reason)
    this.isComplete = this.#lastReason === 'stop'
    const tokens = asObject(part?.tokens)
    const cache = asObject(tokens?.cache)
    const cached = asAmount(cache?.read)
    this.#cost += asAmount(part?.cost)
    // It reports a cost of 0 for a model whose price it does not know.
    if (this.#cost > 0) this.usage.costUsd = this.#cost
    const input = asAmount(tokens?.input) + cached + asAmount(cache?.write)
    return this.addTurn(input, cached, asAmount(tokens?.output) + asAmount(tokens?.reasoning))
  }

  /**
   * Reads failed requests of the session itself, but not those for its title. A request that is not repeated has its own event. The log
   * line has no HTTP status.
   */
  protected override onStderr(line: string): AgentEvent[] {
    if (!/^timestamp=\S+ level=/.test(line)) return super.onStderr(line)
    const [, ref, name = '', message = ''] =
      /^timestamp=\S+ level=ERROR \S+ message=failed ref=(\w+) error="(\w+): ([^"]*)"/.exec(line) ?? []
    if (ref !== undefined && this.#causes.size < MAX_CAUSES) this.#causes.set(ref, { name, message })
    if (!FAILED_REQUEST.test(line)) return []
    this.#attempt += 1
    return this.retryEvent(null, this.#attempt)
  }

  protected override failure(exit: Exit): Ending | null {
    if (this.#error !== null) {
      // For a model that its configuration lacks, the event names no cause: the error's name is only in the log.
      const cause = this.#causes.get(this.#error.ref ?? '')
      return cause === undefined ? this.#error : failureEnding(statusOfError(cause.name, null), cause.message)
    }
    const ending = super.failure(exit)
    if (ending === null || exit.kind !== 'exit' || exit.code !== 0) return ending
    // There is no result event: a rejected permission ends the loop after the tool calls, with exit code 0.
    if (this.#rejected !== null) return permissionEnding([this.#rejected])
    if (this.#lastReason === null) return ending
    return { status: 'failed', message: `the session ended before its answer (${this.#lastReason})` }
  }
}

const FAILED_REQUEST =
  /^timestamp=\S+ level=ERROR \S+ message="stream error" .*\bsmall=false\b.* error\.error="AI_APICallError\b/

const MAX_CAUSES = 100

function statusOfError(name: string | null, data: Json | null): SessionStatus {
  if (name === 'ContextOverflowError') return 'context'
  if (name === 'ProviderAuthError' || name === 'ProviderModelNotFoundError') return 'auth'
  if (name !== 'APIError') return 'failed'
  const answer = answerOf(data)
  const status = statusOfRefusal(answer)
  return status === 'failed' && answer.http === null && data?.isRetryable === true ? 'overloaded' : status
}

/** The server's answer, as far as it arrived. */
function answerOf(data: Json | null): Refusal {
  const body = readRefusal(asString(data?.responseBody) ?? '')
  return {
    http: asNumber(data?.statusCode) ?? body.http,
    codes: body.codes,
    message: body.message || (asString(data?.message) ?? ''),
  }
}

/** `retry-after` (seconds) of the answer, counted from the event's own time (epoch ms). */
function resetOf(event: Json, data: Json | null): number | null {
  const seconds = Number(asString(asObject(data?.responseHeaders)?.['retry-after']) ?? Number.NaN)
  const at = asNumber(event.timestamp)
  return at !== null && Number.isFinite(seconds) && seconds >= 0 ? at + seconds * 1000 : null
}
