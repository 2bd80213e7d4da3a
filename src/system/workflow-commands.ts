// Makes untrusted text harmless: no line of it can be a command to the Actions runner or the terminal.
//
// The runner reads stdout and stderr line by line; a lone CR also ends a line. It obeys `::name ...::` at the start of a line, also after
// blanks, and `##[name ...]` anywhere in it. It compares with the rules of a language, in which invisible characters do not count
// (https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs).

/** A terminal's control sequences; each is bounded, and an unfinished one is removed as well. */
const ANSI = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}[@-~]?`, // colours, cursor
    String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\r\n]{0,4096}(?:\x07|\x1b\\|\x9c)?`, // titles, links
    String.raw`\x1b[ -/]{0,16}[0-~]?`,
  ].join('|'),
  'g',
)
/** Control characters except tab, and the characters that turn the reading direction. */
const CONTROLS = /[^\P{Cc}\t]|[\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
/** Characters that a culture-aware comparison may ignore, and the tab to be safe. */
const IGNORED = String.raw`[\t\p{Default_Ignorable_Code_Point}]*`
const COMMAND = new RegExp(String.raw`^([\s\u0085\p{Default_Ignorable_Code_Point}]*):(?=${IGNORED}:)`, 'u')
const LEGACY_COMMAND = new RegExp(String.raw`#(?=${IGNORED}#${IGNORED}\[)`, 'gu')

/**
 * The text as one line that neither the runner nor a terminal obeys. Line breaks become blanks, and control sequences and control
 * characters are removed. The marker of a command gets a blank (`: :error::`, `# #[group]`). Anything else stays unchanged. Idempotent.
 */
export function sanitizeLine(line: string): string {
  const text = withoutControls(line)
  const checked = text.includes('#') ? text.replace(LEGACY_COMMAND, '# ') : text
  return checked.includes(':') ? checked.replace(COMMAND, '$1: ') : checked
}

/** The text as one line, without a terminal's control sequences and control characters; tabs stay. */
export function withoutControls(line: string): string {
  if (!/[^\x20-\x7e\t]/.test(line)) return line
  return line
    .replace(/[\r\n]+/g, ' ')
    .replace(ANSI, '')
    .replace(CONTROLS, '')
}

/**
 * The value as one line of JSON that neither the runner nor a terminal obeys. Invisible characters and the markers of commands become JSON
 * escapes, so that a JSON parser gets the same value.
 */
export function sanitizeJson(value: unknown): string {
  return JSON.stringify(value)
    .replace(UNSEEN, unicodeEscapes)
    .replace(/#(?=#\[)/g, unicodeEscapes)
}

/** Each UTF-16 unit as a JSON escape: `\\u200b`. */
export function unicodeEscapes(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
