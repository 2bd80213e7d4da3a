// The bounds of a run. Types only.

/** After how many attempts without progress, or with the same failure, a story rests, and for how long. */
export type BreakerLimits = {
  noProgress: number
  sameError: number
  outputDecline: number
  coolDownMs: number
}

/** The bounds of a run; 0 or null means without end. Times in milliseconds, money in USD. */
export type Limits = {
  iterationsPerJob: number
  maxIterations: number
  maxJobs: number
  maxAttempts: number
  maxInterruptions: number
  iterationTimeoutMs: number
  /** All gates of an iteration together, at most. */
  gatesMs: number
  maxCostUsd: number | null
  maxTokens: number | null
  maxAgentTimeMs: number | null
  callsPerHour: number | null
  breaker: BreakerLimits
  baseline: boolean
  finalVerification: boolean
  /** What the tests as they were, red on a change, or fewer tests than before come to. */
  weakenedTests: 'judge' | 'warn' | 'fail' | 'off'
  /** `evidence: require`: an approval that names nothing counts for nothing. */
  requiresEvidence: boolean
  /** `approve: auto`: nobody has to say that a plan is good. */
  approvesPlans: boolean
  stopOnBlocked: boolean
  agent: string
  /** The agent that stands in while the first is limited, and after two failed attempts on a story. */
  fallback: string | null
  /** The first agent's model by what a session is for; left out or null: its own choice. */
  models?: Readonly<Record<'run' | 'verify' | 'plan', string | null>>
  /** Models that a story climbs, by the story's tag and for every other one; left out: no ladder. */
  ladders?: { run: readonly string[]; byTag: readonly (readonly [tag: string, rungs: readonly string[]])[] }
  /** Long waits are waited out, as on a laptop: they cost nothing there. */
  waits: boolean
  redispatch: boolean
  /** `publish: story`: the branch moves with every story, not once a job. */
  publishEach: boolean
  /** Stories that are worked on at the same time. */
  maxParallel: number
}
