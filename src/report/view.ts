// A report as data: made once from the state. Markdown and terminal render it, and whatever comes next. Nothing is escaped in it.
import { isUngated, iterationsLeft } from '../loop/limits.ts'
import { passedUnchanged, passedUngated, UNCHANGED, UNGATED } from '../loop/passed.ts'
import { ownSituation, type Situation } from '../loop/situation.ts'
import type { Outcome, Story } from '../model/feature.ts'
import type { Annotation, GateResult } from '../model/gate.ts'
import type { Limits } from '../model/limits.ts'
import type { Failure, State, TimelineEntry } from '../model/state.ts'
import type { Usage } from '../model/usage.ts'
import { type Counts, counts } from '../prd/select.ts'
import { headline, heldBack, inWork, outcomeNow, restsUntil, tally } from './headline.ts'
import { nextMove } from './next-move.ts'
import type { Standing } from './outcomes.ts'
import type { Sentence } from './sentence.ts'
import { worstCase } from './words.ts'

/** What reports need beside the state. */
export type Facts = {
  /** `https://github.com/acme/shop`, without a slash at the end. */
  repositoryUrl: string
  /** This job's page; null outside of CI. */
  runUrl: string | null
  /** Null where they are not known. */
  limits: Limits | null
  /** Epoch milliseconds. */
  now: number
  compareUrl?: string | null
  /** Things to tell that are no part of the state, such as a refused pull request. */
  notes: readonly Note[]
  /** Places in files that failing gates named, by story id. */
  annotations?: Readonly<Record<string, readonly Annotation[]>>
}

/** Plain text; an address in it would be put out of action, so where a person goes on stands in `link`. */
export type Note = string | { text: string; link: { name: string; url: string } }

/** What a live header shows: made anew at every step, so it looks at no story twice. */
export type Header = {
  feature: string
  project: string
  branch: string
  counts: Counts
  /** `4 of 6 stories pass`. */
  tally: string
  /** The story that a session works on now. */
  inWork: { id: string; title: string; attempt: number; startedAt: number } | null
  /** The iteration in work, or the last one; `iterations` are those that are charged. */
  iteration: number
  iterations: number
  jobs: number
  usage: Usage
  pullUrl: string | null
  /** Where each ends the run; null without a limit. */
  most: {
    iterations: number | null
    jobs: number | null
    costUsd: number | null
    tokens: number | null
    agentMs: number | null
  }
}

export type StoryView = {
  id: string
  title: string
  standing: Standing
  /** How it passed: `gates` is what a pass usually means. Null where it has not. */
  how: 'gates' | 'imported' | 'ungated' | 'unchanged' | null
  /** What the standing alone does not say, in plain words; often empty. */
  aside: string
  /** Why it is blocked or was rejected. */
  why: string
  criteria: readonly string[]
  dependsOn: readonly string[]
  /** All that it has had; `retries` are the charged ones since its last pass or reset. */
  attempts: number
  retries: number
  costUsd: Pick<Usage, 'costUsd' | 'estimatedCostUsd'>
  ms: number
  commit: string | null
  /** Of the pass; 0 before. */
  iteration: number
  failure: Failure | null
  gates: readonly GateResult[]
  remarks: readonly string[]
}

export type JobView = {
  job: number
  iterations: number
  passed: number
  costUsd: number
  tokens: number
  ms: number
}

