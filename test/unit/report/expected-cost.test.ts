// What stories will probably cost before any of them has passed, and the limit that `init` proposes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newStory } from '../../../src/engine/prd/schema.ts'
import {
  describeExpectedCost,
  earlierRuns,
  expectedCost,
  proposedLimit,
} from '../../../src/report/expected-cost.ts'
import { pullRequestBody } from '../../../src/report/pull-request-text.ts'
import { viewOf } from '../../../src/report/view.ts'
import { runs } from '../runs.ts'
import { complete, justStarted, limits, midRun, NOW } from './samples.ts'

const story = (criteria: number) => ({
  acceptanceCriteria: Array.from({ length: criteria }, (_, at) => `c${at}`),
})

test('expected cost from earlier runs: the average per story, between the cheapest and the dearest run', () => {
  const earlier = [
    { stories: 10, costUsd: 5 },
    { stories: 5, costUsd: 10 },
  ]
  const expected = expectedCost([story(3), story(9)], earlier)
  assert.deepEqual(expected, { low: 1, likely: 2, high: 4, stories: 2, runs: 2 })
  assert.equal(
    expected === null ? '' : describeExpectedCost(expected),
    'about $2.00 ($1.00 to $4.00) for 2 stories, based on 2 earlier runs of this repository',
  )
  const one = expectedCost([story(3)], [{ stories: 4, costUsd: 4 }])
  assert.deepEqual(one, { low: 0.5, likely: 1, high: 2, stories: 1, runs: 1 })
})

test('without earlier runs the expected cost is a range by size, and the text says so', () => {
  const expected = expectedCost([story(2), story(7)], [])
  assert.deepEqual(expected, { low: 1.75, likely: null, high: 7.5, stories: 2, runs: 0 })
  assert.match(
    expected === null ? '' : describeExpectedCost(expected),
    /^roughly \$1\.75 to \$7\.50 for 2 stories, .* no earlier run/,
  )
  assert.equal(expectedCost([], []), null)
})

test('an impossible cost of an earlier run is ignored', () => {
  const { prd } = complete()
  const usage = { calls: 1, inputTokens: 1, outputTokens: 1, cachedTokens: 0, costUsd: 6, agentSeconds: 1 }
  const costing = (costUsd: number) => ({ ...prd, run: { ...prd.run, usage: { ...usage, costUsd } } })
  const known = earlierRuns([costing(9999)])
  assert.equal(known.length, 1)
  for (const costUsd of [1e308, Number.POSITIVE_INFINITY, Number.NaN, -5, 1e6 + 1])
    assert.deepEqual(earlierRuns([costing(costUsd), costing(9999)]), known, String(costUsd))
})

test('earlier runs without a cost, and imported stories, are ignored', () => {
  const { prd } = complete()
  const usage = { calls: 1, inputTokens: 1, outputTokens: 1, cachedTokens: 0, costUsd: 6, agentSeconds: 1 }
  const passed = prd.userStories.filter(({ passes }) => passes).length
  assert.deepEqual(earlierRuns([{ ...prd, run: { ...prd.run, usage } }]), [{ stories: passed, costUsd: 6 }])
  assert.deepEqual(earlierRuns([{ ...prd, run: { ...prd.run, usage: { ...usage, costUsd: 0 } } }]), [])
  const imported = {
    completedAt: '',
    commit: null,
    summary: '',
    iteration: 0,
    attempts: 0,
    imported: true as const,
  }
  const userStories = [{ ...newStory({ id: 'A', title: 'a' }), passes: true, lastResult: imported }]
  assert.deepEqual(earlierRuns([{ run: { ...prd.run, usage }, userStories }]), [])
})

test('expected cost for any runs: low, likely and high are in order, and the proposed limit is above them', () => {
  const run = fc.record({
    stories: fc.integer({ min: 1, max: 50 }),
    costUsd: fc.double({ min: 0.01, max: 500, noNaN: true }),
  })
  const property = fc.property(
    fc.array(run, { minLength: 1, maxLength: 10 }),
    fc.integer({ min: 1, max: 30 }),
    (earlier, count) => {
      const open = Array.from({ length: count }, () => story(3))
      const expected = expectedCost(open, earlier)
      assert.ok(expected !== null && expected.likely !== null)
      assert.ok(expected.low <= expected.likely + 1e-9 && expected.likely <= expected.high + 1e-9)
      const limit = proposedLimit(open, earlier) ?? 0
      assert.ok(limit % 5 === 0 && limit >= expected.high && earlier.every(({ costUsd }) => limit >= costUsd))
    },
  )
  fc.assert(property, runs(200))
  assert.equal(proposedLimit([story(3)], []), null)
})

test('the pull request shows the expected cost until a story has passed', () => {
  const facts = { limits, now: NOW, earlier: [{ stories: 1, costUsd: 2 }] }
  assert.match(pullRequestBody(viewOf(justStarted(), facts)), /^Estimate: about \\?\$\d/m)
  assert.equal(viewOf(midRun(), facts).expectedCost, null)
  assert.equal(viewOf(complete(), facts).expectedCost, null)
  assert.equal(viewOf(justStarted(), { limits, now: NOW }).expectedCost, null, 'nobody has looked')
})
