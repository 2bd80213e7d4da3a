// Finds the changed lines that no test ran. Pure.
import type { Annotation } from '../engine/model/gate.ts'
import type { ResolvePath } from './resolver.ts'

/** The lines that a change wrote, by file, as numbered after it. */
export type ChangedLines = ReadonlyMap<string, readonly number[]>

/** How often each line ran, by file; lines without code are missing. */
export type Hits = Map<string, Map<number, number>>

/** Adds a file, and a line of it if one is passed. Of several counts for a line the greatest holds. */
export function addHits(hits: Hits, name: string, line = 0, times = 0): void {
  const lines = hits.get(name) ?? new Map<number, number>()
  hits.set(name, lines)
  if (Number.isSafeInteger(line) && line >= 1 && times >= 0)
    lines.set(line, Math.max(lines.get(line) ?? 0, times))
}

/** Why a gate with exit code 0 is red. */
export type RedReason = { ended: string; output: string }

type MissedLines = { path: string; from: number; to: number }
export type ChangeCoverage = {
  /** Changed lines that can run, and those of them that did. */
  lines: number
  ran: number
  /** Changed lines that did not run, consecutive ones together. */
  missed: MissedLines[]
  /** Changed files that the report does not name although it names others with their extension; without tests. */
  unknown: string[]
}

/**
 * `reports`: hits by the file names of the tool. `countsUnknown`: changed files that no report names count as not run, because
 * tools leave out files that no test loads.
 */
export function measureChange(
  changed: ChangedLines,
  reports: readonly Hits[],
  resolve: ResolvePath,
  countsUnknown = false,
): ChangeCoverage {
  const known: Hits = new Map()
  for (const [name, lines] of reports.flatMap((hits) => [...hits])) {
    const path = resolve(name)
    if (path === null || !changed.has(path)) continue
    addHits(known, path)
    for (const [line, times] of lines) addHits(known, path, line, times)
  }
  const kinds = new Set(
    reports.flatMap((hits) => [...hits.keys()].map(extensionOf)).filter((kind) => kind !== ''),
  )
  const covered: ChangeCoverage = { lines: 0, ran: 0, missed: [], unknown: [] }
  for (const [path, numbers] of changed) {
    const lines = known.get(path)
    if (lines === undefined) {
      if (!kinds.has(extensionOf(path)) || TESTS.test(path)) continue
      covered.unknown.push(path)
      if (!countsUnknown) continue
    }
    let last: MissedLines | null = null
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

/** Files whose coverage does not matter: tests, and declarations without code. */
const TESTS = /(?:^|[/._-])(?:tests?|specs?|__tests__|conftest|e2e)(?:[/._-]|$)|\.d\.[cm]?ts$/i

function extensionOf(path: string): string {
  return /\.\w+$/.exec(path)?.[0] ?? ''
}

/** Annotations and remarks; `red` if less than `threshold` percent of the lines ran (null: no threshold). */
export function reportCoverage(
  file: string,
  threshold: number | null,
  covered: ChangeCoverage,
): { annotations: Annotation[]; remarks: string[]; red: RedReason | null } {
  const { lines, ran, missed, unknown } = covered
  const places = missed.map(({ path, from, to }) => `${path}:${from}${to === from ? '' : `-${to}`}`)
  // Rounded down, so that nothing missing becomes 100 %.
  const percent = lines === 0 ? 100 : Math.floor((100 * ran) / lines)
  const share = `${percent} % of ${lines} changed ${lines === 1 ? 'line' : 'lines'}`
  const remarks: string[] = []
  if (places.length > 0)
    remarks.push(`tests ran ${share}; no test ran ${firstOf(places, MAX_NAMED).join(', ')}`)
  if (unknown.length > 0) {
    const so = threshold === null ? '' : ', so these lines count as not run'
    remarks.push(`${file} does not contain ${firstOf(unknown, MAX_NAMED).join(', ')}${so}`)
  }
  const ended = `tests ran ${share}, but the threshold is ${threshold} %`
  const list = firstOf(places, MAX_LISTED).map((place) => `  ${place}\n`)
  const isThin = threshold !== null && percent < threshold
  return {
    annotations: missed.map(({ path, from, to }) => ({
      path,
      line: from,
      message: to === from ? 'No test ran this line.' : `No test ran lines ${from} to ${to}.`,
      level: 'notice',
    })),
    remarks,
    red: isThin ? { ended, output: `\n${ended}. No test ran:\n${list.join('')}` } : null,
  }
}

/** Places in a remark, and in the output for the next prompt. */
const MAX_NAMED = 5
const MAX_LISTED = 50

function firstOf(all: readonly string[], most: number): string[] {
  return all.length <= most ? [...all] : [...all.slice(0, most), `${all.length - most} more`]
}
