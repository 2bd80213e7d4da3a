// The state of a run and its events that are not saved yet. Observers learn of an event that must be saved after the save.
//
// Other workers of a wave may save in between. Then the newest state is loaded and the unsaved events are reduced onto it. So no text is
// ever merged, and the driver does not notice.

import { EVENTS, type Event, type EventOf } from './model/event.ts'
import type { Limits } from './model/limit-types.ts'
import { LeaseLost, type Ports, type StorePort } from './model/ports.ts'
import type { State } from './model/state.ts'
import type { Step } from './model/step.ts'
import { notifyObservers } from './notify-observers.ts'
import { nextRunStep } from './parallel-steps.ts'
import { reduce } from './reduce.ts'

/** The maximum number of tries of one save. */
const MAX_TRIES = 300
const MAX_PAUSE_MS = 8000

export type JournalPorts = Pick<Ports, 'clock' | 'random' | 'signal' | 'observers' | 'warn'> & {
  store: Pick<StorePort, 'save' | 'note' | 'loadNewest'>
}

type JobTime = Pick<State['job'], 'startedAt' | 'deadline'>

/** The state that jobs have in common, with the time of this one. */
export function withTimeOf(state: State, { startedAt, deadline }: JobTime): State {
  return { ...state, job: { ...state.job, startedAt, deadline } }
}

/** A notification that waits for the next save. `state` is the one before a step, or after an event. */
type Notice = { step: Step; state: State } | { event: Event; state: State }

/** Events that follow the state unless people say something. They are saved with it, and applied later. */
export type Foresee = (state: State) => Promise<readonly Event[]>

/** What has to be made durable before the run continues: the state in git, or only until the next save. */
type Due = 'nothing' | 'note' | 'save'

export class Journal {
  #state: State
  #unsaved: Event[] = []
  #notices: Notice[] = []
  #due: Due = 'nothing'
  #hasFailed = false
  readonly #limits: Limits
  readonly #ports: JournalPorts
  /** The time of this job; other workers of a wave have their own. */
  readonly #time: JobTime

  /** Whether other processes save the same state. */
  readonly isShared: boolean

  constructor(start: State, limits: Limits, ports: JournalPorts, isShared = false) {
    this.isShared = isShared
    this.#state = start
    this.#limits = limits
    this.#ports = ports
    this.#time = start.job
  }

  get state(): State {
    return this.#state
  }

  /** Whether something has to be saved before the run continues. */
  get isDue(): boolean {
    return this.#due !== 'nothing'
  }

  /** Notifies of a step that begins; `view`: the state as that step sees it. */
  async announce(step: Step, view: State): Promise<void> {
    // Another worker may reserve the story first, so a reservation is announced when it is saved.
    const waits = this.isDue || this.#notices.length > 0 || (step.kind === 'reserve' && this.isShared)
    if (waits) this.#notices.push({ step, state: view })
    else await this.#notify({ step, state: view })
  }

