// Gemini CLI: `gemini --yolo -o stream-json`. Facts: facts/agents.md, "Command lines", "Streams", "The others".

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
import { amount, type Json, jsonEvent, object, string, toolTarget } from './json.ts'
import { type Refusal, readRefusal, startRefusal, statusOfRefusal } from './refusal.ts'

export const gemini: AgentVendor = {
  name: 'gemini',
  program: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  npm: '@google/gemini-cli',
  writesHome: true,
  env: [
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GEMINI_BASE_URL',
    'GEMINI_MODEL',
    'GOOGLE_GENAI_USE_VERTEXAI',
    'GOOGLE_CLOUD_PROJECT',
    'GOOGLE_CLOUD_LOCATION',
    'GEMINI_CLI_SYSTEM_SETTINGS_PATH',
  ],
  login: {
    keys: ['GEMINI_API_KEY'],
    others: [
      'GOOGLE_API_KEY',
      'GOOGLE_GENAI_USE_VERTEXAI',
      'GOOGLE_CLOUD_PROJECT',
      'GOOGLE_GEMINI_BASE_URL',
      'GEMINI_CLI_SYSTEM_SETTINGS_PATH',
    ],
    files: [
      '.gemini/oauth_creds.json',
      '.gemini/settings.json',
      '.gemini/.env',
      '.env',
      '.config/gcloud/application_default_credentials.json',
    ],
    project: ['.env', '.gemini/.env', '.gemini/settings.json'],
    check: ({ GEMINI_API_KEY: key = '' }) => ({
      key: 'GEMINI_API_KEY',
      url: 'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1',
      headers: { 'x-goog-api-key': key },
    }),
  },
  command(options: CommandOptions): Command {
    const model = options.model === undefined ? [] : ['-m', options.model]
    return {
      args: ['--yolo', '-o', 'stream-json', ...model, ...options.extraArgs],
      env: {
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        // Else the program that we signal is only the parent of the one that works.
        GEMINI_CLI_NO_RELAUNCH: 'true',
      },
      promptChannel: 'stdin',
    }
  },
  parser: () => new GeminiParser(),
}

class GeminiParser implements StreamParser {
  /** Deltas since the last tool: a marker may be cut in two by them. */
  #text = ''
  #result: Json | null = null
  #retrying: Retrying = null
  /** Status in the error that it prints on stderr when it gives up; set to be read only behind that line. */
  #dumped: number | null = null
  #inDump = false
  readonly #stderr = stderrLine()
  readonly #refusal = startRefusal([/^Error authenticating: /, /^Failed to sign in\b/])
  readonly #usage = noUsage()

  line(stream: 'stdout' | 'stderr', line: string): AgentEvent[] {
    if (stream === 'stderr') return this.#onStderr(line)
    const event = jsonEvent(line)
    const type = string(event?.type)
    if (event === null || type === null) return []
    this.#refusal.started()
    if (type !== 'result') this.#retrying = null
    if (type === 'message') return this.#onMessage(event)
    if (type === 'tool_use') {
      this.#text = ''
      return [{ kind: 'tool', name: string(event.tool_name) ?? 'tool', target: toolTarget(event.parameters) }]
    }
    if (type === 'tool_result') this.#text = ''
    if (type === 'error') return [{ kind: 'error', message: string(event.message) ?? '' }]
    return type === 'result' ? this.#onResult(event) : []
  }

