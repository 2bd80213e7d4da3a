// Gates, what they said, and where in the code they said it.
import * as z from 'zod/mini'

/** A gate runs by `bash -c`. `when` null: for every story; else only for stories with one of these tags, exactly. */
export type Gate = { name: string; run: string; timeoutMs: number; when: string[] | null; advisory: boolean }

/** One gate's run. `output` is bounded and redacted; `ms` is wall time. */
export type GateResult = z.infer<typeof GateResult>
export const GateResult = z.object({
  name: z.string(),
  ok: z.boolean(),
  advisory: z.boolean(),
  /** Plain words: `exit 1`, `timed out after 15m`. */
  ended: z.string(),
  ms: z.number(),
  output: z.string(),
})

/** A place in a file that a gate named. `message` is one to three lines, not trusted. */
export type Annotation = {
  path: string
  line: number
  message: string
  level: 'failure' | 'warning' | 'notice'
}
