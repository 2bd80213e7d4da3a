// Chains of jobs in a random world: what design 5 promises holds at every step, and every chain comes to an end.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { outcomes } from '../../../src/engine/model/feature.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import { MAX_LIMITED } from '../../../src/engine/state/limits.ts'
import { runs } from '../runs.ts'
import { Watch } from './watch.ts'
import { arbitraryLimits, arbitraryStart, arbitraryTape, chain, MAX_DEATHS, Tape, World } from './world.ts'

/**
 * Steps that a job of a feature can take when nobody intervenes, whatever the world answers. A story takes at most
 * max-attempts strikes and passes at most once more than it is struck; between two charged attempts at most four
 * are given back (the waits double from half a minute, and the fifth is too long for a job), and MAX_LIMITED where a
 * job waits as long as it takes. An attempt is nine
 * steps at most (sync, wait, sync, reserve, agent, guard, gates, judge, settled; and a push), a verification four.
 */
function maxSteps(storyCount: number, limits: Limits): number {
  const charged = storyCount * (2 * limits.maxAttempts + 1)
  const tries = 5 + (limits.waits ? MAX_LIMITED : 0)
  const batch = limits.iterationsPerJob === 0 ? charged * tries + tries : 2 * limits.iterationsPerJob + 1
  const verifications =
    (storyCount * limits.maxAttempts + limits.maxAttempts) * (limits.waits ? tries : 1) + 5
  return 20 + 10 * batch + 4 * verifications
}

/** The time limit is for finding the smallest counterexample; all runs together take about a second. */
const RUNS = { ...runs(100), interruptAfterTimeLimit: 8000 }

describe('chains of jobs', () => {
  test('with comments, pushes and returns of people keep every invariant at every step', async () => {
    const property = fc.asyncProperty(
      arbitraryStart,
      arbitraryLimits,
      arbitraryTape,
      async (start, limits, numbers) => {
        const world = new World(new Tape(numbers, false), { people: true })
        await chain(start, limits, world, new Watch(), { maxSteps: 3000, maxJobs: 20 })
      },
    )
    await fc.assert(property, RUNS)
  })

  test('without interventions end each job in a limited number of steps, and the chain within max-jobs', async () => {
    const property = fc.asyncProperty(
      arbitraryStart,
      arbitraryLimits,
      arbitraryTape,
      async (start, limits, numbers) => {
        const world = new World(new Tape(numbers, true), { people: false })
        // A plan here has two stories.
        const steps = maxSteps(start.prd.userStories.length + (start.plan === undefined ? 0 : 3), limits)
        const ran = await chain(start, limits, world, new Watch(), {
          maxSteps: steps,
          maxJobs: limits.maxJobs + 1 + MAX_DEATHS,
        })
        assert.notEqual(ran.conclusion, null, `no outcome after ${ran.jobs} jobs`)
        assert.ok(outcomes.includes(ran.conclusion?.outcome ?? 'continued'))
      },
    )
    await fc.assert(property, RUNS)
  })
})
