// Markdown that would cost a parser minutes: nobody wrote it to be read.
import type { Mistake } from '../system/errors.ts'
import { place } from './places.ts'

/** A second and more for every 100 KB. */
const MOST_MARKDOWN = 1_000_000
const DEEPEST = 50
/** Lines that lean on an item without an indent: the parser looks back over all of them at each. */
const MOST_LEANING = 300

const nested = new RegExp(`^(?:[ \\t]*(?:>|(?:[-*+]|\\d{1,9}[.)])[ \\t])){${DEEPEST}}|^[ \\t]{200,}[-*+>\\d]`)
const rule = /^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$/
const opens = /^[ \t]*(?:[-*+>]|\d{1,9}[.)])/
const ends = /^[ \t]*$|^ {0,3}(?:#{1,6}[ \t]|```|~~~)/

export function unparsable(path: string, text: string): Mistake[] {
  const fix = 'name the files that hold the stories: ralph plan --from FILE'
  if (text.length > MOST_MARKDOWN) {
    const expected = `at most ${MOST_MARKDOWN / 1e6} MB of Markdown in a file`
    return [{ path, found: `${(text.length / 1e6).toFixed(1)} MB`, expected, fix }]
  }
  let leaning: number | null = null
  for (const [index, line] of text.split('\n').entries()) {
    if (opens.test(line)) leaning = 0
    else if (ends.test(line)) leaning = null
    else if (leaning !== null) leaning += 1
    const isDeep = nested.test(line) && !rule.test(line)
    if (!isDeep && (leaning ?? 0) <= MOST_LEANING) continue
    const found = isDeep
      ? `lists or quotations nested more than ${DEEPEST} deep`
      : `more than ${MOST_LEANING} lines below a list item without an indent`
    return [{ path: place(path, index + 1), found, expected: 'a document for people', fix }]
  }
  return []
}
