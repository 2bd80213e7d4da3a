// Starts a program that is not trusted and ends it with every descendant, also those in other sessions.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from './errors.ts'
import {
  endOrphans,
  endOrphansOfRun,
  endOrphansSync,
  isGroupAlive,
  MARK_NAME,
  markOfPart,
  newMark,
  openRunFolder,
  signalGroup,
  startTicksOf,
} from './orphans.ts'
import { capture, lineSplitter } from './output.ts'
import { type ProgramUser, STARTER_ENV, type UserProcesses } from './program-user.ts'
import { resolvesWithin } from './within.ts'

export { endOrphans, endOrphansOfRun, MARK_NAME, markOfPart, newMark, openRunFolder }

/** How a program ended. `timeout` is the wall clock, `idle` no output for too long, `aborted` our own cancellation. */
export type Exit =
  | { kind: 'exit'; code: number }
  | { kind: 'signal'; signal: string }
  | { kind: 'timeout' }
  | { kind: 'idle' }
  | { kind: 'aborted' }
  | { kind: 'not-started'; reason: string }

/** How a program ended, in words that follow its name. */
export function describeExit(exit: Exit): string {
  switch (exit.kind) {
    case 'exit':
      return `ended with exit code ${exit.code}`
    case 'signal':
      return `was ended by ${exit.signal}`
    case 'not-started':
      return `could not be started: ${exit.reason}`
    case 'aborted':
      return 'was cancelled'
    default:
      return 'took too long'
  }
}

export type RunRequest = {
  file: string
  args: readonly string[]
  cwd: string
  /** The whole environment: nothing is inherited. */
  env: Readonly<Record<string, string>>
  /** Written to stdin, which is then closed. Without it stdin is closed at once. */
  stdin?: string
  /** Talks with the program: stdin stays open, and only the caller reads stdout, without a limit. */
  dialogue?: (to: Writable, from: Readable) => void
  timeoutMs: number
  idleTimeoutMs?: number
  signal?: AbortSignal
  /** Every complete line of stdout or stderr, decoded, without its line end. */
  onLine?: (stream: 'stdout' | 'stderr', line: string) => void
  /** Called when the program itself has ended. Its descendants may still run, and its last output may still be on the way. */
  onExit?: (exit: Exit) => void
  /** A longer line is delivered cut, in UTF-16 units; see output.ts. */
  lineLimit?: number
  /** At most this many bytes of output are kept: head and tail, and the number of bytes between. */
  captureBytes: number
  /** Runs it as this user, who may write to the work tree meanwhile; null for our own user. */
  as?: ProgramUser | null
  /** Value of the marker variable, for callers that store it so that a later job can end survivors; else random. */
  mark?: string
}

export type RunResult = { exit: Exit; output: string; ms: number }

/** Time from SIGTERM to SIGKILL, in which agents end the shells of their tools. */
const GRACE_MS = 800
/** After the program's end, for output still in the pipes; a grandchild may hold them open for ever. */
const STREAM_GRACE_MS = 250
/** A longer delay overflows Node's timer and fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Runs one program to its end and ends every process it leaves behind, before it returns; never rejects for
 * anything the program does. A program that cannot be started (ENOENT, EACCES, E2BIG ...) gives `not-started`.
 * A throwing `onLine` is our own mistake: the program is ended and the error is thrown on. It rejects as well, when
 * processes of another user cannot be ended: nothing may continue alongside them.
 */
export async function runUntrusted(request: RunRequest): Promise<RunResult> {
  startedRuns += 1
  try {
    return await run(request)
  } finally {
    endedRuns += 1
  }
}

let startedRuns = 0
let endedRuns = 0

/** How many untrusted programs were started so far; null while one runs. The same number twice: none ran in between. */
export function untrustedRunCount(): number | null {
  return startedRuns === endedRuns ? startedRuns : null
}

