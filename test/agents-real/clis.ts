// The real agent CLIs: which version, and how each is pointed to a model on loopback. Facts: facts/agents.md.

import { findAgent } from '../../src/agents/registry.ts'
import type { Failure } from './model.ts'

export type Cli = {
  name: string
  version: string
  /** `agent-args`. */
  args(url: string): string[]
  env(url: string): Record<string, string>
  /** It takes several seconds to its first request. */
  slow: boolean
  /** How its server says that a usage limit is reached until `reset` (epoch seconds); null: as any 429. */
  limit: ((reset: number) => Failure) | null
  /** Whether it tells when the limit ends. */
  tellsReset: boolean
  /** Whether it gives up soon after a 429; else the time-out ends it while it tries again. */
  givesUp: boolean
  /** It says only after this time that the server refuses, or that it gives up. */
  quietSeconds?: number
  /** What it reports that a session used: money too, or tokens alone. */
  reports: 'cost' | 'tokens'
  /** Whether it tells its tokens after every turn. */
  countsAsItGoes: boolean
  /** Files in its home. */
  home?: Readonly<Record<string, string>>
}

/** The version is the vendor's `tested`, which `ralph init` writes, too. */
type Driven = Omit<Cli, 'version'>

const claude: Driven = {
  name: 'claude',
  slow: false,
  args: () => [],
  // Without a subscription's token it does not tell when a usage limit ends.
  env: (url) => ({
    ANTHROPIC_BASE_URL: url,
    CLAUDE_CODE_OAUTH_TOKEN: 'not-a-token',
    CLAUDE_CODE_MAX_RETRIES: '0',
  }),
  limit: (reset) => ({
    status: 429,
    headers: {
      'retry-after': '7200',
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(reset),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    },
  }),
  tellsReset: true,
  givesUp: true,
  reports: 'cost',
  countsAsItGoes: true,
}

const codex: Driven = {
  name: 'codex',
  slow: false,
  args: (url) => ['-c', `openai_base_url="${url}/v1"`],
  env: () => ({ OPENAI_API_KEY: 'not-a-key' }),
  limit: (reset) => ({
    status: 429,
    body: {
      error: {
        type: 'usage_limit_reached',
        message: 'The usage limit has been reached',
        plan_type: 'plus',
        resets_at: reset,
      },
    },
  }),
  tellsReset: true,
  givesUp: true,
  reports: 'tokens',
  countsAsItGoes: false,
}

const gemini: Driven = {
  name: 'gemini',
  slow: false,
  args: () => ['-m', 'gemini-2.5-pro'],
  env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'not-a-key' }),
  limit: () => ({
    status: 429,
    body: {
      error: {
        code: 429,
        message: 'You exceeded your current quota',
        status: 'RESOURCE_EXHAUSTED',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
            violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }],
          },
        ],
      },
    },
  }),
  tellsReset: false,
  givesUp: false,
  reports: 'tokens',
  countsAsItGoes: false,
  home: {
    '.gemini/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    }),
  },
}

const opencode: Driven = {
  name: 'opencode',
  slow: true,
  args: () => ['--model', 'loopback/sample'],
  env: (url) => ({
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      autoupdate: false,
      share: 'disabled',
      provider: {
        loopback: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Loopback',
          options: { baseURL: `${url}/v1`, apiKey: 'not-a-key' },
          models: {
            sample: {
              name: 'Sample',
              limit: { context: 200_000, output: 8192 },
              cost: { input: 3, output: 15, cache_read: 0.3 },
            },
          },
        },
      },
    }),
  }),
  limit: null,
  tellsReset: false,
  givesUp: false,
  reports: 'cost',
  countsAsItGoes: true,
}

const copilot: Driven = {
  name: 'copilot',
  slow: false,
  args: () => [],
  env: (url) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'not-a-key',
    COPILOT_MODEL: 'sample',
    COPILOT_OFFLINE: 'true',
  }),
  limit: () => ({ status: 429, headers: { 'retry-after': '7200' } }),
  tellsReset: false,
  givesUp: false,
  reports: 'tokens',
  countsAsItGoes: false,
}

const qwen: Driven = {
  name: 'qwen',
  slow: false,
  args: () => ['-m', 'sample'],
  env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'not-a-key' }),
  // It waits in silence for as long as a retry-after asks.
  limit: () => ({ status: 429 }),
  tellsReset: false,
  givesUp: false,
  quietSeconds: 180,
  reports: 'tokens',
  countsAsItGoes: true,
}

/** Its server is that of the vendor, which passes requests on to the models. */
const droid: Driven = {
  name: 'droid',
  slow: false,
  args: () => [],
  env: (url) => ({ FACTORY_API_BASE_URL: url, FACTORY_API_KEY: 'fk-not-a-key' }),
  limit: () => ({ status: 429, headers: { 'retry-after': '7200' } }),
  tellsReset: false,
  givesUp: true,
  quietSeconds: 270,
  reports: 'tokens',
  countsAsItGoes: false,
}

/** The slowest first: they are driven side by side. */
export const clis: readonly Cli[] = [opencode, gemini, copilot, droid, qwen, claude, codex].map((cli) => ({
  ...cli,
  version: findAgent(cli.name)?.tested ?? 'latest',
}))
