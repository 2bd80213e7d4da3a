// One job of a chain: claims the feature, works its batch, publishes, dispatches the next job, reports.
import * as core from '@actions/core'
import { issueIn } from '../app/asked.ts'
import { refuseNoBrowser } from '../app/browser.ts'
import { claim, Held, Superseded } from '../app/claim.ts'
import { type Isolation, SAME_USER_WARNING } from '../app/isolation.ts'
import { gatedTagsOf, leaseFor, limitsOf } from '../app/limits.ts'
import { foundPlaces } from '../app/places.ts'
import { createPorts } from '../app/ports.ts'
import { refuseTemplates } from '../app/templates.ts'
import { refuseNoFolder, type Workspace } from '../app/workspace.ts'
import { refuseFiltered } from '../git/filters.ts'
import { Checks } from '../github/checks.ts'
import { connect, type GitHub } from '../github/client.ts'
import { Conversation } from '../github/conversation.ts'
import { createDispatch, runOf } from '../github/dispatch.ts'
import { findPull } from '../github/pull.ts'
import { GitHubReporter } from '../github/reporter.ts'
import { CLAIM, claimOutputs, type How, WHOLE } from '../jobs/claim.ts'
import { claimOf } from '../jobs/handover.ts'
import { expired } from '../loop/lease.ts'
import { loop } from '../loop/loop.ts'
import { newJob, openAttempt } from '../model/job.ts'
import { agentSteps } from '../model/pipeline.ts'
import type { Conclusion, Lease, State } from '../model/state.ts'
import { stepsOf } from '../model/step.ts'
import type { Wanted } from '../prd/scope.ts'
import { jobSummary } from '../report/markdown.ts'
import { outputsOf } from '../report/outputs.ts'
import type { Settings } from '../settings/index.ts'
import { Live } from '../terminal/live.ts'
import { keptApart, refusedBy, warnOfLess } from './apart.ts'
import { withCredentialsAside } from './aside.ts'
import { askedFor, findIssue, tellUnplanned } from './asked.ts'
import { type ActionContext, actionSettings, settleWorkflow, tokenOf } from './context.ts'
import type { RunEvent } from './event.ts'
import type { Log } from './log.ts'
import {
  clearUploads,
  openJob,
  pick,
  refuseFeatureName,
  refuseFeatureRef,
  settleFiles,
  withChoices,
} from './open.ts'
import type { Places } from './report.ts'
import { artifactName, giveOutputs, giveSummary, remember } from './runner.ts'
import { logOf, takeHandover } from './separate.ts'

export type Worked = { state: State; conclusion: Conclusion } | { neutral: string }

/** Settings that a person may choose at kick-off by an input of the workflow; the trust boundary is not among them. */
const CHOICES = [
  'max-iterations',
  'iterations-per-job',
  'max-attempts',
  'max-cost-usd',
  'max-tokens',
  'max-agent-time',
  'model',
  'instructions',
]

/** What of the feature is worked on, which the state keeps as what it means. */
const PART = ['stories', 'epic']

/** The whole of a job, or one of the two parts of `isolation: separate-job` that hold the lease. */
export type Part = 'whole' | 'claim' | 'land'

export async function work(
  context: ActionContext,
  log: Log,
  signal: AbortSignal,
  part: Part = 'whole',
): Promise<Worked> {
  refuseFeatureRef(context, context.inputs['branch-prefix']?.trim() || 'ralph/')
  refuseFeatureName(context)
  // Whatever stops this job from here on: its post step releases the lease of the claim job.
  if (part === 'land') {
    const { folder, nonce } = claimOf(context.env)
    remember({ folder, nonce })
  }
  return withCredentialsAside(context, (secrets) => prepareAndWork(context, secrets, log, signal, part))
}