async function run(request: RunRequest): Promise<RunResult> {
  const began = performance.now()
  const resultOf = (exit: Exit, output = ''): RunResult => ({ exit, output, ms: performance.now() - began })
  if (request.signal?.aborted === true) return resultOf({ kind: 'aborted' })

  const mark = request.mark ?? newMark()
  const as = request.as ?? null
  await as?.grant()
  const child = await start(request, mark)
  if ('reason' in child) {
    await as?.revoke()
    return resultOf({ kind: 'not-started', reason: child.reason })
  }

  const running = { pid: child.pid, mark, since: startTicksOf(child.pid), as }
  const processes = as?.isShared === true ? as.descendantsOf(child.pid) : as
  if (runningPrograms.size === 0) process.on('exit', endRunningPrograms)
  runningPrograms.add(running)
  let isOver = false
  try {
    const exit = await Promise.race([child.exited, child.interrupted])
    if (exit.kind === 'exit' || exit.kind === 'signal') {
      // Before the survivors are ended: `cmd > >(tee log)` writes its last lines after the shell has gone.
      await resolvesWithin(STREAM_GRACE_MS, child.drained)
    } else {
      await endGroup(child, processes)
    }
    signalGroup(child.pid, 'SIGKILL')
    await endOrphans(mark, running.since)
    await processes?.end()
    isOver = true
    await resolvesWithin(STREAM_GRACE_MS, child.drained)
    const { output, lineError } = child.close()
    if (lineError !== undefined) throw lineError.error
    return resultOf(exit, output)
  } finally {
    runningPrograms.delete(running)
    if (runningPrograms.size === 0) process.off('exit', endRunningPrograms)
    // Root works by path. A process that still lives could replace a folder by a link, so the tree stays the user's.
    if (isOver) await as?.revoke()
    else child.close()
  }
}

/** The programs that run now. */
const runningPrograms = new Set<{ pid: number; mark: string; since: number; as: ProgramUser | null }>()

/** Ends all of them at `process.exit` or an uncaught error of Ralph's process. Must be synchronous. */
function endRunningPrograms(): void {
  for (const { pid, mark, since, as } of runningPrograms) {
    as?.signal('SIGKILL')
    signalGroup(pid, 'SIGKILL')
    endOrphansSync(mark, since)
  }
}

/** A child process that runs: its end, its output, and the limit that ended it. */
type RunningChild = {
  pid: number
  /** The end of the program itself, by an exit or a signal. */
  exited: Promise<Exit>
  /** Time-out, idle time-out or abort, whichever comes first. */
  interrupted: Promise<Exit>
  /** Both streams have ended, also one that the caller reads. */
  drained: Promise<unknown>
  /** Closes the streams, and delivers a last line that has no line end. `lineError`: what `onLine` threw. */
  close(): { output: string; lineError: { error: unknown } | undefined }
}

function watchChild(child: ChildProcess, pid: number, request: RunRequest, mark: string): RunningChild {
  const { dialogue: talk, as, env } = request
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      const exit: Exit = signal === null ? { kind: 'exit', code: code ?? 0 } : { kind: 'signal', signal }
      request.onExit?.(exit)
      resolve(exit)
    })
  })
  const watch = watchLimits(request)
  const output = capture(request.captureBytes)
  let lineError: { error: unknown } | undefined
  const keep = (text: () => string): void => {
    if (lineError !== undefined) return
    try {
      output.push(text())
    } catch (error) {
      lineError = { error }
      watch.interrupt({ kind: 'aborted' })
    }
  }
  const readStreams = talk === undefined ? (['stdout', 'stderr'] as const) : (['stderr'] as const)
  const streams = readStreams.flatMap((name) => {
    const stream = child[name]
    if (stream === null) return []
    const lines = lineSplitter((line) => request.onLine?.(name, line), request.lineLimit)
    stream.on('data', (chunk: Uint8Array) => {
      watch.sawOutput()
      keep(() => lines.push(chunk))
    })
    const close = (): void => {
      stream.removeAllListeners('data')
      stream.destroy()
      keep(() => lines.end())
    }
    return [{ drained: atEnd(stream), close }]
  })

  // EPIPE: a program need not read all of its stdin.
  child.stdin?.on('error', () => {})
  if (as !== undefined && as !== null) child.stdin?.write(as.preamble({ ...as.env(env), [MARK_NAME]: mark }))
  if (talk === undefined || child.stdin === null || child.stdout === null) child.stdin?.end(request.stdin)
  else talk(child.stdin, child.stdout)

  return {
    pid,
    exited,
    interrupted: watch.interrupted,
    drained: Promise.all([
      ...streams.map(({ drained }) => drained),
      ...(talk === undefined || child.stdout === null ? [] : [atEnd(child.stdout)]),
    ]),
    close() {
      watch.stop()
      for (const stream of streams) stream.close()
      child.stdin?.destroy()
      child.stdout?.destroy()
      return { output: output.text(), lineError }
    },
  }
}

