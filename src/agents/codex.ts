// Codex CLI: `codex exec --json` (developers.openai.com/codex/noninteractive).

import type { AgentEvent } from '../engine/model/agent-event.ts'
import { asAmount, asObject, asObjects, asString, type Json } from '../engine/model/json.ts'
import type { Exit } from '../system/process.ts'
import { type AgentVendor, flag, type SessionStatus, words } from './agent.ts'
import { EventReader, type Handlers, toolTarget } from './event-reader.ts'
import { type Ending, failureEnding, readRefusal, statusOfRefusal } from './session-end.ts'

export const codex: AgentVendor = {
  name: 'codex',
  provider: 'openai',
  program: 'codex',
  install: 'npm install -g @openai/codex',
  npm: '@openai/codex',
  tested: '0.169.0',
  env: [],
  login: {
    keys: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    alternatives: ['CODEX_ACCESS_TOKEN', 'AZURE_OPENAI_API_KEY', 'CODEX_HOME'],
    files: ['.codex/auth.json', '.codex/config.toml'],
    projectFiles: ['.codex/config.toml'],
    check(env) {
      const name = (env.CODEX_API_KEY ?? '') === '' ? 'OPENAI_API_KEY' : 'CODEX_API_KEY'
      return {
        key: name,
        url: 'https://api.openai.com/v1/models',
        headers: { authorization: `Bearer ${env[name]}` },
        // A valid key with few rights may be refused the list of models.
        isRefused: (status, body) => status === 401 && !/missing scopes|insufficient permissions/i.test(body),
      }
    },
  },
  home: {
    files: [],
    renewedFiles: ['.codex/auth.json'],
    hasSingleUseTokens: true,
    folderVariable: ['CODEX_HOME', '.codex'],
  },
  // OPENAI_BASE_URL is not read (https://developers.openai.com/codex/config-reference).
  relay: {
    keys: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    disabledBy: ['CODEX_ACCESS_TOKEN', 'AZURE_OPENAI_API_KEY'],
    upstream: 'https://api.openai.com/v1',
    addressVariable: null,
    args: (url) => ['-c', `openai_base_url="${url}"`],
  },
  keyShapes: [],
  // AGENTS.override.md replaces AGENTS.md.
  settings: ['.codex', '.agents', 'agents.override.md'],
  reports: 'tokens',
  args: ({ model, extraArgs, schema }) => [
    ...words('exec --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check --ephemeral'),
    ...words('-c analytics.enabled=false -c check_for_update_on_startup=false'),
    ...words('-c features.plugins=false -c features.apps=false'),
    ...(extraArgs.includes('--output-schema') ? [] : flag('--output-schema', schema?.file)),
    ...flag('-m', model),
    ...extraArgs,
    '-',
  ],
  // `exec` reads CODEX_API_KEY only (developers.openai.com, environment variables); people have the other one.
  variables: ({ env: { OPENAI_API_KEY: key, CODEX_API_KEY: codexKey } }) =>
    key === undefined || codexKey !== undefined ? {} : { CODEX_API_KEY: key },
  parser: (now) => new CodexReader(now),
}

class CodexReader extends EventReader {
  readonly #now: () => number
  #refusal: string | null = null
  #turnStarted = false
  #attempt = 0
  #inputRefused = false

  constructor(now: () => number) {
    super()
    this.#now = now
  }

