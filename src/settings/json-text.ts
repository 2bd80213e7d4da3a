// JSON as a tree, with the line and column of what is wrong and with duplicate keys found (JSON.parse has neither).
import type { Tree } from './tree.ts'

/** What is wrong at an offset of the text. */
export type TextFault = { offset: number; said: string }

const deepest = 64
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings may not hold raw control characters.
const quoted = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const blank = /[ \t\r\n]*/y

/**
 * Reads strict JSON (RFC 8259). A text that is no JSON gives one fault and no tree; duplicate keys give a fault
 * each beside a tree in which the last one counts.
 */
export function parseJson(text: string): { tree: Tree; faults: TextFault[] } {
  const faults: TextFault[] = []
  let offset = 0

  const stop = (said: string): never => {
    throw new Stopped(said)
  }
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = offset
    const match = pattern.exec(text)?.[0]
    offset += match?.length ?? 0
    return match
  }
  /** Skips blanks, then takes `token` if it comes next. */
  const next = (token: string): boolean => {
    take(blank)
    const found = text.startsWith(token, offset)
    if (found) offset += token.length
    return found
  }
  const string = (): string => {
    const raw = take(quoted) ?? stop('a text in double quotes that ends on its line, with valid escapes')
    return JSON.parse(raw)
  }
  const list = (depth: number): Tree[] => {
    const items: Tree[] = []
    if (next(']')) return items
    do items.push(value(depth + 1))
    while (next(','))
    if (!next(']')) stop('`,` or `]`')
    return items
  }
  const map = (depth: number): Map<string, Tree> => {
    const entries = new Map<string, Tree>()
    if (next('}')) return entries
    do {
      take(blank)
      const start = offset
      if (text[offset] !== '"') stop('a key in double quotes')
      const key = string()
      if (entries.has(key)) faults.push({ offset: start, said: 'every key once in a map' })
      if (!next(':')) stop('`:`')
      entries.set(key, value(depth + 1))
    } while (next(','))
    if (!next('}')) stop('`,` or `}`')
    return entries
  }
  const value = (depth: number): Tree => {
    if (depth > deepest) stop(`at most ${deepest} levels`)
    if (next('{')) return map(depth)
    if (next('[')) return list(depth)
    if (text[offset] === '"') return string()
    if (next('true')) return true
    if (next('false')) return false
    if (next('null')) return null
    return Number(take(number) ?? stop('a JSON value'))
  }

  try {
    const tree = value(0)
    take(blank)
    if (offset < text.length) stop('the end of the file')
    return { tree, faults }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
    return { tree: null, faults: [{ offset, said: error.message }] }
  }
}

/** Ends the descent at the first fault; never leaves this file. */
class Stopped extends Error {}
