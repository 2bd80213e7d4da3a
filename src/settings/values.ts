// What a value may be, as zod schemas. The issues of a value that is refused carry a `Fault`.
import * as z from 'zod/mini'
import { isObject } from '../engine/model/json.ts'
import { oneLine } from '../engine/model/text.ts'
import { faultIssue, faultOptions } from '../system/faults.ts'
import { nearest } from '../system/nearest.ts'
import { joinWithOr } from './show.ts'

// A settings file is read once: a parser compiled by `new Function` does not pay, and some hosts forbid it.
z.config({ jitless: true })

export type Schema<T> = z.core.$ZodType<T>

export type Kind = 'text' | 'boolean' | 'integer' | 'money' | 'duration' | 'list' | 'choice' | 'map' | 'gates'

/** How a value is written on a command line and in an input; `text` for a schema that is not registered. */
export const kinds = z.registry<{ kind: Kind; values?: readonly string[] }>()

/** The zod options of a schema, with the fault of each value that it does not accept; `fix` may depend on what was written. */
export function expects(
  expected: string,
  fix: string | ((written: string) => string),
  known: readonly string[] = [],
) {
  const options = faultOptions((input) => {
    const written = typeof input === 'object' ? '' : String(input)
    return { expected, fix: typeof fix === 'string' ? fix : fix(written), known }
  })
  return { ...options, abort: true }
}

/** YAML reads `2.10` as 2.1: only quotes keep what was written. */
export const textMessage = expects('text', (written) =>
  /^(true|false|-?[\d.]+(e[+-]?\d+)?)$/i.test(written) ? `write it in quotes: "${written}"` : 'write text',
)

/** A check by a test function. It costs a fraction of zod's `refine`, and each start makes a hundred. */
export function check<T>(test: (value: T) => boolean, { fault }: ReturnType<typeof expects>) {
  return z.check<T>(({ value: input, issues }) => {
    if (!test(input)) issues.push(faultIssue(input, fault(input)))
  })
}

const notEmpty = [
  check<string>((written) => written !== '', expects('text', 'write a value, or leave this out')),
  check<string>(
    (written) => !written.includes('\0'),
    expects('text without NUL characters', 'remove these characters'),
  ),
]
const onOneLine = check<string>(
  (written) => !/[\r\n]/.test(written),
  expects('text on one line', 'join the lines'),
)

export const text = z.string(textMessage).check(...notEmpty, onOneLine)

export const lines = z.string(textMessage).check(
  ...notEmpty,
  z.overwrite((written) => written.replaceAll('\r\n', '\n')),
)

export function textWhere(test: (text: string) => boolean, ...words: Parameters<typeof expects>) {
  return text.check(check(test, expects(...words)))
}

export const url = textWhere(
  (written) => /^https?:\/\//i.test(written) && URL.canParse(written),
  'an http or https URL',
  'write a URL such as http://localhost:3000',
)

export function choice<const T extends readonly string[]>(values: T) {
  const words = expects(joinWithOr(values), (written) => {
    const close = nearest(written, values)
    return close === null ? 'write one of these' : `did you mean ${close}?`
  })
  return z.enum(values, words).register(kinds, { kind: 'choice', values })
}

/** `true` or `false` in any case, as in YAML 1.2; `yes`, `on` and `1` are refused, as they are there. */
export const boolean = z
  .pipe(
    z.transform((value: unknown) => {
      const word = typeof value === 'string' ? value.toLowerCase() : value
      return word === 'true' ? true : word === 'false' ? false : value
    }),
    z.boolean(
      expects('true or false', (written) => {
        if (/^(yes|y|on|1)$/i.test(written)) return 'write true'
        return /^(no|n|off|0)$/i.test(written) ? 'write false' : 'write true or false'
      }),
    ),
  )
  .register(kinds, { kind: 'boolean' })

const SIGNING = ['false', 'true', 'ssh', 'gpg'] as const

/** `sign-commits`. */
export const signing = z
  .pipe(
    z.transform((value: unknown) => (typeof value === 'boolean' ? String(value) : value)),
    z.enum(SIGNING, expects('true, false, ssh or gpg', 'write one of these')),
  )
  .register(kinds, { kind: 'choice', values: SIGNING })

/** A whole number within limits. `zero`: the meaning of 0; without it the least value is 1. */
export function integer({ zero, most }: { zero?: string; most?: number } = {}) {
  const least = zero === undefined ? 1 : 0
  const range = `a whole number from ${least}${most === undefined ? '' : ` to ${most}`}`
  const words = expects(
    zero === undefined ? range : `${range} (0: ${zero})`,
    `write a number such as ${Math.min(5, most ?? 5)}`,
  )
  const bounds = most === undefined ? [z.gte(least, words)] : [z.gte(least, words), z.lte(most, words)]
  return z.pipe(numeric(/^\d+$/), z.int(words).check(...bounds)).register(kinds, { kind: 'integer' })
}

export const count = integer()

/** US dollars, as a decimal number of at least 0. */
const moneyMessage = expects('an amount in US dollars, at least 0', (written) => {
  const digits = /^\$?\s*(\d+(?:[.,]\d+)?)\s*(?:\$|usd)?$/i.exec(written)?.[1]
  return digits === undefined ? 'write a number such as 12.50' : `write ${digits.replace(',', '.')}`
})
export const money = z
  .pipe(numeric(/^\d+(\.\d+)?$/), z.number(moneyMessage).check(z.gte(0, moneyMessage)))
  .register(kinds, { kind: 'money' })

