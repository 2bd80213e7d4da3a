// What the commands that only look have in common.
import type { ActionContext } from './context.ts'
import type { Log } from './log.ts'

/** `line`: for the job's log, as a notice, or as the error that the job ends with. */
export type Looked = { isFine: boolean; line: string }

export type Look = (context: ActionContext, log: Log, signal: AbortSignal) => Promise<Looked>
