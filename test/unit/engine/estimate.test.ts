// What a session counts as that was killed: near the truth, and never so that a limit is passed by more than a session.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { takeOver, withLostSession } from '../../../src/engine/attempts/lost-attempts.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { emptyUsage, type Usage } from '../../../src/engine/model/usage.ts'
import { iterationsOf, largestSession, runUsage } from '../../../src/engine/model/usage-totals.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { estimateSession, exhaustedBudget } from '../../../src/engine/state/limits.ts'
import { runs } from '../runs.ts'
import { limitsWith, NOW, session, stateOf, stories } from './samples.ts'

const BUDGET = 0.5
const limits = limitsWith({
  maxCostUsd: BUDGET,
  // So a share of the limit is far dearer than a session.
  maxIterations: 2,
  maxInterruptions: 1000,
  maxAttempts: 1000,
})
const used = (costUsd: number): Usage => ({ ...emptyUsage(), calls: 1, inputTokens: 100, costUsd })

/** `costUsd`: what the whole session takes. `killedAt`: how much of that was used when its process was killed; null: it ended. */
type Turn = { costUsd: number; killedAt: number | null; isSeen: boolean }

/** One attempt after another on one story, which fails whenever it comes to its end; gives the truth, too. */
function chain(turns: readonly Turn[], state = stateOf(stories('US-001'))) {
  let [now, truth, kills, lost] = [state, 0, 0, 0]
  for (const [at, { costUsd, killedAt, isSeen }] of turns.entries()) {
    if (exhaustedBudget(now, limits) !== null) break
    const begun = reduce(now, { kind: 'reserved', storyId: 'US-001', at: NOW + at }, limits)
    if (killedAt === null) {
      truth += costUsd
      now = ended(begun, costUsd, NOW + at)
      continue
    }
    truth += costUsd * killedAt
    kills += 1
    const note = {
      storyId: 'US-001',
      startedAt: NOW + at,
      usage: used(costUsd * killedAt),
      isPartial: true as const,
    }
    if (!isSeen) lost += 1
    now = returned(takeOver(isSeen ? withLostSession(begun, note) : begun), NOW + at)
  }
  return { state: now, charged: runUsage(now).costUsd, truth, kills, lost }
}

function ended(state: State, costUsd: number, at: number): State {
  const failed = session({ status: 'failed', usage: used(costUsd) })
  const worked = reduce(state, { kind: 'worked', storyId: 'US-001', session: failed, at }, limits)
  return reduce(worked, { kind: 'rejected', storyId: 'US-001', kept: null, at }, limits)
}

function returned(state: State, at: number): State {
  return reduce(state, { kind: 'returned', storyId: 'US-001', kept: null, at }, limits)
}

const cost = fc.double({ min: 0.01, max: 0.06, noNaN: true })
const killedAt = fc.option(fc.double({ min: 0.05, max: 1, noNaN: true }), { nil: null })

test('killed sessions with counted usage are charged at least the truth, at most one largest session more each', () => {
  const turn = fc.record({ costUsd: cost, killedAt, isSeen: fc.constant(true) })
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 40 }), (turns) => {
      const { charged, truth, kills } = chain(turns)
      assert.ok(charged >= truth - 1e-9, `${charged} of ${truth}`)
      assert.ok(charged <= truth + kills * 0.06 + 1e-9, `${charged} of ${truth} in ${kills} kills`)
      assert.ok(truth <= BUDGET + 0.06, `the budget is passed by more than a session: ${truth}`)
    }),
    runs(200),
  )
})

test('killed sessions without counted usage are charged as the largest known session each', () => {
  const turn = fc.record({ costUsd: cost, killedAt, isSeen: fc.constant(false) })
  fc.assert(
    fc.property(cost, fc.array(turn, { maxLength: 40 }), (first, turns) => {
      const { charged, truth, lost } = chain([{ costUsd: first, killedAt: null, isSeen: false }, ...turns])
      assert.ok(Math.abs(charged - truth) <= lost * 0.06 + 1e-9, `${charged} of ${truth} in ${lost} kills`)
    }),
    runs(200),
  )
})

test('a session killed before any other was known raises no later estimate', () => {
  const dear = limitsWith({ maxCostUsd: 10, maxIterations: 50 })
  const { state, charged } = chain([
    { costUsd: 0.04, killedAt: 0.5, isSeen: true },
    { costUsd: 0.03, killedAt: null, isSeen: true },
  ])
  assert.equal(charged, 0.05)
  assert.deepEqual(estimateSession(state, dear), { costUsd: 0.03, tokens: 100 })
  const silent = chain([{ costUsd: 0.04, killedAt: 0.5, isSeen: false }]).state
  assert.deepEqual(estimateSession(silent, dear), { costUsd: 0.2, tokens: null, isShare: true })
  const known = ended(
    reduce(silent, { kind: 'reserved', storyId: 'US-001', at: NOW + 5 }, dear),
    0.03,
    NOW + 5,
  )
  assert.deepEqual(estimateSession(known, dear), { costUsd: 0.03, tokens: 100 })
})

test('an interrupted session, or one with estimated usage, is never the largest session', () => {
  const begun = reduce(stateOf(stories('US-001')), { kind: 'reserved', storyId: 'US-001', at: NOW }, limits)
  const after = (changes: Parameters<typeof session>[0]) =>
    largestSession(
      reduce(begun, { kind: 'worked', storyId: 'US-001', session: session(changes), at: NOW }, limits),
    )
  assert.equal(after({ status: 'interrupted', usage: used(0.01) }), null)
  assert.equal(after({ usage: { ...used(0.2), estimatedCostUsd: 0.2, estimatedTokens: 100 } }), null)
  assert.deepEqual(after({ usage: { ...used(0.2), estimatedCostUsd: 0.2 } }), { costUsd: 0.2, tokens: 100 })
})

test('the timeline has the estimated part of the cost of an attempt', () => {
  const { state } = chain([
    { costUsd: 0.04, killedAt: 0.5, isSeen: true },
    { costUsd: 0.03, killedAt: null, isSeen: true },
  ])
  assert.deepEqual(
    iterationsOf(state).map(({ costUsd, estimatedCostUsd }) => [costUsd, estimatedCostUsd]),
    [
      [0.02, 0.02],
      [0.03, undefined],
    ],
  )
})