  async apply(event: Event): Promise<void> {
    this.#reduce(event)
    const due = this.#dueAfter(event)
    if (due === 'save') this.markDue()
    else if (due === 'note' && !this.isDue && !this.#hasFailed) this.#due = due
    const notice = { event, state: this.#state }
    if (this.isDue || this.#notices.length > 0) this.#notices.push(notice)
    else await this.#notify(notice)
  }

  /** Applies a reservation that the last save has foreseen. */
  async applySaved(step: Step, reserved: EventOf<'reserved'>): Promise<void> {
    await this.announce(step, this.#state)
    this.#state = reduce(this.#state, reserved, this.#limits)
    await this.#notify({ event: reserved, state: this.#state })
  }

  /** Has something saved although no event asks for it. Not after a failed save: the lease or the repository is lost. */
  markDue(): void {
    if (!this.#hasFailed) this.#due = 'save'
  }

  /** Saves if something is due, then notifies. Returns the events of `foresee` that are saved as well. Throws LeaseLost. */
  async save(foresee: Foresee = async () => []): Promise<readonly Event[]> {
    const { clock } = this.#ports
    for (let tries = 1; this.isDue; tries += 1) {
      const began = clock.now()
      const foreseen = await foresee(this.#state)
      try {
        await this.#write(foreseen)
      } catch (error) {
        await this.#takeInNewest(error, tries, clock.now() - began)
        continue
      }
      this.#due = 'nothing'
      this.#unsaved = []
      await this.#notifyAll()
      return foreseen
    }
    await this.#notifyAll()
    return []
  }

  /** Writes the state with the foreseen events. */
  #write(foreseen: readonly Event[]): Promise<void> {
    const { store } = this.#ports
    if (this.#due === 'note' && foreseen.length === 0 && store.note !== undefined)
      return store.note(this.#state)
    return store.save(foreseen.reduce((state, event) => reduce(state, event, this.#limits), this.#state))
  }

  /** Loads the newest state after another worker saved first. Throws the error of any other failed save; nothing is saved after that. */
  async #takeInNewest(error: unknown, tries: number, tookMs: number): Promise<void> {
    const { clock, random, signal, store } = this.#ports
    const isOvertaken = this.isShared && error instanceof LeaseLost && tries < MAX_TRIES
    if (!isOvertaken || store.loadNewest === undefined) throw this.#failed(error)
    // Random, and longer with each try: workers that collided once would collide again.
    await clock.sleep(random() * Math.min(tookMs * 2 ** tries, MAX_PAUSE_MS), signal)
    const newest = await store.loadNewest(this.#state).catch((lost: unknown) => {
      throw this.#failed(lost)
    })
    this.#replay(newest)
    if (this.#unsaved.length === 0) this.#due = 'nothing'
  }

  /** Drops the notices: observers must not learn of an event that was never saved. */
  #failed(error: unknown): unknown {
    this.#hasFailed = true
    this.#due = 'nothing'
    this.#notices = []
    return error
  }

  #reduce(event: Event): void {
    this.#state = reduce(this.#state, event, this.#limits)
    this.#unsaved.push(event)
  }

  #dueAfter({ kind }: Event): Due {
    // After the publish the lease is free, and the state belongs to the next job that claims it.
    if (this.#state.job.ending?.published === true) return 'nothing'
    const { isDurable, isShared } = EVENTS[kind]
    if (isDurable || (isShared && this.isShared)) return 'save'
    // Whatever a later run could continue from is kept if that makes no request.
    return isShared && this.#ports.store.note !== undefined ? 'note' : 'nothing'
  }

  #replay(newest: State): void {
    this.#state = withTimeOf(newest, this.#time)
    for (const event of this.#unsaved.splice(0)) {
      // A reservation has not begun yet, so it is decided again, on the newest state.
      if (event.kind === 'reserved' && !this.#isStillNext(event)) {
        this.#forget(event)
        continue
      }
      const before = this.#state
      this.#reduce(event)
      // On the newest state the event may change nothing. Then it did not happen, and observers do not learn of it.
      const hasHappened = this.#state !== before
      this.#notices = this.#notices.flatMap((one) => {
        if (!('event' in one) || one.event !== event) return [one]
        return hasHappened ? [{ event, state: this.#state }] : []
      })
    }
  }

  /** Removes the notices of a reservation that another worker made first. */
  #forget({ storyId, at }: EventOf<'reserved'>): void {
    this.#notices = this.#notices.filter((one) =>
      'event' in one
        ? one.event.kind !== 'reserved' || one.event.at !== at
        : one.step.kind !== 'reserve' || one.step.storyId !== storyId,
    )
  }

  #isStillNext({ storyId, at }: EventOf<'reserved'>): boolean {
    const step = nextRunStep(this.#state, this.#limits, at)
    return step?.kind === 'reserve' && step.storyId === storyId
  }

  async #notifyAll(): Promise<void> {
    for (const notice of this.#notices.splice(0)) await this.#notify(notice)
  }

  #notify(notice: Notice): Promise<void> {
    return notifyObservers(this.#ports, (observer) =>
      'step' in notice
        ? observer.step?.(notice.step, notice.state)
        : observer.event?.(notice.event, notice.state),
    )
  }
}
