// Spans of events when several attempts are in work: each belongs to its own story's iteration.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reduce } from '../../../../src/engine/reduce.ts'
import { spansOf } from '../../../../src/notify/telemetry/spans.ts'
import { limitsWith, NOW, session, stateOf, stories } from '../../engine/samples.ts'

const facts = {
  agent: () => ({ name: 'claude', provider: 'anthropic' }),
  model: () => null,
  id: (_digits: number, words: string) => words,
}

test('the session of a worker belongs to the iteration of its own story, whichever attempt is the first in the state', () => {
  const limits = limitsWith({ maxParallel: 2 })
  const state = ['US-001', 'US-002'].reduce(
    (before, storyId, at) => reduce(before, { kind: 'reserved', storyId, worker: `${at}`, at: NOW }, limits),
    stateOf(stories('US-001', 'US-002')),
  )
  for (const storyId of ['US-001', 'US-002']) {
    const event = { kind: 'worked' as const, storyId, session: session(), at: NOW + 1000 }
    const [span] = spansOf(state, event, reduce(state, event, limits), facts)
    assert.match(span?.parentSpanId ?? '', new RegExp(`^iteration/.*/${storyId}/`))
  }
})
