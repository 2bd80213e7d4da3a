// What a model ladder cost and passed by rung, and which rung is told not to pay.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  describeRung,
  describeUnpaidRungs,
  type Rung,
  rungsOf,
  sumOfRungs,
} from '../../../src/report/rungs.ts'
import { runs } from '../runs.ts'
import { complete } from './samples.ts'

const rung = (model: string, passed: number, attempts: number, costUsd: number): Rung => ({
  ...{ model, passed, attempts, costUsd },
})

test('attempts that were decided count to their model, with what their sessions cost; given back ones do not', () => {
  const state = complete()
  const [first] = state.timeline
  assert.ok(first?.startedAt !== undefined)
  const entry = { ...first, startedAt: 5, model: 'small' }
  const own = state.sessions[0]
  assert.ok(own !== undefined)
  const paid = { ...own, storyId: first.storyId, attempt: 5, costUsd: 0.25 }
  const found = rungsOf({
    timeline: [
      { ...entry, result: 'passed' },
      { ...entry, result: 'returned' },
      { ...first, result: 'passed' },
    ],
    sessions: [
      { ...paid, kind: 'run' },
      { ...paid, kind: 'judge', costUsd: 9 },
    ],
  })
  assert.deepEqual(found, [rung('small', 1, 1, 0.25)])
  assert.equal(describeRung(rung('small', 6, 10, 1.2)), 'small: 6 of 10 attempts passed, $0.12 each')
})

test('a rung whose price ratio is above its pass rate is told with the figures, where enough attempts show it', () => {
  const strong = rung('strong', 9, 10, 10)
  const told = describeUnpaidRungs([rung('small', 3, 10, 6), strong])
  assert.deepEqual(told, [
    'the rung small does not pay: an attempt costs 60 % of one with strong ($0.60 to $1.00), and 30 % of 10 attempts passed',
  ])
  assert.deepEqual(describeUnpaidRungs([rung('small', 7, 10, 6), strong]), [])
  assert.deepEqual(describeUnpaidRungs([rung('small', 0, 4, 3), strong]), [], 'four attempts show nothing')
  assert.deepEqual(describeUnpaidRungs([rung('small', 0, 9, 0), strong]), [], 'nobody says what it costs')
  assert.deepEqual(describeUnpaidRungs([strong]), [])
})

test('what is told is what the arithmetic says: to begin below costs more than to begin above', () => {
  const count = fc.integer({ min: 5, max: 50 })
  const property = fc.property(
    count,
    fc.nat(50),
    fc.integer({ min: 1, max: 100 }),
    (attempts, passes, cents) => {
      const passed = Math.min(passes, attempts)
      const rungs = sumOfRungs([
        rung('strong', 10, 10, 10),
        rung('small', passed, attempts, (attempts * cents) / 100),
      ])
      const [below, above] = rungs
      assert.ok(below !== undefined && above !== undefined)
      const price = below.costUsd / below.attempts
      const next = above.costUsd / above.attempts
      const begunBelow = price + (1 - below.passed / below.attempts) * next
      if (Math.abs(begunBelow - next) < 1e-9) return
      assert.equal(describeUnpaidRungs(rungs).length, begunBelow > next ? 1 : 0)
    },
  )
  fc.assert(property, runs(300))
})
