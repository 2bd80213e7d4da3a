// Examples of acceptance criteria: what is given, and what the product should then give. Pure types and readers.
import * as z from 'zod/mini'
import { isObject } from './json.ts'

/** An expected value that only Ralph can read. prd.json and the state hold it instead of the value. */
export type SealedValue = z.infer<typeof SealedValue>
export const SealedValue = z.object({ sealed: z.string() })

/**
 * One example. `criterion` is 1-based. `expect`: a value, or the box that holds it. `from`: its source, if that is not people.
 */
export type Example = z.infer<typeof Example>
export const Example = z.object({
  criterion: z.number(),
  given: z.unknown(),
  expect: z.unknown(),
  from: z.exactOptional(z.enum(['criterion', 'session'])),
})

/** The result of an example: the expected value in every run, another value, or no way to try it. */
export type ExampleResult = z.infer<typeof ExampleResult>
export const ExampleResult = z.object({
  /** 1-based, in the story's list. */
  example: z.number(),
  criterion: z.number(),
  result: z.enum(['met', 'mismatch', 'none']),
  /** Why it was not tried, or how the value differs. */
  why: z.string(),
  /** JSON, cut to a limit. */
  given: z.exactOptional(z.string()),
  actual: z.exactOptional(z.string()),
  /** Set only from the third mismatch of the story on. */
  expected: z.exactOptional(z.string()),
})

/** What the state knows about a story's examples. */
export type StoryExamples = z.infer<typeof StoryExamples>
export const StoryExamples = z.object({
  /** A digest of the criteria that examples were written for; empty before. */
  written: z.string(),
  /** Sessions without a usable answer for these criteria. */
  failed: z.number(),
  /** Attempts that were rejected by an example since the story last passed. */
  mismatches: z.number(),
  /** Criteria without an example, and why. */
  none: z.array(z.object({ criterion: z.number(), why: z.string() })),
  /** Of the last attempt whose examples were tried. */
  results: z.array(ExampleResult),
})

/** A program that calls the product with each given, and prints a line of JSON for each example. */
export type Glue = z.infer<typeof Glue>
export const Glue = z.object({
  files: z.array(z.object({ path: z.string(), text: z.string() })),
  run: z.string(),
  /** Examples, 1-based, that it cannot try, and why. */
  none: z.array(z.object({ example: z.number(), why: z.string() })),
})

/** How one run of a glue ended. `output` is what it printed to stdout, or null if that was too much. */
export type GlueRun = { ok: boolean; ended: string; output: string | null; errors: string }

export const MAX_EXAMPLES = 50
/** Of one value, as JSON. */
const MAX_VALUE_BYTES = 20_000
const MAX_DEPTH = 32

export function isSealed(value: unknown): value is SealedValue {
  return isObject(value) && Object.keys(value).length === 1 && typeof value.sealed === 'string'
}

/** The examples in a value of unknown shape. What is none, or too large, is left out. */
export function readExamples(value: unknown): Example[] {
  const list = Array.isArray(value) ? value : []
  return list.flatMap((one) => readExample(one) ?? []).slice(0, MAX_EXAMPLES)
}

function readExample(value: unknown): Example | null {
  if (!isObject(value) || !('given' in value) || !('expect' in value)) return null
  const { criterion = 1, given, expect, from } = value
  if (typeof criterion !== 'number' || !Number.isSafeInteger(criterion) || criterion < 1) return null
  if (!isSmall(given) || !isSmall(expect)) return null
  return { criterion, given, expect, ...(from === 'criterion' || from === 'session' ? { from } : {}) }
}

function isSmall(value: unknown): boolean {
  return !isDeeper(value, MAX_DEPTH) && (JSON.stringify(value) ?? '').length <= MAX_VALUE_BYTES
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

/** Deep equality of JSON values. The order of keys does not count. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [mine, theirs] = [Object.entries(one), new Map(Object.entries(other))]
  return (
    mine.length === theirs.size &&
    mine.every(([key, value]) => theirs.has(key) && isSameJson(value, theirs.get(key)))
  )
}
