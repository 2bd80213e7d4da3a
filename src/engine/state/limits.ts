// Whether a run may continue: limits of iterations, jobs, money, tokens, time and calls. Pure.

import type { Attempt, Reservation } from '../model/attempt.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Conclusion, Control, Job, State } from '../model/state.ts'
import { tokensOf, type Usage } from '../model/usage.ts'
import { largestSession, runUsage } from '../model/usage-totals.ts'
import { haltWithError } from './state-updates.ts'

/** No session begins with less time than this, milliseconds. */
const MIN_MS = 60_000
/** A chain ends after this many jobs in a row without a charged iteration. */
export const MAX_IDLE_JOBS = 3
/** Milliseconds. For a longer wait a job on a paid runner ends instead. */
export const MAX_WAIT_MS = 5 * 60_000
/**
 * The longest wait of one step, milliseconds. The state is saved after it, which renews the lease: that is valid for ten minutes at least.
 */
export const RENEWAL_MS = 5 * 60_000
/** After this many limited sessions in a row (about a day of half hours) a job no longer waits, and a person has to look. */
export const MAX_LIMITED = 50
const HOUR_MS = 3_600_000
/** Calls of one step that are counted at most. */
const MAX_CALLS = 1000
/** The number of sessions that a cost limit is divided by if there is no limit of iterations. */
const DEFAULT_SHARES = 50

/** Time at a job's end to checkpoint, publish, dispatch and report, milliseconds. */
function reserveMs(jobMs: number): number {
  return Math.min(5 * 60_000, Math.ceil(jobMs / 10))
}

/** When the work of a job has to end, so that it can still be saved and reported: epoch milliseconds. */
export function endOfWork(job: Job): number {
  return job.deadline - reserveMs(job.deadline - job.startedAt)
}

/** Time reserved for the gates of an attempt: their limit, but at most a quarter of the job, milliseconds. */
function gatesReserveMs(job: Job, limits: Limits): number {
  return Math.min(limits.gatesMs, Math.ceil((job.deadline - job.startedAt) / 4))
}

/** Iterations that may still be charged; Infinity without a limit. */
export function iterationsLeft(state: State, limits: Limits): number {
  if (limits.maxIterations === 0) return Number.POSITIVE_INFINITY
  return limits.maxIterations + state.control.granted.iterations - state.prd.run.iterations
}

/** The maximum number of jobs of the run: granted iterations allow further ones, and a command of a person starts the count again. */
export function jobsAllowed({ control }: State, limits: Limits): number {
  const { iterationsPerJob, maxJobs } = limits
  const granted = iterationsPerJob === 0 ? 0 : 3 * Math.ceil(control.granted.iterations / iterationsPerJob)
  return control.jobsBefore + maxJobs + granted
}

/** The budget that is used up, in words, or null. */
export function exhaustedBudget(state: State, limits: Limits): string | null {
  const { maxCostUsd, maxTokens, maxAgentTimeMs } = limits
  const { costUsd, tokens } = budgetLeft(state, limits)
  if (costUsd !== null && costUsd <= 0) {
    const cost = (maxCostUsd ?? 0) + state.control.granted.costUsd
    return `the cost limit of $${cost.toFixed(2)} is reached`
  }
  if (tokens !== null && tokens <= 0) return `the token limit of ${maxTokens} is reached`
  const isOver = maxAgentTimeMs !== null && runUsage(state).agentSeconds * 1000 >= maxAgentTimeMs
  return isOver ? `the agent-time limit of ${Math.round(maxAgentTimeMs / 60_000)} minutes is reached` : null
}

/** What the next session may spend before a limit of the run is exceeded; null without a limit. */
export function budgetLeft(state: State, limits: Limits): { costUsd: number | null; tokens: number | null } {
  const usage = runUsage(state)
  const { maxCostUsd, maxTokens } = limits
  return {
    costUsd: maxCostUsd === null ? null : maxCostUsd + state.control.granted.costUsd - usage.costUsd,
    tokens: maxTokens === null ? null : maxTokens - tokensOf(usage),
  }
}

