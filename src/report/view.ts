// A report as data: made once from the state. Markdown and terminal render it, and whatever comes next. Nothing is escaped in it.

import { sizeRemarks } from '../documents/size.ts'
import { head } from '../loop/bounded.ts'
import { type Surface, typedOn } from '../loop/command-table.ts'
import { iterationsLeft, jobsAllowed } from '../loop/limits.ts'
import { contextOf } from '../loop/plan.ts'
import { ownSituation, type Situation } from '../loop/situation.ts'
import { VARIABLES } from '../loop/variables.ts'
import type { Story } from '../model/feature.ts'
import type { Annotation } from '../model/gate.ts'
import { errorOf, isDispatched, isUngated, openAttempt } from '../model/job.ts'
import type { Limits } from '../model/limits.ts'
import { ownFiles } from '../model/paths.ts'
import type { Plan } from '../model/plan.ts'
import type { State } from '../model/state.ts'
import { plainLines } from '../model/text.ts'
import { counts } from '../prd/select.ts'
import { worthKeeping } from './agents-md.ts'
import { pathOf } from './escape.ts'
import { findingsOf } from './findings.ts'
import { forecastOf, worstCase } from './forecast.ts'
import { headline, heldBack, inWork, outcomeNow, restsUntil, standingIn, tally } from './headline.ts'
import { nextMove } from './next-move.ts'
import { type Sentence, says } from './sentence.ts'
import { barOf, blockedOf, lastFailed, type StoryView, storiesOf } from './stories.ts'
import { costLabel, humanMs, ofMost, tokens, tokenWords } from './words.ts'

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
  /** Whether learnings of a complete run go into AGENTS.md. */
  agentsSection?: boolean
  /** Places in files that failing gates named, by story id. */
  annotations?: Readonly<Record<string, readonly Annotation[]>>
  /** Where its reader types commands; on the pull request where it is left out. */
  surface?: Surface
}

/** Plain text; an address in it would be put out of action, so where a person goes on stands in `link`. */
export type Note = string | { text: string; link: { name: string; url: string } }

/** What a live header shows: made anew at every step, so it looks at each story no more than it must. */
export type Header = ReturnType<typeof headerOf>

export function headerOf(state: State, limits: Limits | null) {
  const { run, userStories } = state.prd
  const attempt = inWork(state)
  const left = limits === null ? Number.POSITIVE_INFINITY : iterationsLeft(state, limits)
  const maxCostUsd = limits?.maxCostUsd ?? null
  return {
    feature: state.feature,
    project: state.prd.project,
    branch: state.branch,
    counts: counts(state.prd),
    tally: tally(state),
    /** What a session works on now. */
    inWork: attempt,
    titleInWork: userStories.find(({ id }) => id === attempt?.storyId)?.title ?? '',
    /** The one in work, or the last one; `iterations` are those that are charged. */
    iteration: openAttempt(state)?.iteration ?? run.iterations,
    iterations: run.iterations,
    jobs: run.jobs,
    usage: run.usage,
    pullUrl: state.github.pullUrl,
    /** Where each ends the run; null without a limit. */
    most: {
      iterations: Number.isFinite(left) ? run.iterations + left : null,
      jobs: limits === null ? null : jobsAllowed(state, limits),
      costUsd: maxCostUsd === null ? null : maxCostUsd + state.control.granted.costUsd,
      tokens: limits?.maxTokens ?? null,
      agentMs: limits?.maxAgentTimeMs ?? null,
    },
  }
}

export type View = ReturnType<typeof viewOf>

/** The texts of the state must be redacted: a secret that is cut or escaped is not found any more. */
export function viewOf(given: State, facts: Facts, situation: Situation = ownSituation(given)) {
  const state = standingIn(given, situation)
  const { limits, repositoryUrl, compareUrl = null, annotations = {}, surface = 'comment' } = facts
  const outcome = outcomeNow(state)
  const stories = storiesOf(state)
  const { pull, comment } = state.github
  const isGoingOn = (limits?.redispatch === true || isDispatched(state.job)) && heldBack(state) === null
  const fix = outcome === 'error' ? (errorOf(state)?.fix.trim() ?? '') : ''
  return {
    ...headerOf(state, limits),
    description: state.prd.description,
    issue: state.plan?.issue ?? null,
    folder: state.folder,
    isUngated: isUngated(state.job),
    /** Of the job; null while it is at work. */
    outcome,
    /** Without a person, by this job or the next. */
    chainGoesOn: outcome === null ? situation.kind === 'working' : outcome === 'continued' && isGoingOn,
    restsUntil: restsUntil(state),
    headline: headline(state, situation),
    surface,
    next: nextMove(state, situation, surface, limits),
    /** What the rest will probably take. */
    forecast: forecastOf(state),
    worst: limits === null ? null : worstCase(state, limits),
    stories,
    /** What a reader should look at before believing any of it. */
    findings: findingsOf(state),
    bar: barOf(stories),
    blocked: blockedOf(stories, surface, outcome),
    plans: plansOf(state),
    failed: stories.find(({ id }) => id === lastFailed(state)) ?? null,
    /** What ended the job with an error, where that is more than a line. */
    error: fix.includes('\n') ? fix : null,
    verification: verificationOf(state, limits),
    timeline: state.timeline.slice(-MOST_TIMELINE),
    notes: [...facts.notes, ...pageNotes(state), ...splitNotes(stories, surface)]
      .slice(0, MOST_NOTES)
      .map(noted),
    /** What stands in AGENTS.md of this run. */
    learnings:
      outcome === 'complete' && facts.agentsSection === true ? worthKeeping(state.prd.run.learnings) : [],
    links: {
      repository: repositoryUrl,
      /** Of a file on the branch; empty where nobody can see it. */
      blob: repositoryUrl === '' ? '' : `${repositoryUrl}/blob/${pathOf(state.branch)}`,
      run: facts.runUrl,
      compare: compareUrl,
      checks: pull === null || repositoryUrl === '' ? null : `${repositoryUrl}/pull/${pull}/checks`,
      summary: comment === null ? null : `${repositoryUrl}/pull/${pull}#issuecomment-${comment}`,
    },
    now: facts.now,
    /** When the state was written, as far as it tells; epoch milliseconds. */
    asOf: asOf(state),
    annotations,
  }
}

