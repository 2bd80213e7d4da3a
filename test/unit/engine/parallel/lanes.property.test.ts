// Stories side by side: the driver itself, with ports whose answers come in any order. What lands was gated as it lands.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { takeOver, withoutStaleCandidates } from '../../../../src/engine/attempts/lost-attempts.ts'
import { runToEnd } from '../../../../src/engine/driver.ts'
import { inLanes } from '../../../../src/engine/executors/in-lanes.ts'
import type { Event } from '../../../../src/engine/model/event.ts'
import type { Ports } from '../../../../src/engine/model/ports.ts'
import { runUsage } from '../../../../src/engine/model/usage-totals.ts'
import { newStory } from '../../../../src/engine/prd/schema.ts'
import { reduce } from '../../../../src/engine/reduce.ts'
import { runs } from '../../runs.ts'
import { built, gate, limitsWith, session, stateOf, used } from '../samples.ts'
import {
  arbitraryLimits,
  arbitraryStories,
  besideEachOther,
  knownToShare,
  laneOf,
  portsOf,
  World,
} from '../train-world.ts'

test('lanes that end in any order: each landed tree was gated once as it landed, and no limit is exceeded', async () => {
  const property = fc.asyncProperty(
    arbitraryStories,
    arbitraryLimits,
    fc.array(fc.nat(1000), { maxLength: 60 }),
    fc.scheduler(),
    async (userStories, limits, numbers, scheduler) => {
      const world = new World(numbers, scheduler)
      world.hasContests = limits.candidates !== undefined
      const start = stateOf(userStories, { published: 'base' })
      const { state, conclusion } = await scheduler.waitFor(
        runToEnd(start, limits, inLanes(limits, portsOf(world))),
      )
      assert.equal(world.open, 0, 'every work tree is closed')
      assert.equal(world.atWork, 0, 'every session has ended')
      assert.ok(world.mostAtWork <= limits.maxParallel)
      assert.equal(world.gatedAgain, 0, 'a candidate that gates were green on is not gated again')
      const { iterations } = state.prd.run
      const usage = runUsage(state)
      // A session costs a dollar: those that are at work when the limit is reached come to their end.
      if (limits.maxCostUsd !== null) assert.ok(usage.costUsd < limits.maxCostUsd + limits.maxParallel)
      if (limits.maxIterations > 0) assert.ok(iterations <= limits.maxIterations, `${iterations} iterations`)
      assert.equal(usage.calls, world.sessions)
      assert.deepEqual(state.attempts, {})
      const charged = state.timeline.filter(
        ({ result, summary }) => result !== 'returned' || /same lines/.test(summary),
      )
      assert.equal(charged.filter(({ result }) => result !== 'reset').length, iterations)
      const all = state.prd.userStories
      if (conclusion.outcome === 'complete') assert.ok(all.every(({ passes }) => passes))
      for (const { touches, ids } of besideEachOther(world.saved))
        assert.equal(new Set(touches).size, touches.length, `${ids.join(', ')} were in work together`)
      assert.deepEqual(knownToShare(world.saved), [])
    },
  )
  await fc.assert(property, { ...runs(150), interruptAfterTimeLimit: 15_000 })
})

test('lanes that end in any order without a red gate: each candidate is gated once, after those before it', async () => {
  const property = fc.asyncProperty(
    fc.integer({ min: 2, max: 8 }),
    fc.scheduler(),
    async (stories, scheduler) => {
      const world = new World([], scheduler)
      const userStories = Array.from({ length: stories }, (_, at) =>
        newStory({ id: `US-${at}`, title: `story ${at}` }),
      )
      const limits = limitsWith({ maxParallel: stories, finalVerification: false })
      const start = stateOf(userStories, { published: 'base' })
      const ended = await scheduler.waitFor(runToEnd(start, limits, inLanes(limits, portsOf(world))))
      assert.equal(ended.conclusion.outcome, 'complete')
      assert.equal(world.gateRuns, stories)
    },
  )
  await fc.assert(property, { ...runs(100), interruptAfterTimeLimit: 15_000 })
})

/** A world in which everything goes well, and the run in it. */
function plainRun(change: (ports: Ports) => Ports) {
  const scheduler = fc.sample(fc.scheduler(), 1)[0] ?? assert.fail()
  const world = new World([], scheduler)
  const start = stateOf([newStory({ id: 'US-0', title: 'one' }), newStory({ id: 'US-1', title: 'two' })], {
    published: 'base',
  })
  const limits = limitsWith({ maxParallel: 2 })
  const ended = runToEnd(start, limits, inLanes(limits, change(portsOf(world))))
  return { world, ended }
}

test('a session that throws while the driver waits ends the run, and closes every work tree', async () => {
  const { world, ended } = plainRun((ports) => ({
    ...ports,
    // People are asked while the first session has thrown already.
    queue: { ...ports.queue, read: () => new Promise((resolve) => setImmediate(() => resolve([]))) },
    openLane: async () => {
      const lane = laneOf(world)
      return { ...lane, agent: { ...lane.agent, work: async () => assert.fail('it broke') } }
    },
  }))
  await assert.rejects(ended, /it broke/)
  assert.equal(world.open, 0)
})

test('without disk space for a work tree no attempt is reserved', async () => {
  const { world, ended } = plainRun((ports) => ({
    ...ports,
    openLane: async () => assert.fail('no space left on device'),
  }))
  await assert.rejects(ended, /no space left on device/)
  assert.ok(world.saved.every(({ attempts }) => Object.keys(attempts).length === 0))
})

