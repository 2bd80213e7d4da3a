// Hostile text made fit to be printed: short, on one line, nothing hidden.

const longest = 80

// What a terminal or a review page would obey instead of showing, beyond what JSON escapes: DEL and C1, line
// separators, zero-width and bidi marks.
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A found value in at most 80 characters: strings quoted with everything invisible escaped, lists and objects by kind. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return cut(escaped(value))
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return cut(String(value))
}

function escaped(text: string): string {
  // Twice the width is enough: escaping only makes text longer.
  return JSON.stringify(text.slice(0, longest * 2)).replace(
    hidden,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

function cut(text: string): string {
  if (text.length <= longest) return text
  // Half of a surrogate pair at the cut would print as garbage.
  return `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
