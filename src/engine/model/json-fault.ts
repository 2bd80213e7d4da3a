// The place where a text is not valid JSON, by the error of JSON.parse, and the most likely fix.

import { messageOf } from '../../system/errors.ts'
import { describeValue } from './text.ts'

/** The first fault; line and column count from 1, as editors do. */
export type JsonFault = { line: number; column: number; found: string; expected: string; fix: string }

/** A pattern for the text at the fault; what was found there (null: the text itself), what was expected, the fix. The first match counts. */
const knownFaults: ReadonlyArray<readonly [RegExp, string | null, string, string]> = [
  [/^$/, 'the end of the file', 'more', 'close the bracket, brace or quote that is still open'],
  [/^\ufeff/, 'a byte order mark (BOM)', 'plain UTF-8', 'save the file as UTF-8 without BOM'],
  [/^(?:\/\/|\/\*|#)/, 'a comment', 'JSON without comments', 'remove the comment'],
  [/^(?:<{7}|={7}|>{7})/, 'a git conflict marker', 'a file without conflicts', 'resolve the conflict'],
  [/^'/, 'a single quote', 'double quotes', 'write "text" instead of \'text\''],
  [/^,\s*[\]}]/, 'a trailing comma', 'no comma after the last entry', 'remove the comma'],
  [/^[\n\r]/, 'a line break inside a text', 'a text on one line', 'close the quotes, or write \\n'],
  [/^\t/, null, 'no control characters inside a text', 'write \\t'],
  [/^\\/, null, 'a JSON escape', 'write a backslash as \\\\'],
]

/** The fault in a text on which JSON.parse threw `thrown`. */
export function jsonFault(text: string, thrown: unknown): JsonFault {
  if (text.trim() === '') {
    const fix = 'write {"userStories": [...]}'
    return { line: 1, column: 1, found: 'an empty file', expected: 'a prd.json', fix }
  }
  const message = messageOf(thrown)
  const offset = offsetOf(text, message)
  const before = text.slice(0, offset).split('\n')
  const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
  const rest = text.slice(offset, offset + 40)
  if (message.startsWith('Unterminated string')) {
    const fix = 'close the quotes'
    return { ...place, found: 'a text that never ends', expected: 'double quotes', fix }
  }
  const [, named, expected, fix] = knownFaults.find(([pattern]) => pattern.test(rest)) ?? []
  const found = named ?? describeValue(rest.split('\n', 1)[0])
  if (expected !== undefined && fix !== undefined) return { ...place, found, expected, fix }
  const expectedToken = /^Expected (.+?)(?: in JSON|$)/.exec(message)?.[1] ?? 'JSON'
  return { ...place, found, expected: expectedToken, fix: 'fix the JSON there' }
}

/** The offset to report. A wrong comma, word or backslash begins before the position that JSON.parse names. */
function offsetOf(text: string, message: string): number {
  if (message.startsWith('Unexpected end')) return text.length
  if (message.startsWith('Unexpected token')) {
    const offset = unexpectedToken(text)
    const word = /[a-z]*$/i.exec(text.slice(Math.max(0, offset - 20), offset))?.[0] ?? ''
    return commaBefore(text, offset) ?? offset - word.length
  }
  const offset = Number(/ JSON at position (\d+)/.exec(message)?.[1] ?? 0)
  return message.startsWith('Bad escaped') ? offset - 1 : (commaBefore(text, offset) ?? offset)
}

/** The offset of a trailing comma before the closing bracket at `offset`; null if there is none. */
function commaBefore(text: string, offset: number): number | null {
  const before = text.slice(0, offset).trimEnd()
  return /[\]}]/.test(text.charAt(offset)) && before.endsWith(',') ? before.length - 1 : null
}

/** JSON.parse gives no offset for an unexpected token. It is the end of the shortest prefix that has one. */
function unexpectedToken(text: string): number {
  let [validLength, faultyLength] = [0, text.length]
  while (faultyLength - validLength > 1) {
    const middle = Math.floor((validLength + faultyLength) / 2)
    if (hasUnexpectedToken(text.slice(0, middle))) faultyLength = middle
    else validLength = middle
  }
  return validLength
}

function hasUnexpectedToken(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    return messageOf(error).startsWith('Unexpected token')
  }
}
