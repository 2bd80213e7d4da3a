// The driver: decides on a step, has it performed, reduces its event and saves. There is no other loop; an executor says where each
// step of a run is done (engine/executors/).

import { Journal } from './journal.ts'
import { attemptKey, idOf } from './model/attempt.ts'
import type { Event, EventOf } from './model/event.ts'
import type { Limits } from './model/limit-types.ts'
import { LeaseLost, type Ports } from './model/ports.ts'
import type { Conclusion, State } from './model/state.ts'
import type { AttemptStep, Step } from './model/step.ts'
import { nextStep } from './next-step.ts'
import { settleObservers } from './notify-observers.ts'
import { perform } from './perform.ts'
import { reduce } from './reduce.ts'

/** The end of a job: its conclusion and the last state. */
export type JobEnd = { conclusion: Conclusion; state: State }
/** The step that another job has to do. */
export type HandedOver = { step: Step; state: State }
/** Nothing is left for this executor. */
export type Idle = { state: State }

type Performable = Exclude<Step, { kind: 'stop' }>

/** Where a step is done. `view`: the state as the step sees it. */
export type Place =
  /** By this process, before anything else is decided. */
  | { at: 'here'; ports: Ports; view: State }
  /** By this process, in its own lane, while other steps are decided and done. */
  | { at: 'lane'; ports: Ports; view: State }
  /** Another job has done it, or has lost it: this is the event. */
  | { at: 'done'; event: Event }
  /** Another job will do this step of an attempt. */
  | { at: 'elsewhere' }

/** One way to run: in the checkout, in lanes, as a worker of a wave, or as a job of `isolation: separate-job`. */
export type Executor = {
  readonly ports: Ports
  /** Whether other processes save the same state. */
  readonly sharesState?: true
  /** Another run of the same job follows, which lets the observers finish. */
  readonly isFollowed?: true
  /**
   * The next step, or the event of a decision that needs no step; null while there is nothing to begin. `isFree`: whether an attempt's
   * step is neither in progress nor left to another job.
   */
  next(state: State, isFree: (step: AttemptStep) => boolean): Step | { event: Event } | null
  /** Whether this process does the step. If not, another job does: a step of the run ends this job, other attempts continue here. */
  isOwn(step: Step, state: State): boolean
  /** Whether one of the executor's own steps runs here, in a lane, or has been done by another job. */
  place(step: Performable, state: State): Promise<Place>
  /** The event as this executor records it, or null to record none. Left out: unchanged. */
  recorded?(step: Step, event: Event): Event | null
  /** Called after every event, with the state after it. */
  follow?(state: State): void
  /** Ends what is still in progress and removes what this executor made, however the run ended. */
  close?(): Promise<void>
}

/**
 * Works until the run has a conclusion, only steps of other jobs are left, or the executor has nothing to do. Throws LeaseLost if
 * another run has taken the feature; nothing is pushed after that.
 */
export async function run(
  start: State,
  limits: Limits,
  executor: Executor,
): Promise<JobEnd | HandedOver | Idle> {
  const driver = new Driver(start, limits, executor)
  try {
    return await driver.run()
  } finally {
    await executor.close?.()
    if (executor.isFollowed !== true) await settleObservers(executor.ports)
  }
}

/** `run` with an executor that works until the job ends or another job has to continue. */
export async function runJob(start: State, limits: Limits, executor: Executor): Promise<JobEnd | HandedOver> {
  const end = await run(start, limits, executor)
  if ('conclusion' in end || 'step' in end) return end
  throw new Error('the run has neither a next step nor an end')
}

/** `run` with an executor that does every step itself. */
export async function runToEnd(start: State, limits: Limits, executor: Executor): Promise<JobEnd> {
  const end = await runJob(start, limits, executor)
  if ('conclusion' in end) return end
  throw new Error(`the step ${end.step.kind} was left to another job`)
}

type Performed = { step: AttemptStep; event: Event } | { step: AttemptStep; error: unknown }

class Driver {
  readonly #journal: Journal
  readonly #limits: Limits
  readonly #executor: Executor
  /** Steps in lanes, by the attempt's key. They never reject. */
  readonly #working = new Map<string, Promise<Performed>>()
  /** Steps of attempts that are left to another job. */
  readonly #left = new Map<string, AttemptStep>()
  readonly #stop = new AbortController()

  constructor(start: State, limits: Limits, executor: Executor) {
    this.#journal = new Journal(start, limits, executor.ports, executor.sharesState)
    this.#limits = limits
    this.#executor = executor
  }

  async run(): Promise<JobEnd | HandedOver | Idle> {
    try {
      for (;;) {
        const end = await this.#turn()
        if (end !== null) return end
      }
    } catch (error) {
      await this.#saveAfter(error)
      throw error
    }
  }

  async #turn(): Promise<JobEnd | HandedOver | Idle | null> {
    const { state } = this.#journal
    const next = this.#executor.next(state, (step) => this.#isFree(step))
    if (next !== null && 'event' in next) {
      await this.#apply(next.event)
      return null
    }
    const foreseen = await this.#saveBefore(next)
    // Another worker has saved meanwhile, so the step is decided again.
    if (this.#journal.state !== state) return null
    if (next === null) {
      if (this.#working.size === 0) return this.#handOver()
      await this.#waitForLanes()
    } else if (next.kind === 'stop') return { conclusion: next.conclusion, state }
    else if (!this.#executor.isOwn(next, state)) {
      if (!('attempt' in next)) return { step: next, state }
      this.#leave(next)
    } else await this.#place(next, foreseen)
    return null
  }

  #isFree(step: AttemptStep): boolean {
    return !this.#working.has(attemptKey(step.attempt)) && !this.#left.has(leftKey(step))
  }

