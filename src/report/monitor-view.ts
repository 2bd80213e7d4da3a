// The panels of a live view: calls in the last hour, the breaker, and what ends the run. Pure.

import { openAttempt } from '../engine/model/job.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import { remaining } from '../engine/prd/select.ts'
import { describeFalseDone } from '../engine/state/breaker.ts'
import { callAllowedAt } from '../engine/state/limits.ts'
import {
  formatCountdown,
  formatDuration,
  formatTokens,
  formatUsd,
  formatUtc,
  pluralize,
  withLimit,
} from './figures.ts'
import type { Header } from './header.ts'
import { lastFailedStory } from './stories.ts'

const HOUR_MS = 3_600_000

/** Sessions in the last hour. `until`: when the next session is allowed (`isHeld`), or else when the count will be one less. */
export function callsOf(state: State, limits: Limits | null, now: number) {
  const recent = state.control.calls.filter((at) => at > now - HOUR_MS)
  const most = limits?.callsPerHour ?? null
  const count = withLimit(String(recent.length), most, String)
  const allowedAt = limits === null ? null : callAllowedAt(state, limits, now)
  // Without a limit there is nothing to count down to.
  const oneLessAt = most === null || recent[0] === undefined ? null : recent[0] + HOUR_MS
  const until = allowedAt ?? oneLessAt
  const text = until === null ? count : `${count}, ${allowedAt === null ? 'one less' : 'the next'} in `
  return { used: recent.length, most, isHeld: allowedAt !== null, text, until }
}

/** The calls in one line, with the countdown at `now`. */
export function describeCalls({ text, until }: ReturnType<typeof callsOf>, now: number): string {
  return until === null ? text : text + formatCountdown(until, now)
}

/** The worst breaker of any story: an open one before a half-open one. When its cool-down is over, the next attempt is a trial. */
export function breakerStatus({ records, prd }: State, now: number) {
  const tripped = prd.userStories.flatMap(({ id, passes }) => {
    const breaker = records[id]?.breaker
    if (passes || breaker === undefined || breaker.position === 'closed') return []
    const isOpen = breaker.position === 'open' && !(breaker.until !== null && breaker.until <= now)
    return [{ id, ...breaker, position: isOpen ? ('open' as const) : ('half-open' as const) }]
  })
  const worst = tripped.find(({ position }) => position === 'open') ?? tripped[0]
  if (worst === undefined) return { position: 'closed' as const, text: 'healthy' }
  const { id, position, until, history } = worst
  const why = history.at(-1)?.why ?? ''
  if (position === 'half-open')
    return { position, text: `trying again: ${id}${why === '' ? '' : ` (${why})`}` }
  const waits = `${id} waits${until === null ? '' : ` until ${formatUtc(until)}`}`
  return { position, text: `stopped: ${waits}${why === '' ? '' : ` (${why})`}` }
}

/** The mark of each level in a live view. */
export const LEVELS: Readonly<Record<StopCondition['level'], string>> = {
  good: '✔',
  far: '○',
  near: '◐',
  met: '●',
}

/** `far`: not soon; `near`: soon; `met`: it ends the run, or has ended it; `good`: reached, as wanted. */
export type StopCondition = { name: string; text: string; level: 'far' | 'near' | 'met' | 'good' }

export function stopConditions(
  state: State,
  { most, counts, usage, iterations }: Header,
  limits: Limits | null,
): StopCondition[] {
  const left = remaining(state.prd, state.control.scope)
  const blocked = left.filter((story) => story.blocked).length
  const blockedNote = blocked > 0 ? `, ${blocked} blocked` : ''
  const limited: [name: string, used: number, most: number | null, words: (value: number) => string][] = [
    ['Iterations', iterations, most.iterations, String],
    ['Cost', usage.costUsd, most.costUsd, formatUsd],
    ['Tokens', usage.inputTokens + usage.outputTokens, most.tokens, formatTokens],
    ['Agent time', usage.agentSeconds * 1000, most.agentMs, formatDuration],
  ]
  return [
    {
      name: 'Stories',
      text: `${counts.passed} of ${counts.total} ${counts.total === 1 ? 'passes' : 'pass'}${blockedNote}`,
      level: left.length === 0 ? 'good' : blocked === left.length ? 'met' : blocked > 0 ? 'near' : 'far',
    },
    verificationExit(state, limits, left.length === 0),
    ...limited.flatMap(([name, used, limit, words]) =>
      limit === null
        ? []
        : [{ name, text: `${words(used)} of ${words(limit)}`, level: levelOf(used, limit) }],
    ),
    ...breakerExits(state, limits),
  ]
}

function verificationExit({ verification }: State, limits: Limits | null, isDue: boolean): StopCondition {
  const { approved, asked, sessions } = verification
  const isOff = limits?.finalVerification === false && !asked
  const text = approved
    ? 'the judge agrees'
    : isOff
      ? 'off'
      : sessions > 0
        ? `${pluralize(sessions, 'session')} without a verdict`
        : isDue
          ? 'next'
          : 'when all stories pass'
  return { name: 'Verification', text, level: approved ? 'good' : sessions > 0 && !isOff ? 'near' : 'far' }
}

/** The last tenth of a limit is near. */
function levelOf(used: number, most: number): StopCondition['level'] {
  return used >= most ? 'met' : used >= most * 0.9 ? 'near' : 'far'
}

/** The conditions of the breaker for the story in work, else for the one that failed last. */
function breakerExits(state: State, limits: Limits | null): StopCondition[] {
  const id = openAttempt(state)?.storyId ?? lastFailedStory(state) ?? ''
  const breaker = state.records[id]?.breaker
  if (breaker === undefined || limits === null) return []
  const rowFor = (name: string, count: number, limit: number): StopCondition => ({
    name,
    text: `${count} of ${limit} in a row (${id})`,
    level: count > 0 && count >= limit - 1 ? 'near' : 'far',
  })
  return [
    rowFor('No progress', breaker.sameTree, limits.breaker.noProgress),
    rowFor('Same failure', breaker.sameError, limits.breaker.sameError),
    ...((breaker.testsOnly ?? 0) > 0
      ? [rowFor('Only tests', breaker.testsOnly ?? 0, limits.breaker.noProgress)]
      : []),
    ...(describeFalseDone(breaker) === ''
      ? []
      : [
          {
            name: 'False DONE',
            text: `${breaker.doneInRow} times in a row (${id})`,
            level: 'near' as const,
          },
        ]),
  ]
}
