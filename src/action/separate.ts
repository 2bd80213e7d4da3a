// `isolation: separate-job`: four jobs do one iteration, each by the same loop (see jobs/). `claim` and `land` have the token that
// writes, and run no code of the repository (work-job.ts). `work` and `gate` run here, with a token that can only read.

import * as core from '@actions/core'
import { limitsOf } from '../app/loop-limits.ts'
import { createPorts, gatesPort } from '../app/loop-ports.ts'
import { withOwnPort } from '../app/own-port.ts'
import type { Workspace } from '../app/workspace.ts'
import { byWorker } from '../engine/executors/in-turn.ts'
import { assignedWorker } from '../engine/model/attempt.ts'
import { openAttempt } from '../engine/model/job.ts'
import type { Observer, Ports } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { type Part, STEPS, stepsOf } from '../engine/model/step.ts'
import { nextStep } from '../engine/next-step.ts'
import { stateForStep } from '../engine/parallel/state-for-step.ts'
import { moveClone } from '../git/clone.ts'
import type { Live } from '../report/terminal/live-lines.ts'
import type { Settings } from '../settings/read-settings.ts'
import { checksOfPart, refuseBlocked } from '../setup/checks/check-table.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { newMark } from '../system/process.ts'
import type { ActionContext } from './action-context.ts'
import { claimedState, type JobRole, refuseWrongPart } from './jobs/claim-iteration.ts'
import { claimOf, type FromClaim, gateOf, nonceOf, outputOf, workerOf, workOf } from './jobs/handover.ts'
import { NO_ITERATION, prepareLanding } from './jobs/land-iteration.ts'
import { gateInTrain, landMatrix, type OfWorker } from './jobs/matrix-jobs.ts'
import { packArtifact, readPack } from './jobs/pack.ts'
import { NO_JUDGE, type Take, takeEvents } from './jobs/taken-events.ts'
import {
  gateExecutor,
  mistakeHandover,
  type PartResult,
  type PartRun,
  runGate,
  runWork,
} from './jobs/work-and-gate.ts'
import {
  checkInputs,
  clearUploads,
  createJobPorts,
  openJob,
  settleFiles,
  withChoices,
  withCredentialsHidden,
} from './open.ts'
import { artifactName, type Log, logTimed, saveForPost } from './runner.ts'

const WHERE_DONE = { work: 'done by the work job', gate: 'done by the gate job' }

/** The log of a job that takes some steps from other jobs. `part`: the part that it does itself; null for all. */
export function jobLog(live: Live, part: Part | null): Observer {
  let isTaken = false
  return {
    // The session's result is in the log of the job that ran it. Here it would look like a second session.
    event: async (event, state) => {
      if (!isTaken || event.kind !== 'worked') await live.event(event, state)
    },
    async step(step, state) {
      const { by } = STEPS[step.kind]
      isTaken = part !== null && by !== null && by !== part
      if (!isTaken || by === null) return live.step(step, state)
      const attempt =
        'attempt' in step ? `${step.attempt.storyId}, iteration ${step.attempt.iteration}: ` : ''
      live.say(`[${step.kind}] ${attempt}${WHERE_DONE[by]}`)
    },
  }
}

/** The land job of examples/ralph-separate.yml has 30 minutes: waiting to dispatch the next run has to end before. */
const LANDING_MS = 25 * 60_000

/** What the land job has to land, or why there is nothing to land. */
export async function readLanding(
  context: ActionContext,
  workspace: Workspace,
  settings: Settings,
): Promise<{ state: State; role: JobRole } | { neutral: string }> {
  const { env } = context
  const claim = claimOf(env)
  const isMatrix = claim.workers !== undefined
  const jobMs = Math.min(settings.jobDeadlineMs, LANDING_MS)
  const state = await claimedState(workspace, claim, context.run.id, jobMs)
  if (state === null)
    return { neutral: 'nothing to do: this iteration has already landed, or another run has taken over' }
  const limits = limitsOf(await withChoices(context, workspace, settings, state))
  const cancelled = env.RALPH_CANCELLED === 'true'
  const warn = core.warning
  if (isMatrix && openAttempt(state) !== null) {
    const tools = { workspace, settings, cancelled, warn, receivedFrom: receivedBy(context, claim) }
    return {
      state,
      role: {
        ...NO_ITERATION,
        part: 'land',
        most: settings.maxParallel,
        run: (from, its, ports) => landMatrix(from, its, ports, tools),
      },
    }
  }
  const received = receivedBy(context, claim)(isMatrix ? '1' : null)
  return prepareLanding(state, { ...received, cancelled }, limits, { workspace, settings, warn })
}

