// One job of a chain: claims the feature, works its batch, publishes, dispatches the next job, reports.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import * as core from '@actions/core'
import { claim, FeatureHeld, Superseded } from '../app/claim-feature.ts'
import { readEarlierRuns } from '../app/earlier-runs.ts'
import { annotationsByStory } from '../app/finding-places.ts'
import { SAME_USER_WARNING } from '../app/isolation.ts'
import { gatedTagsOf, leaseFor, limitsOf } from '../app/loop-limits.ts'
import { createPorts } from '../app/loop-ports.ts'
import { issueNumberIn } from '../app/plan-request.ts'
import { pictureUris } from '../app/report-pictures.ts'
import { requireSeal, sealState } from '../app/seal-examples.ts'
import { requireSigner } from '../app/sign-commits.ts'
import type { Workspace } from '../app/workspace.ts'
import { createStackBranches } from '../branch/stack-branches.ts'
import { changesByStory } from '../branch/story-changes.ts'
import { withStarter } from '../engine/corrections/approvals.ts'
import { withTimeOf } from '../engine/journal.ts'
import { isExpired } from '../engine/lease.ts'
import { newJob, openAttempt } from '../engine/model/job.ts'
import type { Conclusion, Lease, State } from '../engine/model/state.ts'
import { describeValue, mapTexts } from '../engine/model/text.ts'
import { moveClone } from '../git/clone.ts'
import { connect, type GitHub } from '../github/client.ts'
import { Conversation } from '../github/conversation.ts'
import type { AnswerContext } from '../github/corrections/answer-corrections.ts'
import { createHearing } from '../github/corrections/hearing.ts'
import type { ReviewRules } from '../github/corrections/threads.ts'
import { createDispatch, findWorkflowRun } from '../github/dispatch.ts'
import { Checks } from '../github/post-checks.ts'
import { findPull } from '../github/pull.ts'
import { GitHubReporter } from '../github/reporter.ts'
import { Stack } from '../github/stack/stack.ts'
import { outputsOf } from '../report/outputs.ts'
import { jobSummary } from '../report/sticky-comment.ts'
import type { Facts, View } from '../report/view.ts'
import type { Settings } from '../settings/read-settings.ts'
import { templatesOf } from '../setup/checks/check-repository.ts'
import { checksOfPart, refuseBlocked } from '../setup/checks/check-table.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { clearPathTo, replaceFile } from '../system/files.ts'
import { markOfPart } from '../system/process.ts'
import { type ActionContext, actionSettings, ensureWorkflow, nonEmpty, tokenOf } from './action-context.ts'
import type { RunEvent } from './github-event.ts'
import {
  CLAIM_JOB,
  claimedState,
  handOver,
  type JobRole,
  refuseWrongPart,
  WHOLE_JOB,
  waveRole,
} from './jobs/claim-iteration.ts'
import { claimOf, WAVE_EXAMPLE } from './jobs/handover.ts'
import { claimMatrix } from './jobs/matrix-jobs.ts'
import { PARALLEL_EXAMPLE, refuseNoWave, type WaveJob, waveLimits } from './jobs/wave-jobs.ts'
import {
  checkInputs,
  clearUploads,
  createJobPorts,
  type Job,
  openJob,
  refusedConnections,
  refuseFeatureName,
  refuseFeatureRef,
  settleFiles,
  withChoices,
  withCredentialsHidden,
  withIsolation,
} from './open.ts'
import { findIssue, findPlanRequest, replyUnplanned } from './requested-plan.ts'
import { artifactName, type Log, logTimed, saveForPost, setOutputs, writeSummary } from './runner.ts'
import { jobLog, readLanding } from './separate.ts'

export type WorkResult = { state: State; conclusion: Conclusion } | { neutral: string }

/** Settings that a person may choose at kick-off by an input of the workflow; the trust boundary is not among them. */
const CHOICES = [
  ...['max-iterations', 'iterations-per-job', 'max-attempts', 'max-cost-usd', 'max-tokens', 'max-agent-time'],
  ...['model', 'instructions'],
]

/** Inputs that choose a part of the feature. The state keeps the stories that they stand for. */
const SCOPE = ['stories', 'epic']

/**
 * The whole of a job, or a part of it. `claim` and `land` hold the lease of `isolation: separate-job`. `claim`, `worker` and
 * `join` are the jobs of a wave.
 */
export type WorkingJob = 'whole' | 'claim' | 'land' | 'worker' | 'join'

type Dispatch = Extract<RunEvent, { kind: 'dispatch' }>
type Parts = Job & { github: GitHub; base: { branch: string; sha: string } }

