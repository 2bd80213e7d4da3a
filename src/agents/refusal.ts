// What a vendor means that refuses a request: by the codes in its answer, by HTTP status, and only then by the fixed
// sentences in the field for messages. Never by what a model or a tool said. Sources: the recordings in
// test/fixtures/agents, and the error pages of the vendors (Anthropic, OpenAI, Google, GitHub Copilot's session.error).

import type { SessionStatus } from './agent.ts'
import { statusOfHttp } from './ending.ts'
import { jsonObject, number, object, objects, string } from './json.ts'

export type Refusal = {
  http: number | null
  /** Names of errors: `type`, `code`, `status`, `reason` and such. */
  codes: readonly string[]
  /** The vendor's words. */
  message: string
}

/** What the refusal means; a request that is merely wrong (HTTP 400 without more) is `failed`. */
export function statusOfRefusal({ http, codes, message }: Refusal): SessionStatus {
  const known = codes.map((code) => MEANINGS.get(code)).find((status) => status !== undefined)
  if (known !== undefined) return known
  const byStatus = http === null ? 'failed' : statusOfHttp(http)
  if (byStatus !== 'failed') return byStatus
  return SENTENCES.some((sentence) => sentence.test(message)) ? 'auth' : 'failed'
}

/**
 * Reads an answer's body, or a message that holds one: `{"error":{"message","type","code"}}`, Google's with `status` and
 * `details[].reason`, `{"detail":"…"}`, `400 {…}`; a message may be such a body once more. Other text is the message.
 */
export function readRefusal(text: string, depth = 3): Refusal {
  const [, status, rest] = /^(?:API Error: )?(?:(\d{3}) )?(.*)$/s.exec(text.trim()) ?? []
  const http = status === undefined ? null : Number(status)
  const body = depth > 0 ? jsonObject(rest ?? '') : null
  if (body === null) return { http, codes: [], message: rest ?? '' }
  const error = object(body.error) ?? body
  const inner = readRefusal(
    string(error.message) ?? string(body.error) ?? string(body.detail) ?? '',
    depth - 1,
  )
  const named = [error.code, error.type, error.status, ...objects(error.details).map((one) => one.reason)]
  return {
    http: inner.http ?? number(error.code) ?? number(body.status) ?? http,
    codes: [...inner.codes, ...named.flatMap((code) => string(code) ?? [])],
    message: inner.message,
  }
}

const MEANINGS: ReadonlyMap<string, SessionStatus> = new Map<string, SessionStatus>([
  ...statuses(
    'auth',
    // Anthropic, and claude's own names
    'authentication_error permission_error billing_error not_found_error',
    'authentication_failed oauth_org_not_allowed model_not_found',
    // OpenAI and those who speak its protocol
    'invalid_api_key insufficient_quota billing_hard_limit_reached billing_not_active account_deactivated',
    'invalid_model model_not_supported unsupported_model model_decommissioned model_terms_required',
    'unsupported_country_region_territory',
    // Google: FAILED_PRECONDITION is a country or a project without billing
    'UNAUTHENTICATED PERMISSION_DENIED NOT_FOUND FAILED_PRECONDITION',
    'API_KEY_INVALID API_KEY_SERVICE_BLOCKED API_KEY_IP_ADDRESS_BLOCKED API_KEY_HTTP_REFERRER_BLOCKED',
    'SERVICE_DISABLED BILLING_DISABLED CONSUMER_INVALID CONSUMER_SUSPENDED USER_PROJECT_DENIED',
    // GitHub Copilot
    'authentication authorization quota quota_exceeded session_quota_exceeded billing_not_configured',
    // Connect RPC (cursor)
    'unauthenticated permission_denied',
  ),
  ...statuses(
    'limit',
    'rate_limit rate_limit_error rate_limit_exceeded usage_limit_reached RESOURCE_EXHAUSTED',
  ),
  ...statuses('limit', 'resource_exhausted'),
  ...statuses(
    'overloaded',
    'overloaded overloaded_error server_error connection_failed UNAVAILABLE unavailable',
  ),
  ...statuses('context', 'context_length_exceeded context_limit'),
])

function statuses(status: SessionStatus, ...codes: string[]): [string, SessionStatus][] {
  return codes.flatMap((line) => line.split(' ').map((code): [string, SessionStatus] => [code, status]))
}

/** Whole sentences of servers that answer with HTTP 400 and no code of their own, from their start. */
const SENTENCES: readonly RegExp[] = [
  /^(?:Your credit|Credit) balance is too low\b/,
  /^(?:This|Your) organization has been disabled\b/,
  /^You have reached your specified API usage limits\b/,
  /^API [Kk]ey (?:not valid|not found|expired)\b/,
  /^Incorrect API key provided\b/,
  /^User location is not supported for the API use\b/,
  /^The (?:requested )?model [`'"][^`'"]*[`'"] (?:does not exist|has been deprecated|is not supported)\b/,
  /^The [`'"][^`'"]*[`'"] model (?:does not exist|is not supported)\b/,
  /^The provided model identifier is invalid\b/,
]
