// `command: doctor`: checks everything that a run needs, in a job like that of a run. The job is green if a run could begin.
import * as core from '@actions/core'
import type { Isolation } from '../app/isolation.ts'
import { redactorFor } from '../app/redactor.ts'
import type { Finding } from '../engine/model/finding.ts'
import { ACTION } from '../engine/model/version.ts'
import { gitProgram } from '../git/git-process.ts'
import { connect } from '../github/client.ts'
import { secretsIn } from '../isolation/untrusted-env.ts'
import { outputsOf } from '../report/outputs.ts'
import { doctorVerdict, findingsSummary, isHealthy } from '../report/summaries.ts'
import { doctorLines } from '../report/terminal/doctor-lines.ts'
import { loadFeatures } from '../setup/checks/check-stories.ts'
import { diagnoseIsolated } from '../setup/checks/diagnose.ts'
import type { Subject } from '../setup/checks/subject.ts'
import { findCi } from '../setup/checks/workflow-file.ts'
import { orUserError } from '../system/errors.ts'
import { newMark } from '../system/process.ts'
import { type ActionContext, inputSettings, nonEmpty, tokenOf } from './action-context.ts'
import {
  checkInputs,
  openJobWorkspace,
  refuseFeatureRef,
  settleFiles,
  trustedSettings,
  withCredentialsHidden,
} from './open.ts'
import { type Log, type ReadOnlyResult, saveForPost, setOutputs, writeSummary } from './runner.ts'

export async function doctor(
  jobContext: ActionContext,
  log: Log,
  signal: AbortSignal,
): Promise<ReadOnlyResult> {
  const token = tokenOf(jobContext)
  return withCredentialsHidden(jobContext, async (secrets) => {
    const opened = await open(jobContext, token, secrets)
    const { context, settings, checkout } = opened
    try {
      refuseFeatureRef(context, settings.branchPrefix)
      const findings = await examineJob(opened, token, log, signal)
      if ('workspace' in checkout) await settleFiles(checkout.workspace)
      const folder = context.env.RUNNER_TEMP ?? context.workspace
      const reportPath = await writeSummary(folder, 'ralph-doctor', findingsSummary(findings))
      setOutputs({ ...outputsOf(null, null, reportPath), feature: settings.feature })
      for (const line of doctorLines(findings, PLAIN)) log.screen.write(`${line}\n`)
      return { isFine: isHealthy(findings), line: verdictLine(findings) }
    } finally {
      if ('workspace' in checkout) checkout.workspace[Symbol.dispose]()
    }
  })
}

const PLAIN = { width: 80, colour: false, plain: true }

/** The verdict, and each fault with its fix: it is shown as an annotation, without the summary. */
function verdictLine(findings: readonly Finding[]): string {
  const { title, text } = doctorVerdict(findings)
  const faults = findings.filter(({ state }) => state === 'fault')
  const lines = faults.map(({ name, found, fix }) => `${name}: ${found}\n  fix: ${fix}`)
  return [`${title.toLowerCase()}: ${text}`, ...lines].join('\n')
}

type Opened = Pick<Subject, 'settings' | 'mistakes' | 'notes' | 'checkout'> & { context: ActionContext }

/**
 * Opens the checkout and reads the settings, as far as that works. Inputs that the step lacks are taken from the job in the workflow
 * that works, so that a job for doctor need not repeat them.
 */
async function open(jobContext: ActionContext, token: string, secrets: readonly string[]): Promise<Opened> {
  const inputs = await inputSettings(jobContext)
  const unread = { context: jobContext, settings: inputs, mistakes: [], notes: [] }
  const firstWorkspace = await orUserError(() => openJobWorkspace(jobContext, inputs, token, secrets))
  if ('mistakes' in firstWorkspace) return { ...unread, checkout: firstWorkspace.mistakes }
  try {
    const { defaultBranch: name } = jobContext.place
    const sha = await firstWorkspace.store.head(name)
    if (sha === null) return { ...unread, checkout: [noBranchError(name)] }
    await firstWorkspace.store.fetch([sha], 'tip')
    const ci = await findCi(firstWorkspace, sha, jobContext.env, actionOf(jobContext))
    const context = { ...jobContext, inputs: { ...ci?.job.inputs, ...nonEmpty(jobContext.inputs) } }
    const read = await orUserError(() => trustedSettings(context, token))
    const isRead = !('mistakes' in read)
    const settings = isRead ? read.settings : await inputSettings(context)
    const base = isRead ? read.base : { branch: name, sha }
    const workspace = await openJobWorkspace(context, settings, token, secrets)
    const { checkout: opened } = checkInputs(context, { workspace, settings, base }, base.sha)
    const checkout = { ...opened, defaultBranch: { name, sha }, ci }
    const [mistakes, notes] = isRead ? [[], read.notes] : [read.mistakes, []]
    return { context, settings, mistakes, notes, checkout }
  } finally {
    firstWorkspace[Symbol.dispose]()
  }
}

function noBranchError(name: string) {
  const fix = `push a commit to ${name}: GitHub starts workflows from the default branch`
  return { path: 'default branch', found: `${name} has no commit yet.`, expected: '', fix }
}

function actionOf({ env }: ActionContext): string {
  return env.GITHUB_ACTION_REPOSITORY || ACTION
}

async function examineJob(
  { context, ...found }: Opened,
  token: string,
  log: Log,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { env, event } = context
  const { settings, checkout } = found
  const mark = newMark()
  const feature = settings.feature ?? (event.kind === 'dispatch' ? event.feature : null)
  saveForPost({ mark, git: gitProgram(env.PATH) })
  const subject = {
    ...{
      ...found,
      features: await loadFeatures(checkout, settings, feature),
      anew: false,
      feature,
      env,
      signal,
      directory: context.workspace,
      withGates: true,
      asksAgent: false,
      atWork: null,
      action: actionOf(context),
    },
    github: connect(context.place, token, core.warning),
    onBegin: (what: string) => log.screen.write(`looking at ${what}\n`),
  }
  const onOpen = (as: Isolation) => saveForPost({ otherUser: as.gates.before })
  const redactEnvironment = redactorFor(secretsIn(env)).redact
  const redact = 'workspace' in checkout ? checkout.workspace.redactor.redact : redactEnvironment
  return diagnoseIsolated(subject, { report: core.notice, onOpen, mark }, redact)
}
