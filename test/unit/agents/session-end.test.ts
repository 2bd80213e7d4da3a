// One line for people: printable, bounded, without keys.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  endingByExit,
  endingByRalph,
  lineWithoutKeys,
  statusOfHttp,
  stderrMessage,
} from '../../../src/agents/session-end.ts'
import { anyText, runs } from '../runs.ts'

test('keys are removed from session messages, ordinary words are not', () => {
  assert.equal(
    lineWithoutKeys('Incorrect API key provided: sk-proj-abcdefghijklmnop.'),
    'Incorrect API key provided: ***',
  )
  assert.equal(lineWithoutKeys('token ghp_0123456789abcdefghij0123 refused'), 'token *** refused')
  assert.equal(lineWithoutKeys('Authorization: Bearer abcdef0123456789'), 'Authorization: Bearer ***')
  assert.equal(
    lineWithoutKeys('http://x/login?authToken=874fc3b3b482&a=1'),
    'http://x/login?authToken=***&a=1',
  )
  const plain = '--dangerously-skip-permissions cannot be used: keyboard-interrupt-handler'
  assert.equal(lineWithoutKeys(plain), plain)
})

test('a session message is one printable line of at most 300 characters', () => {
  assert.equal(
    lineWithoutKeys('\u001b[91m\u001b[1mError: \u001b[0mone\r\ntwo\u2028three\u0000'),
    'Error: one two three',
  )
  fc.assert(
    fc.property(anyText({ maxLength: 2000 }), (text) =>
      assert.match(lineWithoutKeys(text), /^\P{Cc}{0,300}$/u),
    ),
    runs(10),
  )
})

test('exit codes without output have a message', () => {
  assert.equal(endingByExit({ kind: 'exit', code: 0 }, 'x').status, 'failed')
  assert.equal(endingByExit({ kind: 'exit', code: 143 }, '').status, 'killed')
  assert.equal(
    endingByExit({ kind: 'exit', code: 1 }, 'bad flag').message,
    'the agent ended with exit code 1: bad flag',
  )
  assert.equal(endingByExit({ kind: 'not-started', reason: 'spawn x ENOENT' }, '').status, 'not-started')
})

test('a time-out while the agent retries is a server error, a cancellation stays a cancellation', () => {
  assert.equal(endingByRalph({ kind: 'timeout' }, null)?.status, 'timeout')
  assert.equal(endingByRalph({ kind: 'timeout' }, { status: 429 })?.status, 'limit')
  assert.equal(endingByRalph({ kind: 'idle' }, { status: null })?.status, 'overloaded')
  assert.equal(endingByRalph({ kind: 'idle' }, { status: 400 })?.status, 'idle')
  assert.equal(endingByRalph({ kind: 'aborted' }, { status: 429 })?.status, 'aborted')
  assert.equal(endingByRalph({ kind: 'exit', code: 0 }, { status: 429 }), null)
})

test('HTTP statuses map to session statuses', () => {
  const statuses = [401, 403, 404, 408, 413, 418, 429, 500, 529, null].map((http) => statusOfHttp(http))
  assert.deepEqual(statuses, [
    'auth',
    'auth',
    'auth',
    'overloaded',
    'context',
    'failed',
    'limit',
    'overloaded',
    'overloaded',
    'overloaded',
  ])
})

test('the message of a failed session is the most telling line of stderr', () => {
  const lines = stderrMessage()
  for (const line of ['WARNING: no PATH aliases', 'Error: no key', '', '  set the key']) lines.push(line)
  assert.equal(lines.text(), 'Error: no key')
})
