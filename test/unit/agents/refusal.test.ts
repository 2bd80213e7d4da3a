// A key, an account or a model that a vendor refuses, in every shape that it is told in: a person has to act, nobody is
// charged. Beside the recordings (`loopback-400-*`), shapes from the vendors' own reports of such errors.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findAgent } from '../../../src/agents/registry.ts'
import type { Exit } from '../../../src/system/process.ts'

const FAILED: Exit = { kind: 'exit', code: 1 }
const KEY = 'API key not valid. Please pass a valid API key.'
const CREDIT = 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.'

type Told = { stdout?: readonly unknown[]; stderr?: readonly string[]; exit?: Exit }

function ended(name: string, { stdout = [], stderr = [], exit = FAILED }: Told) {
  const parser = findAgent(name)?.parser(() => 0)
  assert.ok(parser !== undefined)
  for (const line of stdout) parser.line('stdout', typeof line === 'string' ? line : JSON.stringify(line))
  for (const line of stderr) parser.line('stderr', line)
  return parser.end(exit)
}

const google = (message: string, status: string, reason?: string) => ({
  error: { code: 400, message, status, ...(reason === undefined ? {} : { details: [{ reason }] }) },
})
const gemini = (message: string): Told => ({
  stdout: [{ type: 'init' }, { type: 'result', status: 'error', error: { type: 'unknown', message } }],
  exit: { kind: 'exit', code: 144 },
})
const geminiSays = (body: unknown) => gemini(`[API Error: ${JSON.stringify(body)}]`)
const codex = (message: string): Told => ({
  stdout: [{ type: 'turn.started' }, { type: 'turn.failed', error: { message } }],
})
const opencode = (data: Record<string, unknown>, name = 'APIError'): Told => ({
  stdout: [{ type: 'error', timestamp: 0, error: { name, data } }],
})
const claude = (result: Record<string, unknown>): Told => ({
  stdout: [{ type: 'result', subtype: 'success', is_error: true, num_turns: 1, ...result }],
})
const copilot = (data: Record<string, unknown>, failure: Record<string, unknown> = {}): Told => ({
  stdout: [
    { type: 'model.call_failure', data: failure },
    { type: 'session.error', data },
    { type: 'result', exitCode: 1 },
  ],
})

const REFUSED: readonly [string, string, Told][] = [
  // Google's server, as gemini passes it on: as it came, with the body in a message, in words with the status behind.
  ['gemini', KEY, geminiSays(google(KEY, 'INVALID_ARGUMENT', 'API_KEY_INVALID'))],
  [
    'gemini',
    'Renew it',
    geminiSays({
      error: {
        message: JSON.stringify(google('Renew it', 'INVALID_ARGUMENT', 'API_KEY_INVALID'), null, 2),
        code: 400,
        status: 'Bad Request',
      },
    }),
  ],
  ['gemini', KEY, gemini(`[API Error: ${KEY} (Status: INVALID_ARGUMENT)]`)],
  ['gemini', 'Enable billing', gemini('[API Error: Enable billing (Status: FAILED_PRECONDITION)]')],
  ['gemini', 'No access', geminiSays(google('No access', 'PERMISSION_DENIED'))],
  ['gemini', 'IneligibleTierError', { stderr: ['Error authenticating: IneligibleTierError: no'] }],
  ['codex', CREDIT, codex(JSON.stringify({ error: { type: 'invalid_request_error', message: CREDIT } }))],
  [
    'codex',
    'not supported when using Codex',
    codex(
      'unexpected status 400 Bad Request: {"detail":"The \'m\' model is not supported when using Codex with a ChatGPT account."}',
    ),
  ],
  [
    'codex',
    'not supported when using Codex',
    codex(
      '{"type":"error","status":400,"error":{"type":"invalid_request_error","message":"The \'m\' model is not supported when using Codex with a ChatGPT account."}}',
    ),
  ],
  [
    'codex',
    'Hard limit',
    codex('{"error":{"code":"billing_hard_limit_reached","message":"Hard limit reached"}}'),
  ],
  ['codex', 'does not exist', codex("The requested model 'm' does not exist.")],
  [
    'opencode',
    'credit balance is too low',
    opencode({
      message: CREDIT,
      statusCode: 400,
      isRetryable: false,
      responseBody: JSON.stringify({
        type: 'error',
        error: { type: 'invalid_request_error', message: CREDIT },
      }),
    }),
  ],
  ['opencode', 'Insufficient Balance', opencode({ message: 'Insufficient Balance', statusCode: 402 })],
  [
    'opencode',
    'decommissioned',
    opencode({
      message: 'It is decommissioned',
      statusCode: 400,
      responseBody: '{"error":{"message":"It is decommissioned","code":"model_decommissioned"}}',
    }),
  ],
  [
    'opencode',
    'Incorrect API key',
    opencode({
      message: 'Bad Request',
      statusCode: 400,
      responseBody: '{"code":"An invalid argument","error":"Incorrect API key provided: no."}',
    }),
  ],
  ['opencode', 'no key', opencode({ providerID: 'x', message: 'no key' }, 'ProviderAuthError')],
  ['claude', 'Credit balance', claude({ api_error_status: 400, result: 'Credit balance is too low' })],
  [
    'claude',
    'organization has been disabled',
    claude({ api_error_status: 400, result: 'API Error: 400 This organization has been disabled.' }),
  ],
  [
    'claude',
    'API usage limits',
    claude({
      result:
        'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-12-01."}}',
    }),
  ],
  ['copilot', 'no quota', copilot({ errorType: 'quota', message: 'You have no quota', statusCode: 402 })],
  ['copilot', 'No seat', copilot({ errorType: 'authorization', message: 'No seat' })],
  [
    'copilot',
    'Use another',
    copilot(
      { errorType: 'query', message: '400 Use another', statusCode: 400 },
      { errorCode: 'model_not_supported' },
    ),
  ],
  ['copilot', 'No authentication', { stderr: ['Error: No authentication information found.', '', 'Run x'] }],
  ['copilot', 'policy settings', { stderr: ['Error: Access denied by policy settings (Request ID: 1)'] }],
  ['copilot', 'not available', { stderr: ['Error: Model "m" from --model flag is not available.'] }],
  ['amp', 'No API key', { stdout: ['No API key found. Starting login flow...'], exit: { kind: 'idle' } }],
  ['amp', 'Invalid or missing', { stderr: ['Error: Invalid or missing API key. Run `amp login`.'] }],
  ['amp', '401', { stderr: ['Error: API request for getUserInfo failed: 401'] }],
  [
    'amp',
    '402',
    {
      stdout: [{ type: 'result', subtype: 'error_during_execution', is_error: true, error: '402 No credit' }],
    },
  ],
  [
    'cursor',
    'Authentication required',
    {
      stderr: ["Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY."],
      exit: { kind: 'exit', code: 0 },
    },
  ],
  ['cursor', 'key is invalid', { stderr: ['⚠ Warning: The provided API key is invalid.'] }],
  ['cursor', 'Cannot use this model', { stderr: ['Cannot use this model: m. Available models: auto'] }],
  ['cursor', 'unauthenticated', { stderr: ['Error: ConnectError: [unauthenticated] Error'] }],
]

