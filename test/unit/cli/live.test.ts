// What a log shows of an agent at work: a readable line a step.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sayAgent } from '../../../src/cli/live.ts'

test('a tool and its file, words on one line, nothing for numbers', () => {
  assert.equal(sayAgent({ kind: 'tool', name: 'Write', target: 'src/a.ts' }), 'Write src/a.ts')
  assert.equal(sayAgent({ kind: 'tool', name: 'TodoRead', target: null }), 'TodoRead')
  assert.equal(sayAgent({ kind: 'text', text: ' First\n\n  then. ' }), 'First then.')
  assert.equal(sayAgent({ kind: 'text', text: ' \n ' }), null)
  const usage = { calls: 1, inputTokens: 1, outputTokens: 1, cachedTokens: 0, agentSeconds: 1 }
  assert.equal(
    sayAgent({ kind: 'usage', usage: { ...usage, costUsd: null, turns: 1, costSource: 'none' } }),
    null,
  )
})

test('a wall of text is cut, never in the middle of a character', () => {
  for (const text of ['x'.repeat(5000), '🎉'.repeat(5000), `x${'🎉'.repeat(5000)}`]) {
    const line = sayAgent({ kind: 'text', text }) ?? ''
    assert.ok(line.length <= 300 && line.endsWith('…'))
    assert.doesNotMatch(line, /[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
  }
})

test('limits and repeated requests say what the vendor said', () => {
  const at = Date.UTC(2026, 10, 21, 11, 17)
  assert.equal(
    sayAgent({ kind: 'limit', resetsAt: at }),
    'the usage limit is reached, until 2026-11-21 11:17 UTC',
  )
  assert.equal(sayAgent({ kind: 'limit', resetsAt: null }), 'a usage or rate limit is reached')
  assert.equal(
    sayAgent({ kind: 'retry', status: 429, attempt: 2 }),
    'asks its server again after HTTP 429 (attempt 2)',
  )
  assert.equal(
    sayAgent({ kind: 'retry', status: null, attempt: 1 }),
    'asks its server again after a failed request (attempt 1)',
  )
})
