// Runs the gates and the prepare command: in order, bounded in time and output, without keys. Implements GatesPort.
import type { Gate, GateResult } from '../model/gate.ts'
import type { GateRun, GatesPort } from '../model/ports.ts'
import { isFor } from '../model/service.ts'
import { excerpt } from '../system/excerpt.ts'
import type { OtherUser } from '../system/other-user.ts'
import { runUntrusted } from '../system/process.ts'
import type { Redactor } from '../system/redact.ts'
import {
  CAPTURE_BYTES,
  cleaned,
  formatExit,
  INTO_ONE_PIPE,
  type LogFolder,
  OUTPUT_BYTES,
  SHELL,
  writeLog,
} from './output.ts'
import type { Services } from './services.ts'

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
  logs: LogFolder | null
  onStart(name: string): void
  onEnd(result: GateResult): void
  /** Asked for when gates first run. */
  services?: () => Promise<Services>
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

const PIPED = `${INTO_ONE_PIPE}; exec bash ${SHELL.join(' ')} "$1"`
/** How long `prepare` may take, milliseconds. */
export const PREPARE_TIMEOUT_MS = 30 * 60_000

export function createGates(options: GatesOptions): GatesPort {
  /** The commit whose lockfiles the dependencies that are there belong to. */
  let preparedFor: string | null = null
  let services: Promise<Services> | undefined
  const user = options.as ?? null

  async function command(gate: Gate, signal: AbortSignal, what = '', as = user): Promise<GateResult> {
    options.onStart(gate.name)
    const ran = await runUntrusted({
      file: 'bash',
      args: [...SHELL, PIPED, 'bash', gate.run],
      cwd: options.cwd,
      env: options.env,
      timeoutMs: gate.timeoutMs,
      signal,
      captureBytes: CAPTURE_BYTES,
      ...(options.mark === undefined ? {} : { mark: options.mark }),
      as,
    })
    const ok = ran.exit.kind === 'exit' && ran.exit.code === 0
    const whole = cleaned(ran.output, options.redactor)
    const output = excerpt(whole, OUTPUT_BYTES)
    const ended = formatExit(ran.exit, gate.timeoutMs)
    const result = { name: gate.name, ok, advisory: gate.advisory, ended, ms: ran.ms, output }
    await writeLog(options.logs, [what, gate.name], whole)
    options.onEnd(result)
    return result
  }

  async function close(): Promise<void> {
    await (await services)?.[Symbol.asyncDispose]()
  }

  /** `as`: who runs each of them. */
  async function gated(
    run: GateRun,
    signal: AbortSignal,
    isUp: () => boolean = () => true,
    as: () => OtherUser | null = () => user,
  ): Promise<GateResult[]> {
    const results: GateResult[] = []
    const goesOn = () => !signal.aborted && isUp() && results.every(({ ok, advisory }) => ok || advisory)
    for (const gate of options.gates.filter(({ when }) => isFor(when, run.tags)))
      if (goesOn()) results.push(await command(gate, signal, run.what, as()))
    if (options.after !== undefined && goesOn()) results.push(...(await options.after(run, signal, as())))
    return results
  }

  return {
    async run(run, signal) {
      services ??= options.services?.()
      // Once for all of them: it takes a walk over the tree.
      await user?.grant()
      try {
        if (services === undefined) return await gated(run, signal)
        return await (await services).beside(run, signal, (isUp, as) => gated(run, signal, isUp, as))
      } finally {
        await user?.revoke()
      }
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
      await close()
      await options.as?.renewHome()
    },
    [Symbol.asyncDispose]: close,
  }
}
