// The post step: mends what main could not finish (cancelled, killed, timed out). It never fails the job.
import * as core from '@actions/core'
import { messageOf } from '../system/errors.ts'
import { leave } from '../system/leave.ts'

async function post(): Promise<void> {
  const folder = core.getState('folder')
  const isFinished = core.getState('finished') === 'true'
  // A look, and a job that only reads, take no feature, and may have left programs.
  const isOpen = ['folder', 'otherUser', 'mark'].some((name) => core.getState(name) !== '')
  if (!isOpen || (isFinished && core.getState('untold') !== 'true')) return
  const { loadMend } = await import(/* webpackChunkName: "work" */ '../work.ts')
  const { endChecks, mend } = await loadMend()
  core.notice(await (isFinished ? endChecks(folder) : mend(folder)))
}

await post().catch((error: unknown) =>
  core.warning(`the post step could not put things in order: ${messageOf(error)}`),
)
const artifact = core.getState('artifact')
// Here, not in main: a job that was cancelled or killed has more to tell than others.
if (artifact !== '') {
  const { upload } = await import(/* webpackChunkName: "action" */ './upload.ts')
  await upload(artifact, core.getState('finished') === 'true')
}
process.exitCode = 0
await leave()
