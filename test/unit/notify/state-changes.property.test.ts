// What is told of any chain of jobs: nothing twice, whatever dies.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Event } from '../../../src/engine/model/event.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { State } from '../../../src/engine/model/state.ts'
import type { Step } from '../../../src/engine/model/step.ts'
import type { Notice } from '../../../src/notify/state-changes.ts'
import {
  isDurable,
  type NoticeFacts,
  noticesOf,
  noticesOfEnd,
  noticesOfWait,
} from '../../../src/notify/state-changes.ts'
import { Watch } from '../engine/watch.ts'
import { arbitraryLimits, arbitraryStart, arbitraryTape, chain, Tape, World } from '../engine/world.ts'
import { runs } from '../runs.ts'

/** Tells as the observer does, in the worst case: each message is out before the job dies. */
class Listening extends Watch {
  readonly told: Notice[] = []
  readonly #facts: NoticeFacts
  #start: State | null = null
  #durable: State | null = null
  readonly #here = new Set<string>()

  constructor(limits: Limits) {
    super(1000)
    this.#facts = {
      limits,
      surface: 'comment',
      every: 2,
      repository: null,
      runUrl: null,
      redact: (text) => text,
      id: (words) => words,
    }
  }

  override claimed(saved: State, claimed: State): void {
    super.claimed(saved, claimed)
    this.#start = claimed
    this.#durable = claimed
    this.#here.clear()
  }

  override decided(state: State, step: Step, limits: Limits, now: number): void {
    super.decided(state, step, limits, now)
    if (this.#start !== null) this.#tell(noticesOfWait(this.#start, step, state, now, this.#facts))
  }

  override happened(before: State, event: Event, after: State, limits: Limits): void {
    super.happened(before, event, after, limits)
    if (this.#start === null || this.#durable === null) return
    if (isDurable(event)) {
      this.#tell(noticesOf(this.#durable, after, event.at, this.#facts))
      this.#durable = after
    }
    if (event.kind === 'reported') this.#tell(noticesOfEnd(this.#start, after, event.at, this.#facts))
  }

  #tell(notices: readonly Notice[]): void {
    for (const notice of notices) {
      if (this.#here.has(notice.delivery)) continue
      this.#here.add(notice.delivery)
      this.told.push(notice)
    }
  }
}

/** What a message is about, of whichever job. */
function about({ delivery, generation, event }: Notice): string {
  // A job ends once; everything else happens once in the run.
  return event === 'outcome' || event === 'waiting'
    ? delivery
    : delivery.replace(`/${generation}/${event}/`, `/${event}/`)
}

test('no notification is sent twice over any chain with a kill at any moment', async () => {
  const heard = new Set<string>()
  const property = fc.asyncProperty(
    arbitraryStart,
    arbitraryLimits,
    arbitraryTape,
    async (start, limits, numbers) => {
      const watch = new Listening(limits)
      await chain(start, limits, new World(new Tape(numbers, false), { people: true }), watch, {
        maxSteps: 3000,
        maxJobs: 20,
      })
      const words = watch.told.map(about)
      assert.deepEqual(words, [...new Set(words)])
      const budget = watch.told.filter(({ event }) => event === 'budget').map(({ delivery }) => delivery)
      assert.ok(budget.every((one) => /\/(?:50|80|100)\//.test(one)))
      assert.ok(watch.told.filter(({ event }) => event === 'start').length <= 1)
      for (const { event } of watch.told) heard.add(event)
    },
  )
  await fc.assert(property, { ...runs(60), interruptAfterTimeLimit: 8000 })
  assert.deepEqual([...heard].sort(), ['blocked', 'budget', 'outcome', 'progress', 'start', 'waiting'])
})