export function work(
  context: ActionContext,
  log: Log,
  signal: AbortSignal,
  part: WorkingJob,
): Promise<WorkResult> {
  refuseFeatureRef(context, context.inputs['branch-prefix']?.trim() || 'ralph/')
  refuseFeatureName(context)
  const handover = part === 'whole' || part === 'claim' ? null : claimOf(context.env)
  // However this job ends, its post step releases the claim job's lease. A worker does not, because all workers share that lease.
  if (handover !== null && part !== 'worker') saveForPost({ folder: handover.folder, nonce: handover.nonce })
  return withCredentialsHidden(context, async (secrets) => {
    const { event } = context
    if (event.kind !== 'dispatch') throw new Error('only workflow_dispatch works')
    const refuse = (settings: Settings) => refuseWrongJob(settings, part)
    const open = () => openJob(context, secrets, { at: handover?.base ?? null, refuse })
    const opened = await logTimed(log, 'reading the checkout and the settings', open)
    const { settings, base } = opened
    using workspace = opened.workspace
    warnOfParallel(context, settings, part)
    if (part === 'land') await refuseBlocked(checkInputs(context, opened, base.sha), checksOfPart('land'))
    const warn = (message: string) => core.warning(workspace.redactor.redact(message))
    const connected = connect(context.place, tokenOf(context), warn)
    const github = { ...connected, commanders: async () => settings.commandsFrom }
    if (settings.redispatch) await ensureWorkflow(context, github)
    const job = { context, workspace, settings, log, signal }
    return await withIsolation(job, (as) => {
      const parts = { ...job, as, github, base }
      if (part === 'land') return landAndGoOn(parts)
      return part === 'worker' || part === 'join' ? runInWave(parts, part) : claimAndWork(parts, event, part)
    })
  })
}

/** Throws UserError if the workflow has other jobs than the settings ask for. */
function refuseWrongJob(settings: Settings, part: WorkingJob): void {
  const isWave = part === 'worker' || part === 'join' || (part === 'claim' && claimsWave(settings))
  if (isWave) refuseNoWave(settings)
  else refuseWrongPart(settings, part !== 'whole')
}

/** Warns if `max-parallel` is set, and this workflow works on one story at a time. */
function warnOfParallel({ env }: ActionContext, settings: Settings, part: WorkingJob): void {
  if (part === 'whole' && claimsWave(settings))
    core.warning(
      `max-parallel has no effect: this workflow works on one story at a time. For several, copy ${PARALLEL_EXAMPLE}`,
    )
  if (part !== 'claim' || settings.maxParallel === 1 || claimsWave(settings)) return
  const { RALPH_WORKERS: workers } = env
  if (workers === undefined)
    core.warning(
      `max-parallel has no effect: this workflow works on one story at a time. For several, copy ${WAVE_EXAMPLE}`,
    )
  else if (settings.maxParallel > Number(workers))
    core.warning(
      `max-parallel is ${settings.maxParallel}, but the workflow has only ${workers} workers, so Ralph uses ${workers}`,
    )
}

function claimsWave({ isolation, maxParallel }: Settings): boolean {
  return isolation !== 'separate-job' && maxParallel > 1
}

