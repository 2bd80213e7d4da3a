// The claim job begins an iteration and hands it over; the other jobs find the iteration by that hand-over.
import * as core from '@actions/core'
import type { Workspace } from '../../app/workspace.ts'
import type { HandedOver } from '../../engine/loop.ts'
import type { AgentPort, GatesPort, StorePort } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import { type Part, stepsOf } from '../../engine/model/step.ts'
import type { GitHubReporter } from '../../github/reporter.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { UserError } from '../../system/errors.ts'
import { unavailablePorts } from './handed-over-ports.ts'
import { EXAMPLE, type FromClaim, writeHandover } from './handover.ts'
import type { WaveJob } from './wave-jobs.ts'

/** What a job does of the loop: the ports that replace agent and gates, its part of `separate-job`, and its part of a wave. */
export type JobRole = {
  ports: { agent?: AgentPort; gates?: GatesPort }
  part: Part | null
  wave: WaveJob | null
}

export const WHOLE_JOB: JobRole = { ports: {}, part: null, wave: null }
/** The claim job does every step that needs neither the agent nor code of the repository. */
export const CLAIM_JOB: JobRole = { ports: unavailablePorts, part: 'claim', wave: null }

/** `separate-job` needs its four commands, and they need `separate-job`. Throws UserError where one comes without the other. */
export function refuseWrongPart(settings: Settings, isPart: boolean): void {
  if ((settings.isolation === 'separate-job') === isPart) return
  throw new UserError({
    path: isPart ? 'isolation' : 'input command',
    found: isPart ? settings.isolation : (settings.command ?? 'auto'),
    expected: isPart ? 'separate-job' : 'claim, work, gate or land',
    fix: `copy ${EXAMPLE}: separate-job takes four jobs, each with a command of its own`,
  })
}

/** The workers' names for a matrix, as JSON: `["1","2","3"]`. */
function workersOf({ workers }: NonNullable<State['job']['wave']>): string {
  return JSON.stringify(Array.from({ length: workers }, (_, at) => `${at + 1}`))
}

/** Saves the state, and names the next job. GitHub is waited for last: this job may be killed meanwhile. */
export async function handOver(
  handedOver: HandedOver,
  base: string,
  { store, reporter }: { store: Pick<StorePort, 'save'>; reporter: Pick<GitHubReporter, 'handedOver'> },
): Promise<void> {
  await store.save(handedOver.state)
  for (const [name, value] of Object.entries(claimOutputs(handedOver, base))) core.setOutput(name, value)
  await reporter.handedOver()
}

/** The outputs of the claim job, by name. `next`: which job runs next. The lease is kept. */
function claimOutputs({ step, state }: HandedOver, base: string): Record<string, string> {
  const { folder, feature, branch } = state
  return {
    handover: writeHandover({ folder, nonce: state.lease?.nonce ?? '', base }),
    next: stepsOf('work')(step) ? 'work' : 'gate',
    feature,
    branch,
    ...(state.job.wave === undefined ? {} : { workers: workersOf(state.job.wave) }),
  }
}

/**
 * The state of the iteration that the claim job of this run began, with its commits fetched; null where its lease is no longer
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
  const { lease, job, green } = found.state
  if (lease?.nonce !== claim.nonce || lease.runId !== runId) return null
  await store.fetch([green], 'tip')
  if (job.branch.kind === 'moved') await store.fetch([job.branch.head, green], 'whole')
  const now = Date.now()
  return { ...found.state, job: { ...job, startedAt: now, deadline: now + jobMs } }
}
