// A feature as prd.json has it, after reading: what it is, where its run stands, what each story has come to.
import * as z from 'zod/mini'
import { Extra, Usage } from './usage.ts'

/** As prd.json holds it. */
const FileUsage = z.extend(Usage, { extra: z.exactOptional(Extra) })

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

/** How a run ended, or stands between two jobs. */
export type Outcome = z.infer<typeof Outcome>
export const Outcome = z.enum(outcomes)

/** What shows that a criterion of a story is met: a place in the code, a gate, a picture. `criterion` is 1-based. */
export type Evidence = z.infer<typeof Evidence>
export const Evidence = z.object({
  criterion: z.number(),
  shown: z.string(),
  path: z.exactOptional(z.string()),
  line: z.exactOptional(z.number()),
})

/** The same of one of several stories. */
export type StoryEvidence = Evidence & { storyId: string }

/** What passed a story. `commit` stays null until the state write after the commit: a commit cannot hold its own id. */
export type LastResult = z.infer<typeof LastResult>
export const LastResult = z.object({
  completedAt: z.nullable(z.string()),
  commit: z.nullable(z.string()),
  summary: z.string(),
  /** Where no gate saw a change of it: a judge's word alone, or no gate that runs for it. */
  how: z.exactOptional(z.enum(['unchanged', 'ungated'])),
  iteration: z.exactOptional(z.number()),
  attempts: z.exactOptional(z.number()),
  costUsd: z.exactOptional(z.number()),
  /** It had passed before Ralph took the feature over; no gate of ours has seen it. */
  imported: z.exactOptional(z.boolean()),
  /** For every criterion, as the final verification found it. */
  evidence: z.exactOptional(z.array(Evidence)),
  extra: z.exactOptional(Extra),
})

/** One user story. `passes`, `retries`, `blocked`, `skipped`, `lastResult` are Ralph's, the rest is people's. */
export type Story = z.infer<typeof Story>
export const Story = z.object({
  id: z.string(),
  epicId: z.nullable(z.string()),
  title: z.string(),
  description: z.string(),
  acceptanceCriteria: z.array(z.string()),
  tags: z.array(z.string()),
  dependsOn: z.array(z.string()),
  /** The lowest number is worked on first. */
  priority: z.number(),
  passes: z.boolean(),
  /** Failed attempts that were charged since the last pass or reset. */
  retries: z.number(),
  blocked: z.boolean(),
  skipped: z.boolean(),
  lastResult: z.nullable(LastResult),
  notes: z.string(),
  extra: z.exactOptional(Extra),
})

/** The part of a feature that was asked for: these stories and those of the epic. `job`: the one that it was asked of. */
export type Scope = z.infer<typeof Scope>
export const Scope = z.object({ stories: z.array(z.string()), epic: z.nullable(z.string()), job: z.number() })

/** Where the run stands: Ralph's own. Times are ISO 8601. */
export type RunRecord = z.infer<typeof RunRecord>
export const RunRecord = z.object({
  startedAt: z.nullable(z.string()),
  completedAt: z.nullable(z.string()),
  currentStoryId: z.nullable(z.string()),
  learnings: z.array(z.string()),
  iterations: z.number(),
  jobs: z.number(),
  outcome: z.nullable(Outcome),
  /** What prd.json says that its sessions used. A state has the sessions instead. */
  usage: z.exactOptional(FileUsage),
  /** Pause, raised limits, breaker, nonce and the like: whoever writes an entry reads it. */
  control: Extra,
  extra: z.exactOptional(Extra),
})

/** A feature: prd.json after reading, every known field present. */
export type Prd = z.infer<typeof Prd>
export const Prd = z.object({
  $schema: z.exactOptional(z.string()),
  schemaVersion: z.literal(2),
  project: z.string(),
  /** Empty when the file names none: then it is `branch-prefix` + feature. */
  branchName: z.string(),
  description: z.string(),
  run: RunRecord,
  userStories: z.array(Story),
  extra: z.exactOptional(Extra),
})