async function prepareAndWork(
  context: ActionContext,
  secrets: readonly string[],
  log: Log,
  signal: AbortSignal,
  part: Part,
): Promise<Worked> {
  const { place, event } = context
  if (event.kind !== 'dispatch') throw new Error('only workflow_dispatch works')
  const at = part === 'land' ? claimOf(context.env).base : null
  const opened = await openJob(context, secrets, log, { at, isPart: part !== 'whole' })
  const { settings, base } = opened
  using workspace = opened.workspace
  await refuseFiltered(workspace.git, workspace.objects)
  warnOfLess(settings)
  const isPlan = wantsPlan(settings, event)
  // What a person chose is read before it is kept; what a plan is called becomes a folder and a branch.
  const { settings: asked } = await actionSettings(
    context,
    (path) => workspace.repository.read(base.sha, path),
    pick(event.inputs, [...CHOICES, ...PART, ...(isPlan ? ['feature'] : [])]),
  )
  const warn = (message: string) => core.warning(workspace.redactor.redact(message))
  const github = connect(place, tokenOf(context), warn)
  if (settings.redispatch) await settleWorkflow(context, github)
  const publisher = settings.publishToken === null ? github : connect(place, settings.publishToken, warn)
  return await keptApart({ context, settings, workspace }, (as) => {
    const parts = { context, workspace, settings, github, publisher, log, signal, as }
    return part === 'land' ? landAndGoOn(parts, base) : claimAndWork(parts, base, part, asked)
  })
}

/** Asked by a person: a job that goes on works on what the plan has become. */
function wantsPlan({ command }: Settings, event: Extract<RunEvent, { kind: 'dispatch' }>): boolean {
  return event.generation === null && (command === 'plan' || event.inputs.command === 'plan')
}

async function claimAndWork(
  parts: Parts,
  base: { branch: string; sha: string },
  part: Part,
  wanted: Wanted,
): Promise<Worked> {
  const { context, workspace, settings, github } = parts
  const { event } = context
  if (event.kind !== 'dispatch') throw new Error('only workflow_dispatch works')
  const now = Date.now()
  const today = new Date(now).toISOString().slice(0, 10)
  const feature = settings.feature ?? event.feature
  const number = issueIn(feature)
  const issue = number === null ? null : await findIssue(github, number)
  const isPlan = wantsPlan(settings, event)
  let claimed: Awaited<ReturnType<typeof claim>>
  try {
    const asked = await askedFor(github, workspace, {
      feature,
      issue,
      isPlan,
      base: base.sha,
      today,
      settings,
    })
    claimed = await claim(workspace.git, workspace.objects, workspace.store, workspace.repository, {
      feature,
      asked,
      branchPrefix: settings.branchPrefix,
      base,
      workTree: null,
      generation: event.generation,
      lease: await leaseFor(settings, now, context.run),
      alive: async (lease) => !expired(lease, Date.now()) && (await runLives(github, context, lease)),
      job: newJob(now, now + settings.jobDeadlineMs, gatedTagsOf(settings)),
      chosen: pick(event.inputs, CHOICES),
      wanted,
      // Its machine is gone, or its post step has done it.
      endOrphansOf: async () => {},
      settle: async (state) => {
        await workspace.repository.checkOut(state.green, null)
        await workspace.repository.rememberIgnored()
        return state
      },
      today,
      firstComment: async (branch) => {
        const pull = await findPull(github, branch)
        return pull === null ? 0 : new Conversation(github).newestComment(pull.number)
      },
    })
  } catch (error) {
    if (issue !== null) await tellUnplanned(github, issue.number, error, workspace.redactor.redact)
    if (error instanceof Held || error instanceof Superseded) return { neutral: error.message }
    throw error
  }
  for (const note of claimed.notes) core.notice(note)
  clearUploads(workspace)
  const { folder } = claimed.state
  remember({ folder, namespace: settings.stateNamespace })
  return await workOn(claimed.state, { ...parts, base }, part === 'claim' ? CLAIM : WHOLE)
}

/** Brings in what the work and the gate job handed over, and ends the iteration that the claim job began. */
async function landAndGoOn(parts: Parts, base: { branch: string; sha: string }): Promise<Worked> {
  const { context, workspace, settings } = parts
  const taken = await takeHandover(context, workspace, settings)
  if ('neutral' in taken) return taken
  const { folder } = taken.state
  remember({ folder, namespace: settings.stateNamespace })
  return await workOn(taken.state, { ...parts, base }, taken.how)
}

