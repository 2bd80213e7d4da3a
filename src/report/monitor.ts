// How a feature stands at a glance, as data: what a person who looks in wants to know first. A terminal and a page show it.
import { type Surface, typedOn } from '../loop/command-table.ts'
import { callAllowedAt } from '../loop/limits.ts'
import type { Situation } from '../loop/situation.ts'
import type { Outcome } from '../model/feature.ts'
import { concludedAs, openAttempt } from '../model/job.ts'
import type { Limits } from '../model/limits.ts'
import type { Attempt, Breaker, State } from '../model/state.ts'
import { oneLine } from '../model/text.ts'
import { exitsOf } from './exits.ts'
import { forecastOf, outlookWords, worstCase } from './forecast.ts'
import { headline, standingWords } from './headline.ts'
import { nextMove } from './next-move.ts'
import { type Colour, OUTCOMES, type Standing } from './outcomes.ts'
import { inPlain } from './sentence.ts'
import { headerOf, type StoryView, storiesOf } from './view.ts'
import { costWords, hasCost, humanMs, NO_COST, ofMost, tokens, tokenWords, usd, utc } from './words.ts'

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
  // An attempt that a dead process has left is nobody's work.
  const isAtWork = situation.kind === 'working'
  const state = isAtWork ? watched.state : { ...watched.state, attempts: {} }
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
    sign: headline(concludedAs(state, conclusion)).sign,
    headline: standingWords(state, situation),
    next: inPlain(nextMove(state, situation, surface, limits)),
    /** What a person can do although work goes on: the first story that is blocked. */
    needs: isAtWork ? needsOf(stories, surface) : null,
    outlook: outlookWords(forecastOf(state, limits, now), limits === null ? null : worstCase(state, limits)),
    figures: figuresOf(header),
    calls: callsOf(state, limits, now),
    circuit: circuitOf(state, now),
    current: currentOf(state, stories, limits, now),
    exits: exitsOf(state, limits, conclusion?.outcome ?? null),
    stories: stories
      .toSorted((one, other) => URGENT[one.standing] - URGENT[other.standing])
      .slice(0, MOST_STORIES),
    timeline: state.timeline.slice(-MOST_ITERATIONS).reverse(),
    lines: watched.lines,
    bar: barOf(stories),
  }
}

function needsOf(stories: readonly StoryView[], surface: Surface): string | null {
  const blocked = stories.filter(({ standing }) => standing === 'blocked')
  const [first] = blocked
  if (first === undefined) return null
  const more = blocked.length === 1 ? '' : ` (and ${blocked.length - 1} more)`
  const how = typedOn(surface, `retry ${oneLine(first.id, 64)} -- <hint>`)
  return `${first.id} is blocked${more}: ${oneLine(first.why, 160)}. ${how}`
}

/** The first are what a person has to look at. */
const URGENT: Readonly<Record<Standing, number>> = {
  working: 0,
  blocked: 1,
  rejected: 2,
  open: 3,
  waiting: 4,
  passed: 5,
  skipped: 6,
  outside: 7,
}

type Status = { title: string; mark: string; colour: Colour; outcome: Outcome | null }

function statusOf(situation: Situation): Status {
  if (situation.kind === 'working') return { title: 'AT WORK', mark: '▶', colour: 'cyan', outcome: null }
  if (situation.kind === 'ready') return { title: 'READY', mark: '○', colour: 'blue', outcome: null }
  const { outcome, until } = situation.conclusion
  if (outcome === 'paused' && until !== null) return { title: 'WAITING', mark: '‖', colour: 'blue', outcome }
  return { ...OUTCOMES[outcome], outcome }
}

function figuresOf({ iteration, most, usage, jobs }: ReturnType<typeof headerOf>): [string, string][] {
  return [
    ['Iteration', ofMost(String(iteration), most.iterations, String)],
    ['Jobs', ofMost(String(jobs), most.jobs, String)],
    ['Cost', hasCost(usage) ? ofMost(costWords(usage), most.costUsd, usd) : NO_COST],
    ['Agent time', ofMost(humanMs(usage.agentSeconds * 1000), most.agentMs, humanMs)],
    ['Tokens', ofMost(tokenWords(usage), most.tokens, tokens)],
  ]
}

/** Sessions in the last hour. `freeAt`: when the oldest of them no longer counts; `heldUntil`: when the next may begin. */
function callsOf(state: State, limits: Limits | null, now: number) {
  const recent = state.control.calls.filter((at) => at > now - HOUR_MS)
  const [oldest] = recent
  return {
    used: recent.length,
    most: limits?.callsPerHour ?? null,
    freeAt: oldest === undefined ? null : oldest + HOUR_MS,
    heldUntil: limits === null ? null : callAllowedAt(state, limits, now),
  }
}