test('a prepare that fails in a lane ends the run with its reason, and charges no story', async () => {
  let prepared = 0
  const { world, ended } = plainRun((ports) => ({
    ...ports,
    openLane: async () => {
      const lane = laneOf(world)
      const prepare = async () => {
        prepared += 1
        return { ...gate(false), name: 'prepare' }
      }
      return { ...lane, gates: { ...lane.gates, canPrepare: true, prepare } }
    },
  }))
  const { state, conclusion } = await ended
  assert.equal(conclusion.outcome, 'error')
  assert.match(conclusion.reason, /prepare failed/)
  assert.ok(prepared <= 2, `${prepared} times`)
  assert.deepEqual(state.attempts, {})
  assert.equal(state.prd.run.iterations, 0)
  assert.equal(world.sessions, 0)
})

test('attempts of a killed run with lanes are given back without a look at the checkout', async () => {
  const scheduler = fc.sample(fc.scheduler(), 1)[0] ?? assert.fail()
  const world = new World([], scheduler)
  const ids = ['US-0', 'US-1', 'US-2']
  const limits = limitsWith({ maxParallel: 3 })
  const stories = ids.map((id) => newStory({ id, title: id }))
  const start = stateOf(stories, { published: 'base' })
  const killed = ids.reduce(
    (state, storyId) => reduce(state, { kind: 'reserved', storyId, at: 1 }, limits),
    start,
  )
  assert.equal(Object.keys(killed.attempts).length, 3)
  const ports = portsOf(world)
  let [now, most] = [0, 0]
  const checkOut = async () => {
    now += 1
    most = Math.max(most, now)
    await new Promise((resolve) => setImmediate(resolve))
    now -= 1
    return { conflict: null }
  }
  const given = { ...ports, repository: { ...ports.repository, checkOut } }
  const { state } = await scheduler.waitFor(runToEnd(takeOver(killed), limits, inLanes(limits, given)))
  assert.equal(most, 1)
  assert.deepEqual(state.attempts, {})
  assert.ok(state.prd.userStories.every(({ passes }) => passes))
})

test('an error in one lane: what the other sessions used is saved, and a finished candidate stays', async () => {
  const scheduler = fc.sample(fc.scheduler(), 1)[0] ?? assert.fail()
  const world = new World([], scheduler)
  const ids = ['US-0', 'US-1', 'US-2']
  const limits = limitsWith({ maxParallel: 3 })
  const start = stateOf(
    ids.map((id) => newStory({ id, title: id })),
    { published: 'base' },
  )
  const cut = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve))
  let gatesRun = () => {}
  const gated = new Promise<void>((resolve) => {
    gatesRun = resolve
  })
  const ports = portsOf(world)
  const openLane = async () => {
    const lane = laneOf(world)
    const work: typeof lane.agent.work = async (_state, { storyId }, _bounds, signal) => {
      if (storyId === 'US-0') return session({})
      await gated
      if (storyId === 'US-2') throw new Error('the disk is full')
      await cut(signal)
      return session({ status: 'interrupted', usage: used(2) })
    }
    const run: typeof lane.gates.run = async (_run, signal) => {
      gatesRun()
      await cut(signal)
      return []
    }
    return { ...lane, agent: { ...lane.agent, work }, gates: { ...lane.gates, run } }
  }
  const store = { ...ports.store, note: ports.store.save }
  const ended = runToEnd(start, limits, inLanes(limits, { ...ports, store, openLane }))
  await assert.rejects(scheduler.waitFor(ended), /the disk is full/)
  const last = world.saved.at(-1) ?? assert.fail()
  assert.equal(last.attempts['US-0']?.phase, 'guarded')
  assert.equal(runUsage(last).costUsd, 3, 'one session that finished, and one that was cut short')
})

test('candidates of one story count as one interruption, and what people closed meanwhile is not gated', () => {
  const limits = limitsWith({ maxParallel: 3, candidates: { run: 3, fromAttempt: 1, byTag: [] } })
  const start = stateOf([newStory({ id: 'US-0', title: 'one' })], { published: 'base' })
  const ids = [1, 2, 3].map((slot) => ({ storyId: 'US-0', slot }))
  const events: Event[] = [
    ...ids.map(() => ({ kind: 'reserved' as const, storyId: 'US-0', at: 1 })),
    ...ids.map((id) => ({ kind: 'worked' as const, ...id, session: session({}), at: 2 })),
    ...ids.map((id) => ({ kind: 'guarded' as const, ...id, candidate: built(`c${id.slot}`), at: 3 })),
  ]
  const killed = events.reduce((state, event) => reduce(state, event, limits), start)
  const taken = takeOver(killed, { inLanes: true, canGateCandidates: true })
  assert.deepEqual(
    Object.values(taken.attempts).map((one) => [one.phase, 'resumed' in one && one.resumed]),
    ids.map(() => ['guarded', true]),
  )
  assert.equal(taken.records['US-0']?.interruptions, 1)
  const userStories = taken.prd.userStories.map((story) => ({ ...story, skipped: true }))
  const skipped = { ...taken, prd: { ...taken.prd, userStories } }
  const left = withoutStaleCandidates(taken, skipped)
  assert.ok(Object.values(left.attempts).every(({ phase }) => phase === 'returned'))
})
