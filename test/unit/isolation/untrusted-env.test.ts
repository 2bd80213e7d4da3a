// What agent and gates see of the environment.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isModelKey } from '../../../src/agents/registry.ts'
import { agentEnv, gateEnv, isForbidden, secretsIn } from '../../../src/isolation/untrusted-env.ts'

const RUNNER = {
  PATH: '/bin',
  HOME: '/home/runner',
  LC_ALL: 'C',
  https_proxy: 'http://proxy',
  JAVA_HOME_21_X64: '/java',
  npm_config_cache: '/cache',
  pythonLocation: '/python',
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_WORKSPACE: '/w',
  GITHUB_SHA: 'abc',
  GITHUB_REF: 'refs/heads/main',
  GITHUB_ENV: '/f/env',
  GITHUB_OUTPUT: '/f/output',
  GITHUB_STEP_SUMMARY: '/f/summary',
  GITHUB_ARTIFACTS_LIST: '/f/list',
  GITHUB_EVENT_PATH: '/f/event',
  GITHUB_TOKEN: 'ghs_0123456789abcdefghij',
  GH_TOKEN: 'ghs_0123456789abcdefghij',
  INPUT_TOKEN: 'ghs_0123456789abcdefghij',
  'INPUT_PUBLISH-TOKEN': 'ghp_publish_0123456789',
  ACTIONS_RUNTIME_TOKEN: 'runtime-0123456789abcdef',
  ACTIONS_ID_TOKEN_REQUEST_URL: 'https://id',
  STATE_x: '1',
  RUNNER_TEMP: '/tmp/runner',
  RUNNER_TRACKING_ID: 'github_1',
  SSH_AUTH_SOCK: '/ssh',
  GIT_CONFIG_COUNT: '1',
  NPM_TOKEN: 'npm_0123456789',
  MY_SECRET: 'hush',
  ANTHROPIC_API_KEY: 'sk-ant',
  XDG_RUNTIME_DIR: '/run/user/1000',
  UNDEFINED: undefined,
}

test('the agent gets the allow-list, the variables of its vendor and what is set', () => {
  const { env, refused } = agentEnv(RUNNER, {
    extra: ['NPM_TOKEN', 'MISSING', 'UNDEFINED'],
    vendor: ['ANTHROPIC_API_KEY', 'CLAUDE_CONFIG_DIR'],
    set: { RALPH_MODE: 'run', HOME: '/elsewhere', GIT_CONFIG_GLOBAL: '/dev/null' },
  })
  assert.deepEqual(env, {
    ANTHROPIC_API_KEY: 'sk-ant',
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: '/w',
    GIT_CONFIG_GLOBAL: '/dev/null',
    HOME: '/elsewhere',
    JAVA_HOME_21_X64: '/java',
    LC_ALL: 'C',
    NPM_TOKEN: 'npm_0123456789',
    PATH: '/bin',
    RALPH_MODE: 'run',
    RUNNER_TRACKING_ID: 'github_1',
    SHLVL: '1',
    https_proxy: 'http://proxy',
    npm_config_cache: '/cache',
    pythonLocation: '/python',
  })
  assert.deepEqual(refused, [])
})

