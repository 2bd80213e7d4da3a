// The place of a value in the settings, and the mistakes in it: every mistake is collected with its path.
import * as z from 'zod/mini'
import { isObject } from '../engine/model/json.ts'
import { oneLine } from '../engine/model/text.ts'
import type { Mistake } from '../system/errors.ts'
import { faultOf } from '../system/faults.ts'
import { nearest } from '../system/nearest.ts'
import { describeFound, joinWithOr } from './show.ts'
import { type Schema, toCamelCase } from './values.ts'

export type SettingsReport = { mistakes: Mistake[]; notes: string[] }

type Key = string | number

/** A value's place. `root` is `input gates`, `--gates` or a file's name; `keys` leads on from there. */
export type ValuePlace = {
  root: string
  keys: readonly Key[]
  /** The variables for `${NAME}`; null if nothing is replaced (inputs and flags). */
  env: Readonly<Record<string, string | undefined>> | null
  report: SettingsReport
}

/** A value at a place: as it was written, and with its variables replaced. */
export type GivenValue = {
  at: ValuePlace
  written: unknown
  value: unknown
  /** Text that mistakes show instead of the value: it is a secret, or was made of several values. */
  shownAs?: string
}

/** More mistakes than this are counted, not listed. */
const MAX_MISTAKES = 100

export function childPlace(at: ValuePlace, ...keys: readonly Key[]): ValuePlace {
  return { ...at, keys: [...at.keys, ...keys] }
}

/** `ralph.config.yml: gates.test.timeout`, `input max-iterations`. */
export function formatValuePlace(at: ValuePlace): string {
  const keys = at.keys.map((key, index) => {
    if (typeof key === 'number') return `[${key}]`
    return `${index === 0 ? '' : '.'}${oneLine(key, 80)}`
  })
  return keys.length === 0 ? at.root : `${at.root}: ${keys.join('')}`
}

/** Records a mistake, with `found` in words, unless there are too many already; the last one then counts the rest. */
export function addMistake(at: ValuePlace, found: string, expected: string, fix: string): undefined {
  const { mistakes } = at.report
  if (mistakes.length < MAX_MISTAKES) mistakes.push({ path: formatValuePlace(at), found, expected, fix })
  else if (mistakes.length === MAX_MISTAKES) {
    const found = `there are more than ${MAX_MISTAKES} mistakes, and the rest is not shown.`
    mistakes.push({ path: 'settings', found, expected: '', fix: 'fix the mistakes above, then run again' })
  }
}

/** Records a mistake that a whole sentence describes, such as two settings that contradict each other. */
export function addProblem(at: ValuePlace, sentence: string, fix: string): undefined {
  return addMistake(at, sentence, '', fix)
}

/** Records a key that does not exist, with the valid name that is nearest to it. `written` is how a valid name looks there. */
export function addUnknownKey(
  at: ValuePlace,
  key: string,
  valid: readonly string[],
  written = (name: string) => name,
): void {
  const close = nearest(key, valid)
  const isSetting = valid.length > 12
  const fix =
    close === null
      ? isSetting
        ? 'remove it'
        : `remove it, or write ${joinWithOr(valid.map(written))}`
      : `did you mean ${written(close)}?`
  const problem = isSetting ? 'is not a setting.' : 'is not a key that Ralph knows here.'
  addProblem(at, `${describeFound(key)} ${problem}`, fix)
}

/** Adds a note: not wrong, but worth knowing. */
export function addNote(at: ValuePlace, text: string): void {
  at.report.notes.push(`${formatValuePlace(at)}: ${text}`)
}

const variable = /\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/**
 * The text with `${NAME}` replaced from the environment, and the names that were missing.
 * `$${NAME}` is not replaced, nor is anything else that a shell expands (`${NAME:-x}`, `$NAME`).
 */
function replaceVariables(raw: string, env: ValuePlace['env']): { text: string; missing: string[] } {
  if (env === null) return { text: raw, missing: [] }
  const missing: string[] = []
  const text = raw.replace(variable, (match: string, name: string) => {
    if (match.startsWith('$$')) return match.slice(1)
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value === undefined) missing.push(name)
    return value ?? ''
  })
  return { text, missing }
}

/** The value at a place with its variables replaced and its texts trimmed. A missing variable is a mistake. */
export function substituteVariables(at: ValuePlace, written: unknown): GivenValue {
  return { at, written, value: substituteDeep(at, written) }
}

