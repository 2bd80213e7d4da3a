// Where a text stops being JSON, and what a person most likely meant: JSON.parse says neither reliably.
import { shown } from '../model/text.ts'

/** The first fault. `offset` is in UTF-16 units from the start of the text. */
export type JsonFault = { offset: number; found: string; expected: string; fix: string }

type Expecting = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or ]' | ', or }' | 'end'

const blank = /[ \t\n\r]*/y
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** Null for valid JSON. No recursion: depth is no fault here. */
export function jsonFault(text: string): JsonFault | null {
  if (text.startsWith('\ufeff')) return byteOrderMark
  const open: Array<'{' | '['> = []
  let expecting: Expecting = 'value'
  let comma = -1
  let at = 0
  for (;;) {
    at = endOf(blank, text, at)
    const character = text[at]
    if (character === undefined) return expecting === 'end' ? null : tooEarly(text, open)
    if (expecting === 'end')
      return fault(text, at, 'nothing after the closing bracket', 'remove what follows')
    if (closes(character, expecting, open)) {
      if (comma >= 0) return trailingComma(comma)
      open.pop()
      at += 1
      expecting = afterValue(open)
      continue
    }
    if (expecting === ':' || expecting === ', or }' || expecting === ', or ]') {
      if (character !== (expecting === ':' ? ':' : ',')) return missingMark(text, at, expecting)
      comma = character === ',' ? at : -1
      expecting = expecting === ', or }' ? 'key' : 'value'
      at += 1
      continue
    }
    comma = -1
    if (character === '"') {
      const end = endOfString(text, at + 1)
      if (text[end] !== '"') return brokenString(text, at, end)
      at = end + 1
      expecting = isKey(expecting) ? ':' : afterValue(open)
      continue
    }
    if (isKey(expecting)) return fault(text, at, 'a field name in double quotes', 'write it as "name": value')
    if (character === '{' || character === '[') {
      open.push(character)
      expecting = character === '{' ? 'key or }' : 'value or ]'
      at += 1
      continue
    }
    const end = endOf(scalar, text, at)
    if (end === at)
      return fault(text, at, 'a JSON value', 'write a number, true, false, null, or text in double quotes')
    expecting = afterValue(open)
    at = end
  }
}

/** Line and column of an offset, both counted from 1, as editors do. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

const byteOrderMark: JsonFault = {
  offset: 0,
  found: 'a byte order mark (BOM)',
  expected: 'plain UTF-8',
  fix: 'save the file as UTF-8 without BOM',
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** Up to the closing quote, or to the first thing that no JSON string may hold. A loop: texts may be megabytes. */
function endOfString(text: string, start: number): number {
  for (let at = start; at < text.length; ) {
    const character = text[at]
    if (character === '\\') {
      const end = endOf(escaped, text, at)
      if (end === at) return at
      at = end
    } else if (character === '"' || text.charCodeAt(at) < 0x20) return at
    else at += 1
  }
  return text.length
}

function isKey(expecting: Expecting): boolean {
  return expecting === 'key' || expecting === 'key or }'
}

/** After a comma the closing bracket is let through too, to be called what it is: a trailing comma. */
function closes(character: string, expecting: Expecting, open: readonly string[]): boolean {
  if (expecting === ':') return false
  if (character === '}') return open.at(-1) === '{' && expecting !== 'value'
  return character === ']' && open.at(-1) === '['
}

function afterValue(open: readonly string[]): Expecting {
  if (open.length === 0) return 'end'
  return open.at(-1) === '{' ? ', or }' : ', or ]'
}

function trailingComma(offset: number): JsonFault {
  return {
    offset,
    found: 'a trailing comma',
    expected: 'no comma after the last entry',
    fix: 'remove the comma',
  }
}

function tooEarly(text: string, open: readonly string[]): JsonFault {
  const offset = text.length
  if (text.trim() === '') {
    return { offset: 0, found: 'an empty file', expected: 'a prd.json', fix: 'write {"userStories": [...]}' }
  }
  const missing = open.at(-1) === '{' ? '}' : ']'
  const fix = open.length === 0 ? 'write the value' : `close what is open with "${missing}"`
  return { offset, found: 'the end of the file', expected: `"${missing}" or more`, fix }
}

function missingMark(text: string, at: number, expecting: string): JsonFault {
  const expected = expecting === ':' ? '":"' : expecting.replace(/[,\]}]/g, (mark) => `"${mark}"`)
  return fault(
    text,
    at,
    expected,
    expecting === ':' ? 'put ":" between name and value' : 'put a comma between entries',
  )
}

function brokenString(text: string, start: number, end: number): JsonFault {
  const character = text[end]
  if (character === '\\') {
    const fix = 'write a backslash as \\\\'
    return { offset: end, found: shown(text.slice(end, end + 2)), expected: 'a JSON escape', fix }
  }
  if (character !== undefined && character !== '\n' && character !== '\r') {
    const fix = 'write \\t for a tab, \\n for a new line'
    return { offset: end, found: shown(character), expected: 'no control characters inside a text', fix }
  }
  const found = character === undefined ? 'a text that never ends' : 'a line break inside a text'
  return {
    offset: start,
    found,
    expected: 'a text on one line',
    fix: 'close the quotes, or write \\n for a new line',
  }
}

/** A fault at a character, named by what people usually put there. */
function fault(text: string, offset: number, expected: string, fix: string): JsonFault {
  const rest = text.slice(offset, offset + 40).split('\n', 1)[0] ?? ''
  if (/^(\/\/|\/\*|#)/.test(rest)) {
    return { offset, found: 'a comment', expected: 'JSON without comments', fix: 'remove the comment' }
  }
  if (/^(<{7}|={7}|>{7})/.test(rest)) {
    const resolved = 'a file without conflicts'
    return { offset, found: 'a git conflict marker', expected: resolved, fix: 'resolve the conflict' }
  }
  if (rest.startsWith("'")) {
    return {
      offset,
      found: 'a single quote',
      expected: 'double quotes',
      fix: 'write "text" instead of \'text\'',
    }
  }
  return { offset, found: shown(rest), expected, fix }
}
