// GitHub Copilot CLI: `copilot --output-format json`. Facts: facts/agents.md, "Command lines", "Streams", "The others".

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
import {
  amount,
  type Json,
  jsonEvent,
  jsonObject,
  number,
  object,
  objects,
  string,
  toolTarget,
} from './json.ts'
import { type Refusal, readRefusal, startRefusal, statusOfRefusal } from './refusal.ts'

export const copilot: AgentVendor = {
  name: 'copilot',
  program: 'copilot',
  install: 'npm install -g @github/copilot',
  npm: '@github/copilot',
  writesHome: true,
  // Its GITHUB_TOKEN and GH_TOKEN are the job's and stay out: COPILOT_GITHUB_TOKEN is the one to set.
  env: [
    'COPILOT_GITHUB_TOKEN',
    'COPILOT_PROVIDER_API_KEY',
    'COPILOT_PROVIDER_BEARER_TOKEN',
    'COPILOT_PROVIDER_BASE_URL',
    'COPILOT_PROVIDER_TYPE',
    'COPILOT_MODEL',
    'COPILOT_OFFLINE',
    'COPILOT_HOME',
  ],
  login: {
    keys: ['COPILOT_GITHUB_TOKEN'],
    others: [
      'COPILOT_PROVIDER_API_KEY',
      'COPILOT_PROVIDER_BEARER_TOKEN',
      'COPILOT_PROVIDER_BASE_URL',
      'COPILOT_OFFLINE',
      'COPILOT_HOME',
    ],
    files: ['.copilot', '.config/github-copilot', '.config/gh/hosts.yml'],
    project: [],
    check: null,
  },
  command(options: CommandOptions): Command {
    const model = options.model === undefined ? [] : ['--model', options.model]
    return {
      args: [
        ...['--allow-all', '--no-ask-user', '--no-color', '--output-format', 'json', '--log-level', 'none'],
        ...model,
        ...options.extraArgs,
      ],
      env: { COPILOT_AUTO_UPDATE: 'false' },
      promptChannel: 'stdin',
    }
  },
  usageFile: {
    args: (path) => ['--usage-output-file', path],
    read(text) {
      const models = object(jsonObject(text)?.modelMetrics)
      if (models === null) return null
      const used = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
      for (const model of objects(Object.values(models))) {
        const usage = object(model.usage)
        // What was read from the cache is part of the input.
        used.inputTokens += amount(usage?.inputTokens)
        used.outputTokens += amount(usage?.outputTokens)
        used.cachedTokens += amount(usage?.cacheReadTokens)
      }
      return used
    },
  },
  parser: () => new CopilotParser(),
}

