// Sends notifications during a run. No service can slow the run down. If a service fails, there is one warning.
import { createHash } from 'node:crypto'
import type { Event } from '../engine/model/event.ts'
import type { Observer } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import type { Step } from '../engine/model/step.ts'
import { terminalText } from '../report/escape.ts'
import type { Receiver } from './receivers.ts'
import type { Notice } from './state-changes.ts'
import {
  errorNotice,
  isDurable,
  type NoticeFacts,
  noticesOf,
  noticesOfEnd,
  noticesOfWait,
} from './state-changes.ts'

type NotifierOptions = {
  receivers: readonly Receiver[]
  facts: Omit<NoticeFacts, 'id' | 'runUrl'>
  /** Aborts when the job is cancelled. Then there is little time. */
  signal: AbortSignal
  warn(message: string): void
  now?: () => number
  /** How long the end of the job waits for deliveries in progress. Milliseconds. */
  patienceMs?: number
}

const PATIENCE_MS = 10_000
/** A cancelled job has ten seconds for everything. */
const SHORT_PATIENCE_MS = 2_000
const LATE = { ok: false, detail: 'the service did not answer in time' }

export class Notifier implements Observer {
  readonly #options: NotifierOptions
  readonly #stop = new AbortController()
  /** The last queued delivery of each receiver. A receiver gets its notices one after the other. */
  readonly #queues: Map<Receiver, Promise<void>>
  /** Ids of deliveries that were queued, so that no notice is sent twice. */
  readonly #queued = new Set<string>()
  readonly #failed = new Set<Receiver>()
  /** The state when this job began, and the last durable one. */
  #states: { start: State; durable: State; facts: NoticeFacts } | null = null

  constructor(options: NotifierOptions) {
    this.#options = options
    this.#queues = new Map(options.receivers.map((receiver) => [receiver, Promise.resolve()]))
  }

  async step(step: Step, state: State): Promise<void> {
    const { start, facts } = this.#begin(state)
    const at = this.#options.now?.() ?? Date.now()
    this.#enqueue(noticesOfWait(start, step, state, at, facts))
  }

  async event(event: Event, state: State): Promise<void> {
    const states = this.#begin(state)
    if (isDurable(event)) {
      this.#enqueue(noticesOf(states.durable, state, event.at, states.facts))
      states.durable = state
    }
    if (event.kind === 'reported') this.#enqueue(noticesOfEnd(states.start, state, event.at, states.facts))
  }

  error(error: unknown, feature: string, runUrl: string | null): void {
    const { facts } = this.#options
    const details = { feature, runUrl, repository: facts.repository, at: Date.now() }
    this.#enqueue([errorNotice(error, details, { ...facts, id: deliveryId })])
  }

  async settle(): Promise<void> {
    const { signal, patienceMs = signal.aborted ? SHORT_PATIENCE_MS : PATIENCE_MS } = this.#options
    const timer = setTimeout(() => this.#stop.abort(), patienceMs)
    await Promise.all(this.#queues.values())
    clearTimeout(timer)
  }

  #begin(state: State) {
    const facts = { ...this.#options.facts, id: deliveryId, runUrl: state.lease?.url ?? null }
    this.#states ??= { start: state, durable: state, facts }
    return this.#states
  }

  #enqueue(notices: readonly Notice[]): void {
    for (const notice of notices) {
      if (this.#queued.has(notice.delivery)) continue
      this.#queued.add(notice.delivery)
      for (const [receiver, lastDelivery] of this.#queues) {
        const delivery = lastDelivery.then(() => this.#deliver(receiver, notice))
        this.#queues.set(receiver, delivery)
      }
    }
  }

  async #deliver(receiver: Receiver, notice: Notice): Promise<void> {
    const { signal } = this.#stop
    const { ok, detail } = signal.aborted ? LATE : await receiver.deliver(notice, signal)
    if (ok || this.#failed.has(receiver)) return
    this.#failed.add(receiver)
    const reason = this.#options.facts.redact(signal.aborted ? LATE.detail : detail)
    this.#options.warn(
      `notify: Ralph could not send a message to ${receiver.kind}: ${terminalText(reason, 300)}`,
    )
  }
}

/** An id in the form of a UUID, which receivers of webhooks expect. The same text always gives the same id. */
export function deliveryId(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
