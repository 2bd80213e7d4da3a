// Hostile text made fit for markdown, mermaid and terminals. Everything people or agents wrote passes through here.
import { fenced, oneLine, sanitizeText, truncate } from '../engine/model/text.ts'
import { excerpt } from '../system/excerpt.ts'

/** A zero-width space. It breaks up what GitHub would act on (`@name`, `#1`, `http://`, `:tada:`) and is invisible. */
const BREAK = '\u200b'

/**
 * One line that shows the text and does nothing, in a paragraph, a table cell, a list item, a heading or inside of
 * HTML such as `<summary>` (so it uses entities, never backslashes). GitHub notifies no person and links nothing.
 */
export function markdownText(text: string, max = 300): string {
  return (
    disarm(oneLine(text, max))
      .replace(/[&<>|`*[\]~$\\"]/g, (mark) => `&#${mark.charCodeAt(0)};`)
      // Inside of a word it does nothing, and left alone a token such as `ghp_...` is still found by the redaction.
      .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '&#95;')
      .replace(/^[-+=]/, (mark) => `&#${mark.charCodeAt(0)};`)
      .replace(/^(\d+)([.)])/, (_all, digits: string, mark: string) => `${digits}&#${mark.charCodeAt(0)};`)
  )
}

/** One line for a place that shows no markdown, such as the title of a pull request or a check. GitHub notifies no person. */
export function titleText(text: string, max = 255): string {
  return truncate(disarm(oneLine(text, max)), max)
}

/** One line for the subject of a commit: as a title, and without the words in brackets that keep CI from running. */
export function subjectText(text: string, max = 100): string {
  const line = titleText(text, max).replace(/\[(?=[^\]]*\b(?:skip|no)\b)|\*(?=\*\*NO_CI)/gi, `$&${BREAK}`)
  return truncate(line, max)
}

/** Mentions, references to issues, links and emoji codes, put out of action: GitHub looks for them after markdown was rendered. */
function disarm(line: string): string {
  return (
    line
      .replace(/[@#]/g, `$&${BREAK}`)
      .replace(/\bGH-(?=\d)/gi, `$&${BREAK}`)
      .replace(/:(?=\/\/)/g, `:${BREAK}`)
      // A line number (`a.ts:12:5`) stays as it can be copied; of numbers only these two are emoji.
      .replace(/:(?=(?!\d+:)[\w+-]+:|(?:100|1234):)/g, `:${BREAK}`)
      .replace(/\bwww(?=\.)/gi, `$&${BREAK}`)
  )
}

/** Inside of code nothing is escaped, and a search for Ralph's markers must still not find one there. */
function breakMarkers(text: string): string {
  return text.replace(/<!--(?=\s*\/?ralph)/gi, `<!-${BREAK}-`)
}

/** Bold, or nothing where there is nothing; the text is markdown already. */
export function bold(text: string): string {
  return text === '' ? '' : `**${text}**`
}

/** `[text](url)` for an address of http. Anything else is only the text. */
export function link(text: string, url: string | null): string {
  if (url === null || !/^https?:\/\/[^\s\p{C}<>"`\\]+$/iu.test(url)) return text
  return `[${text}](${url.replace(/[()|*_[\]]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)})`
}

/** A code span for a word of ours or a command; what would end the span or the table cell is replaced. */
export function code(text: string, max = 120): string {
  const inner = breakMarkers(oneLine(text, max)).replaceAll('`', "'").replaceAll('|', '/')
  return inner === '' ? '' : `\`${inner}\``
}

/** A fenced block of at most `maxBytes` (UTF-8) with its fences; a longer text is cut to its most important lines. */
export function codeBlock(text: string, maxBytes: number): string {
  const clean = breakMarkers(sanitizeText(text))
    .replace(/`{33,}/g, '`'.repeat(32))
    .replace(/^\n+|\n+$/g, '')
  return fenced(excerpt(clean, Math.max(0, maxBytes - FENCES)), 'text')
}

/** The longest of both, with the word and the line ends. */
const FENCES = 2 * 33 + 'text\n\n'.length

/** Fit for a quoted node label: letters, digits and plain punctuation stay, the rest becomes mermaid's `#code;`. */
export function mermaidText(text: string, max = 60): string {
  // Dots and leading dashes could make a markdown list of the label; the ligature begins mermaid's own inner code.
  return oneLine(text, max)
    .replace(/[\ufe0e\ufe0f\u200c\u200d]/g, '')
    .replaceAll('ﬂ', 'fl')
    .replace(/[^\p{L}\p{N}\p{M}\p{Emoji_Presentation} ,!?'%…–-]|^-/gu, (mark) => `#${mark.codePointAt(0)};`)
}

/** One line that a terminal and a job log only show: no sequences, and no workflow command at its start or inside. */
export function terminalText(text: string, max = 500): string {
  return oneLine(text, max).replaceAll('##[', '## [').replace(/^::/, ': :')
}

/** A name as a part of an address. */
export function pathOf(name: string): string {
  return oneLine(name, 2000).split('/').map(encodeURIComponent).join('/')
}
