// GitHub Copilot CLI: `copilot --output-format json`. Facts: facts/agents.md, "Command lines", "Streams", "The others".

import type { Exit } from '../system/process.ts'
import type {
  AgentEvent,
  AgentVendor,
  Classified,
  Command,
  CommandOptions,
  SessionStatus,
  StreamParser,
} from './agent.ts'
import { noUsage } from './agent.ts'
import {
  classified,
  endedByUs,
  type Retrying,
  sayStatus,
  silentEnding,
  statusOfHttp,
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
  #error: { type: string | null; http: number | null; message: string } | null = null
  #retrying: Retrying = null
  #lastFailure: { kind: string | null; http: number | null } | null = null
  #compacting = false
  #turns = 0
  #denied = new Set<string>()
  #tools = new Map<string, string>()
  #worked = false
  readonly #stderr = stderrLine()

  line(stream: 'stdout' | 'stderr', line: string): AgentEvent[] {
    if (stream === 'stderr') {
      this.#stderr.push(line)
      return []
    }
    const event = jsonEvent(line)
    const data = object(event?.data) ?? {}
    switch (string(event?.type)) {
      case 'assistant.message':
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
    this.#error = null
    const text = string(data.content) ?? ''
    // A message with tool requests is on the way; the last one without is the answer.
    this.#finalText = objects(data.toolRequests).length > 0 ? '' : text
    return text === '' ? [] : [{ kind: 'text', text }]
  }

  #onCallFailure(data: Json): AgentEvent[] {
    const http = number(data.statusCode)
    this.#retrying = { status: http }
    this.#lastFailure = { kind: string(data.failureKind), http }
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
    this.#error = { type: string(data.errorType), http: number(data.statusCode), message }
    return [{ kind: 'error', message }]
  }

  #statusOfError(error: { type: string | null; http: number | null }): SessionStatus {
    if (this.#compacting) return 'context'
    if (error.http !== null) return statusOfHttp(error.http)
    if (error.type === 'authentication') return 'auth'
    if (this.#lastFailure?.kind === 'transport') return 'overloaded'
    return 'failed'
  }
}
