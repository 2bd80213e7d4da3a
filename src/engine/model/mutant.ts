// A small mistake that Ralph puts into new code, to see whether a test notices it.
import * as z from 'zod/mini'
import { displayPath } from '../../system/path-text.ts'

/** One changed line of a product file. `line` counts from 1; `from` and `to` are whole lines, without their line breaks. */
export type Mutant = z.infer<typeof Mutant>
export const Mutant = z.object({ path: z.string(), line: z.number(), from: z.string(), to: z.string() })

/** For people: ``src/a.js:3, `return a + b` instead of `return a - b` ``. */
export function describeMutant({ path, line, from, to }: Mutant): string {
  return `${displayPath(path)}:${line}, ${shown(to)} instead of ${shown(from)}`
}

const MAX_SHOWN = 60

function shown(code: string): string {
  const text = code.trim()
  return `\`${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text}\``
}
