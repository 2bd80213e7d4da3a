// Applies suggestions of reviewers to the branch. A suggestion that no longer fits is left to the session.

import { isUtf8 } from 'node:buffer'
import type { Suggestion } from '../engine/model/correction.ts'
import type { State } from '../engine/model/state.ts'
import type { CatFile } from '../git/cat-file.ts'
import type { Commits } from './commits.ts'

/** The maximum bytes of a file that suggestions are applied to. */
const MAX_FILE = 1024 * 1024

export type Suggested = { base: string; tree: string; count: number }

/** The tree of the green commit with the suggestions, and how many were applied; null if none fits. */
export async function applySuggestions(
  tools: { objects: CatFile; commits: Pick<Commits, 'withFiles'>; isRalphPath(path: string): boolean },
  { green }: Pick<State, 'green'>,
  suggestions: readonly Suggestion[],
): Promise<Suggested | null> {
  const { objects, commits, isRalphPath } = tools
  const base = await objects.root(green)
  if (base === null) return null
  const files = new Map<string, string>()
  let count = 0
  for (const path of new Set(suggestions.map((one) => one.path))) {
    if (isRalphPath(path)) continue
    const entry = await objects.entry(base, path)
    const info = await objects.info(`${green}:${path}`)
    if (entry === null || !entry.mode.startsWith('100') || info === null || info.size > MAX_FILE) continue
    const before = await objects.contents(`${green}:${path}`)
    // The rest of the file must not change by one byte.
    if (before === null || !isUtf8(before)) continue
    const applied = withSuggestions(
      before.toString('utf8'),
      suggestions.filter((one) => one.path === path),
    )
    if (applied.count === 0) continue
    files.set(path, applied.text)
    count += applied.count
  }
  return count === 0 ? null : { base, tree: await commits.withFiles(base, files), count }
}

/** The text with the suggestions that fit: their lines are as the reviewer saw them, and no other suggestion changes them. */
export function withSuggestions(
  text: string,
  suggestions: readonly Suggestion[],
): { text: string; count: number } {
  const lines = text.split('\n')
  const end = text.includes('\r\n') ? '\r' : ''
  let [count, above] = [0, Number.POSITIVE_INFINITY]
  // From the last line to the first, so that the numbers of the others stay right.
  for (const { from, to, was, now } of [...suggestions].sort((a, b) => b.from - a.from)) {
    const found = lines.slice(from - 1, to).map((line) => line.replace(/\r$/, ''))
    if (to >= above || found.join('\n') !== was.join('\n')) continue
    lines.splice(from - 1, to - from + 1, ...now.map((line) => line + end))
    count += 1
    above = from
  }
  return { text: lines.join('\n'), count }
}
