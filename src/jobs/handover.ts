// What the four jobs of `isolation: separate-job` tell each other, as job outputs: one line of JSON each. What comes from a
// job that ran the agent or its code is read field by field; whatever does not fit is as if nothing had come. Pure.

import type { Verdict } from '../model/event.ts'
import type { GateResult } from '../model/gate.ts'
import type { Session } from '../model/state.ts'
import { optionalUsageKeys, type Usage } from '../model/usage.ts'
import { excerpt } from '../system/excerpt.ts'

/** From the job that holds the lease, which runs nothing that is not trusted. */
export type FromClaim = { folder: string; nonce: string; base: string }
/** What a session said and used; its changes are `commit`, in a pack of this digest. */
export type FromWork = {
  nonce: string
  session: Session | null
  judged: { verdict: Verdict; usage: Usage } | null
  commit: string | null
  sha256: string | null
  /** What a person has to mend before an agent can start at all; then there is nothing else. */
  mistake: string | null
}
/** Gate results for exactly the code of this digest; without one nothing came as far as the gates. */
export type FromGate = { nonce: string; code: string | null; gates: GateResult[] }

/** An environment variable holds at most 128 KB on Linux (MAX_ARG_STRLEN); the job gets it as one. */
const LIMIT_BYTES = 96 * 1024
const TEXT = 2000
const LIST = 200
/** Nobody uses more than this of anything. */
const MOST = 1e12

export function writeHandover(value: FromClaim | FromWork | FromGate): string {
  return JSON.stringify(value)
}

/** Gate output is cut, the longest first, until everything fits into one variable. */
export function fitGates(value: FromGate, limitBytes = LIMIT_BYTES): FromGate {
  for (let most = 16 * 1024; ; most = Math.floor(most / 2)) {
    const gates = value.gates.map((gate) => ({ ...gate, output: excerpt(gate.output, most) }))
    const fitted = { ...value, gates }
    if (most < 64 || Buffer.byteLength(writeHandover(fitted)) <= limitBytes) return fitted
  }
}

export function readFromClaim(text: string | undefined): FromClaim | null {
  const fields = recordOf(text)
  const [folder, nonce, base] = [string(fields.folder), string(fields.nonce), hex(fields.base)]
  return folder === '' || nonce === '' || base === null ? null : { folder, nonce, base }
}

export function readFromWork(text: string | undefined): FromWork | null {
  const fields = recordOf(text)
  const nonce = string(fields.nonce)
  if (nonce === '') return null
  const [commit, sha256] = [hex(fields.commit), hex(fields.sha256)]
  const session = sessionOf(fields.session)
  const judged = judgedOf(fields.judged)
  const mistake = string(fields.mistake) || null
  return { nonce, session, judged, commit, sha256, mistake }
}

export function readFromGate(text: string | undefined): FromGate | null {
  const fields = recordOf(text)
  const nonce = string(fields.nonce)
  if (nonce === '' || !Array.isArray(fields.gates)) return null
  const gates = fields.gates.slice(0, LIST).flatMap((one) => gateOf(one))
  return { nonce, code: hex(fields.code), gates }
}

const STATUSES: readonly Session['status'][] = [
  'finished',
  'failed',
  'limit',
  'overloaded',
  'auth',
  'not-started',
  'interrupted',
]

function sessionOf(value: unknown): Session | null {
  const fields = record(value)
  const status = STATUSES.find((one) => one === fields.status)
  const usage = usageOf(fields.usage)
  if (status === undefined || usage === null) return null
  const hints = record(fields.hints)
  return {
    status,
    message: string(fields.message),
    usage,
    resetsAt: number(fields.resetsAt),
    hints: {
      done: hints.done === true,
      notDone: hints.notDone === true,
      stuck: typeof hints.stuck === 'string' ? string(hints.stuck) : null,
    },
    learnings: strings(fields.learnings),
  }
}

function judgedOf(value: unknown): FromWork['judged'] {
  const fields = record(value)
  const usage = usageOf(fields.usage)
  const verdict = verdictOf(record(fields.verdict))
  return usage === null || verdict === null ? null : { verdict, usage }
}

function verdictOf(fields: Record<string, unknown>): Verdict | null {
  const message = string(fields.message)
  switch (fields.kind) {
    case 'verified':
      return { kind: 'verified' }
    case 'reset':
      return { kind: 'reset', stories: strings(fields.stories), reason: string(fields.reason) }
    case 'limit':
      return { kind: 'limit', notBefore: number(fields.notBefore), message }
    case 'refused':
      return { kind: 'refused', message }
    case 'none':
      return { kind: 'none', message }
    default:
      return null
  }
}

function usageOf(value: unknown): Usage | null {
  const fields = record(value)
  const count = (name: string): number => Math.max(0, number(fields[name]) ?? Number.NaN)
  const usage: Usage = {
    calls: count('calls'),
    inputTokens: count('inputTokens'),
    outputTokens: count('outputTokens'),
    cachedTokens: count('cachedTokens'),
    costUsd: count('costUsd'),
    agentSeconds: count('agentSeconds'),
  }
  if (Object.values(usage).some((one) => !(Number(one) <= MOST))) return null
  for (const name of optionalUsageKeys) {
    const more = number(fields[name])
    if (more !== null && more > 0 && more <= MOST) usage[name] = more
  }
  return usage
}

function gateOf(value: unknown): GateResult[] {
  const fields = record(value)
  const ms = number(fields.ms)
  if (typeof fields.name !== 'string' || typeof fields.ok !== 'boolean' || ms === null) return []
  const output = typeof fields.output === 'string' ? fields.output : ''
  return [{ name: fields.name, ok: fields.ok, advisory: false, ended: string(fields.ended), ms, output }]
}

function recordOf(text: string | undefined): Record<string, unknown> {
  if (text === undefined || text.length > 2 * LIMIT_BYTES) return {}
  try {
    return record(JSON.parse(text))
  } catch {
    return {}
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function string(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, TEXT) : ''
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, LIST).map(string).filter(Boolean) : []
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

function hex(value: unknown): string | null {
  return typeof value === 'string' && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(value) ? value : null
}
