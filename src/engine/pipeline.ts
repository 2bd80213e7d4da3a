// Runs the steps of a pipeline in order, with retries, the iteration's deadline and circuits. Pure except for its tools.

import { hasSucceeded } from './attempts/attempt-steps.ts'
import type { Failure, Session } from './model/attempt.ts'
import type { Circuits, PipelineStep, SessionStep } from './model/pipeline-step.ts'
import type { Clock, SessionBounds } from './model/ports.ts'
import { addUsage, emptyUsage, type Usage } from './model/usage.ts'

type StepsEnd = Pick<Session, 'status' | 'message' | 'resetsAt'> &
  Partial<Pick<Session, 'detail' | 'pause' | 'hints'>>

/** The result of all steps. */
export type PipelineResult = {
  circuits: Circuits
  sessions: Session[]
  /** The sessions with another agent or model than the run's. */
  others: NonNullable<Session['others']>
  /** Why further steps did not run; null if all did. */
  ended: StepsEnd | null
}

/** The result of a step that is not a session. */
export type StepOutcome =
  | { kind: 'ok' }
  | { kind: 'failed'; summary: string; detail: string }
  /** A condition that people configured: the run ends here. */
  | { kind: 'ends-run'; reason: string }

/** `failed`: the newest failure that did not end the attempt; the next session gets it. */
export type StepTry = { step: PipelineStep; tries: number; bounds: SessionBounds; failed: Failure | null }

export type PipelineTools = {
  clock: Clock
  signal: AbortSignal
  /** Tries a step once. */
  attempt(trial: StepTry): Promise<StepOutcome | Session>
  /** Reports progress. `agent`: that of the next session, if it is not the run's own. */
  report(text: string, agent?: string | null): void
}

/** `deadline` is epoch milliseconds. */
type Start = { deadline: number; circuits: Circuits; bounds: Omit<SessionBounds, 'timeoutMs'> }

const CANCELLED: StepsEnd = { status: 'interrupted', message: 'cancelled', resetsAt: null }

/** Runs each step, at most `maxRetries + 1` times and none after the deadline. */
export async function runPipelineSteps(
  steps: readonly PipelineStep[],
  start: Start,
  tools: PipelineTools,
): Promise<PipelineResult> {
  const run: PipelineRun = { ...start, ...tools, steps, sessions: [], others: [], failed: null }
  let ended: StepsEnd | null = null
  for (let at = 0; at < steps.length && ended === null; at += 1) ended = await runStep(at, run)
  if (ended !== null && tools.signal.aborted) ended = CANCELLED
  const { circuits, sessions, others } = run
  return { circuits, sessions, others, ended }
}

type PipelineRun = Start &
  PipelineTools &
  Omit<PipelineResult, 'ended'> & { steps: readonly PipelineStep[]; failed: Failure | null }

/** Runs a step; gives why the pipeline ends here, or null. */
async function runStep(at: number, run: PipelineRun): Promise<StepsEnd | null> {
  const { steps, deadline, clock, signal, report } = run
  const step = steps[at]
  if (signal.aborted || step === undefined) return CANCELLED
  const isWorkedOn =
    run.sessions.some(hasSucceeded) || steps.slice(at + 1).some(({ type }) => type === 'agent')
  const rest = step.circuit === null ? null : (run.circuits[step.name]?.until ?? null)
  if (rest !== null && rest > clock.now()) {
    report(`step ${step.name} is left out until ${new Date(rest).toISOString()}, because it failed too often`)
    if (step.type !== 'agent' || isWorkedOn) return null
    // No other step does the story's work, so the run waits for this one.
    const message = `step ${step.name} has failed ${run.circuits[step.name]?.failures} times in a row, so the run waits`
    return { status: 'overloaded', message, resetsAt: rest }
  }
  // The steps continue without a session only if another one does the story's work.
  const mayFail = step.continueOnError && (step.type !== 'agent' || isWorkedOn)
  for (let tries = 0; ; tries += 1) {
    const now = clock.now()
    if (now >= deadline) return failure(`the iteration ran out of time before step ${step.name}`)
    const budget = budgetAfter(run.bounds.budget, usageOf(run.sessions))
    if (step.type === 'agent' && run.sessions.length > 0 && isSpent(budget)) {
      const message = `the run had reached a limit before step ${step.name}`
      return { status: 'interrupted', message, resetsAt: null }
    }
    const agent = step.type === 'agent' ? step.agent : null
    const again = tries === 0 ? '' : `, try ${tries + 1}`
    report(`${at + 1} of ${steps.length}: ${step.name} (${agent ?? step.type}${again})`, agent)
    const timeoutMs = Math.min(step.timeoutMs ?? Number.POSITIVE_INFINITY, deadline - now)
    const bounds = { ...run.bounds, budget, timeoutMs }
    const result = await run.attempt({ step, tries, bounds, failed: run.failed })
    // A step that was cut short has not failed.
    if (signal.aborted && !('status' in result)) return CANCELLED
    const after = 'status' in result ? handleSession(step, result, mayFail, run) : result
    if (after === null || 'status' in after) return after
    if (after.kind === 'ok') {
      closeCircuit(step, run)
      return null
    }
    if (after.kind === 'ends-run')
      return { status: 'interrupted', message: after.reason, resetsAt: null, pause: after.reason }
    if (tries >= step.maxRetries) return failStep({ ...step, continueOnError: mayFail }, after, run)
    const ms = Math.min(step.retryDelayMs, deadline - clock.now())
    if (ms > 0 && !signal.aborted) {
      report(`Ralph tries step ${step.name} again in ${Math.ceil(ms / 1000)} s`)
      await clock.sleep(ms, signal)
    }
    if (signal.aborted) return CANCELLED
  }
}

