// A program's output: redacted and limited, for the state and for a log on this machine.
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CANCELLED } from '../engine/model/gate.ts'
import type { Redactor } from '../isolation/redact.ts'
import { cleanLines } from '../system/excerpt.ts'
import { clearPathTo } from '../system/files.ts'
import { shortenCaptured } from '../system/output.ts'
import type { Exit } from '../system/process.ts'

/** Bytes of the output that are searched and logged: half from the start and half from the end. */
const LOG_BYTES = 1024 * 1024
/** Further bytes on both sides of the cut, the length of the longest private key, so that no half of a secret remains. */
const MARGIN_BYTES = 20 * 1024
export const CAPTURE_BYTES = LOG_BYTES + 2 * MARGIN_BYTES

/** For bash, before the script. */
export const SHELL = ['--noprofile', '--norc', '-c']
/**
 * Both streams into one real pipe, as in a workflow step: Node gives a socket, which cannot be opened as `/dev/stderr`. The `cat`
 * ignores signals, so that it does not end before the program.
 */
export const INTO_ONE_PIPE = `exec > >(trap '' HUP INT TERM; exec cat) 2>&1; passes=$!`
/** Waits until the `cat` has passed everything on, or ends it if another process holds the pipe open. */
export const WAIT_FOR_PIPE = `exec >&- 2>&-; { sleep 0.25; kill -KILL "$passes"; } & wait "$passes"`

/** The output, redacted and limited. */
export function cleanOutput(output: string, redactor: Redactor): string {
  return shortenCaptured(cleanLines(output, redactor.redact), LOG_BYTES)
}

/** The folder of the logs, below `top`, which is Ralph's. */
export type LogFolder = { top: string; folder: string }

/** `logs` null: none is kept. */
export async function writeLog(
  logs: LogFolder | null,
  words: readonly string[],
  text: string,
): Promise<void> {
  if (logs === null) return
  const file = join(logs.top, logs.folder, `${words.filter(Boolean).join('-')}.log`)
  await clearPathTo(dirname(logs.top), file)
  await writeFile(file, text)
}

export function formatExit(exit: Exit, timeoutMs: number): string {
  switch (exit.kind) {
    case 'exit':
      return `exit ${exit.code}`
    case 'signal':
      return `ended by ${exit.signal}`
    case 'timeout':
      return `timed out after ${Math.round(timeoutMs / 1000)} s`
    case 'idle':
      return 'no output for too long'
    case 'aborted':
      return CANCELLED
    case 'not-started':
      return `not started: ${exit.reason}`
  }
}
