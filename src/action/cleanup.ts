// Releases what a main step that was killed still holds: its processes, its lease, its open checks.
import * as core from '@actions/core'
import { otherUserOptions } from '../app/isolation.ts'
import { removeLostHomes } from '../app/lost-homes.ts'
import { withLostUsage } from '../app/usage-notes.ts'
import { openWorkspace } from '../app/workspace.ts'
import { openClone } from '../git/git.ts'
import { connect } from '../github/client.ts'
import { Checks } from '../github/post-checks.ts'
import { endOtherUser } from '../isolation/other-user.ts'
import { messageOf } from '../system/errors.ts'
import { endOrphansOfRun } from '../system/process.ts'
import { actionContext, inputSettings, remoteOf, tokenOf } from './action-context.ts'
import { peekStates } from './peek.ts'

/** What was done, in one line. `isLost`: the job held the lease, and no person stopped it, so that nothing continues by itself. */
export type Released = { done: string; isLost: boolean }

/** Ends the processes and releases the lease of a killed main step. */
export async function releaseJob(folder: string): Promise<Released> {
  const mark = core.getState('mark')
  let endedCount = mark === '' ? 0 : await endOrphansOfRun(mark)
  const context = await actionContext()
  const warn = (message: string) => core.warning(message)
  // On a machine of your own they would keep a copy of the agent's login until the next job.
  await removeLostHomes(context.env).catch((error: unknown) =>
    warn(`Ralph could not remove the home folders of killed sessions: ${messageOf(error)}`),
  )
  // The other user can write the tree: its processes end before anything else runs there.
  const modesBefore = core.getState('otherUser')
  if (modesBefore !== '') {
    const clone = await openClone(context.workspace, context.env)
    const userOptions = otherUserOptions({ env: context.env, clone, report: core.notice })
    const options = { ...userOptions, before: modesBefore }
    // The lease is released whatever becomes of the work tree.
    endedCount += await endOtherUser(options).catch((error: unknown) => {
      warn(`Ralph could not end the processes of the other user: ${messageOf(error)}`)
      return 0
    })
  }
  const held = (what: string): Released => ({
    done: `${what} (${endedCount} processes ended)`,
    isLost: false,
  })
  if (folder === '') return held('nothing is held')
  const token = tokenOf(context)
  const settings = await inputSettings(context)
  const stateNamespace = core.getState('namespace') || settings.stateNamespace
  using workspace = await openWorkspace({
    settings: { ...settings, stateNamespace },
    env: context.env,
    directory: context.workspace,
    remote: remoteOf(context.place, token),
    identity: null,
    submodules: false,
    warn,
  })
  const found = await workspace.store.load(folder.replace(/^\.ralph\//, ''))
  const lease = found?.state.lease ?? null
  if (found === null) return held('nothing is held')
  // A job that took the lease itself is recognized by the run's attempt. A job that the lease was handed over to saved its nonce.
  const isOfThisJob = lease?.nonce === core.getState('nonce') || lease?.runAttempt === context.run.attempt
  const holdsLease = lease?.runId === context.run.id && isOfThisJob
  // Another job works already, and the open checks belong to it.
  if (!holdsLease && lease !== null) return held('no lease is held')
  // If there is no lease, this job released it, but may have been killed before its last report. Then its checks are still open.
  let { github } = found.state
  if (found.state.published !== null) {
    const checks = new Checks(connect(context.place, token, warn), settings.reportAs, found.state.feature)
    github = { ...github, unclosed: await checks.closeRemaining(found.state) }
  }
  if (!holdsLease) return held('no lease is held')
  // The attempt stays open: the next job returns it uncharged. If no person stopped the chain, `resume-lost` continues it.
  const wasStopped = core.getState('stopped') === 'true'
  const state = withLostUsage(workspace.git, found.state)
  const { job } = state
  // A cancel by a person does not count as a job without progress.
  const isIdle = !wasStopped && job.counts.iterations === 0
  const idleJobs = state.control.idleJobs + (isIdle ? 1 : 0)
  const control = { ...state.control, continuePending: !wasStopped, idleJobs, mendedRun: context.run.id }
  const closedJob = { ...job, ready: { ...job.ready, opened: false } }
  await workspace.store.save({ ...state, github, lease: null, control, job: closedJob })
  return { ...held('the lease was released'), isLost: !wasStopped }
}

/** Closes checks that are still open after a job has ended, because its last report failed. Returns what was done, in one line. */
export async function endChecks(folder: string): Promise<string> {
  const context = await actionContext()
  const warn = (message: string) => core.warning(message)
  const settings = await inputSettings(context)
  const states = await peekStates(context, core.getState('namespace') || settings.stateNamespace)
  const state = states.get(folder.replace(/^\.ralph\//, '')) ?? null
  if (state === null || state.lease !== null) return 'another job reports the checks'
  const github = connect(context.place, tokenOf(context), warn)
  const remaining = await new Checks(github, settings.reportAs, state.feature).closeRemaining(state)
  return remaining.length === 0
    ? 'all checks are closed'
    : 'some checks are still open: resume-lost or the next job closes them'
}
