// The limits of a run. Types only.

/** When a story's breaker opens: after so many attempts without progress, with the same failure, and so on. `coolDownMs`: for how long. */
export type BreakerLimits = {
  noProgress: number
  sameError: number
  outputDecline: number
  coolDownMs: number
}

/** The limits of a run; 0 or null means unlimited. Times in milliseconds, money in USD. */
export type Limits = {
  iterationsPerJob: number
  maxIterations: number
  maxJobs: number
  maxAttempts: number
  /** Corrections of one pull request. Left out: `MAX_CORRECTIONS`. */
  maxCorrections?: number
  maxInterruptions: number
  iterationTimeoutMs: number
  /** All gates of an iteration together, at most. */
  gatesMs: number
  maxCostUsd: number | null
  maxTokens: number | null
  maxAgentTimeMs: number | null
  callsPerHour: number | null
  breaker: BreakerLimits
  /** The gates have to be green at the fork point. */
  baseline: boolean
  /** The gates run at the fork point, whatever their result: a story is compared with it. */
  recordsBaseline: boolean
  finalVerification: boolean
  /** What happens if a change weakens tests: the earlier tests are red on it, or fewer tests run than before. */
  weakenedTests: 'judge' | 'warn' | 'fail' | 'off'
  /** What happens if no gate fails without a change of the product. */
  needsProof: 'warn' | 'require' | 'off'
  /** `new-dependencies`; left out for `show`. */
  newDependencies?: 'ask' | 'refuse'
  /** `examples: sealed`: sessions write examples, and each change is tried with them. */
  sealsExamples?: true
  /** The level that a judge's evidence for each criterion needs. `ask`: an approval without evidence counts. */
  evidence: 'ask' | 'require' | 'tested' | 'proved'
  /** False in a job whose verdict another job looks up again. */
  checksEvidence?: false
  /** `approve: auto`: a plan is worked on without an approval. */
  approvesPlans: boolean
  stopOnBlocked: boolean
  /** `approvals`; left out for 0. */
  approvals?: number
  /** `checks: wait`: the run is complete only when the project's checks are green on the head. */
  waitsForChecks?: true
  /** `update-base`; left out for off. */
  updateBase?: 'conflicts' | 'always'
  agent: string
  /** The agent that takes over while the first is at its vendor's limit, and after two failed attempts on a story. */
  fallback: string | null
  /** The first agent's model by kind of session; left out or null: the agent's own choice. */
  models?: Readonly<Record<'run' | 'verify' | 'plan', string | null>>
  /** The model ladders: by the story's tag, and `run` for every other story; left out: no ladder. */
  ladders?: { run: readonly string[]; byTag: readonly (readonly [tag: string, rungs: readonly string[]])[] }
  /**
   * How many candidates an attempt has, from attempt number `fromAttempt` on: by the story's tag, and `run` for every other
   * story. Left out: one.
   */
  candidates?: { run: number; byTag: readonly (readonly [tag: string, count: number])[]; fromAttempt: number }
  /** Whether the job itself waits until it may continue. True on a laptop, since waiting costs nothing there. */
  waits: boolean
  redispatch: boolean
  /** `publish: story`: the branch is pushed with every story, not once a job. */
  publishEach: boolean
  /** The number of stories that are worked on at the same time. */
  maxParallel: number
}
