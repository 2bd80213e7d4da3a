// `resume-lost` runs on a schedule, and when a pull request is closed. It restarts chains whose job was lost, closes checks that a lost job
// left open, and deletes old states. Two of these jobs may run at the same time. If both dispatch the same generation, the second
// dispatched job does nothing.
import * as core from '@actions/core'
import { featureOfFolder } from '../branch/find-features.ts'
import { deleteStates, readStates, type StoredState } from '../branch/remote-states.ts'
import { lostChainReason, mayHaveOpenChecks, wakeObstacle } from '../engine/lease.ts'
import type { State } from '../engine/model/state.ts'
import type { Remote } from '../git/git.ts'
import { GitError } from '../git/git-process.ts'
import { describeRefusal } from '../git/remote.ts'
import { connect, type GitHub } from '../github/client.ts'
import { dispatchRun, findWorkflowRun, unfinishedRuns } from '../github/dispatch.ts'
import { type Closing, findClosing, findOldStates } from '../github/old-states.ts'
import { Checks } from '../github/post-checks.ts'
import { isLayerOf } from '../github/stack/plan-stack.ts'
import { type ActionContext, noWorkflowError, readNamesByApi, remoteOf, tokenOf } from './action-context.ts'

/** How far the clocks of GitHub and of a runner may differ. */
const CLOCK_SKEW_MS = 5 * 60_000

/** Checks every feature once, or only that of a closed pull request's branch. Returns what was done, in one line. */
export async function resumeLost(context: ActionContext, closedBranch: string | null): Promise<string> {
  const github = connect(context.place, tokenOf(context), (text) => core.warning(text))
  const names = await readNamesByApi(context, github)
  const { workflow } = names
  if (workflow === null)
    throw noWorkflowError('this workflow only resumes lost jobs, and does not say which workflow has them.')
  const remote = remoteOf(context.place, tokenOf(context))
  const all = await readStates(remote, context.env, names.stateNamespace)
  const isMeant = ({ branch }: State) => closedBranch === null || branch === closedBranch
  const stored = new Map([...all].filter(([, { state }]) => isMeant(state)))
  if (closedBranch !== null && stored.size === 0) {
    // Folders begin with the date: of the runs on a branch, the newest is the last one.
    const isOfStack = ([folder, { state }]: [string, StoredState]) =>
      isLayerOf(state.branch, closedBranch) && featureOfFolder(folder) !== null
    const [, stack] = [...all].findLast(isOfStack) ?? []
    return stack === undefined
      ? "the branch is not one of Ralph's runs"
      : wakeStack(github, workflow, stack.state)
  }
  const resumed: string[] = []
  const queued: string[] = []
  const limited: string[] = []
  const closed: string[] = []
  const finished: State[] = []
  let queuedSince: number[] | null = null
  for (const { state } of stored.values()) {
    const id = state.lease?.runId ?? state.control.mendedRun
    const holder = id === null ? null : await findWorkflowRun(github, id)
    const reason = lostChainReason(state, holder, Date.now())
    const isOver = reason === null || (await closingOf(github, state)) !== null
    if (isOver && mayHaveOpenChecks(state, holder, Date.now())) finished.push(state)
    if (reason === null) continue
    const { feature, generation, job } = state
    if (isOver) {
      closed.push(feature)
      continue
    }
    queuedSince ??= (await unfinishedRuns(github, workflow))
      .filter(({ hasBegun }) => !hasBegun)
      .map(({ since }) => since)
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
    ...summaryOf("not resumed, because of GitHub's rate limit (the next scheduled run tries again)", limited),
    ...summaryOf(
      'not resumed, because a job is already queued (the next scheduled run checks again)',
      queued,
    ),
    ...summaryOf('not resumed, because the pull request was merged or closed', closed),
    ...summaryOf(
      'deleted the state, because the pull request was merged or closed 30 days ago',
      isDeleted ? [...old.keys()] : [],
    ),
  ]
  return lines.length === 0 ? 'no run has lost its job, so there is nothing to resume' : lines.join('; ')
}

/** People merged or closed a pull request of a stack: the feature's next job puts the others in order. */
async function wakeStack(github: GitHub, workflow: string, state: State): Promise<string> {
  const { feature, generation, lease, control, base } = state
  const id = lease === null ? control.mendedRun : lease.runId
  const holder = id === null ? null : await findWorkflowRun(github, id)
  const obstacle = wakeObstacle(state, holder, Date.now())
  if (obstacle === 'working') return `the running job of ${feature} will look at its stack`
  if (obstacle !== null) return `started no job for the stack of ${feature}, because ${obstacle}`
  const closing = await closingOf(github, state)
  // Merged into a layer, it reaches the base with that one, so the stack still has to be in order.
  if (closing !== null && (closing.mergedInto === null || closing.mergedInto === base.branch))
    return `started no job for the stack of ${feature}, because its own pull request was merged or closed`
  const result = await dispatchRun(github, workflow, { feature, generation })
  return result.kind === 'limited'
    ? "GitHub's rate limit refuses the job"
    : `started a job for the stack of ${feature}`
}

/** How people merged or closed the pull request: then only a command continues a lost chain. Null if it is open, or not known. */
async function closingOf(github: GitHub, { github: { pull } }: State): Promise<Closing | null> {
  const closing = pull === null ? null : await findClosing(github, pull)
  return closing === 'refused' ? null : closing
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
    core.warning(`Ralph could not delete old states (${reason}). Give the job permissions: contents: write`)
    return false
  }
}
