// "Did you mean ...?": finds the candidate that a mistyped word most likely means.

/**
 * The candidate nearest to `word`, or null if all differ by more than one slip for every `lettersPerSlip` letters that have begun. Case is
 * ignored, and two swapped letters count as one slip. The first of equals wins.
 */
export function nearest(word: string, candidates: Iterable<string>, lettersPerSlip = 3): string | null {
  // The table below is quadratic in the length, and a hostile word may have a megabyte.
  if (word.length > 100) return null
  const lowerWord = word.toLowerCase()
  let best: string | null = null
  let limit = Math.max(1, Math.ceil(word.length / lettersPerSlip))
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > limit) continue
    const slips = distance(lowerWord, candidate.toLowerCase())
    if (slips > limit || (best !== null && slips === limit)) continue
    best = candidate
    limit = slips
    if (slips === 0) break
  }
  return best
}

/** Insertions, deletions, replacements and swaps of neighbours between `a` and `b` (optimal string alignment). */
function distance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      )
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1)
      }
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? 0
}
