// The status of a run in one line of plain text (not escaped).

import { describeCorrections, withoutCorrections } from '../engine/corrections/corrections.ts'
import { countPasses } from '../engine/how-passed.ts'
import type { Attempt } from '../engine/model/attempt.ts'
import type { Outcome, Prd, Scope } from '../engine/model/feature.ts'
import { attemptsAt, isDispatched, isUngated, openAttempt, withConclusion } from '../engine/model/job.ts'
import type { State } from '../engine/model/state.ts'
import type { Step } from '../engine/model/step.ts'
import { oneLine } from '../engine/model/text.ts'
import { describeOutOfScope, describeScope } from '../engine/prd/scope.ts'
import { counts, remaining } from '../engine/prd/select.ts'
import { ownSituation, type Situation } from '../engine/situation.ts'
import { capitalize, formatUtc, joinWithDots, pluralize } from './figures.ts'

/** The outcome of the job, or null while it is at work. */
export function outcomeNow(state: State): Outcome | null {
  return state.job.ending?.conclusion.outcome ?? null
}

/** The attempt in work now, or null. */
export function attemptInWork(state: State): Attempt | null {
  return outcomeNow(state) === null ? openAttempt(state) : null
}

/** Whether an attempt at this story is under way. */
export function isStoryInWork(state: State, id: string): boolean {
  return outcomeNow(state) === null && attemptsAt(state, id).length > 0
}

/** Ids of the stories that a person has to look at. */
export function blockedIds(state: State): string[] {
  return remaining(state.prd, state.control.scope)
    .filter((story) => story.blocked)
    .map((story) => story.id)
}

/** Whether the next job was started, or is about to be. */
export function willContinue(state: State): boolean {
  return nextJobHeldUntil(state) === null && (isDispatched(state.job) || state.control.continuePending)
}

/** Until when a rate limit keeps this job from starting the next one; epoch milliseconds, or null. */
export function nextJobHeldUntil({ job }: State): number | null {
  return job.ending?.next.kind === 'held' ? job.ending.next.until : null
}

/** When a paused run continues by itself, epoch milliseconds; null if it waits for a person. */
export function resumesAt({ job, control }: State): number | null {
  const conclusion = job.ending?.conclusion
  return conclusion?.outcome === 'paused' && control.paused === null ? conclusion.until : null
}

/** `4 of 6 stories pass, 1 skipped`. For a run of a part of the feature it names the part, and counts the other stories. */
export function tally(state: Pick<State, 'prd' | 'control' | 'corrections'>): string {
  const { scope } = state.control
  const corrections = describeCorrections(state)
  const stories = tallyOfStories(withoutCorrections(state.prd), scope)
  return corrections === '' ? stories : `${corrections}; ${stories}`
}

function tallyOfStories(prd: Prd, scope: Scope | null): string {
  const { passed, skipped, total } = counts(prd, scope)
  if (total === 0) return 'no stories'
  const part = scope === null ? '' : ` ${describeScope(scope)}`
  const others = describeOutOfScope(prd, scope)
  const stories = `${total} ${total === 1 ? 'story' : 'stories'}${part}`
  const pass = `${passed} of ${stories} ${total === 1 ? 'passes' : 'pass'}`
  return `${pass}${skipped === 0 ? '' : `, ${skipped} skipped`}${others === '' ? '' : `; ${others}`}`
}

/** The state in this situation: an attempt of a dead process is no longer in progress. */
export function stateInSituation(state: State, situation: Situation): State {
  const attempts = situation.kind === 'working' ? state.attempts : {}
  return withConclusion({ ...state, attempts }, situation.kind === 'ended' ? situation.conclusion : null)
}

/** The headline and its sign. A run without gates says so first. */
export function headline(state: State, situation = ownSituation(state)): { sign: string; text: string } {
  const isReady = situation.kind === 'ready'
  const { sign, text } = isReady
    ? readyHeadline(state, situation.step)
    : headlineOf(stateInSituation(state, situation))
  if (!isUngated(state.job)) return { sign, text }
  return { sign: sign === '✅' ? '⚠️' : sign, text: `No gates: no command checks the work · ${text}` }
}

function readyHeadline(state: State, step: Step | null): { sign: string; text: string } {
  const begun = state.nonce === '' ? 'not started' : ''
  return { sign: '⏯️', text: joinWithDots(tally(state), begun, describeNextStep(step)) }
}

