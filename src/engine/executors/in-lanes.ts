// Works on several stories at the same time on one machine. Each attempt has a lane, its own work tree; what passed lands in the
// run's checkout.

import { messageOf } from '../../system/errors.ts'
import type { Executor } from '../driver.ts'
import { type Attempt, attemptKey, hasCandidate } from '../model/attempt.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Lane, Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { AttemptStep } from '../model/step.ts'
import { stateForStep } from '../parallel/state-for-step.ts'
import { nextAttemptStep, nextRunStep } from '../parallel-steps.ts'
import { ResumedCandidates } from './resumed.ts'

export function inLanes(limits: Limits, ports: Ports): Executor {
  const lanes = new Lanes(ports)
  const resumed = new ResumedCandidates()
  return {
    ports,
    isOwn: () => true,
    next: (state, isFree) =>
      resumed.next(state, ports.clock.now()) ??
      nextAttemptStep(state, limits, isFree) ??
      nextRunStep(state, limits, ports.clock.now()),
    async place(step, state) {
      // The lane is opened first: if that fails, nothing is reserved and nothing charged.
      if (step.kind === 'reserve') await lanes.reserve(state)
      if (!('attempt' in step) || step.kind === 'accept') return { at: 'here', ports, view: state }
      const view = stateForStep(step, state, step.attempt)
      const lane = await lanes.laneOf(step, state)
      return lane === null
        ? { at: 'here', ports: withoutLane(ports), view }
        : { at: 'lane', ports: { ...ports, ...lane }, view }
    },
    follow: (state) => lanes.freeEnded(state),
    close: () => lanes.close(),
  }
}

class Lanes {
  readonly #ports: Ports
  readonly #used = new Map<string, Lane>()
  readonly #free: Lane[] = []

  constructor(ports: Ports) {
    this.#ports = ports
  }

  async reserve(state: State): Promise<void> {
    if (this.#free.length === 0) this.#free.push(await this.#open(state))
  }

  /** The lane of an attempt. An attempt of a killed run gets a new one; null if it left no work that would need one. */
  async laneOf({ attempt }: AttemptStep, state: State): Promise<Lane | null> {
    const key = attemptKey(attempt)
    const known = this.#used.get(key)
    if (known !== undefined) return known
    if (!needsLane(attempt)) return null
    await this.reserve(state)
    const lane = this.#free.pop()
    if (lane === undefined) throw new Error(`no work tree is free for ${attempt.storyId}`)
    lane.assign(attempt.storyId)
    this.#used.set(key, lane)
    if (hasCandidate(attempt)) await lane.repository.checkOut(attempt.candidate.commit, null)
    return lane
  }

  freeEnded({ attempts }: State): void {
    for (const [key, lane] of this.#used) {
      if (attempts[key] !== undefined) continue
      this.#used.delete(key)
      this.#free.push(lane)
    }
  }

  async close(): Promise<void> {
    const closed = [...this.#free, ...this.#used.values()].map((lane) => lane[Symbol.asyncDispose]())
    for (const result of await Promise.allSettled(closed))
      if (result.status === 'rejected') this.#ports.warn(messageOf(result.reason))
  }

  #open(state: State): Promise<Lane> {
    const { openLane } = this.#ports
    if (openLane === undefined) throw new Error('these ports open no lanes')
    return openLane(state)
  }
}

/** For an attempt whose lane went with a killed run: there is nothing to inspect, and the run's own checkout stays unchanged. */
function withoutLane(ports: Ports): Ports {
  const repository: Ports['repository'] = {
    ...ports.repository,
    saveWork: async ({ kept }, storyId) => kept[storyId] ?? null,
    checkOut: async () => ({ conflict: null }),
  }
  return { ...ports, repository }
}

/** Only a session or a candidate needs a work tree. Everything else that a killed run left is gone with its lane. */
function needsLane(attempt: Attempt): boolean {
  return attempt.phase === 'reserved' || hasCandidate(attempt)
}
