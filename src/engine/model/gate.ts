// Gates, their results, and the annotations and screenshots in them.
import * as z from 'zod/mini'
import { importantLines } from '../../system/excerpt.ts'
import { oneLine } from './text.ts'

/** A gate runs by `bash -c`. `when` null: for every story; else only for stories with exactly one of these tags. */
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
  /** Its coverage report (lcov or Cobertura); `threshold` null: it only gives remarks. */
  coverage?: { file: string; threshold: number | null }
  /** Gates that have to end before it begins. */
  needs?: readonly string[]
  /** No other gate runs at the same time. */
  alone?: true
  /** It runs for stories whose change touches such a file (patterns as in .gitignore); the final verification always runs it. */
  paths?: readonly string[]
  /** A green result is never reused on the same tree. */
  reuse?: false
  /** It runs after the browser check; the others run before. */
  behindPages?: true
}

export const BROWSER_GATE = 'browser'

/** The value of `ended` for a gate that was cancelled with its run: it says nothing about the tree. */
export const CANCELLED = 'cancelled'

export type TestCounts = z.infer<typeof TestCounts>
export const TestCounts = z.object({
  passed: z.number(),
  failed: z.number(),
  skipped: z.number(),
  /** Test files that ended without a test. */
  empty: z.exactOptional(z.number()),
})

/** A place in a file that a gate reported. `message` is one to three lines, not trusted. */
export type Annotation = z.infer<typeof Annotation>
export const Annotation = z.object({
  path: z.string(),
  line: z.number(),
  message: z.string(),
  level: z.enum(['failure', 'warning', 'notice']),
})

/** A screenshot of a page. `blob` is a WebP image in Ralph's own objects, which the state keeps. */
export type Screenshot = z.infer<typeof Screenshot>
export const Screenshot = z.object({
  url: z.string(),
  /** Such as `1280x800`. */
  viewport: z.string(),
  blob: z.string(),
  bytes: z.number(),
  /** The blob of the same page at its last green run; null if there is none. */
  before: z.nullable(z.string()),
})

/** The failed tests of a gate whose other tests passed, by name, and how it ended: `baseline: known-red`. */
export type KnownRed = z.infer<typeof KnownRed>
export const KnownRed = z.object({ ended: z.string(), tests: z.array(z.string()) })

/**
 * Proof that a gate's tests need the change. `tests`: how many of them fail without its product; left out if they were not counted.
 * `names`: those that pass with it, if the tool names them; not trusted.
 */
export type Proof = z.infer<typeof Proof>
export const Proof = z.object({
  tests: z.exactOptional(z.number()),
  names: z.exactOptional(z.array(z.string())),
})

/** The names of tests, if the tool gives them; not trusted. `more`: some are left out. */
export type TestNames = z.infer<typeof TestNames>
export const TestNames = z.object({
  passed: z.array(z.string()),
  failed: z.array(z.string()),
  more: z.exactOptional(z.literal(true)),
})

/** The result of one gate. `output` is cut to its limit and redacted; `ms` is wall time. */
export type GateResult = z.infer<typeof GateResult>
export const GateResult = z.object({
  name: z.string(),
  ok: z.boolean(),
  advisory: z.boolean(),
  /** How it ended, for people: `exit 1`, `timed out after 15m`. */
  ended: z.string(),
  ms: z.number(),
  output: z.string(),
  tests: z.exactOptional(TestCounts),
  /** Of a green gate, and of a run without the product. The state keeps them for the story that passed last. */
  named: z.exactOptional(TestNames),
  /** When it was green in a clean room (`at`, epoch milliseconds), and a digest of all that the result depends on (`key`). */
  green: z.exactOptional(z.object({ key: z.string(), at: z.number() })),
  /** If the result is reused: from which run, such as `US-004, 3 min ago`. */
  asAt: z.exactOptional(z.string()),
  /** Files of the commit changed while it ran at the same time as other gates: from now on it runs alone. */
  alone: z.exactOptional(z.literal(true)),
  /** How many of its tests ran in the checkout at the fork point, and did not run in a clean clone of it. */
  needIgnored: z.exactOptional(z.number()),
  /** It was red, and green when it ran again on the same tree. */
  flaky: z.exactOptional(z.literal(true)),
  /** It counts as green, for only these tests failed, and they failed on the base. */
  knownRed: z.exactOptional(KnownRed),
  /** Remarks for people, also on a green gate: it was slower than before, lines that no test ran. */
  remarks: z.exactOptional(z.array(z.string())),
  /** What a green gate no longer checks, such as tests that were skipped. A story may only do that if its criteria ask for it. */
  findings: z.exactOptional(z.array(z.string())),
  /** It fails without the product of the change. */
  proof: z.exactOptional(Proof),
  /**
   * It ran on the change with the `checks`, or with the `product`, as they were before. `mutant`: on the change with a mistake of
   * Ralph's in it. `base`: without the change.
   */
  further: z.exactOptional(z.enum(['checks', 'product', 'mutant', 'base'])),
  /** Annotations in the files of `report`. Those in the output are not stored: they are extracted when they are shown. */
  annotations: z.exactOptional(z.array(Annotation)),
  screenshots: z.exactOptional(z.array(Screenshot)),
})