  protected readonly handlers: Handlers = {
    'turn.started': () => {
      this.#turnStarted = true
      this.isComplete = false
    },
    'item.started': ({ item }) => {
      this.retrying = null
      return toolOf(asObject(item))
    },
    'item.completed': ({ item }) => {
      this.retrying = null
      const answer = asObject(item)
      // An item of type error is a warning, such as missing model metadata.
      if (answer?.type !== 'agent_message') return
      this.text = asString(answer.text) ?? ''
      return [{ kind: 'text', text: this.text }]
    },
    'turn.completed': (event) => {
      const usage = asObject(event.usage)
      this.isComplete = true
      this.retrying = null
      const cached = asAmount(usage?.cached_input_tokens)
      return this.addTurn(asAmount(usage?.input_tokens), cached, asAmount(usage?.output_tokens))
    },
    'turn.failed': ({ error }) => {
      const message = asString(asObject(error)?.message) ?? ''
      this.#refusal = message
      return this.failedWith(this.#ending(message), message)
    },
    /** "Reconnecting... 2/5 (reason)" is a retry; the last `error` only repeats what `turn.failed` says. */
    error: ({ message }) => {
      const [, count, reason] =
        /^Reconnecting\.\.\. (?:(\d+)\/\d+ |waiting for network )?\((.*)\)$/s.exec(asString(message) ?? '') ??
        []
      if (reason === undefined) return
      this.#attempt = count === undefined ? this.#attempt + 1 : Number(count)
      return this.retryEvent(httpOf(reason), this.#attempt)
    },
  }

  protected override onStderr(line: string): AgentEvent[] {
    if (/^Error: turn\/start: .*"input_error_code":"input_too_large"/.test(line)) this.#inputRefused = true
    return super.onStderr(line)
  }

  protected override failure(exit: Exit): Ending | null {
    if (this.#refusal !== null) return this.#ending(this.#refusal)
    if (this.#inputRefused && !this.#turnStarted) return failureEnding('context', this.stderr.text())
    return super.failure(exit)
  }

  #ending(message: string): Ending {
    const sentence = OWN_SENTENCES.find(([start]) => message.startsWith(start))
    const refusal = refusalOf(message)
    const resetsAt = resetOf(message, this.#now())
    return failureEnding(sentence?.[1] ?? statusOfRefusal(refusal), refusal.message, resetsAt)
  }
}

function toolOf(item: Json | null): AgentEvent[] {
  if (item?.type === 'command_execution') {
    return [{ kind: 'tool', name: 'command', target: commandOf(asString(item.command)) }]
  }
  if (item?.type !== 'file_change') return []
  const paths = asObjects(item.changes).flatMap((change) => asString(change.path) ?? [])
  return [{ kind: 'tool', name: 'edit', target: paths.join(', ').slice(0, 200) }]
}

/** The command inside `bash -c '...'`: people need not see the shell. */
function commandOf(line: string | null): string | null {
  const inner = /^\S*\b(?:ba|z|da)?sh -l?c (['"])(.*)\1$/s.exec(line ?? '')?.[2]
  return toolTarget({ command: inner ?? line })
}

/**
 * The HTTP status in one of the program's own two sentences, which begin the message. `turn.failed` has only a message, so the status is
 * nowhere else. Never used on the words of a model or a tool.
 */
function httpOf(message: string): number | null {
  const match = /^(?:unexpected status|exceeded retry limit, last status:) (\d{3})\b/.exec(message)
  return match?.[1] === undefined ? null : Number(match[1])
}

/** The server's answer, which may come after the program's own words (`unexpected status 400 Bad Request: {…}, url: …`). */
function refusalOf(message: string) {
  const http = httpOf(message)
  if (http === null) return readRefusal(message)
  const answer = /^unexpected status \d{3}[^:]*: (\{.*\})(?:, url: .*)?$/s.exec(message)?.[1]
  return { ...readRefusal(answer ?? message), http }
}

/**
 * When a usage limit ends, in epoch milliseconds. The program's sentence ends in the time on this machine's clock, of today or with a date
 * before it (recording usageCodex). The limit has ended when that minute is over.
 */
function resetOf(message: string, now: number): number | null {
  if (!/^You[’']ve hit your usage limit/.test(message)) return null
  const [, month, day, year, hour, minute, amOrPm] =
    /\btry again at (?:([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}):(\d{2}) ([AP]M)\.$/i.exec(
      message,
    ) ?? []
  if (hour === undefined) return null
  const at = month === undefined ? new Date(now) : new Date(`${month} ${day}, ${year}`)
  at.setHours((Number(hour) % 12) + (amOrPm?.toUpperCase() === 'PM' ? 12 : 0), Number(minute) + 1, 0, 0)
  return Number.isNaN(at.getTime()) ? null : at.getTime()
}

/** The program's own sentences, in recordings usageCodex, quotaOpenai, no-key, e500, drop and middrop. */
const OWN_SENTENCES: readonly (readonly [string, SessionStatus])[] = [
  ['You’ve hit your usage limit', 'limit'],
  ["You've hit your usage limit", 'limit'],
  ['Quota exceeded. Check your plan and billing details', 'auth'],
  ['Missing environment variable:', 'auth'],
  ['We’re currently experiencing high demand', 'overloaded'],
  ["We're currently experiencing high demand", 'overloaded'],
  ['stream disconnected before completion:', 'overloaded'],
  ['Connection failed:', 'overloaded'],
  ["Codex ran out of room in the model's context window", 'context'],
]