export type View = Header & {
  description: string
  folder: string
  baseBranch: string
  isUngated: boolean
  /** Of the job; null while it is at work. */
  outcome: Outcome | null
  /** Whether the chain goes on without a person, by this job or the next. */
  chainGoesOn: boolean
  /** When work goes on by itself, epoch milliseconds; null where it does not wait for a time. */
  restsUntil: number | null
  headline: { sign: string; text: string }
  /** For who reads on the pull request. */
  next: Sentence
  /** What the rest may cost at most, in words; null where nothing can be said. */
  worst: string | null
  stories: readonly StoryView[]
  /** The newest failure that no later attempt has mended. */
  failed: StoryView | null
  /** What ended the job with an error, where that is more than a line. */
  error: string | null
  verification: 'agreed' | 'not-agreed' | 'not-held' | 'off'
  timeline: readonly TimelineEntry[]
  /** Empty before there was a second one; sessions of the judge are in the total alone. */
  jobsDone: readonly JobView[]
  notes: readonly Note[]
  links: { repository: string; run: string | null; compare: string | null; summary: string | null }
  /** Epoch milliseconds. */
  now: number
  annotations: NonNullable<Facts['annotations']>
}

/** The newest iterations that a report tells one by one. */
const MOST_TIMELINE = 200

export function headerOf(state: State, limits: Limits | null): Header {
  const { run, userStories } = state.prd
  const working = inWork(state)
  const left = limits === null ? Number.POSITIVE_INFINITY : iterationsLeft(state, limits)
  const maxCostUsd = limits?.maxCostUsd ?? null
  return {
    feature: state.feature,
    project: state.prd.project,
    branch: state.branch,
    counts: counts(state.prd),
    tally: tally(state),
    inWork:
      working === null
        ? null
        : {
            id: working.storyId,
            title: userStories.find((story) => story.id === working.storyId)?.title ?? '',
            attempt: working.number,
            startedAt: working.startedAt,
          },
    iteration: state.attempt?.iteration ?? run.iterations,
    iterations: run.iterations,
    jobs: run.jobs,
    usage: run.usage,
    pullUrl: state.github.pullUrl,
    most: {
      iterations: Number.isFinite(left) ? run.iterations + left : null,
      jobs: limits?.maxJobs ?? null,
      costUsd: maxCostUsd === null ? null : maxCostUsd + state.control.granted.costUsd,
      tokens: limits?.maxTokens ?? null,
      agentMs: limits?.maxAgentTimeMs ?? null,
    },
  }
}

/** The texts of the state must be redacted: a secret that is cut or escaped is not found any more. */
export function viewOf(state: State, facts: Facts, situation: Situation = ownSituation(state)): View {
  const { limits } = facts
  const outcome = outcomeNow(state)
  const stories = storiesOf(state)
  const { pull, comment } = state.github
  const failedId = state.timeline.findLast(
    ({ storyId, result }) =>
      (result === 'rejected' || result === 'reset') && (state.records[storyId]?.failure ?? null) !== null,
  )?.storyId
  const isDispatched = (limits?.redispatch === true || state.job.dispatched) && heldBack(state) === null
  const fix = outcome === 'error' ? (state.job.error?.fix.trim() ?? '') : ''
  return {
    ...headerOf(state, limits),
    description: state.prd.description,
    folder: state.folder,
    baseBranch: state.base.branch,
    isUngated: isUngated(state.job),
    outcome,
    chainGoesOn: outcome === null || (outcome === 'continued' && isDispatched),
    restsUntil: restsUntil(state),
    headline: headline(state),
    next: nextMove(state, situation, 'comment', limits),
    worst: limits === null || outcome === 'complete' || outcome === 'stuck' ? null : worstCase(state, limits),
    stories,
    failed: stories.find(({ id }) => id === failedId) ?? null,
    error: fix.includes('\n') ? fix : null,
    verification: verificationOf(state, limits),
    timeline: state.timeline.slice(-MOST_TIMELINE),
    jobsDone: jobsOf(state.timeline),
    notes: facts.notes,
    links: {
      repository: facts.repositoryUrl,
      run: facts.runUrl,
      compare: facts.compareUrl ?? null,
      summary:
        pull === null || comment === null
          ? null
          : `${facts.repositoryUrl}/pull/${pull}#issuecomment-${comment}`,
    },
    now: facts.now,
    annotations: facts.annotations ?? {},
  }
}

