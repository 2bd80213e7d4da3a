// What a pipeline does next, and what a step's end means for it: decisions as data. Pure.
import type { AgentStep, Circuits, Pipeline, PipelineStep, SessionStep } from '../model/pipeline.ts'
import type { SessionBounds } from '../model/ports.ts'
import type { Failure, Session } from '../model/state.ts'
import { addUsage, emptyUsage, type Usage } from '../model/usage.ts'
import { wentWell } from './work.ts'

type Ended = Pick<Session, 'status' | 'message' | 'resetsAt'> &
  Partial<Pick<Session, 'detail' | 'pause' | 'hints'>>

/** How far a list of steps has come. Times are epoch milliseconds. */
export type Progress = {
  /** The step that is next, and how often it was tried. */
  at: number
  tries: number
  notBefore: number
  deadline: number
  circuits: Circuits
  sessions: readonly Session[]
  /** Of these, those of another agent or model than the run's. */
  others: NonNullable<Session['others']>
  /** The newest failure that ended nothing: whoever works next is told. */
  failed: Failure | null
  ended: Ended | null
}

export const CANCELLED: Ended = { status: 'interrupted', message: 'cancelled', resetsAt: null }

export type Tried =
  | { kind: 'ok' }
  | { kind: 'failed'; summary: string; detail: string }
  /** A condition that people set up: the run ends here. */
  | { kind: 'ends-run'; reason: string }

export type Move =
  | { kind: 'try'; step: PipelineStep; tries: number; bounds: SessionBounds }
  | { kind: 'wait'; step: PipelineStep; ms: number }
  /** Its circuit is open: it is left out. */
  | { kind: 'rest'; step: PipelineStep; until: number }
  | { kind: 'end'; why: Ended | null }

export function begin(deadline: number, circuits: Circuits): Progress {
  return {
    at: 0,
    tries: 0,
    notBefore: 0,
    deadline,
    circuits,
    sessions: [],
    others: [],
    failed: null,
    ended: null,
  }
}

/** Total: every progress leads to `end` in at most 2 x (maxRetries + 1) moves a step (test/unit/loop). */
export function nextMove(
  steps: readonly PipelineStep[],
  progress: Progress,
  bounds: Omit<SessionBounds, 'timeoutMs'>,
  now: number,
): Move {
  const { at, tries, notBefore, deadline, circuits, sessions, ended } = progress
  const step = steps[at]
  if (ended !== null || step === undefined) return { kind: 'end', why: ended }
  const until = step.circuit === null ? null : (circuits[step.name]?.until ?? null)
  if (until !== null && until > now && tries === 0) return { kind: 'rest', step, until }
  if (now >= deadline)
    return { kind: 'end', why: failure(`the iteration's time was over before step ${step.name}`) }
  if (tries > 0 && notBefore > now) return { kind: 'wait', step, ms: Math.min(notBefore, deadline) - now }
  const budget = budgetAfter(bounds.budget, usageOf(sessions))
  if (step.type === 'agent' && sessions.length > 0 && isSpent(budget)) {
    const message = `before step ${step.name} what the run may spend was used up`
    return { kind: 'end', why: { status: 'interrupted', message, resetsAt: null } }
  }
  const timeoutMs = Math.min(step.timeoutMs ?? Number.POSITIVE_INFINITY, deadline - now)
  return { kind: 'try', step, tries, bounds: { ...bounds, budget, timeoutMs } }
}

/** A step that rests is passed over; where nobody is left to do the story's work, it is waited for. */
export function rested(
  steps: readonly PipelineStep[],
  progress: Progress,
  step: PipelineStep,
  until: number,
): Progress {
  if (step.type !== 'agent' || worksLater(steps, progress) || hasWorked(progress)) return passed(progress)
  const message = `step ${step.name} rests after ${progress.circuits[step.name]?.failures} failures in a row`
  return { ...progress, ended: { status: 'overloaded', message, resetsAt: until } }
}

/** After a try of a step that is no session. */
export function tried(progress: Progress, step: PipelineStep, result: Tried, now: number): Progress {
  switch (result.kind) {
    case 'ok':
      return passed(mended(progress, step))
    case 'ends-run': {
      const { reason } = result
      return { ...progress, ended: { status: 'interrupted', message: reason, resetsAt: null, pause: reason } }
    }
    case 'failed': {
      const { summary, detail } = result
      if (progress.tries < step.maxRetries)
        return { ...progress, tries: progress.tries + 1, notBefore: now + step.retryDelayMs }
      return failedStep(progress, step, `step ${step.name}: ${summary}`, detail, now)
    }
  }
}