  #handOver(): HandedOver | Idle {
    const { state } = this.#journal
    const [step] = this.#left.values()
    return step === undefined ? { state } : { step, state }
  }

  /**
   * Saves what is due. The end of an iteration and the next reservation share a save: nothing is saved before a reservation or a quick
   * sync. Before a slow sync the expected reservation is saved with the rest, and returned.
   */
  async #saveBefore(step: Step | null): Promise<readonly Event[]> {
    const journal = this.#journal
    if (step === null || !this.#executor.isOwn(step, journal.state)) return journal.save()
    if (step.kind === 'reserve') return []
    if (step.kind !== 'sync') return journal.save()
    const isQuick = this.#executor.ports.queue.isLocal === true || journal.isShared
    return isQuick ? [] : journal.save((state) => this.#foresee(state))
  }

  /** What follows if people say nothing: the next reservation. Empty if something else follows. */
  async #foresee(state: State): Promise<readonly Event[]> {
    const { ports } = this.#executor
    const now = ports.clock.now()
    const silence: Event = { kind: 'synced', commands: [], theirs: null, at: now }
    const heard = reduce(state, silence, this.#limits)
    const step = nextStep(heard, this.#limits, now)
    if (step.kind !== 'reserve' || !this.#executor.isOwn(step, heard)) return []
    const reserved = await perform(step, heard, this.#limits, ports)
    return reserved.kind === 'reserved' ? [silence, reserved] : []
  }

  async #place(step: Performable, foreseen: readonly Event[]): Promise<void> {
    const place = await this.#executor.place(step, this.#journal.state)
    if (place.at === 'done') {
      await this.#journal.announce(step, this.#journal.state)
      return this.#apply(place.event)
    }
    if (place.at === 'elsewhere') return this.#leave(step)
    await this.#journal.announce(step, place.view)
    if (place.at === 'lane' && 'attempt' in step) return this.#begin(step, place)
    const performed = perform(step, place.view, this.#limits, place.ports)
    if (foreseen.length === 0) return this.#record(step, await performed)
    await this.#confirm(step, performed, foreseen)
  }

  #leave(step: Step): void {
    if ('attempt' in step) this.#left.set(leftKey(step), step)
  }

  #begin(step: AttemptStep, { ports, view }: Extract<Place, { at: 'lane' }>): void {
    const signal = AbortSignal.any([ports.signal, this.#stop.signal])
    const performed = perform(step, view, this.#limits, { ...ports, signal }).then(
      (event) => ({ step, event }),
      (error: unknown) => ({ step, error }),
    )
    this.#working.set(attemptKey(step.attempt), performed)
  }

  /** Records what people said, and the reservation that was saved before if it still follows. */
  async #confirm(step: Step, performed: Promise<Event>, foreseen: readonly Event[]): Promise<void> {
    const journal = this.#journal
    const event = await performed.catch((error: unknown) => {
      journal.markDue()
      throw error
    })
    await this.#record(step, event)
    const next = nextStep(journal.state, this.#limits, this.#executor.ports.clock.now())
    const reserved = foreseen.find(({ kind }) => kind === 'reserved') as EventOf<'reserved'> | undefined
    const isQuiet =
      event.kind === 'synced' &&
      event.commands.length === 0 &&
      event.theirs === null &&
      event.requests === undefined
    if (isQuiet && next.kind === 'reserve' && next.storyId === reserved?.storyId)
      await journal.applySaved(next, reserved)
    else journal.markDue()
  }

  /** Waits for a step in a lane. The events of steps that were cut short come last: they return all attempts. */
  async #waitForLanes(): Promise<void> {
    const first = await Promise.race(this.#working.values())
    const all = isCut(first) ? await Promise.all(this.#working.values()) : [first]
    for (const done of [...all.filter((one) => !isCut(one)), ...all.filter(isCut)]) {
      this.#working.delete(attemptKey(done.step.attempt))
      if ('error' in done) throw done.error
      await this.#record(done.step, done.event)
    }
  }

  async #record(step: Step, event: Event): Promise<void> {
    const { recorded } = this.#executor
    const kept = recorded === undefined ? event : recorded(step, event)
    if (kept !== null) await this.#apply(kept)
  }

  async #apply(event: Event): Promise<void> {
    await this.#journal.apply(event)
    this.#executor.follow?.(this.#journal.state)
  }

  /** Saves what sessions used, whatever the error. Steps in lanes are ended first, and their usage counts as well. */
  async #saveAfter(error: unknown): Promise<void> {
    const journal = this.#journal
    this.#stop.abort()
    const all = await Promise.all(this.#working.values())
    // Another run has the feature now, so this one may not save.
    if (error instanceof LeaseLost) return
    for (const done of [...all.filter((one) => !isCut(one)), ...all.filter(isCut)])
      if ('event' in done) await this.#record(done.step, abandonedIfCut(done))
    if (Object.values(journal.state.attempts).some(({ phase }) => phase !== 'reserved')) journal.markDue()
    // Saving may fail because the repository is lost. The first error is the one to report.
    await journal.save().catch((lost: unknown) => {
      if (lost instanceof LeaseLost) throw lost
    })
  }
}

/** A step that was cut short by another one's error abandons only its own attempt, whose candidate stays. */
function abandonedIfCut({ step, event }: { step: AttemptStep; event: Event }): Event {
  if (event.kind !== 'interrupted' && event.kind !== 'out-of-time') return event
  const { at, spent } = event
  return { kind: 'abandoned', ...idOf(step.attempt), why: 'the run ended with an error', spent, at }
}

function isCut(done: Performed): boolean {
  return 'event' in done && (done.event.kind === 'interrupted' || done.event.kind === 'out-of-time')
}

function leftKey(step: AttemptStep): string {
  return `${attemptKey(step.attempt)} ${step.kind}`
}
