// What a model ladder cost and passed by rung, and which rung is told not to pay.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  describeRung,
  describeUnpaidRungs,
  describeUnpaidRungsOf,
  type Rung,
  rungsOf,
  sumOfRungs,
} from '../../../src/report/rungs.ts'
import { runs } from '../runs.ts'
import { complete } from './samples.ts'

const rung = (model: string, passed: number, attempts: number, costUsd: number): Rung => ({
  ...{ model, passed, attempts, costUsd },
})

test('attempts with a result count for their model with their cost, those given back do not', () => {
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

test('an attempt that failed before a gate or a judge does not count for a rung', () => {
  const [first] = complete().timeline
  assert.ok(first !== undefined)
  const kinds = ['session', 'stuck', 'empty-diff', 'guard', 'gates', 'judge', 'conflict'] as const
  const counted = kinds.filter((kind) => {
    const entry = { ...first, startedAt: 5, model: 'small', result: 'rejected' as const, kind }
    return rungsOf({ timeline: [entry], sessions: [] }).length === 1
  })
  assert.deepEqual(counted, ['stuck', 'gates', 'judge'])
})

const LADDER = ['small', 'strong']

test('a rung that does not pay is reported with figures, once enough attempts show it', () => {
  const strong = rung('strong', 9, 10, 10)
  const told = describeUnpaidRungsOf(LADDER, [rung('small', 3, 10, 6), strong])
  assert.deepEqual(told, [
    'the model small saves no money: an attempt costs 60 % of what one with strong costs ($0.60 and $1.00), but only 30 % of 10 attempts passed',
  ])
  assert.deepEqual(describeUnpaidRungsOf(LADDER, [rung('small', 7, 10, 6), strong]), [])
  assert.deepEqual(
    describeUnpaidRungsOf(LADDER, [rung('small', 0, 4, 3), strong]),
    [],
    'four attempts show nothing',
  )
  assert.deepEqual(
    describeUnpaidRungsOf(LADDER, [rung('small', 0, 9, 0), strong]),
    [],
    'nobody says what it costs',
  )
  assert.deepEqual(describeUnpaidRungsOf(LADDER, [strong]), [])
})

test('rungs are compared in the order of the ladder, and only with a next one of known cost', () => {
  const dear = rung('small', 3, 10, 5)
  const told = describeUnpaidRungsOf(LADDER, [rung('strong', 6, 10, 4.5), dear])
  assert.match(
    told.join('\n'),
    /^the model small saves no money: an attempt costs 111 % of what one with strong costs/,
  )
  assert.deepEqual(
    describeUnpaidRungsOf(LADDER, [dear, rung('strong', 1, 1, 0.15)]),
    [],
    'one attempt has no price',
  )
  assert.deepEqual(describeUnpaidRungsOf(LADDER, [dear, rung('strong', 9, 10, 0)]), [], 'no price is known')
  assert.deepEqual(
    describeUnpaidRungsOf(['small', 'middling', 'strong'], [dear, rung('strong', 9, 10, 9)]),
    [],
  )
  assert.deepEqual(describeUnpaidRungsOf(['small', 'small'], [dear]), [])
})

test('rungs are compared by the stories that climb the ladder; without a ladder nothing is reported', () => {
  const base = complete()
  const [first] = base.timeline
  const [session] = base.sessions
  const [one, two] = base.prd.userStories
  assert.ok(first !== undefined && session !== undefined && one !== undefined && two !== undefined)
  const userStories = [
    { ...one, tags: [] },
    { ...two, tags: ['ui'] },
  ]
  const attempts = userStories.flatMap(({ id, tags }) =>
    ['small', tags.includes('ui') ? 'painter' : 'strong'].flatMap((model, rung) =>
      Array.from({ length: 5 }, (_, at) => ({ storyId: id, model, rung, startedAt: 100 * rung + at })),
    ),
  )
  const state = {
    prd: { ...base.prd, userStories },
    timeline: attempts.map(({ rung, ...entry }) => {
      const how =
        rung === 0 ? { result: 'rejected' as const, kind: 'gates' as const } : { result: 'passed' as const }
      return { ...first, ...entry, ...how }
    }),
    sessions: attempts.map(({ storyId, startedAt, model }) => {
      const costUsd = { small: 0.5, strong: 1, painter: 0.1 }[model] ?? 0
      return { ...session, kind: 'run' as const, storyId, attempt: startedAt, costUsd }
    }),
  }
  const ladders = { run: LADDER, byTag: [['ui', ['painter', 'small']]] as const }
  assert.deepEqual(describeUnpaidRungs(state, { ladders }), [
    'the model small saves no money: an attempt costs 50 % of what one with strong costs ($0.50 and $1.00), but only 0 % of 5 attempts passed',
  ])
  assert.deepEqual(describeUnpaidRungs(state, {}), [])
  assert.deepEqual(describeUnpaidRungs(state, null), [], 'the settings are not known')
})

test('a rung is reported only when beginning below costs more than beginning above', () => {
  const count = fc.integer({ min: 5, max: 50 })
  const property = fc.property(
    count,
    fc.nat(50),
    fc.integer({ min: 1, max: 200 }),
    (attempts, passes, cents) => {
      const passed = Math.min(passes, attempts)
      const rungs = sumOfRungs([
        rung('strong', 10, 10, 10),
        rung('small', passed, attempts, (attempts * cents) / 100),
      ])
      const below = rungs.find(({ model }) => model === 'small')
      const above = rungs.find(({ model }) => model === 'strong')
      assert.ok(below !== undefined && above !== undefined)
      const price = below.costUsd / below.attempts
      const next = above.costUsd / above.attempts
      const begunBelow = price + (1 - below.passed / below.attempts) * next
      if (Math.abs(begunBelow - next) < 1e-9) return
      assert.equal(describeUnpaidRungsOf(LADDER, rungs).length, begunBelow > next ? 1 : 0)
    },
  )
  fc.assert(property, runs(300))
})
