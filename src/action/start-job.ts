// The main step: chooses what to do by event and command, and ends with the job result of the outcome. A cancel ends the session and saves.

import * as core from '@actions/core'
import { redactorFor } from '../app/redactor.ts'
import { haltError } from '../engine/model/job.ts'
import { LeaseLost } from '../engine/model/ports.ts'
import { mapTexts } from '../engine/model/text.ts'
import { isUnknownToken } from '../git/git-process.ts'
import { httpStatusOf } from '../github/client.ts'
import { secretsIn } from '../isolation/untrusted-env.ts'
import { nextJobHeldUntil } from '../report/headline.ts'
import { nextAction } from '../report/next-action.ts'
import { outputsOf } from '../report/outputs.ts'
import { toPlainText } from '../report/sentence.ts'
import { errorSummary } from '../report/summaries.ts'
import { hostEnvironment } from '../settings/environment.ts'
import { loadEveryChunk } from '../system/bundle-chunks.ts'
import { diskMistake } from '../system/disk-error.ts'
import { formatMistake, type Mistake, messageOf, UserError } from '../system/errors.ts'
import { type ActionContext, actionContext } from './action-context.ts'
import { createLog, type Log, type ReadOnlyResult, saveForPost, setOutputs } from './runner.ts'

type ReadOnlyCommand = (context: ActionContext, log: Log, signal: AbortSignal) => Promise<ReadOnlyResult>

const FAILING = new Set(['stuck', 'max-iterations', 'budget', 'error'])

/** Commands that only read: they take no lease, push nothing and dispatch nothing. */
const READ_ONLY_COMMANDS: ReadonlyMap<string, () => Promise<ReadOnlyCommand>> = new Map([
  ['doctor', async () => (await import(/* webpackChunkName: "action" */ './doctor-job.ts')).doctor],
  ['status', async () => (await import(/* webpackChunkName: "action" */ './status.ts')).status],
  ['verify', async () => (await import(/* webpackChunkName: "action" */ './verify-job.ts')).verify],
])

/** The commands of jobs that hand an iteration over to each other. */
const HAND_OVER_COMMANDS = new Set(['claim', 'work', 'gate', 'land', 'join'])

async function main(): Promise<void> {
  const stop = new AbortController()
  // The runner signals only this process, then waits 7.5 s and 2.5 s: this process has to end its children.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (!stop.signal.aborted) saveForPost({ stopped: 'true' })
      stop.abort()
    })
  }
  const context = await actionContext()
  const redactor = redactorFor(secretsIn(context.env))
  const log = createLog((text) => process.stdout.write(text), redactor.redact)
  const command = context.inputs.command?.trim() || 'auto'
  const { event } = context
  if (command === 'resume-lost' || (command === 'auto' && event.kind === 'schedule')) {
    const { resumeLost } = await import(/* webpackChunkName: "action" */ './resume.ts')
    return endNeutral(await resumeLost(context, event.kind === 'closed' ? event.branch : null))
  }
  if (event.kind === 'closed')
    return endNeutral('Ralph ignores closed pull requests, except with `command: resume-lost`')
  if (event.kind === 'foreign') return endNeutral(`Ralph does not handle the event ${event.name}`)
  // A runner that hands on the outputs of a skipped job as text starts these jobs for a comment.
  if (HAND_OVER_COMMANDS.has(command) && event.kind !== 'dispatch')
    return endNeutral(`command: ${command} works only for the event workflow_dispatch`)
  if (event.kind === 'comment' || event.kind === 'label' || event.kind === 'button') {
    const { answerButton, answerComment, answerLabel } = await import(
      /* webpackChunkName: "action" */ './comment.ts'
    )
    if (event.kind === 'comment') return endNeutral(await answerComment(context, event))
    if (event.kind === 'label') return endNeutral(await answerLabel(context, event))
    return endNeutral(await answerButton(context, event))
  }
  if (event.kind === 'wake') {
    const { answerWake } = await import(/* webpackChunkName: "action" */ './wake.ts')
    return endNeutral(await answerWake(context, event))
  }
  const loadCommand = READ_ONLY_COMMANDS.get(command)
  if (loadCommand !== undefined) {
    const run = await loadCommand()
    return endReadOnly(await run(context, log, stop.signal), redactor.redact)
  }
  const worker = context.env.RALPH_WORKER ?? ''
  // A worker of a wave. With `separate-job`, RALPH_WORKER is set as well, but there the claim job names the workers.
  const isWorker =
    command === 'work' && worker !== '' && !/"workers":/.test(context.env.RALPH_FROM_CLAIM ?? '')
  const isPart = command === 'claim' || command === 'land' || command === 'join'
  const part = isPart ? command : isWorker ? 'worker' : 'whole'
  if (!['auto', 'run', 'plan', 'claim', 'work', 'gate', 'land', 'join'].includes(command)) {
    throw new UserError({
      path: 'input command',
      found: command,
      expected: 'auto, run, plan, doctor, status, verify, resume-lost, or claim, work, gate, land and join',
      fix: 'use one of these, or leave the input out',
    })
  }
  if (event.kind === 'schedule')
    return endNeutral('on a schedule, Ralph works only with `command: resume-lost`')
  // An agent of the same user may change the action's files, and so may code that gates run.
  await loadEveryChunk()
  if (!isWorker && (command === 'work' || command === 'gate')) {
    const { runPart } = await import(/* webpackChunkName: "action" */ './separate.ts')
    return endNeutral((await runPart(command, context, log, stop.signal)).neutral)
  }
  const { work } = await import(/* webpackChunkName: "action" */ './work-job.ts')
  const result = await work(context, log, stop.signal, part).catch(async (error: unknown) => {
    const { settings } = context
    if (settings === null || error instanceof LeaseLost || stop.signal.aborted) throw error
    // If a run has several jobs, only the claim job sends notifications.
    if (part !== 'whole' && part !== 'claim') throw error
    const { notifyError } = await import(/* webpackChunkName: "tell" */ '../app/observers.ts')
    const warn = (message: string) => core.warning(redactor.redact(message))
    const options = { settings, env: context.env, workTree: context.workspace, signal: stop.signal, warn }
    const feature = event.kind === 'dispatch' ? event.feature : null
    await notifyError(error, options, feature, context.run.url)
    throw error
  })
  if ('neutral' in result) return endNeutral(result.neutral)
  saveForPost({ finished: 'true' })
  const { conclusion, state } = result
  // The runner writes `Error:` before the line.
  const line =
    conclusion.outcome === 'error' ? conclusion.reason : `${conclusion.outcome}: ${conclusion.reason}`
  const error = haltError(state)
  if (FAILING.has(conclusion.outcome))
    core.setFailed(redactor.redact(error === null ? line : `${line}\n${error.fix}`))
  else if (nextJobHeldUntil(state) !== null) {
    const next = toPlainText(nextAction(state, { kind: 'ended', conclusion }, 'comment'))
    core.warning(redactor.redact(`${line}\n${next}`))
  } else log.screen.write(`${line}\n`)
  // The runner reports a job that it cancels as cancelled. After a signal from anywhere else the job must not be green.
  if (conclusion.outcome === 'interrupted' && stop.signal.aborted) process.exitCode = 1
}

