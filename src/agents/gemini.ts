// Gemini CLI: `gemini --yolo -o stream-json` (geminicli.com/docs/cli/headless).

import type { AgentEvent } from '../engine/model/agent-event.ts'
import { asAmount, asObject, asString, type Json } from '../engine/model/json.ts'
import type { Exit } from '../system/process.ts'
import { type AgentVendor, flag, type SessionStatus, words } from './agent.ts'
import { appendText, EventReader, type Handlers, textEvent, toolUse } from './event-reader.ts'
import {
  type Ending,
  failureEnding,
  type Refusal,
  readRefusal,
  statusOfRefusal,
  withVendorMessage,
} from './session-end.ts'

export const gemini: AgentVendor = {
  name: 'gemini',
  provider: 'gcp.gemini',
  program: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  npm: '@google/gemini-cli',
  tested: '0.61.0',
  env: ['GEMINI_MODEL', 'GOOGLE_CLOUD_LOCATION'],
  withheld: ['GEMINI_CLI_SYSTEM_SETTINGS_PATH', 'GEMINI_CLI_SYSTEM_DEFAULTS_PATH'],
  login: {
    keys: ['GEMINI_API_KEY'],
    alternatives: words(
      'GOOGLE_API_KEY GOOGLE_GENAI_USE_VERTEXAI GOOGLE_CLOUD_PROJECT GOOGLE_GEMINI_BASE_URL',
    ),
    files: words(`
      .gemini/oauth_creds.json .gemini/settings.json .gemini/.env .env
      .config/gcloud/application_default_credentials.json
    `),
    projectFiles: ['.env', '.gemini/.env', '.gemini/settings.json'],
    check: ({ GEMINI_API_KEY: key = '' }) => ({
      key: 'GEMINI_API_KEY',
      url: 'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1',
      headers: { 'x-goog-api-key': key },
      isRefused: (status, body) => status === 400 && body.includes('API_KEY_INVALID'),
    }),
  },
  home: {
    files: [],
    onlyKeys: { '.gemini/settings.json': ['security', 'selectedAuthType'] },
    renewedFiles: ['.gemini/oauth_creds.json'],
  },
  // https://geminicli.com/docs/reference/configuration
  relay: {
    keys: ['GEMINI_API_KEY'],
    disabledBy: ['GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_API_KEY'],
    upstream: 'https://generativelanguage.googleapis.com',
    addressVariable: 'GOOGLE_GEMINI_BASE_URL',
  },
  keyShapes: [],
  settings: ['.gemini'],
  slashCommands: '.gemini/commands/*.toml',
  documents: ['GEMINI.md'],
  reports: 'tokens',
  args: ({ model, extraArgs }) => ['--yolo', '-o', 'stream-json', ...flag('-m', model), ...extraArgs],
  variables: () => ({
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    // Without this, the program that Ralph signals is only the parent of the one that works.
    GEMINI_CLI_NO_RELAUNCH: 'true',
  }),
  parser: () => new GeminiReader(),
}

class GeminiReader extends EventReader {
  #result: Json | null = null
  /** The HTTP status in the error that it prints on stderr when it gives up. It is read only after the error's first line. */
  #dumpedStatus: number | null = null
  #inDump = false

  constructor() {
    super([/^Error authenticating: /, /^Failed to sign in\b/])
  }

  protected readonly handlers: Handlers = {
    message: (event) => {
      if (event.role !== 'assistant') return
      const text = asString(event.content) ?? ''
      const goesOn = event.delta === true && this.text !== ''
      this.text = event.delta === true ? appendText(this.text, text) : text
      return textEvent(text).map((piece) => (goesOn ? { ...piece, goesOn } : piece))
    },
    // Deltas before a tool are not part of the answer after it.
    tool_use: (event) => {
      this.text = ''
      return [toolUse(event.tool_name, event.parameters)]
    },
    tool_result: () => {
      this.text = ''
    },
    error: ({ message }) => [{ kind: 'error', message: asString(message) ?? '' }],
    result: (event) => {
      this.#result = event
      this.isComplete = event.status === 'success'
      const stats = asObject(event.stats)
      this.usage.inputTokens = asAmount(stats?.input_tokens)
      this.usage.outputTokens = asAmount(stats?.output_tokens)
      this.usage.cachedTokens = asAmount(stats?.cached)
      return this.usageEvent()
    },
  }

  protected override isStartedBy(type: string): boolean {
    if (type !== 'result') this.retrying = null
    return true
  }

  /** It reports its retries only on stderr, in separate lines. */
  protected override onStderr(line: string): AgentEvent[] {
    super.onStderr(line)
    const retry = /^Attempt (\d+) failed(?: with status (\d{3}))?\. Retrying with backoff\.\.\./.exec(line)
    if (retry !== null) {
      this.#inDump = false
      return this.retryEvent(retry[2] === undefined ? null : Number(retry[2]), Number(retry[1]))
    }
    if (line.startsWith('Error when talking to Gemini API')) this.#inDump = true
    const status = /^ {2}(?:status|code): (\d{3}),?$/.exec(line)?.[1]
    if (this.#inDump && status !== undefined) this.#dumpedStatus = Number(status)
    return []
  }

  protected override failure(exit: Exit): Ending | null {
    const isError = this.#result !== null && !this.isComplete
    const vendorMessage = isError ? asString(asObject(this.#result?.error)?.message) : this.stderr.text()
    if (exit.kind === 'exit' && exit.code !== 0) {
      const refusal = refusalOf(vendorMessage ?? '', httpOfCode(exit.code) ?? this.#dumpedStatus)
      const [status, ralphMessage] = OWN_CODES.get(exit.code) ?? []
      if (status !== undefined)
        return { status, message: withVendorMessage(ralphMessage ?? '', refusal.message) }
      if (refusal.http !== null) return failureEnding(statusOfRefusal(refusal), refusal.message)
      if (BROKEN_CONNECTION.test(vendorMessage ?? '')) return failureEnding('overloaded', refusal.message)
    }
    return isError ? failureEnding('failed', vendorMessage) : super.failure(exit)
  }
}

/** Its own sentences for a broken connection (recordings middrop, refused): `error.type` says "unknown". */
const BROKEN_CONNECTION = /^\[API Error: (?:terminated|exception TypeError: fetch failed\b.*)\]$/

const OWN_CODES: ReadonlyMap<number, readonly [SessionStatus, string]> = new Map([
  [
    41,
    [
      'auth',
      'no way to log in: set GEMINI_API_KEY and security.auth.selectedType in ~/.gemini/settings.json',
    ],
  ],
  [53, ['max-turns', 'the session reached its limit of turns']],
  [55, ['refused-permission', 'gemini does not trust this folder: set GEMINI_CLI_TRUST_WORKSPACE=true']],
])

/** Its other exit codes are the HTTP status mod 256 (401 -> 145). */
function httpOfCode(code: number): number | null {
  const statuses = [400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529]
  return statuses.find((status) => status % 256 === code) ?? null
}

/** The server's answer in `[API Error: {…}]` or `[API Error: words (Status: NAME)]`. */
function refusalOf(message: string, http: number | null): Refusal {
  const [, answer, name] = /^\[API Error: (.*?)(?: \(Status: (\w+)\))?\]$/s.exec(message) ?? []
  const refusal = readRefusal(answer ?? message)
  const codes = name === undefined ? refusal.codes : [name, ...refusal.codes]
  return { http: http ?? refusal.http, codes, message: refusal.message }
}