/** Whether a result is that of a service: services run alongside gates, and their results are in the same list. */
export function isService({ name }: Pick<GateResult, 'name'>): boolean {
  return name.startsWith('service ')
}

/** Whether a result is red and blocks. */
export function isRed({ ok, advisory }: Pick<GateResult, 'ok' | 'advisory'>): boolean {
  return !ok && !advisory
}

/** Whether a result is red and only reported. With the checks as they were, an advisory gate counts as well. */
export function isAdvice(gate: Pick<GateResult, 'ok' | 'advisory' | 'further'>): boolean {
  return !gate.ok && gate.advisory && gate.further === undefined
}

/** What later runs of a gate are compared with: the time of its first green run, and the test counts of its last one. */
export type GateBaseline = z.infer<typeof GateBaseline>
export const GateBaseline = z.object({
  ms: z.number(),
  tests: z.exactOptional(TestCounts),
  /** See GateResult. */
  alone: z.exactOptional(z.literal(true)),
  /** See GateResult. */
  needIgnored: z.exactOptional(z.number()),
  /** It was red there, so no story is expected to keep it green. */
  red: z.exactOptional(z.literal(true)),
  /** The tests that failed there, if the tool names them; the first 100. */
  failing: z.exactOptional(z.array(z.string())),
  /** Whether it was green at the fork point. Left out: it did not run there. */
  atFork: z.exactOptional(z.boolean()),
  /** The tests that failed at the fork point, and may keep failing. */
  knownRed: z.exactOptional(KnownRed),
  /** Those of them that passed with a story's work, and may not fail again. */
  fixed: z.exactOptional(z.array(z.string())),
})

/** By gate. */
export type GateBaselines = Readonly<Record<string, GateBaseline>>

/** How many tests ran; skipped ones did not. */
export function testsRun(tests: TestCounts | null | undefined): number {
  return tests == null ? 0 : tests.passed + tests.failed
}

/** Remarks of these gates for people, a line each; what they no longer check comes first. */
export function remarksOf(gates: readonly GateResult[]): string[] {
  const remarks = gates.flatMap(({ name, remarks: all = [] }) => all.map((one) => `gate ${name}: ${one}`))
  return [...gateFindings(gates), ...remarks]
}

/** What green gates no longer check since the change, one line each. */
export function gateFindings(gates: readonly GateResult[]): string[] {
  const red = gates.filter(({ ok, further }) => further === 'checks' && !ok)
  return [
    ...red.map(
      ({ name, ended, output }) =>
        `gate ${name}: red (${ended}): ${oneLine(importantLines(output, 3).join('; '), 160)}`,
    ),
    ...gates.flatMap(({ name, findings = [] }) => findings.map((one) => `gate ${name}: ${one}`)),
  ]
}

/** Whether a gate is to fail in this further run: the product of the change is gone, or has a mistake. */
export function isToFail(further: GateResult['further']): boolean {
  return further === 'product' || further === 'mutant'
}

/** The name of a further run of a gate: see `GateResult.further`. */
export function furtherName(name: string, further: GateResult['further']): string {
  return further === undefined ? name : `${name} (${FURTHER_NAMES[further]})`
}

const FURTHER_NAMES = {
  checks: 'checks as they were',
  product: 'without the change',
  mutant: 'with a mistake',
  base: 'before the story',
} as const