function endReadOnly({ isFine, line }: ReadOnlyResult, redact: (text: string) => string): void {
  saveForPost({ finished: 'true' })
  if (isFine) core.notice(redact(line))
  else core.setFailed(redact(line))
}

/** Ends the job green with a notice: there was nothing to do. */
function endNeutral(message: string): void {
  saveForPost({ finished: 'true' })
  core.notice(message)
}

/** The mistakes that a person can fix; empty for an unexpected error. */
function mistakesOf(error: unknown): readonly Mistake[] {
  if (error instanceof UserError) return error.mistakes
  const disk = diskMistake(error, process.cwd())
  if (disk !== null) return [disk]
  if (!isUnknownToken(error) && httpStatusOf(error) !== 401) return []
  const found = 'GitHub does not accept this token: it is expired, revoked or from another server.'
  const fix = 'leave the input out to use the job token, or give a valid token'
  return [{ path: 'input token', found, expected: '', fix }]
}

async function reportFatal(error: unknown): Promise<void> {
  // Another job has the lease now. This job has changed nothing since, and has nothing to report.
  if (error instanceof LeaseLost) {
    endNeutral(error.message)
    return
  }
  const mistakes = mistakesOf(error)
  // A mistake that a person has to fix is not retried by itself.
  if (mistakes.length > 0) saveForPost({ stopped: 'true' })
  const { redact } = redactorFor(secretsIn(hostEnvironment()))
  core.setFailed(redact(mistakes.length > 0 ? mistakes.map(formatMistake).join('\n') : messageOf(error)))
  setOutputs(outputsOf(null, 'error', null))
  const clean = mistakes.map((mistake) => mapTexts(mistake, redact))
  await core.summary.addRaw(redact(errorSummary(clean, redact(messageOf(error)))), true).write()
}

/**
 * Never throws. `notHidden`: why the action's environment could not be hidden, or null. `mistake`: why the event could not be
 * read, or null.
 */
export async function startJob(notHidden: string | null, mistake: Mistake | null): Promise<void> {
  if (notHidden !== null)
    core.warning(`the agent may be able to read the action's environment variables, because ${notHidden}`)
  await (mistake === null ? main() : Promise.reject(new UserError(mistake)))
    .catch(reportFatal)
    .catch((error: unknown) => core.warning(messageOf(error))) // a full disk: nothing more can be reported
}
