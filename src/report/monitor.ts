// How a feature stands at a glance, as data: what a person who looks in wants to know first. A terminal and a page show it.
import type { Surface } from '../loop/command-table.ts'
import { callAllowedAt } from '../loop/limits.ts'
import type { Situation } from '../loop/situation.ts'
import type { Attempt } from '../model/attempt.ts'
import type { Outcome } from '../model/feature.ts'
import { openAttempt } from '../model/job.ts'
import type { Limits } from '../model/limits.ts'
import type { State } from '../model/state.ts'
import { remaining } from '../prd/select.ts'
import { forecastOf, outlookWords, worstCase } from './forecast.ts'
import { headline, standingIn } from './headline.ts'
import { nextMove } from './next-move.ts'
import { type Colour, OUTCOMES } from './outcomes.ts'
import { inPlain } from './sentence.ts'
import { barOf, blockedOf, byUrgency, lastFailed, type StoryView, storiesOf } from './stories.ts'
import { figuresOf, type Header, headerOf } from './view.ts'
import { humanMs, leftWords, many, ofMost, tokens, usd, utc } from './words.ts'

/** What was seen of a feature. */
export type Watched = {
  state: State
  situation: Situation
  /** Null where they are not known, as of a run elsewhere. */
  limits: Limits | null
  /** What session or gates said last, the newest last. Not trusted. */
  lines: readonly string[]
  /** Where it runs, and when it was looked at: `this machine`. */
  place: string
  /** Where the job can be seen; null on this machine. */
  url: string | null
  /** How a person steers it from there. */
  surface: Surface
}

export type Dashboard = ReturnType<typeof dashboardOf>

const HOUR_MS = 3_600_000
/** The newest iterations that are told one by one. */
const MOST_ITERATIONS = 12
/** Stories that are shown: those that a person may have to look at come first. */
const MOST_STORIES = 200

/** Plain texts, nothing is escaped; `now` in epoch milliseconds. */
export function dashboardOf(watched: Watched, now: number) {
  const { situation, limits, surface } = watched
  const conclusion = situation.kind === 'ended' ? situation.conclusion : null
  const state = standingIn(watched.state, situation)
  const { sign, text } = headline(state, situation)
  const header = headerOf(state, limits)
  const stories = storiesOf(state)
  return {
    ...header,
    now,
    place: watched.place,
    url: watched.url,
    status: statusOf(situation),
    /** Whether a person is waited for. */
    isCalling: conclusion !== null && !['complete', 'continued'].includes(conclusion.outcome),
    sign,
    headline: text,
    next: inPlain(nextMove(state, situation, surface, limits)),
    /** What a person can do although work goes on: of the first story that is blocked. */
    needs: situation.kind === 'working' ? (blockedOf(stories, surface, null).map(inPlain)[0] ?? null) : null,
    outlook: outlookWords(forecastOf(state), limits === null ? null : worstCase(state, limits)),
    figures: figuresOf(header, surface),
    calls: callsOf(state, limits, now),
    circuit: circuitOf(state, now),
    current: currentOf(state, stories, limits, now),
    exits: exitsOf(state, header, limits),
    stories: byUrgency(stories).slice(0, MOST_STORIES),
    timeline: state.timeline.slice(-MOST_ITERATIONS).reverse(),
    lines: watched.lines,
    bar: barOf(stories),
  }
}

type Status = { title: string; mark: string; colour: Colour; outcome: Outcome | null }

function statusOf(situation: Situation): Status {
  if (situation.kind === 'working') return { title: 'AT WORK', mark: '▶', colour: 'cyan', outcome: null }
  if (situation.kind === 'ready') return { title: 'READY', mark: '○', colour: 'blue', outcome: null }
  const { outcome, until } = situation.conclusion
  if (outcome === 'paused' && until !== null) return { title: 'WAITING', mark: '‖', colour: 'blue', outcome }
  return { ...OUTCOMES[outcome], outcome }
}

