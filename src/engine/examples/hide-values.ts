// Takes expected values out of a session's own words, which are shown to people and kept in files that a worker reads. Pure.

const HIDDEN = '(sealed)'
const MAX_LEAVES = 2000

/** The text without any of these values, whole or in part. `true`, `false` and `null` stay: they are common words. */
export function hideValues(text: string, values: readonly unknown[]): string {
  const leaves = values.flatMap(leavesOf).slice(0, MAX_LEAVES)
  const words = [...values.filter(isNested).map((value) => JSON.stringify(value)), ...leaves]
  const longestFirst = [...new Set(words)].filter((word) => word !== '').sort((a, b) => b.length - a.length)
  return longestFirst.reduce((left, word) => left.split(word).join(HIDDEN), text)
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}