async function claimAndWork(parts: Parts, event: Dispatch, part: 'whole' | 'claim'): Promise<WorkResult> {
  const { context, workspace, settings, github, base, log } = parts
  // Only a kick-off asks for a plan: a job that continues works on the stories of the plan.
  const isPlan = event.generation === null && [settings.command, event.inputs.command].includes('plan')
  // The choices are validated before the state keeps them. The name of a plan is as well: it becomes a folder and a branch.
  const { settings: choices } = await actionSettings(
    context,
    (path) => workspace.repository.read(base.sha, path),
    pickInputs(event.inputs, [...CHOICES, ...SCOPE, ...(isPlan ? ['feature'] : [])]),
  )
  const role = roleOf(part, context, settings)
  const now = Date.now()
  const today = new Date(now).toISOString().slice(0, 10)
  const feature = settings.feature ?? event.feature
  const number = issueNumberIn(feature)
  const issue = number === null ? null : await findIssue(github, number)
  let claimed: Awaited<ReturnType<typeof claim>>
  try {
    const kickoff = { feature, issue, isPlan, base: base.sha, today, settings }
    const planRequest = await findPlanRequest(github, workspace, kickoff)
    const request: Parameters<typeof claim>[1] = {
      feature,
      planRequest,
      branchPrefix: settings.branchPrefix,
      base,
      workTree: null,
      generation: event.generation,
      lease: await leaseFor(settings, now, context.run),
      isAlive: async (lease) => !isExpired(lease, Date.now()) && (await isRunAlive(github, context, lease)),
      job: newJob(now, now + settings.jobDeadlineMs, gatedTagsOf(settings)),
      chosen: pickInputs(event.inputs, CHOICES),
      scope: choices,
      // On GitHub the holder's machine is gone, or its post step has ended its processes.
      endOrphansOf: async () => {},
      prepareState: async (state) => {
        const scope = event.generation === null ? choices : { stories: [], epic: null }
        const scoped = { ...parts, settings: { ...settings, stories: scope.stories, epic: scope.epic } }
        const names = part === 'claim' && !claimsWave(settings) ? checksOfPart('claim') : undefined
        await refuseBlocked(checkInputs(context, scoped, state.green, state), names)
        await workspace.repository.checkOut(state.green, null)
        await workspace.repository.rememberIgnored()
        requireSeal(settings, workspace.seal)
        await requireSigner(settings, workspace.signer)
        return sealState(state, workspace.seal)
      },
      today,
      landsWaiting: role.most !== null,
      firstComment: async (branch) => {
        const pull = await findPull(github, branch)
        return pull === null ? 0 : new Conversation(github).newestComment(pull.number)
      },
    }
    claimed = await logTimed(log, 'taking the lease', () => claim(workspace, request))
  } catch (error) {
    if (issue !== null) await replyUnplanned(github, issue.number, error, workspace.redactor.redact)
    if (error instanceof FeatureHeld || error instanceof Superseded) return { neutral: error.message }
    throw error
  }
  for (const note of claimed.notes) core.notice(note)
  clearUploads(workspace)
  const isKickOff = event.generation === null && event.sender.type === 'User'
  const state = isKickOff ? withStarter(claimed.state, event.sender.login) : claimed.state
  return await workOn(state, parts, role)
}

/** The role of a job that claims a feature. Throws UserError. */
function roleOf(part: 'whole' | 'claim', { env }: ActionContext, settings: Settings): JobRole {
  if (part === 'whole') return WHOLE_JOB
  if (claimsWave(settings)) return waveRole({ kind: 'claim' })
  const found = env.RALPH_WORKERS
  if (found === undefined) return CLAIM_JOB
  const workers = /^\d{1,3}$/.test(found) ? Number(found) : 0
  if (workers >= 1) return { ...CLAIM_JOB, most: Math.min(settings.maxParallel, workers), run: claimMatrix }
  throw new UserError({
    path: 'env RALPH_WORKERS',
    found: describeValue(found),
    expected: 'the number of workers that the workflow has outputs for',
    fix: `copy ${WAVE_EXAMPLE}`,
  })
}

/** The job of a worker of the wave, or the join job that ends the wave. */
async function runInWave(parts: Parts, part: 'worker' | 'join'): Promise<WorkResult> {
  const { context, workspace, settings } = parts
  const { env, run } = context
  const claimed = await claimedState(workspace, claimOf(env), run.id, settings.jobDeadlineMs)
  // If a person re-runs single jobs, the claim job is not run again: then this job does nothing.
  if (claimed === null || claimed.lease?.runAttempt !== run.attempt)
    return { neutral: 'nothing to do: the wave is over, or another run has taken over' }
  await refuseBlocked(checkInputs(context, parts, claimed.green, claimed))
  const { git, repository, snapshot, store } = workspace
  const state = withTimeOf(await store.loadNewest(claimed), claimed.job)
  await repository.checkOut(state.green, null)
  await moveClone(git, snapshot, state.branch, state.green, [])
  await repository.rememberIgnored()
  clearUploads(workspace)
  const wave: WaveJob =
    part === 'worker'
      ? { kind: 'worker', name: workerName(env.RALPH_WORKER) }
      : { kind: 'join', isCancelled: env.RALPH_CANCELLED === 'true' }
  return await workOn(state, parts, waveRole(wave))
}

/** The non-empty inputs of these names. */
function pickInputs(all: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(nonEmpty(all)).filter(([name]) => names.includes(name)))
}

/** The land job: takes what work and gate job handed over, and ends the iteration that the claim job began. */
async function landAndGoOn(parts: Parts): Promise<WorkResult> {
  const landing = await readLanding(parts.context, parts.workspace, parts.settings)
  return 'neutral' in landing ? landing : workOn(landing.state, parts, landing.role)
}