/** Sessions in the last hour. `until`: to what time they count as they do, or hold the next one up (`isHeld`). */
function callsOf(state: State, limits: Limits | null, now: number) {
  const recent = state.control.calls.filter((at) => at > now - HOUR_MS)
  const most = limits?.callsPerHour ?? null
  const count = ofMost(String(recent.length), most, String)
  const held = limits === null ? null : callAllowedAt(state, limits, now)
  // Without a limit it is nothing that anybody waits for.
  const less = most === null || recent[0] === undefined ? null : recent[0] + HOUR_MS
  const until = held ?? less
  const text = until === null ? count : `${count}, ${held === null ? 'one less' : 'the next'} in `
  return { used: recent.length, most, isHeld: held !== null, text, until }
}

/** In one line, as it is at this moment. */
export function callsWords({ text, until }: Dashboard['calls'], now: number): string {
  return until === null ? text : text + leftWords(until, now)
}

/** The breaker that is the most open. When its cool-down is over, the next attempt is a trial. */
function circuitOf({ records, prd }: State, now: number) {
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
  const rests = `${id} rests${until === null ? '' : ` until ${utc(until)}`}`
  return { position, text: `stopped: ${rests}${why === '' ? '' : ` (${why})`}` }
}

const PHASES: Readonly<Record<Attempt['phase'], string>> = {
  reserved: 'the agent is at work',
  worked: 'what it did is looked at',
  guarded: 'the gates run',
  gated: 'the gates have run',
  judged: 'a judge agrees',
  failed: 'it is rejected',
  returned: 'it is given back, counts as no attempt',
}

function currentOf(state: State, stories: readonly StoryView[], limits: Limits | null, now: number) {
  const attempt = openAttempt(state)
  const story = stories.find(({ id }) => id === attempt?.storyId)
  if (attempt === null || story === undefined) return null
  return {
    id: story.id,
    title: story.title,
    attempt: attempt.number,
    mostAttempts: limits?.maxAttempts ?? null,
    doing: PHASES[attempt.phase],
    startedAt: attempt.startedAt,
    ms: Math.max(0, now - attempt.startedAt),
    before: story.failure?.summary ?? '',
  }
}

/** `far`: nothing to fear; `near`: soon; `met`: it ends the run, or has. */
export type Exit = { name: string; text: string; level: 'far' | 'near' | 'met' | 'good' }

function exitsOf(state: State, { most, counts, usage, iterations }: Header, limits: Limits | null): Exit[] {
  const left = remaining(state.prd, state.control.scope)
  const blocked = left.filter((story) => story.blocked).length
  const told = blocked > 0 ? `, ${blocked} blocked` : ''
  const limited: [name: string, used: number, most: number | null, words: (value: number) => string][] = [
    ['Iterations', iterations, most.iterations, String],
    ['Cost', usage.costUsd, most.costUsd, usd],
    ['Tokens', usage.inputTokens + usage.outputTokens, most.tokens, tokens],
    ['Agent time', usage.agentSeconds * 1000, most.agentMs, humanMs],
  ]
  return [
    {
      name: 'Stories',
      text: `${counts.passed} of ${counts.total} ${counts.total === 1 ? 'passes' : 'pass'}${told}`,
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

function verificationExit({ verification }: State, limits: Limits | null, isDue: boolean): Exit {
  const { approved, asked, sessions } = verification
  const isOff = limits?.finalVerification === false && !asked
  const text = approved
    ? 'the judge agrees'
    : isOff
      ? 'off'
      : sessions > 0
        ? `${many(sessions, 'session')} without a verdict`
        : isDue
          ? 'next'
          : 'when all stories pass'
  return { name: 'Verification', text, level: approved ? 'good' : sessions > 0 && !isOff ? 'near' : 'far' }
}

/** The last tenth is near. */
function levelOf(used: number, most: number): Exit['level'] {
  return used >= most ? 'met' : used >= most * 0.9 ? 'near' : 'far'
}

/** Of the story in work, else of the one that failed last. */
function breakerExits(state: State, limits: Limits | null): Exit[] {
  const id = openAttempt(state)?.storyId ?? lastFailed(state) ?? ''
  const breaker = state.records[id]?.breaker
  if (breaker === undefined || limits === null) return []
  const of = (name: string, count: number, limit: number): Exit => ({
    name,
    text: `${count} of ${limit} in a row (${id})`,
    level: count > 0 && count >= limit - 1 ? 'near' : 'far',
  })
  return [
    of('No progress', breaker.sameTree, limits.breaker.noProgress),
    of('Same failure', breaker.sameError, limits.breaker.sameError),
  ]
}
