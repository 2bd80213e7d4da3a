// How text from users is shown in messages and logs: short, on one line, without characters that act.

const shownCharacters = 80

/** C0, DEL, C1, line and paragraph separators, bidirectional and zero-width marks, lone surrogates. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** One line of at most 80 characters; control and invisible characters become `\u{..}`. */
export function oneLine(text: string, most: number = shownCharacters): string {
  // Cut first: a hostile megabyte must not be escaped before it is thrown away.
  const head = text.slice(0, most + 1)
  const escaped = head.replace(unsafe, escapeCharacter).replaceAll('##[', '## [')
  return escaped.length > most || text.length > most ? `${escaped.slice(0, most - 3)}...` : escaped
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\t') return '\\t'
  if (character === '\r') return '\\r'
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}

/** A value as it is named in a mistake's `found`; lists and maps are only named, never printed. */
export function shown(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'nothing'
  if (typeof value === 'string') return `"${oneLine(value, shownCharacters - 2)}"`
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'a map' : String(value)
}

/** `a, b or c`. */
export function anyOf(words: readonly string[]): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** Milliseconds as settings write them. */
export function durationText(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`
}
