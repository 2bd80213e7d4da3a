// Settings as the loop counts them: limits, leases, and what gates there are.
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

/** Without a gate that blocks every change would pass: that has to be said outright. Throws UserError. */
export function refuseUngated(settings: Settings): void {
  if (settings.ungated || settings.gates.some((gate) => !gate.advisory)) return
  const none = settings.surface === 'cli' ? '--gates none' : 'gates: none'
  throw new UserError({
    path: 'gates',
    found: settings.gates.length === 0 ? 'no gate' : 'advisory gates only',
    expected: 'at least one command that must exit 0 before a story passes',
    fix: `${gateExample(settings)}; or say outright that nothing is checked: ${none}`,
  })
}

/** For `gates: none`, on every surface that can warn. */
export const UNGATED_WARNING =
  'gates: none: no command checks what the agent makes; every change that it makes passes'

function gateExample({ surface }: Settings): string {
  return surface === 'cli'
    ? 'name one, such as --gate test="npm test", or gates: in ralph.config.yml'
    : "name one in the workflow, such as gates: 'test: npm test'"
}

export function limitsOf(settings: Settings): Limits {
  // Four jobs do one iteration.
  const iterationsPerJob = settings.isolation === 'separate-job' ? 1 : settings.iterationsPerJob
  return {
    iterationsPerJob,
    maxIterations: settings.maxIterations,
    maxJobs: maxJobs({ ...settings, iterationsPerJob }),
    maxAttempts: settings.maxAttempts,
    maxInterruptions: settings.maxInterruptions,
    iterationTimeoutMs: settings.iterationTimeoutMs,
    gatesMs: gatesMsOf(settings),
    maxCostUsd: settings.maxCostUsd,
    maxTokens: settings.maxTokens,
    maxAgentTimeMs: settings.maxAgentTimeMs,
    callsPerHour: settings.callsPerHour,
    breaker: settings.breaker,
    baseline: settings.baseline === 'require' && !settings.ungated,
    finalVerification: settings.finalVerification,
    // There the judge of a story's own change would have to be asked in a job that is over: it is reported.
    weakenedTests:
      settings.isolation === 'separate-job' && settings.weakenedTests === 'judge'
        ? 'warn'
        : settings.weakenedTests,
    requiresEvidence: settings.evidence === 'require',
    approvesPlans: settings.approve === 'auto',
    stopOnBlocked: settings.stopOnBlocked,
    agent: settings.agent,
    fallback: settings.fallbackAgent,
    models: settings.model,
    ...laddersOf(settings),
    waits: false,
    redispatch: settings.surface === 'action' && settings.redispatch,
    publishEach: settings.publish === 'story',
    // In CI workers are jobs of their own.
    maxParallel: settings.surface === 'cli' ? settings.maxParallel : 1,
  }
}

function laddersOf({ model, ladder }: Settings): Pick<Limits, 'ladders'> {
  const byTag = Object.entries(ladder)
  if (model.rungs === undefined && byTag.length === 0) return {}
  return { ladders: { run: model.rungs ?? [], byTag } }
}

/** What `Job.gatedTags` says of these gates. */
export function gatedTagsOf(settings: Settings): string[] | null {
  const blocking = configuredGates(settings).filter((gate) => !gate.advisory)
  if (blocking.some((gate) => gate.when === null)) return null
  return [...new Set(blocking.flatMap((gate) => gate.when ?? []))]
}

/** With every try of a gate, and the services, which come one behind the other. */
function gatesMsOf(settings: Settings): number {
  const servicesMs = settings.services.reduce((sum, service) => sum + service.readyTimeoutMs, 0)
  return configuredGates(settings).reduce(
    (sum, { timeoutMs, retries = 0 }) => sum + timeoutMs * (1 + retries),
    servicesMs,
  )
}

/** How long the jobs behind the claim job of one run may wait for a machine, in all, milliseconds. */
const QUEUE_MS = 2 * 3_600_000

export function leaseMsOf(settings: Settings): number {
  const prepareMs = settings.prepare === null ? 0 : PREPARE_TIMEOUT_MS
  // The lease holds while jobs wait for their machines.
  const isWave = settings.surface === 'action' && settings.maxParallel > 1
  const queuedMs = settings.isolation === 'separate-job' || isWave ? QUEUE_MS : 0
  // Steps behind the commit have an iteration's time once more.
  const afterMs = (settings.steps?.after.length ?? 0) === 0 ? 0 : settings.iterationTimeoutMs
  return queuedMs + leaseMs(settings.iterationTimeoutMs + afterMs, gatesMsOf(settings) + prepareMs)
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
