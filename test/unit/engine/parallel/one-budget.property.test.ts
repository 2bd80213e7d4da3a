// Stories side by side have one budget, in one process and in the workers of a wave; and what people say reaches all of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { run as drive, runToEnd } from '../../../../src/engine/driver.ts'
import { inLanes } from '../../../../src/engine/executors/in-lanes.ts'
import { inWave } from '../../../../src/engine/executors/in-wave.ts'
import type { Command } from '../../../../src/engine/model/event.ts'
import type { Limits } from '../../../../src/engine/model/limit-types.ts'
import { LeaseLost, type Ports } from '../../../../src/engine/model/ports.ts'
import type { State } from '../../../../src/engine/model/state.ts'
import { runUsage } from '../../../../src/engine/model/usage-totals.ts'
import { newStory } from '../../../../src/engine/prd/schema.ts'
import { reservedUsage } from '../../../../src/engine/state/record-session.ts'
import { runs } from '../../runs.ts'
import { limitsWith, stateOf } from '../samples.ts'
import { agentOf, portsOf, World } from '../train-world.ts'

const STORIES = Array.from({ length: 12 }, (_, at) => newStory({ id: `US-${at}`, title: `story ${at}` }))

type Run = { world: World; limits: Limits; start: State; queue: Ports['queue'] }

/** All lanes of one process. */
async function lanes({ world, limits, start, queue }: Run): Promise<void> {
  await runToEnd(start, limits, inLanes(limits, { ...portsOf(world), queue }))
}

/** As many workers, each a process, with a state that is moved by compare-and-swap. */
async function wave({ world, limits, start, queue }: Run): Promise<void> {
  const ready = { synced: false, prepared: true, opened: true }
  const wave = { workers: limits.maxParallel, isOver: false }
  let remote: State = { ...start, job: { ...start.job, ready, wave } }
  let version = 0
  const worker = (name: string) => {
    const ports = portsOf(world)
    const first = remote
    let known = version
    const store: Ports['store'] = {
      ...ports.store,
      save: (state) =>
        world.later('save', () => {
          if (known !== version) throw new LeaseLost('moved')
          remote = JSON.parse(JSON.stringify(state))
          version += 1
          known = version
          world.save(remote, (base) => world.heads.includes(base))
        }),
      loadNewest: () =>
        world.later('newest', () => {
          known = version
          return structuredClone(remote)
        }),
    }
    const given = { ...ports, store, queue, agent: agentOf(world), openCleanRoom: null }
    return drive(structuredClone(first), limits, inWave(limits, given, { worker: name, begins: true }))
  }
  await Promise.all(Array.from({ length: limits.maxParallel }, (_, at) => worker(`${at + 1}`)))
}

const WAYS = { lanes, wave }
const people = {
  maxParallel: fc.integer({ min: 2, max: 5 }),
  numbers: fc.array(fc.nat(1000), { maxLength: 40 }),
}

/** The states in which a story was begun that was not in work before, with its id. */
function begun(saved: readonly State[]): { state: State; id: string }[] {
  return saved.flatMap((state, at) =>
    Object.keys(state.attempts)
      .filter((id) => saved[at - 1]?.attempts[id] === undefined)
      .map((id) => ({ state, id })),
  )
}

/** What was spent and what the other sessions in work are expected to spend, when a story is begun. */
function counted(state: State, id: string): number {
  return Object.values(state.attempts)
    .filter((other) => other.storyId !== id && other.phase === 'reserved')
    .reduce((sum, other) => sum + reservedUsage(other).costUsd, runUsage(state).costUsd)
}

for (const [name, run] of Object.entries(WAYS)) {
  test(`${name}: limits are exceeded by no more than the sessions reserved before`, async () => {
    const property = fc.asyncProperty(
      fc.record({
        ...people,
        maxCostUsd: fc.constantFrom(null, 2, 4.5),
        maxIterations: fc.constantFrom(0, 2, 5),
        callsPerHour: fc.constantFrom(null, 2, 6),
      }),
      fc.scheduler(),
      async ({ numbers, ...changes }, scheduler) => {
        const world = new World(numbers, scheduler)
        const limits = limitsWith({ ...changes, finalVerification: false, waits: false })
        const start = stateOf(STORIES, { published: 'base' })
        const { queue } = portsOf(world)
        await scheduler.waitFor(run({ world, limits, start, queue }))
        const { maxCostUsd, maxIterations, callsPerHour, maxParallel } = limits
        const last = world.saved.at(-1) ?? assert.fail()
        if (callsPerHour !== null) assert.ok(world.sessions <= callsPerHour, `${world.sessions} calls`)
        if (maxIterations > 0) assert.ok(last.prd.run.iterations <= maxIterations)
        if (maxCostUsd === null) return
        // A session costs a dollar.
        assert.ok(runUsage(last).costUsd < maxCostUsd + maxParallel, `$${runUsage(last).costUsd}`)
        for (const { state, id } of begun(world.saved)) assert.ok(counted(state, id) < maxCostUsd, id)
      },
    )
    await fc.assert(property, { ...runs(100), interruptAfterTimeLimit: 15_000 })
  })

  test(`${name}: pause and stop reach all workers between iterations, and a skipped story is not begun`, async () => {
    const command = fc.oneof(
      fc.constantFrom<Command>({ id: 1, by: 'alice', kind: 'pause' }, { id: 1, by: 'alice', kind: 'stop' }),
      fc
        .nat(11)
        .map((at): Command => ({ id: 1, by: 'alice', kind: 'skip', stories: [`US-${at}`], guidance: '' })),
    )
    const property = fc.asyncProperty(
      fc.record({ ...people, command, after: fc.integer({ min: 1, max: 8 }) }),
      fc.scheduler(),
      async ({ numbers, maxParallel, command: said, after }, scheduler) => {
        const world = new World(numbers, scheduler)
        const limits = limitsWith({ maxParallel, finalVerification: false, waits: false })
        const queue: Ports['queue'] = {
          ...portsOf(world).queue,
          read: async ({ control }) =>
            world.sessions >= after && control.lastComment < said.id ? [said] : [],
        }
        await scheduler.waitFor(run({ world, limits, start: stateOf(STORIES, { published: 'base' }), queue }))
        for (const { state, id } of begun(world.saved)) {
          const story = state.prd.userStories.find((one) => one.id === id)
          assert.equal(state.control.paused, null, `${id} was begun although the run was paused`)
          assert.equal(story?.skipped, false, `${id} was begun although it was skipped`)
        }
        // Heard by the next that begins: the sessions that run at that time, and one for each worker, are the most that follow.
        if (said.kind !== 'skip')
          assert.ok(world.sessions <= after + 2 * maxParallel, `${world.sessions} sessions`)
        assert.equal(world.atWork, 0, 'sessions in work come to their end')
      },
    )
    await fc.assert(property, { ...runs(50), interruptAfterTimeLimit: 15_000 })
  })
}