async function start(request: RunRequest, mark: string): Promise<RunningChild | { reason: string }> {
  try {
    const as = request.as ?? null
    const { file, args } = as === null ? request : as.command(request.file, request.args, request.cwd)
    const isQuiet = request.stdin === undefined && request.dialogue === undefined && as === null
    const child = spawn(file, [...args], {
      cwd: request.cwd,
      // The other user's environment is passed on stdin, so that it is in no argument and in no process of root's.
      env: as === null ? { ...request.env, [MARK_NAME]: mark } : STARTER_ENV,
      detached: process.platform !== 'win32', // its own group: one signal reaches all that stay in it
      stdio: [isQuiet ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    if (child.pid !== undefined) {
      child.on('error', () => {}) // without a listener it would end Ralph
      return watchChild(child, child.pid, request, mark)
    }
    const error = await new Promise<unknown>((resolve) => child.once('error', resolve))
    return { reason: startFailure(request, error) }
  } catch (error) {
    return { reason: startFailure(request, error) } // E2BIG, a NUL byte in an argument: thrown at once
  }
}

/** Node's ENOENT names the program even if the working directory is missing. */
function startFailure(request: RunRequest, error: unknown): string {
  return existsSync(request.cwd) ? messageOf(error) : `the working directory ${request.cwd} does not exist`
}

/** The limits of a run. Call `sawOutput` for every chunk, and `stop` at the end. */
function watchLimits({ timeoutMs, idleTimeoutMs, signal }: RunRequest) {
  let interrupt: (exit: Exit) => void = () => {}
  const interrupted = new Promise<Exit>((resolve) => {
    interrupt = resolve
  })
  const timeoutTimer = setTimeout(() => interrupt({ kind: 'timeout' }), timerMs(timeoutMs))

  let lastOutput = performance.now()
  let idleTimer: NodeJS.Timeout | undefined
  // The timer is set again for the remaining time, not for every chunk: there may be millions of them.
  const armIdle = (limitMs: number, leftMs: number): void => {
    idleTimer = setTimeout(() => {
      const left = limitMs - (performance.now() - lastOutput)
      if (left < 1) interrupt({ kind: 'idle' })
      else armIdle(limitMs, left)
    }, timerMs(leftMs))
  }
  if (idleTimeoutMs !== undefined) armIdle(idleTimeoutMs, idleTimeoutMs)

  const onAbort = (): void => interrupt({ kind: 'aborted' })
  signal?.addEventListener('abort', onAbort, { once: true })
  return {
    interrupted,
    interrupt,
    sawOutput: () => {
      lastOutput = performance.now()
    },
    stop: () => {
      clearTimeout(timeoutTimer)
      clearTimeout(idleTimer)
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

/** SIGTERM to the group, then time to finish until the whole group is gone or the grace is over. */
async function endGroup(
  child: RunningChild,
  as: Pick<UserProcesses, 'signal' | 'isRunning'> | null,
): Promise<void> {
  as?.signal('SIGTERM')
  signalGroup(child.pid, 'SIGTERM')
  const deadline = performance.now() + GRACE_MS
  await resolvesWithin(GRACE_MS, child.exited)
  while (performance.now() < deadline && (as?.isRunning() ?? isGroupAlive(child.pid))) await delay(20)
  signalGroup(child.pid, 'SIGKILL')
  await resolvesWithin(STREAM_GRACE_MS, child.exited)
}

function atEnd(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.once('error', () => resolve())
  })
}

function timerMs(ms: number): number {
  return Math.min(Math.max(ms, 0), LONGEST_TIMER_MS)
}
