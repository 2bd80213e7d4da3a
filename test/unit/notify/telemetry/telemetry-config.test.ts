// The variables of OpenTelemetry, as its specification reads them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { telemetryConfig } from '../../../../src/notify/telemetry/telemetry-config.ts'

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/'

function read(env: Record<string, string>) {
  const warnings: string[] = []
  return { config: telemetryConfig(env, (message) => warnings.push(message)), warnings }
}

test('telemetry is off without an endpoint, or with OTEL_SDK_DISABLED', () => {
  const nothing = { config: null, warnings: [] }
  assert.deepEqual(read({}), nothing)
  assert.deepEqual(read({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ', OTEL_SERVICE_NAME: 'x' }), nothing)
  assert.deepEqual(read({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }), nothing)
})

test('telemetry reads endpoint, headers and resource attributes', () => {
  assert.deepEqual(read({ OTEL_EXPORTER_OTLP_ENDPOINT }), {
    config: { endpoint: 'http://collector:4318', headers: {}, resource: { 'service.name': 'ralph' } },
    warnings: [],
  })
  const own = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://t.example/in',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, x = y ,broken,=z,p=%zz',
    OTEL_SERVICE_NAME: 'shop-ralph',
    OTEL_RESOURCE_ATTRIBUTES: 'team=a,service.name=lost',
  })
  assert.deepEqual(own.config, {
    endpoint: 'https://t.example/in',
    headers: { 'api-key': 'a b', x: 'y', p: '%zz' },
    resource: { 'service.name': 'shop-ralph', team: 'a' },
  })
})

test('a telemetry endpoint that is no URL is a warning, and nothing is sent', () => {
  const { config, warnings } = read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' })
  assert.equal(config, null)
  assert.deepEqual(warnings, [
    'OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL, so Ralph sends no telemetry',
  ])
})
