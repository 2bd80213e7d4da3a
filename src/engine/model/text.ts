// Removes from hostile text what a terminal or page would hide or obey, and cuts it to lengths. Nothing is escaped.
import { unicodeEscapes } from '../../system/workflow-commands.ts'

// Whole escape sequences. Of an unfinished string sequence only the opening goes, so that it cannot swallow the text after it.
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g

// Scripts that are written with joiners. Between other letters a joiner has no use but to hide data, a bit at each.
const JOINED = [
  ...['Arabic', 'Syriac', 'Nko', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya'],
  ...['Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Tibetan', 'Myanmar', 'Khmer'],
]
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('')

/** Invisible characters that stay: joiners inside a word of such a script or an emoji, and the selectors of an emoji. */
const VISIBLE_JOINERS = [
  `(?<=[${JOINED}])[\\u200c\\u200d](?=[${JOINED}])`,
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]`,
  String.raw`(?<=[\d#*])\ufe0f(?=\u20e3)`,
].join('|')

// Controls, bidirectional, tag and zero-width marks, line separators and halves of pairs, all of which can hide text.
const INVISIBLE = new RegExp(
  String.raw`${VISIBLE_JOINERS}|([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])`,
  'gu',
)

/** Names for the matches of UNSEEN; the first that matches counts. */
const KINDS = [
  ['tag character', /[\u{e0000}-\u{e007f}]/u],
  ['bidirectional control', /\p{Bidi_Control}/u],
  ['zero-width character', /[\u200b-\u200d\u2060\ufeff]/u],
  ['variation selector', /\p{Variation_Selector}/u],
  ['control character', /\p{Cc}/u],
  ['unpaired surrogate', /\p{Cs}/u],
] as const

export type InvisibleCharacters = { kind: string; count: number; at: number }

/** The invisible characters of the text, by kind: how many, and the position of the first, counted from 1. */
export function findInvisible(text: string): InvisibleCharacters[] {
  // Most texts have none, and this check is far quicker.
  if (!/[^\n\r\t -~]/.test(text)) return []
  const found = new Map<string, InvisibleCharacters>()
  for (const { 1: unseen, index } of text.matchAll(INVISIBLE)) {
    if (unseen === undefined || /[\n\r\t]/.test(unseen)) continue
    const kind = KINDS.find(([, pattern]) => pattern.test(unseen))?.[0] ?? 'invisible character'
    const before = found.get(kind)
    if (before === undefined)
      found.set(kind, { kind, count: 1, at: Array.from(text.slice(0, index)).length + 1 })
    else before.count += 1
  }
  return [...found.values()]
}

/** The same JSON value with every invisible character escaped, so that a reviewer sees it. */
export function visibleJson(json: string): string {
  if (!/[^\n -~]/.test(json)) return json
  return json.replace(INVISIBLE, (match, unseen: string | undefined) =>
    unseen === undefined || unseen === '\n' ? match : unicodeEscapes(unseen),
  )
}

// No script needs more marks on one letter; further ones only paint over the neighbouring lines.
const STACKED_MARKS = /(\p{M}{5})\p{M}+/gu

/** The text without escape sequences, controls and invisible marks; line feeds and tabs stay, other line ends are line feeds. */
export function sanitizeText(text: string): string {
  return text
    .replace(ESCAPES, '')
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(INVISIBLE, (match, unseen: string | undefined) =>
      unseen === undefined || unseen === '\n' || unseen === '\t'
        ? match
        : /^\p{Cs}$/u.test(unseen)
          ? '\ufffd'
          : '',
    )
    .replace(STACKED_MARKS, '$1')
}

/** The text on one line, in at most `max` UTF-16 units, cut with `…`. Nothing is escaped. */
export function oneLine(text: string, max = 300): string {
  // Cut first: a hostile megabyte must not be cleaned before it is thrown away.
  const head = text.length > max * 16 ? text.slice(0, max * 16) : text
  const line = sanitizeText(head.replace(/[\u2028\u2029\v\f\u0085]/g, ' '))
    .replace(/\s+/g, ' ')
    .trim()
  return truncate(line, max)
}

/** The first names of a list, each on one line, and how many more there are. */
export function firstNames(names: readonly string[], most = 3): string {
  const list = names.slice(0, most).map((name) => oneLine(name, 60))
  const more = names.length - list.length
  return more > 0 ? `${list.join(', ')} and ${more} more` : list.join(', ')
}

/** At most `max` UTF-16 units, `…` included; pairs and joined characters are not cut in two. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text
    .slice(0, Math.max(0, max - 1))
    .replace(/[\ud800-\udbff]$/, '')
    .replace(/[\u200b-\u200d\s]+$/, '')}…`
}

/** The text in a Markdown code fence that is longer than any in the text, so that nothing closes it. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

const MAX_SHOWN = 80

/** A value for an error message, in at most 80 characters: strings quoted with invisible characters escaped, lists and objects by kind. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return truncate(quoteVisibly(value), MAX_SHOWN)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return truncate(String(value), MAX_SHOWN)
}

/** As JSON, which leaves DEL and C1 controls, line separators, zero-width and bidi marks: these are escaped as well. */
function quoteVisibly(text: string): string {
  // Twice the width is enough: escaping only makes text longer.
  return JSON.stringify(text.slice(0, MAX_SHOWN * 2)).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

/**
 * The same value with `change` applied to every string in it; names of fields stay. Redaction must come before
 * rendering: it does not find a secret that is escaped or cut, and the page would still show it.
 */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  // The shape stays what it was: only strings are replaced, by strings.
  return mapValue(value, change) as T
}

function mapValue(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one: unknown) => mapValue(one, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapValue(one, change)]))
}
