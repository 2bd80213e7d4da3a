// The output of gates: how much is stored, how much each surface shows, and which output shows a failure. Pure. docs/internals/gate-output.md
// follows an output from the process to the reader.
import type { Failure } from './attempt.ts'
import type { GateResult } from './gate.ts'

/** Limits in UTF-8 bytes, applied by `excerpt`. The log on the machine that ran the gate has more: gates/captured-output.ts. */
export const OUTPUT_BYTES = {
  /** Output of a gate, a browser check or a pipeline step, in the state. */
  stored: 16 * 1024,
  /** Within `stored`: the log of a service that ended too early. */
  service: 8 * 1024,
  /** Within `stored`: the logs of services that ran while a gate became red. */
  standingServices: 2 * 1024,
  /** In the next attempt's prompt. */
  prompt: 1500,
  /** In a judge's prompt, of all gates together. */
  judge: 2500,
  /** In the message of an error that ends the job. */
  error: 4000,
  /** In the reply to `/ralph why`, and in a terminal. */
  reply: 6000,
  terminal: 3000,
  /** In the breaker's comparison of one failure with another. */
  fingerprint: 600,
} as const

/** The output that shows a failure: its `detail`, then the output of the gate that it names. `of`: that gate's name, '' for none. */
export function failureOutput(
  failure: Failure | null,
  gates: readonly GateResult[],
): { of: string; output: string } | null {
  const gate = gates.find(({ name }) => name === failure?.gate)
  const parts = [failure?.detail ?? '', gate?.output ?? ''].map((text) => text.trim())
  const output = parts.filter((part) => part !== '').join('\n\n')
  return output === '' ? null : { of: gate?.name ?? '', output }
}