/** The result of a session. One that the vendor, the account or a person ended is not tried again. */
function handleSession(
  ran: PipelineStep,
  session: Session,
  mayFail: boolean,
  run: PipelineRun,
): StepOutcome | StepsEnd | null {
  const { status, message, resetsAt, hints, usage } = session
  const isFirst = run.sessions.length === 0
  const isDone = run.sessions.some(hasSucceeded)
  const step = { ...ran, continueOnError: mayFail }
  run.sessions.push(session)
  if (ran.type === 'agent' && (ran.agent !== null || ran.model !== null))
    run.others.push({ agent: ran.agent, model: ran.model, usage })
  if (hasSucceeded(session)) {
    run.failed = null
    return { kind: 'ok' }
  }
  if (status === 'failed') return { kind: 'failed', summary: message, detail: '' }
  if (status === 'finished') {
    const why = hints.stuck ?? 'its session says that it is not done'
    if (mayFail) return failStep(step, { summary: why, detail: '' }, run)
    // A later session judges the work of an earlier one. Its judgement opens no circuit, or the next review would be left out.
    return isFirst ? { status, message, resetsAt, hints } : failure(`step ${step.name}: ${why}`)
  }
  const isLimited = status === 'limit' || status === 'overloaded'
  if (isLimited && mayFail && isDone) return failStep(step, { summary: message, detail: '' }, run)
  return { status, message: `step ${step.name}: ${message}`, resetsAt }
}

/** A step has failed for good: its circuit counts it. If it may fail, the next session gets the failure. */
function failStep(
  step: PipelineStep,
  why: { summary: string; detail: string },
  run: PipelineRun,
): StepsEnd | null {
  const { circuit, name, continueOnError } = step
  const summary = `step ${name}: ${why.summary}`
  if (circuit !== null) {
    const failures = (run.circuits[name]?.failures ?? 0) + 1
    const until = failures < circuit.threshold ? null : run.clock.now() + circuit.resetAfterMs
    run.circuits = { ...run.circuits, [name]: { failures, until } }
  }
  if (!continueOnError) return { ...failure(summary), detail: why.detail }
  run.failed = { kind: 'session', summary, detail: why.detail }
  run.report(`${name}: ${why.summary}; continues`)
  return null
}

function closeCircuit({ name }: PipelineStep, run: PipelineRun): void {
  if (run.circuits[name] === undefined) return
  const { [name]: _closed, ...circuits } = run.circuits
  run.circuits = circuits
}

function failure(message: string): StepsEnd {
  return { status: 'failed', message, resetsAt: null }
}

/** The sessions of all steps as one: their usage is added up, and the first that failed gives the status. */
export function foldSessions({ sessions, others, ended }: PipelineResult): Session {
  const done = sessions.some(({ hints }) => hints.done)
  const worker = sessions.findLast(({ summary }) => summary !== undefined)
  return {
    status: 'finished',
    message: sessions.at(-1)?.message ?? '',
    resetsAt: null,
    hints: { done, notDone: false, stuck: null },
    ...ended,
    usage: usageOf(sessions),
    learnings: sessions.flatMap(({ learnings }) => learnings),
    ...(worker?.summary === undefined ? {} : { summary: worker.summary }),
    ...(worker?.next === undefined ? {} : { next: worker.next }),
    ...(others.length === 0 ? {} : { others }),
  }
}

/** The session of a step. The first one of the pipeline has the attempt's own log name, every other a suffix. */
export function sessionStep(
  steps: readonly PipelineStep[],
  step: Extract<PipelineStep, { type: 'agent' }>,
  tries: number,
): SessionStep {
  const isFirst = steps.find(({ type }) => type === 'agent') === step
  const log = `${isFirst ? '' : `-${fileWord(step.name)}`}${tries === 0 ? '' : `-again-${tries}`}`
  const { name, model, args, prompt } = step
  return { name, model, args, prompt, log }
}

export function fileWord(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 40)
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
