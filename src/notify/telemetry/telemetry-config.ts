// The target of telemetry, by the variables of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/protocol/exporter/. Pure.
import { decodePercent } from '../../system/percent-encoding.ts'
import type { Attributes } from './otlp.ts'

type Variables = Readonly<Record<string, string | undefined>>

export type TelemetryConfig = {
  /** The collector's address, without a slash at the end. */
  endpoint: string
  headers: Readonly<Record<string, string>>
  resource: Attributes
}

/** Null if the variables do not ask for telemetry, or if it cannot be sent; `warn` gets the reason. */
export function telemetryConfig(env: Variables, warn: (message: string) => void): TelemetryConfig | null {
  const endpoint = readVariable(env, 'OTEL_EXPORTER_OTLP_ENDPOINT').replace(/\/+$/, '')
  if (endpoint === '' || readVariable(env, 'OTEL_SDK_DISABLED').toLowerCase() === 'true') return null
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) {
    warn('OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL, so Ralph sends no telemetry')
    return null
  }
  const service = readVariable(env, 'OTEL_SERVICE_NAME')
  const attributes = { 'service.name': 'ralph', ...parsePairs(readVariable(env, 'OTEL_RESOURCE_ATTRIBUTES')) }
  return {
    endpoint,
    headers: parsePairs(readVariable(env, 'OTEL_EXPORTER_OTLP_HEADERS')),
    resource: service === '' ? attributes : { ...attributes, 'service.name': service },
  }
}

/** An empty variable is as one that is not set. */
function readVariable(env: Variables, name: string): string {
  return env[name]?.trim() ?? ''
}

/** `key=value,key=value`, each percent-encoded; what is not a pair is left out. */
function parsePairs(written: string): Record<string, string> {
  const found = written.split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=')
    const key = pair.slice(0, at).trim()
    return at < 0 || key === '' ? [] : [[key, decodePercent(pair.slice(at + 1).trim())]]
  })
  return Object.fromEntries(found)
}
