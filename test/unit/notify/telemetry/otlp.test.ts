// Our JSON is that of OpenTelemetry's own SDK for the same spans and metrics: test/fixtures/otlp, by scripts/record-otlp.mjs.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  type Metric,
  metricsBody,
  type Source,
  type Span,
  tracesBody,
} from '../../../../src/notify/telemetry/otlp.ts'

function recorded(name: string) {
  return JSON.parse(readFileSync(new URL(`../../../fixtures/otlp/${name}.json`, import.meta.url), 'utf8'))
}

const sample: Source & { spans: Span[]; metrics: Metric[] } = recorded('sample')

test('spans are encoded as by the OpenTelemetry SDK', () => {
  const ours = sample.spans.map((span) => tracesBody(sample, [span]))
  assert.deepEqual(JSON.parse(JSON.stringify(ours)), recorded('traces'))
  const both = tracesBody(sample, sample.spans)
  assert.equal(both.resourceSpans[0]?.scopeSpans[0]?.spans.length, 2)
})

test('metrics are encoded as by the OpenTelemetry SDK', () => {
  const ours = JSON.parse(JSON.stringify(metricsBody(sample, sample.metrics, 1, 2)))
  assert.deepEqual(timeless(ours), timeless(recorded('metrics')))
})

/** The SDK takes the time of day. */
function timeless(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/("(?:startT|t)imeUnixNano"):"\d+"/g, '$1:"0"'))
}