class CopilotParser implements StreamParser {
  #finalText = ''
  #result: Json | null = null
  #error: Refusal | null = null
  #retrying: Retrying = null
  #lastFailure: { isTransport: boolean; codes: readonly string[] } | null = null
  #compacting = false
  #turns = 0
  #denied = new Set<string>()
  #tools = new Map<string, string>()
  #worked = false
  readonly #stderr = stderrLine()
  readonly #refusal = startRefusal([
    /^Error: No authentication information found\b/,
    /^Error: Access denied by policy settings\b/,
    /^(?:Error: )?Model "[^"]*" from --model flag is not available\b/,
  ])

  line(stream: 'stdout' | 'stderr', line: string): AgentEvent[] {
    const event = stream === 'stdout' ? jsonEvent(line) : null
    if (event === null) {
      this.#refusal.line(line)
      if (stream === 'stderr') this.#stderr.push(line)
      return []
    }
    const data = object(event.data) ?? {}
    switch (string(event.type)) {
      case 'assistant.message':
        this.#refusal.started()
        return this.#onMessage(data)
      case 'assistant.turn_start':
        this.#turns += 1
        return []
      case 'assistant.turn_retry':
        this.#compacting = data.reason === 'forced_compaction'
        return []
      case 'model.call_failure':
        return this.#onCallFailure(data)
      case 'tool.execution_start':
        return this.#onTool(data)
      case 'tool.execution_complete':
        return this.#onToolEnd(data)
      case 'session.error':
        return this.#onError(data)
      case 'result':
        this.#result = event
        return []
      default:
        return []
    }
  }

  end(exit: Exit): Classified {
    // Tokens stand only in the usage file: a session that was ended has none.
    const usage = { ...noUsage(), turns: this.#turns === 0 ? null : this.#turns }
    const refused = this.#refusal.ending(exit)
    // What was said before a session that then came to its end was no refusal of it.
    if (refused !== null && this.#finalText === '') return classified(refused, usage, '')
    const ours = endedByUs(exit, this.#retrying)
    if (ours !== null) return classified(ours, usage, '')
    const error = this.#error
    if (error !== null) {
      const status = this.#statusOfError(error)
      return classified(
        { status, message: withWords(sayStatus(status), error.message) },
        usage,
        this.#finalText,
      )
    }
    if (
      this.#result === null ||
      exit.kind !== 'exit' ||
      exit.code !== 0 ||
      number(this.#result.exitCode) !== 0
    ) {
      return classified(silentEnding(exit, this.#stderr.text()), usage, this.#finalText)
    }
    // Without --allow-all everything that changes a file is denied, and still it ends with exit code 0.
    if (this.#denied.size > 0 && !this.#worked) {
      const message = `the agent was not allowed to use ${[...this.#denied].join(', ')}`
      return classified({ status: 'refused-permission', message }, usage, this.#finalText)
    }
    return classified({ status: 'finished', message: 'the session finished' }, usage, this.#finalText)
  }

  #onMessage(data: Json): AgentEvent[] {
    this.#retrying = null
    this.#lastFailure = null
    this.#error = null
    const text = string(data.content) ?? ''
    // A message with tool requests is on the way; the last one without is the answer.
    this.#finalText = objects(data.toolRequests).length > 0 ? '' : text
    return text === '' ? [] : [{ kind: 'text', text }]
  }

  #onCallFailure(data: Json): AgentEvent[] {
    const http = number(data.statusCode)
    this.#retrying = { status: http }
    const named = [data.errorCode, data.errorType].flatMap((code) => string(code) ?? [])
    const codes = [...named, ...readRefusal(string(data.errorMessage) ?? '').codes]
    this.#lastFailure = { isTransport: data.failureKind === 'transport', codes }
    return [{ kind: 'retry', status: http, attempt: amount(data.retryAttempt) + 1 }]
  }

  #onTool(data: Json): AgentEvent[] {
    const name = string(data.toolName) ?? 'tool'
    this.#tools.set(string(data.toolCallId) ?? '', name)
    return [{ kind: 'tool', name, target: toolTarget(data.arguments) }]
  }

  #onToolEnd(data: Json): AgentEvent[] {
    const name = this.#tools.get(string(data.toolCallId) ?? '') ?? 'tool'
    if (data.success === false && object(data.error)?.code === 'denied') this.#denied.add(name)
    if (objects(data.fileEdits).length > 0 && data.success === true) this.#worked = true
    return []
  }

  #onError(data: Json): AgentEvent[] {
    const message = string(data.message) ?? ''
    const named = [data.errorCode, data.errorType].flatMap((code) => string(code) ?? [])
    const said = readRefusal(message)
    const codes = [...named, ...said.codes, ...(this.#lastFailure?.codes ?? [])]
    this.#error = { http: number(data.statusCode) ?? said.http, codes, message: said.message }
    return [{ kind: 'error', message }]
  }

  #statusOfError(error: Refusal): SessionStatus {
    if (this.#compacting) return 'context'
    const status = statusOfRefusal(error)
    return status === 'failed' && this.#lastFailure?.isTransport === true ? 'overloaded' : status
  }
}
