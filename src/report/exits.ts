// What would end a run, and how far that is.
import { spent } from '../loop/limits.ts'
import type { Outcome } from '../model/feature.ts'
import { openAttempt } from '../model/job.ts'
import type { Limits } from '../model/limits.ts'
import type { State } from '../model/state.ts'
import { oneLine } from '../model/text.ts'
import { remaining } from '../prd/select.ts'
import { headerOf } from './view.ts'
import { humanMs, many, ofMost, tokens, usd } from './words.ts'

/** `far`: nothing to fear; `near`: soon; `met`: it ends the run, or has. */
export type Exit = { name: string; text: string; level: 'far' | 'near' | 'met' | 'good' }

/** `outcome`: what it has ended of; null while it has not. */
export function exitsOf(state: State, limits: Limits | null, outcome: Outcome | null): Exit[] {
  const { most, counts, usage, iterations } = headerOf(state, limits)
  const left = remaining(state.prd, state.control.scope)
  const blocked = left.filter((story) => story.blocked).length
  const exits: Exit[] = [
    {
      name: 'Stories',
      text: `${counts.passed} of ${counts.total} ${counts.total === 1 ? 'passes' : 'pass'}${blocked > 0 ? `, ${blocked} blocked` : ''}`,
      level: left.length === 0 ? 'good' : blocked === left.length ? 'met' : blocked > 0 ? 'near' : 'far',
    },
    verificationExit(state, limits, left.length === 0),
    share('Iterations', iterations, most.iterations, String),
    ...(most.costUsd === null ? [] : [share('Cost', usage.costUsd, most.costUsd, usd)]),
    ...(most.tokens === null
      ? []
      : [share('Tokens', usage.inputTokens + usage.outputTokens, most.tokens, tokens)]),
    ...(most.agentMs === null ? [] : [share('Agent time', usage.agentSeconds * 1000, most.agentMs, humanMs)]),
    ...breakerExits(state, limits),
  ]
  const over = limits === null ? null : spent(state, limits)
  if (over !== null && outcome !== 'budget') exits.push({ name: 'Budget', text: over, level: 'met' })
  return exits
}

function verificationExit({ verification }: State, limits: Limits | null, isDue: boolean): Exit {
  const name = 'Verification'
  if (verification.approved) return { name, text: 'the judge agrees', level: 'good' }
  if (limits?.finalVerification === false && !verification.asked) return { name, text: 'off', level: 'far' }
  const { sessions, message } = verification
  if (sessions > 0)
    return {
      name,
      text: `${many(sessions, 'session')} without a verdict: ${oneLine(message, 120)}`,
      level: 'near',
    }
  return { name, text: isDue ? 'next' : 'when all stories pass', level: 'far' }
}

/** The last tenth is near. */
function share(name: string, used: number, most: number | null, words: (value: number) => string): Exit {
  const level = most === null ? 'far' : used >= most ? 'met' : used >= most * 0.9 ? 'near' : 'far'
  return { name, text: ofMost(words(used), most, words), level }
}

/** Of the story in work, else of the one that is nearest to its breaker. */
function breakerExits(state: State, limits: Limits | null): Exit[] {
  const current = openAttempt(state)?.storyId
  const known = state.prd.userStories.flatMap(({ id, passes }) => {
    const breaker = state.records[id]?.breaker
    return passes || breaker === undefined ? [] : [{ id, breaker }]
  })
  const worst =
    known.find(({ id }) => id === current) ??
    known.toSorted((one, other) => other.breaker.sameError - one.breaker.sameError)[0]
  if (worst === undefined || limits === null) return []
  const { breaker: most } = limits
  const of = (name: string, count: number, limit: number): Exit => ({
    name,
    text: `${count} of ${limit} in a row (${worst.id})`,
    level: count > 0 && count >= limit - 1 ? 'near' : 'far',
  })
  return [
    of('No progress', worst.breaker.sameTree, most.noProgress),
    of('Same failure', worst.breaker.sameError, most.sameError),
  ]
}
