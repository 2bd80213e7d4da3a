// The post step: mends what main could not finish (cancelled, killed, timed out). It never fails the job.
import * as core from '@actions/core'
import { messageOf } from '../system/errors.ts'
import { exitAfterFlush } from '../system/exit-after-flush.ts'
import type * as Cleanup from './cleanup.ts'

type LoadCleanup = () => Promise<Pick<typeof Cleanup, 'endChecks' | 'releaseJob'>>

async function cleanUp(loadCleanup: LoadCleanup): Promise<void> {
  const folder = core.getState('folder')
  const isFinished = core.getState('finished') === 'true'
  // A look, and a job that only reads, take no feature, and may have left programs.
  const isOpen = ['folder', 'otherUser', 'mark'].some((name) => core.getState(name) !== '')
  if (!isOpen || (isFinished && core.getState('untold') !== 'true')) return
  const { endChecks, releaseJob } = await loadCleanup()
  core.notice(await (isFinished ? endChecks(folder) : releaseJob(folder)))
}

export async function post(loadCleanup: LoadCleanup): Promise<void> {
  await cleanUp(loadCleanup).catch((error: unknown) =>
    core.warning(`the post step could not put things in order: ${messageOf(error)}`),
  )
  const artifact = core.getState('artifact')
  // Here, not in start-job: a job that was cancelled or killed has more to tell than others.
  if (artifact !== '') {
    const { upload } = await import(/* webpackChunkName: "action" */ './upload.ts')
    await upload(artifact, core.getState('finished') === 'true')
  }
  process.exitCode = 0
  await exitAfterFlush()
}
