// Tells people while a run goes on: an observer that no service can slow down, and whose own trouble is one warning.
import { createHash } from 'node:crypto'
import type { Event } from '../model/event.ts'
import type { Observer } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { terminalText } from '../report/escape.ts'
import { isDurable, type NoticeFacts, noticesOf, noticesOfEnd, noticesOfWait } from './events.ts'
import type { Notice } from './notice.ts'
import type { Receiver } from './receivers.ts'

type NotifierOptions = {
  receivers: readonly Receiver[]
  facts: Omit<NoticeFacts, 'id' | 'runUrl'>
  /** Aborts when the job is cancelled: then there is little time. */
  signal: AbortSignal
  warn(message: string): void
  now?: () => number
  /** How long the end of the job waits for what is under way, milliseconds. */
  patienceMs?: number
}

const PATIENCE_MS = 10_000
/** A cancelled job has ten seconds for everything. */
const SHORT_PATIENCE_MS = 2_000
const LATE = { ok: false, said: 'no answer in time; the job did not wait any longer' }

export class Notifier implements Observer {
  readonly #options: NotifierOptions
  readonly #stop = new AbortController()
  /** What each receiver is still to be told, one after the other. */
  readonly #queues: Map<Receiver, Promise<void>>
  /** Deliveries that were begun: what is told twice here is one. */
  readonly #told = new Set<string>()
  readonly #failed = new Set<Receiver>()
  #facts: NoticeFacts | null = null
  /** As this job found it, and as it last was durable. */
  #start: State | null = null
  #durable: State | null = null

  constructor(options: NotifierOptions) {
    this.#options = options
    this.#queues = new Map(options.receivers.map((receiver) => [receiver, Promise.resolve()]))
  }

  async step(step: Step, state: State): Promise<void> {
    this.#begin(state)
    if (this.#start === null || this.#facts === null) return
    this.#tell(noticesOfWait(this.#start, step, state, this.#now(), this.#facts))
  }

  async event(event: Event, state: State): Promise<void> {
    this.#begin(state)
    if (this.#start === null || this.#durable === null || this.#facts === null) return
    if (isDurable(event)) {
      this.#tell(noticesOf(this.#durable, state, event.at, this.#facts))
      this.#durable = state
    }
    if (event.kind === 'reported') this.#tell(noticesOfEnd(this.#start, state, event.at, this.#facts))
  }

  async settle(): Promise<void> {
    const { signal, patienceMs = signal.aborted ? SHORT_PATIENCE_MS : PATIENCE_MS } = this.#options
    const late = setTimeout(() => this.#stop.abort(), patienceMs)
    await Promise.all(this.#queues.values())
    clearTimeout(late)
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now()
  }

  #begin(state: State): void {
    this.#start ??= state
    this.#durable ??= state
    this.#facts ??= { ...this.#options.facts, id: deliveryId, runUrl: state.lease?.url ?? null }
  }

  #tell(notices: readonly Notice[]): void {
    for (const notice of notices) {
      if (this.#told.has(notice.delivery)) continue
      this.#told.add(notice.delivery)
      for (const [receiver, before] of this.#queues)
        this.#queues.set(
          receiver,
          before.then(() => this.#deliver(receiver, notice)),
        )
    }
  }

  async #deliver(receiver: Receiver, notice: Notice): Promise<void> {
    const { signal } = this.#stop
    const { ok, said } = signal.aborted ? LATE : await receiver.deliver(notice, signal)
    if (ok || this.#failed.has(receiver)) return
    this.#failed.add(receiver)
    const why = signal.aborted ? LATE.said : said
    this.#options.warn(undelivered(receiver, why, this.#options.facts.redact))
  }
}

/** Of a service that was not reached: told once. */
function undelivered({ kind }: Receiver, said: string, redact: (text: string) => string): string {
  return `notify: ${kind} was not told: ${terminalText(redact(said), 300)}`
}

/** As a UUID looks, which receivers of webhooks expect. */
export function deliveryId(words: string): string {
  const hex = createHash('sha256').update(words).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  )
}
