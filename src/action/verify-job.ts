// `command: verify`: runs every gate and a judge on a feature's branch, and reports the result. The run's state does not change.

import { limitsOf } from '../app/loop-limits.ts'
import { createPorts } from '../app/loop-ports.ts'
import { resolveFeature } from '../app/resolve-feature.ts'
import { stateToVerify, type VerifyResult, verifyNow } from '../app/verify-now.ts'
import type { Workspace } from '../app/workspace.ts'
import type { State } from '../engine/model/state.ts'
import { mapTexts } from '../engine/model/text.ts'
import { outputsOf } from '../report/outputs.ts'
import { verificationLines, verificationSummary } from '../report/summaries.ts'
import type { Settings } from '../settings/read-settings.ts'
import { refuseBlocked } from '../setup/checks/check-table.ts'
import { UserError } from '../system/errors.ts'
import { newMark } from '../system/process.ts'
import type { ActionContext } from './action-context.ts'
import {
  checkInputs,
  createJobPorts,
  type Job,
  openJob,
  settleFiles,
  withChoices,
  withCredentialsHidden,
  withIsolation,
} from './open.ts'
import { type Log, type ReadOnlyResult, setOutputs, writeSummary } from './runner.ts'

export async function verify(context: ActionContext, log: Log, signal: AbortSignal): Promise<ReadOnlyResult> {
  return withCredentialsHidden(context, async (secrets) => {
    const opened = await openJob(context, secrets, { at: null, refuse: refuseSeparate })
    using workspace = opened.workspace
    const { state, head } = await branchOf(context, workspace, opened.settings, opened.base.sha)
    const settings = await withChoices(context, workspace, opened.settings, state)
    await refuseBlocked(checkInputs(context, { ...opened, settings }, head))
    const parts = { context, workspace, settings, log, signal }
    const stateAtHead = stateToVerify(state, head, settings, Date.now())
    const result = await withIsolation(parts, (as) => runVerification(stateAtHead, { ...parts, as })).finally(
      () => settleFiles(workspace),
    )
    return await report(state, head, result, parts)
  })
}

/** Throws UserError at `separate-job`: here agent and gates would share a job with its token. */
function refuseSeparate({ isolation }: Settings): void {
  if (isolation !== 'separate-job') return
  throw new UserError({
    path: 'input command',
    found: 'with `isolation: separate-job`, the command `verify` needs more than one job.',
    expected: '',
    fix: 'comment /ralph verify on the pull request',
  })
}

/** The state of the feature that is meant, and the head of its branch with what people have pushed. */
async function branchOf(
  { event }: ActionContext,
  workspace: Workspace,
  { feature, branchPrefix }: Settings,
  base: string,
): Promise<{ state: State; head: string }> {
  const { store } = workspace
  const requested = feature ?? (event.kind === 'dispatch' ? event.feature : null)
  const place = { commit: base, workTree: null }
  const { name, found } = await resolveFeature(workspace, place, { feature: requested, branchPrefix })
  const state = found?.state ?? null
  const head = state?.published == null ? null : await store.head(state.branch)
  if (state === null || head === null) {
    throw new UserError({
      path: 'feature',
      found: `no run of ${name} has begun, so there is no branch to verify.`,
      expected: '',
      fix: 'start a run with Run workflow first',
    })
  }
  await store.fetch([head, state.base.sha], 'tip')
  return { state, head }
}

async function runVerification(state: State, job: Job): Promise<VerifyResult> {
  const { repository, clone } = job.workspace
  const limits = limitsOf(job.settings)
  const { live, options } = createJobPorts(job, limits, newMark())
  try {
    await repository.checkOut(state.green, null)
    await repository.rememberIgnored()
    await using ports = await createPorts(options)
    await live.step({ kind: 'verify' }, state)
    return await verifyNow(state, limits, ports, Date.now())
  } finally {
    live.close()
    // Restores what the earlier steps left; if that fails, the result is still reported.
    if (clone.head !== null)
      await repository.checkOut(clone.head, null).catch((error: unknown) => options.warn(String(error)))
  }
}

async function report(
  state: State,
  head: string,
  unredacted: VerifyResult,
  job: Omit<Job, 'as'>,
): Promise<ReadOnlyResult> {
  const { context, workspace, log, signal } = job
  const { redact } = workspace.redactor
  const [redactedState, result] = [mapTexts(state, redact), mapTexts(unredacted, redact)]
  const lines = verificationLines(redactedState, result)
  const folder = context.env.RUNNER_TEMP ?? workspace.clone.gitDir
  const summary = redact(verificationSummary(redactedState, head, result))
  const reportPath = await writeSummary(folder, `ralph-${state.feature}-verify`, summary)
  setOutputs(outputsOf(redactedState, redactedState.prd.run.outcome, reportPath))
  for (const line of lines) log.screen.write(`${line}\n`)
  const line = signal.aborted ? 'interrupted: nothing was changed' : (lines[0] ?? '')
  return { isFine: result.isFine && !signal.aborted, line }
}
