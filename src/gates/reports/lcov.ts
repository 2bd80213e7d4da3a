// lcov, as c8, nyc, vitest, jest, coverage.py, cargo-llvm-cov and many more write it. Pure.
import type { Hits } from './found.ts'

/** Lines of files, by the names that the file has for them; null where it is no lcov. */
export function readLcov(text: string): Hits | null {
  const hits: Hits = new Map()
  let lines: Map<number, number> | null = null
  for (const line of text.split('\n')) {
    if (line.startsWith('SF:')) {
      const name = line.slice(3).trim()
      lines = hits.get(name) ?? new Map()
      hits.set(name, lines)
    }
    const [, number, times] = /^DA:(\d{1,7}),(\d{1,15})/.exec(line) ?? []
    if (number !== undefined)
      lines?.set(Number(number), Math.max(lines.get(Number(number)) ?? 0, Number(times)))
  }
  return hits.size === 0 ? null : hits
}
