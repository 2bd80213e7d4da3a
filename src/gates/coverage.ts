// Which lines of a change no test ran. Pure.
import type { Annotation } from '../model/gate.ts'
import type { Resolve } from './resolver.ts'

/** Lines of files as they are after a change: those that it wrote. */
export type ChangedLines = ReadonlyMap<string, readonly number[]>

type Missed = { path: string; from: number; to: number }
export type Covered = {
  /** Changed lines that can run, and those of them that did. */
  lines: number
  ran: number
  /** Lines that did not, those in a row together. */
  missed: Missed[]
  /** Changed files of a kind that the report knows, which it does not name; tests are none of them. */
  unknown: string[]
}

/**
 * `reports`: how often each line ran, by whatever they call the file. `countsUnknown`: nothing ran of changed files that
 * they do not name, which tools leave out that no test loads.
 */
export function coveredChange(
  changed: ChangedLines,
  reports: readonly ReadonlyMap<string, ReadonlyMap<number, number>>[],
  resolve: Resolve,
  countsUnknown = false,
): Covered {
  const known = new Map<string, Map<number, number>>()
  for (const [name, lines] of reports.flatMap((hits) => [...hits])) {
    const path = resolve(name)
    if (path === null || !changed.has(path)) continue
    const all = known.get(path) ?? new Map<number, number>()
    for (const [line, times] of lines) all.set(line, Math.max(times, all.get(line) ?? 0))
    known.set(path, all)
  }
  const kinds = new Set(reports.flatMap((hits) => [...hits.keys()].map(kindOf)).filter((kind) => kind !== ''))
  const covered: Covered = { lines: 0, ran: 0, missed: [], unknown: [] }
  for (const [path, numbers] of changed) {
    const lines = known.get(path)
    if (lines === undefined) {
      if (!kinds.has(kindOf(path)) || TESTS.test(path)) continue
      covered.unknown.push(path)
      if (!countsUnknown) continue
    }
    let last: Missed | null = null
    for (const line of numbers) {
      const times = lines === undefined ? 0 : lines.get(line)
      if (times === undefined) continue
      covered.lines += 1
      if (times > 0) covered.ran += 1
      if (times > 0) last = null
      else if (last !== null) last.to = line
      else {
        last = { path, from: line, to: line }
        covered.missed.push(last)
      }
    }
  }
  return covered
}

/** Nobody measures the tests themselves, and of declarations nothing runs. */
const TESTS = /(?:^|[/._-])(?:tests?|specs?|__tests__|conftest|e2e)(?:[/._-]|$)|\.d\.[cm]?ts$/i

function kindOf(path: string): string {
  return /\.\w+$/.exec(path)?.[0] ?? ''
}

/** `61 % of 46 changed lines`: rounded down, so that nothing missing becomes 100 %. */
export function share({ lines, ran }: Covered): string {
  return `${percent({ lines, ran })} % of ${lines} changed ${lines === 1 ? 'line' : 'lines'}`
}

export function percent({ lines, ran }: Pick<Covered, 'lines' | 'ran'>): number {
  return lines === 0 ? 100 : Math.floor((100 * ran) / lines)
}

/** `src/a.ts:12-18`, `src/b.ts:4`. */
export function missedPlaces({ missed }: Covered): string[] {
  return missed.map(({ path, from, to }) => `${path}:${from}${to === from ? '' : `-${to}`}`)
}

export function missedAnnotations({ missed }: Covered): Annotation[] {
  return missed.map(({ path, from, to }) => ({
    path,
    line: from,
    message: to === from ? 'No test ran this line.' : `No test ran lines ${from} to ${to}.`,
    level: 'notice',
  }))
}
