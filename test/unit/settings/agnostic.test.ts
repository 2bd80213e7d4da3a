// Seed 4's ralph.config.json is read as it is, with notes of what means something else here.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` is what the settings replace.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, onlyWrong, paths, right, wrong, yml } from './reading.ts'

const seed4 = {
  maxRetries: 4,
  provider: { command: 'amp', args: ['--dangerously-allow-all'], timeout: 1800 },
  services: [
    {
      name: 'dev',
      start: 'bun run dev',
      ready: 'http://localhost:3000',
      readyTimeout: 30,
      restartBeforeVerify: true,
    },
  ],
  verify: { default: ['bun run typecheck', 'bun run lint', 'bun run test:unit'], ui: ['bun run test:e2e'] },
  browser: { enabled: true, executablePath: '', headless: true, screenshotDir: '.ralph/screenshots' },
  commits: { prdChanges: true, message: 'chore: update prd.json' },
}

test("agnostic CLI's configuration: its own example is read", () => {
  const { settings, notes } = right(json(seed4))
  assert.equal(settings.agent, 'amp')
  assert.deepEqual(settings.agentArgs, ['--dangerously-allow-all'])
  assert.equal(settings.agentCommand, null)
  assert.equal(settings.iterationTimeoutMs, 1_800_000)
  assert.equal(settings.maxAttempts, 4)
  assert.deepEqual(
    settings.gates.map(({ name, run, when }) => [name, run, when]),
    [
      ['bun-run-typecheck', 'bun run typecheck', null],
      ['bun-run-lint', 'bun run lint', null],
      ['bun-run-test-unit', 'bun run test:unit', null],
      ['bun-run-test-e2e', 'bun run test:e2e', ['ui']],
    ],
  )
  // The pages are looked at before verify.ui, and the exact text of its own commits is kept.
  assert.deepEqual(
    settings.gates.map(({ behindPages }) => behindPages === true),
    [false, false, false, true],
  )
  assert.equal(settings.commits.message, 'chore: update prd.json')
  assert.deepEqual(settings.services, [
    {
      name: 'dev',
      start: 'bun run dev',
      ready: { kind: 'url', url: 'http://localhost:3000' },
      readyTimeoutMs: 30_000,
      restartBeforeVerify: true,
      when: null,
      inherit: [],
      environment: {},
      logs: [],
    },
  ])
  assert.deepEqual(settings.browser, {
    enabled: true,
    tags: ['ui'],
    baseUrl: null,
    urls: [],
    viewports: ['1280x800'],
    accessibility: false,
    timeout: 15_000,
    executablePath: null,
    headless: true,
    screenshotDir: '.ralph/screenshots',
  })
  assert.deepEqual(
    notes.map((note) => note.split(': ')[1]),
    [
      'maxRetries',
      'provider',
      'verify',
      'a run ends after 50 iterations; maxIterations',
      'browser.screenshotDir',
    ],
  )
})

test("agnostic CLI's configuration: another command is a custom agent, quoted for bash", () => {
  const command = (provider: object) => right(json({ provider })).settings.agentCommand
  assert.equal(
    command({ command: './agent.sh', args: ['--x', "it's", 'a b', '$HOME'] }),
    `./agent.sh --x 'it'\\''s' 'a b' '$HOME'`,
  )
  assert.equal(command({ command: '/my tools/agent' }), "'/my tools/agent'")
  assert.equal(command({ command: 'node agent.mjs' }), 'node agent.mjs')
  assert.equal(right(json({ provider: { command: './a' } })).settings.agent, 'custom')
  assert.equal(right(json({ provider: { command: 'cursor-agent' } })).settings.agent, 'cursor')
  assert.equal(right(json({ provider: { command: 'custom' } })).settings.agentCommand, 'custom')
})

test("agnostic CLI's configuration: gate names are readable, unique and without possible secrets", () => {
  const verify = {
    default: [
      'npm test',
      'npm test -- --all',
      'cargo test',
      'CI=1 make lint',
      './scripts/check.sh -x',
      '!',
      '"',
      'go vet ./...',
      'NPM test',
    ],
    ui: ['npx playwright test', 'npm test', 'API_KEY=sk_live-1234567890 ./e2e --token=sk_live-1234567890'],
  }
  assert.deepEqual(
    right(json({ verify })).settings.gates.map((gate) => gate.name),
    // `NPM-test` is taken for `npm-test`: logs are files, and some file systems see no case.
    [
      'npm-test',
      'npm-test-2',
      'cargo-test',
      'make-lint',
      'scripts-check-sh',
      'default',
      'default-2',
      'go-vet',
      'NPM-test-3',
      'npx-playwright-test',
      'npm-test-4',
      'e2e',
    ],
  )
})

test("agnostic CLI's configuration: timeout is in seconds", () => {
  assert.equal(right(json({ provider: { command: 'amp', timeout: 90 } })).settings.iterationTimeoutMs, 90_000)
  assert.equal(
    right(json({ provider: { command: 'amp', timeout: '5m' } })).settings.iterationTimeoutMs,
    300_000,
  )
})

test("agnostic CLI's configuration: an input takes precedence", () => {
  const { settings } = right({
    inputs: { agent: 'codex', gates: 'a: b', 'max-attempts': '2' },
    ...json(seed4),
  })
  assert.equal(settings.agent, 'codex')
  assert.equal(settings.gates.length, 1)
  assert.equal(settings.maxAttempts, 2)
})

test("agnostic CLI's configuration: the older form beside the newer one", () => {
  const value = { ...seed4, agent: 'claude', gates: { a: 'b' }, maxAttempts: 2 }
  assert.deepEqual(paths(wrong(json(value))), [
    'ralph.config.json: maxRetries',
    'ralph.config.json: provider',
    'ralph.config.json: verify',
  ])
})

test("agnostic CLI's configuration: mistakes have its own paths", () => {
  const value = {
    maxRetries: 0,
    provider: { args: 'x', timeout: '30', comand: 1 },
    verify: { default: [''], uii: [] },
    services: [{ start: 'x', ready: 'localhost', readyTimeout: 0 }],
  }
  assert.deepEqual(paths(wrong(json(value))), [
    'ralph.config.json: maxRetries',
    'ralph.config.json: provider.args',
    'ralph.config.json: provider.comand',
    'ralph.config.json: provider.command',
    'ralph.config.json: provider.timeout',
    'ralph.config.json: services[0].name',
    'ralph.config.json: services[0].ready',
    'ralph.config.json: services[0].readyTimeout',
    'ralph.config.json: verify.default[0]',
    'ralph.config.json: verify.uii',
  ])
})

test("agnostic CLI's configuration: maxIterations removes the note about the end, and null keys are ignored", () => {
  assert.deepEqual(right(yml('maxIterations: 0\nverify: { default: [npm test] }')).notes.length, 1)
  assert.deepEqual(
    right(yml('verify:\nprovider:\nmaxIterations: 3')).settings,
    right(yml('maxIterations: 3')).settings,
  )
})

test("agnostic CLI's configuration: variables are replaced once", () => {
  const once = { env: { A: '${B}', B: 'x' }, ...json({ verify: { default: ['run ${A}'] } }) }
  assert.equal(right(once).settings.gates[0]?.run, 'run ${B}')
  const env = { BIN: 'my agent' }
  assert.equal(
    right({ env, ...json({ provider: { command: '/x/${BIN}' } }) }).settings.agentCommand,
    "'/x/my agent'",
  )
  assert.equal(
    onlyWrong(json({ verify: { default: ['${NONE}'] } })).path,
    'ralph.config.json: verify.default[0]',
  )
})
