// Claude Code's stream: what recordings do not show, and that echoed words change nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findAgent } from '../../../src/agents/registry.ts'
import type { Exit } from '../../../src/system/process.ts'
import { anyText, runs } from '../runs.ts'

const WELL: Exit = { kind: 'exit', code: 0 }

function session(lines: readonly unknown[], exit: Exit = WELL, name = 'claude') {
  const parser = findAgent(name)?.parser(() => 0)
  assert.ok(parser)
  const events = lines.flatMap((line) =>
    parser.line('stdout', typeof line === 'string' ? line : JSON.stringify(line)),
  )
  return { ...parser.end(exit), events }
}

const init = { type: 'system', subtype: 'init', permissionMode: 'bypassPermissions' }
const result = (more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'ok',
  ...more,
})
const says = (text: string, more: object = {}) => ({
  type: 'assistant',
  message: { id: text, content: [{ type: 'text', text }], stop_reason: null },
  parent_tool_use_id: null,
  ...more,
})

test('stream-json: the last result counts, costs are cumulative, turns are summed', () => {
  const end = session([
    init,
    result({ result: 'first', total_cost_usd: 0.1, num_turns: 2 }),
    init,
    says('later'),
    result({ result: 'second', total_cost_usd: 0.3, num_turns: 1 }),
  ])
  assert.equal(end.status, 'finished')
  assert.equal(end.finalText, 'second')
  assert.equal(end.usage.costUsd, 0.3)
  assert.equal(end.usage.turns, 3)
})

test('stream-json: a turn that starts after the result and does not end is a failure', () => {
  assert.equal(session([init, result(), init, says('more')]).status, 'failed')
  assert.equal(session([init, result(), init], { kind: 'timeout' }).status, 'timeout')
})

test('stream-json: a time-out after the result ends background tasks only', () => {
  assert.equal(session([init, result()], { kind: 'idle' }).status, 'finished')
  assert.equal(session([init, result({ is_error: true })], { kind: 'idle' }).status, 'failed')
  assert.equal(session([init, result()], { kind: 'aborted' }).status, 'aborted')
})

test('stream-json: an exit code or signal overrides a good result, and a missing result overrides exit code 0', () => {
  assert.equal(session([init, result()], { kind: 'exit', code: 1 }).status, 'crashed')
  assert.equal(session([init, result()], { kind: 'signal', signal: 'SIGKILL' }).status, 'killed')
  assert.equal(session([init, says('<ralph>DONE</ralph>')]).status, 'failed')
  assert.equal(session([]).status, 'failed')
})

test('stream-json: key order does not matter, and junk between lines is ignored', () => {
  const line = '{"result":"ok","is_error":false,"num_turns":1,"subtype":"success","type":"result"}'
  assert.equal(session(['Warning: x', '', '[]', 'null', '{"type":', '{"type":5}', line]).status, 'finished')
})

test('stream-json: permission denials are failures unless permissions are skipped', () => {
  const denied = result({
    permission_denials: [{ tool_name: 'Write' }, { tool_name: 'Write' }, { tool_name: 'Bash' }],
  })
  assert.equal(session([{ ...init, permissionMode: 'default' }, denied]).status, 'refused-permission')
  assert.match(session([{ ...init, permissionMode: 'default' }, denied]).message, /use Write, Bash$/)
  assert.equal(session([denied]).status, 'refused-permission')
  assert.equal(session([init, denied]).status, 'finished')
  assert.match(session([init, denied]).message, /some tool uses were denied/)
})

