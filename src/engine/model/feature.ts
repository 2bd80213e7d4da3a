// A feature as read from prd.json: its description, the state of its run, and the result of each story.
import * as z from 'zod/mini'
import { Example } from './example.ts'
import { Extra, Usage } from './usage.ts'

/** Usage in prd.json. */
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

/** How a run ended, or its state between two jobs. */
export type Outcome = z.infer<typeof Outcome>
export const Outcome = z.enum(outcomes)

/**
 * How well a criterion is shown. `proved`: its test fails without the change of the story, and passes with it. `tested`: its test passes.
 * `cited`: a line, a file, a gate or a picture that exists. `claimed`: only a judge says so.
 */
export const LEVELS = ['claimed', 'cited', 'tested', 'proved'] as const
export type Level = (typeof LEVELS)[number]

/**
 * What shows that an acceptance criterion is met: a test, a place in the code, a gate, or a screenshot. `criterion` is 1-based.
 * `text`: the line. `outside`: the feature did not change this place. `reused`: several criteria name it.
 */
export type Evidence = z.infer<typeof Evidence>
export const Evidence = z.object({
  criterion: z.number(),
  shown: z.string(),
  path: z.exactOptional(z.string()),
  line: z.exactOptional(z.number()),
  level: z.exactOptional(z.enum(LEVELS)),
  test: z.exactOptional(z.string()),
  text: z.exactOptional(z.string()),
  outside: z.exactOptional(z.literal(true)),
  reused: z.exactOptional(z.literal(true)),
})

/** Evidence for one of several stories. */
export type StoryEvidence = Evidence & { storyId: string }

/** The files and lines that commits changed. Ralph's own files do not count; a binary file has no lines. */
export type ChangeSize = z.infer<typeof ChangeSize>
export const ChangeSize = z.object({ files: z.number(), added: z.number(), removed: z.number() })

/** How a story passed. `commit` is null in the commit itself, which cannot contain its own id. */
export type LastResult = z.infer<typeof LastResult>
export const LastResult = z.object({
  completedAt: z.nullable(z.string()),
  commit: z.nullable(z.string()),
  summary: z.string(),
  /** Set if no gate checked a change. `unchanged`: only a judge's verdict. `ungated`: no gate for its tags. `answered`: a question. */
  how: z.exactOptional(z.enum(['unchanged', 'ungated', 'answered'])),
  iteration: z.exactOptional(z.number()),
  attempts: z.exactOptional(z.number()),
  costUsd: z.exactOptional(z.number()),
  /** It had passed before Ralph took the feature over, so no gate of the run has checked it. */
  imported: z.exactOptional(z.boolean()),
  /** By criterion, from the final verification. */
  evidence: z.exactOptional(z.array(Evidence)),
  extra: z.exactOptional(Extra),
})

/** Of a story that Ralph made: the story whose work it corrects (null: the whole feature's), and its source. */
export type Corrects = z.infer<typeof Corrects>
export const Corrects = z.object({ story: z.nullable(z.string()), source: z.string() })

/** One user story. Ralph writes `passes`, `retries`, `blocked`, `skipped` and `lastResult`; people write the rest. */
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
  /** Set if it is a correction (engine/corrections/). */
  corrects: z.exactOptional(Corrects),
  /** With `examples: sealed`, each `expect` is a box that only Ralph opens. */
  examples: z.exactOptional(z.array(Example)),
  extra: z.exactOptional(Extra),
})

/** The part of a feature that the run is for: these stories and those of the epic. `job`: the job that it was requested in. */
export type Scope = z.infer<typeof Scope>
export const Scope = z.object({ stories: z.array(z.string()), epic: z.nullable(z.string()), job: z.number() })

/** The state of the run, which Ralph writes. Times are ISO 8601. */
export type RunRecord = z.infer<typeof RunRecord>
export const RunRecord = z.object({
  startedAt: z.nullable(z.string()),
  completedAt: z.nullable(z.string()),
  currentStoryId: z.nullable(z.string()),
  learnings: z.array(z.string()),
  iterations: z.number(),
  jobs: z.number(),
  outcome: z.nullable(Outcome),
  /** The total usage of the sessions, in prd.json only. A state has the sessions instead. */
  usage: z.exactOptional(FileUsage),
  /** Pause, raised limits, breaker, nonce and the like. */
  control: Extra,
  extra: z.exactOptional(Extra),
})

/** A feature: prd.json after reading, every known field present. */
export type Prd = z.infer<typeof Prd>
export const Prd = z.object({
  $schema: z.exactOptional(z.string()),
  schemaVersion: z.literal(2),
  project: z.string(),
  /** Empty if the file names none: then the branch is `branch-prefix` + feature. */
  branchName: z.string(),
  description: z.string(),
  run: RunRecord,
  userStories: z.array(Story),
  extra: z.exactOptional(Extra),
})
