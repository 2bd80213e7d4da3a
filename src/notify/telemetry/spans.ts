// A job as OpenTelemetry spans, and metrics made from them. They have ids and amounts, but no text of a story. Pure: times are those of
// events.

import { type Attempt, attemptKey } from '../../engine/model/attempt.ts'
import type { Event } from '../../engine/model/event.ts'
import { type GateResult, isService } from '../../engine/model/gate.ts'
import { openAttempt } from '../../engine/model/job.ts'
import type { State } from '../../engine/model/state.ts'
import { oneLine } from '../../engine/model/text.ts'
import { tokensOf, type Usage } from '../../engine/model/usage.ts'
import { attemptUsage, runUsage } from '../../engine/model/usage-totals.ts'
import { counts } from '../../engine/prd/select.ts'
import { outcomeNow } from '../../report/headline.ts'
import type { Attributes, Metric, Span as TracedSpan } from './otlp.ts'

/** SpanKind of OTLP. */
const INTERNAL = 1
const CLIENT = 3

/** A span; all spans of a run belong to one trace. `session`: the attributes of its metrics, and its usage. */
type Span = Omit<TracedSpan, 'traceId'> & { session?: { series: Attributes; usage: Usage } }

export type SpanFacts = {
  /** The first or the fallback agent. */
  agent(which: Attempt['agent']): { name: string; provider: string }
  model(mode: Mode): string | null
  /** An id of so many hex digits, the same for the same words. */
  id(digits: number, words: string): string
}

type Mode = 'run' | 'plan' | 'verify'

/** The spans that an event completes; `before` and `after`: the states around it. */
export function spansOf(before: State, event: Event, after: State, facts: SpanFacts): Span[] {
  // Several attempts may be in work: an event names its own.
  const attempt = 'storyId' in event ? (before.attempts[attemptKey(event)] ?? null) : openAttempt(before)
  const parent = attempt === null ? jobSpanId(after, facts) : iterationSpanId(before, attempt, facts)
  const from = {
    ...{ parent, endMs: event.at, which: attempt?.agent ?? ('first' as const), facts },
    rung: attempt?.model ?? null,
  }
  switch (event.kind) {
    case 'worked': {
      const { status, usage } = event.session
      return [sessionSpan(from, 'run', usage, status === 'finished' ? null : status)]
    }
    case 'judged':
      return [sessionSpan(from, 'verify', event.usage)]
    case 'planned':
      return [sessionSpan(from, 'plan', event.usage)]
    case 'gated':
    case 'baselined':
      return gateSpans(from, event.gates)
    case 'whole-gated':
    case 'verified': {
      const session = sessionSpan(from, 'verify', event.usage)
      // The gates before a judge have their spans already.
      const hasSpans = before.verification.gated?.commit === before.green
      const gates = hasSpans ? [] : gateSpans({ ...from, endMs: session.startMs }, event.gates)
      return event.usage.calls === 0 ? gates : [...gates, session]
    }
    case 'accepted':
    case 'rejected':
    case 'returned':
      return attempt === null ? [] : [iterationSpan(before, attempt, event, after, facts)]
    default:
      return []
  }
}

export function jobSpan(state: State, endMs: number, facts: SpanFacts): Span {
  const outcome = outcomeNow(state)
  const { total, passed } = counts(state.prd, state.control.scope)
  const { run } = state.prd
  return {
    spanId: jobSpanId(state, facts),
    parentSpanId: null,
    name: 'ralph.job',
    kind: INTERNAL,
    startMs: state.job.startedAt,
    endMs,
    attributes: {
      'ralph.feature': oneLine(state.feature, 200),
      'ralph.generation': state.generation,
      'ralph.stories.total': total,
      'ralph.stories.passed': passed,
      'ralph.outcome': outcome,
      'ralph.job': run.jobs,
      'ralph.job.iterations': state.job.counts.iterations,
      // Of the run so far.
      'ralph.iterations': run.iterations,
      'ralph.cost.usd': runUsage(state).costUsd,
    },
    error: outcome === 'error' || outcome === 'stuck' ? outcome : null,
  }
}

function jobSpanId({ nonce, prd, job }: State, { id }: SpanFacts): string {
  return id(16, `job/${nonce}/${prd.run.jobs}/${job.startedAt}`)
}

function iterationSpanId(
  { nonce }: State,
  { iteration, storyId, startedAt }: Attempt,
  { id }: SpanFacts,
): string {
  return id(16, `iteration/${nonce}/${iteration}/${storyId}/${startedAt}`)
}

