// Command lines and what else is told apart by vendor, beyond the recordings.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentVariables, type CommandOptions, words } from '../../../src/agents/agent.ts'
import { agentNames, findAgent, isModelKey } from '../../../src/agents/registry.ts'
import { isForbidden } from '../../../src/isolation/untrusted-env.ts'
import type { Exit } from '../../../src/system/process.ts'

const options: CommandOptions = { env: {}, extraArgs: [], isRoot: false }

function vendor(name: string) {
  const found = findAgent(name)
  assert.ok(found, name)
  return found
}

function session(name: string, lines: readonly unknown[], exit: Exit, stderr: readonly string[] = []) {
  const parser = vendor(name).parser(() => 0)
  for (const line of lines) parser.line('stdout', JSON.stringify(line))
  for (const line of stderr) parser.line('stderr', line)
  return parser.end(exit)
}

const FAILED: Exit = { kind: 'exit', code: 1 }

test('the registry has exactly the supported agents', () => {
  const wanted = words('claude codex amp opencode gemini copilot cursor qwen droid custom')
  assert.deepEqual([...agentNames].sort(), wanted.sort())
  assert.equal(findAgent('nobody'), null)
})

test('every vendor passes extra arguments on, and no vendor asks for a variable of the job', () => {
  for (const name of agentNames) {
    const { install } = vendor(name)
    const args = vendor(name).args({ ...options, extraArgs: ['--extra', 'a b'], commandLine: 'x' })
    assert.ok(args.join('\n').includes('--extra\na b'), name)
    assert.ok(install.length > 5, name)
    for (const variable of agentVariables(vendor(name))) {
      assert.equal(isForbidden(variable), false, variable)
      if (
        /KEY|TOKEN|SECRET/.test(variable) &&
        variable !== 'MAX_THINKING_TOKENS' &&
        !variable.endsWith('OUTPUT_TOKENS')
      ) {
        assert.equal(isModelKey(variable), true, `${variable} is missing from the model keys`)
      }
    }
  }
})

test("no vendor's variables point to settings or tools in a folder that sessions write", () => {
  for (const name of agentNames) {
    const { withheld: unread = [], home } = vendor(name)
    const given = agentVariables(vendor(name))
    assert.deepEqual(
      unread.filter((variable) => given.includes(variable)),
      [],
    )
    // What names the folder of its home leads to the session's own.
    const places = given.filter((variable) => /(_CONFIG|_DIR|_HOME|_FILE|_PATH|_TOOLBOX)$/.test(variable))
    assert.deepEqual(places, home?.folderVariable === undefined ? [] : [home.folderVariable[0]])
  }
})

test('claude: stream-json needs --verbose, and root needs IS_SANDBOX', () => {
  assert.deepEqual(vendor('claude').args({ ...options, model: 'opus' }), [
    '-p',
    '--dangerously-skip-permissions',
    '--output-format',
    'stream-json',
    '--verbose',
    '--exclude-dynamic-system-prompt-sections',
    '--model',
    'opus',
  ])
  assert.equal(vendor('claude').variables?.(options).IS_SANDBOX, undefined)
  assert.equal(vendor('claude').variables?.({ ...options, isRoot: true }).IS_SANDBOX, '1')
})

test('claude stops by itself at the cost that Ralph reserved, unless agent-args names another', () => {
  const limit = (costUsd: number | null, ...extraArgs: string[]) => {
    const args = vendor('claude').args({ ...options, extraArgs, budget: { costUsd, tokens: null } })
    return args.flatMap((one, at) => (one === '--max-budget-usd' ? [args[at + 1]] : []))
  }
  assert.deepEqual(limit(1.23456), ['1.2346'])
  assert.deepEqual(limit(null), [])
  assert.deepEqual(limit(0), [])
  assert.deepEqual(limit(3, '--max-budget-usd', '1'), ['1'])
})

test('claude keeps what differs between sessions out of its system prompt, unless agent-args says otherwise', () => {
  const count = (...extraArgs: string[]) =>
    vendor('claude')
      .args({ ...options, extraArgs })
      .filter((one) => one === '--exclude-dynamic-system-prompt-sections').length
  assert.equal(count(), 1)
  assert.equal(count('--exclude-dynamic-system-prompt-sections'), 1)
  assert.equal(count('--system-prompt', 'Be brief.'), 0)
  assert.equal(count('--append-system-prompt', 'Be brief.'), 1)
})

