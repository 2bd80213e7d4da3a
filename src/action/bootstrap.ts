// The start of the action: what works hides its tokens first, and what is not for Ralph is answered before the rest is loaded.
//
// Tokens are hidden by taking the runner's environment out of everybody's sight: /proc/<pid>/environ shows what a process was
// started with, to every process of the same user. So the process starts itself anew, with what agent and gates may see
// anyway: certificates and proxies, which Node reads at its start, and the mark by which the runner ends what is left.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSlash } from '../engine/commands/command-table.ts'
import { asObject } from '../engine/model/json.ts'
import { oneLine } from '../engine/model/text.ts'
import { gateEnv } from '../isolation/untrusted-env.ts'
import type { Mistake } from '../system/errors.ts'
import { exitAfterFlush } from '../system/exit-after-flush.ts'
import { readEvent } from './github-event.ts'
import type { startJob } from './start-job.ts'

/** Names the file with the environment; read and removed before anything that is not trusted runs. */
const HANDED_ENV = 'RALPH_HANDED_ENV'

/**
 * Called first of all. Keeps pid, standard streams and arguments. Gives null, or why it could not be done (Windows, an
 * older Node, a full disk): then the environment stays where the runner has put it.
 */
function hideEnvironment(): string | null {
  const handed = process.env[HANDED_ENV]
  if (handed !== undefined) {
    const env: Record<string, string> = JSON.parse(readFileSync(handed, 'utf8'))
    rmSync(handed)
    delete process.env[HANDED_ENV]
    // What is set in a running process does not show in /proc.
    Object.assign(process.env, env)
    return null
  }
  // Only what works, or looks as if it worked, starts anything that is not trusted.
  const { GITHUB_EVENT_NAME, INPUT_COMMAND = '' } = process.env
  const isLook = ['doctor', 'verify'].includes(INPUT_COMMAND.trim())
  if (GITHUB_EVENT_NAME !== 'workflow_dispatch' && !isLook) return null
  const [program, script] = process.argv
  if (process.execve === undefined || program === undefined || script === undefined)
    return `node ${process.version} cannot start itself anew`
  const file = join(process.env.RUNNER_TEMP ?? tmpdir(), `ralph-${randomUUID()}`)
  try {
    // Should we die before it is read: the runner empties this folder with the job.
    writeFileSync(file, JSON.stringify(process.env), { mode: 0o600, flag: 'wx' })
    process.execve(program, [program, ...process.execArgv, script], { ...visibleEnv(), [HANDED_ENV]: file })
    return 'the program was not started'
  } catch (error) {
    rmSync(file, { force: true })
    return error instanceof Error ? error.message : String(error)
  }
}

/** What gates get, and how Node is to find the way out; the runner's own variables come with the rest. */
function visibleEnv(): Record<string, string> {
  const { env } = gateEnv(process.env, {
    extra: ['NODE_USE_ENV_PROXY', 'NODE_USE_SYSTEM_CA'],
    isModelKey: () => false,
  })
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GITHUB_')))
}

/** The event, as the runner has written it; what a person has to mend where that is no JSON. No file is an empty event. */
function eventFile(): { payload: unknown; mistake: Mistake | null } {
  const { GITHUB_EVENT_PATH: path = '' } = process.env
  try {
    const payload: unknown = JSON.parse(existsSync(path) ? readFileSync(path, 'utf8') : '{}')
    if (asObject(payload) !== null) return { payload, mistake: null }
  } catch {}
  // The toolkit reads it again as soon as it is loaded, and throws.
  delete process.env.GITHUB_EVENT_PATH
  const mistake = {
    path: 'GITHUB_EVENT_PATH',
    found: `${oneLine(path, 200)}, which holds no JSON object`,
    expected: 'the event of this run, as the runner writes it',
    fix: 'run the job again; on a runner of your own, see that it writes the whole file before the job begins',
  }
  return { payload: {}, mistake }
}

/** Why this run has nothing to do, known by its event alone; null where it may have. */
function notForRalph(payload: unknown): string | null {
  const { GITHUB_EVENT_NAME = '', INPUT_COMMAND = '' } = process.env
  if (INPUT_COMMAND.trim() === 'resume-lost') return null
  const event = readEvent(GITHUB_EVENT_NAME, payload)
  if (event.kind === 'foreign') return `the event ${event.name} is none of Ralph's`
  const isSaid = event.kind !== 'comment' || parseSlash(event.comment.body, []).kind !== 'none'
  return isSaid ? null : 'the comment is not for Ralph'
}

/** Starts the action. `loadJob` loads what works on a feature. */
export async function bootstrap(loadJob: () => Promise<{ startJob: typeof startJob }>): Promise<void> {
  // First of all: in the process that was started anew, the event too comes from the file that was handed over.
  const visible = hideEnvironment()
  const { payload, mistake } = eventFile()
  const nothing = mistake === null ? notForRalph(payload) : null
  if (nothing === null) await (await loadJob()).startJob(visible, mistake)
  else process.stdout.write(`::notice::${nothing}\n`)
  // Sockets that octokit keeps alive must not keep the job.
  await exitAfterFlush()
}
