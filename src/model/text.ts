// Hostile text made plain: nothing hidden, nothing that acts, one line where one line is meant. Nothing is escaped.

// Escape sequences with all that belongs to them. An unfinished string sequence loses its opening only, so that it
// cannot swallow what comes after it.
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g

// Controls, bidirectional and zero-width marks, line separators, halves of pairs. Joiners inside of a word or an emoji
// and the emoji selector are writing, and stay; everything else that cannot be seen hides something.
const UNSEEN =
  /(?<=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d](?=[\p{L}\p{Extended_Pictographic}])|(?<=\p{Emoji})[\ufe0e\ufe0f]|([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/gu

// More marks on one letter than any script needs only paint over the neighbouring lines.
const HEAPED = /(\p{M}{5})\p{M}+/gu

/** The text without escape sequences, controls and invisible marks; line feeds and tabs stay, `\r` is a line feed. */
export function plainLines(text: string): string {
  return text
    .replace(ESCAPES, '')
    .replace(/\r\n?/g, '\n')
    .replace(UNSEEN, (match, unseen: string | undefined) =>
      unseen === undefined || unseen === '\n' || unseen === '\t'
        ? match
        : unseen >= '\ud800' && unseen <= '\udfff'
          ? '\ufffd'
          : '',
    )
    .replace(HEAPED, '$1')
}

/** The text on one line, in at most `max` UTF-16 units, cut with `…`. Nothing is escaped. */
export function oneLine(text: string, max = 300): string {
  // Cut first: a hostile megabyte must not be cleaned before it is thrown away.
  const head = text.length > max * 16 ? text.slice(0, max * 16) : text
  const line = plainLines(head.replace(/[\u2028\u2029\v\f\u0085]/g, ' '))
    .replace(/\s+/g, ' ')
    .trim()
  return cut(line, max)
}

/** At most `max` UTF-16 units, `…` included; pairs and joined characters are not cut in two. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text
    .slice(0, Math.max(0, max - 1))
    .replace(/[\ud800-\udbff]$/, '')
    .replace(/[\u200b-\u200d\s]+$/, '')}…`
}

const LONGEST_SHOWN = 80

/** A found value in at most 80 characters: strings quoted with everything invisible escaped, lists and objects by kind. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return cut(quoted(value), LONGEST_SHOWN)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return cut(String(value), LONGEST_SHOWN)
}

/** As JSON, with what a terminal or a page would obey beyond that: DEL and C1, line separators, zero-width and bidi marks. */
function quoted(text: string): string {
  // Twice the width is enough: escaping only makes text longer.
  return JSON.stringify(text.slice(0, LONGEST_SHOWN * 2)).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}
