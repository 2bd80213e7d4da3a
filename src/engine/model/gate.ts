// Gates, what they said, and where in the code they said it.
import * as z from 'zod/mini'
import { importantLines } from '../../system/excerpt.ts'
import { oneLine } from './text.ts'

/** A gate runs by `bash -c`. `when` null: for every story; else only for stories with one of these tags, exactly. */
export type Gate = {
  name: string
  run: string
  timeoutMs: number
  when: string[] | null
  advisory: boolean
  /** JUnit XML and SARIF files that it writes: paths or globs from its folder. */
  report?: readonly string[]
  /** How often it runs again on the same tree when it is red. */
  retries?: number
  /** What tests ran, as it wrote that down (lcov or Cobertura); `threshold` null: remarks only. */
  coverage?: { file: string; threshold: number | null }
  /** Gates that have to be over before it begins. */
  needs?: readonly string[]
  /** No other gate runs beside it. */
  alone?: true
  /** It runs for stories whose change touches such a file, as in .gitignore; the whole runs it in any case. */
  paths?: readonly string[]
  /** A green result never counts again on the same tree. */
  reuse?: false
  /** It runs once the pages have been looked at; the others run before. */
  behindPages?: true
}

export const BROWSER_GATE = 'browser'

/** How a gate `ended` that was ended with its run: it says nothing about the tree. */
export const CANCELLED = 'cancelled'

export type TestCounts = z.infer<typeof TestCounts>
export const TestCounts = z.object({
  passed: z.number(),
  failed: z.number(),
  skipped: z.number(),
  /** Files of tests that ended without one. */
  empty: z.exactOptional(z.number()),
})

/** A place in a file that a gate named. `message` is one to three lines, not trusted. */
export type Annotation = z.infer<typeof Annotation>
export const Annotation = z.object({
  path: z.string(),
  line: z.number(),
  message: z.string(),
  level: z.enum(['failure', 'warning', 'notice']),
})

/** A picture of a page. `blob` is a WebP image in Ralph's own objects, which the state keeps. */
export type Screenshot = z.infer<typeof Screenshot>
export const Screenshot = z.object({
  url: z.string(),
  /** Such as `1280x800`. */
  viewport: z.string(),
  blob: z.string(),
  bytes: z.number(),
  /** The same page as it last was green; null where it was not there. */
  before: z.nullable(z.string()),
})

/** One gate's run. `output` is bounded and redacted; `ms` is wall time. */
export type GateResult = z.infer<typeof GateResult>
export const GateResult = z.object({
  name: z.string(),
  ok: z.boolean(),
  advisory: z.boolean(),
  /** Plain words: `exit 1`, `timed out after 15m`. */
  ended: z.string(),
  ms: z.number(),
  output: z.string(),
  tests: z.exactOptional(TestCounts),
  /** It was green in a clean room then, epoch milliseconds; `key`: what its result depends on, as a digest. */
  green: z.exactOptional(z.object({ key: z.string(), at: z.number() })),
  /** It did not run again: such as `US-004, 3 min ago`. */
  asAt: z.exactOptional(z.string()),
  /** Files of the commit changed while it ran beside others: from now on it runs alone. */
  alone: z.exactOptional(z.literal(true)),
  /** It was red, and green when it ran again on the same tree. */
  flaky: z.exactOptional(z.literal(true)),
  /** What a person should know of a green one, too: slower than before, lines that no test ran. */
  remarks: z.exactOptional(z.array(z.string())),
  /** What a green one no longer checks: tests that did not run, or were skipped. Somebody has to have asked for it. */
  findings: z.exactOptional(z.array(z.string())),
  /** It ran once more, with the files of tests and the settings of its tools as they were before the change. */
  asItWas: z.exactOptional(z.literal(true)),
  /** From files that the gate wrote (`report`); what stands in its output is found there when it is shown. */
  annotations: z.exactOptional(z.array(Annotation)),
  screenshots: z.exactOptional(z.array(Screenshot)),
})

/** Services have results among those of gates, and run beside them. */
export function isService({ name }: Pick<GateResult, 'name'>): boolean {
  return name.startsWith('service ')
}

/** Red, and no advice. */
export function isRed({ ok, advisory }: Pick<GateResult, 'ok' | 'advisory'>): boolean {
  return !ok && !advisory
}

/** Red, and only reported: with the tests as they were an advisory gate counts, too. */
export function isAdvice(gate: Pick<GateResult, 'ok' | 'advisory' | 'asItWas'>): boolean {
  return !gate.ok && gate.advisory && gate.asItWas !== true
}

/** What a gate took on the base, and counted when it last was green there or for a story; to compare with. */
export type GateBaseline = z.infer<typeof GateBaseline>
export const GateBaseline = z.object({
  ms: z.number(),
  tests: z.exactOptional(TestCounts),
  /** See GateResult. */
  alone: z.exactOptional(z.literal(true)),
  /** It was green at the fork point; else it was green for the first time with a story's work. */
  atFork: z.exactOptional(z.literal(true)),
})

/** What a person should know of these gates, a line each; what they no longer check comes first. */
export function remarksOf(gates: readonly GateResult[]): string[] {
  const remarks = gates.flatMap(({ name, remarks: all = [] }) => all.map((one) => `gate ${name}: ${one}`))
  return [...gateFindings(gates), ...remarks]
}

/** What green gates no longer check since a change, a line each. */
export function gateFindings(gates: readonly GateResult[]): string[] {
  const red = gates.filter(({ ok, asItWas }) => asItWas === true && !ok)
  return [
    ...red.map(
      ({ name, ended, output }) =>
        `gate ${name}: red (${ended}): ${oneLine(importantLines(output, 3).join('; '), 160)}`,
    ),
    ...gates.flatMap(({ name, findings = [] }) => findings.map((one) => `gate ${name}: ${one}`)),
  ]
}

/** The name of a gate that runs with the tests as they were. */
export function asItWasName(name: string): string {
  return `${name} (tests as they were)`
}
