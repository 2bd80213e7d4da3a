// The loop with several stories in work: one state, decisions one after the other, and the steps of attempts side by side.

import { type JobEnd, notifyObservers, settleObservers } from '../loop.ts'
import { type Attempt, attemptKey } from '../model/attempt.ts'
import { EVENTS, type Event } from '../model/event.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Lane, Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { AttemptStep, Step } from '../model/step.ts'
import { perform } from '../perform.ts'
import { recordLostSession, reservedUsage } from '../record-session.ts'
import { reduce } from '../reduce.ts'
import { nextAttemptStep, nextRunStep } from './parallel-steps.ts'
import { landedBefore, withOnlyAttempt } from './train.ts'

type Performed = { step: Step; event: Event }

/** Works until the job's outcome, with at most `limits.maxParallel` stories at the same time. Throws as `loop` does. */
export async function runLanes(start: State, limits: Limits, ports: Ports): Promise<JobEnd> {
  const run = new Run(start, limits, ports)
  try {
    return await run.turns()
  } finally {
    await run.end()
    await settleObservers(ports)
  }
}

class Run {
  #state: State
  readonly #limits: Limits
  readonly #ports: Ports
  /** Steps in work, by the attempt's key; lanes, too. */
  readonly #working = new Map<string, Promise<Performed>>()
  readonly #lanes = new Map<string, Lane>()
  readonly #free: Lane[] = []
  readonly #stop = new AbortController()

  constructor(state: State, limits: Limits, ports: Ports) {
    this.#state = state
    this.#limits = limits
    this.#ports = ports
  }

  async turns(): Promise<JobEnd> {
    for (;;) {
      const ready = nextAttemptStep(this.#state, this.#limits, (one) => this.#working.has(attemptKey(one)))
      if (ready !== null) {
        await this.#begin(ready)
        continue
      }
      const step = nextRunStep(this.#state, this.#limits, this.#ports.clock.now())
      if (step?.kind === 'stop') return { conclusion: step.conclusion, state: this.#state }
      // The lane is opened first: where that fails, nothing is reserved and nothing charged.
      if (step?.kind === 'reserve' && this.#free.length === 0) this.#free.push(await this.#openLane())
      if (step !== null) await this.#happened(await this.#performed(step, this.#state, this.#ports))
      else await this.#next()
    }
  }

  /** Ends all steps in work and removes the lanes, however the run ended. */
  async end(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled(this.#working.values())
    for (const lane of [...this.#free, ...this.#lanes.values()]) await lane[Symbol.asyncDispose]()
  }

  async #begin(step: AttemptStep): Promise<void> {
    const { attempt } = step
    const lane = step.kind === 'accept' ? null : this.#laneOf(attempt)
    const state = step.kind === 'accept' ? this.#state : stateForStep(step, this.#state, attempt)
    // Without a lane it uses the run's own checkout, which is for one step at a time.
    if (lane === null) return this.#happened(await this.#performed(step, state, this.#ports))
    const signal = AbortSignal.any([this.#ports.signal, this.#stop.signal])
    const performed = this.#performed(step, state, { ...this.#ports, ...lane, signal })
    // A rejection without a handler would end the process: the error is handled when this step's result is read.
    performed.catch(() => {})
    this.#working.set(attemptKey(attempt), performed)
  }

  /** The lane of an attempt; null where it was lost with another process. */
  #laneOf(attempt: Attempt): Lane | null {
    const { storyId, phase } = attempt
    const known = this.#lanes.get(attemptKey(attempt))
    if (known !== undefined || phase !== 'reserved') return known ?? null
    const lane = this.#free.pop()
    if (lane === undefined) throw new Error(`no work tree is free for ${storyId}`)
    lane.assign(storyId)
    this.#lanes.set(attemptKey(attempt), lane)
    return lane
  }

  #openLane(): Promise<Lane> {
    const { openLane } = this.#ports
    if (openLane === undefined) throw new Error('these ports open no lanes')
    return openLane(this.#state)
  }

  async #performed(step: Step, state: State, ports: Ports): Promise<Performed> {
    if (step.kind === 'stop') throw new Error('nothing is performed at the stop')
    await notifyObservers(ports, (observer) => observer.step?.(step, state))
    return { step, event: await perform(step, state, this.#limits, ports) }
  }

  /** Waits for a step in work. Events of a step that was cut short come last: they return all attempts. */
  async #next(): Promise<void> {
    const first = await Promise.race(this.#working.values())
    const isCut = first.event.kind === 'interrupted' || first.event.kind === 'out-of-time'
    const all = isCut ? await Promise.all(this.#working.values()) : [first]
    const isLast = ({ event }: Performed) => event.kind === 'interrupted' || event.kind === 'out-of-time'
    for (const one of [...all.filter((done) => !isLast(done)), ...all.filter(isLast)])
      await this.#happened(one)
  }

  async #happened({ step, event }: Performed): Promise<void> {
    if ('attempt' in step) this.#working.delete(attemptKey(step.attempt))
    this.#state = reduce(this.#state, event, this.#limits)
    const { attempts, job } = this.#state
    // After the publish the lease is free, and the state belongs to the next run.
    if (EVENTS[event.kind].isDurable && job.ending?.published !== true)
      await this.#ports.store.save(this.#state)
    for (const [key, lane] of this.#lanes) {
      if (attempts[key] !== undefined) continue
      this.#lanes.delete(key)
      this.#free.push(lane)
    }
    await notifyObservers(this.#ports, (observer) => observer.event?.(event, this.#state))
  }
}

/** The state for a step: with its own attempt alone, on the commit that it is, or will be, based on. */
export function stateForStep(
  step: Extract<Step, { kind: 'rebase' }> | { kind: Exclude<Step['kind'], 'rebase'> },
  state: State,
  attempt: Attempt,
): State {
  if (step.kind === 'rebase')
    return { ...withOnlyAttempt(landedBefore(state, attempt.storyId), attempt), green: step.onto }
  // One of several candidates stands in no train.
  if (step.kind === 'guard' && attempt.slot === undefined)
    return withOnlyAttempt(landedBefore(state, attempt.storyId), attempt)
  if (step.kind === 'agent') return withOnlyAttempt(withOthersReserved(state, attempt), attempt)
  return withOnlyAttempt(state, attempt)
}

/** The estimates of the other sessions in work are no longer available to this one. */
function withOthersReserved(state: State, attempt: Attempt): State {
  return Object.values(state.attempts)
    .filter((other) => attemptKey(other) !== attemptKey(attempt) && other.phase === 'reserved')
    .reduce((sum, other) => recordLostSession(sum, other, reservedUsage(other)), state)
}