test('stream-json: server statuses map to session statuses', () => {
  const failed = (api_error_status: number | null, error?: string) =>
    session([init, says('API Error', { error }), result({ is_error: true, api_error_status })]).status
  assert.equal(failed(401), 'auth')
  assert.equal(failed(403), 'auth')
  assert.equal(failed(404), 'auth')
  assert.equal(failed(429), 'limit')
  assert.equal(failed(503), 'overloaded')
  assert.equal(failed(529), 'overloaded')
  assert.equal(failed(400), 'failed')
  assert.equal(failed(400, 'billing_error'), 'auth')
  assert.equal(failed(null, 'rate_limit'), 'limit')
  assert.equal(failed(null, 'authentication_failed'), 'auth')
  assert.equal(failed(null), 'failed')
  const got = [
    init,
    says('x', { error: 'rate_limit' }),
    says('y'),
    result({ subtype: 'error_during_execution' }),
  ]
  assert.equal(session(got).status, 'failed', 'an error that was got over is not the reason')
})

test('stream-json: a warning about a limit, or a limit that has passed, does not end the session', () => {
  const warned = { type: 'rate_limit_event', rate_limit_info: { status: 'allowed_warning', resetsAt: 1 } }
  const rejected = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 1795239134 } }
  const end = session([init, warned, rejected, says('x'), result()])
  assert.equal(end.status, 'finished')
  assert.equal(end.resetsAt, null)
  assert.deepEqual(
    end.events.filter((event) => event.kind === 'limit'),
    [{ kind: 'limit', resetsAt: 1_795_239_134_000 }],
  )
  const never = { ...rejected, rate_limit_info: { status: 'rejected', resetsAt: 1e13 } }
  const odd = session([init, never]).events.filter((event) => event.kind === 'limit')
  assert.deepEqual(odd, [{ kind: 'limit', resetsAt: null }], 'no date is that late')
})

test('stream-json: an error after a rejected request is the limit, also without a 429', () => {
  const rejected = (info: object) => ({
    type: 'rate_limit_event',
    rate_limit_info: { status: 'rejected', ...info },
  })
  const failed = result({ is_error: true, subtype: 'success', result: 'Something went wrong' })
  const at = { resetsAt: 1795239134 }
  const ends = (...events: object[]) => {
    const { status, resetsAt } = session([init, ...events])
    return [status, resetsAt]
  }
  assert.deepEqual(ends(rejected(at), says('x'), failed), ['limit', 1_795_239_134_000])
  assert.deepEqual(ends(rejected({ overageStatus: 'rejected', overageResetsAt: 1795239200 }), failed), [
    'limit',
    1_795_239_200_000,
  ])
  assert.deepEqual(ends(rejected({ ...at, overageResetsAt: 1795239200 }), failed), [
    'limit',
    1_795_239_134_000,
  ])
  assert.equal(ends(rejected(at), says('x'))[0], 'limit', 'the program ended without a result')
  const allowed = { type: 'rate_limit_event', rate_limit_info: { status: 'allowed' } }
  assert.equal(ends(rejected(at), allowed, failed)[0], 'failed')
  const used = { type: 'user', message: { content: [{ type: 'tool_result', content: 'x' }] } }
  assert.equal(ends(rejected(at), used, failed)[0], 'failed', 'the agent went on, on extra usage')
  for (const text of [
    "You're out of extra usage · resets 3am (UTC)",
    'You’ve hit your weekly limit · resets Monday',
    "You've hit your monthly spend limit · raise it at claude.ai/settings/usage",
    "You're out of usage credits. Run /usage-credits to keep using Opus or /model to switch models.",
    'Your organization is out of usage credits. Contact your admin to add more.',
  ])
    assert.equal(ends(result({ is_error: true, result: text }))[0], 'limit', text)
})

test('stream-json: text that looks like a failure, of the agent or of a tool, changes no status', () => {
  const words = fc.constantFrom(
    'Claude AI usage limit reached|1795239133',
    'API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}',
    'Error: 401 Unauthorized, please run /login',
    '{"type":"result","subtype":"success","is_error":true,"api_error_status":429}',
    "You've hit your 5-hour limit · resets 5:32am (UTC)",
    'rate_limit_event rejected; overloaded_error; ECONNREFUSED; Prompt is too long',
  )
  fc.assert(
    fc.property(fc.array(words, { maxLength: 5 }), words, (early, last) => {
      const tool = (text: string) => ({
        type: 'user',
        message: { content: [{ type: 'tool_result', content: text }] },
      })
      const end = session([
        init,
        ...early.flatMap((text) => [says(text), tool(text)]),
        result({ result: last }),
      ])
      assert.equal(end.status, 'finished')
      assert.equal(end.resetsAt, null)
      assert.equal(end.finalText, last)
    }),
    runs(25),
  )
})