function numeric(pattern: RegExp) {
  return z.transform((value: unknown) =>
    typeof value === 'string' && pattern.test(value) ? Number(value) : value,
  )
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 }
/** Node's timers take at most 2^31-1 ms (596 h) and fire at once beyond that. */
const longestMs = 500 * 3_600_000

function milliseconds(written: string): number {
  return Number(written.slice(0, -1)) * (unitMs[written.slice(-1)] ?? Number.NaN)
}

const durationMessage = expects('a duration such as 30s, 10m or 2h (more than 0, at most 500h)', (word) => {
  if (/^0+[smh]?$/.test(word)) return 'write at least 1s, or leave it out'
  if (/^\d+[smh]$/.test(word)) return 'write at most 500h'
  if (/^[1-9]\d{0,5}$/.test(word)) return `write ${word}s, ${word}m or ${word}h`
  const [, count, unit] = /^([1-9]\d{0,5})\s*(s|m|h)[a-z]*$/i.exec(word) ?? []
  return count === undefined ? 'write a number followed by s, m or h' : `write ${count}${unit?.toLowerCase()}`
})

/** Milliseconds of `30s`, `10m` or `5h`; never 0. */
export const duration = z
  .pipe(
    z.string(durationMessage).check(
      z.regex(/^\d+[smh]$/, durationMessage),
      check((written) => milliseconds(written) > 0 && milliseconds(written) <= longestMs, durationMessage),
    ),
    z.transform(milliseconds),
  )
  .register(kinds, { kind: 'duration' })

/** A duration, or a bare number of seconds. */
export const seconds = z.union(
  [
    duration,
    z.pipe(
      z.int(durationMessage).check(z.gte(1, durationMessage), z.lte(longestMs / 1000, durationMessage)),
      z.transform((count) => count * 1000),
    ),
  ],
  durationMessage,
)

/** An array, or a text with an item a line; blank lines are dropped. `comments`: lines with `#` as well. */
export function list<T>(item: Schema<T>, { comments = false } = {}) {
  const items = (value: unknown) => {
    if (typeof value !== 'string') return value
    const written = value.split('\n').map((line) => line.trim())
    return written.filter((line) => line !== '' && !(comments && line.startsWith('#')))
  }
  const words = expects('a list, or text with one item per line', 'write a list')
  return z.pipe(z.transform(items), z.array(item, words)).register(kinds, { kind: 'list' })
}

export function listOf<T>(item: Schema<T>) {
  return z.array(item, expects('a list', 'write a list')).register(kinds, { kind: 'list' })
}

export function mapOf<T>(item: Schema<T>) {
  const words = expects('a short name without control characters', 'rename it')
  const name = z.string().check(check((key) => key.trim() !== '' && oneLine(key) === key, words))
  return z.record(name, item, expects('a map', 'write `name: value` lines')).register(kinds, { kind: 'map' })
}

export function orNull<T>(schema: Schema<T>) {
  return z._default(z.nullable(schema), null)
}

/** An optional value whose default is `written`. */
export function withDefault<S extends z.core.SomeType>(
  schema: S,
  written: z.core.util.NoUndefined<z.input<S>>,
) {
  return z.prefault(schema, written)
}

/**
 * A map with known keys; an empty value counts as left out. `snakeCase` also accepts `retry_delay` for
 * `retryDelay` (the configuration of the Ralph with steps). `unlisted` keys are accepted, but no message suggests them.
 */
export function structure<const S extends z.core.$ZodLooseShape>(
  shape: S,
  {
    snakeCase = false,
    example,
    unlisted = [],
  }: { snakeCase?: boolean; example?: string; unlisted?: readonly string[] } = {},
) {
  const known = Object.keys(shape)
  const listed = known.filter((key) => !unlisted.includes(key))
  const spelled = (key: string, value: object) => {
    const camel = toCamelCase(key)
    return snakeCase && known.includes(camel) && !Object.hasOwn(value, camel) ? camel : key
  }
  const normalize = (value: unknown) => {
    if (!isObject(value)) return value
    const entries = Object.entries(value).map(([key, item]) => [spelled(key, value), item] as const)
    return Object.fromEntries(entries.filter(([key, item]) => !isEmpty(item) || !known.includes(key)))
  }
  const words = expects(example ?? `a map with ${joinWithOr(listed)}`, 'write a map', listed)
  return z.pipe(z.transform(normalize), z.strictObject(shape, words)).register(kinds, { kind: 'map' })
}

export function toCamelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** A check for names that differ by more than case: logs are files, and some file systems do not tell `Test` from `test`. */
export function distinctNames<T>(
  what: string,
  named: (value: T) => { name: string; path: (string | number)[] }[],
) {
  const check = ({ value, issues }: { value: T; issues: z.core.$ZodRawIssue[] }) => {
    const names = new Set<string>()
    for (const { name, path } of named(value)) {
      const found = `there is already a ${what} with this name (upper and lower case count as the same).`
      const fault = { found, expected: '', fix: 'rename one of the two' }
      if (names.has(name.toLowerCase())) issues.push(faultIssue(name, fault, path))
      names.add(name.toLowerCase())
    }
  }
  return z.check<T>(check, { when: () => true })
}

/** Undefined, null or blank text: the same as not given. */
export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}