test('copilot stops by itself at the cost that Ralph reserved, in credits of a cent, at least 30', () => {
  const limit = (costUsd: number | null, ...extraArgs: string[]) => {
    const args = vendor('copilot').args({ ...options, extraArgs, budget: { costUsd, tokens: null } })
    return args.flatMap((one, at) => (one === '--max-ai-credits' ? [args[at + 1]] : []))
  }
  assert.deepEqual(limit(1.234), ['124'])
  assert.deepEqual(limit(0.01), ['30'])
  assert.deepEqual(limit(null), [])
  assert.deepEqual(limit(0), [])
  assert.deepEqual(limit(3, '--max-ai-credits', '50'), ['50'])
})

test('qwen ends by itself a minute after Ralph would, and a login that agent-args names is kept', () => {
  const args = vendor('qwen')
    .args({ ...options, timeoutMs: 600_000 })
    .join(' ')
  assert.match(args, /--auth-type openai --max-wall-time 660s/)
  const other = vendor('qwen')
    .args({ ...options, extraArgs: ['--auth-type', 'anthropic'] })
    .join(' ')
  assert.doesNotMatch(other, /openai|max-wall-time/)
})

test("copilot's own servers are off, unless agent-args says otherwise", () => {
  const has = (name: string, own: string, ...extraArgs: string[]) =>
    vendor(name)
      .args({ ...options, extraArgs })
      .filter((one) => one === own).length
  assert.equal(has('copilot', '--disable-builtin-mcps'), 1)
  assert.equal(has('copilot', '--disable-builtin-mcps', '--disable-builtin-mcps'), 1)
  for (const more of ['--add-github-mcp-toolset=all', '--enable-all-github-mcp-tools'])
    assert.equal(has('copilot', '--disable-builtin-mcps', more), 0, more)
})

test("claude gets none of its account's connectors, unless agent-env names the variable", () => {
  const name = 'ENABLE_CLAUDEAI_MCP_SERVERS'
  const given = (env: Record<string, string>) => vendor('claude').variables?.({ ...options, env })[name]
  assert.deepEqual([given({}), given({ [name]: 'true' })], ['false', 'true'])
})

test('codex: the prompt argument is a dash, and the key has the name that exec reads', () => {
  const codex = vendor('codex')
  const args = codex.args({ ...options, model: 'm' })
  assert.equal(args.at(-1), '-')
  assert.ok(args.join(' ').includes('-m m'))
  assert.deepEqual(codex.variables?.({ ...options, env: { OPENAI_API_KEY: 'k' } }), { CODEX_API_KEY: 'k' })
  const both = { OPENAI_API_KEY: 'k', CODEX_API_KEY: 'own' }
  assert.deepEqual(codex.variables?.({ ...options, env: both }), {})
})

test("opencode: the user's configuration is kept, with the permissions added", () => {
  const given = JSON.stringify({ provider: { x: {} }, permission: { webfetch: 'deny', bash: 'ask' } })
  const configured = (OPENCODE_CONFIG_CONTENT: string) => {
    const set = vendor('opencode').variables?.({ ...options, env: { OPENCODE_CONFIG_CONTENT } })
    return JSON.parse(set?.OPENCODE_CONFIG_CONTENT ?? '')
  }
  const content = configured(given)
  assert.deepEqual(content.provider, { x: {} })
  assert.deepEqual(content.permission, { edit: 'allow', bash: 'ask', webfetch: 'deny' })
  assert.deepEqual(configured('rubbish').permission, {
    edit: 'allow',
    bash: 'allow',
  })
})