type Parts = {
  context: ActionContext
  workspace: Workspace
  settings: Settings
  github: GitHub
  publisher: GitHub
  log: Log
  signal: AbortSignal
  as: Isolation | null
}

async function workOn(
  start: State,
  parts: Parts & { base: { branch: string; sha: string } },
  how: How,
): Promise<Worked> {
  const { context, workspace, github, publisher, log, signal, as } = parts
  const settings = await withChoices(context, workspace, parts.settings, start)
  await refuseNoFolder(workspace, settings, start.green)
  // At separate-job it is the machine of the gate job that has one.
  if (settings.isolation !== 'separate-job') refuseNoBrowser(settings, context.env)
  const read = (path: string) => workspace.repository.read(start.green, path)
  if (how.part !== 'land')
    for (const note of await refuseTemplates(read, agentSteps(settings.steps))) core.notice(note)
  const limits = limitsOf(settings)
  const conversation = new Conversation(github)
  const reporter = new GitHubReporter({
    github,
    publisher,
    conversation,
    checks: new Checks(github, settings.reportAs, start.feature),
    pullRequest: settings.pullRequest,
    limits,
    agentsSection: settings.agentsMd === 'section',
    runUrl: context.run.url,
    redact: workspace.redactor.redact,
    places: (state) => foundPlaces(workspace.git, state),
    notes: () =>
      [settings.isolation === 'same-user' ? SAME_USER_WARNING : null, refusedBy(as)].filter(
        (note) => note !== null,
      ),
  })
  const mark = start.lease?.mark ?? ''
  remember({ mark, artifact: artifactName(start.feature, context.run, how.part ?? 'whole') })
  const live = new Live(log.screen, { limits, agent: settings.agent, surface: 'comment' }, true)
  await using ports = await createPorts({
    settings,
    env: context.env,
    workspace,
    observers: [logOf(live, how.part), reporter],
    pullRequest: reporter,
    warn: github.warn,
    queue: conversation,
    dispatch: createDispatch(github, context.workflow),
    signal,
    as,
    mark,
    onAgent: live.agent,
    onGateStart: live.starts,
    onGateEnd: live.gate,
    ...how.ports,
  })
  const ended = await loop(start, limits, ports, stepsOf(how.part)).finally(() => settleFiles(workspace))
  if ('step' in ended) {
    await ports.store.save(ended.state)
    for (const [name, value] of Object.entries(claimOutputs(ended, parts.base.sha)))
      core.setOutput(name, value)
    const attempt = openAttempt(ended.state)
    const what = attempt === null ? ended.step.kind : `${attempt.storyId}, iteration ${attempt.iteration}`
    return { neutral: `handed over: ${what} (${settings.agent})` }
  }
  const { state, conclusion } = ended
  if (!reporter.isReported()) remember({ untold: 'true' })
  const summary = workspace.redactor.redact(jobSummary(reporter.view(state)))
  const folder = context.env.RUNNER_TEMP ?? workspace.clone.gitDir
  const inMarkdown = await giveSummary(folder, `ralph-${state.feature}`, summary)
  // Who is cancelled may have no time for more.
  if (signal.aborted) giveOutputs(outputsOf(state, conclusion.outcome, inMarkdown))
  const { writeReport } = await import(/* webpackChunkName: "report" */ './report.ts')
  const view = (places: Places) => reporter.view(state, places)
  const reportPath = (await writeReport(workspace, state, view)) ?? inMarkdown
  giveOutputs(outputsOf(state, conclusion.outcome, reportPath))
  return { state, conclusion }
}

/** A holder lives while its run has not completed; when GitHub does not say, the lease's own time counts. */
async function runLives(github: GitHub, { run }: ActionContext, lease: Lease): Promise<boolean> {
  if (lease.runId === null) return true
  // A re-run from the UI has the same run id: an earlier attempt of our own run is over.
  if (lease.runId === run.id && lease.runAttempt !== run.attempt) return false
  return (await runOf(github, lease.runId))?.status !== 'completed'
}
