// The start of the action. A job that works hides its tokens first. An event that is not for Ralph ends before the rest is loaded.
//
// Every process of the same user can read /proc/<pid>/environ, which shows the environment that a process was started with. So
// the process starts itself again, with only what agent and gates may see anyway. That includes certificates and proxies, which
// Node reads at its start, and the mark by which the runner ends processes that are left.
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
 * Has to be called first. Keeps pid, standard streams and arguments. Gives null, or why it could not be done (Windows, an older
 * Node, a full disk): then the environment stays visible.
 */
function hideEnvironment(): string | null {
  const handedFile = process.env[HANDED_ENV]
  if (handedFile !== undefined) {
    const env: Record<string, string> = JSON.parse(readFileSync(handedFile, 'utf8'))
    rmSync(handedFile)
    delete process.env[HANDED_ENV]
    // Variables that a running process sets do not show in /proc.
    Object.assign(process.env, env)
    return null
  }
  // Other events and commands start no untrusted program.
  const { GITHUB_EVENT_NAME, INPUT_COMMAND = '' } = process.env
  const runsUntrusted = ['doctor', 'verify'].includes(INPUT_COMMAND.trim())
  if (GITHUB_EVENT_NAME !== 'workflow_dispatch' && !runsUntrusted) return null
  const [program, script] = process.argv
  if (process.execve === undefined || program === undefined || script === undefined)
    return `Node ${process.version} cannot restart itself`
  const file = join(process.env.RUNNER_TEMP ?? tmpdir(), `ralph-${randomUUID()}`)
  try {
    // The runner empties this folder at the end of the job, even if this process dies before the file is read.
    writeFileSync(file, JSON.stringify(process.env), { mode: 0o600, flag: 'wx' })
    process.execve(program, [program, ...process.execArgv, script], { ...visibleEnv(), [HANDED_ENV]: file })
    return 'Node could not restart'
  } catch (error) {
    rmSync(file, { force: true })
    return error instanceof Error ? error.message : String(error)
  }
}

/** The variables that gates get, and those by which Node finds proxies and certificates. Those of the runner are in the file. */
function visibleEnv(): Record<string, string> {
  const { env } = gateEnv(process.env, {
    extra: ['NODE_USE_ENV_PROXY', 'NODE_USE_SYSTEM_CA'],
    isModelKey: () => false,
  })
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GITHUB_')))
}

/** The event that the runner wrote, and the mistake if the file is not a JSON object. Without a file the event is empty. */
function eventFile(): { payload: unknown; mistake: Mistake | null } {
  const { GITHUB_EVENT_PATH: path = '' } = process.env
  try {
    const payload: unknown = JSON.parse(existsSync(path) ? readFileSync(path, 'utf8') : '{}')
    if (asObject(payload) !== null) return { payload, mistake: null }
  } catch {}
  // The toolkit would read the broken file again when it is loaded, and throw.
  delete process.env.GITHUB_EVENT_PATH
  const mistake = {
    path: 'GITHUB_EVENT_PATH',
    found: `the runner's event file ${oneLine(path, 200)} is not a JSON object.`,
    expected: '',
    fix: 'run the job again. On your own runner, check that it writes the whole file before the job begins',
  }
  return { payload: {}, mistake }
}

/** Why this job has nothing to do, as far as its event says; null if it may have work. */
function reasonToSkip(payload: unknown): string | null {
  const { GITHUB_EVENT_NAME = '', INPUT_COMMAND = '' } = process.env
  const event = readEvent(GITHUB_EVENT_NAME, payload)
  if (INPUT_COMMAND.trim() === 'resume-lost')
    return GITHUB_EVENT_NAME !== 'pull_request' || event.kind === 'closed' ? null : NOT_CLOSED
  if (event.kind === 'closed') return 'Ralph ignores closed pull requests, except with `command: resume-lost`'
  if (event.kind === 'foreign') return `Ralph does not handle the event ${event.name}`
  // The workflow's own condition filters these as well; without a branch of this repository there is no run.
  if (event.kind === 'wake' && event.branches.length === 0)
    return 'the event is not about a branch of this repository'
  const isForRalph = event.kind !== 'comment' || parseSlash(event.comment.body, []).kind !== 'none'
  return isForRalph ? null : 'the comment is not for Ralph'
}

const NOT_CLOSED = 'no pull request of this repository was closed'

/** Starts the action. `loadJob` loads what works on a feature. */
export async function bootstrap(loadJob: () => Promise<{ startJob: typeof startJob }>): Promise<void> {
  // First: in the process that was started again, the path of the event is in the file as well.
  const visible = hideEnvironment()
  const { payload, mistake } = eventFile()
  const skipped = mistake === null ? reasonToSkip(payload) : null
  if (skipped === null) await (await loadJob()).startJob(visible, mistake)
  else process.stdout.write(`::notice::${skipped}\n`)
  // Sockets that octokit keeps open must not keep the job running.
  await exitAfterFlush()
}
