// What a red gate is told with of the services beside it.
import type { GateResult } from '../model/gate.ts'
import { excerpt } from '../system/excerpt.ts'
import { OUTPUT_BYTES } from './output.ts'
import type { Running } from './running.ts'

/** What is kept of one that fell. */
export const LAST_BYTES = 8 * 1024
/** Of those that stand: more would be no help in a prompt. */
export const BESIDE_LINES = 15
const BESIDE_BYTES = 2 * 1024

/** What a service said while the gate ran. */
export type Said = { name: string; text: string }

/**
 * Whoever mends a red gate reads of the services, too: first of one that fell, for it may have failed for that; else, behind
 * its own words, what those said that stand. Nothing is said twice.
 */
export function told(
  results: readonly GateResult[],
  reds: readonly GateResult[],
  said: readonly Said[],
): GateResult[] {
  const gate = results.find(isRed)
  if (gate === undefined) return [...results, ...reds]
  const words = reds.map(({ name, ended, output }) => `${name} ${ended}. Its last lines:\n${output}`)
  const fallen = excerpt(words.join('\n'), LAST_BYTES).trimEnd()
  const meanwhile = said.map(({ name, text }) => `Last lines of ${name} meanwhile:\n${text}`)
  const beside = excerpt(meanwhile.join('\n\n'), BESIDE_BYTES).trimEnd()
  const room = OUTPUT_BYTES - Buffer.byteLength(fallen) - Buffer.byteLength(beside) - gate.name.length - 10
  const own = excerpt(gate.output, room)
  const output =
    reds.length > 0 ? `${fallen}\n\n${gate.name}:\n${own}` : `${own.trimEnd()}\n\n${beside}\n`.trimStart()
  const pointer = `Its last lines stand in the output of gate ${gate.name}.\n`
  return [
    ...results.map((one) => (one === gate && reds.length + said.length > 0 ? { ...gate, output } : one)),
    ...reds.map((one) => ({ ...one, output: pointer })),
  ]
}

export function isRed({ ok, advisory }: GateResult): boolean {
  return !ok && !advisory
}

export function linesOf(ones: readonly Running[]): ReadonlyMap<Running, number> {
  return new Map(ones.map((one) => [one, one.lines]))
}

export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n')
}
