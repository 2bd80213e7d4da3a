// The ledger: who used what. Names of others come from a job that ran what is not trusted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entered } from '../../../src/loop/ledger.ts'
import { reduce } from '../../../src/loop/reduce.ts'
import type { Event } from '../../../src/model/event.ts'
import type { State } from '../../../src/model/state.ts'
import { addUsage, emptyUsage, type Usage } from '../../../src/model/usage.ts'
import { limitsWith, NOW, session, stateOf, stories } from './samples.ts'

const usageOf = (costUsd: number): Usage => ({ ...emptyUsage(), calls: 1, inputTokens: 10, costUsd })

function used(state: State, others: { agent: string; usage: Usage }[]): State {
  const { run } = state.prd
  const usage = addUsage(run.usage, usageOf(1))
  const after = { ...state, prd: { ...state.prd, run: { ...run, usage } } }
  const named = others.map((one) => ({ ...one, model: 'm' }))
  const event: Event = {
    kind: 'worked',
    storyId: 'US-001',
    session: { ...session(), others: named },
    at: NOW,
  }
  return entered(state, after, event, limitsWith())
}

test('however many names there are, the ledger has an end; the own agent stays by name', () => {
  let state = stateOf(stories('US-001'))
  for (let at = 0; at < 40; at += 1) {
    const others = Array.from({ length: 10 }, (_, n) => ({ agent: `a${at}-${n}`, usage: usageOf(0.01) }))
    state = used(state, others)
  }
  const { ledger = [] } = state
  assert.equal(ledger.length, 201)
  const own = ledger.find(({ agent }) => agent === 'claude')
  const other = ledger.find(({ agent }) => agent === 'other')
  assert.deepEqual([own?.calls, other?.model, other?.calls], [0, null, 201])
  assert.ok(Math.abs(ledger.reduce((sum, { costUsd }) => sum + costUsd, 0) - 40) < 1e-9)
  const later = used(state, [{ agent: 'new', usage: usageOf(0.01) }]).ledger
  assert.equal(later?.length, 201)
  assert.equal(later.find(({ agent }) => agent === 'other')?.calls, 202)
})

test('others who say that they used more than all is take nothing away from the own agent', () => {
  const { ledger = [] } = used(stateOf(stories('US-001')), [
    { agent: 'x', usage: { ...usageOf(1000), calls: 0 } },
  ])
  for (const one of ledger) assert.ok(one.costUsd >= 0 && one.tokens >= 0, JSON.stringify(one))
})

test('a session that says it held more calls than anybody can is counted in time', () => {
  const begun = reduce(
    stateOf(stories('US-001')),
    { kind: 'reserved', storyId: 'US-001', at: NOW },
    limitsWith(),
  )
  const usage = { ...emptyUsage(), calls: 1e12 }
  const event: Event = { kind: 'worked', storyId: 'US-001', session: session({ usage }), at: NOW }
  const { control } = reduce(begun, event, limitsWith())
  assert.equal(control.calls.length, 1001)
})
