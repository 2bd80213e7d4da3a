// The next step: a pure, total decision from state, limits and time. It is the whole policy of a run.

import { needsJudge } from './attempts/attempt-events.ts'
import { pendingEdit } from './attempts/pending-edit.ts'
import { describeHold } from './corrections/holds.ts'
import { isQuestion } from './corrections/questions.ts'
import { needsExamples, needsTrial } from './examples/examples-of.ts'
import { gatesBeforeJudge } from './gating/gate-memory.ts'
import { describeCompletion } from './how-passed.ts'
import { type Attempt, hasCandidate, isCandidateDone, isChosen, slotOf } from './model/attempt.ts'
import type { Outcome, Story } from './model/feature.ts'
import { attemptsAt, isDispatched, openAttempt } from './model/job.ts'
import type { Limits } from './model/limit-types.ts'
import type { Conclusion, Ending, Job, State } from './model/state.ts'
import type { AttemptStep, Step } from './model/step.ts'
import { openQuestions } from './planning/plan-questions.ts'
import { isSplitting, nextPlanTarget, planDigest } from './planning/proposed-plan.ts'
import { unmetOutOfScope } from './prd/scope.ts'
import { inScope, pickStory, remaining } from './prd/select.ts'
import { openUntil } from './state/breaker.ts'
import { contestedStory, nextSlot, storyToDecideAtEnd, storyToDecideNow } from './state/contests.ts'
import {
  agentsRestUntil,
  batchEndReason,
  callAllowedAt,
  exhaustedBudget,
  isIdleJob,
  isWaitedOut,
  iterationsLeft,
  jobsAllowed,
  LANDED,
  MAX_IDLE_JOBS,
} from './state/limits.ts'
import { canBeginBeside } from './state/shared-files.ts'

/**
 * The next step as data. Every reachable state leads to `stop` in a finite number of steps (test/unit/engine). `attemptsInWork`:
 * stories that are known to change the same files wait for these.
 */
export function nextStep(
  state: State,
  limits: Limits,
  now: number,
  attemptsInWork: State['attempts'] = {},
): Step {
  const { job } = state
  const { branch, ready } = job
  const attempt = openAttempt(state)
  if (job.ending !== null) return nextStepOfEnding(job, job.ending, limits, now)
  if (attempt !== null) return nextStepOfAttempt(attempt, state, limits)
  if (job.halted?.kind === 'error') return conclude('error', job.halted.summary)
  if (job.halted !== null) return conclude('interrupted', 'cancelled; the state is saved')
  // Gates run on what people pushed, so `prepare` comes first.
  if (branch.kind === 'moved' || branch.kind === 'joining') {
    if (!ready.prepared) return { kind: 'prepare' }
    return branch.kind === 'moved' ? { kind: 'join', theirs: branch.head } : { kind: 'gate-join', branch }
  }
  if (!ready.synced) return { kind: 'sync' }
  const wasComplete =
    state.prd.run.outcome === 'complete' && remaining(state.prd, state.control.scope).length === 0
  if (branch.kind === 'gone' && job.takesBranch && !wasComplete) return { kind: 'restore' }

  const edit = pendingEdit(state, limits)
  if (edit !== null) {
    const { editing: built } = job
    if (built?.onto !== state.green) return { kind: 'edit', edit }
    return ready.prepared ? { kind: 'gate-edit', built } : { kind: 'prepare' }
  }
  const outcome = outcomeOf(state, limits, now)
  const withAttempts = { ...state, attempts: attemptsInWork }
  const isLimit = outcome !== null && landsFirst(outcome)
  const undecided = isLimit ? storyToDecideAtEnd(withAttempts) : null
  if (undecided !== null) return { kind: 'decide', storyId: undecided }
  if (outcome !== null) return { kind: 'conclude', conclusion: outcome }
  const planTarget = nextPlanTarget(state)
  const isDone = planTarget === null && remaining(state.prd, state.control.scope).length === 0
  if (job.wave?.isOver === true && !isDone) return concludeLanding(state)
  if (!ready.prepared) return { kind: 'prepare' }
  const needsBaseline = (limits.baseline || limits.recordsBaseline) && state.baseline === 'pending'
  if (needsBaseline) return { kind: 'baseline' }
  // A plan is the first thing that there is to open.
  if (!ready.opened && (planTarget !== '' || state.published !== null)) return { kind: 'open' }
  if (limits.publishEach && state.green !== state.published && branch.kind !== 'refused')
    return { kind: 'push' }
  const pause = pendingWait(state, limits, now)
  if (pause !== null) return { kind: 'wait', until: pause.until, reason: pause.what }
  if (planTarget !== null) return { kind: 'plan', split: planTarget === '' ? null : planTarget }
  const due = storyToDecideNow(withAttempts, limits)
  if (due !== null) return { kind: 'decide', storyId: due }
  const isWorkable = workableIn(state)
  const fitsBesideOthers = storiesBesideOthers(withAttempts)
  const isFree = (one: Story) =>
    isWorkable(one) && nextSlot(withAttempts, one, limits) !== null && fitsBesideOthers(one)
  const isBreakerClosed = (one: Story) => openUntil(state.records[one.id], now) === null
  // A contest that has begun gets its further candidates even while the story's breaker is open.
  const story =
    contestedStory(state, isFree) ?? pickStory(state.prd, (one) => isFree(one) && isBreakerClosed(one))
  if (story === null) return { kind: gatesBeforeJudge(state) === null ? 'verify' : 'judge-whole' }
  if (isQuestion(state, story.id)) return { kind: 'answer', storyId: story.id }
  return { kind: needsExamples(state, story, limits) ? 'examples' : 'reserve', storyId: story.id }
}

