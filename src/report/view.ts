// A run as data for reports, made once from the state. Surfaces only render it. Its texts are not escaped.

import { formatCommandLine, type Surface } from '../engine/commands/command-table.ts'
import type { Story } from '../engine/model/feature.ts'
import type { Annotation } from '../engine/model/gate.ts'
import { haltError, isDispatched, isUngated } from '../engine/model/job.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { Plan } from '../engine/model/plan-state.ts'
import type { State } from '../engine/model/state.ts'
import { sanitizeText } from '../engine/model/text.ts'
import { iterationsOf } from '../engine/model/usage-totals.ts'
import { contextOf } from '../engine/planning/proposed-plan.ts'
import { counts, remaining } from '../engine/prd/select.ts'
import { head } from '../engine/prompts/prompt-text.ts'
import { VARIABLES } from '../engine/prompts/variables.ts'
import { ownSituation, type Situation } from '../engine/situation.ts'
import { sizeRemarks } from '../plan/size.ts'
import { usefulLearnings } from './agents-md.ts'
import { costsOf } from './costs.ts'
import { pathOf } from './escape.ts'
import { describeExpectedCost, type EarlierRun, type ExpectedCost, expectedCost } from './expected-cost.ts'
import { findingsOf } from './findings.ts'
import {
  describeForecast,
  describeOutlook,
  describeWorstCase,
  type Forecast,
  forecastOf,
  worstCase,
} from './forecast.ts'
import { figuresOf, headerOf } from './header.ts'
import { headline, nextJobHeldUntil, outcomeNow, resumesAt, stateInSituation } from './headline.ts'
import { lanesOf, workersOf } from './in-work.ts'
import { breakerStatus, callsOf, stopConditions } from './monitor-view.ts'
import { nextAction } from './next-action.ts'
import { OUTCOMES, runStatusOf } from './outcomes.ts'
import { describeUnpaidRungs, rungsOf } from './rungs.ts'
import { type Sentence, sentence } from './sentence.ts'
import {
  blockedSentences,
  countByStatus,
  lastFailedStory,
  numberedIterations,
  type StoryChange,
  type StoryView,
  sortByUrgency,
  storiesOf,
} from './stories.ts'

/** What reports need in addition to the state. */
export type Facts = {
  /** `https://github.com/acme/shop`, without a slash at the end; empty if the repository is on no known server. */
  repositoryUrl?: string
  /** Whether its server has a page with the checks of a pull request, as GitHub does. */
  hasChecksPage?: boolean
  /** This job's page; null outside of CI. */
  runUrl?: string | null
  /** Null if they are not known. */
  limits: Limits | null
  /** Epoch milliseconds. */
  now: number
  compareUrl?: string | null
  /** Notes that are not in the state, such as a refused pull request. */
  notes?: readonly Note[]
  /** Whether learnings of a complete run go into AGENTS.md. */
  agentsSection?: boolean
  /** Places in files that failing gates named, by story id. */
  annotations?: Readonly<Record<string, readonly Annotation[]>>
  /** What the commits of each story changed, by story id. */
  changes?: Readonly<Record<string, StoryChange>>
  /** Other runs in the repository, to estimate what the stories will cost. */
  earlier?: readonly EarlierRun[]
  /** Where the reader types commands; by default in comments on the pull request. */
  surface?: Surface
}

/** Plain text. Addresses in the text are broken up when it is escaped, so an address to follow belongs into `link`. */
export type Note = string | { text: string; link: { name: string; url: string } }

export type View = ReturnType<typeof viewOf>