/** What the jobs of a worker handed over, or (null) those of the only one. */
function receivedBy({ env, run }: ActionContext, claim: FromClaim): (worker: string | null) => OfWorker {
  return (worker) => ({
    work: workOf(env, claim, worker),
    gate: gateOf(env, claim, worker),
    artifact: packArtifact(run, worker),
  })
}

/** Runs the agent, or the gates, of the iteration that the claim job began. Its only result is the hand-over. */
export async function runPart(
  part: 'work' | 'gate',
  context: ActionContext,
  log: Log,
  signal: AbortSignal,
): Promise<{ neutral: string }> {
  try {
    return await withCredentialsHidden(context, (secrets) => doPart(part, context, secrets, log, signal))
  } catch (error) {
    if (part === 'work' && error instanceof UserError) {
      const claim = claimOf(context.env)
      const worker = workerOf(context.env, claim)
      core.setOutput(outputOf(worker), mistakeHandover(nonceOf(claim, worker), messageOf(error)))
    }
    throw error
  }
}

async function doPart(
  part: 'work' | 'gate',
  context: ActionContext,
  secrets: readonly string[],
  log: Log,
  signal: AbortSignal,
): Promise<{ neutral: string }> {
  const claim = claimOf(context.env)
  const worker = workerOf(context.env, claim)
  const refuse = (settings: Settings) => {
    refuseWrongPart(settings, true)
  }
  const open = () => openJob(context, secrets, { at: claim.base, refuse })
  const opened = await logTimed(log, 'reading the checkout and the settings', open)
  const { settings } = opened
  using workspace = opened.workspace
  await refuseBlocked(checkInputs(context, opened, opened.base.sha), checksOfPart(part))
  const { git, repository, snapshot } = workspace
  const claimed = await claimedState(workspace, claim, context.run.id, settings.jobDeadlineMs)
  if (claimed === null) return { neutral: 'nothing to do: another run has taken over this feature' }
  const attempt = byWorker(claimed).find((one) => assignedWorker(one) === worker)
  const inTrain = worker !== null && openAttempt(claimed) !== null
  if (inTrain && part === 'work' && attempt?.phase !== 'reserved')
    return { neutral: 'nothing to do: this worker has no session to run' }
  const state =
    part === 'work' && attempt !== undefined ? stateForStep({ kind: 'agent' }, claimed, attempt) : claimed
  clearUploads(workspace)
  const chosen = await withChoices(context, workspace, settings, state)
  const limits = limitsOf(chosen)
  const received = receivedBy(context, claim)
  const { work } = received(worker)
  const needsWork = !inTrain && stepsOf('work')(nextStep(state, limits, Date.now()))
  if (part === 'gate' && worker !== null && needsWork && work === null)
    return { neutral: 'nothing to do: the work job gave no result' }
  const job = { context, workspace, settings: chosen, log, signal, as: null }
  const { live, options } = createJobPorts(job, limits, newMark())
  // Only the gate job runs the browser check; gates that a step of the work job asks for run without it.
  const partPorts =
    part === 'gate'
      ? { agent: NO_JUDGE }
      : {
          gates: gatesPort({
            ...options,
            env: await withOwnPort(options.env),
            settings: { ...chosen, browser: null },
          }),
        }
  await using ports = await createPorts({ ...options, observers: [jobLog(live, part)], ...partPorts })
  const name = worker === null ? part : `${part}-${worker}`
  saveForPost({ artifact: artifactName(state.feature, context.run, name) })
  await repository.checkOut(state.green, null)
  await moveClone(git, snapshot, state.branch, state.green, [])
  const its: PartRun = {
    state,
    limits,
    ports: withoutSaving(ports),
    workspace,
    nonce: nonceOf(claim, worker),
    settle: () => settleFiles(workspace),
  }
  const tools = { workspace, settings, receivedFrom: received }
  const doIt = async (): Promise<PartResult> => {
    if (part === 'work') return runWork(its)
    if (worker !== null && inTrain) return gateInTrain(its, worker, tools)
    return runGate(its, gateExecutor(its, await takeFrom(received(worker), its, tools)))
  }
  const { handover, summary } = await doIt()
  core.setOutput(outputOf(worker), handover)
  return { neutral: summary }
}

/** The events of the work job, with the objects of its changes in this clone. */
async function takeFrom(
  { work, artifact }: OfWorker,
  { limits, ports, workspace }: PartRun,
  { settings }: { settings: Settings },
): Promise<Take> {
  const reason = work?.sha256 == null ? null : await readPack(workspace.git, work.sha256, artifact)
  if (reason !== null) throw new Error(reason)
  return takeEvents({ work, gate: null }, { workspace, settings, limits, repository: ports.repository })
}

/** The ports of a job that only reads: saving the state does nothing. */
function withoutSaving(ports: Ports): Ports {
  return { ...ports, store: { ...ports.store, save: async () => {} } }
}
