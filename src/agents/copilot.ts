// GitHub Copilot CLI: `copilot --output-format json` (docs.github.com/copilot/reference/copilot-cli-reference).

import {
  asAmount,
  asNumber,
  asObject,
  asObjects,
  asString,
  type Json,
  jsonObject,
} from '../engine/model/json.ts'
import type { Exit } from '../system/process.ts'
import { type AgentVendor, flag, type SessionStatus, unlessNamed, words } from './agent.ts'
import { EventReader, type Handlers, textEvent, toolUse } from './event-reader.ts'
import { copilotIdentity } from './keyless/job-token.ts'
import {
  type Ending,
  failureEnding,
  permissionEnding,
  type Refusal,
  readRefusal,
  statusOfRefusal,
} from './session-end.ts'

export const copilot: AgentVendor = {
  name: 'copilot',
  program: 'copilot',
  install: 'npm install -g @github/copilot',
  npm: '@github/copilot',
  tested: '1.0.102',
  // Its GITHUB_TOKEN and GH_TOKEN are the job's and stay out: COPILOT_GITHUB_TOKEN is the one to set.
  env: ['COPILOT_PROVIDER_TYPE', 'COPILOT_MODEL', 'COPILOT_API_URL'],
  login: {
    keys: ['COPILOT_GITHUB_TOKEN'],
    alternatives: words(`
      COPILOT_PROVIDER_API_KEY COPILOT_PROVIDER_BEARER_TOKEN COPILOT_PROVIDER_BASE_URL
      COPILOT_OFFLINE COPILOT_HOME
    `),
    files: ['.copilot/config.json', '.config/github-copilot', '.config/gh/hosts.yml'],
    projectFiles: [],
  },
  home: { files: [], folderVariable: ['COPILOT_HOME', '.copilot'] },
  // Only for a provider of the user's own: no variable sets the addresses that GitHub's tokens are sent to.
  relay: {
    keys: ['COPILOT_PROVIDER_BEARER_TOKEN', 'COPILOT_PROVIDER_API_KEY'],
    disabledBy: [],
    upstream: null,
    addressVariable: 'COPILOT_PROVIDER_BASE_URL',
  },
  // docs.github.com, Copilot allowlist reference: the account is looked up at api.github.com.
  modelHosts: { always: ['api.github.com', '*.githubcopilot.com'] },
  keyless: [copilotIdentity],
  keyShapes: [],
  settings: words(`
    .copilot .mcp.json .agents .claude
    .github/extensions .github/copilot .github/agents .github/skills .github/hooks .github/mcp.json .github/lsp.json
  `),
  slashCommands: '.github/prompts/*.prompt.md',
  reports: 'tokens',
  args: ({ model, extraArgs, budget }) => [
    ...words('--allow-all --no-ask-user --no-color --output-format json --log-level none'),
    // Its own servers act on GitHub with whatever its token may do.
    ...unlessNamed(
      extraArgs,
      /^--(?:disable-builtin-mcps|(?:add-|enable-all-)?github-mcp-)/,
      '--disable-builtin-mcps',
    ),
    // The program stops by itself at the limit at which Ralph would end it.
    ...(extraArgs.includes('--max-ai-credits') ? [] : flag('--max-ai-credits', credits(budget?.costUsd))),
    ...flag('--model', model),
    ...extraArgs,
  ],
  variables: () => ({ COPILOT_AUTO_UPDATE: 'false' }),
  usageFile: {
    args: (path) => ['--usage-output-file', path],
    read(text) {
      const models = asObject(jsonObject(text)?.modelMetrics)
      if (models === null) return null
      const total = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
      for (const model of asObjects(Object.values(models))) {
        const usage = asObject(model.usage)
        // What was read from the cache is part of the input.
        total.inputTokens += asAmount(usage?.inputTokens)
        total.outputTokens += asAmount(usage?.outputTokens)
        total.cachedTokens += asAmount(usage?.cacheReadTokens)
      }
      return total
    },
  },
  parser: () => new CopilotReader(),
}

