// The post step: does what main could not finish, because it was cancelled, killed or timed out. It never fails the job.
import * as core from '@actions/core'
import { messageOf } from '../system/errors.ts'
import { exitAfterFlush } from '../system/exit-after-flush.ts'
import type * as Cleanup from './cleanup.ts'

const LOST =
  'This job was lost, and no other job of this run continues its work. To continue now, press "Run workflow", or comment /ralph run. If the repository has the scheduled `resume-lost` workflow, it continues the run within an hour.'

type LoadCleanup = () => Promise<Pick<typeof Cleanup, 'endChecks' | 'releaseJob'>>

async function cleanUp(loadCleanup: LoadCleanup): Promise<void> {
  const folder = core.getState('folder')
  const isFinished = core.getState('finished') === 'true'
  // Commands that only read take no feature, but may have left processes.
  const isOpen = ['folder', 'otherUser', 'mark'].some((name) => core.getState(name) !== '')
  if (!isOpen || (isFinished && core.getState('unreported') !== 'true')) return
  const { endChecks, releaseJob } = await loadCleanup()
  if (isFinished) return core.notice(await endChecks(folder))
  const { done, isLost } = await releaseJob(folder)
  core.notice(done)
  if (isLost) core.error(LOST)
}

export async function post(loadCleanup: LoadCleanup): Promise<void> {
  await cleanUp(loadCleanup).catch((error: unknown) =>
    core.warning(`the post step could not clean up: ${messageOf(error)}`),
  )
  const artifact = core.getState('artifact')
  // Uploaded here and not by main, because the logs of a cancelled or killed job matter most.
  if (artifact !== '') {
    const { upload } = await import(/* webpackChunkName: "action" */ './upload.ts')
    await upload(artifact, core.getState('finished') === 'true')
  }
  process.exitCode = 0
  await exitAfterFlush()
}
