// Escaping of hostile text for Markdown, Mermaid and terminals. Everything that people or agents wrote passes through here.
import { fenced, oneLine, sanitizeText, truncate } from '../engine/model/text.ts'
import { excerpt } from '../system/excerpt.ts'

/** A zero-width space. It breaks up what GitHub would act on (`@name`, `#1`, `http://`, `:tada:`) and is invisible. */
const BREAK = '\u200b'

/**
 * One line of Markdown that shows exactly the text. It may be in a paragraph, a table cell, a list item, a heading or HTML such as
 * `<summary>`, and therefore uses entities, never backslashes. GitHub notifies no person and links nothing.
 */
export function markdownText(text: string, max = 300): string {
  return (
    disarm(oneLine(text, max))
      .replace(/[&<>|`*[\]~$\\"]/g, (mark) => `&#${mark.charCodeAt(0)};`)
      // `_` inside a word has no effect. It is not escaped, so that the redaction still finds a token such as `ghp_...`.
      .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '&#95;')
      .replace(/^[-+=]/, (mark) => `&#${mark.charCodeAt(0)};`)
      .replace(/^(\d+)([.)])/, (_all, digits: string, mark: string) => `${digits}&#${mark.charCodeAt(0)};`)
  )
}

/** One line for a place that shows no markdown, such as the title of a pull request or a check. GitHub notifies no person. */
export function titleText(text: string, max = 255): string {
  return truncate(disarm(oneLine(text, max)), max)
}

/** One line for the subject of a commit: like `titleText`, but words that stop CI, such as `[skip ci]`, are broken up. */
export function subjectText(text: string, max = 100): string {
  const line = titleText(text, max).replace(/\[(?=[^\]]*\b(?:skip|no)\b)|\*(?=\*\*NO_CI)/gi, `$&${BREAK}`)
  return truncate(line, max)
}

/** Breaks mentions, references to issues, links and emoji codes: GitHub looks for them after it has rendered Markdown. */
function disarm(line: string): string {
  return (
    line
      .replace(/[@#]/g, `$&${BREAK}`)
      .replace(/\bGH-(?=\d)/gi, `$&${BREAK}`)
      .replace(/:(?=\/\/)/g, `:${BREAK}`)
      // A position such as `a.ts:12:5` stays unchanged, so that it can be copied. Only `:100:` and `:1234:` are emoji with digits.
      .replace(/:(?=(?!\d+:)[\w+-]+:|(?:100|1234):)/g, `:${BREAK}`)
      .replace(/\bwww(?=\.)/gi, `$&${BREAK}`)
  )
}

/** Breaks up Ralph's own markers. Text in code is not escaped, and a search for markers must not find one there. */
function breakMarkers(text: string): string {
  return text.replace(/<!--(?=\s*\/?ralph)/gi, `<!-${BREAK}-`)
}

/** Bold; empty for an empty text. The text is Markdown already. */
export function bold(text: string): string {
  return text === '' ? '' : `**${text}**`
}

/** `[text](url)` for an http(s) address; only the text for any other. */
export function link(text: string, url: string | null): string {
  if (url === null || !/^https?:\/\/[^\s\p{C}<>"`\\]+$/iu.test(url)) return text
  return `[${text}](${url.replace(/[()|*_[\]]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)})`
}

/** A code span for a command or a word of Ralph; characters that would end the span or a table cell are replaced. */
export function code(text: string, max = 120): string {
  const inner = breakMarkers(oneLine(text, max)).replaceAll('`', "'").replaceAll('|', '/')
  return inner === '' ? '' : `\`${inner}\``
}

/** A fenced block of at most `maxBytes` (UTF-8), fences included; a longer text is cut to its most important lines. */
export function codeBlock(text: string, maxBytes: number): string {
  const clean = breakMarkers(sanitizeText(text))
    .replace(/`{33,}/g, '`'.repeat(32))
    .replace(/^\n+|\n+$/g, '')
  return fenced(excerpt(clean, Math.max(0, maxBytes - FENCE_BYTES)), 'text')
}

/** Bytes of the two longest possible fences, with the language and the line ends. */
const FENCE_BYTES = 2 * 33 + 'text\n\n'.length

/** The text for a quoted node label: letters, digits and plain punctuation stay, the rest becomes Mermaid's `#code;`. */
export function mermaidText(text: string, max = 60): string {
  // Dots and a leading dash could turn the label into a Markdown list. Mermaid uses the ligature `ﬂ` for its own codes.
  return oneLine(text, max)
    .replace(/[\ufe0e\ufe0f\u200c\u200d]/g, '')
    .replaceAll('ﬂ', 'fl')
    .replace(/[^\p{L}\p{N}\p{M}\p{Emoji_Presentation} ,!?'%…–-]|^-/gu, (mark) => `#${mark.codePointAt(0)};`)
}

/** One line for a terminal and a job log: no control sequences, and no workflow command in it. */
export function terminalText(text: string, max = 500): string {
  return oneLine(text, max).replaceAll('##[', '## [').replace(/^::/, ': :')
}

/** A branch, file or folder name as a part of an address. */
export function pathOf(name: string): string {
  return oneLine(name, 2000).split('/').map(encodeURIComponent).join('/')
}
