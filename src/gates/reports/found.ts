// What a report file says, and how what it names is found in the repository.
import type { Annotation, TestCounts } from '../../model/gate.ts'
import type { Resolve } from '../resolver.ts'

export type Place = { path: string; line: number }

export type Finder = {
  resolve: Resolve
  /** The first place that a text of a runner names, such as a stack. */
  placeIn(text: string): Place | null
}

export type Found = { tests: TestCounts | null; annotations: Annotation[] }

/** The number of a line as a file says it; the first where that is none. */
export function lineOf(value: unknown): number {
  const line = Number(value)
  return Number.isSafeInteger(line) && line >= 1 ? line : 1
}

/** More are not looked for in one file. */
export const MOST_FOUND = 500

/** How often each line ran, by file: lines with nothing to run are none of them. */
export type Hits = Map<string, Map<number, number>>
