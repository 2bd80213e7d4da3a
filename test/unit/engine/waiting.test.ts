// How a wait is performed: by a wall clock that a test turns, so that nothing here sleeps.
import assert from 'node:assert/strict'
import test from 'node:test'
import { EVENTS } from '../../../src/engine/model/event.ts'
import type { Ports } from '../../../src/engine/model/ports.ts'
import { perform } from '../../../src/engine/perform.ts'
import { HOUR, limitsWith, MINUTE, NOW, stateOf, stories } from './samples.ts'

type World = {
  /** What one sleep takes by the wall clock; the timer's own time where it says nothing. */
  sleeps?: (ms: number) => number
  arrivesAt?: number
  cancelledAt?: number
}

/** Waits until `until`; gives how it ended, how long that took, and how often the clock was looked at. */
async function waited(until: number, { sleeps = (ms) => ms, arrivesAt, cancelledAt }: World = {}) {
  let now = NOW
  let looks = 0
  const cancel = new AbortController()
  // Whatever else a wait would ask fails loudly.
  const ports = {
    clock: {
      now: () => now,
      sleep: async (ms: number) => {
        now += sleeps(ms)
        looks += 1
        if (cancelledAt !== undefined && now >= cancelledAt) cancel.abort()
      },
    },
    queue: { arrived: async () => arrivesAt !== undefined && now >= arrivesAt },
    signal: cancel.signal,
  } as unknown as Ports
  const base = stateOf(stories('US-001'))
  const state = { ...base, job: { ...base.job, deadline: Number.MAX_SAFE_INTEGER } }
  const step = { kind: 'wait' as const, until, reason: 'x' }
  const event = await perform(step, state, limitsWith({ waits: true }), ports)
  return { event, took: now - NOW, looks }
}

test('a wait ends at its time', async () => {
  const { event, took } = await waited(NOW + MINUTE)
  assert.deepEqual([event.kind, event.at, took], ['waited', NOW + MINUTE, MINUTE])
})

test('a wait during which the machine was asleep ends when it wakes', async () => {
  const { event, looks } = await waited(NOW + 2 * HOUR, { sleeps: (ms) => ms + 3 * HOUR })
  assert.deepEqual([event.kind, looks], ['waited', 1])
})

test('a long wait saves the state regularly, which renews the lease', async () => {
  const { event, took } = await waited(NOW + 9 * HOUR)
  assert.ok(EVENTS[event.kind].isDurable)
  assert.equal(took, 5 * MINUTE)
})

test('a command typed during a wait ends it at once', async () => {
  const { event, took } = await waited(NOW + MINUTE, { arrivesAt: NOW + 5000 })
  assert.deepEqual([event.kind, took], ['waited', 5000])
})

test('Ctrl+C during a wait ends it at once', async () => {
  const { event, took } = await waited(NOW + MINUTE, { cancelledAt: NOW + 5000 })
  assert.deepEqual([event.kind, took], ['interrupted', 5000])
})
