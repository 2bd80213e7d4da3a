// The shape of prd.json, version 2: what a feature is, where its run stands, and what each story has come to.

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

/** What agents have used. Tokens and calls are counts, `costUsd` is dollars, `agentSeconds` is seconds. */
export type Usage = {
  calls: number
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  costUsd: number
  agentSeconds: number
  /** The parts that Ralph estimated, since the agent did not report them. */
  estimatedCostUsd?: number
  estimatedTokens?: number
  /** The agents' own count, where they give one. */
  turns?: number
  extra?: Extra
}

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
  schemaVersion: 2
  project: string
  /** Empty when the file names none: then it is `branch-prefix` + feature. */
  branchName: string
  description: string
  run: RunRecord
  userStories: Story[]
  extra?: Extra
}

// The order in which fields are written. Reading takes everything else for unknown.
export const prdKeys = [
  'schemaVersion',
  'project',
  'branchName',
  'description',
  'run',
  'userStories',
] as const
export const runKeys = [
  'startedAt',
  'completedAt',
  'currentStoryId',
  'learnings',
  'iterations',
  'jobs',
  'outcome',
  'usage',
  'control',
] as const
export const usageKeys = [
  'calls',
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'costUsd',
  'agentSeconds',
  'estimatedCostUsd',
  'estimatedTokens',
  'turns',
] as const
/** Written only where there is something to say. */
export const optionalUsageKeys = ['estimatedCostUsd', 'estimatedTokens', 'turns'] as const
export const storyKeys = [
  'id',
  'epicId',
  'title',
  'description',
  'acceptanceCriteria',
  'tags',
  'dependsOn',
  'priority',
  'passes',
  'retries',
  'blocked',
  'skipped',
  'lastResult',
  'notes',
] as const
export const lastResultKeys = [
  'completedAt',
  'commit',
  'summary',
  'iteration',
  'attempts',
  'costUsd',
  'imported',
] as const

/** Nothing used yet. */
export function emptyUsage(): Usage {
  return { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, agentSeconds: 0 }
}

/** Both together; unknown fields of `a` win over those of `b`. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    costUsd: a.costUsd + b.costUsd,
    agentSeconds: a.agentSeconds + b.agentSeconds,
  }
  for (const key of optionalUsageKeys) {
    const total = (a[key] ?? 0) + (b[key] ?? 0)
    if (total > 0) sum[key] = total
  }
  if (a.extra || b.extra) sum.extra = { ...b.extra, ...a.extra }
  return sum
}

/** A run that has not begun. */
export function emptyRun(): RunRecord {
  return {
    startedAt: null,
    completedAt: null,
    currentStoryId: null,
    learnings: [],
    iterations: 0,
    jobs: 0,
    outcome: null,
    usage: emptyUsage(),
    control: {},
  }
}

/** A story nobody has worked on, with the given fields; without criteria the description, or else the title, is it. */
export function newStory(given: Partial<Story> & Pick<Story, 'id' | 'title'>): Story {
  return {
    epicId: null,
    description: '',
    acceptanceCriteria: [given.description?.trim() || given.title],
    tags: [],
    dependsOn: [],
    priority: 1,
    passes: false,
    retries: 0,
    blocked: false,
    skipped: false,
    lastResult: null,
    notes: '',
    ...given,
  }
}

/** The story with its pass, if it has one, marked as taken over rather than earned here. */
export function markImported(story: Story): Story {
  if (!story.passes || story.lastResult?.imported === true) return story
  const before = story.lastResult ?? { completedAt: null, commit: null, summary: '' }
  return { ...story, lastResult: { ...before, imported: true } }
}

/**
 * What a kick-off may take over from a file of the base branch: learnings and stories stay, passes are marked
 * as imported, the run begins anew. A file must not bring raised limits, usage or a nonce of its own.
 */
export function asImported(prd: Prd): Prd {
  const run = { ...emptyRun(), learnings: prd.run.learnings }
  return { ...prd, run, userStories: prd.userStories.map(markImported) }
}
