// Limits that conflict: each is valid by itself, but together they end a run too early or never.
import { limitsOf } from '../../app/loop-limits.ts'
import { formatDuration, pluralize } from '../../report/figures.ts'
import { maxJobs, type Settings } from '../../settings/read-settings.ts'
import { type CheckResult, faultResult, okResult, type Subject, warningResult } from './subject.ts'
import type { RalphJob, Role } from './workflow-file.ts'

/** Time that a job needs after its deadline to publish and clean up. */
const AFTER_MS = 10 * 60_000
const minutes = (ms: number) => Math.ceil(ms / 60_000)

export function checkLimits({ checkout, settings }: Subject): CheckResult[] {
  const ci = 'workspace' in checkout ? checkout.ci : null
  const inWorkflow =
    ci === null ? [] : [...jobConflicts(ci.settings, ci.file.jobs), ...conflicts(ci.settings)]
  const local = conflicts(settings).filter((one) => inWorkflow.every((other) => other.found !== one.found))
  const found = [...inWorkflow, ...local]
  return found.length > 0 ? found : [okResult('no contradictions')]
}

/** Roles of jobs that run whole iterations. */
const WHOLE_ITERATION_ROLES: ReadonlySet<Role> = new Set(['run', 'worker'])

/** Conflicts of the settings with the timeouts of the workflow's jobs. */
function jobConflicts(settings: Settings, jobs: readonly RalphJob[]): CheckResult[] {
  const { jobDeadlineMs: deadline, iterationTimeoutMs: session, iterationsPerJob: count } = settings
  const { gatesMs } = limitsOf(settings)
  const found: CheckResult[] = []
  // At separate-job, agent and gates have a job each.
  for (const { id, role, timeoutMs } of jobs) {
    const ended = `job ${id} times out after ${formatDuration(timeoutMs)}`
    const workMs = role === 'work' ? session : role === 'gate' ? gatesMs : 0
    if (workMs >= timeoutMs) {
      const fix = `write timeout-minutes: ${minutes(workMs + AFTER_MS)}, or shorten ${role === 'work' ? 'iteration-timeout' : "the gates' timeouts"}`
      const text = `${ended}, but its work can take up to ${formatDuration(workMs)}`
      found.push(warningResult(text, '', fix))
    }
    // GitHub cancels a job at its time-out, which looks as if a person had done it: such a chain is not taken up again.
    if (WHOLE_ITERATION_ROLES.has(role) && deadline + AFTER_MS > timeoutMs) {
      const shorter = minutes(timeoutMs - AFTER_MS)
      const lower = shorter > 0 ? `, or job-deadline: ${shorter}m` : ''
      const fix = `write timeout-minutes: ${minutes(deadline + AFTER_MS)}${lower}`
      const grade = deadline >= timeoutMs ? faultResult : warningResult
      const text = `${ended}, and job-deadline is ${formatDuration(deadline)}: Ralph needs 10 minutes after the deadline to save its work`
      found.push(grade(text, '', fix))
    }
  }
  if (jobs.every(({ role }) => !WHOLE_ITERATION_ROLES.has(role))) return found
  if (session + gatesMs > deadline) {
    const text = `an iteration can take ${formatDuration(session + gatesMs)} with its gates, but job-deadline is ${formatDuration(deadline)}`
    const fix = "shorten iteration-timeout or the gates' timeouts, or raise job-deadline"
    found.push(warningResult(text, '', fix))
  }
  if (count * session > deadline) {
    const text = `${count} iterations of ${formatDuration(session)} can take ${formatDuration(count * session)}, but job-deadline is ${formatDuration(deadline)}`
    const fit = Math.max(1, Math.floor(deadline / session))
    const fix = `write iterations-per-job: ${fit}, or shorten iteration-timeout`
    found.push(warningResult(text, '', fix))
  }
  return found
}

/** Conflicts of the settings with each other. */
function conflicts(settings: Settings): CheckResult[] {
  const { maxJobs: jobs, maxIterations: iterations, iterationsPerJob: count } = settings
  const found: CheckResult[] = []
  if (jobs !== null && iterations > 0 && count > 0 && jobs * count < iterations) {
    const fix = `leave max-jobs out (then it is ${maxJobs({ ...settings, maxJobs: null })}), or raise iterations-per-job`
    const text = `${pluralize(jobs, 'job')} (max-jobs) with ${pluralize(count, 'iteration')} each can never reach max-iterations (${iterations})`
    found.push(warningResult(text, '', fix))
  }
  if (
    iterations === 0 &&
    [settings.maxCostUsd, settings.maxTokens, settings.maxAgentTimeMs].every((limit) => limit === null)
  ) {
    const text = 'max-iterations is 0, and nothing else ends the run'
    found.push(warningResult(text, '', 'set max-iterations or max-cost-usd'))
  }
  return found
}