/** A test for the stories that share no files with other stories in progress. Candidates of one story may be made side by side. */
function storiesBesideOthers(state: State): (story: Story) => boolean {
  const inWork = state.prd.userStories.filter(({ id }) => attemptsAt(state, id).length > 0)
  // Computed once: most stories are not in progress.
  const fitsBesideAll = canBeginBeside(state, inWork)
  return (story) => {
    if (!inWork.includes(story)) return fitsBesideAll(story)
    const others = inWork.filter((one) => one !== story)
    return canBeginBeside(state, others)(story)
  }
}

/** Whether a candidate is chosen and landed before the run ends with this outcome. */
export function landsFirst({ outcome }: Conclusion): boolean {
  return outcome === 'budget' || outcome === 'max-iterations' || outcome === 'stuck'
}

/** A job that only lands the work of other jobs begins no work: the next job claims the next step. */
export function concludeLanding(state: State): Step {
  const isWave = state.job.wave !== undefined
  const conclusion = conclusionOf('continued', isWave ? 'the workers are done' : LANDED)
  return { kind: 'conclude', conclusion: endIdleChain(state, conclusion) }
}

/** An attempt in progress is always finished or returned, whatever else happens. */
export function nextStepOfAttempt(attempt: Attempt, state: State, limits: Limits): AttemptStep {
  const { green } = state
  if (slotOf(attempt) !== undefined && isCandidateDone(attempt)) return { kind: 'enter', attempt }
  if (isChosen(attempt) && hasCandidate(attempt) && attempt.base !== green)
    return { kind: 'rebase', attempt, onto: green }
  return stepOfPhase(attempt, state, limits)
}

/** The step that follows from the attempt's phase, for a candidate that is on the right commit. */
export function stepOfPhase(attempt: Attempt, state: State, limits: Limits): AttemptStep {
  switch (attempt.phase) {
    case 'reserved':
      return { kind: 'agent', attempt }
    case 'worked':
      return { kind: 'guard', attempt }
    case 'guarded':
      return { kind: 'gates', attempt }
    case 'gated':
      if (needsTrial(attempt, state, limits)) return { kind: 'try', attempt }
      return needsJudge(attempt, limits) ? { kind: 'judge', attempt } : { kind: 'accept', attempt }
    case 'judged':
      return { kind: 'accept', attempt }
    case 'failed':
      return { kind: 'reject', attempt }
    case 'returned':
      return { kind: 'return', attempt }
  }
}

