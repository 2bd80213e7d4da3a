// Comments and attributes that silence a linter, a type checker or a coverage tool for the code next to them. They are found by their
// shape, not by the tool's name. A comment that only looks like one costs a gate run and nothing else: removing it changes no behavior.

/** Starts of comments. Inside of code a comment follows a blank, so that `https://` in a string is none. */
const COMMENT = /(?<=^|[\s{(])(?:\/\*+!?|\/\/+[/!]?|#+|<!--|--|\{-#?|;+|(?<=^\s*)(?:%+|\*))(?=[\s@$:!\w])/g
const VERB =
  '(?:ignore|disable|suppress|skip|off\\b|excl|allow|expect[-_]error|no[-_ ]?check|no[-_ ]?cov|fixme|silence|mute)'
/** `eslint-disable-line`, `@ts-expect-error`, `fmt: off`, `c8 ignore next`, `rubocop:disable Style`: a tool, and what it is to do. */
const TOOL_AND_VERB = new RegExp(`^[\\s@$!:]*(?!param)[\\w.+/][\\w.+/:-]*(?:[-:_./@]|[ \\t:=]+)${VERB}`, 'i')
/** `noqa`, `NOLINTNEXTLINE`, `#nosec`, `NOPMD`: one word. */
const ONE_WORD =
  /^[\s@$!:]*no(?:qa|lint|sec\b|sonar|pmd|check|cov|warn|inspection|semgrep|format)|^[\s@$!:]*[A-Z]{2,}[-_](?:OFF|EXCL|IGNORE|STOP)|^[\s@$!:]*(?:CHECKSTYLE|pyright|mypy|pylint|ruff|flake8|nosemgrep|pragma)\s*:/i
/** `$FlowFixMe`, `@codeCoverageIgnoreStart`: one word in camel case. */
const CAMEL_CASE = /^[\s@$!:]*[A-Za-z]+(?:Ignore|FixMe|Disable|Suppress)/
/** Attributes of Rust, annotations of Java and Kotlin, directives of C and C#. */
const ATTRIBUTE =
  /#!?\[(?:allow|expect)\([^)\n]*\)\]|@(?:SuppressWarnings|Suppress|SuppressFBWarnings|SuppressLint|no_type_check)\b(?:\([^)\n]*\))?|\[(?:assembly: ?)?SuppressMessage\([^\n]*\)\]|^[ \t]*#pragma (?:warning|GCC|clang|diag)[^\n]*$/g
/** Longer lines are generated code, and are not searched. */
const LONGEST_LINE = 2000

/**
 * The text `after` without suppressions in lines that `before` does not have. Lines that become empty are removed. Null if there are no
 * such suppressions.
 */
export function withoutNewSuppressions(before: string, after: string): string | null {
  const linesBefore = new Set(before.split('\n'))
  let hasSuppression = false
  const lines = after.split('\n').flatMap((line) => {
    if (line.length > LONGEST_LINE || linesBefore.has(line)) return [line]
    const cleaned = withoutComment(line).replace(ATTRIBUTE, '')
    if (cleaned === line) return [line]
    hasSuppression = true
    return cleaned.trim() === '' ? [] : [cleaned.trimEnd()]
  })
  return hasSuppression ? lines.join('\n') : null
}

/** The line without its first comment that silences a checker. */
function withoutComment(line: string): string {
  for (const { 0: mark, index } of line.matchAll(COMMENT)) {
    const text = line.slice(index + mark.length)
    if (isInString(line.slice(0, index)) || !silences(text)) continue
    const ending = mark.startsWith('/*') ? '*/' : mark === '<!--' ? '-->' : null
    const end = ending === null ? -1 : text.indexOf(ending)
    // What is before the comment stays, and so does code after a comment that ends in the line.
    return end === -1 || ending === null
      ? line.slice(0, index)
      : `${line.slice(0, index)}${text.slice(end + ending.length)}`
  }
  return line
}

function silences(text: string): boolean {
  return [TOOL_AND_VERB, ONE_WORD, CAMEL_CASE].some((shape) => shape.test(text))
}

/** Whether a quoted text is open at the end of this part of a line. */
function isInString(part: string): boolean {
  const quotes = part.replace(/\\./g, '').replace(/"[^"]*"|'[^']*'|`[^`]*`/g, '')
  return /["`]/.test(quotes) || /(?:^|[^\w])'/.test(quotes)
}
