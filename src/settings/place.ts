// Where a value was written, and what was wrong there: every mistake is collected with its path.
import type { Mistake } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import { anyOf, oneLine, shown } from './show.ts'
import type { Tree } from './tree.ts'

/** What reading collects. */
export type Report = { mistakes: Mistake[]; notes: string[] }

/** A value's place. `root` is `input gates`, `--gates` or a file's name; `keys` leads on from there. */
export type Place = {
  root: string
  keys: readonly (string | number)[]
  /** The variables for `${NAME}`; null where nothing is replaced (inputs and flags). */
  env: Readonly<Record<string, string | undefined>> | null
  /** What mistakes show in place of the value, where the value holds what a variable brought in. */
  shownAs?: string
  report: Report
}

/** More mistakes than this are counted, not listed. */
const mostMistakes = 100

/** The place of an item or key below `at`. */
export function below(at: Place, key: string | number): Place {
  return { ...at, keys: [...at.keys, key] }
}

/** `ralph.config.yml: gates.test.timeout`, `input max-iterations`. */
export function pathOf(at: Place): string {
  const keys = at.keys.map((key, index) => {
    if (typeof key === 'number') return `[${key}]`
    return `${index === 0 ? '' : '.'}${oneLine(key)}`
  })
  return keys.length === 0 ? at.root : `${at.root}: ${keys.join('')}`
}

/** Records a mistake and returns undefined, which is what a reader gives for a value that it could not read. */
export function mistake(at: Place, found: Tree, expected: string, fix: string): undefined {
  return mistakeSaid(at, shown(at.shownAs ?? found), expected, fix)
}

/** As `mistake`, with `found` in words. */
export function mistakeSaid(at: Place, found: string, expected: string, fix: string): undefined {
  addMistake(at.report, { path: pathOf(at), found, expected, fix })
}

/** Adds a mistake unless there are too many already; the last one then counts the rest. */
export function addMistake(report: Report, added: Mistake): void {
  if (report.mistakes.length < mostMistakes) report.mistakes.push(added)
  else if (report.mistakes.length === mostMistakes) {
    const expected = `at most ${mostMistakes} mistakes`
    report.mistakes.push({
      path: 'settings',
      found: 'more mistakes',
      expected,
      fix: 'mend those above first',
    })
  }
}

/** Records a key that does not exist, with the valid name that is nearest to it. `written` is how a valid name looks there. */
export function unknownKey(
  at: Place,
  key: string,
  valid: readonly string[],
  written = (name: string) => name,
): void {
  const close = nearest(key, valid)
  const fix = close === null ? 'remove it' : `did you mean ${written(close)}?`
  const expected = valid.length > 12 ? 'the name of a setting' : anyOf(valid.map(written))
  mistakeSaid(at, `unknown ${shown(key)}`, expected, fix)
}

/** Adds a note: not wrong, but worth knowing. */
export function note(at: Place, text: string): void {
  at.report.notes.push(`${pathOf(at)}: ${text}`)
}

const variable = /\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/**
 * The text with `${NAME}` replaced from the environment, and the names that were missing.
 * `$${NAME}` stands for itself, and so does everything else a shell knows (`${NAME:-x}`, `$NAME`).
 */
export function replaceVariables(raw: string, env: Place['env']): { text: string; missing: string[] } {
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

/**
 * The text at a place after replacement, or undefined when a variable is missing. Mistakes must go on showing
 * the value as it was written: what stands in a variable may be a secret.
 */
export function textAt(at: Place, raw: string): string | undefined {
  const { text, missing } = replaceVariables(raw, at.env)
  const first = missing[0]
  if (first === undefined) return text
  const expected = `the environment variable ${missing.map((name) => oneLine(name)).join(', ')}`
  return mistake(
    at,
    raw,
    expected,
    `set ${oneLine(first)}, or write $\${${oneLine(first)}} for the text itself`,
  )
}

/** True for what counts as not given: nothing, or a text without visible characters. */
export function isUnset(at: Place, value: Tree): boolean {
  if (value === null) return true
  if (typeof value !== 'string') return false
  const { text, missing } = replaceVariables(value, at.env)
  return missing.length === 0 && text.trim() === ''
}
