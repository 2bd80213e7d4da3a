// How mistakes show values of users: short, on one line, without control characters.
import { describeValue as shownText } from '../engine/model/text.ts'

/** A value for a mistake's `found`. The content of lists and maps is never printed. */
export function describeFound(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object'
    ? 'a map'
    : shownText(typeof value === 'string' ? value.replaceAll('##[', '## [') : value)
}

/** `a, b or c`. */
export function joinWithOr(words: readonly string[]): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** Milliseconds as settings write them. */
export function formatDuration(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`
}
