// The door of the action: what is not for Ralph is answered before the rest is loaded, and what works hides its tokens first.
import { readFileSync } from 'node:fs'
import { parseSlash } from '../loop/command-table.ts'
import { leave } from '../system/leave.ts'
import { hideEnvironment } from './clean-env.ts'
import { readEvent } from './event.ts'

/** Why this run has nothing to do, known by its event alone; null where it may have. */
function notForRalph(): string | null {
  const { GITHUB_EVENT_NAME = '', GITHUB_EVENT_PATH = '', INPUT_COMMAND = '' } = process.env
  if (INPUT_COMMAND.trim() === 'resume-lost') return null
  const event = readEvent(GITHUB_EVENT_NAME, payloadOf(GITHUB_EVENT_PATH))
  if (event.kind === 'foreign') return `the event ${event.name} is none of Ralph's`
  const isSaid = event.kind !== 'comment' || parseSlash(event.comment.body, []).kind !== 'none'
  return isSaid ? null : 'the comment is not for Ralph'
}

function payloadOf(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return {}
  }
}

// First of all: in the process that was started anew, the event too comes from the file that was handed over.
const visible = hideEnvironment()
const nothing = notForRalph()
if (nothing === null) {
  const { act } = await import(/* webpackChunkName: "work" */ './main.ts')
  await act(visible)
} else {
  process.stdout.write(`::notice::${nothing}\n`)
}
// Sockets that octokit keeps alive must not keep the job.
await leave()