test('codex: only messages of the program itself count as errors, at their start, in turn.failed', () => {
  const failed = (message: string) =>
    session('codex', [{ type: 'turn.started' }, { type: 'turn.failed', error: { message } }], FAILED).status
  assert.equal(failed('unexpected status 401 Unauthorized: x, url: y'), 'auth')
  assert.equal(failed('exceeded retry limit, last status: 429 Too Many Requests'), 'limit')
  assert.equal(failed('Quota exceeded. Check your plan and billing details.'), 'auth')
  assert.equal(failed('the file says: Quota exceeded. Check your plan and billing details.'), 'failed')
  assert.equal(failed('the file says: unexpected status 401'), 'failed')
  assert.equal(failed('{"error":{"code":"context_length_exceeded"}}'), 'context')
  assert.equal(failed('{"error":{"code":"insufficient_quota"}}'), 'auth')
  assert.equal(failed('{"error":{"code":"rate_limit_exceeded"}}'), 'limit')
  assert.equal(failed(''), 'failed')
  const spoken = [
    { type: 'turn.started' },
    {
      type: 'item.completed',
      item: { type: 'agent_message', text: 'exceeded retry limit, last status: 429' },
    },
    { type: 'item.completed', item: { type: 'error', message: 'unexpected status 401' } },
    { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: -5 } },
  ]
  const end = session('codex', spoken, { kind: 'exit', code: 0 })
  assert.equal(end.status, 'finished')
  assert.equal(end.usage.outputTokens, 0)
  assert.equal(session('codex', spoken, FAILED).status, 'crashed')
  assert.equal(session('codex', spoken.slice(0, -1), { kind: 'exit', code: 0 }).status, 'failed')
})

test('opencode: an answer cut off by length fails, a retried error does not, and a model without a price has no cost', () => {
  const finish = (reason: string, cost = 0) => ({
    type: 'step_finish',
    part: { reason, cost, tokens: { input: 10, output: 1, cache: { read: 5, write: 0 } } },
  })
  const error = { type: 'error', timestamp: 1000, error: { name: 'APIError', data: { statusCode: 429 } } }
  const well: Exit = { kind: 'exit', code: 0 }
  assert.equal(session('opencode', [{ type: 'step_start' }, finish('length')], well).status, 'failed')
  assert.equal(session('opencode', [error, { type: 'step_start' }, finish('stop')], well).status, 'finished')
  assert.equal(session('opencode', [{ type: 'step_start' }, finish('stop'), error], well).status, 'limit')
  assert.equal(session('opencode', [{ type: 'step_start' }, finish('stop')], well).usage.costUsd, null)
  assert.equal(session('opencode', [{ type: 'step_start' }, finish('stop', 0.5)], well).usage.costUsd, 0.5)
})

test('opencode: retried requests are read from its error log only', () => {
  const log = (more: string) => `timestamp=2026-11-21T09:19:19.673Z level=ERROR run=441f8025 ${more}`
  const failing = log(
    'message="stream error" providerID=x modelID=y session.id=ses_1 small=false agent=build mode=primary error.error="AI_APICallError: no"',
  )
  const idle: Exit = { kind: 'idle' }
  assert.equal(session('opencode', [], idle, [failing]).status, 'overloaded')
  assert.equal(session('opencode', [], idle, [failing.replace('small=false', 'small=true')]).status, 'idle')
  assert.equal(session('opencode', [], idle, [log('message="some other error"')]).status, 'idle')
  assert.equal(session('opencode', [], idle, [`the log says: ${failing}`]).status, 'idle')
  assert.equal(session('opencode', [{ type: 'text', part: { text: failing } }], idle).status, 'idle')
  const parser = vendor('opencode').parser(() => 0)
  assert.deepEqual(parser.line('stderr', failing), [{ kind: 'retry', status: null, attempt: 1 }])
  parser.line('stdout', JSON.stringify({ type: 'step_start' }))
  assert.equal(parser.end(idle).status, 'idle', 'it was got over')
})

