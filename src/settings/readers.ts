// Readers: each turns a value at a place into one typed setting, or records what is wrong and gives undefined.
import { nearest } from '../system/nearest.ts'
import { below, isUnset, mistake, mistakeSaid, type Place, textAt, unknownKey } from './place.ts'
import { anyOf, shown } from './show.ts'
import { isList, isMap, type Tree } from './tree.ts'

/** Undefined means that a mistake was recorded. A reader is never called for an unset value. */
export type Read<T> = (value: Tree, at: Place) => T | undefined

const hour = 3_600_000
const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: hour }
/** Node's timers take at most 2^31-1 ms (596 h) and fire at once beyond that. */
const longestMs = 500 * hour

/** A text. On one line unless `lines`; the ends are trimmed. Numbers are refused: YAML reads `2.10` as 2.1. */
export function text(options: { lines?: boolean } = {}): Read<string> {
  return (value, at) => {
    if (typeof value !== 'string') return mistake(at, value, 'a text', quoteIt(value))
    const read = textAt(at, value)?.trim()
    if (read === undefined) return undefined
    if (read === '') return mistake(at, '', 'a text', 'write something, or leave the key out')
    if (read.includes('\0')) return mistake(at, value, 'a text without NUL characters', 'remove them')
    if (!options.lines && /[\r\n]/.test(read))
      return mistake(at, value, 'a text on one line', 'join the lines')
    return options.lines ? read.replaceAll('\r\n', '\n') : read
  }
}

function quoteIt(value: Tree): string {
  const scalar = typeof value === 'number' || typeof value === 'boolean'
  return scalar ? `write it in quotes: "${value}"` : 'write a text'
}

/** A text that passes `wrong`, which says what is expected instead, or null. */
export function textWhere(wrong: (text: string) => { expected: string; fix: string } | null): Read<string> {
  const readText = text()
  return (value, at) => {
    const read = readText(value, at)
    const fault = read === undefined ? null : wrong(read)
    return fault === null ? read : mistake(at, value, fault.expected, fault.fix)
  }
}

/** One of a few words; a mistake names the nearest. */
export function choice<const T extends string>(values: readonly T[]): Read<T> {
  return (value, at) => {
    const read = typeof value === 'string' ? textAt(at, value)?.trim() : String(value)
    if (read === undefined) return undefined
    const found = values.find((word) => word === read)
    if (found !== undefined && typeof value === 'string') return found
    const close = nearest(read, values)
    return mistake(at, value, anyOf(values), close === null ? 'write one of these' : `did you mean ${close}?`)
  }
}

/** `true` or `false` in any case, as in YAML 1.2; `yes`, `on` and `1` are refused, as they are there. */
export const boolean: Read<boolean> = (value, at) => {
  if (typeof value === 'boolean') return value
  const read = typeof value === 'string' ? textAt(at, value)?.trim().toLowerCase() : ''
  if (read === undefined) return undefined
  if (read === 'true' || read === 'false') return read === 'true'
  const meant =
    /^(yes|y|on|1)$/.test(read) || value === 1
      ? 'true'
      : /^(no|n|off|0)$/.test(read) || value === 0
        ? 'false'
        : null
  return mistake(at, value, 'true or false', meant === null ? 'write true or false' : `write ${meant}`)
}

/** A whole number within bounds. `zero` says what 0 stands for; without it the least is 1. */
export function integer(bounds: { zero?: string; most?: number } = {}): Read<number> {
  const least = bounds.zero === undefined ? 1 : 0
  const most = bounds.most ?? Number.MAX_SAFE_INTEGER
  const range =
    bounds.most === undefined ? `a whole number from ${least}` : `a whole number from ${least} to ${most}`
  const expected = bounds.zero ? `${range} (0: ${bounds.zero})` : range
  return (value, at) => {
    const read = numberAt(value, at, /^\d+$/)
    if (read === undefined) return undefined
    if (Number.isSafeInteger(read) && read >= least && read <= most) return read
    return mistake(at, value, expected, 'write such a number')
  }
}