  end(exit: Exit): Classified {
    const refused = this.#refusal.ending(exit)
    // What was said before a session that then came to its end was no refusal of it.
    if (refused !== null && this.#result?.status !== 'success') return classified(refused, this.#usage, '')
    const ours = endedByUs(exit, this.#retrying)
    if (ours !== null) return classified(ours, this.#usage, '')
    const failure = this.#failure(exit)
    if (failure !== null) return classified(failure, this.#usage, this.#text)
    return classified({ status: 'finished', message: 'the session finished' }, this.#usage, this.#text)
  }

  /** It reports its retries on stderr only, in lines of its own. */
  #onStderr(line: string): AgentEvent[] {
    this.#stderr.push(line)
    this.#refusal.line(line)
    const retry = /^Attempt (\d+) failed(?: with status (\d{3}))?\. Retrying with backoff\.\.\./.exec(line)
    if (retry !== null) {
      const status = retry[2] === undefined ? null : Number(retry[2])
      this.#retrying = { status }
      this.#inDump = false
      return [{ kind: 'retry', status, attempt: Number(retry[1]) }]
    }
    if (line.startsWith('Error when talking to Gemini API')) this.#inDump = true
    const status = /^ {2}(?:status|code): (\d{3}),?$/.exec(line)?.[1]
    if (this.#inDump && status !== undefined) this.#dumped = Number(status)
    return []
  }

  #onMessage(event: Json): AgentEvent[] {
    if (event.role !== 'assistant') return []
    const text = string(event.content) ?? ''
    this.#text = event.delta === true ? this.#text + text : text
    return text === '' ? [] : [{ kind: 'text', text }]
  }

  #onResult(event: Json): AgentEvent[] {
    this.#result = event
    const stats = object(event.stats)
    this.#usage.inputTokens = amount(stats?.input_tokens)
    this.#usage.outputTokens = amount(stats?.output_tokens)
    this.#usage.cachedTokens = amount(stats?.cached)
    return [{ kind: 'usage', usage: { ...this.#usage } }]
  }

  #failure(exit: Exit): { status: SessionStatus; message: string } | null {
    const result = this.#result
    const failed = result !== null && result.status !== 'success'
    const words = failed ? string(object(result.error)?.message) : this.#stderr.text()
    if (exit.kind === 'exit' && exit.code !== 0) {
      const refusal = refusalOf(words ?? '', httpOfCode(exit.code) ?? this.#dumped)
      const status = OWN_CODES.get(exit.code) ?? this.#statusOfError(refusal, words)
      if (status !== null)
        return { status, message: withWords(REMEDIES.get(exit.code) ?? sayStatus(status), refusal.message) }
    }
    if (failed) return { status: 'failed', message: withWords('the session ended in an error', words) }
    return result !== null && exit.kind === 'exit' && exit.code === 0
      ? null
      : silentEnding(exit, this.#stderr.text())
  }

  #statusOfError(refusal: Refusal, words: string | null): SessionStatus | null {
    if (refusal.http !== null) return statusOfRefusal(refusal)
    // The program's own sentences for a broken connection (recordings middrop, refused): `error.type` says "unknown".
    const broken =
      words !== null && /^\[API Error: (?:terminated|exception TypeError: fetch failed\b.*)\]$/.test(words)
    return broken ? 'overloaded' : null
  }
}

/** Exit codes of its own. */
const OWN_CODES: ReadonlyMap<number, SessionStatus> = new Map([
  [41, 'auth'],
  [53, 'max-turns'],
  [55, 'refused-permission'],
])

/** Its other exit codes are the HTTP status mod 256 (401 -> 145). */
function httpOfCode(code: number): number | null {
  const known = [400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529]
  return known.find((status) => status % 256 === code) ?? null
}

/** The server's answer in `[API Error: {…}]` or `[API Error: words (Status: NAME)]`. */
function refusalOf(words: string, http: number | null): Refusal {
  const [, said, name] = /^\[API Error: (.*?)(?: \(Status: (\w+)\))?\]$/s.exec(words) ?? []
  const refusal = readRefusal(said ?? words)
  const codes = name === undefined ? refusal.codes : [name, ...refusal.codes]
  return { http: http ?? refusal.http, codes, message: refusal.message }
}

const REMEDIES: ReadonlyMap<number, string> = new Map([
  [41, 'no way to log in: set GEMINI_API_KEY and security.auth.selectedType in ~/.gemini/settings.json'],
  [55, 'the folder is not trusted: GEMINI_CLI_TRUST_WORKSPACE=true'],
])
