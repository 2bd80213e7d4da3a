// The loop's limits, the lease and the gated tags, computed from the settings.
import { hostname } from 'node:os'
import { leaseMs } from '../engine/lease.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { Lease } from '../engine/model/state.ts'
import { PREPARE_TIMEOUT_MS } from '../gates/gates.ts'
import { maxJobs, type Settings } from '../settings/read-settings.ts'
import { UserError } from '../system/errors.ts'
import { newMark } from '../system/process.ts'
import { processStart } from '../system/process-table.ts'
import { configuredGates } from './browser-gate.ts'

/** Without a blocking gate every change would pass, so a person has to ask for that (`gates: none`). Throws UserError. */
export function refuseUngated(settings: Settings): void {
  if (settings.ungated || settings.gates.some((gate) => !gate.advisory)) return
  const none = settings.surface === 'cli' ? '--gates none' : 'gates: none'
  throw new UserError({
    path: 'gates',
    found:
      settings.gates.length === 0
        ? 'there are no gates: a story would pass as soon as the agent says that it is done.'
        : 'every gate is advisory: a story would pass as soon as the agent says that it is done.',
    expected: '',
    fix: `${gateExample(settings)}. To run without any check: ${none}`,
  })
}

/** Shown for `gates: none`. */
export const UNGATED_WARNING =
  '`gates: none` means that no command checks the work: everything the agent calls done passes'

function gateExample({ surface }: Settings): string {
  return surface === 'cli'
    ? 'ralph init finds your tests; or name a gate, such as --gate test="npm test"'
    : "name one in the workflow, such as gates: 'test: npm test'"
}

export function limitsOf(settings: Settings): Limits {
  // With `separate-job`, four jobs together do one iteration.
  const iterationsPerJob = settings.isolation === 'separate-job' ? 1 : settings.iterationsPerJob
  return {
    iterationsPerJob,
    maxIterations: settings.maxIterations,
    maxJobs: maxJobs({ ...settings, iterationsPerJob }),
    maxAttempts: settings.maxAttempts,
    maxCorrections: settings.maxCorrections,
    maxInterruptions: settings.maxInterruptions,
    iterationTimeoutMs: settings.iterationTimeoutMs,
    gatesMs: gatesMsOf(settings),
    maxCostUsd: settings.maxCostUsd,
    maxTokens: settings.maxTokens,
    maxAgentTimeMs: settings.maxAgentTimeMs,
    callsPerHour: settings.callsPerHour,
    breaker: settings.breaker,
    baseline: settings.baseline !== 'off' && !settings.ungated,
    recordsBaseline: recordsBaseline(settings),
    finalVerification: settings.finalVerification,
    // At `separate-job` only the work job could ask a judge, and it has ended before the gates run. So weakened tests are only reported.
    weakenedTests:
      settings.isolation === 'separate-job' && settings.weakenedTests === 'judge'
        ? 'warn'
        : settings.weakenedTests,
    needsProof: settings.needsProof,
    ...newDependenciesOf(settings),
    evidence: settings.evidence,
    ...(settings.examples === 'sealed' ? { sealsExamples: true as const } : {}),
    approvesPlans: settings.approve === 'auto',
    stopOnBlocked: settings.stopOnBlocked,
    ...(settings.surface === 'action' && settings.checks === 'wait' ? { waitsForChecks: true as const } : {}),
    ...(settings.surface === 'action' && settings.approvals > 0 ? { approvals: settings.approvals } : {}),
    ...(settings.surface === 'action' && settings.updateBase !== 'off'
      ? { updateBase: settings.updateBase }
      : {}),
    agent: settings.agent,
    fallback: settings.fallbackAgent,
    models: settings.model,
    ...laddersOf(settings),
    ...candidatesOf(settings),
    waits: false,
    redispatch: settings.surface === 'action' && settings.redispatch,
    publishEach: settings.publish === 'story',
    // In CI each worker is its own job.
    maxParallel: settings.surface === 'cli' ? settings.maxParallel : 1,
  }
}

