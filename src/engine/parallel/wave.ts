// A worker of a wave: one of several processes that share a state, each with one attempt in work.

import { notifyObservers } from '../loop.ts'
import { type AttemptId, attemptKey, hasCandidate, idOf } from '../model/attempt.ts'
import { EVENTS, type Event } from '../model/event.ts'
import type { Limits } from '../model/limit-types.ts'
import { LeaseLost, type Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { perform } from '../perform.ts'
import { stateForStep } from './lanes.ts'
import { nextWorkerStep, type WorkerStep } from './parallel-steps.ts'
import { SharedState } from './shared-state.ts'

export type Worker = {
  /** Its name in the wave. */
  worker: string
  /** False for a worker that only finishes attempts that others left. */
  begins: boolean
}

/**
 * Works on one story after the other, until there is nothing to do for this worker; gives the state at its end. Throws LeaseLost
 * when the wave is over, or another run has taken the feature.
 */
export function workInWave(start: State, limits: Limits, ports: Ports, who: Worker): Promise<State> {
  return new Turns(start, limits, ports, who).run()
}

class Turns {
  readonly #shared: SharedState
  readonly #limits: Limits
  readonly #ports: Ports
  readonly #who: Worker
  /** Its time is over: it finishes its own attempt, and takes no other. */
  #isEnding = false

  constructor(start: State, limits: Limits, ports: Ports, who: Worker) {
    this.#shared = new SharedState(start, limits, ports)
    this.#limits = limits
    this.#ports = ports
    this.#who = who
  }

  async run(): Promise<State> {
    const shared = this.#shared
    for (;;) {
      const step = nextWorkerStep(shared.state, this.#limits, this.#ports.clock.now(), this.#who)
      const isOwn = step !== null && (step.kind === 'leave' || 'attempt' in step)
      if (step === null || (this.#isEnding && !isOwn)) return shared.state
      if (step.kind === 'leave') await this.#assign(step.id, null)
      else if (step.kind === 'take') await this.#take(step.id)
      else await this.#perform(step)
    }
  }

  async #perform(step: Exclude<WorkerStep, { kind: 'leave' | 'take' }>): Promise<void> {
    const shared = this.#shared
    const before = shared.state
    const stepState = 'attempt' in step ? stateForStep(step, before, step.attempt) : before
    const isReserved = step.kind === 'reserve'
    if (!isReserved) await this.#announce(step, before)
    const result = await perform(step, stepState, this.#limits, this.#ports).catch(async (error: unknown) => {
      // The usage of the session has to be saved, whatever error its work caused.
      await shared.save().catch((lost: unknown) => {
        if (lost instanceof LeaseLost) throw lost
      })
      throw error
    })
    const event = this.#ofThisWorker(step, result)
    if (event === null) return
    shared.apply(event)
    if (EVENTS[event.kind].isShared) await shared.save()
    // Another worker may have reserved the story first.
    if (isReserved && !this.#has(step.storyId)) return
    if (isReserved) await this.#announce(step, before)
    await notifyObservers(this.#ports, (observer) => observer.event?.(event, shared.state))
  }

  #announce(step: Step, before: State): Promise<void> {
    return notifyObservers(this.#ports, (observer) => observer.step?.(step, before))
  }

  /** The event for the shared state: where this worker is cut short, only its own attempt is abandoned. */
  #ofThisWorker(step: WorkerStep, event: Event): Event | null {
    if (event.kind === 'reserved') return { ...event, worker: this.#who.worker }
    if (event.kind !== 'interrupted' && event.kind !== 'out-of-time') return event
    this.#isEnding = true
    if (!('attempt' in step)) return null
    const why = event.kind === 'interrupted' ? 'cancelled' : 'the job deadline came first'
    return { kind: 'abandoned', ...idOf(step.attempt), why, spent: event.spent, at: event.at }
  }

  /** Takes a candidate that waited in the train, and checks it out. */
  async #take(id: AttemptId): Promise<void> {
    await this.#assign(id, this.#who.worker)
    const attempt = this.#shared.state.attempts[attemptKey(id)]
    if (attempt?.worker !== this.#who.worker || !hasCandidate(attempt)) return
    await this.#ports.repository.checkOut(attempt.candidate.commit, null)
  }

  async #assign(id: AttemptId, worker: string | null): Promise<void> {
    this.#shared.apply({ kind: 'assigned', ...id, worker, at: this.#ports.clock.now() })
    await this.#shared.save()
  }

  #has(storyId: string): boolean {
    const attempts = Object.values(this.#shared.state.attempts)
    return attempts.some((attempt) => attempt.storyId === storyId && attempt.worker === this.#who.worker)
  }
}
