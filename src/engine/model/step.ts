// The steps of the loop as data.
import type { AttemptIn, AttemptWithCandidate, CandidateDone, GreenAttempt } from './attempt.ts'
import type { BranchEdit, BuiltEdit } from './branch-edit.ts'
import type { Conclusion, State } from './state.ts'

export type Step =
  | { kind: 'sync' }
  | { kind: 'join'; theirs: string }
  /** Runs the gates on the joined branch. */
  | { kind: 'gate-join'; branch: Extract<State['job']['branch'], { kind: 'joining' }> }
  /** Restores a branch that people deleted. */
  | { kind: 'restore' }
  | { kind: 'prepare' }
  | { kind: 'baseline' }
  /** The first push: writes the commit that starts the run, moves the branch, opens the pull request. Once a job. */
  | { kind: 'open' }
  | { kind: 'reserve'; storyId: string }
  /** Before the first attempt at a story: its examples are written and sealed. */
  | { kind: 'examples'; storyId: string }
  /** Answers the question of a reviewer. */
  | { kind: 'answer'; storyId: string }
  | { kind: 'agent'; attempt: AttemptIn<'reserved'> }
  | { kind: 'guard'; attempt: AttemptIn<'worked'> }
  /** Rebases the candidate on `onto`, which landed or will land before it. */
  | { kind: 'rebase'; attempt: AttemptWithCandidate; onto: string }
  | { kind: 'gates'; attempt: AttemptIn<'guarded'> }
  /** Calls the product with what the examples give, and compares. */
  | { kind: 'try'; attempt: AttemptIn<'gated'> }
  | { kind: 'judge'; attempt: AttemptIn<'gated'> }
  | { kind: 'accept'; attempt: GreenAttempt }
  /** Enters one of several candidates into its contest, and frees its work tree. */
  | { kind: 'enter'; attempt: CandidateDone }
  | { kind: 'decide'; storyId: string }
  | { kind: 'reject'; attempt: AttemptIn<'failed'> }
  | { kind: 'return'; attempt: AttemptIn<'returned'> }
  | { kind: 'wait'; until: number; reason: string }
  /** The gates of the final verification; if one is red, its verdict. */
  | { kind: 'verify' }
  /** The judge of the final verification. */
  | { kind: 'judge-whole' }
  /** `split`: the story that is too large; null: the whole feature. */
  | { kind: 'plan'; split: string | null }
  /** With `publish: story`: moves the branch after a story. */
  | { kind: 'push' }
  /** Merges the base, or reverts stories. */
  | { kind: 'edit'; edit: BranchEdit }
  /** Runs the gates on the edited branch. */
  | { kind: 'gate-edit'; built: BuiltEdit }
  | { kind: 'conclude'; conclusion: Conclusion }
  /** Ends the job: branch and state in one push, and the lease is released. */
  | { kind: 'publish'; conclusion: Conclusion }
  | { kind: 'dispatch' }
  | { kind: 'report'; conclusion: Conclusion }
  | { kind: 'stop'; conclusion: Conclusion }

export type AttemptStep = Extract<Step, { attempt: unknown }>

/** The jobs of `isolation: separate-job`. `claim` and `land` have the write token; `work` and `gate` run untrusted code. */
export type Part = 'claim' | 'work' | 'gate' | 'land'

type Row = {
  /** The jobs that may do the step. A job without separate jobs may do every step. */
  parts: readonly Part[]
  /** The job that runs the untrusted code of this step; the other jobs use the result that it hands over. */
  by: 'work' | 'gate' | null
  /** Whether the event counts even if the job was cancelled meanwhile, as it cleans up, acknowledges commands, or reports usage. */
  settles: boolean
  /**
   * The commit that gates, a judge or a planner look at in the checkout, or null. A run that is killed in this step leaves files that
   * they wrote, which must not count as anyone's work (cli/commit-note.ts).
   */
  looksAt: 'candidate' | 'green' | null
  /** A terminal shows a clock while it continues. */
  takesLong: boolean
}

const HOLDERS = ['claim', 'land'] as const
const FROM_GATE = ['gate', 'land'] as const
const FROM_WORK = ['work', 'gate', 'land'] as const

export const STEPS = {
  sync: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  join: { parts: FROM_GATE, by: null, settles: false, looksAt: null, takesLong: false },
  'gate-join': { parts: FROM_GATE, by: 'gate', settles: false, looksAt: null, takesLong: true },
  restore: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  prepare: { parts: HOLDERS, by: null, settles: false, looksAt: null, takesLong: false },
  baseline: { parts: FROM_GATE, by: 'gate', settles: false, looksAt: 'green', takesLong: false },
  open: { parts: HOLDERS, by: null, settles: false, looksAt: null, takesLong: false },
  reserve: { parts: HOLDERS, by: null, settles: false, looksAt: null, takesLong: false },
  examples: { parts: HOLDERS, by: null, settles: false, looksAt: 'green', takesLong: true },
  answer: { parts: HOLDERS, by: null, settles: false, looksAt: 'green', takesLong: true },
  agent: { parts: FROM_WORK, by: 'work', settles: true, looksAt: null, takesLong: true },
  guard: { parts: FROM_WORK, by: null, settles: false, looksAt: null, takesLong: false },
  rebase: { parts: HOLDERS, by: null, settles: false, looksAt: null, takesLong: false },
  gates: { parts: FROM_GATE, by: 'gate', settles: false, looksAt: 'candidate', takesLong: true },
  try: { parts: HOLDERS, by: null, settles: false, looksAt: 'candidate', takesLong: true },
  judge: { parts: HOLDERS, by: 'work', settles: false, looksAt: 'candidate', takesLong: false },
  accept: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  enter: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  decide: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  reject: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  return: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  wait: { parts: HOLDERS, by: null, settles: false, looksAt: null, takesLong: true },
  verify: { parts: FROM_WORK, by: 'gate', settles: false, looksAt: 'green', takesLong: true },
  'judge-whole': {
    parts: ['work', 'land'],
    by: 'work',
    settles: false,
    looksAt: 'green',
    takesLong: true,
  },
  plan: { parts: ['work', 'land'], by: 'work', settles: false, looksAt: 'green', takesLong: false },
  push: { parts: HOLDERS, by: null, settles: false, looksAt: null, takesLong: false },
  edit: { parts: [...HOLDERS, 'gate'], by: null, settles: false, looksAt: null, takesLong: false },
  'gate-edit': { parts: FROM_GATE, by: 'gate', settles: false, looksAt: null, takesLong: true },
  conclude: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  publish: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  dispatch: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  report: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
  stop: { parts: HOLDERS, by: null, settles: true, looksAt: null, takesLong: false },
} satisfies Record<Step['kind'], Row>

/** A test for the steps of this part; null for the job that does all steps. */
export function stepsOf(part: Part | null): (step: Step) => boolean {
  const rows: Record<Step['kind'], Row> = STEPS
  return ({ kind }) => part === null || rows[kind].parts.includes(part)
}

/** Whether it is one of the steps of the final verification. */
export function isVerification({ kind }: Step): boolean {
  return kind === 'verify' || kind === 'judge-whole'
}
