// Whether an agent's program is there and can be started.

import { dirname } from 'node:path'
import type { OtherUser } from '../system/other-user.ts'
import { type Exit, runUntrusted } from '../system/process.ts'
import { findProgram } from '../system/program.ts'
import type { AgentVendor } from './agent.ts'
import { oneLine } from './ending.ts'

/** Why an agent cannot work, and what to do. */
export type Unready = { reason: string; fix: string }

export type Availability =
  | { ok: true; version: string }
  /** `isSlow`: it is there, and nothing is known against it. */
  | ({ ok: false; isSlow: boolean } & Unready)

export type AvailableOptions = { as?: OtherUser | null; signal?: AbortSignal; timeoutMs?: number }

/** A program of a megabyte of JavaScript takes its time on a busy machine. */
const VERSION_TIMEOUT_MS = 2 * 60_000

/** Looks the program up in `env.PATH` and asks for its version. */
export async function available(
  vendor: AgentVendor,
  env: Readonly<Record<string, string>>,
  { timeoutMs = VERSION_TIMEOUT_MS, ...options }: AvailableOptions = {},
): Promise<Availability> {
  const { program } = vendor
  const file = findProgram(program, env.PATH ?? '')
  if (file === null) return { ok: false, isSlow: false, ...unready(vendor, notFound(vendor)) }
  const args = ['--version']
  const run = await runUntrusted({
    ...options,
    ...{ file, args, env, timeoutMs, cwd: dirname(file), captureBytes: 4096 },
  })
  const output = run.output.trim()
  if (run.exit.kind === 'exit' && run.exit.code === 0) {
    const version = /\d+\.\d+[\w.+-]*/.exec(output)
    return { ok: true, version: version?.[0] ?? oneLine(output.split('\n')[0] ?? '') }
  }
  if (run.exit.kind === 'timeout') {
    const reason = `${program} is there, but did not say its version within ${timeoutMs / 1000} seconds`
    return { ok: false, isSlow: true, reason, fix: 'run again when the machine is less busy' }
  }
  const reason = `${program} --version ${describeExit(run.exit)}${output === '' ? '' : `: ${output}`}`
  return { ok: false, isSlow: false, ...unready(vendor, reason) }
}

/** Why the agent's program cannot be started, as far as can be said without starting it; null where it is there. */
export function missingProgram(vendor: AgentVendor, path: string): Unready | null {
  return findProgram(vendor.program, path) === null ? unready(vendor, notFound(vendor)) : null
}

function notFound({ program }: AgentVendor): string {
  return `${program} is not on the PATH`
}

function unready({ npm, install }: AgentVendor, reason: string): Unready {
  const fix = npm === null ? install : `set agent-version, and Ralph installs it; or ${install}`
  return { reason: oneLine(reason), fix }
}

function describeExit(exit: Exit): string {
  switch (exit.kind) {
    case 'exit':
      return `ended with exit code ${exit.code}`
    case 'signal':
      return `was killed by ${exit.signal}`
    case 'not-started':
      return `could not be started (${exit.reason})`
    default:
      return 'did not answer in time'
  }
}