/** Publish, then dispatch, then report: the work is safe before people are notified. */
function nextStepOfEnding(job: Job, ending: Ending, limits: Limits, now: number): Step {
  const { conclusion, next } = ending
  if (!ending.published) return { kind: 'publish', conclusion }
  const goesOn = ending.more || (conclusion.outcome === 'continued' && limits.redispatch)
  if (goesOn && !isDispatched(job)) {
    return next.kind === 'limited' && next.until > now
      ? { kind: 'wait', until: next.until, reason: "GitHub's rate limit blocks the next job" }
      : { kind: 'dispatch' }
  }
  return ending.reported ? { kind: 'stop', conclusion } : { kind: 'report', conclusion }
}

function conclude(outcome: Outcome, reason: string): Step {
  return { kind: 'conclude', conclusion: conclusionOf(outcome, reason) }
}

/** How the job ends now, or null. Completion comes before limits: a run that finishes with its last iteration is complete. */
export function outcomeOf(state: State, limits: Limits, now: number): Conclusion | null {
  const { control, prd, verification } = state
  const open = remaining(prd, control.scope)
  const hasPlanTarget = nextPlanTarget(state) !== null
  const done = open.length === 0 && !hasPlanTarget
  const { branch } = state.job
  if (branch.kind === 'refused')
    return conclusionOf('paused', control.paused?.reason ?? 'Ralph could not push the branch')
  const verifies = limits.finalVerification || verification.asked
  const plan = planOutcome(state, limits)
  const isApproved = plan === null && state.plan?.phase !== 'proposed'
  const finished = done && isApproved && (verification.approved || !verifies)
  if (branch.kind === 'gone') return outcomeWithoutBranch(state, branch.how, finished)
  if (finished) {
    const hold = describeHold(state, limits)
    return hold === '' ? conclusionOf('complete', describeCompletion(state)) : conclusionOf('paused', hold)
  }
  if (control.paused !== null) return conclusionOf('paused', control.paused.reason)
  if (plan !== null) return plan
  const isBlocked = limits.stopOnBlocked && open.some((story) => story.blocked)
  if (!done && !hasPlanTarget && (pickStory(prd, workableIn(state)) === null || isBlocked)) {
    const splits = open.filter((story) => isSplitting(state, story.id)).map((story) => story.id)
    if (splits.length > 0)
      return conclusionOf('paused', `a split is waiting for approval: ${splits.join(', ')}`)
    return conclusionOf('stuck', stuckReason(state, open))
  }
  if (done && verification.sessions >= limits.maxAttempts) {
    return conclusionOf('stuck', `the final verification gave no verdict: ${verification.message}`)
  }
  if (!done && !hasPlanTarget && iterationsLeft(state, limits) <= 0) {
    return conclusionOf('max-iterations', `the limit of ${prd.run.iterations} iterations is reached`)
  }
  if (prd.run.jobs > jobsAllowed(state, limits)) {
    return conclusionOf('max-iterations', `the limit of ${limits.maxJobs} jobs is reached`)
  }
  const budget = exhaustedBudget(state, limits)
  if (budget !== null) return conclusionOf('budget', budget)
  const pause = pendingWait(state, limits, now)
  if (pause !== null && !isWaitedOut(state, limits, pause.until, now, done)) {
    return endIdleChain(state, { outcome: 'paused', reason: pause.sentence, until: pause.until })
  }
  const over = batchEndReason(state, limits, now, done)
  return over === null ? null : endIdleChain(state, conclusionOf('continued', over))
}

/** Whether a story is within the run's scope, and no split of it is under way. */
function workableIn(state: State): (story: Story) => boolean {
  const isInScope = inScope(state.control.scope)
  return (story) => isInScope(story) && !isSplitting(state, story.id)
}

const QUESTIONS_WAIT = 'the questions before the plan are waiting for answers'
const PLAN_EDITED = 'the plan was edited after it was approved, so it needs a new approval'

