// The words and figures that every report shares: times, money, the bar and how things stand.
import { isUngated, iterationsLeft } from '../loop/limits.ts'
import type { Situation } from '../loop/situation.ts'
import type { Outcome, Story } from '../model/feature.ts'
import type { Limits } from '../model/limits.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { oneLine } from '../model/text.ts'
import type { Usage } from '../model/usage.ts'
import { counts, remaining } from '../prd/select.ts'
import { terminalText } from './escape.ts'

/** `0.4s`, `38s`, `2m 04s`, `1h 05m` for milliseconds; tenths below ten seconds. */
export function humanMs(ms: number): string {
  const given = Number.isFinite(ms) ? Math.max(0, ms) : 0
  if (given > 0 && given < 9_950)
    return `${Math.max(0.1, given / 1000)
      .toFixed(1)
      .replace(/\.0$/, '')}s`
  const seconds = Math.round(given / 1000)
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`
}

/** `$0.42` for dollars; what is less than a cent and not nothing is `<$0.01`. */
export function usd(dollars: number): string {
  const given = Number.isFinite(dollars) ? Math.max(0, dollars) : 0
  if (given > 0 && given < 0.005) return '<$0.01'
  return `$${given.toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ',')}`
}

/** The dollars of this usage, with a word on how far Ralph computed them itself. */
export function costWords(usage: Pick<Usage, 'costUsd' | 'estimatedCostUsd'>): string {
  return usd(usage.costUsd) + estimatedPart(usage.costUsd, usage.estimatedCostUsd)
}

/** The tokens of this usage, likewise: `48k partly estimated`. */
export function tokenWords(
  usage: Pick<Usage, 'inputTokens' | 'outputTokens' | 'estimatedTokens'>,
  word = '',
): string {
  const used = usage.inputTokens + usage.outputTokens
  return tokens(used) + word + estimatedPart(used, usage.estimatedTokens)
}

function estimatedPart(whole: number, estimated = 0): string {
  if (estimated <= 0) return ''
  // A tenth of a cent may be lost by adding up.
  return whole - estimated < 0.001 ? ' estimated' : ' partly estimated'
}

/** `950`, `48k`, `1.2M` for a count of tokens. */
export function tokens(count: number): string {
  if (count < 1000) return String(Math.round(count))
  if (count < 999_500) return `${Math.round(count / 1000)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

/** `1 job`, `2 jobs`. */
export function many(count: number, word: string, words = `${word}s`): string {
  return `${count} ${count === 1 ? word : words}`
}

/** A bar of `width` cells. It is full only when all is done, and empty only when nothing is. */
export function bar(done: number, total: number, width: number, filled = '█', empty = '░'): string {
  const share = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0
  let cells = Math.round(share * width)
  if (share > 0 && cells === 0) cells = 1
  if (share < 1 && cells === width) cells = width - 1
  return filled.repeat(cells) + empty.repeat(width - cells)
}

/** `2026-01-10 14:05 UTC` for epoch milliseconds. */
export function utc(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15
    ? `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
    : '-'
}

/** The outcome of the job, or null while it is at work. */
export function outcomeNow(state: State): Outcome | null {
  return state.job.conclusion?.outcome ?? null
}

/** How a story stands. `rejected`: has failed and is tried again; `waiting`: for a story that it depends on. */
export type Standing = 'passed' | 'skipped' | 'blocked' | 'working' | 'rejected' | 'waiting' | 'open'

/** How every story stands, by id. */
export function standings(state: State): Map<string, Standing> {
  const stories = state.prd.userStories
  const settled = new Set(stories.filter((story) => story.passes || story.skipped).map((story) => story.id))
  const inWork = storyInWork(state)
  const standing = (story: Story): Standing => {
    if (story.passes) return 'passed'
    if (story.skipped) return 'skipped'
    if (story.blocked) return 'blocked'
    if (story.id === inWork) return 'working'
    if (!story.dependsOn.every((id) => settled.has(id))) return 'waiting'
    return story.retries > 0 ? 'rejected' : 'open'
  }
  return new Map(stories.map((story) => [story.id, standing(story)]))
}

/** The id of the story that a session works on now, or null. */
export function storyInWork(state: State): string | null {
  return outcomeNow(state) === null ? (state.attempt?.storyId ?? null) : null
}

/** Attempts that a story has had: those that were charged, and the one that passed or is in work. */
export function attemptsOf(state: State, story: Story): number {
  const record = state.records[story.id]
  return Math.max(record?.attempts ?? 0, story.lastResult?.attempts ?? 0, story.retries)
}

/** `4 of 6 stories pass`, with those that a person skipped. */
export function tally(state: State): string {
  const { passed, skipped, total } = counts(state.prd)
  const pass = `${passed} of ${total} ${total === 1 ? 'story' : 'stories'} ${passed === 1 ? 'passes' : 'pass'}`
  if (total === 0) return 'no stories'
  return skipped === 0 ? pass : `${pass}, ${skipped} skipped`
}

/** How the run stands in one line of plain text (not escaped), and a sign for it. A run without gates says so first. */
export function headline(state: State, outcome: Outcome | null): { sign: string; text: string } {
  const { sign, text } = stand(state, outcome)
  return isUngated(state.job)
    ? { sign: sign === '✅' ? '⚠️' : sign, text: `${NO_GATES_RUN} · ${text}` }
    : { sign, text }
}

/** What stands before everything that is said of a run with `gates: none`. */
const NO_GATES_RUN = 'No gates, no command checks the work'

function stand(state: State, outcome: Outcome | null): { sign: string; text: string } {
  const reason = oneLine(state.job.conclusion?.reason ?? '', 240)
  const stands = tally(state)
  switch (outcome) {
    case null:
      return { sign: '🔁', text: [stands, doing(state)].filter((part) => part !== '').join(' · ') }
    case 'continued':
      return {
        sign: '🔁',
        text: `${stands} · ${howItGoesOn(state)}`,
      }
    case 'complete':
      return { sign: '✅', text: `Complete: ${stands}` }
    case 'stuck':
      return { sign: '🛑', text: `Stuck: ${whyStuck(state, reason)} · ${stands}` }
    case 'max-iterations':
    case 'budget':
      return { sign: '🛑', text: `Stopped: ${reason || `the ${outcome} limit is reached`} · ${stands}` }
    case 'paused': {
      const waits = waitsUntil(state)
      if (waits !== null) return { sign: '⏳', text: `Waiting until ${utc(waits)} · ${stands}` }
      return {
        sign: '⏸️',
        text: `Paused${reason === '' || reason === 'paused' ? '' : `: ${reason}`} · ${stands}`,
      }
    }
    case 'error':
      return { sign: '❌', text: `Error: ${reason || 'see the log'}` }
    case 'interrupted':
      return { sign: '⏹️', text: `Cancelled, nothing is lost · ${stands}` }
  }
}

/** How a feature stands for somebody who asks from outside a job, in one line of plain text (not escaped). */
export function standingWords(state: State, situation: Situation): string {
  const conclusion = situation.kind === 'ended' ? situation.conclusion : null
  const seen = { ...state, job: { ...state.job, conclusion } }
  if (situation.kind !== 'ready') return headline(seen, conclusion?.outcome ?? null).text
  const begun = state.nonce === '' ? 'not begun' : ''
  return [tally(state), begun, comes(situation.step)].filter((part) => part !== '').join(' · ')
}

function comes(step: Step | null): string {
  switch (step?.kind) {
    case 'reserve':
      return `${oneLine(step.storyId, 64)} is next`
    case 'verify':
      return 'the final verification is next'
    case 'wait':
      return `waiting until ${utc(step.until)}`
    default:
      return ''
  }
}

function doing(state: State): string {
  const { attempt } = state
  const blocked = blockedIds(state)
  const parts: string[] = []
  if (attempt !== null) {
    const again = attempt.number > 1 ? ` (attempt ${attempt.number})` : ''
    parts.push(`${oneLine(attempt.storyId, 64)} is in work${again}`)
  } else if (state.prd.userStories.length > 0 && remaining(state.prd).length === 0)
    parts.push(`final verification${withoutVerdict(state)}`)
  else if (state.prd.run.iterations === 0) parts.push('getting ready')
  if (blocked.length > 0) parts.push(areBlocked(blocked))
  return parts.join(' · ')
}

/** Why the verifications so far have ended nothing: each costs a session, and a person can mend that before the last. */
function withoutVerdict({ verification: { sessions, message } }: State): string {
  if (sessions === 0) return ''
  return ` (${many(sessions, 'session')} without a verdict: ${oneLine(message, 300)})`
}

function whyStuck(state: State, reason: string): string {
  const blocked = blockedIds(state)
  return blocked.length === 0 ? reason || 'no story can be worked on' : areBlocked(blocked)
}

function areBlocked(ids: readonly string[]): string {
  const [first, second] = ids.map((id) => oneLine(id, 64))
  if (ids.length === 1) return `${first} is blocked`
  if (ids.length === 2) return `${first} and ${second} are blocked`
  return `${first} and ${ids.length - 1} others are blocked`
}

/** Ids of the stories that a person has to look at. */
export function blockedIds(state: State): string[] {
  return state.prd.userStories
    .filter((story) => story.blocked && !story.passes && !story.skipped)
    .map((story) => story.id)
}

/** Why a story is blocked, in plain text: what its last attempt failed of, or the note that was left. */
export function whyBlocked(state: State, story: Story): string {
  return state.records[story.id]?.failure?.summary || story.notes
}

function howItGoesOn(state: State): string {
  const held = heldBack(state)
  if (held !== null) return `GitHub's rate limit refuses the next job until ${utc(held)}`
  return goesOn(state) ? 'the next job goes on' : 'the batch is over'
}

/** Whether the next job was started, or promised. */
export function goesOn(state: State): boolean {
  return heldBack(state) === null && (state.job.dispatched || state.control.continuePending)
}

/** Until when a rate limit refuses the next job, which this one did not start any more; epoch milliseconds, or null. */
export function heldBack({ job }: State): number | null {
  return job.dispatched && job.nextRunId === null ? (job.dispatchAfter ?? null) : null
}

/** When a paused run may go on, epoch milliseconds; null where it waits for a person. */
function waitsUntil(state: State): number | null {
  return state.control.paused === null ? (state.job.conclusion?.until ?? null) : null
}

/** A sentence of ours in markdown (code spans and entities, nothing else) as a terminal shows it. */
export function spoken(markdown: string): string {
  const plain = markdown
    .replaceAll('`', '')
    .replace(/&#(\d+);/g, (_all, digits: string) => String.fromCodePoint(Number(digits)))
  return terminalText(plain, 1000)
}

/** What the rest of the run may cost at most; null where nothing can be said. Money in USD. */
export function worstCase(state: State, limits: Limits): string | null {
  const open = remaining(state.prd).filter((story) => !story.blocked)
  if (open.length === 0) return null
  const attempts = open.reduce((sum, story) => sum + Math.max(1, limits.maxAttempts - story.retries), 0)
  const iterations = Math.max(0, Math.min(attempts, iterationsLeft(state, limits)))
  const { costUsd } = state.prd.run.usage
  const allowed = limits.maxCostUsd === null ? null : limits.maxCostUsd + state.control.granted.costUsd
  const paid = state.timeline.map((entry) => entry.costUsd).filter((cost) => cost > 0)
  const capped = allowed === null ? '' : `; the limit is ${usd(allowed)}`
  if (paid.length === 0) {
    return `${many(iterations, 'more iteration')}${allowed === null ? ', and no cost limit is set' : capped}`
  }
  const dearest = Math.max(...paid)
  const atMost = iterations * dearest
  if (allowed !== null && costUsd + atMost > allowed) {
    return `${usd(Math.max(0, allowed - costUsd))} more, then the cost limit of ${usd(allowed)} ends the run`
  }
  return `${usd(atMost)} more: ${many(iterations, 'iteration')} at ${usd(dearest)}, the dearest so far${capped}`
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