/** An AI credit is a cent, and the program takes no limit below 30 (`copilot help limits`). Undefined without a limit. */
function credits(amountUsd: number | null | undefined): string | undefined {
  return amountUsd == null || amountUsd <= 0 ? undefined : String(Math.max(30, Math.ceil(amountUsd * 100)))
}

class CopilotReader extends EventReader {
  #error: Refusal | null = null
  #lastFailure: { isTransport: boolean; codes: readonly string[] } | null = null
  #compacting = false
  #worked = false
  readonly #denied = new Set<string>()
  readonly #tools = new Map<string, string>()

  constructor() {
    super([
      /^Error: No authentication information found\b/,
      /^Error: Access denied by policy settings\b/,
      /^(?:Error: )?Model "[^"]*" from --model flag is not available\b/,
    ])
  }

  protected readonly handlers: Handlers = {
    'assistant.turn_start': () => {
      this.usage.turns = (this.usage.turns ?? 0) + 1
    },
    'assistant.turn_retry': (event) => {
      this.#compacting = dataOf(event).reason === 'forced_compaction'
    },
    'assistant.message': (event) => {
      const data = dataOf(event)
      this.retrying = null
      this.#lastFailure = null
      this.#error = null
      const text = asString(data.content) ?? ''
      // A message with tool requests is a step of the work; the last one without is the answer.
      this.text = asObjects(data.toolRequests).length > 0 ? '' : text
      return textEvent(text)
    },
    'model.call_failure': (event) => {
      const data = dataOf(event)
      const codes = [...codesOf(data), ...readRefusal(asString(data.errorMessage) ?? '').codes]
      this.#lastFailure = { isTransport: data.failureKind === 'transport', codes }
      return this.retryEvent(asNumber(data.statusCode), asAmount(data.retryAttempt) + 1)
    },
    'tool.execution_start': (event) => {
      const data = dataOf(event)
      this.#tools.set(asString(data.toolCallId) ?? '', asString(data.toolName) ?? 'tool')
      return [toolUse(data.toolName, data.arguments)]
    },
    'tool.execution_complete': (event) => {
      const data = dataOf(event)
      const id = asString(data.toolCallId) ?? ''
      const isDenied = data.success === false && asObject(data.error)?.code === 'denied'
      if (isDenied) this.#denied.add(this.#tools.get(id) ?? 'tool')
      this.#tools.delete(id)
      if (asObjects(data.fileEdits).length > 0 && data.success === true) this.#worked = true
    },
    'session.error': (event) => {
      const data = dataOf(event)
      const message = asString(data.message) ?? ''
      const refusal = readRefusal(message)
      const codes = [...codesOf(data), ...refusal.codes, ...(this.#lastFailure?.codes ?? [])]
      this.#error = { http: asNumber(data.statusCode) ?? refusal.http, codes, message: refusal.message }
      return [{ kind: 'error', message }]
    },
    result: ({ exitCode }) => {
      this.isComplete = exitCode === 0
    },
  }

  protected override isStartedBy(type: string): boolean {
    return type === 'assistant.message'
  }

  protected override failure(exit: Exit): Ending | null {
    if (this.#error !== null) return failureEnding(this.#statusOf(this.#error), this.#error.message)
    const ending = super.failure(exit)
    // Without --allow-all everything that changes a file is denied, and still it ends with exit code 0.
    return ending === null && this.#denied.size > 0 && !this.#worked ? permissionEnding(this.#denied) : ending
  }

  #statusOf(error: Refusal): SessionStatus {
    if (this.#compacting) return 'context'
    const status = statusOfRefusal(error)
    return status === 'failed' && this.#lastFailure?.isTransport === true ? 'overloaded' : status
  }
}

function dataOf(event: Json): Json {
  return asObject(event.data) ?? {}
}

function codesOf(data: Json): string[] {
  return [data.errorCode, data.errorType].flatMap((code) => asString(code) ?? [])
}