function verificationOf(state: State, limits: Limits | null): View['verification'] {
  if (state.verification.approved) return 'agreed'
  if (limits?.finalVerification === false && state.verification.asked !== true) return 'off'
  return outcomeNow(state) === null || counts(state.prd).open > 0 ? 'not-held' : 'not-agreed'
}

/** How every story stands, in their order. */
export function storiesOf(state: State): StoryView[] {
  const stories = state.prd.userStories
  const settled = new Set(stories.filter((story) => story.passes || story.skipped).map(({ id }) => id))
  const working = inWork(state)?.storyId ?? null
  return stories.map((story) => {
    const waitsFor = story.dependsOn.filter((id) => !settled.has(id))
    const standing = standingOf(story, story.id === working, waitsFor.length > 0)
    return storyOf(state, story, standing, waitsFor)
  })
}

function standingOf(story: Story, isWorkedOn: boolean, waits: boolean): Standing {
  if (story.passes) return 'passed'
  if (story.skipped) return 'skipped'
  if (story.blocked) return 'blocked'
  if (isWorkedOn) return 'working'
  if (waits) return 'waiting'
  return story.retries > 0 ? 'rejected' : 'open'
}

function storyOf(state: State, story: Story, standing: Standing, waitsFor: readonly string[]): StoryView {
  const record = state.records[story.id]
  const { lastResult } = story
  const how = howPassed(story)
  const why = record?.failure?.summary || story.notes
  return {
    id: story.id,
    title: story.title,
    standing,
    how,
    aside: asideOf(standing, how, why, waitsFor),
    why,
    criteria: story.acceptanceCriteria,
    dependsOn: story.dependsOn,
    attempts: Math.max(record?.attempts ?? 0, lastResult?.attempts ?? 0, story.retries),
    retries: story.retries,
    costUsd: record?.usage ?? { costUsd: 0 },
    ms: record?.ms ?? 0,
    commit: story.passes ? (record?.commit ?? lastResult?.commit ?? null) : null,
    iteration: lastResult?.iteration ?? 0,
    failure: record?.failure ?? null,
    gates: record?.gates ?? [],
    remarks: record?.remarks ?? [],
  }
}

function howPassed(story: Story): StoryView['how'] {
  if (!story.passes) return null
  if (story.lastResult?.imported === true) return 'imported'
  if (passedUngated(story)) return 'ungated'
  return passedUnchanged(story) ? 'unchanged' : 'gates'
}

const HOW = {
  gates: '',
  imported: 'had passed before Ralph began; no gate has seen it',
  ungated: UNGATED,
  unchanged: UNCHANGED,
}

function asideOf(
  standing: Standing,
  how: StoryView['how'],
  why: string,
  waitsFor: readonly string[],
): string {
  switch (standing) {
    case 'passed':
      return how === null ? '' : HOW[how]
    case 'skipped':
      return 'skipped by a person'
    case 'blocked':
      return `blocked: ${why}`
    case 'working':
      return 'in work now'
    case 'rejected':
      return `to be tried again: ${why}`
    case 'waiting':
      return `waits for ${waitsFor.slice(0, 3).join(', ')}${waitsFor.length > 3 ? ` and ${waitsFor.length - 3} more` : ''}`
    case 'open':
      return ''
  }
}

function jobsOf(timeline: readonly TimelineEntry[]): JobView[] {
  const jobs = [...new Set(timeline.map(({ job }) => job))]
  if (jobs.length < 2) return []
  return jobs.map((job) => {
    const own = timeline.filter((entry) => entry.job === job)
    const sum = (of: (entry: TimelineEntry) => number) => own.reduce((total, entry) => total + of(entry), 0)
    return {
      job,
      iterations: own.filter(({ result }) => result === 'passed' || result === 'rejected').length,
      passed: own.filter(({ result }) => result === 'passed').length,
      costUsd: sum((entry) => entry.costUsd),
      tokens: sum((entry) => entry.tokens),
      ms: sum((entry) => entry.ms),
    }
  })
}
