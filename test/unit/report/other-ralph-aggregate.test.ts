// `.ralph/aggregate.json` of the Ralph with steps: the figures of the last run, the rest as it was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateAggregate } from '../../../src/report/other-ralph-aggregate.ts'
import { complete } from './samples.ts'

const BEFORE = {
  version: 'v0.3.0',
  model: 'sonnet',
  metrics: { started_at: '2025-01-01T00:00:00Z', total_claude_calls: 3, input_tokens: 1, elapsed_sec: 5 },
  team: 'ours',
}

test("the figures of a run are written in the other tool's fields, other fields stay, and a repeat changes nothing", () => {
  const state = complete()
  const text = updateAggregate(JSON.stringify(BEFORE), state)
  assert.ok(text !== null)
  const { metrics, ...rest } = JSON.parse(text)
  const calls = state.sessions.reduce((sum, session) => sum + session.calls, 0)
  assert.equal(metrics.total_claude_calls, calls)
  assert.equal(metrics.total_tokens, metrics.input_tokens + metrics.output_tokens)
  assert.equal(metrics.last_run_id, state.nonce)
  assert.equal(rest.team, 'ours')
  assert.equal(updateAggregate(text, state), null)
})

test('an aggregate that is no object stays, and so does the file when no session ran', () => {
  for (const text of ['', '[]', '{', 'null', '3']) assert.equal(updateAggregate(text, complete()), null)
  assert.equal(updateAggregate('{}', { ...complete(), sessions: [] }), null)
})
