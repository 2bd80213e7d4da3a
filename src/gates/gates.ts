// Runs the gates and the prepare command: in order, bounded in time and output, without keys. Implements GatesPort.
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Gate, GateResult } from '../model/gate.ts'
import type { GateRun, GatesPort } from '../model/ports.ts'
import { isFor } from '../model/service.ts'
import { excerpt, settledLines } from '../system/excerpt.ts'
import { clearWay } from '../system/files.ts'
import type { OtherUser } from '../system/other-user.ts'
import { cutAgain } from '../system/output.ts'
import { type Exit, runUntrusted } from '../system/process.ts'
import type { Redactor } from '../system/redact.ts'

export type GatesOptions = {
  gates: readonly Gate[]
  prepare: string | null
  /** True when a lockfile differs between the two commits. */
  lockfileChanged(from: string, to: string): Promise<boolean>
  cwd: string
  /** The allow-listed environment: no token, no model key. */
  env: Readonly<Record<string, string>>
  redactor: Redactor
  /** See RunRequest. */
  mark?: string
  /** See RunRequest. */
  as?: OtherUser | null
  /** Whole outputs are kept here, on this machine only; null keeps none. */
  logs: string | null
  onStart(name: string): void
  onEnd(result: GateResult): void
  after?: AfterGates
}

/**
 * Looks at the work once its gates are green, beside the services that they had. `as`: the gates' user, as which a program
 * may end without ending the services; null for our own.
 */
export type AfterGates = (
  run: GateRun,
  signal: AbortSignal,
  as: OtherUser | null,
) => Promise<readonly GateResult[]>

/** What a prompt, a check and the state keep of a gate's output. */
const OUTPUT_BYTES = 16 * 1024
/** What is looked through for it, and kept on this machine: half from the start and half from the end. */
const LOG_BYTES = 1024 * 1024
/** More is looked at on both sides of the cut, so that no half of a secret stands beside it: the longest private key. */
const MARGIN_BYTES = 20 * 1024
const SHELL = ['--noprofile', '--norc', '-c']
/**
 * Both streams into one real pipe, as a step of a workflow has it: what Node gives is a socket, which nobody can open by
 * `/dev/stderr`. Who only passes on is not ended before whom it hears.
 */
const PIPED = `exec > >(trap '' HUP INT TERM; exec cat) 2>&1; exec bash ${SHELL.join(' ')} "$1"`
/** How long `prepare` may take, milliseconds. */
export const PREPARE_TIMEOUT_MS = 30 * 60_000

export function createGates(options: GatesOptions): GatesPort {
  /** The commit whose lockfiles the dependencies that are there belong to. */
  let preparedFor: string | null = null

  async function command(gate: Gate, signal: AbortSignal, what = ''): Promise<GateResult> {
    options.onStart(gate.name)
    const ran = await runUntrusted({
      file: 'bash',
      args: [...SHELL, PIPED, 'bash', gate.run],
      cwd: options.cwd,
      env: options.env,
      timeoutMs: gate.timeoutMs,
      signal,
      captureBytes: LOG_BYTES + 2 * MARGIN_BYTES,
      ...(options.mark === undefined ? {} : { mark: options.mark }),
      as: options.as ?? null,
    })
    const ok = ran.exit.kind === 'exit' && ran.exit.code === 0
    // A control sequence in the middle of a key would hide it from the redactor.
    const plain = settledLines(ran.output).join('\n')
    const whole = cutAgain(options.redactor.redact(plain), LOG_BYTES)
    const output = excerpt(whole, OUTPUT_BYTES)
    const ended = formatExit(ran.exit, gate.timeoutMs)
    const result = { name: gate.name, ok, advisory: gate.advisory, ended, ms: ran.ms, output }
    if (options.logs !== null)
      await log(join(options.logs, `${[what, gate.name].filter(Boolean).join('-')}.log`), whole)
    options.onEnd(result)
    return result
  }

  return {
    async run(run, signal) {
      const { tags, what } = run
      const results: GateResult[] = []
      const isRed = () => signal.aborted || results.some(({ ok, advisory }) => !ok && !advisory)
      // Once for all of them: it takes a walk over the tree.
      await options.as?.grant()
      try {
        for (const gate of options.gates) {
          if (!isFor(gate.when, tags)) continue
          results.push(await command(gate, signal, what))
          if (isRed()) break
        }
        if (options.after !== undefined && !isRed())
          results.push(...(await options.after(run, signal, options.as ?? null)))
      } finally {
        await options.as?.revoke()
      }
      return results
    },
    async prepare(commit, signal, what) {
      const { prepare: run } = options
      if (run === null) return null
      const before = preparedFor
      preparedFor = commit
      if (before !== null && !(await options.lockfileChanged(before, commit))) return null
      const gate = { name: 'prepare', run, timeoutMs: PREPARE_TIMEOUT_MS, when: null, advisory: false }
      const result = await command(gate, signal, what)
      if (!result.ok) preparedFor = null
      return result
    },
    async renew() {
      preparedFor = null
      await options.as?.renewHome()
    },
  }
}

async function log(file: string, text: string): Promise<void> {
  await clearWay(dirname(dirname(dirname(file))), file)
  await writeFile(file, text)
}

function formatExit(exit: Exit, timeoutMs: number): string {
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
      return 'cancelled'
    case 'not-started':
      return `not started: ${exit.reason}`
  }
}
