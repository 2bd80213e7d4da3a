// Claude Code: `claude -p` with stream-json (code.claude.com/docs/en/headless).

import { type AgentVendor, flag, unlessNamed, words } from './agent.ts'
import { anthropicIdentity } from './keyless/anthropic.ts'
import { bedrockIdentity } from './keyless/bedrock.ts'
import { vertexIdentity } from './keyless/vertex.ts'
import { StreamJsonReader } from './stream-json.ts'

export const claude: AgentVendor = {
  name: 'claude',
  provider: 'anthropic',
  program: 'claude',
  install:
    'npm install -g @anthropic-ai/claude-code (Node 22 or newer; do not use --ignore-scripts, which installs only a stub)',
  npm: '@anthropic-ai/claude-code',
  tested: '2.1.329',
  env: words(`
    ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL
    ANTHROPIC_DEFAULT_OPUS_MODEL ANTHROPIC_DEFAULT_SONNET_MODEL ANTHROPIC_DEFAULT_HAIKU_MODEL
    ANTHROPIC_VERTEX_PROJECT_ID CLOUD_ML_REGION AWS_REGION
    ANTHROPIC_BEDROCK_BASE_URL ANTHROPIC_VERTEX_BASE_URL CLAUDE_CODE_SKIP_VERTEX_AUTH
    CLAUDE_CODE_MAX_RETRIES CLAUDE_CODE_MAX_OUTPUT_TOKENS MAX_THINKING_TOKENS
    API_TIMEOUT_MS BASH_DEFAULT_TIMEOUT_MS BASH_MAX_TIMEOUT_MS
  `),
  login: {
    keys: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_AUTH_TOKEN'],
    alternatives: words(`
      CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_USE_FOUNDRY AWS_BEARER_TOKEN_BEDROCK
      ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS CLAUDE_CONFIG_DIR
    `),
    files: ['.claude/.credentials.json', '.claude/settings.json', '.claude.json'],
    projectFiles: ['.claude/settings.json', '.claude/settings.local.json'],
    check: ({ ANTHROPIC_API_KEY: key = '', ANTHROPIC_AUTH_TOKEN: token = '' }) => {
      // A subscription's token is accepted only for messages, not for this request.
      if (key === '' || token !== '') return null
      const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
      return { key: 'ANTHROPIC_API_KEY', url: 'https://api.anthropic.com/v1/models?limit=1', headers }
    },
  },
  home: {
    files: ['.aws', '.config/gcloud/application_default_credentials.json'],
    onlyKeys: {
      '.claude/settings.json': words('apiKeyHelper awsAuthRefresh awsCredentialExport env'),
      '.claude.json': words('primaryApiKey oauthAccount customApiKeyResponses userID hasCompletedOnboarding'),
    },
    renewedFiles: ['.claude/.credentials.json'],
    hasSingleUseTokens: true,
    folderVariable: ['CLAUDE_CONFIG_DIR', '.claude'],
  },
  // https://code.claude.com/docs/en/env-vars
  relay: {
    keys: ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'],
    disabledBy: ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'],
    upstream: 'https://api.anthropic.com',
    addressVariable: 'ANTHROPIC_BASE_URL',
  },
  keyless: [bedrockIdentity, vertexIdentity, anthropicIdentity],
  keyShapes: [
    { what: 'an Anthropic key', starts: ['sk-ant-'], key: /sk-ant-[A-Za-z0-9_-]{16,}/y },
    { what: 'a key for Bedrock', starts: ['bedrock-api-key-'], key: /bedrock-api-key-[A-Za-z0-9+/=]{16,}/y },
  ],
  settings: ['.claude', '.claude.json', '.mcp.json'],
  slashCommands: '.claude/commands/*.md',
  documents: ['CLAUDE.md', 'CLAUDE.local.md', '.claude/CLAUDE.md'],
  reports: 'cost',
  args: ({ model, extraArgs, budget, schema }) => [
    ...words('-p --dangerously-skip-permissions --output-format stream-json --verbose'),
    // With this, folders and the state of git are in the first message, and the system prompt is the same in every session. Then 35 KB of
    // a first request of 48 KB come from the cache, instead of 31 (measured with 2.1.329).
    ...unlessNamed(
      extraArgs,
      /^--(?:exclude-dynamic-|system-prompt)/,
      '--exclude-dynamic-system-prompt-sections',
    ),
    // The program stops by itself at the limit at which Ralph would end it.
    ...(extraArgs.includes('--max-budget-usd') ? [] : flag('--max-budget-usd', dollars(budget?.costUsd))),
    ...(extraArgs.includes('--json-schema') ? [] : flag('--json-schema', schema?.text)),
    ...flag('--model', model),
    ...extraArgs,
  ],
  variables: ({ isRoot, env }) => ({
    // Connectors of the account (mail, chat) come with a login. `agent-env` can name the variable to have them.
    ENABLE_CLAUDEAI_MCP_SERVERS: env.ENABLE_CLAUDEAI_MCP_SERVERS ?? 'false',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    // Without this, Claude Code waits for every background task, such as a dev server, before it ends.
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    // Claude Code refuses to skip permissions as root, unless this variable says that it runs in a sandbox.
    ...(isRoot ? { IS_SANDBOX: '1' } : {}),
  }),
  parser: () =>
    new StreamJsonReader({ finalText: 'result', isStreamed: true, inputIncludesCache: false, refusals: [] }),
}

/** Dollars as an argument; undefined without a limit. */
function dollars(amount: number | null | undefined): string | undefined {
  return amount == null || amount <= 0 ? undefined : String(Math.ceil(amount * 10_000) / 10_000)
}
