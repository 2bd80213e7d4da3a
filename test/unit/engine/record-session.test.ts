// How sessions come into the list of the state, and how that stays short. Names of others come from a job that ran what is not trusted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Session } from '../../../src/engine/model/attempt.ts'
import type { Event } from '../../../src/engine/model/event.ts'
import type { State, TimelineEntry } from '../../../src/engine/model/state.ts'
import { emptyUsage, type Usage } from '../../../src/engine/model/usage.ts'
import {
  iterationsOf,
  largestSession,
  ledgerOf,
  runUsage,
  storyUsage,
  usageByKind,
} from '../../../src/engine/model/usage-totals.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { recordSession } from '../../../src/engine/state/record-session.ts'
import { runs } from '../runs.ts'
import { entryWith, limitsWith, NOW, session, stateOf, stories } from './samples.ts'

const usageOf = (costUsd: number): Usage => ({ ...emptyUsage(), calls: 1, inputTokens: 10, costUsd })
const limits = limitsWith()

function used(state: State, usage: Usage, others: NonNullable<Session['others']>): State {
  return recordSession(state, { at: NOW, kind: 'run', storyId: 'US-001', usage, others }, limits)
}

test("usage by agent is limited in entries, and the run's own agent keeps its name", () => {
  let state = stateOf(stories('US-001'))
  for (let at = 0; at < 40; at += 1) {
    const others = Array.from({ length: 10 }, (_, n) => {
      return { agent: `a${at}-${n}`, model: 'm', usage: usageOf(0.01) }
    })
    state = used(state, { ...usageOf(1), calls: 11, inputTokens: 110 }, others)
  }
  const ledger = ledgerOf(state.sessions)
  assert.ok(ledger.length <= 210, String(ledger.length))
  const own = ledger.find(({ agent }) => agent === 'claude')
  const other = ledger.find(({ agent }) => agent === 'other')
  assert.deepEqual([own?.calls, other?.model], [40, null])
  assert.ok((other?.calls ?? 0) > 190)
  assert.ok(Math.abs(runUsage(state).costUsd - 40) < 1e-6)
})

test('steps that report more usage than their session are charged as the session', () => {
  const state = used(stateOf(stories('US-001')), usageOf(1), [
    { agent: 'x', model: null, usage: { ...usageOf(1000), inputTokens: 9 } },
  ])
  assert.deepEqual(runUsage(state), usageOf(1))
  for (const one of state.sessions) assert.ok(one.costUsd >= 0 && one.inputTokens >= 0, JSON.stringify(one))
})

test('a session that reports an impossible number of calls is counted in limited time', () => {
  const begun = reduce(stateOf(stories('US-001')), { kind: 'reserved', storyId: 'US-001', at: NOW }, limits)
  const usage = { ...emptyUsage(), calls: 1e12 }
  const event: Event = { kind: 'worked', storyId: 'US-001', session: session({ usage }), at: NOW }
  const { control } = reduce(begun, event, limits)
  assert.equal(control.calls.length, 1001)
})

test('a session without usage is not listed', () => {
  const state = stateOf(stories('US-001'))
  assert.equal(used(state, emptyUsage(), []), state)
})

test('usage of a set-up, a step and the session is listed separately for one attempt', () => {
  const others = [
    { agent: null, model: null, kind: 'set-up' as const, usage: usageOf(0.25) },
    { agent: 'codex', model: 'mini', usage: usageOf(0.5) },
  ]
  const whole = { ...usageOf(1), calls: 3, inputTokens: 30 }
  const begun = reduce(stateOf(stories('US-001')), { kind: 'reserved', storyId: 'US-001', at: NOW }, limits)
  const models = { run: 'opus', verify: null, plan: null }
  const event: Event = {
    kind: 'worked',
    storyId: 'US-001',
    session: session({ usage: whole, others }),
    at: NOW + 5,
  }
  const state = reduce(begun, event, limitsWith({ models }))
  assert.deepEqual(
    state.sessions.map(({ kind, agent, model, costUsd }) => [kind, agent, model, costUsd]),
    [
      ['set-up', 'claude', 'opus', 0.25],
      ['step', 'codex', 'mini', 0.5],
      ['run', 'claude', 'opus', 0.25],
    ],
  )
  assert.deepEqual(largestSession(state), { costUsd: 1, tokens: 30 })
  assert.deepEqual(runUsage(state), whole)
})

