// OTLP/HTTP in JSON, as OpenTelemetry's own SDK writes it: https://opentelemetry.io/docs/specs/otlp/#otlphttp. Pure.
import { groupBy } from '../../engine/model/each-once.ts'

/** An attribute that is null is left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | null>>

export type Span = {
  traceId: string
  spanId: string
  parentSpanId: string | null
  name: string
  /** SPAN_KIND_INTERNAL, or SPAN_KIND_CLIENT for a call of something else. */
  kind: 1 | 3
  /** Epoch milliseconds. */
  startMs: number
  endMs: number
  attributes: Attributes
  /** Why it failed, or null. */
  error: string | null
}

/** With `bounds` a histogram, else a sum that only grows. */
export type Metric = {
  name: string
  unit: string
  description: string
  bounds?: readonly number[]
  points: readonly { value: number; attributes: Attributes }[]
}

/** The sender: `resource` describes the run, `scope` the program that measured. */
export type Source = { resource: Attributes; scope: { name: string; version: string } }

export function tracesBody({ resource, scope }: Source, spans: readonly Span[]) {
  return {
    resourceSpans: [
      { resource: otlpResource(resource), scopeSpans: [{ scope, spans: spans.map(otlpSpan) }] },
    ],
  }
}

export function metricsBody(
  { resource, scope }: Source,
  metrics: readonly Metric[],
  startMs: number,
  endMs: number,
) {
  const times = { startTimeUnixNano: nanos(startMs), timeUnixNano: nanos(endMs) }
  const otlpMetrics = metrics.map(({ name, description, unit, bounds, points }) => {
    // Points with the same attributes are one series.
    const series = [...groupBy(points, ({ attributes }) => JSON.stringify(attributes)).values()]
    const dataPoints = series.map((pointsOfSeries) => {
      const attributes = otlpAttributes(pointsOfSeries[0]?.attributes ?? {})
      const values = pointsOfSeries.map(({ value }) => value)
      const sum = values.reduce((total, value) => total + value, 0)
      return bounds === undefined
        ? { attributes, ...times, asDouble: sum }
        : { attributes, ...histogram(values, bounds), sum, ...times }
    })
    return bounds === undefined
      ? { name, description, unit, sum: { aggregationTemporality, isMonotonic: true, dataPoints } }
      : { name, description, unit, histogram: { aggregationTemporality, dataPoints } }
  })
  return {
    resourceMetrics: [{ resource: otlpResource(resource), scopeMetrics: [{ scope, metrics: otlpMetrics }] }],
  }
}

function histogram(values: readonly number[], bounds: readonly number[]) {
  // One bucket for each bound, and one for values above the last bound.
  const bucketCounts = Array.from({ length: bounds.length + 1 }, () => 0)
  for (const value of values) {
    const boundIndex = bounds.findIndex((bound) => value <= bound)
    const bucket = boundIndex === -1 ? bounds.length : boundIndex
    bucketCounts[bucket] = (bucketCounts[bucket] ?? 0) + 1
  }
  const [min, max] = [Math.min(...values), Math.max(...values)]
  return { bucketCounts, explicitBounds: bounds, count: values.length, min, max }
}

function otlpResource(attributes: Attributes) {
  return { attributes: otlpAttributes(attributes), droppedAttributesCount: 0 }
}

/** AGGREGATION_TEMPORALITY_CUMULATIVE: a value covers everything since `startMs`. */
const aggregationTemporality = 2

/** Trace flags: sampled, and known to have no remote parent. */
const FLAGS = 0x101

function otlpSpan({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, error }: Span) {
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind,
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: otlpAttributes(attributes),
    droppedAttributesCount: 0,
    events: [],
    droppedEventsCount: 0,
    status: error === null ? { code: 0 } : { code: 2, message: error },
    links: [],
    droppedLinksCount: 0,
    flags: FLAGS,
  }
}

function otlpAttributes(attributes: Attributes) {
  return Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => {
      if (typeof value === 'string') return { key, value: { stringValue: value } }
      if (typeof value === 'boolean') return { key, value: { boolValue: value } }
      return { key, value: Number.isInteger(value) ? { intValue: value } : { doubleValue: value } }
    })
}

/** Nanoseconds, as a text: a JavaScript number cannot hold all digits. */
function nanos(ms: number): string {
  return `${Math.round(ms)}000000`
}
