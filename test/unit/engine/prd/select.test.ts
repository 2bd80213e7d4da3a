// The next story, and the sums.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { addUsage, emptyUsage } from '../../../../src/engine/model/usage.ts'
import { counts, pickStory, remaining } from '../../../../src/engine/prd/select.ts'
import { arbitraryPrd, feature, story } from './samples.ts'

const one = (id: string, fields: Partial<Parameters<typeof story>[0]> = {}) =>
  story({ id, title: id, ...fields })

describe('the choice of the next story', () => {
  test('takes the lowest priority, then the order of the file', () => {
    const prd = feature(one('A', { priority: 2 }), one('B'), one('C'), one('D', { priority: 3 }))
    assert.equal(pickStory(prd)?.id, 'B')
    assert.equal(pickStory(prd, ({ id }) => id > 'B')?.id, 'C')
    assert.equal(
      pickStory(prd, () => false),
      null,
    )
  })

  test('leaves out passed, blocked and skipped stories', () => {
    const prd = feature(one('A', { passes: true }), one('B', { blocked: true }), one('C', { skipped: true }))
    assert.equal(pickStory(prd), null)
    assert.deepEqual(
      remaining(prd).map(({ id }) => id),
      ['B'],
    )
  })

  test('waits for dependencies; a skipped one counts as done, a blocked one does not', () => {
    const waits = one('B', { dependsOn: ['A'], priority: 0 })
    assert.equal(pickStory(feature(one('A'), waits))?.id, 'A')
    assert.equal(pickStory(feature(one('A', { passes: true }), waits))?.id, 'B')
    assert.equal(pickStory(feature(one('A', { skipped: true }), waits))?.id, 'B')
    assert.equal(pickStory(feature(one('A', { blocked: true }), waits)), null)
    assert.equal(pickStory(feature(waits)), null)
  })

  test('picks among 10,000 stories in limited time', () => {
    const prd = feature(
      ...Array.from({ length: 10_000 }, (_, index) =>
        one(`US-${index}`, {
          priority: 10_000 - index,
          dependsOn: index === 0 ? [] : [`US-${index - 1}`],
          passes: index < 5_000,
        }),
      ),
    )
    assert.equal(pickStory(prd)?.id, 'US-5000')
  })

  test('never picks a blocked, skipped, passed or waiting story, and always one that is ready', () => {
    fc.assert(
      fc.property(arbitraryPrd, (prd) => {
        const done = (id: string) =>
          prd.userStories.some((other) => other.id === id && (other.passes || other.skipped))
        const ready = prd.userStories.filter(
          (s) => !s.passes && !s.blocked && !s.skipped && s.dependsOn.every(done),
        )
        assert.equal(pickStory(prd), ready.toSorted((a, b) => a.priority - b.priority)[0] ?? null)
      }),
    )
  })
})

test('story counts have every story once', () => {
  const prd = feature(
    one('A', { passes: true, blocked: true, skipped: true }),
    one('B', { blocked: true }),
    one('C', { skipped: true, blocked: true }),
    one('D'),
  )
  assert.deepEqual(counts(prd), { total: 4, passed: 1, blocked: 1, skipped: 1, open: 1 })
})

test('addUsage sums estimated parts, and has none without an estimate', () => {
  const a = { ...emptyUsage(), costUsd: 3, estimatedCostUsd: 1 }
  assert.equal(addUsage(a, a).estimatedCostUsd, 2)
  assert.equal(addUsage(emptyUsage(), a).estimatedCostUsd, 1)
  assert.equal('estimatedCostUsd' in addUsage(emptyUsage(), emptyUsage()), false)
})

test('addUsage sums tokens, cost and calls', () => {
  const a = { ...emptyUsage(), calls: 1, costUsd: 0.5 }
  const b = { ...emptyUsage(), calls: 2, agentSeconds: 3 }
  assert.deepEqual(addUsage(a, b), { ...emptyUsage(), calls: 3, costUsd: 0.5, agentSeconds: 3 })
  assert.deepEqual(addUsage(emptyUsage(), emptyUsage()), emptyUsage())
})