/** Old sessions of many stories, and a timeline of the last 200 iterations, each of two sessions. */
function longRun(count: number): State {
  let state = stateOf(stories('US-001'))
  for (let at = 0; at < count; at += 1) {
    const storyId = `US-${at % 300}`
    const startedAt = NOW + at * 1000
    const whose = { storyId, iteration: at + 1, attempt: startedAt, from: startedAt, to: startedAt + 900 }
    const row: TimelineEntry = {
      ...{ iteration: at + 1, storyId, attempt: 1, result: 'rejected', summary: '', ms: 900 },
      ...{ startedAt, at: startedAt + 900, job: 1 },
    }
    state = {
      ...state,
      timeline: [...state.timeline, row].slice(-200),
      sessions: [...state.sessions, entryWith({ ...whose, costUsd: 0.25, inputTokens: at })],
    }
    state = recordSession(state, { at: startedAt + 950, kind: 'judge', storyId, usage: usageOf(0.5) }, limits)
  }
  return state
}

test('a long usage list is shortened by summing entries outside of the timeline, with the same totals', () => {
  const count = 3000
  const state = longRun(count)
  assert.ok(state.sessions.length < 3500, `${state.sessions.length} of ${2 * count}`)
  assert.equal(runUsage(state).costUsd, 0.75 * count)
  assert.equal(runUsage(state).calls, 2 * count)
  assert.equal(storyUsage(state, 'US-7').costUsd, 7.5)
  assert.equal(usageByKind(state).get('judge')?.costUsd, 0.5 * count)
  assert.deepEqual(largestSession(state), { costUsd: 0.5, tokens: count - 1 })
  assert.ok(iterationsOf(state).every(({ costUsd }) => costUsd === 0.25))
})

test('usage of run, stories, kinds and agents are sums over the same list, for any history', () => {
  const amount = fc.integer({ min: 0, max: 500 }).map((cents) => cents / 100)
  const usage = fc.record({
    ...{ calls: fc.nat(3), inputTokens: fc.nat(1000), outputTokens: fc.nat(100), cachedTokens: fc.nat(100) },
    ...{ costUsd: amount, agentSeconds: amount },
  })
  const other = fc.record({
    agent: fc.constantFrom(null, 'a', 'b'),
    model: fc.constantFrom(null, 'm'),
    usage,
  })
  const spending = fc.record({
    at: fc.integer({ min: NOW, max: NOW + 1000 }),
    kind: fc.constantFrom('run' as const, 'judge' as const, 'verify' as const, 'plan' as const),
    storyId: fc.constantFrom(null, 'US-001', 'US-002'),
    usage,
    others: fc.array(other, { maxLength: 3 }),
  })
  fc.assert(
    fc.property(fc.array(spending, { maxLength: 20 }), (all) => {
      const state = all.reduce((after, one) => recordSession(after, one, limits), stateOf(stories('US-001')))
      const total = runUsage(state)
      const isNear = (one: number, two: number) => Math.abs(one - two) < 1e-6
      const sum = (parts: readonly { costUsd: number }[]) =>
        parts.reduce((cost, one) => cost + one.costUsd, 0)
      assert.ok(isNear(total.costUsd, sum(all.map((one) => one.usage))))
      assert.equal(
        total.calls,
        all.reduce((calls, one) => calls + one.usage.calls, 0),
      )
      assert.ok(isNear(total.costUsd, sum([...usageByKind(state).values()])))
      assert.ok(isNear(total.costUsd, sum(ledgerOf(state.sessions))))
      const ofStories = ['US-001', 'US-002'].map((id) => storyUsage(state, id))
      const beside = state.sessions.filter(({ storyId }) => storyId === null)
      assert.ok(isNear(total.costUsd, sum([...ofStories, ...beside])))
      assert.deepEqual(JSON.parse(JSON.stringify(total)), total)
    }),
    runs(200),
  )
})
