// Measures and fits text in terminal columns. The text must have no colours yet.
import columnsOf from 'fast-string-width'

/** Created at the first text that is not ASCII, because that takes 10 ms, more than the rest of the start. */
let segmenter: Intl.Segmenter | null = null

function clusters(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}

/** Columns of a text without control characters. An emoji of several joined characters has two columns. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let columns = 0
  for (const { segment } of clusters(text)) columns += clusterWidth(segment)
  return columns
}

/** A terminal draws a cluster in at most two cells, however many characters are joined. */
function clusterWidth(cluster: string): number {
  return Math.min(2, columnsOf(cluster))
}

/** The text in at most `columns`, cut with `…`. */
export function fit(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text
  return columns < 1 ? '' : `${take(text, columns - 1).trimEnd()}…`
}

/** The text in exactly `columns`: cut, or filled with spaces. */
export function pad(text: string, columns: number): string {
  const shown = fit(text, columns)
  return shown + ' '.repeat(Math.max(0, columns - textWidth(shown)))
}

/** The text in lines of at most `columns` (at least 2), broken at spaces if possible. */
export function wrap(text: string, columns: number): string[] {
  const room = Math.max(2, columns)
  if (textWidth(text) <= room) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`
    if (textWidth(joined) <= room) {
      line = joined
      continue
    }
    if (line !== '') lines.push(line)
    line = word
    while (textWidth(line) > room) {
      const part = take(line, room)
      lines.push(part)
      line = line.slice(part.length)
    }
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line]
}

/** The longest start of the text that takes at most `columns`. */
function take(text: string, columns: number): string {
  let taken = ''
  let used = 0
  for (const { segment } of clusters(text)) {
    used += clusterWidth(segment)
    if (used > columns) break
    taken += segment
  }
  return taken
}