function substituteDeep(at: ValuePlace, written: unknown): unknown {
  if (Array.isArray(written)) return written.map((item, index) => substituteDeep(childPlace(at, index), item))
  if (isObject(written)) {
    const entries = Object.entries(written).filter(([key]) => key !== '__proto__')
    if (Object.hasOwn(written, '__proto__'))
      addProblem(childPlace(at, '__proto__'), 'this name is not allowed.', 'rename it')
    return Object.fromEntries(entries.map(([key, item]) => [key, substituteDeep(childPlace(at, key), item)]))
  }
  if (typeof written !== 'string') return written
  const { text, missing } = replaceVariables(written, at.env)
  const first = missing[0]
  if (first === undefined) return text.trim()
  const name = oneLine(first, 80)
  addProblem(
    at,
    `the environment variable ${name} is not set.`,
    `set ${name}, or write $\${${name}} if you mean the text itself`,
  )
  return written
}

/** The given value as the schema parses it; undefined after mistakes. */
export function parseValue<T>(schema: Schema<T>, entry: GivenValue): T | undefined {
  const result = z.safeParse(schema, entry.value, { reportInput: true })
  if (result.success) return result.data
  for (const issue of result.error.issues.flatMap(closestIssues)) addIssue(entry, issue)
}

/** Of a union: the issues of the alternative that has the value's type, since those of the others do not help. */
function closestIssues(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const isOfType = (one: z.core.$ZodIssue) => one.path.length > 0 || !/^invalid_(type|value)$/.test(one.code)
  const close = issue.errors.find((issues) => issues.every(isOfType))
  if (close === undefined) return [issue]
  return close.flatMap(closestIssues).map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
}

/** The value at a key, and the key as written (`retry_delay` for `retryDelay`). */
function findEntry(item: unknown, key: Key): [Key, unknown] {
  if (Array.isArray(item)) return [key, item[Number(key)]]
  const entries = isObject(item) ? Object.entries(item) : []
  const found = entries.find(([name]) => name === key) ?? entries.find(([name]) => toCamelCase(name) === key)
  return found ?? [key, undefined]
}

/** The item at a path, and the keys as they are written. A list may be a text with an item a line: then the path ends at the text. */
function findWritten(written: unknown, path: readonly PropertyKey[]): { keys: Key[]; item: unknown } {
  const keys: Key[] = []
  let item = written
  for (const key of path) {
    if (typeof item === 'string' || typeof key === 'symbol') break
    const [name, inner] = findEntry(item, key)
    keys.push(name)
    item = inner
  }
  return { keys, item }
}

function addIssue({ at, written, shownAs }: GivenValue, issue: z.core.$ZodIssue): void {
  const { keys, item } = findWritten(written, issue.path)
  const place = childPlace(at, ...keys)
  const isName = issue.code === 'invalid_key'
  const { found, expected, fix, known = [] } = faultOf(isName ? issue.issues[0] : issue)
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) addUnknownKey(childPlace(place, key), key, known)
    return
  }
  const { text, missing } = replaceVariables(typeof item === 'string' ? item : '', at.env)
  // The missing variable is a mistake already.
  if (missing.length > 0) return
  if (isName) {
    addMistake(place, `the name ${describeFound(keys.at(-1))}`, expected, fix)
    return
  }
  // Text from a variable may be a secret: no message repeats it.
  const isReplaced = typeof item === 'string' && item !== text
  const isLine = typeof item === 'string' && keys.length < issue.path.length && !isReplaced
  // A number where a number belongs is not a secret.
  const isCount = issue.code === 'too_small' && typeof item === 'number'
  const shown = (isCount ? undefined : shownAs) ?? (isLine ? issue.input : item)
  const isRepeated = typeof issue.input !== 'object' && fix.includes(String(issue.input))
  const isHidden = isReplaced || (shownAs !== undefined && isRepeated)
  const isMissing = issue.input === undefined && keys.length > 0
  const howToFix = isMissing
    ? `add \`${keys.at(-1)}:\``
    : isReplaced
      ? 'correct the value of the variable'
      : isHidden
        ? 'correct the value'
        : fix
  addMistake(place, found ?? describeFound(shown), expected, howToFix)
}
