// Sends what a job did to a collector, once, when it is over. A failure to send is one warning.
import { createHash } from 'node:crypto'
import type { Event } from '../../engine/model/event.ts'
import type { Observer } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import type { Step } from '../../engine/model/step.ts'
import { mapTexts } from '../../engine/model/text.ts'
import { VERSION } from '../../engine/model/version.ts'
import { terminalText } from '../../report/escape.ts'
import { sendRequest } from '../../system/http-post.ts'
import { metricsBody, type Source, tracesBody } from './otlp.ts'
import { jobSpan, metricsOf, type SpanFacts, spansOf } from './spans.ts'
import type { TelemetryConfig } from './telemetry-config.ts'

type TelemetryOptions = {
  config: TelemetryConfig
  facts: Omit<SpanFacts, 'id'>
  /** Aborts when the job is cancelled: then there is little time. */
  signal: AbortSignal
  redact(text: string): string
  warn(message: string): void
}

const PATIENCE_MS = 10_000
const SHORT_PATIENCE_MS = 2_000
/** More are not kept: a run on a laptop may continue for days, and a collector takes so much in one request. */
const MAX_SPANS = 10_000

export class Telemetry implements Observer {
  readonly #options: TelemetryOptions
  readonly #facts: SpanFacts
  readonly #spans: ReturnType<typeof spansOf> = []
  #state: State | null = null
  #at = 0

  constructor(options: TelemetryOptions) {
    this.#options = options
    this.#facts = {
      ...options.facts,
      id: (digits, words) => createHash('sha256').update(words).digest('hex').slice(0, digits),
    }
  }

  async step(_step: Step, state: State): Promise<void> {
    this.#state ??= state
  }

  async event(event: Event, state: State): Promise<void> {
    if (this.#spans.length < MAX_SPANS)
      this.#spans.push(...spansOf(this.#state ?? state, event, state, this.#facts))
    this.#state = state
    this.#at = event.at
  }

  async settle(): Promise<void> {
    const { config, redact, signal, warn } = this.#options
    const state = this.#state
    if (state === null || this.#at === 0) return
    const patienceMs = signal.aborted ? SHORT_PATIENCE_MS : PATIENCE_MS
    const late = AbortSignal.timeout(patienceMs)
    const traceId = this.#facts.id(32, `trace/${state.nonce}`)
    const instance = `${traceId}.${state.prd.run.jobs}`
    const source: Source = {
      resource: { ...config.resource, 'service.version': VERSION, 'service.instance.id': instance },
      scope: { name: 'ralph', version: VERSION },
    }
    const all = [...this.#spans, jobSpan(state, this.#at, this.#facts)]
    const spans = all.map((span) => mapTexts({ ...span, traceId }, redact))
    const bodies: [kind: string, body: unknown][] = [['traces', tracesBody(source, spans)]]
    const metrics = metricsOf(spans)
    if (metrics.length > 0)
      bodies.push(['metrics', metricsBody(source, metrics, state.job.startedAt, this.#at)])
    const headers = { ...config.headers, 'content-type': 'application/json' }
    for (const [kind, body] of bodies) {
      const url = `${config.endpoint}/v1/${kind}`
      const { ok, detail } = await sendRequest({ url, headers, body: JSON.stringify(body) }, patienceMs, late)
      if (ok) continue
      warn(
        `Ralph could not send telemetry: ${terminalText(redact(late.aborted ? 'no answer in time' : detail), 300)}`,
      )
      return
    }
  }
}