/** Why a job ends that lands the work of other jobs. */
export const LANDED = 'the results of the other jobs have landed'

/**
 * Why the batch of this job is over: its iterations are used up, or no further attempt fits before the deadline. Null if it is not
 * over. `done`: only the final verification is left, which is not an iteration.
 */
export function batchEndReason(state: State, limits: Limits, now: number, done: boolean): string | null {
  const { job } = state
  const size = limits.iterationsPerJob * (job.wave?.workers ?? 1)
  if (!done && size > 0 && job.counts.iterations >= size)
    return `the batch of ${size} ${size === 1 ? 'iteration' : 'iterations'} is done`
  // Attempts that are returned again and again must not keep a job at work forever.
  if (size > 0 && job.counts.begun >= 2 * size + 1) return 'the batch is done'
  const end = endOfWork(job)
  const enough = limits.iterationTimeoutMs + gatesReserveMs(job, limits)
  if (job.counts.begun > 0 && now + enough > end)
    return 'there is not enough time for another attempt before the job deadline'
  // The first attempt may have less time than the others, but not less than this.
  const least = Math.min(MIN_MS, limits.iterationTimeoutMs, Math.ceil((end - job.startedAt) / 4))
  if (now + least > end) return 'there is not enough time for an attempt before the job deadline'
  return null
}

/** Whether a job waits until then: always for a short time; longer only if work still fits after it. */
export function isWaitedOut(
  state: State,
  limits: Limits,
  until: number,
  now: number,
  done: boolean,
): boolean {
  if (until - now <= MAX_WAIT_MS) return true
  if (!limits.waits || state.control.limited >= MAX_LIMITED) return false
  return batchEndReason(state, limits, until, done) === null
}

/** Whether a job whose chain continues after this conclusion did nothing: it charged no iteration. */
export function isIdleJob({ job }: State, { outcome, until }: Conclusion): boolean {
  // Gates on the base, on people's commits and in the final verification are not iterations, but they are work.
  if (job.counts.forFeature > 0 && job.counts.begun === 0) return false
  return job.counts.iterations === 0 && (outcome === 'continued' || (until !== null && job.counts.begun > 0))
}

/** Whether the chain continues by itself after this conclusion: by a dispatch, or when its wait is over. */
export function continuesByItself({ outcome, until }: Conclusion, limits: Limits): boolean {
  return limits.redispatch && (outcome === 'continued' || until !== null)
}

/** When the next agent session may start under `callsPerHour`: epoch milliseconds, or null for now. */
export function callAllowedAt(state: State, limits: Limits, now: number): number | null {
  if (limits.callsPerHour === null) return null
  const recent = state.control.calls.filter((at) => at > now - HOUR_MS)
  if (recent.length < limits.callsPerHour) return null
  const oldest = recent[recent.length - limits.callsPerHour]
  return oldest === undefined ? null : oldest + HOUR_MS
}

/** Adds calls to those of the last hour. `count` may come from an untrusted job, so it is limited. */
export function countCalls(state: State, at: number, count = 1): State {
  const recent = state.control.calls.filter((one) => one > at - HOUR_MS)
  const calls = [...recent, ...Array.from({ length: Math.min(count, MAX_CALLS) }, () => at)]
  return count <= 0 ? state : { ...state, control: { ...state.control, calls } }
}

/**
 * The estimate for a session that is lost or whose vendor reports no usage. It is the largest session of the run, or a share of the
 * limit if none has ended yet. Null if neither is known.
 */