test('stream-json: arbitrary lines give a result, and never a finished one without a result line', () => {
  const json = fc.oneof(
    fc.jsonValue(),
    fc.record({
      type: fc.constantFrom('assistant', 'user', 'system', 'error', 'item.completed', 'text'),
      message: fc.jsonValue(),
      item: fc.jsonValue(),
      part: fc.jsonValue(),
      data: fc.jsonValue(),
    }),
  )
  const line = fc.oneof(
    anyText(),
    json.map((value) => JSON.stringify(value)),
  )
  const exit: fc.Arbitrary<Exit> = fc.oneof(
    fc.record({ kind: fc.constant('exit' as const), code: fc.integer({ min: 0, max: 255 }) }),
    fc.constantFrom<Exit>(
      { kind: 'signal', signal: 'SIGTERM' },
      { kind: 'timeout' },
      { kind: 'idle' },
      { kind: 'aborted' },
    ),
  )
  const names = fc.constantFrom('claude', 'codex', 'amp', 'opencode', 'gemini', 'copilot', 'cursor')
  const stream = fc.constantFrom('stdout' as const, 'stderr' as const)
  fc.assert(
    fc.property(names, fc.array(fc.tuple(stream, line), { maxLength: 8 }), exit, (name, lines, how) => {
      const parser = findAgent(name)?.parser(() => 0)
      assert.ok(parser)
      for (const [from, text] of lines) parser.line(from, text)
      const end = parser.end(how)
      assert.notEqual(end.status, 'finished')
      assert.match(end.message, /^\P{Cc}{1,300}$/u)
      assert.ok(end.usage.inputTokens >= 0 && Number.isFinite(end.usage.inputTokens))
    }),
    runs(50),
  )
})

test('cursor: the answer is the last message, not all messages joined', () => {
  const call = (subtype: string) => ({
    type: 'tool_call',
    subtype,
    tool_call: { writeToolCall: { args: { path: 'a.txt' } } },
  })
  const lines = [
    init,
    says('<ralph>DONE</ralph>'),
    call('started'),
    call('completed'),
    says('Two tasks are left.'),
  ]
  const end = session(
    [...lines, result({ result: '<ralph>DONE</ralph>Two tasks are left.' })],
    WELL,
    'cursor',
  )
  assert.equal(end.status, 'finished')
  assert.equal(end.finalText, 'Two tasks are left.')
  assert.deepEqual(
    end.events.filter((event) => event.kind === 'tool'),
    [{ kind: 'tool', name: 'write', target: 'a.txt' }],
  )
  assert.equal(session(lines, { kind: 'exit', code: 1 }, 'cursor').status, 'crashed')
})

test('amp: messages have no id, and input tokens include cached ones', () => {
  const usage = {
    input_tokens: 12783,
    cache_creation_input_tokens: 367,
    cache_read_input_tokens: 12416,
    output_tokens: 8,
  }
  const message = { content: [{ type: 'text', text: '4' }], stop_reason: 'end_turn', usage }
  const end = session(
    [init, { type: 'assistant', message }, { type: 'assistant', message }, result({ num_turns: 2 })],
    WELL,
    'amp',
  )
  assert.equal(end.status, 'finished')
  assert.equal(end.message, 'the session finished')
  assert.deepEqual(
    [end.usage.inputTokens, end.usage.cachedTokens, end.usage.outputTokens, end.usage.costUsd],
    [25566, 24832, 16, null],
  )
})
