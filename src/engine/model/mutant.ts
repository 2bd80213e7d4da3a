// A small mistake that Ralph puts into new code, to see whether a test notices it.
import * as z from 'zod/mini'
import { displayPath } from '../../system/path-text.ts'

/** One changed line of a product file. `line` counts from 1; `from` and `to` are whole lines, without their line breaks. */
export type Mutant = z.infer<typeof Mutant>
export const Mutant = z.object({ path: z.string(), line: z.number(), from: z.string(), to: z.string() })

/** Characters of a line that are shown before and after what differs. */
const CONTEXT = 12
const MAX_SHOWN = 60

/** For people: ``src/a.js:3, `return a + b` instead of `return a - b` ``. Of a long line only the part that differs is shown. */
export function describeMutant({ path, line, from, to }: Mutant): string {
  const most = Math.min(from.length, to.length)
  let same = 0
  while (same < most && from[same] === to[same]) same += 1
  let sameAtEnd = 0
  while (sameAtEnd < most - same && from.at(-1 - sameAtEnd) === to.at(-1 - sameAtEnd)) sameAtEnd += 1
  const [cut, cutAtEnd] = [Math.max(0, same - CONTEXT), Math.max(0, sameAtEnd - CONTEXT)]
  const shown = (code: string) => {
    const part = code
      .slice(cut, code.length - cutAtEnd)
      .trim()
      .slice(0, MAX_SHOWN)
    return `\`${cut > 0 ? '…' : ''}${part}${cutAtEnd > 0 ? '…' : ''}\``
  }
  return `${displayPath(path)}:${line}, ${shown(to)} instead of ${shown(from)}`
}
