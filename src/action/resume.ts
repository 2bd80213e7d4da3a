// `resume-lost`, on a schedule: restarts chains whose job was lost, closes checks that a lost job left open, and deletes old states. Two
// of these jobs may run at the same time: if both dispatch the same generation, the second dispatched job does nothing.
import * as core from '@actions/core'
import { deleteStates, readStates } from '../branch/remote-states.ts'
import { lostChainReason, mayHaveOpenChecks } from '../engine/lease.ts'
import type { State } from '../engine/model/state.ts'
import type { Remote } from '../git/git.ts'
import { GitError } from '../git/git-process.ts'
import { describeRefusal } from '../git/remote.ts'
import { connect } from '../github/client.ts'
import { dispatchRun, findWorkflowRun, unfinishedRuns } from '../github/dispatch.ts'
import { findOldStates } from '../github/old-states.ts'
import { Checks } from '../github/post-checks.ts'
import { type ActionContext, noWorkflowError, readNamesByApi, remoteOf, tokenOf } from './action-context.ts'

/** How far the clocks of GitHub and of a runner may differ. */
const CLOCK_SKEW_MS = 5 * 60_000

/** Checks every feature once. Returns what was done, in one line. */
export async function resumeLost(context: ActionContext): Promise<string> {
  const github = connect(context.place, tokenOf(context), (text) => core.warning(text))
  const names = await readNamesByApi(context, github)
  const { workflow } = names
  if (workflow === null) throw noWorkflowError('nothing; the workflow of this run only resumes')
  const remote = remoteOf(context.place, tokenOf(context))
  const stored = await readStates(remote, context.env, names.stateNamespace)
  const resumed: string[] = []
  const queued: string[] = []
  const limited: string[] = []
  const finished: State[] = []
  let queuedSince: number[] | null = null
  for (const { state } of stored.values()) {
    const id = state.lease?.runId ?? state.control.mendedRun
    const holder = id === null ? null : await findWorkflowRun(github, id)
    const reason = lostChainReason(state, holder, Date.now())
    if (reason === null) {
      if (mayHaveOpenChecks(state, holder, Date.now())) finished.push(state)
      continue
    }
    queuedSince ??= (await unfinishedRuns(github, workflow))
      .filter(({ hasBegun }) => !hasBegun)
      .map(({ since }) => since)
    const { feature, generation, job } = state
    // A queued job may be the chain's next one, so this is decided on the next schedule.
    if (queuedSince.some((since) => since > job.startedAt - CLOCK_SKEW_MS)) {
      queued.push(feature)
      continue
    }
    const result = await dispatchRun(github, workflow, { feature, generation })
    if (result.kind === 'limited') {
      // The next dispatch would be refused as well.
      limited.push(feature)
      break
    }
    resumed.push(`${feature} (${reason})`)
  }
  // No later job of these features would close these checks.
  for (const state of finished) await new Checks(github, names.reportAs, state.feature).closeRemaining(state)
  const summaryOf = (title: string, features: readonly string[]) =>
    features.length === 0 ? [] : [`${title}: ${features.join(', ')}`]
  const old = await findOldStates(github, stored, Date.now())
  const isDeleted = old.size > 0 && (await tryDelete(remote, context, names.stateNamespace, old))
  const lines = [
    ...summaryOf('resumed', resumed),
    ...summaryOf("GitHub's rate limit refuses the next job, looking again later", limited),
    ...summaryOf('a job waits already, looking again later', queued),
    ...summaryOf(
      'deleted the state, as the pull request was merged or closed 30 days ago',
      isDeleted ? [...old.keys()] : [],
    ),
  ]
  return lines.length === 0 ? 'no chain is lost' : lines.join('; ')
}

/** Whether the old states could be deleted. They do no harm, so a refusal is only a warning. */
async function tryDelete(
  remote: Remote,
  { env }: ActionContext,
  namespace: string,
  old: ReadonlyMap<string, string>,
): Promise<boolean> {
  try {
    await deleteStates(remote, env, namespace, old)
    return true
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const reason = describeRefusal(error.stderr, namespace)
    core.warning(`old states could not be deleted (${reason}); the job needs permissions: contents: write`)
    return false
  }
}
