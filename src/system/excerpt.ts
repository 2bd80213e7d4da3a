// The telling part of a long output: from where it first speaks of a failure, and how it ends. Pure.

const TELLING =
  /\bnot ok\b|✖|✗|✕|×|\bFAIL(ED|URE|ING)?\b|\bfail(ed|ure|ing|s)?\b|\berror\b|Error:|\bassert|\bexpected\b|\bpanic(ked)?\b|Traceback|\bException\b/i
/** Closing figures of test runners speak of failures too, and tell nothing. */
const FIGURES =
  /^\s*(?:#|ℹ)?\s*(?:tests?|suites?|pass(?:ed)?|fail(?:ed|ures)?|cancelled|skipped|todo|errors?)\b[:\s]*\d+\s*$/i

/** The first line that tells of a failure, or -1. */
export function tellingLine(lines: readonly string[]): number {
  return lines.findIndex((line) => TELLING.test(line) && !FIGURES.test(line))
}

/**
 * At most `bound` characters of `output`: two lines before the first telling line, what follows it, and the end.
 * Without a telling line: the end. What was left out is said.
 */
export function excerpt(output: string, bound: number): string {
  const text = output.trim()
  if (text.length <= bound) return text
  const lines = text.split('\n')
  const first = tellingLine(lines)
  if (first < 0) return `[...]\n${text.slice(-bound)}`
  const start = lines.slice(0, Math.max(0, first - 2)).join('\n').length
  const rest = text.slice(start).trimStart()
  if (rest.length <= bound) return `[...]\n${rest}`
  const head = Math.floor(bound * 0.7)
  return `[...]\n${rest.slice(0, head)}\n[...]\n${rest.slice(-(bound - head))}`
}
