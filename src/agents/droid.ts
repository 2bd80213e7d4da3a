// Factory's Droid: `droid exec -o stream-json` (docs.factory.ai/cli/droid-exec/overview).

import { asAmount, asObject, asString } from '../engine/model/json.ts'
import type { Exit } from '../system/process.ts'
import { type AgentVendor, flag, words } from './agent.ts'
import { EventReader, type Handlers, textEvent, toolUse } from './event-reader.ts'
import { type Ending, failureEnding, readRefusal, statusOfRefusal } from './session-end.ts'

export const droid: AgentVendor = {
  name: 'droid',
  program: 'droid',
  install: 'npm install -g @factory/cli',
  npm: '@factory/cli',
  tested: '0.225.1',
  env: [],
  withheld: words('FACTORY_RUNTIME_SETTINGS_PATH FACTORY_HOME_OVERRIDE'),
  login: {
    keys: ['FACTORY_API_KEY'],
    alternatives: ['FACTORY_API_BASE_URL'],
    files: ['.factory/auth.v2.file', '.factory/auth.encrypted', '.factory/settings.json'],
    projectFiles: ['.factory/settings.json', '.factory/settings.local.json'],
  },
  home: {
    files: ['.factory/auth.v2.key'],
    onlyKeys: { '.factory/settings.json': ['customModels', 'model'] },
    renewedFiles: ['.factory/auth.v2.file'],
  },
  // Its server passes requests on to the models. A model of `customModels` is asked at its own address.
  relay: {
    keys: ['FACTORY_API_KEY'],
    disabledBy: [],
    upstream: 'https://api.factory.ai',
    addressVariable: 'FACTORY_API_BASE_URL',
  },
  keyShapes: [
    { what: 'a Factory key', starts: ['fk-'], key: /(?<![A-Za-z0-9_-])fk-[A-Za-z0-9_-]{24,}/y, also: /\d/ },
  ],
  settings: ['.factory', '.agents'],
  slashCommands: '.factory/commands/*.md',
  reports: 'tokens',
  args: ({ model, extraArgs }) => [
    ...words('exec --skip-permissions-unsafe -o stream-json'),
    ...flag('-m', model),
    ...extraArgs,
  ],
  variables: () => ({ FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false' }),
  parser: () => new DroidReader(),
}

class DroidReader extends EventReader {
  #error: string | null = null

  protected readonly handlers: Handlers = {
    message: (event) => {
      if (event.role !== 'assistant') return
      this.text = asString(event.text) ?? ''
      this.#error = null
      return textEvent(this.text)
    },
    tool_call: (event) => {
      this.text = ''
      this.#error = null
      return [toolUse(event.toolName ?? event.toolId, event.parameters)]
    },
    /** The loop says first what went wrong, then the program that it gives up. */
    error: (event) => {
      const message = asString(event.message) ?? ''
      if (event.source === 'agent_loop') this.#error = message
      else this.#error ??= message
      return [{ kind: 'error', message }]
    },
    completion: (event) => {
      const usage = asObject(event.usage)
      const cached = asAmount(usage?.cache_read_input_tokens)
      this.isComplete = true
      this.text = asString(event.finalText) ?? this.text
      this.usage.inputTokens =
        asAmount(usage?.input_tokens) + cached + asAmount(usage?.cache_creation_input_tokens)
      this.usage.cachedTokens = cached
      this.usage.outputTokens = asAmount(usage?.output_tokens)
      this.usage.turns = asAmount(event.numTurns)
      return this.usageEvent()
    },
  }

  protected override failure(exit: Exit): Ending | null {
    if (this.isComplete || this.#error === null) return super.failure(exit)
    const refusal = readRefusal(this.#error)
    return failureEnding(statusOfRefusal(refusal), refusal.message)
  }
}
