// Which lines a change wrote. Computed in this process: attributes that an agent wrote have no effect on it.
import type { CatFile } from './cat-file.ts'
import { changesBetween } from './trees.ts'

/** Bytes of one file, and of all files together; larger ones are skipped. */
const MAX_BYTES = 1024 * 1024
const MAX_TOTAL_BYTES = 64 * MAX_BYTES

/** By path, the numbers of the lines that are new at `to`. Binary and large files are left out. */
export async function changedLinesBetween(
  objects: CatFile,
  from: string,
  to: string,
): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>()
  let left = MAX_TOTAL_BYTES
  for (const { path, status, oldOid, newOid, newMode } of await changesBetween(objects, from, to)) {
    if (status === 'D' || !newMode.startsWith('100')) continue
    const size = (await objects.info(newOid))?.size ?? 0
    left -= size
    if (size > MAX_BYTES || left < 0) continue
    const now = (await objects.contents(newOid))?.toString('utf8') ?? ''
    if (now.includes('\0')) continue
    const isKnown = status === 'M' && ((await objects.info(oldOid))?.size ?? 0) <= MAX_BYTES
    const before = isKnown ? ((await objects.contents(oldOid))?.toString('utf8') ?? '') : ''
    found.set(path, writtenLines(before, now))
  }
  return found
}

/** The maximum number of edits that the search allows (Myers). After a larger change, all lines count as new. */
const MAX_STEPS = 1000

/** The numbers of the lines of `now` that a shortest edit script adds to `before`. */
export function writtenLines(before: string, now: string): number[] {
  const [old, current] = [linesOf(before), linesOf(now)]
  let start = 0
  while (start < old.length && start < current.length && old[start] === current[start]) start += 1
  let end = 0
  while (
    end < Math.min(old.length, current.length) - start &&
    old[old.length - 1 - end] === current[current.length - 1 - end]
  )
    end += 1
  const unchanged = unchangedLines(
    old.slice(start, old.length - end),
    current.slice(start, current.length - end),
  )
  const written: number[] = []
  for (let at = start; at < current.length - end; at += 1)
    if (!unchanged.has(at - start)) written.push(at + 1)
  return written
}

/** Indexes of lines of `young` that are unchanged from `old`, by the greedy algorithm of E. Myers, "An O(ND) Difference Algorithm". */
function unchangedLines(old: readonly string[], current: readonly string[]): Set<number> {
  const unchanged = new Set<number>()
  const most = Math.min(old.length + current.length, MAX_STEPS)
  const trace: Int32Array[] = []
  const furthest = new Int32Array(2 * most + 3)
  const isDown = (at: Int32Array, k: number, step: number) =>
    k === -step || (k !== step && (at[most + k] ?? 0) < (at[most + k + 2] ?? 0))
  for (let step = 0; step <= most; step += 1) {
    trace.push(furthest.slice())
    for (let k = -step; k <= step; k += 2) {
      let x = isDown(furthest, k, step) ? (furthest[most + k + 2] ?? 0) : (furthest[most + k] ?? 0) + 1
      while (x < old.length && x - k < current.length && old[x] === current[x - k]) x += 1
      furthest[most + k + 1] = x
      if (x < old.length || x - k < current.length) continue
      // Walks back along the path: lines on a diagonal are unchanged.
      let at = x
      for (let back = step, diagonal = k; back >= 0; back -= 1) {
        const reached = trace[back] ?? furthest
        const down = isDown(reached, diagonal, back)
        const before =
          back === 0 ? 0 : down ? (reached[most + diagonal + 2] ?? 0) : (reached[most + diagonal] ?? 0) + 1
        for (; at > before; at -= 1) unchanged.add(at - 1 - diagonal)
        if (!down) at -= 1
        diagonal += down ? 1 : -1
      }
      return unchanged
    }
  }
  return unchanged
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