const MOST_NOTES = 10
/** What GitHub said (at most 300) and what to do about it are one note. */
const LONGEST_NOTE = 700

function noted(note: Note): Sentence {
  if (typeof note === 'string') return says`ℹ️ ${{ text: note, most: LONGEST_NOTE }}`
  const { name, url } = note.link
  return says`ℹ️ ${{ text: note.text, most: LONGEST_NOTE }} ${{ link: name, url }}`
}

/** What was used, of how much where there is a limit; whoever goes on from a command line is allowed jobs anew each time. */
export function figuresOf(
  { usage, most, iterations, jobs }: Header,
  surface: Surface,
): [name: string, value: string][] {
  return [
    ['Cost', costLabel(usage, most.costUsd)],
    ['Tokens', ofMost(tokenWords(usage), most.tokens, tokens)],
    ['Agent time', ofMost(humanMs(usage.agentSeconds * 1000), most.agentMs, humanMs)],
    ['Iterations', ofMost(String(iterations), most.iterations, String)],
    ['Jobs', ofMost(String(jobs), surface === 'cli' ? null : most.jobs, String)],
  ]
}

/** Who edits the page of a plan would wait for stories that no run sees. */
function pageNotes(state: State): string[] {
  if (state.pageEdited !== true) return []
  const { page, prd } = ownFiles(state)
  return [
    `${page} was edited: no run reads it. The stories are what ${prd} on ${state.branch} says; edit it there`,
  ]
}

/** Stories that were to be split, and stay whole: nobody may wait for their parts. */
function splitNotes(stories: readonly StoryView[], surface: Surface): string[] {
  return stories
    .filter(({ unsplit }) => unsplit !== '')
    .map(({ id, unsplit }) => `${id} could not be split: ${unsplit}. ${splitAgain(id, surface)}`)
}

/** What a person types for parts that no session found. */
export function splitAgain(id: string, surface: Surface): string {
  return `To ask again, say where to cut: ${typedOn(surface, `split ${id} -- <how>`)}`
}

/**
 * A plan with its stories: of a story that is too large, or of the feature (null). `remarks`: which of them are too large;
 * `context`: of context.md, what sessions will get.
 */
export type PlanView = Plan & {
  storyId: string | null
  stories: readonly Story[]
  remarks: ReturnType<typeof sizeRemarks>
}

/** The plan of the feature and those of stories that are too large; none once their stories are worked on. */
export function plansOf({ plan, splits = {}, prd }: State): PlanView[] {
  const whole =
    plan === undefined || plan.phase === 'begun'
      ? []
      : [{ ...plan, storyId: null, stories: prd.userStories, context: contextGiven(plan) }]
  const all = [...whole, ...Object.entries(splits).map(([storyId, split]) => ({ ...split, storyId }))]
  return all.map((one) => ({ ...one, remarks: sizeRemarks(one.stories) }))
}

/** What a person approves is shown in whole: a story's description, or one criterion, in UTF-16 units. */
export const LONGEST_PLANNED = 4000

/** What a prompt holds of context.md. */
function contextGiven(plan: Plan): string {
  return head(plainLines(contextOf(plan)), VARIABLES.context.bytes).trim()
}

/** Where a story stands among the others, and what it asks for by its tags, as sessions are given it; one line. */
export function placeOf({ priority, dependsOn, tags, epicId }: Story): string {
  const facts = [
    `priority ${priority}`,
    ...(dependsOn.length === 0 ? [] : [`after ${dependsOn.join(', ')}`]),
    ...(tags.length === 0 ? [] : [`tags ${tags.join(', ')}`]),
    ...(epicId === null ? [] : [`epic ${epicId}`]),
  ]
  return facts.join('; ')
}

/** What a session is told of a story beside its criteria. */
export function aboutOf({ description, notes }: Story): string[] {
  return [description, notes].filter((text) => text.trim() !== '')
}

function asOf({ job, timeline, attempts }: State): number {
  const begun = Object.values(attempts).map(({ startedAt }) => startedAt)
  return Math.max(job.startedAt, job.ending?.at ?? 0, timeline.at(-1)?.at ?? 0, ...begun)
}

/** The newest iterations that a report tells one by one. */
export const MOST_TIMELINE = 200

function verificationOf(state: State, limits: Limits | null): 'agreed' | 'not-agreed' | 'not-held' | 'off' {
  if (state.verification.approved) return 'agreed'
  if (limits?.finalVerification === false && state.verification.asked !== true) return 'off'
  return outcomeNow(state) === null || counts(state.prd, state.control.scope).open > 0
    ? 'not-held'
    : 'not-agreed'
}
