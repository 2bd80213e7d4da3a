// `resume-lost`, on a schedule: restarts chains whose job was lost, and closes checks that a lost job left open. Two of these jobs may
// run at the same time: if both dispatch the same generation, the second dispatched job does nothing.
import * as core from '@actions/core'
import { lostChainReason, mayHaveOpenChecks } from '../engine/lease.ts'
import type { State } from '../engine/model/state.ts'
import { connect } from '../github/client.ts'
import { dispatchRun, findWorkflowRun, unfinishedRuns } from '../github/dispatch.ts'
import { Checks } from '../github/post-checks.ts'
import { type ActionContext, noWorkflowError, readNamesByApi, tokenOf } from './action-context.ts'
import { peekStates } from './peek.ts'

/** How far the clocks of GitHub and of a runner may differ. */
const CLOCK_SKEW_MS = 5 * 60_000

/** Checks every feature once. Returns what was done, in one line. */
export async function resumeLost(context: ActionContext): Promise<string> {
  const github = connect(context.place, tokenOf(context), (text) => core.warning(text))
  const names = await readNamesByApi(context, github)
  const { workflow } = names
  if (workflow === null) throw noWorkflowError('nothing; the workflow of this run only resumes')
  const states = await peekStates(context, names.stateNamespace)
  const resumed: string[] = []
  const queued: string[] = []
  const limited: string[] = []
  const finished: State[] = []
  let queuedSince: number[] | null = null
  for (const state of states.values()) {
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
  const lines = [
    ...summaryOf('resumed', resumed),
    ...summaryOf("GitHub's rate limit refuses the next job, looking again later", limited),
    ...summaryOf('a job waits already, looking again later', queued),
  ]
  return lines.length === 0 ? 'no chain is lost' : lines.join('; ')
}
