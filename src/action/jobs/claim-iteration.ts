// The claim job begins an iteration and hands it over; the other jobs find the iteration by that hand-over.

import * as core from '@actions/core'
import type { Workspace } from '../../app/workspace.ts'
import { type HandedOver, type JobEnd, runJob } from '../../engine/driver.ts'
import { inCheckout } from '../../engine/executors/in-checkout.ts'
import { assignedWorker } from '../../engine/model/attempt.ts'
import type { Limits } from '../../engine/model/limit-types.ts'
import type { AgentPort, GatesPort, Ports, StorePort } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import { type Part, stepsOf } from '../../engine/model/step.ts'
import type { GitHubReporter } from '../../github/reporter.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { UserError } from '../../system/errors.ts'
import { EXAMPLE, type FromClaim, writeHandover } from './handover.ts'
import { unavailablePorts } from './taken-events.ts'
import { runWaveJob, type WaveJob } from './wave-jobs.ts'

/** What a job does of a run. */
export type JobRole = {
  /** Instead of an agent and gates, if the job runs none. */
  ports: { agent?: AgentPort; gates?: GatesPort }
  /** Its part of `separate-job`; null for a job that does everything. */
  part: Part | null
  /** Its part of a wave; null for none. */
  wave: WaveJob | null
  /** How many stories it claims or lands at the same time; null: one, in a workflow without matrices. */
  most: number | null
  /** Null for a worker of a wave: the join job reports its story. */
  run(start: State, limits: Limits, ports: Ports): Promise<JobEnd | HandedOver | null>
}

export const WHOLE_JOB: JobRole = {
  ports: {},
  part: null,
  wave: null,
  most: null,
  run: (start, limits, ports) => runJob(start, limits, inCheckout(limits, ports)),
}
/** The claim job does every step that needs neither the agent nor code of the repository. */
export const CLAIM_JOB: JobRole = {
  ...WHOLE_JOB,
  ports: unavailablePorts,
  part: 'claim',
  run: (start, limits, ports) => runJob(start, limits, inCheckout(limits, ports, stepsOf('claim'))),
}

/** A job of a wave. */
export function waveRole(wave: WaveJob): JobRole {
  return { ...WHOLE_JOB, wave, run: (start, limits, ports) => runWaveJob(start, limits, ports, wave) }
}

/** `separate-job` needs its four commands, and they need `separate-job`. Throws UserError if one comes without the other. */
export function refuseWrongPart(settings: Settings, isPart: boolean): void {
  if ((settings.isolation === 'separate-job') === isPart) return
  throw new UserError({
    path: isPart ? 'isolation' : 'input command',
    found: isPart ? settings.isolation : (settings.command ?? 'auto'),
    expected: isPart ? 'separate-job' : 'claim, work, gate or land',
    fix: `copy ${EXAMPLE}: separate-job needs four jobs, each with its own command`,
  })
}

/** The workers' names for a matrix: `1`, `2`, `3`. */
function workersOf({ workers }: NonNullable<State['job']['wave']>): string[] {
  return Array.from({ length: workers }, (_, at) => `${at + 1}`)
}

/** Saves the state, and names the next job. GitHub is waited for last: this job may be killed meanwhile. */
export async function handOver(
  handedOver: HandedOver,
  base: string,
  isMatrix: boolean,
  { store, reporter }: { store: Pick<StorePort, 'save'>; reporter: Pick<GitHubReporter, 'handedOver'> },
): Promise<void> {
  await store.save(handedOver.state)
  for (const [name, value] of Object.entries(claimOutputs(handedOver, base, isMatrix)))
    core.setOutput(name, value)
  await reporter.handedOver()
}

/**
 * The outputs of the claim job, by name. `next`: which job runs next; `sessions`: of the workers, those that run one before the gates.
 * The lease is kept.
 */
function claimOutputs({ step, state }: HandedOver, base: string, isMatrix: boolean): Record<string, string> {
  const { folder, feature, branch, job } = state
  const next = stepsOf('work')(step) ? 'work' : 'gate'
  const workers = job.wave === undefined ? [] : workersOf(job.wave)
  const open = Object.values(state.attempts)
  const isBusy = (name: string) =>
    open.length === 0 ||
    open.some((attempt) => assignedWorker(attempt) === name && attempt.phase === 'reserved')
  const sessions = next === 'work' ? workers.filter(isBusy) : []
  const claim = { folder, nonce: state.lease?.nonce ?? '', base }
  return {
    handover: writeHandover(isMatrix ? { ...claim, workers } : claim),
    next,
    feature,
    branch,
    ...(workers.length === 0 ? {} : { workers: JSON.stringify(workers) }),
    ...(isMatrix ? { sessions: JSON.stringify(sessions) } : {}),
  }
}

/**
 * The state of the iteration that the claim job of this run began, with its commits fetched; null if its lease is no longer
 * held. Start and deadline are those of the job that calls this.
 */
export async function claimedState(
  { store }: Workspace,
  claim: FromClaim,
  runId: number,
  jobMs: number,
): Promise<State | null> {
  const found = await store.load(claim.folder.replace(/^\.ralph\//, ''))
  if (found === null) return null
  const { lease, green } = found.state
  // Each job builds an edit of the branch itself: the commit is only in the clone of the claim job.
  const { editing, ...job } = found.state.job
  if (lease?.nonce !== claim.nonce || lease.runId !== runId) return null
  await store.fetch([green], 'tip')
  if (job.branch.kind === 'moved' || job.branch.kind === 'joining')
    await store.fetch([job.branch.head, green], 'whole')
  if (editing?.edit.kind === 'update') await store.fetch([editing.edit.theirs, green], 'whole')
  const now = Date.now()
  return { ...found.state, job: { ...job, startedAt: now, deadline: now + jobMs } }
}
