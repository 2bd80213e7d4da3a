// Classifies a session's end, for all vendors: exit codes, refusals by a vendor's server, and a one-line message.

import { asNumber, asObject, asObjects, asString, jsonObject } from '../engine/model/json.ts'
import { oneLine, truncate } from '../engine/model/text.ts'
import type { Exit } from '../system/process.ts'
import { type SessionStatus, words } from './agent.ts'

/** `resetsAt`: epoch milliseconds, of a `limit`. */
export type Ending = { status: SessionStatus; message: string; resetsAt?: number | null }

/** A failed request that the vendor's program was about to repeat, or null. `status`: the HTTP status of the `retry` event. */
export type Retrying = { status: number | null } | null

/**
 * The ending of a session that Ralph ended or that never started; null if the program ended by itself or was killed. If the
 * program was repeating a request when its time ran out, the server's answer is the reason.
 */
export function endingByRalph(exit: Exit, retrying: Retrying): Ending | null {
  const { kind } = exit
  if (kind === 'not-started')
    return { status: kind, message: `Ralph could not start the agent: ${exit.reason}` }
  if (kind === 'aborted') return { status: kind, message: 'the session was cancelled' }
  if (kind !== 'timeout' && kind !== 'idle') return null
  const message = TIMED_OUT[kind]
  if (retrying === null) return { status: kind, message }
  const status = statusOfHttp(retrying.status)
  if (status === 'failed' || status === 'context') return { status: kind, message }
  const answer = retrying.status === null ? 'a broken connection' : `HTTP ${retrying.status}`
  return { status, message: `${message} while it was retrying after ${answer}` }
}

const TIMED_OUT = {
  timeout: 'the session took longer than iteration-timeout allows and was ended',
  idle: 'the agent printed nothing for longer than idle-timeout and was ended',
}

/** The ending of a program that exited or was killed without a result. `stderr` is its last line of stderr. */
export function endingByExit(exit: Exit, stderr: string): Ending {
  const byRalph = endingByRalph(exit, null)
  if (byRalph !== null) return byRalph
  if (exit.kind === 'signal') return { status: 'killed', message: `the agent was killed by ${exit.signal}` }
  const code = exit.kind === 'exit' ? exit.code : 1
  const exitText = withVendorMessage(`(exit code ${code})`, stderr)
  if (code === 0) {
    return { status: 'failed', message: 'the agent ended with exit code 0 but without a final answer' }
  }
  // The shell's exit codes for a program that is missing or cannot be run, the agent's or the wrapper's.
  if (code === 126 || code === 127) {
    return { status: 'not-started', message: `Ralph could not start the agent ${exitText}` }
  }
  // A program that catches a signal reports 128 + its number (143 after SIGTERM).
  if (code === 129 || code === 130 || code === 137 || code === 143) {
    return { status: 'killed', message: `a signal ended the agent ${exitText}` }
  }
  return { status: 'crashed', message: withVendorMessage(`the agent ended with exit code ${code}`, stderr) }
}

/**
 * The option that a program refuses as unknown in this line of its stderr, or null. In the words of commander (claude), clap (codex) and
 * yargs (gemini, qwen).
 */
export function unknownOption(line: string): string | null {
  const [, option] =
    /^(?:error: )?(?:unknown option|unexpected argument|unknown arguments?):? '?(-{0,2}[a-z][\w-]*)/i.exec(
      line,
    ) ?? []
  return option ?? null
}

/** An older program than the one that Ralph knows, or a mistake in `agent-args`: no session begins, so nothing is charged. */
export function optionEnding(option: string): Ending {
  const message = `the agent does not know the option ${option}: update the agent, or correct agent-args`
  return { status: 'not-started', message }
}

/** What an HTTP status from the vendor's server means; null means that the connection failed. */
export function statusOfHttp(http: number | null): 'overloaded' | 'limit' | 'auth' | 'context' | 'failed' {
  if (http === null || http === 408 || (http >= 500 && http <= 599)) return 'overloaded'
  if (http === 429) return 'limit'
  if (http === 401 || http === 402 || http === 403 || http === 404) return 'auth'
  if (http === 413) return 'context'
  return 'failed'
}

const STATUS_MESSAGES: Partial<Record<SessionStatus, string>> = {
  auth: 'the vendor refuses the key, the account or the model',
  limit: "the vendor's usage or rate limit is reached",
  overloaded: "the vendor's server cannot be reached or is overloaded",
  context: 'the prompt or the conversation is too long',
}

/** A failure: Ralph's message for the status, followed by the vendor's. */
export function failureEnding(
  status: SessionStatus,
  vendorMessage: string | null,
  resetsAt: number | null = null,
): Ending {
  const ralphMessage = STATUS_MESSAGES[status] ?? 'the session ended in an error'
  return { status, message: withVendorMessage(ralphMessage, vendorMessage), resetsAt }
}

/** The ending of a session in which the agent was denied tools. */
export function permissionEnding(tools: Iterable<string>): Ending {
  const message = `the agent was not allowed to use ${[...new Set(tools)].join(', ')}`
  return { status: 'refused-permission', message }
}

