// Workers that save at the same time: how many tries a save takes, on a clock of the test's own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as settled } from 'node:timers/promises'
import fc from 'fast-check'
import { Journal } from '../../../../src/engine/journal.ts'
import { LeaseLost, type StorePort } from '../../../../src/engine/model/ports.ts'
import { newStory } from '../../../../src/engine/prd/schema.ts'
import { runs } from '../../runs.ts'
import { limitsWith, NOW, stateOf } from '../samples.ts'

const WORKERS = 16
/** How long a push takes, and a look with its fetch, in milliseconds; each up to a fifth more or less. */
const PUSH = 700
const LOOK = 500

/** A clock that goes to the next moment as soon as nobody has anything left to do in this one. */
class Time {
  now = 0
  readonly #waiting: { at: number; go: () => void }[] = []

  sleep(ms: number): Promise<void> {
    return new Promise((go) => this.#waiting.push({ at: this.now + ms, go }))
  }

  async until(all: Promise<unknown>): Promise<void> {
    let isOver = false
    const over = all.finally(() => {
      isOver = true
    })
    for (await settled(); !isOver; await settled()) {
      this.#waiting.sort((a, b) => a.at - b.at)
      const next = this.#waiting.shift()
      assert.ok(next !== undefined, 'nobody waits, and it is not over')
      this.now = next.at
      next.go()
    }
    await over
  }
}

/** All workers save once, at the same moment; the same durations in each case. `pauses`: false for no pause between tries. */
async function saveTogether(seed: number, pauses: boolean) {
  const [durations, chance] = [randomFrom(seed), randomFrom(seed + 1)]
  const time = new Time()
  const ids = Array.from({ length: WORKERS }, (_, at) => `US-${at}`)
  const start = stateOf(ids.map((id) => newStory({ id, title: id })))
  const limits = limitsWith({ maxParallel: WORKERS })
  const remote = { version: 0, state: start }
  let tries = 0
  const saves = ids.map(async (storyId) => {
    let known = 0
    const store: Pick<StorePort, 'save' | 'loadNewest'> = {
      async save(state) {
        tries += 1
        await time.sleep(PUSH * (0.8 + 0.4 * durations()))
        if (known !== remote.version) throw new LeaseLost('moved')
        remote.version += 1
        remote.state = state
      },
      async loadNewest() {
        await time.sleep(LOOK * (0.8 + 0.4 * durations()))
        known = remote.version
        return remote.state
      },
    }
    const clock = { now: () => time.now, sleep: (ms: number) => time.sleep(pauses ? ms : 0) }
    const { signal } = new AbortController()
    const shared = new Journal(
      start,
      limits,
      {
        clock,
        random: chance,
        signal,
        store,
        observers: [],
        warn: assert.fail,
      },
      true,
    )
    await shared.apply({ kind: 'assigned', storyId, worker: null, at: NOW })
    await shared.save()
  })
  await time.until(Promise.all(saves))
  return { tries: tries / WORKERS, seconds: time.now / 1000, saved: remote.version }
}

/** Numbers from 0 to 1, the same for a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let at = seed | 0
  return () => {
    at = (at + 0x6d2b79f5) | 0
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test('sixteen workers that save at the same moment all save, and a random pause halves the tries', async (t) => {
  const all: { paused: number; atOnce: number; seconds: number; secondsAtOnce: number }[] = []
  const property = fc.asyncProperty(fc.nat(), async (seed) => {
    const paused = await saveTogether(seed, true)
    const atOnce = await saveTogether(seed, false)
    assert.equal(paused.saved, WORKERS)
    assert.ok(paused.tries < atOnce.tries, `${paused.tries} tries with pauses, ${atOnce.tries} at once`)
    all.push({
      paused: paused.tries,
      atOnce: atOnce.tries,
      seconds: paused.seconds,
      secondsAtOnce: atOnce.seconds,
    })
  })
  await fc.assert(property, runs(20))
  const mean = (name: keyof (typeof all)[number]) => all.reduce((sum, one) => sum + one[name], 0) / all.length
  t.diagnostic(
    `tries a save ${mean('paused').toFixed(1)}, at once ${mean('atOnce').toFixed(1)}; ` +
      `all saved after ${mean('seconds').toFixed(0)} s, at once ${mean('secondsAtOnce').toFixed(0)} s`,
  )
  assert.ok(mean('paused') < 4.5, `${mean('paused')} tries a save`)
})