/** The worker's name, which becomes part of the state and of the artifact's name. Throws UserError. */
function workerName(found = ''): string {
  if (/^\w{1,20}$/.test(found)) return found
  throw new UserError({
    path: 'env RALPH_WORKER',
    found: describeValue(found),
    expected: 'one of the workers in the output `workers` of the claim job',
    fix: `copy ${PARALLEL_EXAMPLE}`,
  })
}

async function workOn(start: State, parts: Parts, role: JobRole): Promise<WorkResult> {
  const { context, workspace, github, signal, as } = parts
  const { wave } = role
  if (wave?.kind !== 'worker') saveForPost({ folder: start.folder, namespace: parts.settings.stateNamespace })
  const settings = await withChoices(context, workspace, parts.settings, start)
  if (role.part !== 'land') {
    const { notes } = await templatesOf(checkInputs(context, { ...parts, settings }, start.green))
    for (const note of notes) core.notice(note)
  }
  const limits = wave === null ? { ...limitsOf(settings), maxParallel: role.most ?? 1 } : waveLimits(settings)
  const conversation = new Conversation(github)
  const { publishToken } = settings
  const { redact } = workspace.redactor
  const publisher = publishToken === null ? github : connect(context.place, publishToken, github.warn)
  const branches = createStackBranches(workspace)
  const reporter = new GitHubReporter({
    github,
    publisher,
    conversation,
    checks: new Checks(github, settings.reportAs, start.feature),
    pullRequest: settings.pullRequest === 'stacked' ? 'draft' : settings.pullRequest,
    stack: settings.pullRequest === 'stacked' ? new Stack({ github, publisher, branches, redact }) : null,
    limits,
    agentsSection: settings.agentsMd === 'section',
    runUrl: context.run.url,
    head: wave?.kind === 'worker' ? start.github.head : null,
    earlier: await readEarlierRuns(workspace.objects, start.base.sha, start.folder),
    redact,
    places: (state) => annotationsByStory(workspace.git, state),
    changes: (state) => changesByStory(workspace.git, state),
    touches: touchesIn(workspace),
    namesRedChecks: settings.checks === 'report',
    autoMerge: settings.autoMerge,
    notes: () =>
      [settings.isolation === 'same-user' ? SAME_USER_WARNING : null, refusedConnections(as)].filter(
        (note) => note !== null,
      ),
  })
  // Workers may share a machine. With its own mark, a worker ends the processes that it left, and no other worker's.
  const mark = start.lease?.mark ?? ''
  const ownMark = wave?.kind === 'worker' ? markOfPart(mark, `worker${wave.name}`) : mark
  const { live, options } = createJobPorts({ ...parts, settings }, limits, ownMark)
  saveForPost({ artifact: artifactName(start.feature, context.run, partName(role)) })
  await using ports = await createPorts({
    ...options,
    observers: [jobLog(live, role.part), reporter],
    pullRequest: reporter,
    queue: conversation,
    ...(wave?.kind === 'worker' ? {} : { corrections: hearingOf(parts, settings, conversation) }),
    dispatch: createDispatch(github, context.workflow),
    ...role.ports,
  })
  const result = await role.run(start, limits, ports).finally(() => settleFiles(workspace))
  context.settings = null
  if (result === null) return { neutral: 'nothing to do: there is no story left for this worker' }
  if ('step' in result) {
    await handOver(result, parts.base.sha, role.most !== null, { store: ports.store, reporter })
    const attempt = openAttempt(result.state)
    const handedOver =
      attempt === null ? result.step.kind : `${attempt.storyId}, iteration ${attempt.iteration}`
    return { neutral: `passed to the next job: ${handedOver} (${settings.agent})` }
  }
  const { state, conclusion } = result
  if (!reporter.isReported()) saveForPost({ unreported: 'true' })
  const summary = workspace.redactor.redact(jobSummary(reporter.view(state)))
  const folder = context.env.RUNNER_TEMP ?? workspace.clone.gitDir
  const summaryPath = await writeSummary(folder, `ralph-${state.feature}`, summary)
  // A cancelled job may have no time to write the report: the outputs are set first.
  if (signal.aborted) setOutputs(outputsOf(state, conclusion.outcome, summaryPath))
  const reportPath = await writeReport(workspace, state, (places) => reporter.view(state, places))
  const attestation = await writeAttestation(workspace, state, settings)
  setOutputs(outputsOf(state, conclusion.outcome, reportPath ?? summaryPath, attestation))
  return { state, conclusion }
}

