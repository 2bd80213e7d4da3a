// Which lines a change wrote. Computed in this process, as a git that runs after a gate might read what the gate forged.
import type { CatFile } from './cat-file.ts'
import { changesBetween } from './tree-walk.ts'

/** Bytes of one file, and of all files together; larger ones are skipped. */
const MAX_BYTES = 1024 * 1024
const MAX_TOTAL_BYTES = 64 * MAX_BYTES

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

/** Edits that the search allows (Myers); after a larger change, all lines count as new. */
const MAX_STEPS = 1000

/** The numbers of the lines of `now` that a shortest edit script adds to `before`. */
export function writtenLines(before: string, now: string): number[] {
  const [old, young] = [linesOf(before), linesOf(now)]
  let start = 0
  while (start < old.length && start < young.length && old[start] === young[start]) start += 1
  let end = 0
  while (
    end < Math.min(old.length, young.length) - start &&
    old[old.length - 1 - end] === young[young.length - 1 - end]
  )
    end += 1
  const stayed = unchangedLines(old.slice(start, old.length - end), young.slice(start, young.length - end))
  const written: number[] = []
  for (let at = start; at < young.length - end; at += 1) if (!stayed.has(at - start)) written.push(at + 1)
  return written
}

/** Indexes of lines of `young` that are unchanged from `old`, by the greedy algorithm of E. Myers, "An O(ND) Difference Algorithm". */
function unchangedLines(old: readonly string[], young: readonly string[]): Set<number> {
  const stayed = new Set<number>()
  const most = Math.min(old.length + young.length, MAX_STEPS)
  const trace: Int32Array[] = []
  const furthest = new Int32Array(2 * most + 3)
  const isDown = (at: Int32Array, k: number, step: number) =>
    k === -step || (k !== step && (at[most + k] ?? 0) < (at[most + k + 2] ?? 0))
  for (let step = 0; step <= most; step += 1) {
    trace.push(furthest.slice())
    for (let k = -step; k <= step; k += 2) {
      let x = isDown(furthest, k, step) ? (furthest[most + k + 2] ?? 0) : (furthest[most + k] ?? 0) + 1
      while (x < old.length && x - k < young.length && old[x] === young[x - k]) x += 1
      furthest[most + k + 1] = x
      if (x < old.length || x - k < young.length) continue
      // Walks back along the path: lines on a diagonal are unchanged.
      let at = x
      for (let back = step, diagonal = k; back >= 0; back -= 1) {
        const then = trace[back] ?? furthest
        const down = isDown(then, diagonal, back)
        const before =
          back === 0 ? 0 : down ? (then[most + diagonal + 2] ?? 0) : (then[most + diagonal] ?? 0) + 1
        for (; at > before; at -= 1) stayed.add(at - 1 - diagonal)
        if (!down) at -= 1
        diagonal += down ? 1 : -1
      }
      return stayed
    }
  }
  return stayed
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