test('gates get no key that pays for a model, even when gate-env names it', () => {
  const { env, refused } = gateEnv(RUNNER, {
    extra: ['ANTHROPIC_API_KEY', 'NPM_TOKEN', 'OPENAI_API_KEY'],
    isModelKey,
  })
  assert.equal(env.NPM_TOKEN, 'npm_0123456789')
  assert.equal('ANTHROPIC_API_KEY' in env, false)
  assert.deepEqual(refused, ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'])
})

test('forbidden variables are refused by name, in any case, and by value', () => {
  const extra = [
    'GITHUB_TOKEN',
    'gh_token',
    'INPUT_PUBLISH-TOKEN',
    'ACTIONS_RUNTIME_TOKEN',
    'GITHUB_ENV',
    'SSH_AUTH_SOCK',
  ]
  for (const give of [
    gateEnv(RUNNER, { extra, isModelKey }),
    agentEnv(RUNNER, { extra, vendor: [], set: {} }),
  ]) {
    assert.deepEqual(give.refused, [...extra].sort())
  }
  const copy = { ...RUNNER, MINE: `x ${RUNNER.GITHUB_TOKEN}`, HOME: RUNNER.ACTIONS_RUNTIME_TOKEN }
  const { env, refused } = agentEnv(copy, { extra: ['MINE'], vendor: [], set: { ALSO: RUNNER.GH_TOKEN } })
  assert.deepEqual(refused, ['ALSO', 'MINE'])
  assert.equal('MINE' in env || 'ALSO' in env || 'HOME' in env, false)
})

test('no environment and no configuration passes on a forbidden variable or a job token', () => {
  const name = fc.oneof(
    fc.constantFrom(...Object.keys(RUNNER)),
    fc.string().map((text) => `INPUT_${text}`),
    fc.string().map((text) => `ACTIONS_${text}_TOKEN`),
    fc.string(),
  )
  const value = fc.oneof(fc.string(), fc.constant('the-token-0123456789'))
  const full = fc.dictionary(name, value).map((env) => ({ ...env, GITHUB_TOKEN: 'the-token-0123456789' }))
  fc.assert(
    fc.property(
      full,
      fc.array(name),
      fc.array(name),
      fc.dictionary(name, value),
      (env, extra, vendor, set) => {
        const agent = agentEnv(env, { extra, vendor, set })
        const gate = gateEnv(env, { extra, isModelKey })
        for (const given of [agent.env, gate.env]) {
          assert.ok(Object.values(given).every((text) => !text.includes('the-token-0123456789')))
          assert.ok(
            Object.keys(given).every((key) => !isForbidden(key) || (key.startsWith('GIT_') && key in set)),
          )
        }
        assert.ok(Object.keys(gate.env).every((key) => !isModelKey(key)))
        for (const wish of [...extra, ...vendor])
          if (isForbidden(wish)) assert.ok(agent.refused.includes(wish))
      },
    ),
  )
})

test('variables whose names say that they hold a key are secrets, and variables with similar names are not', () => {
  const secret = (name: string, value = 'value-of-it') => secretsIn({ [name]: value })
  for (const name of [
    ...[
      'STRIPE_KEY',
      'SIGNING_KEY',
      'SSH_KEYS',
      'SLACK_WEBHOOK',
      'SLACK_WEBHOOK_URL',
      'SENTRY_DSN',
      'DB_PASS',
    ],
    ...['NPM_AUTH', 'SESSION_COOKIE', 'MY_PAT', 'GPG_PASSPHRASE', 'AZURE_CONNECTION_STRING', 'PGPASSWORD'],
    ...[
      'OPENAI_API_KEY',
      'api_token',
      'PRIVATE_KEY_PEM',
      'AWS_SECRET_ACCESS_KEY',
      'GOOGLE_APPLICATION_CREDENTIALS',
    ],
  ])
    assert.deepEqual(secret(name), ['value-of-it'], name)
  for (const name of ['GIT_AUTHOR_NAME', 'COMPASS', 'XAUTHORITY', 'KEYBOARD', 'PATH', 'MONKEY', 'PATTERN'])
    assert.deepEqual(secret(name), [], name)
  assert.deepEqual(secret('DB_PASS', 'short'), [], 'too short')
})

test('an address with a password, and each header, are secret values', () => {
  const address = 'postgres://app:p%40ssword-1@db:5432/shop'
  assert.deepEqual(secretsIn({ DATABASE_URL: address }), [address, 'p%40ssword-1', 'p@ssword-1'])
  const local = 'postgres://postgres:postgres@localhost/test'
  assert.deepEqual(secretsIn({ DATABASE_URL: local }), [local], 'a word of every log stays readable')
  assert.deepEqual(secretsIn({ HOMEPAGE: 'https://example.com/a:b@c' }), [])
  const headers = 'x-team: shop\nAuthorization: Bearer abcdefgh-ijkl'
  assert.deepEqual(secretsIn({ ANTHROPIC_CUSTOM_HEADERS: headers }), [
    headers,
    'Bearer abcdefgh-ijkl',
    'abcdefgh-ijkl',
  ])
})

test('values of `name=value` headers, as OpenTelemetry has them, are secret values', () => {
  const headers = 'team=shop,api-key=0123456789,authorization=Bearer%20abcdefgh-ijkl,path=a:b'
  assert.deepEqual(secretsIn({ OTEL_EXPORTER_OTLP_HEADERS: headers }), [
    headers,
    '0123456789',
    'Bearer%20abcdefgh-ijkl',
    'Bearer abcdefgh-ijkl',
    'abcdefgh-ijkl',
  ])
})

test('the path of an address with a secret name is a secret value, and so are its long parts', () => {
  const token = 'aB3dE5gH7jK9mN1p'
  const address = `https://chat.example/hooks/team/${token}?sig=0123456789abcdef`
  assert.deepEqual(secretsIn({ TEAMS_WEBHOOK: address }), [
    address,
    `/hooks/team/${token}?sig=0123456789abcdef`,
    `/hooks/team/${token}`,
    token,
    '0123456789abcdef',
  ])
  assert.deepEqual(secretsIn({ HOOK_WEBHOOK_URL: 'https://chat.example/hook' }), [
    'https://chat.example/hook',
  ])
})