/** Reads reviews and checks. Workers of a wave do not: the jobs before and after them do. */
function hearingOf({ github, workspace }: Parts, settings: Settings, conversation: Conversation) {
  return createHearing({
    github,
    conversation,
    reviews: reviewRules(settings),
    approvals: settings.approvals > 0,
    checks: { waits: settings.checks === 'wait', names: settings.requiredChecks },
    redact: workspace.redactor.redact,
  })
}

/** The people whose review threads count; null: no one's. */
function reviewRules({ reviews, reviewsFrom, isolation }: Settings): ReviewRules | null {
  if (reviews === 'off') return null
  // At `separate-job` the job that reads threads runs no agent, so a worker's session answers as well.
  const answers = isolation !== 'separate-job'
  return { mention: reviews === 'writers' ? null : reviews, bots: reviewsFrom, answers }
}

/** Whether a commit changes lines of a file: lines that were there before it, or new ones right there. */
function touchesIn({ repository, store }: Workspace): AnswerContext['touches'] {
  return async (commit, path, lines) => {
    // A job that answers for an earlier one has only the newest commit.
    await store.fetch([commit], 'whole')
    const [removed, written] = [
      await repository.changedLines(commit, `${commit}^`),
      await repository.changedLines(`${commit}^`, commit),
    ]
    const [before, after] = [removed.get(path), written.get(path)]
    if (lines === null) return before !== undefined || after !== undefined
    const isNear = (line: number) => line >= lines.from && line <= lines.to + 1
    return (before ?? []).some((line) => isNear(line) && line <= lines.to) || (after ?? []).some(isNear)
  }
}

/** The job's part in the name of its artifact. */
function partName({ part, wave }: JobRole): string {
  return wave?.kind === 'worker' ? `worker-${wave.name}` : (part ?? wave?.kind ?? 'whole')
}

/** The report of a job, alongside its transcripts: the file's path; null, with a warning, if it could not be written. */
async function writeReport(
  { clone, git, store, redactor }: Workspace,
  state: State,
  viewWith: (places: NonNullable<Facts['annotations']>) => View,
): Promise<string | null> {
  try {
    const html = await import(/* webpackChunkName: "report" */ '../report/html/report-page.ts')
    const view = viewWith(await annotationsByStory(git, mapTexts(state, redactor.redact)).catch(() => ({})))
    const read = (blob: string) => store.readScreenshot(blob)
    const pictures = await pictureUris(html.pictureBlobs(view), read, html.MAX_PICTURES)
    const path = join(clone.gitDir, 'ralph', 'report', `${state.feature}.html`)
    await clearPathTo(clone.gitDir, path)
    await replaceFile(path, html.renderReport(view, pictures))
    return path
  } catch (error) {
    core.warning(`Ralph could not write the report: ${redactor.redact(messageOf(error))}`)
    return null
  }
}

/**
 * Writes what the run attests about its newest commit, next to the report. `subject` is the commit as git stores it: anyone who has
 * the commit can make this file again, and so find the attestation.
 */
async function writeAttestation(
  { clone, objects, redactor }: Workspace,
  state: State,
  { gates }: Settings,
): Promise<{ path: string; subject: string } | null> {
  try {
    const { attestationOf } = await import(/* webpackChunkName: "report" */ '../report/attestation.ts')
    const tree = (await objects.root(state.green)) ?? ''
    const digest = (text: string) => createHash('sha256').update(text).digest('hex')
    const attested = mapTexts(attestationOf(state, { tree, gates, digest }), redactor.redact)
    const commit = await objects.contents(state.green)
    if (commit === null) throw new Error(`commit ${state.green} is missing`)
    const [path, subject] = ['attestation.json', 'commit'].map((end) =>
      join(clone.gitDir, 'ralph', 'report', `${state.feature}.${end}`),
    ) as [string, string]
    await clearPathTo(clone.gitDir, path)
    await clearPathTo(clone.gitDir, subject)
    await replaceFile(path, `${JSON.stringify(attested, null, 2)}\n`)
    await replaceFile(subject, commit)
    return { path, subject }
  } catch (error) {
    core.warning(`Ralph could not write the attestation: ${redactor.redact(messageOf(error))}`)
    return null
  }
}

/** Whether the run that holds the lease is at work; also true if GitHub does not say. The caller also checks the lease's time. */
async function isRunAlive(github: GitHub, { run }: ActionContext, lease: Lease): Promise<boolean> {
  if (lease.runId === null) return true
  // A re-run from the UI has the same run id: an earlier attempt of it is over.
  if (lease.runId === run.id && lease.runAttempt !== run.attempt) return false
  return (await findWorkflowRun(github, lease.runId))?.status !== 'completed'
}
