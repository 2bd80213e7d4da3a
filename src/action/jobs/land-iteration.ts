// The land job ends the iteration that the claim job began, with what the work and the gate job handed over.

import type { Workspace } from '../../app/workspace.ts'
import { refundAll } from '../../engine/attempts/attempt-events.ts'
import { takeOver } from '../../engine/attempts/lost-attempts.ts'
import { runJob } from '../../engine/driver.ts'
import { type HandedWork, inLanding } from '../../engine/executors/in-landing.ts'
import { hasCandidate } from '../../engine/model/attempt.ts'
import { openAttempt } from '../../engine/model/job.ts'
import type { Limits } from '../../engine/model/limit-types.ts'
import type { State } from '../../engine/model/state.ts'
import type { Step } from '../../engine/model/step.ts'
import { nextStep } from '../../engine/next-step.ts'
import { recordLostSession } from '../../engine/state/record-session.ts'
import { haltWithError } from '../../engine/state/state-updates.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { type JobRole, WHOLE_JOB } from './claim-iteration.ts'
import { type FromGate, type FromWork, type WorkEvent, workedIn } from './handover.ts'
import { hasPack, readPack } from './pack.ts'
import { createCleaner, takeEvents, unavailablePorts } from './taken-events.ts'

/**
 * What the other jobs handed over: null for a job that did not run, or whose hand-over is invalid. `cancelled`: the run was cancelled.
 * `artifact`: the name of the pack's artifact, if there are several.
 */
export type Received = { work: FromWork | null; gate: FromGate | null; cancelled: boolean; artifact: string }

/** A job that only concludes: what other jobs should have done is lost. */
export const NO_ITERATION: JobRole = {
  ...WHOLE_JOB,
  ports: unavailablePorts,
  run: (start, limits, ports) => runJob(start, limits, inLanding(limits, ports, 'lost', takeNothing)),
}

/** For a job that receives no further hand-over. */
export function takeNothing({ kind }: Step): Promise<never> {
  return Promise.reject(new Error(`the step ${kind} was not handed over`))
}

/**
 * Prepares the state and the job that ends the iteration. If a hand-over is missing or invalid, the iteration is lost; `warn` gets the
 * reason.
 */
export async function prepareLanding(
  state: State,
  received: Received,
  limits: Limits,
  { workspace, settings, warn }: { workspace: Workspace; settings: Settings; warn(message: string): void },
): Promise<{ state: State; role: JobRole }> {
  const { git, redactor } = workspace
  const { work } = received
  if (work?.mistake != null)
    return {
      state: endedByMistake(state, createCleaner(redactor.redact)(work.mistake)),
      role: NO_ITERATION,
    }
  if (!received.cancelled && (await lacksArtifact(git, work, received.artifact)))
    return { state: endedByArtifact(state, work), role: NO_ITERATION }
  const handed = handedFor(nextStep(state, limits, state.job.startedAt))
  // A candidate that was chosen and rebased has its session already.
  const attempt = openAttempt(state)
  const hasSession = attempt !== null && hasCandidate(attempt)
  const reason = await missingHandover(git, handed, received, hasSession)
  if (reason !== null) {
    warn(`the iteration is lost: ${reason}`)
    return { state: lostIteration(state, received), role: NO_ITERATION }
  }
  const role: JobRole = {
    ...NO_ITERATION,
    part: 'land',
    run(start, its, ports) {
      const take = takeEvents(received, { workspace, settings, limits: its, repository: ports.repository })
      return runJob(start, its, inLanding(its, ports, handed, take))
    },
  }
  return { state, role }
}

function handedFor({ kind }: Step): HandedWork {
  if (kind === 'judge-whole') return 'verify'
  if (kind === 'gate-join') return 'join'
  if (kind === 'gate-edit') return 'edit'
  const isNoAttempt =
    kind === 'baseline' || kind === 'join' || kind === 'edit' || kind === 'verify' || kind === 'plan'
  return isNoAttempt ? kind : 'attempt'
}

async function missingHandover(
  git: Workspace['git'],
  handed: HandedWork,
  received: Received,
  hasSession: boolean,
): Promise<string | null> {
  const { work, gate, cancelled, artifact } = received
  if (cancelled) return 'the run was cancelled'
  const session = workedIn(work)?.session
  const needsSession = handed === 'attempt' && !hasSession
  if (work === null && (needsSession || handed === 'verify' || handed === 'plan'))
    return 'the work job gave no result'
  if (needsSession && session === undefined) return 'the work job gave no result of a session'
  const needsNoGates = handed === 'plan' || (needsSession && session?.status !== 'finished')
  if (gate === null && !needsNoGates) return 'the gate job gave no result'
  return work?.sha256 == null ? null : readPack(git, work.sha256, artifact)
}

/** No session began: the attempt is given back, and a person has to fix the mistake that the work job reported. */
function endedByMistake(state: State, summary: string): State {
  const halted = { kind: 'error' as const, summary, fix: 'fix what it says, then run again' }
  return { ...refundAll(state, 'limit', summary), job: { ...state.job, halted } }
}

/** What people read if a session succeeded and its changes did not arrive. */
export const NO_ARTIFACT = {
  summary: 'the session finished, but the other jobs did not get the artifact with its changes',
  fix: 'check the upload step of the work job and the download steps of the other jobs, then run again. The usual cause is a full artifact storage quota',
}

/** Whether the work job handed over a session with changes whose artifact is not here. */
export async function lacksArtifact(
  git: Workspace['git'],
  work: FromWork | null,
  artifact: string,
): Promise<boolean> {
  return work !== null && workedIn(work) !== null && work.sha256 !== null && !(await hasPack(git, artifact))
}

/** The next session would be lost as well, so the chain ends. The story is not blamed, and what was used is charged. */
function endedByArtifact(state: State, work: FromWork | null): State {
  const attempt = openAttempt(state)
  const usage = workedIn(work)?.session.usage
  const charged = attempt === null || usage === undefined ? state : recordLostSession(state, attempt, usage)
  const refunded = refundAll(charged, 'limit', NO_ARTIFACT.summary)
  return haltWithError(refunded, NO_ARTIFACT.summary, NO_ARTIFACT.fix)
}

/** Charges a judge or planner, whose result is lost with the iteration. */
function withJudgePaid(state: State, event: WorkEvent | null): State {
  switch (event?.kind) {
    case 'verified':
      return recordLostSession(state, null, event.usage, 'verify')
    case 'planned':
      return recordLostSession(state, null, event.plan.usage, 'plan')
    default:
      return state
  }
}

/** The attempt is given back. What its session and a judge used is charged; if that is unknown, an estimate is. */
function lostIteration(state: State, { work, cancelled }: Received): State {
  const halted = cancelled ? { kind: 'interrupted' as const } : null
  const job = { ...state.job, halted }
  const attempt = openAttempt(state)
  const judged = withJudgePaid(state, work?.event ?? null)
  if (attempt === null) return { ...judged, job }
  const usage = workedIn(work)?.session.usage
  if (usage === undefined) return { ...takeOver(judged), job }
  const charged = recordLostSession(judged, attempt, usage)
  const refunded = refundAll(charged, cancelled ? 'interrupted' : 'lost', 'the iteration did not finish')
  return { ...refunded, job }
}