type From = {
  parent: string
  endMs: number
  which: Attempt['agent']
  /** The model of an attempt on a ladder; null without one. */
  rung: string | null
  facts: SpanFacts
}

function sessionSpan(
  { parent, endMs, which, rung, facts }: From,
  mode: Mode,
  usage: Usage,
  error: string | null = null,
): Span {
  const { name, provider } = facts.agent(which)
  const series = {
    // https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': provider,
    'gen_ai.agent.name': name,
    'gen_ai.request.model': (mode === 'run' ? rung : null) ?? facts.model(mode),
    'ralph.mode': mode,
  }
  return {
    spanId: facts.id(16, `session/${parent}/${mode}/${endMs}`),
    parentSpanId: parent,
    name: `invoke_agent ${name}`,
    kind: CLIENT,
    startMs: endMs - usage.agentSeconds * 1000,
    endMs,
    attributes: {
      ...series,
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      'ralph.cost.usd': usage.costUsd,
      'error.type': error,
    },
    error,
    session: { series, usage },
  }
}

/** Spans of gates, computed backwards from the event: gates ran one after the other, and services all the time alongside them. */
function gateSpans({ parent, endMs, facts }: From, gates: readonly GateResult[]): Span[] {
  let end = endMs
  return gates.toReversed().map((gate, index) => {
    const name = oneLine(gate.name, 100)
    const endedAt = end
    const startMs = end - gate.ms
    if (!isService(gate)) end = startMs
    const exit = /^exit (\d+)$/.exec(gate.ended)?.[1]
    return {
      spanId: facts.id(16, `gate/${parent}/${index}/${gate.name}/${endMs}`),
      parentSpanId: parent,
      name: `gate ${name}`,
      kind: INTERNAL,
      startMs,
      endMs: endedAt,
      attributes: {
        'ralph.gate.name': name,
        'ralph.gate.ok': gate.ok,
        'ralph.gate.advisory': gate.advisory,
        'process.exit.code': exit === undefined ? null : Number(exit),
      },
      error: gate.ok || gate.advisory ? null : 'red',
    }
  })
}

function iterationSpan(
  before: State,
  attempt: Attempt,
  { kind, at }: Event,
  after: State,
  facts: SpanFacts,
): Span {
  const usage = attemptUsage(after, attempt.storyId, attempt.startedAt)
  const failure = attempt.phase === 'failed' ? attempt.failure.kind : null
  return {
    spanId: iterationSpanId(before, attempt, facts),
    parentSpanId: jobSpanId(after, facts),
    name: 'ralph.iteration',
    kind: INTERNAL,
    startMs: attempt.startedAt,
    endMs: at,
    attributes: {
      'ralph.story.id': oneLine(attempt.storyId, 64),
      'ralph.iteration': attempt.iteration,
      'ralph.attempt': attempt.number,
      'ralph.result': kind === 'accepted' ? 'passed' : kind,
      'ralph.cost.usd': usage.costUsd,
      'ralph.tokens': tokensOf(usage),
      'error.type': failure,
    },
    error: failure,
  }
}

/** The metrics of a job; names and bounds follow https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/ */
export function metricsOf(spans: readonly Span[]): Metric[] {
  const sessions = spans.flatMap(({ session }) => session ?? [])
  const points = (value: (usage: Usage) => number, more: Attributes = {}) =>
    sessions.map(({ series, usage }) => ({ value: value(usage), attributes: { ...series, ...more } }))
  const metrics: Metric[] = [
    {
      name: 'gen_ai.client.token.usage',
      unit: '{token}',
      description: 'Tokens that a session used',
      bounds: Array.from({ length: 14 }, (_, power) => 4 ** power),
      points: [
        ...points(({ inputTokens }) => inputTokens, { 'gen_ai.token.type': 'input' }),
        ...points(({ outputTokens }) => outputTokens, { 'gen_ai.token.type': 'output' }),
      ],
    },
    {
      name: 'gen_ai.client.operation.duration',
      unit: 's',
      description: 'How long a session took',
      bounds: Array.from({ length: 14 }, (_, power) => 2 ** power),
      points: points(({ agentSeconds }) => agentSeconds),
    },
    {
      name: 'ralph.cost',
      unit: 'USD',
      description: 'What sessions cost',
      points: points(({ costUsd }) => costUsd),
    },
  ]
  return metrics.filter((metric) => metric.points.length > 0)
}
