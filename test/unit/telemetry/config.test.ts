// The variables of OpenTelemetry, as its specification reads them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { telemetryConfig, telemetrySecrets } from '../../../src/telemetry/config.ts'

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/'

test('nothing is sent where nobody asked for it, or somebody switched it off', () => {
  assert.equal(telemetryConfig({}), null)
  assert.equal(telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ', OTEL_SERVICE_NAME: 'x' }), null)
  assert.equal(telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }), null)
})

test('endpoint, headers, resource: those of a signal win, and one is used as it is', () => {
  assert.deepEqual(telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT }), {
    traces: { url: 'http://collector:4318/v1/traces', headers: {} },
    metrics: { url: 'http://collector:4318/v1/metrics', headers: {} },
    resource: { 'service.name': 'ralph' },
    isDelta: false,
    warnings: [],
  })
  const own = telemetryConfig({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t.example/in',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, x = y ,broken,=z,p=%zz',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x=own',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_SERVICE_NAME: 'shop-ralph',
    OTEL_RESOURCE_ATTRIBUTES: 'team=a,service.name=lost',
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
  })
  assert.deepEqual(own, {
    traces: { url: 'https://t.example/in', headers: { 'api-key': 'a b', x: 'own', p: '%zz' } },
    metrics: null,
    resource: { 'service.name': 'shop-ralph', team: 'a' },
    isDelta: true,
    warnings: [],
  })
  assert.equal(telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_METRICS_EXPORTER: 'none' })?.metrics, null)
})

test('another protocol, and what is no address, is said once', () => {
  const grpc = telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
  assert.deepEqual(grpc?.warnings, [
    'OTEL_EXPORTER_OTLP_PROTOCOL asks for another protocol than http/json, the only one that Ralph sends',
  ])
  assert.notEqual(grpc?.traces, null)
  const wrong = telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' })
  assert.deepEqual([wrong?.traces, wrong?.metrics, wrong?.warnings.length], [null, null, 1])
})

test('what the headers carry is a secret, also without its scheme', () => {
  const secrets = telemetrySecrets({
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abcdefghij,team=a',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'api-key=0123456789',
  })
  assert.deepEqual([...new Set(secrets)], ['Bearer abcdefghij', 'abcdefghij', '0123456789'])
})