export function estimateSession(state: State, { maxCostUsd, maxTokens, maxIterations }: Limits): Reservation {
  const { costUsd, tokens } = largestSession(state) ?? { costUsd: 0, tokens: 0 }
  const share = (limit: number | null) => (limit === null ? null : limit / (maxIterations || DEFAULT_SHARES))
  const isShare = costUsd + tokens === 0 ? { isShare: true as const } : {}
  return { costUsd: costUsd || share(maxCostUsd), tokens: tokens || share(maxTokens), ...isShare }
}

/** The time that a session may take now, in milliseconds: its own limit, or what is left of the job or of the agents' time. */
export function sessionMs(state: State, limits: Limits, now: number): number {
  const left = endOfWork(state.job) - gatesReserveMs(state.job, limits) - now
  const { agentSeconds } = runUsage(state)
  const paid = limits.maxAgentTimeMs === null ? left : limits.maxAgentTimeMs - agentSeconds * 1000
  return Math.max(1000, Math.min(limits.iterationTimeoutMs, left, paid))
}

/** Milliseconds. An agent is tried again after a week even if its vendor named a later time. */
const MAX_RESET_MS = 7 * 24 * 3_600_000
/** The fallback agent takes over a story after this many failed attempts. */
const OWN_TRIES = 2

type AgentChoice = Attempt['agent']

/** Which agent runs the next session: the fallback one while the first is at its limit, and after two failed attempts. */
export function chooseAgent({ control }: State, limits: Limits, now: number, failures = 0): AgentChoice {
  const { agent, fallback } = limits
  if (fallback === null || isLimited(control, fallback, now)) return 'first'
  return failures >= OWN_TRIES || isLimited(control, agent, now) ? 'fallback' : 'first'
}

/** If all agents are at their limits: when the first is free again, epoch milliseconds; else null. */
export function agentsRestUntil({ control }: State, limits: Limits, now: number): number | null {
  const names = limits.fallback === null ? [limits.agent] : [limits.agent, limits.fallback]
  if (!names.every((name) => isLimited(control, name, now))) return null
  return Math.min(...names.map((name) => control.agentLimits[name] ?? 0))
}

/**
 * The state after a session that its vendor's limit or overload ended. The agent is tried again at the time that the vendor named. The
 * pause is at least half a minute at first, and grows to half an hour.
 */
export function withAgentLimit(
  state: State,
  which: AgentChoice,
  limits: Limits,
  resetsAt: number | null,
  at: number,
): State {
  const { control } = state
  const name = which === 'first' ? limits.agent : (limits.fallback ?? limits.agent)
  const pause = Math.min(30 * 60_000, 30_000 * 2 ** Math.min(10, control.limited))
  const until = Math.max(Math.min(resetsAt ?? 0, at + MAX_RESET_MS), at + pause)
  const agentLimits = { ...control.agentLimits, [name]: until }
  return { ...state, control: { ...control, agentLimits, limited: control.limited + 1 } }
}

/** For a person who asks to continue: every agent is tried again, and limited sessions and idle jobs are counted from zero. */
export function resetWaits(control: Control): Control {
  return { ...control, notBefore: null, agentLimits: {}, limited: 0, idleJobs: 0 }
}

function isLimited({ agentLimits }: Control, name: string, now: number): boolean {
  return (agentLimits[name] ?? 0) > now
}

export const FIX_AGENT = "check the agent's program, key or login, account and model, then run again"

/** A judge or planner could not work: its vendor is at a limit (the other agent is next), or a person has to fix something. */
export function recordAgentUnavailable(
  state: State,
  answer: { kind: 'limit'; notBefore: number | null } | { kind: 'refused'; message: string; fix?: string },
  limits: Limits,
  { at, usage }: { at: number; usage: Usage },
): State {
  if (answer.kind === 'refused') return haltWithError(state, answer.message, answer.fix ?? FIX_AGENT)
  // The agent of a session was chosen when it began.
  const which = chooseAgent(state, limits, at - usage.agentSeconds * 1000)
  return withAgentLimit(state, which, limits, answer.notBefore, at)
}