/** At `separate-job` no judge can be asked: the work job has ended when the change is known. */
function newDependenciesOf({ newDependencies, isolation }: Settings): Pick<Limits, 'newDependencies'> {
  const isAskable = isolation !== 'separate-job' || newDependencies !== 'ask'
  return newDependencies === 'show' || !isAskable ? {} : { newDependencies }
}

function laddersOf({ model, ladder }: Settings): Pick<Limits, 'ladders'> {
  const byTag = Object.entries(ladder)
  if (model.rungs === undefined && byTag.length === 0) return {}
  return { ladders: { run: model.rungs ?? [], byTag } }
}

function candidatesOf({ candidates }: Settings): Pick<Limits, 'candidates'> {
  const byTag = Object.entries(candidates.byTag)
  if (candidates.run === 1 && byTag.every(([, count]) => count === 1)) return {}
  return { candidates: { ...candidates, byTag } }
}

/** The value of `Job.gatedTags` for these settings: null if a blocking gate runs for every story. */
export function gatedTagsOf(settings: Settings): string[] | null {
  const blocking = configuredGates(settings).filter((gate) => !gate.advisory)
  if (blocking.some((gate) => gate.when === null)) return null
  return [...new Set(blocking.flatMap((gate) => gate.when ?? []))]
}

/** At `separate-job` the baseline takes a run of jobs, so it only runs if it has to be green. Otherwise the first story's gate job does it. */
function recordsBaseline({ weakenedTests, ungated, isolation }: Settings): boolean {
  return weakenedTests !== 'off' && !ungated && isolation !== 'separate-job'
}

/** The longest time of all gates, in milliseconds: with every retry, and with services that start one after the other. */
function gatesMsOf(settings: Settings): number {
  const servicesMs = settings.services.reduce((sum, service) => sum + service.readyTimeoutMs, 0)
  return configuredGates(settings).reduce(
    (sum, { timeoutMs, retries = 0 }) => sum + timeoutMs * (1 + retries),
    servicesMs,
  )
}

/** How long the jobs after the claim job may wait for machines, in total. Milliseconds. */
const QUEUE_MS = 2 * 3_600_000

/** The sessions that may write a glue for one change, and the time of all runs of one, milliseconds. */
const GLUES = 2
const GLUE_RUNS_MS = 15 * 60_000

export function leaseMsOf(settings: Settings): number {
  const prepareMs = settings.prepare === null ? 0 : PREPARE_TIMEOUT_MS
  // The lease has to last while jobs wait for their machines.
  const isWave = settings.surface === 'action' && settings.maxParallel > 1
  const queuedMs = settings.isolation === 'separate-job' || isWave ? QUEUE_MS : 0
  // Steps after the commit have the time of one more iteration.
  const afterMs = (settings.steps?.after.length ?? 0) === 0 ? 0 : settings.iterationTimeoutMs
  const examplesMs =
    settings.examples === 'off' ? 0 : GLUES * (settings.iterationTimeoutMs + GLUE_RUNS_MS) + prepareMs
  const sessionsMs = settings.iterationTimeoutMs + afterMs + examplesMs
  return queuedMs + leaseMs(sessionsMs, gatesMsOf(settings) + prepareMs)
}

export async function leaseFor(
  settings: Settings,
  now: number,
  run: { id: number; attempt: number; url: string } | null,
): Promise<Omit<Lease, 'nonce'>> {
  return {
    holder: run === null ? `${hostname()}:${process.pid}` : `run ${run.id}.${run.attempt}`,
    expiresAt: now + leaseMsOf(settings),
    runId: run?.id ?? null,
    runAttempt: run?.attempt ?? null,
    url: run?.url ?? null,
    host: hostname(),
    pid: process.pid,
    startTime: (await processStart(process.pid)) ?? '',
    mark: newMark(),
  }
}