/**
 * After a session. One that the vendor, the account or a person ended is not the step's to try again, and the steps go on
 * without one only where another does the story's work.
 */
export function worked(
  steps: readonly PipelineStep[],
  progress: Progress,
  ran: AgentStep,
  session: Session,
  now: number,
): Progress {
  const { status, message, resetsAt, hints } = session
  const isDone = hasWorked(progress)
  const step = { ...ran, continueOnError: ran.continueOnError && (isDone || worksLater(steps, progress)) }
  const isOther = step.agent !== null || step.model !== null
  const { agent, model } = step
  const others = isOther ? [...progress.others, { agent, model, usage: session.usage }] : progress.others
  const seen = { ...progress, others, sessions: [...progress.sessions, session] }
  switch (status) {
    case 'finished': {
      if (wentWell(session)) return passed(mended({ ...seen, failed: null }, step))
      const why = hints.stuck ?? 'it says that it is not done'
      const told = `step ${step.name}: ${why}`
      if (step.continueOnError) return failedStep(seen, step, told, '', now)
      // Who comes after another one judges its work.
      if (progress.sessions.length > 0) return { ...seen, ended: failure(told) }
      return { ...seen, ended: { status, message, resetsAt, hints } }
    }
    case 'failed':
      return tried(seen, step, { kind: 'failed', summary: message, detail: '' }, now)
    case 'limit':
    case 'overloaded':
      if (step.continueOnError && isDone)
        return failedStep(seen, step, `step ${step.name}: ${message}`, '', now)
  }
  return { ...seen, ended: { status, message: `step ${step.name}: ${message}`, resetsAt } }
}

/** One session of all that the steps had: what each used counts, and the first that did not go well speaks for all. */
export function foldSessions({ sessions, others }: Progress, ended: Ended | null): Session {
  const last = sessions.at(-1)
  const done = sessions.some(({ hints }) => hints.done)
  return {
    status: 'finished',
    message: last?.message ?? '',
    resetsAt: null,
    hints: { done, notDone: false, stuck: null },
    ...ended,
    usage: usageOf(sessions),
    learnings: sessions.flatMap(({ learnings }) => learnings),
    ...(others.length === 0 ? {} : { others }),
  }
}

/** What the first session of the run is called, and every other. */
export function sessionStep(
  pipeline: Pipeline,
  step: Extract<PipelineStep, { type: 'agent' }>,
  tries: number,
): SessionStep {
  const isFirst = pipeline.before.find(({ type }) => type === 'agent') === step
  const log = `${isFirst ? '' : `-${fileWord(step.name)}`}${tries === 0 ? '' : `-again-${tries}`}`
  const { name, model, args, prompt } = step
  return { name, model, args, prompt, log }
}

export function fileWord(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 40)
}

function failedStep(
  progress: Progress,
  step: PipelineStep,
  summary: string,
  detail: string,
  now: number,
): Progress {
  const failures = (progress.circuits[step.name]?.failures ?? 0) + 1
  const { circuit } = step
  const until = circuit === null || failures < circuit.threshold ? null : now + circuit.resetAfterMs
  const circuits =
    circuit === null ? progress.circuits : { ...progress.circuits, [step.name]: { failures, until } }
  const counted = { ...progress, circuits }
  if (step.continueOnError) return passed({ ...counted, failed: { kind: 'session', summary, detail } })
  return { ...counted, ended: { ...failure(summary), detail } }
}

function failure(message: string): Ended {
  return { status: 'failed', message, resetsAt: null }
}

function mended(progress: Progress, { name }: PipelineStep): Progress {
  if (progress.circuits[name] === undefined) return progress
  const { [name]: _closed, ...circuits } = progress.circuits
  return { ...progress, circuits }
}

function hasWorked({ sessions }: Progress): boolean {
  return sessions.some(wentWell)
}

function worksLater(steps: readonly PipelineStep[], { at }: Progress): boolean {
  return steps.slice(at + 1).some(({ type }) => type === 'agent')
}

function passed(progress: Progress): Progress {
  return { ...progress, at: progress.at + 1, tries: 0, notBefore: 0 }
}

function usageOf(sessions: readonly Session[]): Usage {
  return sessions.reduce((sum, { usage }) => addUsage(sum, usage), emptyUsage())
}

type Budget = SessionBounds['budget']

function budgetAfter({ costUsd, tokens }: Budget, used: Usage): Budget {
  return {
    costUsd: costUsd === null ? null : costUsd - used.costUsd,
    tokens: tokens === null ? null : tokens - used.inputTokens - used.outputTokens,
  }
}

function isSpent({ costUsd, tokens }: Budget): boolean {
  return (costUsd !== null && costUsd <= 0) || (tokens !== null && tokens <= 0)
}
