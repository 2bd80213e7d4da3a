// What a job can do next, as data.
import type { Attempt, Conclusion } from './state.ts'

/** The next thing to do, as data (design 5). */
export type Step =
  | { kind: 'sync' }
  | { kind: 'join'; theirs: string }
  | { kind: 'restore' }
  | { kind: 'prepare' }
  | { kind: 'baseline' }
  | { kind: 'open' }
  | { kind: 'reserve'; storyId: string }
  | { kind: 'agent'; attempt: Attempt }
  | { kind: 'guard'; attempt: Attempt }
  | { kind: 'gates'; attempt: Attempt }
  | { kind: 'judge'; attempt: Attempt }
  | { kind: 'accept'; attempt: Attempt }
  | { kind: 'reject'; attempt: Attempt }
  | { kind: 'return'; attempt: Attempt }
  | { kind: 'wait'; until: number; reason: string }
  | { kind: 'verify' }
  | { kind: 'push' }
  | { kind: 'conclude'; conclusion: Conclusion }
  | { kind: 'publish'; conclusion: Conclusion }
  | { kind: 'dispatch' }
  | { kind: 'report'; conclusion: Conclusion }
  | { kind: 'stop'; conclusion: Conclusion }