/** Collects stderr, and finds the line that says what went wrong: the last that begins with "error", else the last that is not a warning. */
export function stderrMessage(): { push(line: string): void; text(): string } {
  let lastLine = ''
  let errorLine = ''
  return {
    push(line) {
      if (line.trim() === '' || /^\W*(?:warning|startup)\b/i.test(line)) return
      lastLine = line.slice(0, 2000)
      if (/^[^\w"]*error\b\W*\w/i.test(lastLine)) errorLine = lastLine
    },
    text: () => (errorLine === '' ? lastLine : errorLine),
  }
}

/** Ralph's message, a colon and the vendor's message; only Ralph's if the vendor's is empty. */
export function withVendorMessage(ralphMessage: string, vendorMessage: string | null): string {
  return vendorMessage === null || vendorMessage.trim() === ''
    ? ralphMessage
    : `${ralphMessage}: ${vendorMessage}`
}

const MESSAGE_LIMIT = 300

/** One printable line of at most 300 characters. Keys are masked first, because a key that is cut would not be recognized. */
export function lineWithoutKeys(text: string): string {
  return truncate(withoutKeys(oneLine(text, 8 * MESSAGE_LIMIT)), MESSAGE_LIMIT)
}

/** Vendors quote the key that they refuse, and login links carry one. */
function withoutKeys(text: string): string {
  return text
    .replace(
      /\b(?:(?:sk|pk|rk|glpat|xox[a-z])-|gh[opsur]_|github_pat_|sgamp_|AIza|ya29\.)[\w.*-]{8,}/g,
      '***',
    )
    .replace(/\b(bearer|basic)\s+[A-Za-z0-9+/_.=-]{8,}/gi, '$1 ***')
    .replace(/([?&](?:[a-z_]*token|key|api_key|code|secret)=)[^&\s]+/gi, '$1***')
}

// A vendor's refusal is classified by the codes in its answer, then by HTTP status, and only then by whole sentences. The text of
// a model or a tool is never read for this. Sources: test/fixtures/agents, and the vendors' pages on errors.

export type Refusal = {
  http: number | null
  /** Names of errors: `type`, `code`, `status`, `reason` and such. */
  codes: readonly string[]
  message: string
}

/** What the refusal means; a request that is merely wrong (HTTP 400 without more) is `failed`. */
export function statusOfRefusal({ http, codes, message }: Refusal): SessionStatus {
  const byCode = codes
    .map((code) => STATUS_BY_CODE.get(code.toLowerCase()))
    .find((status) => status !== undefined)
  if (byCode !== undefined) return byCode
  const byStatus = http === null ? 'failed' : statusOfHttp(http)
  if (byStatus !== 'failed') return byStatus
  if (LIMIT_SENTENCES.some((sentence) => sentence.test(message))) return 'limit'
  return AUTH_SENTENCES.some((sentence) => sentence.test(message)) ? 'auth' : 'failed'
}

/**
 * Reads the body of an answer: `{"error":{"message","type","code"}}`, Google's with `status` and `details[].reason`, `{"detail":"…"}`, or
 * `400 {…}`. Its message may be such a body again, at most `depth` levels deep. Other text is the message itself.
 */
export function readRefusal(text: string, depth = 3): Refusal {
  const sentence = /^\[(API Error: .*)\]$/s.exec(text.trim())?.[1] ?? text.trim()
  const [, status, rest] = /^(?:API Error: )?(?:(\d{3}) )?(.*)$/s.exec(sentence) ?? []
  const http = status === undefined ? null : Number(status)
  const body = depth > 0 ? jsonObject(rest ?? '') : null
  if (body === null) return { http, codes: [], message: rest ?? '' }
  const error = asObject(body.error) ?? body
  const message = asString(error.message) ?? asString(body.error) ?? asString(body.detail) ?? ''
  const inner = readRefusal(message, depth - 1)
  const reasons = asObjects(error.details).map((detail) => detail.reason)
  const codes = [error.code, error.type, error.status, ...reasons]
  return {
    http: inner.http ?? asNumber(error.code) ?? asNumber(body.status) ?? http,
    codes: [...inner.codes, ...codes.flatMap((code) => asString(code) ?? [])],
    message: inner.message,
  }
}

/** Codes in lower case: of Anthropic, of OpenAI and compatible servers, of Google, GitHub Copilot and Connect. */
const CODES_BY_STATUS: readonly (readonly [SessionStatus, readonly string[]])[] = [
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
const STATUS_BY_CODE = new Map(
  CODES_BY_STATUS.flatMap(([status, codes]) => codes.map((code) => [code, status] as const)),
)

/**
 * Beginnings of programs' messages about a subscription's limit, which have neither a status nor a code. The limit may be that of a
 * session, of a week, or the monthly credit of `claude -p` (sentences in the program of claude-code 2.1.329).
 */
const LIMIT_SENTENCES: readonly RegExp[] = [
  /^You['\u2019]re out of (?:extra usage|usage credits)\b/,
  /^You['\u2019]ve (?:hit|reached) your (?:[\w-]+ ){0,2}limit\b/,
  /^Your organization(?: is out of usage credits|['\u2019]s usage credits are capped or used up)\b/,
]

/** Beginnings of the messages of servers that refuse a key or a model with HTTP 400 and without a code. */
const AUTH_SENTENCES: readonly RegExp[] = [
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
