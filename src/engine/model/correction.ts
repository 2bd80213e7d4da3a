// What a correction corrects, and its source. A correction is a story that Ralph made, so it has attempts, gates and a commit.
import * as z from 'zod/mini'

/** A thread of a review. Its texts are hostile. `id`: GitHub's node id; `comment`: the number of its first comment. */
export type ReviewThread = z.infer<typeof ReviewThread>
export const ReviewThread = z.object({
  id: z.string(),
  comment: z.number(),
  url: z.string(),
  by: z.string(),
  path: z.string(),
  /** The lines that it is about, 1-based; null for the whole file. */
  lines: z.nullable(z.object({ from: z.number(), to: z.number() })),
  /** The number of its newest comment when it was read. */
  newest: z.number(),
})

/** Where a correction came from. Each kind has a row in `engine/corrections/kinds.ts`. */
export type CorrectionSource = z.infer<typeof CorrectionSource>
export const CorrectionSource = z.discriminatedUnion('kind', [
  /** `/ralph fix`. `comment`: its number; 0 on a command line. */
  z.object({ kind: z.literal('words'), comment: z.number(), by: z.string() }),
  z.object({ kind: z.literal('review'), threads: z.array(ReviewThread) }),
  /** A thread that only asks. If the session that answers it says that it asks for a change, it becomes a `review`. */
  z.object({ kind: z.literal('question'), threads: z.array(ReviewThread) }),
  /** A check of the project that is red on `head`. `digest`: of its output. */
  z.object({
    kind: z.literal('check'),
    name: z.string(),
    head: z.string(),
    url: z.string(),
    digest: z.string(),
  }),
  /** The base branch at `commit` conflicts with the branch, in `paths`. */
  z.object({ kind: z.literal('base'), commit: z.string(), branch: z.string(), paths: z.array(z.string()) }),
])

/**
 * Lines of a file that a reviewer wants to read differently. `from` and `to`: 1-based, as the newest commit has them. `was`: those lines as the
 * reviewer saw them, and `now`: what they become.
 */
export type Suggestion = {
  path: string
  from: number
  to: number
  was: readonly string[]
  now: readonly string[]
}

/** A request for a correction, before it is a work item. */
export type CorrectionRequest = {
  /** The story whose work is to be corrected; null: the feature as a whole. */
  story: string | null
  source: CorrectionSource
  /** What a person or a tool said, fenced if it may be hostile. */
  text: string
  /** Work that its session begins with, such as a merge with conflict markers. */
  kept?: { base: string; tree: string }
  /** They become `kept` as far as they fit. */
  suggestions?: readonly Suggestion[]
  /** It shows only on a merge with the base branch, so the base is merged before its session. */
  onMerge?: true
}

/** The line before an answer. What follows it is posted. */
export const ANSWER = '<ralph>ANSWER</ralph>'

/** The whole answer of a session whose question asks for a change. */
export const ASKS_CHANGE = '<ralph>CHANGE</ralph>'

/** By the id of the correction's story. `at`: epoch milliseconds. `answer`: to a question; `failed`: sessions that gave none. */
export type Correction = z.infer<typeof Correction>
export const Correction = z.object({
  source: CorrectionSource,
  at: z.number(),
  answer: z.exactOptional(z.string()),
  failed: z.exactOptional(z.number()),
})

/** Who approved the pull request. `heads`: the commits whose approvals count; `others`: whose approval does not count, and why. */
export type Approvals = z.infer<typeof Approvals>
export const Approvals = z.object({
  heads: z.array(z.string()),
  by: z.array(z.string()),
  others: z.array(z.object({ login: z.string(), why: z.string() })),
})

/** What keeps a finished run from being complete. */
export type Holds = z.infer<typeof Holds>
export const Holds = z.object({
  /** People with write permission whose newest review requests changes. */
  changesRequestedBy: z.array(z.string()),
  /** The run waits for the project's checks, so an event about them starts a job. */
  awaitsChecks: z.exactOptional(z.literal(true)),
  /** How many approvals it waits for, so an approval starts a job. */
  awaitsApprovals: z.exactOptional(z.number()),
  /** As they were read last; left out if none are needed. */
  approvals: z.exactOptional(Approvals),
  /** The project's checks on the head; left out if they are not waited for. */
  checks: z.exactOptional(
    z.object({ head: z.string(), pending: z.array(z.string()), red: z.array(z.string()) }),
  ),
})

/** A place in the code, as the newest commit of the branch has it. `lines`: null for the whole file. */
export type Place = { path: string; lines: { from: number; to: number } | null }

/** One red thing. `places`: where it is; the story whose commit wrote them last is to blame. */
export type CorrectionReport = {
  source: CorrectionSource
  text: string
  places: readonly Place[]
  /** Used if no story wrote the places; left out: the feature as a whole. */
  otherwise?: string
  kept?: CorrectionRequest['kept']
  suggestions?: CorrectionRequest['suggestions']
  onMerge?: true
}

/** What GitHub says about the pull request, besides commands. */
export type Heard = {
  reports: readonly CorrectionReport[]
  /** Who requests changes; undefined: not read. */
  changesRequestedBy?: readonly string[]
  approvals?: Approvals
  checks?: { head: string; pending: readonly string[]; red: readonly string[] }
}
