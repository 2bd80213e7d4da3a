// The post step: mends what main could not finish (cancelled, killed, timed out). It never fails the job.
import * as core from '@actions/core'
import { messageOf } from '../system/errors.ts'
import { leave } from '../system/leave.ts'

async function post(): Promise<void> {
  if (core.getState('finished') === 'true' || core.getState('folder') === '') return
  const { mend } = await import('./mend.ts')
  core.notice(await mend(core.getState('folder')))
}

await post().catch((error: unknown) =>
  core.warning(`the post step could not put things in order: ${messageOf(error)}`),
)
process.exitCode = 0
await leave()
