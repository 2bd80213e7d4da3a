// One state with many writers: each keeps its events that are not durable yet. A save that another one overtook reads the newest
// state and reduces these events onto it: no text is merged.

import type { Event, EventOf } from '../model/event.ts'
import type { Limits } from '../model/limit-types.ts'
import { LeaseLost, type Ports, type StorePort } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { reduce } from '../reduce.ts'
import { nextRunStep } from './parallel-steps.ts'

/** The most tries of one save: other workers may overtake it many times. */
const MAX_TRIES = 300
const MAX_PAUSE_MS = 8000

export type SharedPorts = Pick<Ports, 'clock' | 'random' | 'signal'> & {
  store: Pick<StorePort, 'save' | 'loadNewest'>
}

type JobTime = Pick<State['job'], 'startedAt' | 'deadline'>

/** The state that jobs have in common, with the time of this one. */
export function withTimeOf(state: State, { startedAt, deadline }: JobTime): State {
  return { ...state, job: { ...state.job, startedAt, deadline } }
}

/** The state of a wave as one of its workers knows it, and its events that are not durable yet. */
export class SharedState {
  #state: State
  readonly #pending: Event[] = []
  readonly #limits: Limits
  readonly #ports: SharedPorts
  /** The job's own time: each worker has another. */
  readonly #time: JobTime

  constructor(start: State, limits: Limits, ports: SharedPorts) {
    this.#state = start
    this.#limits = limits
    this.#ports = ports
    this.#time = start.job
  }

  get state(): State {
    return this.#state
  }

  apply(event: Event): void {
    this.#state = reduce(this.#state, event, this.#limits)
    this.#pending.push(event)
  }

  /** Throws LeaseLost when the wave is over. */
  async save(): Promise<void> {
    const { clock, random, signal, store } = this.#ports
    for (let tries = 1; this.#pending.length > 0; tries += 1) {
      const began = clock.now()
      try {
        await store.save(this.#state)
        this.#pending.length = 0
      } catch (error) {
        if (!(error instanceof LeaseLost) || store.loadNewest === undefined || tries === MAX_TRIES)
          throw error
        // Random, and longer with each try: workers that collided once would collide again.
        const maxMs = Math.min((clock.now() - began) * 2 ** tries, MAX_PAUSE_MS)
        await clock.sleep(random() * maxMs, signal)
        this.#replay(await store.loadNewest(this.#state))
      }
    }
  }

  #replay(newest: State): void {
    this.#state = withTimeOf(newest, this.#time)
    for (const event of this.#pending.splice(0)) {
      // A reservation was only decided, not begun: it is decided again, on the newest state.
      if (event.kind === 'reserved' && !this.#isStillNext(event)) continue
      this.apply(event)
    }
  }

  #isStillNext({ storyId, at }: EventOf<'reserved'>): boolean {
    const step = nextRunStep(this.#state, this.#limits, at)
    return step?.kind === 'reserve' && step.storyId === storyId
  }
}
