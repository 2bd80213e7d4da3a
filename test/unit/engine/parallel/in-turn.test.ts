// What a job of separate-job does for several attempts: whatever ends it, observers finish what they have begun.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { run } from '../../../../src/engine/driver.ts'
import { inTurn } from '../../../../src/engine/executors/in-turn.ts'
import { reduce } from '../../../../src/engine/reduce.ts'
import { limitsWith, NOW, stateOf, stories } from '../samples.ts'
import { portsOf, World } from '../train-world.ts'

const limits = limitsWith({ maxParallel: 2 })

for (const [name, turnOf, error] of [
  ['is done', async () => 'left' as const, null],
  ['throws', () => Promise.reject(new Error('the clone is damaged')), /the clone is damaged/],
] as const)
  test(`a separate job that ${name} waits for its observers`, async () => {
    const [scheduler = assert.fail()] = fc.sample(fc.scheduler(), 1)
    let settled = 0
    const settle = async () => {
      settled += 1
    }
    const observers = [{ settle }]
    const ports = { ...portsOf(new World([], scheduler)), observers }
    const start = { ...stateOf(stories('US-001')), published: 'base', baseline: 'green' as const }
    const begun = reduce(start, { kind: 'reserved', storyId: 'US-001', worker: '1', at: NOW }, limits)
    const ended = run(begun, limits, inTurn(limits, ports, turnOf))
    if (error === null) await ended
    else await assert.rejects(ended, error)
    assert.equal(settled, 1)
  })
