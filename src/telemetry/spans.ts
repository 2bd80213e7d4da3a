// What a job did, as spans: ids and figures, no word of a story. Pure: times are those of the events.
import type { Event } from '../model/event.ts'
import { type GateResult, isService } from '../model/gate.ts'
import { openAttempt } from '../model/job.ts'
import type { Attempt, State } from '../model/state.ts'
import { oneLine } from '../model/text.ts'
import type { Usage } from '../model/usage.ts'
import { counts } from '../prd/select.ts'
import { goesOn, outcomeNow } from '../report/headline.ts'
import type { Span } from './otlp.ts'

export type SpanFacts = {
  /** Of the agent that works, `first` or `fallback`. */
  agent(which: Attempt['agent']): { name: string; provider: string }
  model(mode: Mode): string | null
  /** So many hex digits that are the same for the same words. */
  id(digits: number, words: string): string
}

type Mode = 'run' | 'plan' | 'verify'

/** What an event adds; `before` is the state before it. */
export function spansOf(before: State, event: Event, after: State, facts: SpanFacts): Span[] {
  const attempt = openAttempt(before)
  const job = jobSpanId(after, facts)
  const parent = attempt === null ? job : iterationSpanId(before, attempt, facts)
  const from = { state: after, parent, endMs: event.at, which: attempt?.agent ?? 'first', facts } as const
  switch (event.kind) {
    case 'worked':
      return [sessionSpan(from, 'run', event.session.usage, errorOf(event.session.status))]
    case 'judged':
      return [sessionSpan(from, 'verify', event.usage, null)]
    case 'planned':
      return [sessionSpan(from, 'plan', event.usage, null)]
    case 'gated':
    case 'baselined':
      return gateSpans(from, event.gates)
    case 'verified': {
      const session = sessionSpan(from, 'verify', event.usage, null)
      const gates = gateSpans({ ...from, endMs: session.startMs }, event.gates)
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

/** The job, and the whole chain where it has come to its end. */
export function jobSpans(state: State, endMs: number, facts: SpanFacts): Span[] {
  const outcome = outcomeNow(state)
  const { total, passed } = counts(state.prd, state.control.scope)
  const { run } = state.prd
  const attributes = {
    'ralph.feature': oneLine(state.feature, 200),
    'ralph.generation': state.generation,
    'ralph.stories.total': total,
    'ralph.stories.passed': passed,
    ...(outcome === null ? {} : { 'ralph.outcome': outcome }),
  }
  const error = outcome === 'error' || outcome === 'stuck' ? outcome : null
  const traceId = traceIdOf(state, facts)
  const chain = chainSpanId(state, facts)
  const job: Span = {
    traceId,
    spanId: jobSpanId(state, facts),
    parentSpanId: chain,
    name: 'ralph.job',
    kind: 1,
    startMs: state.job.startedAt,
    endMs,
    attributes: { ...attributes, 'ralph.job': run.jobs, 'ralph.job.iterations': state.job.counts.iterations },
    error,
  }
  if (outcome === null || (outcome === 'continued' && goesOn(state))) return [job]
  const first = state.timeline.find((entry) => entry.job > state.control.jobsBefore)
  const startMs = Math.min(
    state.job.startedAt,
    first === undefined ? Number.POSITIVE_INFINITY : first.at - first.ms,
  )
  const whole = {
    'ralph.jobs': run.jobs,
    'ralph.iterations': run.iterations,
    'ralph.cost.usd': run.usage.costUsd,
  }
  const name = 'ralph.chain'
  return [
    job,
    { ...job, spanId: chain, parentSpanId: null, name, startMs, attributes: { ...attributes, ...whole } },
  ]
}

export function traceIdOf({ nonce }: State, { id }: SpanFacts): string {
  return id(32, `trace/${nonce}`)
}

/** All jobs since a person last asked to go on. */
function chainSpanId({ nonce, control }: State, { id }: SpanFacts): string {
  return id(16, `chain/${nonce}/${control.jobsBefore}`)
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

type From = { state: State; parent: string; endMs: number; which: Attempt['agent']; facts: SpanFacts }

function sessionSpan(
  { state, parent, endMs, which, facts }: From,
  mode: Mode,
  usage: Usage,
  error: string | null,
): Span {
  const { name, provider } = facts.agent(which)
  const model = facts.model(mode)
  return {
    traceId: traceIdOf(state, facts),
    spanId: facts.id(16, `session/${parent}/${mode}/${endMs}`),
    parentSpanId: parent,
    name: `invoke_agent ${name}`,
    kind: 3,
    startMs: endMs - usage.agentSeconds * 1000,
    endMs,
    attributes: {
      // https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': provider,
      'gen_ai.agent.name': name,
      ...(model === null ? {} : { 'gen_ai.request.model': model }),
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      'ralph.mode': mode,
      'ralph.cost.usd': usage.costUsd,
      ...(error === null ? {} : { 'error.type': error }),
    },
    error,
  }
}

/** They ran one after the other, services beside them, and the last one ended with the event. */
function gateSpans({ state, parent, endMs, facts }: From, gates: readonly GateResult[]): Span[] {
  let end = endMs
  return gates.toReversed().map(({ name, ok, advisory, ended, ms }, index) => {
    const endedAt = end
    const startMs = end - ms
    if (!isService({ name })) end = startMs
    const exit = /^exit (\d+)$/.exec(ended)?.[1]
    return {
      traceId: traceIdOf(state, facts),
      spanId: facts.id(16, `gate/${parent}/${index}/${name}/${endMs}`),
      parentSpanId: parent,
      name: `gate ${oneLine(name, 100)}`,
      kind: 1 as const,
      startMs,
      endMs: endedAt,
      attributes: {
        'ralph.gate.name': oneLine(name, 100),
        'ralph.gate.ok': ok,
        'ralph.gate.advisory': advisory,
        ...(exit === undefined ? {} : { 'process.exit.code': Number(exit) }),
      },
      error: ok || advisory ? null : 'red',
    }
  })
}

const RESULTS = { accepted: 'passed', rejected: 'rejected', returned: 'returned' } as const

function iterationSpan(
  before: State,
  attempt: Attempt,
  { kind, at }: Event & { kind: keyof typeof RESULTS },
  after: State,
  facts: SpanFacts,
): Span {
  const entry = after.timeline.findLast(({ iteration }) => iteration === attempt.iteration)
  const failure = attempt.phase === 'failed' ? attempt.failure.kind : null
  return {
    traceId: traceIdOf(after, facts),
    spanId: iterationSpanId(before, attempt, facts),
    parentSpanId: jobSpanId(after, facts),
    name: 'ralph.iteration',
    kind: 1,
    startMs: attempt.startedAt,
    endMs: at,
    attributes: {
      'ralph.story.id': oneLine(attempt.storyId, 64),
      'ralph.iteration': attempt.iteration,
      'ralph.attempt': attempt.number,
      'ralph.result': RESULTS[kind],
      'ralph.cost.usd': entry?.costUsd ?? 0,
      'ralph.tokens': entry?.tokens ?? 0,
      ...(failure === null ? {} : { 'error.type': failure }),
    },
    error: failure,
  }
}

function errorOf(status: string): string | null {
  return status === 'finished' ? null : status
}