const POSITIONS = { open: 2, 'half-open': 1, closed: 0 } as const

/** The breaker that is the most open; `others`: how many more are. */
function circuitOf({ records, prd }: State, now: number) {
  const known = prd.userStories.flatMap(({ id, passes }) => {
    const breaker = records[id]?.breaker
    return passes || breaker === undefined ? [] : [{ id, ...breaker, position: positionOf(breaker, now) }]
  })
  const tripped = known.filter(({ position }) => position !== 'closed')
  const [worst] = tripped.toSorted((one, other) => POSITIONS[other.position] - POSITIONS[one.position])
  if (worst === undefined) return { position: 'closed' as const, id: null, until: null, why: '', others: 0 }
  const { id, position, until, history } = worst
  return { position, id, until, why: history.at(-1)?.why ?? '', others: tripped.length - 1 }
}

/** When its cool-down is over, the next attempt is a trial. */
function positionOf({ position, until }: Breaker, now: number): Breaker['position'] {
  return position === 'open' && until !== null && until <= now ? 'half-open' : position
}

const PHASES: Readonly<Record<Attempt['phase'], string>> = {
  reserved: 'the agent is at work',
  worked: 'what it did is looked at',
  guarded: 'the gates run',
  gated: 'the gates have run',
  judged: 'a judge agrees',
  failed: 'it is rejected',
  returned: 'it is given back, not charged',
}

function currentOf(state: State, stories: readonly StoryView[], limits: Limits | null, now: number) {
  const attempt = openAttempt(state)
  const story = stories.find(({ id }) => id === attempt?.storyId)
  if (attempt === null || story === undefined) return null
  const { hints } = ('session' in attempt ? attempt.session : null) ?? { hints: null }
  return {
    id: story.id,
    title: story.title,
    criteria: story.criteria,
    attempt: attempt.number,
    mostAttempts: limits?.maxAttempts ?? null,
    doing: PHASES[attempt.phase],
    startedAt: attempt.startedAt,
    ms: Math.max(0, now - attempt.startedAt),
    before: story.failure?.summary ?? '',
    said: hints === null ? '' : saidWords(hints),
  }
}

function saidWords({
  done,
  notDone,
  stuck,
}: {
  done: boolean
  notDone: boolean
  stuck: string | null
}): string {
  if (stuck !== null) return `stuck: ${oneLine(stuck, 200)}`
  if (notDone) return 'not done'
  return done ? 'done' : ''
}

/** How many stories stand how, in the order of a bar. */
function barOf(stories: readonly StoryView[]): [Standing, number][] {
  const order: Standing[] = [
    'passed',
    'skipped',
    'working',
    'rejected',
    'blocked',
    'waiting',
    'open',
    'outside',
  ]
  return order.flatMap((one): [Standing, number][] => {
    const count = stories.filter(({ standing }) => standing === one).length
    return count === 0 ? [] : [[one, count]]
  })
}

/** `14:05` left to a time, as minutes and seconds; with hours where there are some. */
export function leftWords(until: number, now: number): string {
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  const two = (count: number) => String(Math.floor(count) % 60).padStart(2, '0')
  const hours = Math.floor(seconds / 3600)
  return `${hours > 0 ? `${hours}:` : ''}${two(seconds / 60)}:${two(seconds)}`
}

/** How many calls in the last hour, of how many; and until when that is so: what is counted down stands behind it. */
export function callsPart({ used, most, freeAt, heldUntil }: Dashboard['calls']) {
  const count = ofMost(String(used), most, String)
  if (heldUntil !== null) return { text: `${count}, the next in `, until: heldUntil }
  // Without a limit it is nothing that anybody waits for.
  if (most === null) return { text: count, until: null }
  return { text: `${count}${freeAt === null ? '' : ', one less in '}`, until: freeAt }
}

/** The same in one line, as it is at this moment. */
export function callsWords(calls: Dashboard['calls'], now: number): string {
  const { text, until } = callsPart(calls)
  return until === null ? text : text + leftWords(until, now)
}

export function circuitWords({ position, id, until, why, others }: Dashboard['circuit']): string {
  if (position === 'closed') return 'CLOSED: every story may be tried'
  const when = position === 'open' && until !== null ? ` until ${utc(until)}` : ''
  const more = others === 0 ? '' : ` (and ${others} more)`
  return `${position === 'open' ? 'OPEN' : 'HALF-OPEN'} for ${id}${when}${more}: ${why}`
}
