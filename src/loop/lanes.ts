// The loop with several stories in work: one state, one decision after the other, and the steps of attempts side by side.

import type { Attempt } from '../model/attempt.ts'
import { EVENTS, type Event } from '../model/event.ts'
import type { Limits } from '../model/limits.ts'
import type { Lane, Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { announce, type Ended, settled } from './loop.ts'
import { attemptSteps, stepBeside } from './next-steps.ts'
import { perform } from './perform.ts'
import { reduce } from './reduce.ts'
import { alone, landedBefore } from './train.ts'

type Performed = { step: Step; event: Event }

/** Works until the job's outcome, with at most `limits.maxParallel` stories at the same time. Throws as `loop` does. */
export async function lanes(start: State, limits: Limits, ports: Ports): Promise<Ended> {
  const run = new Run(start, limits, ports)
  try {
    return await run.turns()
  } finally {
    await run.end()
    await settled(ports)
  }
}

class Run {
  #state: State
  readonly #limits: Limits
  readonly #ports: Ports
  /** Steps in work, by the story. */
  readonly #working = new Map<string, Promise<Performed>>()
  readonly #lanes = new Map<string, Lane>()
  readonly #free: Lane[] = []
  readonly #stop = new AbortController()

  constructor(state: State, limits: Limits, ports: Ports) {
    this.#state = state
    this.#limits = limits
    this.#ports = ports
  }

  async turns(): Promise<Ended> {
    for (;;) {
      const [ready] = attemptSteps(this.#state, this.#limits, (id) => this.#working.has(id))
      if (ready !== undefined) {
        await this.#begin(ready)
        continue
      }
      const step = stepBeside(this.#state, this.#limits, this.#ports.clock.now())
      if (step?.kind === 'stop') return { conclusion: step.conclusion, state: this.#state }
      if (step !== null) await this.#happened(await this.#performed(step, this.#state, this.#ports))
      else await this.#next()
    }
  }

  /** Whatever ended the run: nothing is left at work. */
  async end(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled(this.#working.values())
    for (const lane of [...this.#free, ...this.#lanes.values()]) await lane[Symbol.asyncDispose]()
  }

  async #begin(step: Step): Promise<void> {
    if (!('attempt' in step)) return
    const { attempt } = step
    const { storyId } = attempt
    if (step.kind === 'accept') {
      return this.#happened(await this.#performed(step, this.#state, this.#ports))
    }
    const lane = await this.#laneOf(attempt)
    const signal = AbortSignal.any([this.#ports.signal, this.#stop.signal])
    const ports = lane === null ? this.#ports : { ...this.#ports, ...lane, signal }
    this.#working.set(storyId, this.#performed(step, seenBy(step, this.#state, attempt), ports))
  }

  /** The work tree of an attempt; null for one whose work tree went with another process. */
  async #laneOf({ storyId, phase }: Attempt): Promise<Lane | null> {
    const known = this.#lanes.get(storyId)
    if (known !== undefined) return known
    if (phase !== 'reserved') return null
    const { openLane } = this.#ports
    if (openLane === undefined) throw new Error('these ports open no lanes')
    const lane = this.#free.pop() ?? (await openLane(this.#state))
    lane.takes(storyId)
    this.#lanes.set(storyId, lane)
    return lane
  }

  async #performed(step: Step, state: State, ports: Ports): Promise<Performed> {
    if (step.kind === 'stop') throw new Error('nothing is performed at the stop')
    await announce(ports, (observer) => observer.step?.(step, state))
    return { step, event: await perform(step, state, this.#limits, ports) }
  }

  /** Waits for a step that is in work. One that was cut short is heard last: it gives all attempts back. */
  async #next(): Promise<void> {
    const first = await Promise.race(this.#working.values())
    const isCut = first.event.kind === 'interrupted' || first.event.kind === 'out-of-time'
    const all = isCut ? await Promise.all(this.#working.values()) : [first]
    const isLast = ({ event }: Performed) => event.kind === 'interrupted' || event.kind === 'out-of-time'
    for (const one of [...all.filter((done) => !isLast(done)), ...all.filter(isLast)])
      await this.#happened(one)
  }

  async #happened({ step, event }: Performed): Promise<void> {
    if ('attempt' in step) this.#working.delete(step.attempt.storyId)
    this.#state = reduce(this.#state, event, this.#limits)
    const { attempts, job } = this.#state
    // Once it is published the lease is free, and the state belongs to the next run.
    if (EVENTS[event.kind].durable && job.ending?.published !== true) await this.#save()
    for (const [storyId, lane] of this.#lanes) {
      if (attempts[storyId] !== undefined) continue
      this.#lanes.delete(storyId)
      this.#free.push(lane)
    }
    await announce(this.#ports, (observer) => observer.event?.(event, this.#state))
  }

  async #save(): Promise<void> {
    await this.#ports.store.save(this.#state)
  }
}

/** What a step sees of the run: its own attempt alone, on the commit that it stands on, or is to stand on. */
function seenBy(step: Step, state: State, attempt: Attempt): State {
  if (step.kind === 'rebase')
    return { ...alone(landedBefore(state, attempt.storyId), attempt), green: step.onto }
  if (step.kind === 'guard') return alone(landedBefore(state, attempt.storyId), attempt)
  return alone(state, attempt)
}