/** The outcome of a plan that no session could make, or that waits for answers or an approval; else null. */
function planOutcome(state: State, limits: Limits): Conclusion | null {
  const { plan, published, job } = state
  if (plan === undefined || plan.phase === 'begun') return null
  if (openQuestions(plan.interview) !== null) return conclusionOf('paused', QUESTIONS_WAIT)
  if (plan.phase === 'wanted')
    return plan.sessions >= limits.maxAttempts
      ? conclusionOf('stuck', `planning failed: ${plan.message}`)
      : null
  // The branch has to be opened first: the plan is shown there.
  if (published === null && !job.ready.opened) return null
  if (plan.phase === 'proposed') return conclusionOf('paused', 'the plan is waiting for approval')
  if (plan.digest === planDigest(state)) return null
  return conclusionOf('paused', PLAN_EDITED)
}

/** Names the blocked stories; or the reverted stories out of scope that the open ones depend on. */
function stuckReason({ prd, control }: State, open: readonly Story[]): string {
  const blocked = open.filter((story) => story.blocked).map((story) => story.id)
  if (blocked.length > 0 || control.scope === null) return `blocked: ${blocked.join(', ')}`
  const outside = unmetOutOfScope(prd, control.scope).map(({ id }) => id)
  return `the remaining stories depend on stories outside this run: ${outside.join(', ')}`
}

/** The branch was merged or deleted: a complete run stays complete, any other waits for a person. */
function outcomeWithoutBranch(state: State, how: 'merged' | 'deleted', finished: boolean): Conclusion {
  if (finished && state.prd.run.outcome === 'complete')
    return conclusionOf('complete', `${describeCompletion(state)}; the branch was ${how}`)
  const { branch, green } = state
  const what = how === 'merged' ? 'merged and deleted' : 'deleted'
  return conclusionOf(
    'paused',
    `someone ${what === 'deleted' ? 'deleted' : 'merged and deleted'} ${branch} (it was at ${green}). To create it again, use the command run`,
  )
}

/** Ends a chain with an error after several jobs in a row without work. */
function endIdleChain(state: State, conclusion: Conclusion): Conclusion {
  if (!isIdleJob(state, conclusion) || state.control.idleJobs + 1 < MAX_IDLE_JOBS) return conclusion
  return conclusionOf(
    'error',
    `${MAX_IDLE_JOBS} jobs in a row ended without an iteration (${conclusion.reason})`,
  )
}

/** Until when no session may start, and why: a vendor's limit, the limit of calls, or all open stories rest. */
export function pendingWait(state: State, limits: Limits, now: number) {
  const pauseFor = (until: number, what: string, words = `waiting for ${what}`) => {
    return { until, what, sentence: `${words} until ${new Date(until).toISOString()}` }
  }
  const rest = earliestTrial(state, now)
  const all = 'every story that is left has to wait'
  if (rest !== null) return pauseFor(rest, all, all)
  const vendor = agentsRestUntil(state, limits, now) ?? 0
  const hourly = callAllowedAt(state, limits, now) ?? 0
  if (Math.max(vendor, hourly) <= now) return null
  return vendor >= hourly
    ? pauseFor(vendor, "the agent's limit")
    : pauseFor(hourly, `the limit of ${limits.callsPerHour} calls an hour`)
}

/** When the first breaker allows a trial, if the breakers of all workable stories are open; else null. */
function earliestTrial(state: State, now: number): number | null {
  const times: number[] = []
  const isFree = ({ id }: { id: string }): boolean => {
    if (isSplitting(state, id)) return false
    const until = openUntil(state.records[id], now)
    if (until !== null) times.push(until)
    return until === null
  }
  const isInScope = inScope(state.control.scope)
  const picked = pickStory(state.prd, (story) => isInScope(story) && isFree(story))
  return picked !== null || times.length === 0 ? null : Math.min(...times)
}

function conclusionOf(outcome: Outcome, reason: string): Conclusion {
  return { outcome, reason, until: null }
}
