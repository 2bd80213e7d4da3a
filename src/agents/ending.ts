// How a session's end is told apart, for all vendors: exits, HTTP statuses, one line for people.

import { cut, oneLine as plainLine } from '../model/text.ts'
import type { Exit } from '../system/process.ts'
import type { SessionStatus } from './agent.ts'

/** `resetsAt`: epoch milliseconds, of a `limit`. */
export type Ending = { status: SessionStatus; message: string; resetsAt?: number | null }

/** A failed request that the vendor's program was about to repeat; `status` as in the event of that name. */
export type Retrying = { status: number | null } | null

/**
 * The ends that we made ourselves, or that never began; null when the program ended by itself or was killed. In the
 * middle of retries what the server answered is the reason, not the story.
 */
export function endedByUs(exit: Exit, retrying: Retrying): Ending | null {
  switch (exit.kind) {
    case 'not-started':
      return { status: 'not-started', message: `the agent could not be started: ${exit.reason}` }
    case 'aborted':
      return { status: 'aborted', message: 'the session was cancelled' }
    case 'timeout':
      return timedOut(
        'timeout',
        'the session took longer than iteration-timeout allows and was ended',
        retrying,
      )
    case 'idle':
      return timedOut(
        'idle',
        'the agent printed nothing for longer than idle-timeout and was ended',
        retrying,
      )
    default:
      return null
  }
}

function timedOut(status: 'timeout' | 'idle', message: string, retrying: Retrying): Ending {
  const refused = retrying === null ? 'failed' : statusOfHttp(retrying.status)
  if (retrying === null || refused === 'failed' || refused === 'context') return { status, message }
  const answer = retrying.status === null ? 'a broken connection' : `HTTP ${retrying.status}`
  return { status: refused, message: `${message}, while it tried again after ${answer}` }
}

/** A program that ended by itself or was killed, without having said how it went. `stderr` is its last line there. */
export function silentEnding(exit: Exit, stderr: string): Ending {
  const ours = endedByUs(exit, null)
  if (ours !== null) return ours
  if (exit.kind === 'signal') return { status: 'killed', message: `the agent was killed by ${exit.signal}` }
  const code = exit.kind === 'exit' ? exit.code : 1
  const how = withWords(`(exit code ${code})`, stderr)
  if (code === 0) {
    return { status: 'failed', message: 'the agent ended with exit code 0 but without a final answer' }
  }
  // The shell's word for a program that is not there or cannot be run, the agent's or the wrapper's: nothing was asked.
  if (code === 126 || code === 127) {
    return { status: 'not-started', message: `the agent could not be started ${how}` }
  }
  // A program that catches a signal reports 128 + its number (143 after SIGTERM).
  if (code === 129 || code === 130 || code === 137 || code === 143) {
    return { status: 'killed', message: `the agent was ended by a signal ${how}` }
  }
  return { status: 'crashed', message: withWords(`the agent ended with exit code ${code}`, stderr) }
}

/** What an HTTP status from the vendor's server means; null stands for a connection that failed. */
export function statusOfHttp(http: number | null): 'overloaded' | 'limit' | 'auth' | 'context' | 'failed' {
  if (http === null || http === 408 || (http >= 500 && http <= 599)) return 'overloaded'
  if (http === 429) return 'limit'
  if (http === 401 || http === 402 || http === 403 || http === 404) return 'auth'
  if (http === 413) return 'context'
  return 'failed'
}

const IN_OUR_WORDS: Partial<Record<SessionStatus, string>> = {
  auth: 'the vendor refuses the key, the account or the model',
  limit: "the vendor's usage or rate limit is reached",
  overloaded: "the vendor's server cannot be reached or is overloaded",
  context: 'the prompt or the conversation is too long',
}

/** A failure in our own words, with the vendor's behind them. */
export function failed(status: SessionStatus, words: string | null, resetsAt: number | null = null): Ending {
  const ours = IN_OUR_WORDS[status] ?? 'the session ended in an error'
  return { status, message: withWords(ours, words), resetsAt }
}

/** The program says at the end that it did less than it wanted to. */
export function notAllowed(tools: Iterable<string>): Ending {
  const message = `the agent was not allowed to use ${[...new Set(tools)].join(', ')}`
  return { status: 'refused-permission', message }
}

/** The line of stderr that says what went wrong: the last that begins with "error", else the last but warnings. */
export function stderrLine(): { push(line: string): void; text(): string } {
  let last = ''
  let error = ''
  return {
    push(line) {
      if (line.trim() === '' || /^\W*(?:warning|startup)\b/i.test(line)) return
      last = line.slice(0, 2000)
      if (/^[^\w"]*error\b\W*\w/i.test(last)) error = last
    },
    text: () => (error === '' ? last : error),
  }
}

/** A sentence of the vendor's behind one of ours; a missing one leaves no colon behind. */
export function withWords(ours: string, theirs: string | null): string {
  return theirs === null || theirs.trim() === '' ? ours : `${ours}: ${theirs}`
}

const MESSAGE_LIMIT = 300

/** One printable line of at most 300 characters, with what looks like a key taken out before it is cut. */
export function oneLine(text: string): string {
  return cut(withoutKeys(plainLine(text, 8 * MESSAGE_LIMIT)), MESSAGE_LIMIT)
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
