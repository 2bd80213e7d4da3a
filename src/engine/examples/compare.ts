// Compares what a glue printed with what examples expect. The values come from other processes, so everything in them is hostile. Pure.

import { type Example, type ExampleResult, type Glue, type GlueRun, isSameJson } from '../model/example.ts'
import { isObject } from '../model/json.ts'

/** How often a glue runs, each time in a new process. */
export const RUNS = 3
const MAX_SHOWN = 1000

/** An example with its expected value, which no other process sees. */
export type OpenExample = Pick<Example, 'criterion' | 'given' | 'expect'>

type Printed =
  | { kind: 'value'; value: unknown }
  | { kind: 'error'; text: string }
  /** A line about this example that is not JSON, such as one with NaN. */
  | { kind: 'broken'; text: string }

/** What a run printed, by the number of the example. Lines of other programs are left out. */
function printedIn(output: string): Map<number, Printed> {
  const found = new Map<number, Printed>()
  for (const line of output.split('\n')) {
    const number = Number(/"example"\s*:\s*(\d{1,4})/.exec(line.slice(0, 200))?.[1] ?? Number.NaN)
    if (Number.isNaN(number) || !line.trim().startsWith('{')) continue
    const printed = printedOn(line)
    const before = found.get(number)
    const isOther = before !== undefined && !isSamePrinted(before, printed)
    found.set(number, isOther ? { kind: 'error', text: 'the program printed two different values' } : printed)
  }
  return found
}

function printedOn(line: string): Printed {
  try {
    const value: unknown = JSON.parse(line)
    if (!isObject(value)) return { kind: 'broken', text: line }
    if ('actual' in value) return { kind: 'value', value: value.actual }
    const { error = 'the program printed neither a value nor an error' } = value
    return { kind: 'error', text: typeof error === 'string' ? error : JSON.stringify(error) }
  } catch {
    return { kind: 'broken', text: line }
  }
}

function isSamePrinted(one: Printed, other: Printed): boolean {
  if (one.kind === 'value') return other.kind === 'value' && isSameJson(one.value, other.value)
  return other.kind !== 'value' && one.text === other.text
}

/**
 * Why the glue itself cannot be used, so that another session has to write it again. Null if its runs show something about the product.
 * `givens` that are printed back say nothing, and neither does an error for each example.
 */
export function glueFault(
  runs: readonly GlueRun[],
  examples: readonly OpenExample[],
  glue: Glue,
): string | null {
  const tried = triedNumbers(examples, glue)
  if (tried.length === 0) return null
  for (const { ok, ended, output, errors } of runs) {
    if (output === null) return 'it printed more than 1 MB'
    const printed = printedIn(output)
    if (!tried.some((number) => printed.has(number)))
      return ok ? 'it printed no line for any example' : `it failed (${ended}): ${lastLine(errors)}`
    if (tried.every((number) => printed.get(number)?.kind === 'error')) {
      const first = printed.get(tried[0] ?? 0)
      return `each call failed: ${first?.kind === 'error' ? cut(first.text) : ''}`
    }
  }
  const printed = printedIn(runs[0]?.output ?? '')
  const isEcho = tried.every((number) => {
    const one = printed.get(number)
    const { given, expect } = examples[number - 1] ?? {}
    return one?.kind === 'value' && isSameJson(one.value, given) && !isSameJson(one.value, expect)
  })
  return isEcho ? 'it only printed the input of the examples' : null
}

/** The result of each example: `none` if the glue gave no value for it, since that shows nothing about the product. */
export function compareExamples(
  examples: readonly OpenExample[],
  runs: readonly GlueRun[],
  glue: Glue,
): ExampleResult[] {
  const all = runs.map(({ output }) => printedIn(output ?? ''))
  const isSilent =
    runs.every(({ ok, output }) => ok && output !== null) && all.every(({ size }) => size === 0)
  const isOnlyErrors = all.every((printed) => [...printed.values()].every(({ kind }) => kind === 'error'))
  return examples.map((example, index) => {
    const number = index + 1
    const about = { example: number, criterion: example.criterion }
    const left = glue.none.find((one) => one.example === number)
    if (left !== undefined) return { ...about, result: 'none', why: cut(left.why) }
    const given = shown(example.given)
    if (isSilent)
      return {
        ...about,
        result: 'mismatch',
        why: 'the program ended without a result',
        given,
        actual: 'nothing',
      }
    const printed = all.map((one) => one.get(number))
    const missing = runs.findIndex((_, at) => printed[at] === undefined)
    if (missing >= 0 || isOnlyErrors) {
      const run = runs[Math.max(0, missing)]
      const error = printed.find((one) => one?.kind === 'error')
      const why = error?.kind === 'error' ? error.text : describeMissing(run)
      return { ...about, result: 'none', why: cut(why) }
    }
    return { ...about, ...resultOf(example, printed as Printed[]), given }
  })
}

function describeMissing(run: GlueRun | undefined): string {
  if (run === undefined) return 'the program that calls the product did not run'
  if (run.output === null) return 'the program that calls the product printed more than 1 MB'
  return run.ok
    ? 'the program that calls the product printed no line for it'
    : `the program that calls the product failed (${run.ended})`
}

function resultOf(
  { expect }: OpenExample,
  printed: readonly Printed[],
): Pick<ExampleResult, 'result' | 'why' | 'actual'> {
  const wrong = printed.find((one) => one.kind !== 'value' || !isSameJson(one.value, expect))
  if (wrong === undefined) return { result: 'met', why: '' }
  const isSteady = printed.every((one) => isSamePrinted(one, wrong))
  const actual = wrong.kind === 'value' ? shown(wrong.value) : cut(wrong.text)
  if (!isSteady) {
    const values = printed.map((one) => (one.kind === 'value' ? shown(one.value) : cut(one.text)))
    return { result: 'mismatch', why: 'three runs gave different values', actual: cut(values.join(' | ')) }
  }
  const why =
    wrong.kind === 'value'
      ? 'the product gives another value'
      : wrong.kind === 'error'
        ? 'the call of the product failed'
        : 'the value of the product is not JSON'
  return { result: 'mismatch', why, actual }
}

function triedNumbers(examples: readonly OpenExample[], { none }: Glue): number[] {
  return examples.map((_, index) => index + 1).filter((number) => !none.some((one) => one.example === number))
}

export function shown(value: unknown): string {
  return cut(JSON.stringify(value) ?? 'nothing')
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
}

function lastLine(text: string): string {
  return cut(text.trim().split('\n').slice(-3).join(' '))
}
