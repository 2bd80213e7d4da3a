// What a job can do next, as data.
import type { AttemptIn, AttemptWithCandidate } from './attempt.ts'
import type { Conclusion } from './state.ts'

export type Step =
  | { kind: 'sync' }
  | { kind: 'join'; theirs: string }
  | { kind: 'restore' }
  | { kind: 'prepare' }
  | { kind: 'baseline' }
  | { kind: 'open' }
  | { kind: 'reserve'; storyId: string }
  | { kind: 'agent'; attempt: AttemptIn<'reserved'> }
  | { kind: 'guard'; attempt: AttemptIn<'worked'> }
  /** Builds the candidate anew on `onto`, which landed, or will, before it. */
  | { kind: 'rebase'; attempt: AttemptWithCandidate; onto: string }
  | { kind: 'gates'; attempt: AttemptIn<'guarded'> }
  | { kind: 'judge'; attempt: AttemptIn<'gated'> }
  | { kind: 'accept'; attempt: AttemptIn<'gated' | 'judged'> }
  | { kind: 'reject'; attempt: AttemptIn<'failed'> }
  | { kind: 'return'; attempt: AttemptIn<'returned'> }
  | { kind: 'wait'; until: number; reason: string }
  | { kind: 'verify' }
  /** `split`: the story that is too large; null: the whole feature. */
  | { kind: 'plan'; split: string | null }
  | { kind: 'push' }
  | { kind: 'conclude'; conclusion: Conclusion }
  | { kind: 'publish'; conclusion: Conclusion }
  | { kind: 'dispatch' }
  | { kind: 'report'; conclusion: Conclusion }
  | { kind: 'stop'; conclusion: Conclusion }

export type AttemptStep = Extract<Step, { attempt: unknown }>

/** The jobs of `isolation: separate-job`. `claim` and `land` hold the write token, `work` and `gate` run what is not trusted. */
export type Part = 'claim' | 'work' | 'gate' | 'land'

type Row = {
  /** Whose step it is; a job that does it all may do every one. */
  parts: readonly Part[]
  /** Who runs what is not trusted for it: the other parts take that job's answer, and say so. */
  by: 'work' | 'gate' | null
  /** Its event stands although the job was cancelled: it puts things in order, was heard, or says what was spent. */
  settles: boolean
}

const HOLDERS = ['claim', 'land'] as const
const FROM_GATE = ['gate', 'land'] as const
const FROM_WORK = ['work', 'gate', 'land'] as const

export const STEPS = {
  sync: { parts: HOLDERS, by: null, settles: true },
  join: { parts: FROM_GATE, by: 'gate', settles: false },
  restore: { parts: HOLDERS, by: null, settles: true },
  prepare: { parts: HOLDERS, by: null, settles: false },
  baseline: { parts: FROM_GATE, by: 'gate', settles: false },
  open: { parts: HOLDERS, by: null, settles: false },
  reserve: { parts: HOLDERS, by: null, settles: false },
  agent: { parts: FROM_WORK, by: 'work', settles: true },
  guard: { parts: FROM_WORK, by: null, settles: false },
  rebase: { parts: HOLDERS, by: null, settles: false },
  gates: { parts: FROM_GATE, by: 'gate', settles: false },
  judge: { parts: FROM_GATE, by: 'work', settles: false },
  accept: { parts: HOLDERS, by: null, settles: true },
  reject: { parts: HOLDERS, by: null, settles: true },
  return: { parts: HOLDERS, by: null, settles: true },
  wait: { parts: HOLDERS, by: null, settles: false },
  verify: { parts: FROM_WORK, by: 'gate', settles: false },
  plan: { parts: ['work', 'land'], by: 'work', settles: false },
  push: { parts: HOLDERS, by: null, settles: false },
  conclude: { parts: HOLDERS, by: null, settles: true },
  publish: { parts: HOLDERS, by: null, settles: true },
  dispatch: { parts: HOLDERS, by: null, settles: true },
  report: { parts: HOLDERS, by: null, settles: true },
  stop: { parts: HOLDERS, by: null, settles: true },
} satisfies Record<Step['kind'], Row>

/** Tells the steps of this part of a job; null is the job that does it all. */
export function stepsOf(part: Part | null): (step: Step) => boolean {
  const rows: Record<Step['kind'], Row> = STEPS
  return ({ kind }) => part === null || rows[kind].parts.includes(part)
}