/** The state must be redacted before: a secret that was cut or escaped is no longer found. */
export function viewOf(savedState: State, facts: Facts, situation: Situation = ownSituation(savedState)) {
  const state = stateInSituation(savedState, situation)
  const { limits, now, surface = 'comment' } = facts
  const outcome = outcomeNow(state)
  const resumeAt = resumesAt(state)
  const stories = storiesOf(state, facts.changes)
  const timeline = numberedIterations(state, stories, iterationsOf(state)).slice(-MAX_TIMELINE)
  const header = headerOf(state, limits)
  const workers = workersOf(state, stories, limits, now)
  const rungs = rungsOf(state)
  const forecast = forecastOf(state)
  const worst = limits === null ? null : worstCase(state, limits)
  const expected = expectedOf(state, forecast, facts.earlier)
  const isAtWork = situation.kind === 'working'
  const isGoingOn =
    (limits?.redispatch === true || isDispatched(state.job)) && nextJobHeldUntil(state) === null
  const chainGoesOn = outcome === null ? isAtWork : outcome === 'continued' && isGoingOn
  const blocked = blockedSentences(stories, surface, outcome)
  return {
    ...header,
    description: state.prd.description,
    issue: state.plan?.issue ?? null,
    folder: state.folder,
    isUngated: isUngated(state.job),
    isAtWork,
    status: runStatusOf(situation, resumeAt !== null),
    /** Of the job; null while it is at work. */
    outcome,
    /** Why it ended so; often empty. */
    reason: state.job.ending?.conclusion.reason ?? '',
    /** Whether work continues without a person, in this job or the next. */
    chainGoesOn,
    /** Whether the chain has ended with `outcome`. */
    isOver: outcome !== null && !chainGoesOn,
    /** Whether the run waits for a person. */
    isCalling: outcome !== null && outcome !== 'complete' && outcome !== 'continued',
    /** GitHub's alert frame around what a person has to do; null if no person is needed. */
    alert: outcome === null || resumeAt !== null ? null : OUTCOMES[outcome].alert,
    restsUntil: resumeAt,
    headline: headline(state, situation),
    surface,
    next: nextAction(state, situation, surface, limits),
    /** What a person can do for the first blocked story while work continues. */
    needs: isAtWork ? (blocked[0] ?? null) : null,
    /** What the rest will probably take; `probably`, `atWorst` and `outlook` describe it in words. */
    forecast,
    probably: describeForecast(forecast),
    /** Before the first story has passed: what all stories will probably cost; `expectedCost` describes it in words. */
    expected,
    expectedCost: expected === null ? null : describeExpectedCost(expected),
    atWorst: worst === null ? null : describeWorstCase(worst),
    outlook: describeOutlook(forecast, worst),
    figures: figuresOf(header, surface),
    costs: costsOf(stories, timeline, header.usage),
    /** The rungs of model ladders; `unpaid` describes those that do not pay. */
    rungs,
    unpaid: describeUnpaidRungs(state, limits),
    calls: callsOf(state, limits, now),
    circuit: breakerStatus(state, now),
    workers,
    lanes: lanesOf(state, limits),
    current: workers[0] ?? null,
    exits: stopConditions(state, header, limits),
    stories,
    /** By urgency. */
    ranked: sortByUrgency(stories),
    /** What a reviewer should look at. */
    findings: findingsOf(state),
    bar: countByStatus(stories),
    blocked,
    plans: plansOf(state),
    failed: stories.find(({ id }) => id === lastFailedStory(state)) ?? null,
    error: longError(state),
    verification: verificationOf(state, limits),
    /** Gates that were not run again for the verification, with the age of their results. */
    takenGates: state.verification.taken ?? [],
    timeline,
    notes: [...(facts.notes ?? []), ...pageNotes(state), ...splitNotes(stories, surface)]
      .slice(0, MAX_NOTES)
      .map(noteSentence),
    /** What AGENTS.md got from this run. */
    learnings:
      outcome === 'complete' && facts.agentsSection === true ? usefulLearnings(state.prd.run.learnings) : [],
    /** Paths of people's documents in which this run has marked what passed. */
    documents: (state.documents ?? []).filter((path) => path.toLowerCase() !== 'agents.md'),
    /** Ids of stories that passed and could not be marked in them. */
    unmarked: state.unmarked ?? [],
    links: linksOf(state, facts),
    now,
    /** The newest time in the state; epoch milliseconds. */
    asOf: asOf(state),
    annotations: facts.annotations ?? {},
  }
}

/** Null if passed stories give a better estimate, no story is left, or the caller did not look for other runs. */
function expectedOf(state: State, forecast: Forecast | null, earlier: Facts['earlier']): ExpectedCost | null {
  if (forecast !== null || earlier === undefined || outcomeNow(state) === 'complete') return null
  return expectedCost(remaining(state.prd, state.control.scope), earlier)
}

/** The error that ended the job, if it has more than one line. */
function longError(state: State): string | null {
  const fix = outcomeNow(state) === 'error' ? (haltError(state)?.fix.trim() ?? '') : ''
  return fix.includes('\n') ? fix : null
}