/** US dollars, as a decimal number of at least 0. */
export const money: Read<number> = (value, at) => {
  const read = numberAt(value, at, /^\d+(\.\d+)?$/)
  if (read === undefined) return undefined
  if (Number.isFinite(read) && read >= 0) return read
  const digits =
    typeof value === 'string' ? /^\$?\s*(\d+(?:[.,]\d+)?)\s*(?:\$|usd)?$/i.exec(value.trim())?.[1] : undefined
  const fix = digits === undefined ? 'write a number such as 12.50' : `write ${digits.replace(',', '.')}`
  return mistake(at, value, 'an amount in US dollars, at least 0', fix)
}

/** The number, NaN for what is none, undefined when a variable is missing. */
function numberAt(value: Tree, at: Place, pattern: RegExp): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return Number.NaN
  const read = textAt(at, value)?.trim()
  if (read === undefined) return undefined
  return pattern.test(read) ? Number(read) : Number.NaN
}

/** Milliseconds of `30s`, `10m` or `5h`; never 0. With `seconds`, a bare number counts seconds (seed 4's files). */
export function duration(options: { seconds?: boolean } = {}): Read<number> {
  return (value, at) => {
    const read = typeof value === 'string' ? textAt(at, value)?.trim() : String(value)
    if (read === undefined) return undefined
    const parts = /^(\d+)([smh])$/.exec(options.seconds && typeof value === 'number' ? `${read}s` : read)
    const ms = Number(parts?.[1]) * (unitMs[parts?.[2] ?? ''] ?? Number.NaN)
    if (ms > 0 && ms <= longestMs) return ms
    return mistake(
      at,
      value,
      'a duration such as 30s, 10m or 2h (more than 0, at most 500h)',
      durationFix(read, ms),
    )
  }
}

function durationFix(read: string, ms: number): string {
  if (ms === 0) return 'write at least 1s, or leave it out'
  if (ms > longestMs) return 'write at most 500h'
  if (/^[1-9]\d{0,5}$/.test(read)) return `write ${read}s, ${read}m or ${read}h`
  const [, count, unit] = /^([1-9]\d{0,5})\s*(s|m|h)[a-z]*$/i.exec(read) ?? []
  return count === undefined
    ? 'write an integer followed by s, m or h'
    : `write ${count}${unit?.toLowerCase()}`
}

/**
 * A list: an array, or a text with an item a line. Blank lines are dropped, items are trimmed.
 * `comments` drops lines that start with `#` from a text, as .gitignore does.
 */
export function list(readItem: Read<string>, options: { comments?: boolean } = {}): Read<string[]> {
  return (value, at) => {
    const items = listItems(value, at, options.comments === true)
    if (items === undefined) return undefined
    const read = items.map(([item, place]) => readItem(item, place))
    return read.every((item) => item !== undefined) ? read : undefined
  }
}

function listItems(value: Tree, at: Place, comments: boolean): [Tree, Place][] | undefined {
  if (isList(value)) return value.map((item, index) => [item, below(at, index)])
  if (typeof value !== 'string')
    return mistake(at, value, 'a list, or a text with an item a line', 'write a list')
  const read = textAt(at, value)
  if (read === undefined) return undefined
  const lines = read.split(/\r?\n/).map((line) => line.trim())
  // What a variable brought in is never shown (it may be a secret), and is not replaced a second time.
  const place = { ...at, env: null, ...(read === value ? {} : { shownAs: value }) }
  return lines
    .filter((line) => line !== '' && !(comments && line.startsWith('#')))
    .map((line) => [line, place])
}

/** Values by name, in the order written. `readKey` records what is wrong with a name. */
export function mapOf<T>(
  readItem: Read<T>,
  rightKey: (key: string, at: Place) => boolean = () => true,
): Read<Record<string, T>> {
  return (value, at) => {
    if (!isMap(value)) return mistake(at, value, 'a map', 'write `name: value` lines')
    const read = [...value].map(([key, item]): [string, T | undefined] => {
      const place = below(at, key)
      const right = rightKey(key, place)
      const found = isUnset(place, item)
        ? mistake(place, null, 'a value', 'write one, or remove the key')
        : readItem(item, place)
      return [key, right ? found : undefined]
    })
    const entries = read.flatMap(([key, item]): [string, T][] => (item === undefined ? [] : [[key, item]]))
    return entries.length === read.length ? Object.fromEntries(entries) : undefined
  }
}