function headlineOf(state: State): { sign: string; text: string } {
  const outcome = outcomeNow(state)
  const reason = oneLine(state.job.ending?.conclusion.reason ?? '', 240)
  const stories = tally(state)
  const resumeAt = resumesAt(state)
  switch (outcome) {
    case null:
      return { sign: '🔁', text: joinWithDots(stories, ...describeWork(state)) }
    case 'continued':
      return { sign: '🔁', text: joinWithDots(stories, describeContinuation(state)) }
    case 'complete':
      return { sign: '✅', text: `Complete: ${stories}${describeOtherPasses(state)}` }
    case 'stuck':
      return {
        sign: '🛑',
        text: joinWithDots(
          `Stuck: ${describeBlocked(state) || reason || 'no story can be worked on'}`,
          stories,
        ),
      }
    case 'max-iterations':
    case 'budget':
      return {
        sign: '🛑',
        text: joinWithDots(`Stopped: ${reason || `the ${outcome} limit is reached`}`, stories),
      }
    case 'paused':
      if (state.plan?.phase === 'proposed' && state.control.paused === null) {
        const count = pluralize(state.prd.userStories.length, 'story', 'stories')
        return { sign: '📋', text: joinWithDots('The plan is waiting for approval', count) }
      }
      if (resumeAt !== null)
        return { sign: '⏳', text: joinWithDots(`Waiting until ${formatUtc(resumeAt)}`, stories) }
      return {
        sign: '⏸️',
        text: joinWithDots(pausedText(reason), stories),
      }
    case 'error':
      return { sign: '❌', text: `Error: ${reason || 'see the log'}` }
    case 'interrupted':
      return { sign: '⏹️', text: joinWithDots('Cancelled, nothing is lost', stories) }
  }
}

/** `Paused by ann` and `Paused: stopped by ann`. */
function pausedText(reason: string): string {
  if (reason === '') return 'Paused'
  return /^paused\b/.test(reason) ? capitalize(reason) : `Paused: ${reason}`
}

/** How many stories passed, but not by their gates. */
function describeOtherPasses(state: State): string {
  const { judge, imported, ungated } = countPasses(state)
  const ways = [
    judge === 0 ? '' : `, ${judge} on a judge's word`,
    imported === 0 ? '' : `, ${imported} from before the run`,
    ungated === 0 || isUngated(state.job) ? '' : `, ${ungated} without a gate`,
  ]
  return ways.join('')
}

function describeNextStep(step: Step | null): string {
  switch (step?.kind) {
    case 'reserve':
      return `${oneLine(step.storyId, 64)} is next`
    case 'verify':
    case 'judge-whole':
      return 'the final verification is next'
    case 'wait':
      return `waiting until ${formatUtc(step.until)}`
    default:
      return ''
  }
}

function describeWork(state: State): string[] {
  const attempt = openAttempt(state)
  const blocked = describeBlocked(state)
  const ids = [...new Set(Object.values(state.attempts).map(({ storyId }) => oneLine(storyId, 64)))]
  if (ids.length > 1) return [`${joinIds(ids)} are in progress`, blocked]
  if (attempt !== null) {
    const again = attempt.number > 1 ? ` (attempt ${attempt.number})` : ''
    return [`${oneLine(attempt.storyId, 64)} is in progress${again}`, blocked]
  }
  if (state.prd.userStories.length > 0 && remaining(state.prd, state.control.scope).length === 0)
    return [`final verification${withoutVerdict(state)}`]
  return [state.prd.run.iterations === 0 ? 'getting ready' : '', blocked]
}

/** Why final verifications brought no verdict: each costs a session, so a person should fix the cause before the last one. */
function withoutVerdict({ verification: { sessions, message } }: State): string {
  if (sessions === 0) return ''
  return ` (${pluralize(sessions, 'session')} without a verdict: ${oneLine(message, 300)})`
}

function describeContinuation(state: State): string {
  const held = nextJobHeldUntil(state)
  if (held !== null) return `GitHub's rate limit blocks the next job until ${formatUtc(held)}`
  return willContinue(state) ? 'the next job continues' : 'the batch is over'
}

function describeBlocked(state: State): string {
  const ids = blockedIds(state).map((id) => oneLine(id, 64))
  if (ids.length === 0) return ''
  return ids.length === 1 ? `${ids[0]} is blocked` : `${joinIds(ids)} are blocked`
}

/** For two or more ids. */
function joinIds([first = '', second = '', ...others]: readonly string[]): string {
  return others.length === 0 ? `${first} and ${second}` : `${first} and ${others.length + 1} others`
}
