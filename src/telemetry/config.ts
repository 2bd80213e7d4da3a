// Where telemetry goes, by the variables of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/protocol/exporter/. Pure.
import type { Attributes } from './otlp.ts'

type Variables = Readonly<Record<string, string | undefined>>

export type Target = { url: string; headers: Readonly<Record<string, string>> }

export type TelemetryConfig = {
  /** Null: not sent. */
  traces: Target | null
  metrics: Target | null
  resource: Attributes
  isDelta: boolean
  /** What is set and not done. */
  warnings: string[]
}

/** Null where nobody asked for it. */
export function telemetryConfig(env: Variables): TelemetryConfig | null {
  const all = set(env, 'OTEL_EXPORTER_OTLP_ENDPOINT')
  const named = ['TRACES', 'METRICS'].some(
    (signal) => set(env, `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) !== '',
  )
  if ((all === '' && !named) || set(env, 'OTEL_SDK_DISABLED').toLowerCase() === 'true') return null
  const warnings: string[] = []
  const targets = { traces: target(env, 'TRACES', warnings), metrics: target(env, 'METRICS', warnings) }
  const service = set(env, 'OTEL_SERVICE_NAME')
  const resource = {
    'service.name': 'ralph',
    ...pairs(set(env, 'OTEL_RESOURCE_ATTRIBUTES')),
    ...(service === '' ? {} : { 'service.name': service }),
  }
  const preference = set(env, 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE').toLowerCase()
  return { ...targets, resource, isDelta: ['delta', 'lowmemory'].includes(preference), warnings }
}

/** What is sent beside, such as a key: each value by itself, and behind its scheme. */
export function telemetrySecrets(env: Variables): string[] {
  const written = ['', 'TRACES_', 'METRICS_'].map((signal) => set(env, `OTEL_EXPORTER_OTLP_${signal}HEADERS`))
  return written
    .flatMap((headers) => Object.values(pairs(headers)))
    .flatMap((value) => [value, value.replace(/^\S+\s+/, '')])
    .filter(({ length }) => length >= 8)
}

function target(env: Variables, signal: 'TRACES' | 'METRICS', warnings: string[]): Target | null {
  const own = set(env, `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`)
  const all = set(env, 'OTEL_EXPORTER_OTLP_ENDPOINT').replace(/\/+$/, '')
  const url = own || (all === '' ? '' : `${all}/v1/${signal.toLowerCase()}`)
  if (url === '' || set(env, `OTEL_${signal}_EXPORTER`).toLowerCase() === 'none') return null
  const variable = own === '' ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    warn(warnings, `${variable} is no http or https URL: nothing is sent there`)
    return null
  }
  for (const name of [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const protocol = set(env, name)
    if (protocol === '') continue
    if (protocol !== 'http/json')
      warn(warnings, `${name} asks for another protocol than http/json, the only one that Ralph sends`)
    break
  }
  const headers = pairs(set(env, 'OTEL_EXPORTER_OTLP_HEADERS'))
  return { url, headers: { ...headers, ...pairs(set(env, `OTEL_EXPORTER_OTLP_${signal}_HEADERS`)) } }
}

function warn(warnings: string[], text: string): void {
  if (!warnings.includes(text)) warnings.push(text)
}

/** An empty variable is as one that is not set. */
function set(env: Variables, name: string): string {
  return env[name]?.trim() ?? ''
}

/** `key=value,key=value`, each percent-encoded; what is no pair is left out. */
function pairs(written: string): Record<string, string> {
  const found = written.split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=')
    const key = pair.slice(0, at).trim()
    return at < 0 || key === '' ? [] : [[key, decoded(pair.slice(at + 1).trim())]]
  })
  return Object.fromEntries(found)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