test('codex: the reset time of a usage limit is read from its sentence, of today or with a date', () => {
  const now = new Date(2026, 10, 21, 10, 30).getTime()
  const reset = (sentence: string) => {
    const parser = vendor('codex').parser(() => now)
    parser.line('stdout', JSON.stringify({ type: 'turn.failed', error: { message: sentence } }))
    return parser.end(FAILED).resetsAt
  }
  const limit = 'You’ve hit your usage limit.'
  assert.equal(reset(`${limit} Try again at 11:17 AM.`), new Date(2026, 10, 21, 11, 18).getTime())
  assert.equal(reset(`${limit} Visit x or try again at 12:59 PM.`), new Date(2026, 10, 21, 13, 0).getTime())
  assert.equal(reset(`${limit} Try again at 12:05 AM.`), new Date(2026, 10, 21, 0, 6).getTime())
  assert.equal(reset(`${limit} Try again at Jan 3rd, 2027 1:05 PM.`), new Date(2027, 0, 3, 13, 6).getTime())
  for (const none of [
    'Try again later.',
    'Try again at Xyz 3rd, 2027 1:05 PM.',
    'Try again at 11:17 AM. Or not.',
  ]) {
    assert.equal(reset(`${limit} ${none}`), null, none)
  }
  assert.equal(reset(`The file says: ${limit} Try again at 11:17 AM.`), null)
})

test('gemini: its own exit codes and HTTP statuses mod 256 are recognised', () => {
  const coded = (code: number) => session('gemini', [], { kind: 'exit', code }).status
  assert.equal(coded(41), 'auth')
  assert.equal(coded(53), 'max-turns')
  assert.equal(coded(55), 'refused-permission')
  assert.equal(coded(145), 'auth')
  assert.equal(coded(173), 'limit')
  assert.equal(coded(244), 'overloaded')
  assert.equal(coded(17), 'overloaded')
  assert.equal(coded(42), 'crashed')
  assert.equal(coded(2), 'crashed')
})

test('gemini: retries count only as lines of their own on stderr', () => {
  const timedOut: Exit = { kind: 'timeout' }
  const line = 'Attempt 3 failed with status 429. Retrying with backoff... _ApiError'
  assert.equal(session('gemini', [], timedOut, [line]).status, 'limit')
  assert.equal(session('gemini', [], timedOut, [`the log says: ${line}`]).status, 'timeout')
  assert.equal(
    session('gemini', [{ type: 'message', role: 'assistant', content: line }], timedOut).status,
    'timeout',
  )
})

test('copilot: its echoed prompt is no answer, and a denied tool is fatal only if nothing else was done', () => {
  const marker = '<ralph>DONE</ralph>'
  const end = { type: 'result', exitCode: 0 }
  const well: Exit = { kind: 'exit', code: 0 }
  assert.equal(
    session('copilot', [{ type: 'user.message', data: { content: marker } }, end], well).finalText,
    '',
  )
  const denied = { type: 'tool.execution_complete', data: { success: false, error: { code: 'denied' } } }
  const worked = { type: 'tool.execution_complete', data: { success: true, fileEdits: [{ path: 'x' }] } }
  assert.equal(session('copilot', [denied, end], well).status, 'refused-permission')
  assert.equal(session('copilot', [denied, worked, end], well).status, 'finished')
  assert.equal(session('copilot', [{ type: 'result', exitCode: 1 }], well).status, 'failed')
})

test('an option that the program does not know ends the run before anything is charged, but not after it has begun', () => {
  // As claude 2.1.329, codex 0.169.0, gemini 0.61.0 and qwen 0.24.4 print it.
  const lines = [
    ['claude', "error: unknown option '--no-such-option'", 1],
    ['codex', "error: unexpected argument '--no-such-option' found", 2],
    ['gemini', 'Unknown arguments: such-option, suchOption', 1],
    ['qwen', 'Unknown arguments: such-option, suchOption', 1],
  ] as const
  for (const [name, line, code] of lines) {
    const end = (begun: boolean, exit: number) => {
      const parser = vendor(name).parser(() => 0)
      if (begun) parser.line('stdout', '{"type":"system","subtype":"init"}')
      parser.line('stderr', line)
      parser.line('stderr', 'For more information, try --help.')
      return parser.end({ kind: 'exit', code: exit })
    }
    const { status, message } = end(false, code)
    assert.equal(status, 'not-started', name)
    assert.match(
      message,
      /does not know the option -*(?:no-)?such-option: update the agent, or correct agent-args$/,
      name,
    )
    assert.notEqual(end(true, code).status, 'not-started', `${name} has begun`)
    assert.notEqual(end(false, 0).status, 'not-started', `${name} ended well`)
  }
})
