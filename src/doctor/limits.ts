// Limits that do not fit each other: each is fine by itself, and together they end a run where nobody meant it to end.

import { limitsOf } from '../app/limits.ts'
import { humanMs } from '../report/words.ts'
import { maxJobs, type Settings } from '../settings/index.ts'
import { fault, fine, type Result, warning } from './result.ts'
import type { Subject } from './subject.ts'
import type { RalphJob } from './workflow-file.ts'

/** What a job needs behind its deadline to put everything in order. */
const AFTER_MS = 10 * 60_000
const minutes = (ms: number) => Math.ceil(ms / 60_000)

/** A rule looks at settings, and in CI at the jobs that have them. */
type Rule = (settings: Settings, jobs: readonly RalphJob[]) => Result[]

const RULES: readonly Rule[] = [
  deadlines,
  handedOver,
  iterationInJob,
  batchInJob,
  jobsEnough,
  attempts,
  endless,
]

export function limits(subject: Subject): Result[] {
  const ci = 'workspace' in subject.checkout ? subject.checkout.ci : null
  const here = RULES.flatMap((rule) => rule(subject.settings, []))
  const there = ci === null ? [] : RULES.flatMap((rule) => rule(ci.settings, ci.file.jobs))
  const found = [...there, ...here.filter((one) => there.every((other) => other.found !== one.found))]
  return found.length > 0 ? found : [fine('they fit each other')]
}

/** GitHub cancels a job at its time-out, which looks as if a person had done it: such a chain is not taken up again. */
function deadlines({ jobDeadlineMs }: Settings, jobs: readonly RalphJob[]): Result[] {
  return jobs
    .filter(({ role, timeoutMs }) => role === 'run' && jobDeadlineMs + AFTER_MS > timeoutMs)
    .map(({ id, timeoutMs }) => {
      const found = `job ${id} is ended after ${humanMs(timeoutMs)}, and job-deadline is ${humanMs(jobDeadlineMs)}`
      const expected = 'a job-deadline 10 minutes under timeout-minutes'
      const shorter = minutes(timeoutMs - AFTER_MS)
      const lower = shorter > 0 ? `, or job-deadline: ${shorter}m` : ''
      const fix = `write timeout-minutes: ${minutes(jobDeadlineMs + AFTER_MS)}${lower}`
      return jobDeadlineMs >= timeoutMs ? fault(found, expected, fix) : warning(found, expected, fix)
    })
}

/** At separate-job, agent and gates have a job each. */
function handedOver(settings: Settings, jobs: readonly RalphJob[]): Result[] {
  const most = { work: settings.iterationTimeoutMs, gate: limitsOf(settings).gatesMs }
  return jobs.flatMap(({ id, role, timeoutMs }) => {
    if ((role !== 'work' && role !== 'gate') || most[role] < timeoutMs) return []
    const found = `job ${id} is ended after ${humanMs(timeoutMs)}, and its work may take ${humanMs(most[role])}`
    const fix = `write timeout-minutes: ${minutes(most[role] + AFTER_MS)}, or shorten what it does`
    return [warning(found, 'a job that is not ended before its work', fix)]
  })
}

function iterationInJob(settings: Settings, jobs: readonly RalphJob[]): Result[] {
  if (settings.surface === 'cli' || jobs.every(({ role }) => role !== 'run')) return []
  const { jobDeadlineMs, iterationTimeoutMs } = settings
  const most = iterationTimeoutMs + limitsOf(settings).gatesMs
  if (most <= jobDeadlineMs) return []
  const found = `an iteration may take ${humanMs(most)} with its gates, and job-deadline is ${humanMs(jobDeadlineMs)}`
  return [
    warning(
      found,
      'an iteration that fits its job',
      "shorten iteration-timeout or the gates' timeouts, or raise job-deadline",
    ),
  ]
}

function batchInJob(settings: Settings, jobs: readonly RalphJob[]): Result[] {
  const { iterationsPerJob, iterationTimeoutMs, jobDeadlineMs } = settings
  const most = iterationsPerJob * iterationTimeoutMs
  if (most <= jobDeadlineMs || jobs.every(({ role }) => role !== 'run')) return []
  const found = `${iterationsPerJob} iterations of ${humanMs(iterationTimeoutMs)} are ${humanMs(most)}, and job-deadline is ${humanMs(jobDeadlineMs)}`
  const fix = `write iterations-per-job: ${Math.max(1, Math.floor(jobDeadlineMs / iterationTimeoutMs))}, or shorten iteration-timeout`
  return [warning(found, 'iterations that fit a job', fix)]
}

function jobsEnough(settings: Settings): Result[] {
  const { maxJobs: given, maxIterations, iterationsPerJob } = settings
  if (given === null || iterationsPerJob === 0 || maxIterations === 0) return []
  if (given * iterationsPerJob >= maxIterations) return []
  const found = `max-jobs ${given} of ${iterationsPerJob} iterations end before max-iterations ${maxIterations}`
  const fix = `leave max-jobs out (${maxJobs({ ...settings, maxJobs: null })}), or raise iterations-per-job`
  return [warning(found, 'jobs for all iterations', fix)]
}

function attempts({ maxAttempts, maxIterations }: Settings): Result[] {
  if (maxIterations === 0 || maxAttempts <= maxIterations) return []
  const found = `max-attempts ${maxAttempts} is more than max-iterations ${maxIterations}`
  return [
    warning(found, 'iterations for all attempts on a story', 'lower max-attempts, or raise max-iterations'),
  ]
}

function endless(settings: Settings): Result[] {
  const { maxIterations, maxCostUsd, maxTokens, maxAgentTimeMs } = settings
  if (maxIterations > 0 || [maxCostUsd, maxTokens, maxAgentTimeMs].some((limit) => limit !== null)) return []
  return [
    warning(
      'max-iterations is 0, and nothing else ends the run',
      'a limit',
      'set max-iterations or max-cost-usd',
    ),
  ]
}
