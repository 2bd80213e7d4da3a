// What a vendor means that refuses a request: by the codes in its answer, by HTTP status, and only then by whole sentences.
// Never by what a model or a tool said. Sources: test/fixtures/agents, and the vendors' pages on errors.

import { type SessionStatus, words } from './agent.ts'
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
  const known = codes.map((code) => MEANINGS.get(code.toLowerCase())).find((status) => status !== undefined)
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
  const said = string(error.message) ?? string(body.error) ?? string(body.detail) ?? ''
  const inner = readRefusal(said, depth - 1)
  const named = [error.code, error.type, error.status, ...objects(error.details).map((one) => one.reason)]
  return {
    http: inner.http ?? number(error.code) ?? number(body.status) ?? http,
    codes: [...inner.codes, ...named.flatMap((code) => string(code) ?? [])],
    message: inner.message,
  }
}

/** What codes mean, in lower case: Anthropic's, OpenAI's and its followers', Google's, GitHub Copilot's, Connect's. */
const CODES: readonly (readonly [SessionStatus, readonly string[]])[] = [
  [
    'auth',
    words(`
      authentication_error permission_error billing_error not_found_error
      authentication_failed oauth_org_not_allowed model_not_found
      invalid_api_key insufficient_quota billing_hard_limit_reached billing_not_active account_deactivated
      invalid_model model_not_supported unsupported_model model_decommissioned model_terms_required
      unsupported_country_region_territory
      unauthenticated permission_denied not_found failed_precondition
      api_key_invalid api_key_service_blocked api_key_ip_address_blocked api_key_http_referrer_blocked
      service_disabled billing_disabled consumer_invalid consumer_suspended user_project_denied
      authentication authorization quota quota_exceeded session_quota_exceeded billing_not_configured
    `),
  ],
  ['limit', words('rate_limit rate_limit_error rate_limit_exceeded usage_limit_reached resource_exhausted')],
  ['overloaded', words('overloaded overloaded_error server_error connection_failed unavailable')],
  ['context', words('context_length_exceeded context_limit')],
]
const MEANINGS = new Map(CODES.flatMap(([status, codes]) => codes.map((code) => [code, status] as const)))

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