function linksOf({ github: { pullUrl, comment }, branch }: State, facts: Facts) {
  const { repositoryUrl: repository = '', hasChecksPage = false, runUrl = null, compareUrl = null } = facts
  return {
    repository,
    /** The address of the branch's files; empty without a repository on a server. */
    blob: repository === '' ? '' : `${repository}/blob/${pathOf(branch)}`,
    run: runUrl,
    compare: compareUrl,
    checks: pullUrl === null || !hasChecksPage ? null : `${pullUrl}/checks`,
    summary: pullUrl === null || comment === null ? null : `${pullUrl}#issuecomment-${comment}`,
  }
}

const MAX_NOTES = 10
/** In UTF-16 units. A note may contain a message of GitHub (at most 300) and what to do about it. */
const MAX_NOTE_LENGTH = 700

function noteSentence(note: Note): Sentence {
  if (typeof note === 'string') return sentence`ℹ️ ${{ text: note, most: MAX_NOTE_LENGTH }}`
  const { name, url } = note.link
  return sentence`ℹ️ ${{ text: note.text, most: MAX_NOTE_LENGTH }} ${{ link: name, url }}`
}

/** A person who edited prd.md has to know that no run reads that file. */
function pageNotes(state: State): string[] {
  if (state.pageEdited !== true) return []
  const { page, prd } = ownFiles(state)
  return [`${page} was edited, but a run reads only ${prd}. Edit the stories there, on ${state.branch}`]
}

/** Notes on stories that could not be split, so that no person waits for their parts. */
function splitNotes(stories: readonly StoryView[], surface: Surface): string[] {
  return stories
    .filter(({ unsplit }) => unsplit !== '')
    .map(({ id, unsplit }) => describeUnsplit(id, unsplit, surface))
}

/** Why a story could not be split, and what a person types to ask again. */
export function describeUnsplit(id: string, why: string, surface: Surface): string {
  const again = formatCommandLine(surface, `split ${id} -- <how>`)
  return `${id} could not be split: ${why}. To try again, say how to split it: ${again}`
}

/**
 * A plan with its stories: of the feature (`storyId` null), or of a story that is split. `remarks`: which of the stories are too
 * large; `context`: what sessions will get of context.md.
 */
export type PlanView = Plan & {
  storyId: string | null
  stories: readonly Story[]
  remarks: ReturnType<typeof sizeRemarks>
}

/** The plan of the feature and those of split stories, until their stories are worked on. */
export function plansOf({ plan, splits = {}, prd }: State): PlanView[] {
  const whole =
    plan === undefined || plan.phase === 'begun'
      ? []
      : [{ ...plan, storyId: null, stories: prd.userStories, context: promptContext(plan) }]
  const all = [...whole, ...Object.entries(splits).map(([storyId, split]) => ({ ...split, storyId }))]
  return all.map((one) => ({ ...one, remarks: sizeRemarks(one.stories) }))
}

/** The part of context.md that fits into a prompt. */
function promptContext(plan: Plan): string {
  return head(sanitizeText(contextOf(plan)), VARIABLES.context.bytes).trim()
}

/** Priority, dependencies, tags and epic of a story in one line, as sessions get them. */
export function describePlacement({ priority, dependsOn, tags, epicId }: Story): string {
  const facts = [
    `priority ${priority}`,
    ...(dependsOn.length === 0 ? [] : [`after ${dependsOn.join(', ')}`]),
    ...(tags.length === 0 ? [] : [`tags ${tags.join(', ')}`]),
    ...(epicId === null ? [] : [`epic ${epicId}`]),
  ]
  return facts.join('; ')
}

/** The texts of a story that a session gets in addition to its criteria. */
export function storyTexts({ description, notes }: Story): string[] {
  return [description, notes].filter((text) => text.trim() !== '')
}

function asOf({ job, timeline, attempts }: State): number {
  const begun = Object.values(attempts).map(({ startedAt }) => startedAt)
  return Math.max(job.startedAt, job.ending?.at ?? 0, timeline.at(-1)?.at ?? 0, ...begun)
}

/** How many of the newest iterations a report lists. */
export const MAX_TIMELINE = 200

function verificationOf(state: State, limits: Limits | null): 'agreed' | 'not-agreed' | 'not-held' | 'off' {
  if (state.verification.approved) return 'agreed'
  if (limits?.finalVerification === false && state.verification.asked !== true) return 'off'
  return outcomeNow(state) === null || counts(state.prd, state.control.scope).open > 0
    ? 'not-held'
    : 'not-agreed'
}
