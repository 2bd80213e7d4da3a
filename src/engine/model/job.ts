// Initial values of a run and its jobs, and queries about a job.
import { type Attempt, isInLane } from './attempt.ts'
import type { Conclusion, Control, Ending, Job, State } from './state.ts'

/** Times are epoch milliseconds. */
export function newJob(startedAt: number, deadline: number, gatedTags: string[] | null = null): Job {
  return {
    startedAt,
    deadline,
    gatedTags,
    counts: { iterations: 0, begun: 0, joins: 0, forFeature: 0 },
    ready: { synced: false, prepared: false, opened: false },
    branch: { kind: 'ours' },
    takesBranch: false,
    halted: null,
    ending: null,
  }
}

export function emptyControl(): Control {
  return {
    paused: null,
    granted: { iterations: 0, costUsd: 0 },
    notBefore: null,
    agentLimits: {},
    guidance: {},
    lastComment: 0,
    calls: [],
    idleJobs: 0,
    jobsBefore: 0,
    limited: 0,
    continuePending: false,
    mendedRun: null,
    chosen: {},
    scope: null,
    anew: false,
  }
}

/** The attempt whose work is in the checkout itself, not in its own work tree. */
export function attemptInCheckout({ attempts }: Pick<State, 'attempts'>): Attempt | null {
  return Object.values(attempts).find((attempt) => !isInLane(attempt)) ?? null
}

/** The attempts at a story that are in progress: several if they make candidates to choose from. */
export function attemptsAt({ attempts }: Pick<State, 'attempts'>, storyId: string): Attempt[] {
  return Object.values(attempts).filter((attempt) => attempt.storyId === storyId)
}

export function openAttempt({ attempts }: Pick<State, 'attempts'>): Attempt | null {
  return Object.values(attempts)[0] ?? null
}

/** The error that halted the job before its outcome was decided, or null. */
export function haltError({ job }: Pick<State, 'job'>): { summary: string; fix: string } | null {
  return job.halted?.kind === 'error' ? job.halted : null
}

/** The ending of a job whose outcome has just been decided; `at` is epoch milliseconds. */
export function newEnding(conclusion: Conclusion, at: number): Ending {
  return { conclusion, at, published: false, more: false, next: { kind: 'open' }, reported: false }
}

/** The state with this conclusion, or (null) as if the job were at work. */
export function withConclusion(state: State, conclusion: Conclusion | null): State {
  const before = state.job.ending ?? (conclusion === null ? null : newEnding(conclusion, 0))
  const ending = before === null || conclusion === null ? null : { ...before, conclusion }
  return { ...state, job: { ...state.job, ending } }
}

/** Whether this job has finished starting the next one, or has given up. */
export function isDispatched({ ending }: Pick<Job, 'ending'>): boolean {
  return ending !== null && ending.next.kind !== 'open' && ending.next.kind !== 'limited'
}

export function isGated({ gatedTags }: Pick<Job, 'gatedTags'>, tags: readonly string[]): boolean {
  return gatedTags === null || tags.some((tag) => gatedTags.includes(tag))
}

/** Whether the run has no gate at all: `gates: none`. */
export function isUngated({ gatedTags }: Pick<Job, 'gatedTags'>): boolean {
  return gatedTags?.length === 0
}
