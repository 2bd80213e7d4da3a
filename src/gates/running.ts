// One service as a process: its start, its end, and its output.
import { randomBytes } from 'node:crypto'
import type { Service } from '../engine/model/service.ts'
import { capture } from '../system/output.ts'
import { type RunRequest, type RunResult, runUntrusted } from '../system/process.ts'
import { CAPTURE_BYTES, formatExit, INTO_ONE_PIPE, SHELL, WAIT_FOR_PIPE } from './captured-output.ts'

export type RunningService = {
  service: Service
  /** How it ended, as text; null while it runs. */
  ended: string | null
  /** Its command has ended, but processes that it started may still run. */
  hasLeft: boolean
  over: Promise<RunResult>
  /** Its output so far, limited, in whole lines. */
  output(): string
  stop(): void
}

/**
 * A program may start another one and exit (`pg_ctl start`). Then this script stays, so that the other one is not ended, and
 * prints a random mark to report it.
 */
const STAYING_SCRIPT = [
  `${INTO_ONE_PIPE}; bash ${SHELL.join(' ')} "$1"; code=$?`,
  `[ $code != 0 ] || { printf '\\n%s\\n' "$2"; exec tail -f /dev/null; }`,
  `${WAIT_FOR_PIPE}; exit $code`,
].join('; ')

export function startService(
  service: Service,
  command: string,
  how: Pick<RunRequest, 'cwd' | 'env' | 'mark' | 'as'>,
  onLine: (line: string) => void,
): RunningService {
  const stop = new AbortController()
  const exitMark = randomBytes(16).toString('hex')
  const captured = capture(CAPTURE_BYTES)
  const onOutput = (line: string) => {
    captured.push(`${line}\n`)
    if (line.includes(exitMark)) one.hasLeft = true
    onLine(line)
  }
  const run = runUntrusted({
    ...how,
    file: 'bash',
    args: [...SHELL, STAYING_SCRIPT, 'bash', command, exitMark],
    timeoutMs: Number.MAX_SAFE_INTEGER,
    signal: stop.signal,
    captureBytes: 0,
    onLine: (_, line) => onOutput(line),
    onExit: (exit) => {
      one.ended = formatExit(exit, 0)
    },
  })
  const over = run.then((result) => {
    one.ended ??= formatExit(result.exit, 0) // it was not even started
    return result
  })
  const one: RunningService = {
    service,
    ended: null,
    hasLeft: false,
    over,
    output: () => captured.text().replace(`\n${exitMark}\n`, ''),
    stop: () => stop.abort(),
  }
  return one
}
