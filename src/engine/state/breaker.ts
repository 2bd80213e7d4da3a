// The breaker of a story: it stops attempts that make no progress, before they use up the budget. Pure.

import { excerpt } from '../../system/excerpt.ts'
import type { Failure, Session } from '../model/attempt.ts'
import { OUTPUT_BYTES } from '../model/gate-output.ts'
import type { BreakerLimits as Thresholds } from '../model/limit-types.ts'
import type { SavedWork } from '../model/saved-work.ts'
import type { Breaker, StoryRecord } from '../model/state.ts'

const MAX_HISTORY = 10

/** What failures are compared by. `output`: the output that shows the failure. */
type ComparedFailure = Pick<Failure, 'kind' | 'summary'> & { output: string; testsOnly?: boolean }

export function closedBreaker(): Breaker {
  return {
    position: 'closed',
    until: null,
    tree: null,
    sameTree: 0,
    error: null,
    sameError: 0,
    output: 0,
    history: [],
  }
}

/** When the story may be worked on again, epoch milliseconds; null if it may be now. */
export function openUntil(record: StoryRecord | undefined, now: number): number | null {
  const breaker = record?.breaker
  if (breaker?.position !== 'open' || breaker.until === null) return null
  return breaker.until > now ? breaker.until : null
}

/** The breaker when an attempt begins. After the cool-down the attempt is a trial: if it fails, the breaker opens again. */
export function startTrial(breaker: Breaker, at: number): Breaker {
  return breaker.position === 'open'
    ? withPosition({ ...breaker, until: null }, 'half-open', 'the cool-down is over', at)
    : breaker
}

/** The breaker after a rejected attempt. It opens if the attempt made no progress compared with the one before. */
export function recordFailure(
  breaker: Breaker,
  session: Session,
  failure: ComparedFailure,
  kept: SavedWork | null,
  limits: Thresholds,
  at: number,
): Breaker {
  const tree = kept?.tree ?? ''
  const error = fingerprint(failure)
  const output = session.usage.outputTokens
  const isSame = tree === breaker.tree || tree === ''
  const updated: Breaker = {
    ...breaker,
    tree,
    sameTree: isSame ? breaker.sameTree + 1 : 0,
    error,
    sameError: error === breaker.error ? breaker.sameError + 1 : 1,
    testsOnly: failure.testsOnly === true ? (breaker.testsOnly ?? 0) + 1 : 0,
    doneInRow: saysDone(session) ? (breaker.doneInRow ?? 0) + 1 : 0,
    output,
  }
  const why = openReason(breaker, updated, limits)
  if (why === null) return updated
  return {
    ...withPosition(updated, 'open', why, at),
    until: at + limits.coolDownMs,
    sameTree: 0,
    sameError: 0,
    testsOnly: 0,
  }
}

/** From this confidence on, a text that says "done" counts like the done marker. */
const SURE_CONFIDENCE = 60

function saysDone({ hints }: Session): boolean {
  return hints.done || (hints.confidence ?? 0) >= SURE_CONFIDENCE
}

/** How often in a row the agent said that it was done although gates or guard refused; empty below two. */
export function describeFalseDone({ doneInRow = 0 }: Breaker): string {
  return doneInRow < 2
    ? ''
    : `the agent has said ${doneInRow} times in a row that the story is done, but a check failed each time`
}

function openReason(before: Breaker, now: Breaker, limits: Thresholds): string | null {
  if (before.position === 'half-open') return 'the trial after the cool-down failed as well'
  if (now.sameTree >= limits.noProgress) return `${now.sameTree} attempts in a row changed nothing`
  if (now.sameError >= limits.sameError) return `${now.sameError} attempts in a row failed in the same way`
  if ((now.testsOnly ?? 0) >= limits.noProgress)
    return `${now.testsOnly} attempts in a row changed only tests`
  const shrunk =
    before.output > 0 && now.output > 0 && now.output < before.output * (1 - limits.outputDecline / 100)
  return shrunk && now.sameTree > 0
    ? `an attempt changed nothing, and its output was ${limits.outputDecline} % shorter than before`
    : null
}

/** The failure as text, without numbers, times and ids, which differ from run to run. */
function fingerprint({ kind, summary, output }: ComparedFailure): string {
  const most = OUTPUT_BYTES.fingerprint
  const shown = excerpt(maskNumbers(output), most)
  return `${kind} ${maskNumbers(summary.slice(0, most))} ${shown}`.replace(/\d+/g, '#').replace(/\s+/g, ' ')
}

/** Replaces every number except zero by one digit. Otherwise the excerpt of a slower run could choose other lines. */
function maskNumbers(text: string): string {
  return text
    .replace(/[0-9a-f]{7,}/gi, '9')
    .replace(/\d+\.\d+/g, '9')
    .replace(/\d*[1-9]\d*/g, '9')
}

function withPosition(breaker: Breaker, to: Breaker['position'], why: string, at: number): Breaker {
  const history = [...breaker.history, { at, from: breaker.position, to, why }].slice(-MAX_HISTORY)
  return { ...breaker, position: to, history }
}
