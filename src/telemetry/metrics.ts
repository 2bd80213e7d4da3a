// The figures of a job, out of its spans. Pure.
import type { Attributes, Metric, Span } from './otlp.ts'

/** https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/ */
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power)
const SECONDS = Array.from({ length: 14 }, (_, power) => 2 ** power)

export function metricsOf(spans: readonly Span[]): Metric[] {
  const sessions = spans.filter(({ name }) => name.startsWith('invoke_agent '))
  const iterations = spans.filter(({ name }) => name === 'ralph.iteration')
  const amount = ({ attributes }: Span, name: string) => Number(attributes[name] ?? 0)
  const tokens = (type: 'input' | 'output') =>
    sessions.map((span) => ({
      value: amount(span, `gen_ai.usage.${type}_tokens`),
      attributes: { ...whose(span), 'gen_ai.token.type': type },
    }))
  return [
    {
      name: 'gen_ai.client.token.usage',
      unit: '{token}',
      description: 'Tokens that a session used',
      bounds: TOKENS,
      points: [...tokens('input'), ...tokens('output')],
    },
    {
      name: 'gen_ai.client.operation.duration',
      unit: 's',
      description: 'How long a session took',
      bounds: SECONDS,
      points: sessions.map((span) => ({
        value: (span.endMs - span.startMs) / 1000,
        attributes: whose(span),
      })),
    },
    {
      name: 'ralph.iterations',
      unit: '{iteration}',
      description: 'Iterations by their result',
      points: iterations.map(({ attributes }) => ({
        value: 1,
        attributes: { 'ralph.result': attributes['ralph.result'] ?? '' },
      })),
    },
    {
      name: 'ralph.cost',
      unit: 'USD',
      description: 'What sessions cost',
      points: sessions.map((span) => ({ value: amount(span, 'ralph.cost.usd'), attributes: whose(span) })),
    },
  ].filter(({ points }) => points.length > 0)
}

function whose({ attributes }: Span): Attributes {
  const names = [
    'gen_ai.operation.name',
    'gen_ai.provider.name',
    'gen_ai.agent.name',
    'gen_ai.request.model',
    'ralph.mode',
  ]
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => names.includes(name)))
}
