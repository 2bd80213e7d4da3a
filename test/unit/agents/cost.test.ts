// Costs that Ralph computes itself.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noUsage } from '../../../src/agents/agent.ts'
import { costByPrices } from '../../../src/agents/cost.ts'

const usage = { ...noUsage(), inputTokens: 1_000_000, cachedTokens: 400_000, outputTokens: 100_000 }
const prices = {
  small: { input: 1, output: 5, cached: 0.1 },
  big: { input: 10, output: 50, cached: null },
}

test("cost is tokens at the model's prices, with the price of cached input where there is one", () => {
  assert.equal(costByPrices(usage, prices, 'small'), 1.14)
  assert.equal(costByPrices(usage, prices, 'big'), 10 + 5)
})

test('an unknown model is charged at the price of the dearest one', () => {
  assert.equal(costByPrices(usage, prices, null), 15)
  assert.equal(costByPrices(usage, prices, 'other'), 15)
  assert.equal(costByPrices(usage, prices, 'constructor'), 15)
})

test('without prices the cost is unknown, and more cached than sent tokens lower nothing', () => {
  assert.equal(costByPrices(usage, {}, 'small'), null)
  assert.equal(costByPrices({ ...usage, inputTokens: 0 }, prices, 'small'), 0.5)
})
