// Records what OpenTelemetry's own SDK sends for one trace and its metrics, to hold our JSON to: test/unit/telemetry.
// usage: node scripts/record-otlp.mjs FOLDER, where FOLDER has in its node_modules @opentelemetry/sdk-trace-base,
// sdk-metrics, resources, exporter-trace-otlp-http and exporter-metrics-otlp-http.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const folder = resolve(process.argv[2] ?? '.')
const load = createRequire(join(folder, 'package.json'))
const { OTLPTraceExporter } = load('@opentelemetry/exporter-trace-otlp-http')
const { OTLPMetricExporter } = load('@opentelemetry/exporter-metrics-otlp-http')
const { BasicTracerProvider, SimpleSpanProcessor } = load('@opentelemetry/sdk-trace-base')
const { AggregationTemporality, AggregationType, MeterProvider, PeriodicExportingMetricReader } = load(
  '@opentelemetry/sdk-metrics',
)
const { resourceFromAttributes } = load('@opentelemetry/resources')
const { context, trace } = load('@opentelemetry/api')

const sample = JSON.parse(readFileSync(new URL('../test/fixtures/otlp/sample.json', import.meta.url), 'utf8'))
const heard = {}
const server = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    heard[request.url] = {
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
    }
    response.setHeader('content-type', 'application/json').end('{}')
  })
})
await new Promise((done) => server.listen(0, '127.0.0.1', done))
const url = `http://127.0.0.1:${server.address().port}`

const { scope, resource, spans, metrics } = sample
const ids = spans.map(({ spanId }) => spanId)
const tracers = new BasicTracerProvider({
  resource: resourceFromAttributes(resource),
  idGenerator: { generateTraceId: () => spans[0].traceId, generateSpanId: () => ids.shift() },
  spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` }))],
})
const tracer = tracers.getTracer(scope.name, scope.version)
const bodies = []
let parent = null
for (const span of spans) {
  const around = parent === null ? context.active() : trace.setSpan(context.active(), parent)
  const one = tracer.startSpan(
    span.name,
    { kind: span.kind - 1, startTime: span.startMs, attributes: span.attributes },
    around,
  )
  if (span.error !== null) one.setStatus({ code: 2, message: span.error })
  one.end(span.endMs)
  await tracers.forceFlush()
  bodies.push(heard['/v1/traces'].body)
  parent ??= one
}
const reader = new PeriodicExportingMetricReader({
  exporter: new OTLPMetricExporter({
    url: `${url}/v1/metrics`,
    temporalityPreference: AggregationTemporality.CUMULATIVE,
  }),
})
const meters = new MeterProvider({
  resource: resourceFromAttributes(resource),
  readers: [reader],
  views: metrics
    .filter(({ bounds }) => bounds !== undefined)
    .map(({ name, bounds }) => ({
      instrumentName: name,
      aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries: bounds } },
    })),
})
const meter = meters.getMeter(scope.name, scope.version)
for (const { name, unit, description, bounds, points } of metrics) {
  const instrument =
    bounds === undefined
      ? meter.createCounter(name, { unit, description })
      : meter.createHistogram(name, { unit, description })
  for (const { value, attributes } of points)
    if (bounds === undefined) instrument.add(value, attributes)
    else instrument.record(value, attributes)
}
await meters.forceFlush()
const write = (name, value) =>
  writeFileSync(
    new URL(`../test/fixtures/otlp/${name}.json`, import.meta.url),
    `${JSON.stringify(value, null, 2)}\n`,
  )
write('traces', bodies)
write('metrics', heard['/v1/metrics'].body)
console.log(heard['/v1/traces'].headers)
server.close()
server.closeAllConnections()
process.exit(0)
