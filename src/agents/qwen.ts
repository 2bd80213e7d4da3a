// Qwen Code: `qwen --yolo -o stream-json` (qwenlm.github.io/qwen-code-docs, headless). Its stream-json is close to Claude Code's.

import type { AgentEvent } from '../engine/model/agent-event.ts'
import { asObject, asString, type Json } from '../engine/model/json.ts'
import { type AgentVendor, flag, words } from './agent.ts'
import { readRefusal } from './session-end.ts'
import { StreamJsonReader } from './stream-json.ts'

/** How much later than Ralph the program ends its session by itself: it matters only if Ralph died. */
const GRACE_SECONDS = 60

export const qwen: AgentVendor = {
  name: 'qwen',
  program: 'qwen',
  install: 'npm install -g @qwen-code/qwen-code (Node 22 or newer)',
  npm: '@qwen-code/qwen-code',
  tested: '0.24.4',
  env: ['OPENAI_MODEL'],
  withheld: words(
    'QWEN_CODE_SYSTEM_SETTINGS_PATH QWEN_CODE_SYSTEM_DEFAULTS_PATH QWEN_SYSTEM_MD QWEN_RUNTIME_DIR',
  ),
  login: {
    keys: ['OPENAI_API_KEY'],
    alternatives: words('DASHSCOPE_API_KEY BAILIAN_CODING_PLAN_API_KEY OPENAI_BASE_URL QWEN_HOME'),
    files: ['.qwen/settings.json', '.qwen/oauth_creds.json', '.qwen/.env', '.env'],
    projectFiles: ['.env', '.qwen/.env', '.qwen/settings.json'],
  },
  home: {
    files: [],
    onlyKeys: { '.qwen/settings.json': ['security', 'modelProviders', 'model', 'env'] },
    renewedFiles: ['.qwen/oauth_creds.json'],
    folderVariable: ['QWEN_HOME', '.qwen'],
  },
  // Without OPENAI_BASE_URL it asks api.openai.com.
  relay: {
    keys: ['OPENAI_API_KEY'],
    disabledBy: [],
    upstream: 'https://api.openai.com/v1',
    addressVariable: 'OPENAI_BASE_URL',
  },
  keyShapes: [],
  settings: ['.qwen'],
  slashCommands: '.qwen/commands/*',
  documents: ['QWEN.md'],
  reports: 'tokens',
  args: ({ model, extraArgs, timeoutMs, schema }) => [
    ...words('--yolo -o stream-json'),
    // Without it, a key in a variable is not used.
    ...(extraArgs.includes('--auth-type') ? [] : ['--auth-type', 'openai']),
    ...(timeoutMs === undefined
      ? []
      : ['--max-wall-time', `${Math.ceil(timeoutMs / 1000) + GRACE_SECONDS}s`]),
    ...(extraArgs.includes('--json-schema') ? [] : flag('--json-schema', schema?.text)),
    ...flag('-m', model),
    ...extraArgs,
  ],
  variables: () => ({
    // Without this, the program that Ralph signals is only the parent of the one that works.
    QWEN_CODE_NO_RELAUNCH: 'true',
    QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
    QWEN_USAGE_STATISTICS_ENABLED: 'false',
  }),
  parser: () => new QwenReader(),
}

class QwenReader extends StreamJsonReader {
  constructor() {
    super({ finalText: 'result', isStreamed: false, inputIncludesCache: true, refusals: [] })
  }

  protected override isPlainAnswer(result: Json): boolean {
    const message = asString(asObject(result.error)?.message) ?? ''
    return message.startsWith('Model produced plain text instead of calling the structured_output tool')
  }

  /** A minute before each of ten tries it says so on stderr; the quick tries before them are silent. */
  protected override onStderr(line: string): AgentEvent[] {
    const [, attempt, error] = /^Retrying in \d+s \(attempt (\d+)\/\d+\): (\[API Error: .*)$/.exec(line) ?? []
    if (error === undefined) return super.onStderr(line)
    return this.retryEvent(readRefusal(error).http, Number(attempt))
  }
}