/** A list of structures, each read by `readItem`. */
export function listOf<T>(readItem: Read<T>): Read<T[]> {
  return (value, at) => {
    if (!isList(value)) return mistake(at, value, 'a list', 'write a list')
    const read = value.map((item, index) => readItem(item, below(at, index)))
    const sound = read.flatMap((item) => (item === undefined ? [] : [item]))
    return sound.length === read.length ? sound : undefined
  }
}

/** A key of a structure: how it is read, and what it is when it is left out (`required` when it may not be). */
export type Field<T> = { read: Read<T>; orElse: (() => T) | 'required' }
export type Shape = Readonly<Record<string, Field<unknown>>>

/** The object whose every property is what the shape's reader of that name gives. */
export type Shaped<S extends Readable> = { [K in keyof S]: S[K] extends { read: Read<infer T> } ? T : never }
type Readable = Readonly<Record<string, { read: Read<unknown> }>>

/** A field that may be left out. `orElse` is called for each reading, so that nothing is shared. */
export function optional<T>(read: Read<T>, orElse: () => T): Field<T> {
  return { read, orElse }
}

export function required<T>(read: Read<T>): Field<T> {
  return { read, orElse: 'required' }
}

/** How a field is called in settings: `timeoutMs` is `timeout` there, since a duration says its unit itself. */
export function configKey(field: string): string {
  return field.endsWith('Ms') ? field.slice(0, -2) : field
}

/** A map with known keys. `snakeCase` also takes `retry_delay` for `retryDelay` (seed 2's files). */
export function structure<S extends Shape>(shape: S, options: { snakeCase?: boolean } = {}): Read<Shaped<S>> {
  const fields = new Map(
    Object.entries(shape).map(([field, reading]) => [configKey(field), { field, reading }]),
  )
  return (value, at) => {
    if (!isMap(value)) return mistake(at, value, `a map with ${anyOf([...fields.keys()])}`, 'write a map')
    const given = knownKeys(value, at, [...fields.keys()], options.snakeCase === true)
    const values = new Map<string, unknown>()
    let sound = given.size === value.size
    for (const [key, { field, reading }] of fields) {
      const place = below(at, key)
      const item = given.get(key) ?? null
      let read: unknown
      if (!isUnset(place, item)) read = reading.read(item, place)
      else if (reading.orElse === 'required') mistake(place, null, 'a value', `add \`${key}:\``)
      else read = reading.orElse()
      sound &&= read !== undefined
      values.set(field, read)
    }
    return sound ? shaped(shape, values) : undefined
  }
}

function knownKeys(
  value: ReadonlyMap<string, Tree>,
  at: Place,
  keys: string[],
  snakeCase: boolean,
): Map<string, Tree> {
  const given = new Map<string, Tree>()
  for (const [written, item] of value) {
    const key = snakeCase
      ? written.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      : written
    if (!keys.includes(key)) unknownKey(below(at, written), written, keys)
    else if (given.has(key))
      mistakeSaid(
        below(at, written),
        `${shown(key)} in two spellings`,
        'every key once',
        'remove one of the two',
      )
    else given.set(key, item)
  }
  return given
}

/**
 * The values as the object that the shape describes. The one place where a type is asserted: TypeScript cannot
 * follow a loop over the shape's keys, whose every value came from that key's own reader.
 */
export function shaped<S extends Readable>(shape: S, values: ReadonlyMap<string, unknown>): Shaped<S> {
  for (const field of Object.keys(shape)) if (!values.has(field)) throw new Error(`no value for ${field}`)
  return Object.fromEntries(values) as Shaped<S>
}
