// What the rest of a run will probably cost and take, and at most.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import {
  describeForecast,
  describeOutlook,
  describeWorstCase,
  type Forecast,
  forecastOf,
  worstCase,
} from '../../../src/report/forecast.ts'
import { runs } from '../runs.ts'
import { complete, justStarted, limits, midRun, pass, reject, stuck } from './samples.ts'

const words = (state: State) => describeForecast(forecastOf(state))

test('the forecast is a range, based on the stories that passed', () => {
  assert.equal(
    words(midRun()),
    'about $1.26 ($1.14 to $2.31), 8m (6m to 16m), 3 iterations for the 3 stories left, based on the 3 that passed',
  )
})

test('the forecast includes rejected attempts of stories that passed', () => {
  const state = pass(reject(justStarted(), 'US-001'), 'US-001', 2)
  const forecast = forecastOf(state)
  assert.equal(forecast?.from, 1)
  assert.deepEqual(forecast?.iterations, { low: 5, likely: 10, high: 20 }, 'of one story little is known')
  assert.equal(forecast?.costUsd?.likely.toFixed(2), '5.15')
  assert.match(words(state) ?? '', / for the 5 stories left, based on the one that passed$/)
})

test('the forecast leaves out blocked stories, and names them', () => {
  assert.match(words(stuck()) ?? '', /for the 1 story left, 1 blocked one not counted/)
})

test('without a passed or an open story there is no forecast', () => {
  assert.equal(forecastOf(justStarted()), null)
  assert.equal(forecastOf(complete()), null)
  assert.equal(words(complete()), null)
  const imported = midRun().prd.userStories.map((story) =>
    story.lastResult === null ? story : { ...story, lastResult: { ...story.lastResult, imported: true } },
  )
  assert.equal(forecastOf({ ...midRun(), prd: { ...midRun().prd, userStories: imported } }), null)
})

test('without a reported cost, no cost is forecast', () => {
  let state = justStarted()
  for (const id of ['US-001', 'US-002']) state = pass(state, id, 1, 0)
  const forecast = forecastOf(state)
  assert.equal(forecast?.costUsd, null)
})

test('a forecast is ordered, never negative, and no less for more stories', () => {
  const attempt = fc.record({
    attempts: fc.integer({ min: 1, max: 9 }),
    cost: fc.double({ min: 0, max: 50, noNaN: true }),
    seconds: fc.integer({ min: 0, max: 20_000 }),
  })
  fc.assert(
    fc.property(
      fc.array(attempt, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 30 }),
      (past, open) => {
        const of = (count: number) => {
          const ids = [
            ...past.map((_, at) => `P${at}`),
            ...Array.from({ length: count }, (_, at) => `O${at}`),
          ]
          const begun = justStarted()
          let state: State = {
            ...begun,
            prd: { ...begun.prd, userStories: ids.map((id) => newStory({ id, title: id })) },
          }
          for (const [at, { attempts, cost, seconds }] of past.entries())
            state = pass(state, `P${at}`, attempts, cost, seconds)
          const forecast = forecastOf(state)
          assert.ok(forecast !== null)
          return forecast
        }
        const [fewer, more] = [of(open), of(open + 1)]
        for (const key of ['iterations', 'costUsd', 'ms'] as const) checked(fewer, more, key)
        assert.equal(fewer.stories, open)
        assert.ok(fewer.iterations.low >= open)
      },
    ),
    runs(40),
  )
})

function checked(fewer: Forecast, more: Forecast, key: 'iterations' | 'costUsd' | 'ms'): void {
  const [one, other] = [fewer[key], more[key]]
  assert.equal(one === null, other === null)
  if (one === null || other === null) return
  assert.ok(0 <= one.low && one.low <= one.likely && one.likely <= one.high, `${key} ${JSON.stringify(one)}`)
  for (const bound of ['low', 'likely', 'high'] as const)
    assert.ok(one[bound] <= other[bound], `${key} ${bound}`)
}
test('the worst case never exceeds what limits allow', () => {
  const worst = (state: State, bounds: Limits) => {
    const found = worstCase(state, bounds)
    return found === null ? null : describeWorstCase(found)
  }
  assert.equal(worst(midRun(), limits), '$6.16 more: 8 iterations at $0.77, the highest cost so far')
  assert.equal(
    worst(midRun(), { ...limits, maxCostUsd: 3 }),
    '$0.82 more, then the cost limit of $3.00 ends the run',
  )
  assert.equal(
    worst(midRun(), { ...limits, maxIterations: 6, maxCostUsd: null }),
    '$1.54 more: 2 iterations at $0.77, the highest cost so far',
  )
  assert.equal(
    worst(justStarted(), { ...limits, maxCostUsd: null }),
    '18 more iterations, and no cost limit is set',
  )
  assert.equal(worst(complete(), limits), null)
})

test('the remaining cost is one short line; before the first pass it is the maximum', () => {
  const outlook = (state: State, bounds: Limits | null) =>
    describeOutlook(forecastOf(state), bounds === null ? null : worstCase(state, bounds))
  assert.equal(outlook(midRun(), limits), 'about $1, 8 min, 3 iterations')
  assert.equal(outlook(midRun(), null), 'about $1, 8 min, 3 iterations')
  assert.equal(outlook(justStarted(), limits), 'at most 18 iterations')
  const failed = reject(justStarted(), 'US-001')
  assert.equal(outlook(failed, limits), 'at most $10, 17 iterations')
  assert.equal(outlook(failed, { ...limits, maxCostUsd: 1 }), 'at most $0.39, 17 iterations')
  assert.equal(outlook(complete(), limits), null)
})

test('a forecast from estimated costs says that it is estimated', () => {
  const state = midRun()
  const isGuessed = (storyId: string | null) => storyId === 'US-001' || storyId === 'US-002'
  const sessions = state.sessions.map((one) =>
    isGuessed(one.storyId) ? { ...one, estimatedCostUsd: one.costUsd } : one,
  )
  const told = words({ ...state, sessions })
  assert.match(told ?? '', /^about \$1\.26 \(\$1\.14 to \$2\.31\) partly estimated, 8m/)
})