for (const [name, words, told] of REFUSED) {
  test(`${name} is refused, with the vendor's message: ${words}`, () => {
    const { status, message, resetsAt } = ended(name, told)
    assert.equal(status, 'auth', message)
    assert.ok(message.includes(words), message)
    assert.match(message, /^the vendor refuses the key, the account or the model: /)
    assert.equal(resetsAt, null)
  })
}

test("a refusal in the recordings is reported with the server's message, not as JSON", () => {
  const folder = join(import.meta.dirname, '../../fixtures/agents')
  for (const name of ['claude', 'codex', 'copilot', 'gemini', 'opencode']) {
    const files = readdirSync(join(folder, name)).filter((file) => /^loopback-400-.*\.stdout$/.test(file))
    assert.equal(files.length, 3)
    for (const file of files) {
      const stdout = readFileSync(join(folder, name, file), 'utf8').split('\n')
      const { message } = ended(name, { stdout, exit: { kind: 'exit', code: name === 'gemini' ? 144 : 1 } })
      assert.doesNotMatch(message, /[{}]/, `${name} ${file}`)
      assert.match(message, /API key not valid|[Cc]redit balance is too low|does not exist/)
    }
  }
})

const STILL: readonly [string, string, Told][] = [
  ['gemini', 'failed', geminiSays(google('Unknown name "x"', 'INVALID_ARGUMENT'))],
  ['gemini', 'limit', geminiSays(google('Later', 'RESOURCE_EXHAUSTED'))],
  ['codex', 'failed', codex('{"error":{"code":"invalid_prompt","message":"flagged"}}')],
  ['codex', 'failed', codex(`the file says: ${CREDIT}`)],
  ['codex', 'limit', codex('unexpected status 429 Too Many Requests: {"detail":"Later"}')],
  ['opencode', 'failed', opencode({ message: 'tools.0: wrong', statusCode: 400 })],
  ['opencode', 'overloaded', opencode({ message: 'x', isRetryable: true })],
  ['opencode', 'failed', opencode({ message: CREDIT }, 'UnknownError')],
  ['claude', 'failed', claude({ api_error_status: 400, result: 'API Error: 400 messages: wrong' })],
  ['copilot', 'failed', copilot({ errorType: 'query', message: '400 wrong', statusCode: 400 })],
  ['copilot', 'limit', copilot({ errorType: 'rate_limit', message: 'Later' })],
  // The agent at work may say anything.
  [
    'cursor',
    'crashed',
    { stdout: [{ type: 'system', subtype: 'init' }], stderr: ['Cannot use this model: it is a test'] },
  ],
  ['amp', 'crashed', { stdout: [{ type: 'system' }, 'No API key found. Starting login flow...'] }],
  ['amp', 'aborted', { stdout: ['No API key found. Starting login flow...'], exit: { kind: 'aborted' } }],
]

for (const [name, status, told] of STILL) {
  test(`${name}: ${JSON.stringify(told).slice(0, 90)} has the status ${status}`, () => {
    assert.equal(ended(name, told).status, status)
  })
}

test('an opencode that hangs after an error ends with the status of that error', () => {
  const told = opencode({ message: CREDIT, statusCode: 400, isRetryable: false })
  assert.equal(ended('opencode', { ...told, exit: { kind: 'idle' } }).status, 'auth')
  assert.equal(ended('opencode', { ...told, exit: { kind: 'aborted' } }).status, 'aborted')
})
