// A feature as prd.json has it, after reading: what it is, where its run stands, what each story has come to.
import type { Usage } from './usage.ts'

/** Fields of a file that Ralph does not know. They survive reading and writing, flat, behind the known ones. */
export type Extra = { [key: string]: unknown }

/** How a run ended, or stands between two jobs. */
export type Outcome = (typeof outcomes)[number]

export const outcomes = [
  'complete',
  'stuck',
  'max-iterations',
  'budget',
  'paused',
  'continued',
  'error',
  'interrupted',
] as const

/** What passed a story. `commit` stays null until the state write after the commit: a commit cannot hold its own id. */
export type LastResult = {
  completedAt: string | null
  commit: string | null
  summary: string
  iteration?: number
  attempts?: number
  costUsd?: number
  /** It had passed before Ralph took the feature over; no gate of ours has seen it. */
  imported?: boolean
  extra?: Extra
}

/** One user story. `passes`, `retries`, `blocked`, `skipped`, `lastResult` are Ralph's, the rest is people's. */
export type Story = {
  id: string
  epicId: string | null
  title: string
  description: string
  acceptanceCriteria: string[]
  tags: string[]
  dependsOn: string[]
  /** The lowest number is worked on first. */
  priority: number
  passes: boolean
  /** Failed attempts that were charged since the last pass or reset. */
  retries: number
  blocked: boolean
  skipped: boolean
  lastResult: LastResult | null
  notes: string
  extra?: Extra
}

/** Where the run stands: Ralph's own. Times are ISO 8601. */
export type RunRecord = {
  startedAt: string | null
  completedAt: string | null
  currentStoryId: string | null
  learnings: string[]
  iterations: number
  jobs: number
  outcome: Outcome | null
  usage: Usage
  /** Pause, raised limits, breaker, nonce and the like: whoever writes an entry reads it. */
  control: Record<string, unknown>
  extra?: Extra
}

/** A feature: prd.json after reading, every known field present. */
export type Prd = {
  $schema?: string
  schemaVersion: 2
  project: string
  /** Empty when the file names none: then it is `branch-prefix` + feature. */
  branchName: string
  description: string
  run: RunRecord
  userStories: Story[]
  extra?: Extra
}
