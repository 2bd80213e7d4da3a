// How a run stands, as data: made once from the state. Every surface renders it, and decides nothing. Nothing is escaped in it.

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
  type StoryView,
  sortByUrgency,
  storiesOf,
} from './stories.ts'

/** What reports need beside the state. */
export type Facts = {
  /** `https://github.com/acme/shop`, without a slash at the end; empty where it is on no server that is known. */
  repositoryUrl?: string
  /** This job's page; null outside of CI. */
  runUrl?: string | null
  /** Null where they are not known. */
  limits: Limits | null
  /** Epoch milliseconds. */
  now: number
  compareUrl?: string | null
  /** Things to tell that are no part of the state, such as a refused pull request. */
  notes?: readonly Note[]
  /** Whether learnings of a complete run go into AGENTS.md. */
  agentsSection?: boolean
  /** Places in files that failing gates named, by story id. */
  annotations?: Readonly<Record<string, readonly Annotation[]>>
  /** The repository's other runs, for what the stories will probably cost. */
  earlier?: readonly EarlierRun[]
  /** Where its reader types commands; on the pull request where it is left out. */
  surface?: Surface
}

/** Plain text; an address in it would be put out of action, so where a person goes on stands in `link`. */
export type Note = string | { text: string; link: { name: string; url: string } }

export type View = ReturnType<typeof viewOf>

/** The texts of the state must be redacted: a secret that is cut or escaped is not found any more. */
export function viewOf(savedState: State, facts: Facts, situation: Situation = ownSituation(savedState)) {
  const state = stateInSituation(savedState, situation)
  const { limits, now, surface = 'comment' } = facts
  const outcome = outcomeNow(state)
  const rests = resumesAt(state)
  const stories = storiesOf(state)
  const timeline = iterationsOf(state).slice(-MOST_TIMELINE)
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
    status: runStatusOf(situation, rests !== null),
    /** Of the job; null while it is at work. */
    outcome,
    /** Why it ended so; often empty. */
    reason: state.job.ending?.conclusion.reason ?? '',
    /** Without a person, by this job or the next. */
    chainGoesOn,
    /** The chain has ended, and this is how. */
    isOver: outcome !== null && !chainGoesOn,
    /** Whether the run waits for a person. */
    isCalling: outcome !== null && outcome !== 'complete' && outcome !== 'continued',
    /** The frame of GitHub's markdown around what a person has to do; null where none is waited for. */
    alert: outcome === null || rests !== null ? null : OUTCOMES[outcome].alert,
    restsUntil: rests,
    headline: headline(state, situation),
    surface,
    next: nextAction(state, situation, surface, limits),
    /** What a person can do although work goes on: of the first story that is blocked. */
    needs: isAtWork ? (blocked[0] ?? null) : null,
    /** What the rest will probably take; the same and what it takes at most as words, and both in short. */
    forecast,
    probably: describeForecast(forecast),
    /** Before the first story has passed: what all of them will probably cost, and the same as words. */
    expected,
    expectedCost: expected === null ? null : describeExpectedCost(expected),
    atWorst: worst === null ? null : describeWorstCase(worst),
    outlook: describeOutlook(forecast, worst),
    figures: figuresOf(header, surface),
    costs: costsOf(stories, timeline, header.usage),
    /** Of a model ladder: how each rung did, and which of them does not pay. */
    rungs,
    unpaid: describeUnpaidRungs(state, limits),
    calls: callsOf(state, limits, now),
    circuit: breakerStatus(state, now),
    workers,
    lanes: lanesOf(state, limits),
    current: workers[0] ?? null,
    exits: stopConditions(state, header, limits),
    stories,
    /** What needs a person first. */
    ranked: sortByUrgency(stories),
    /** What a reader should look at before believing any of it. */
    findings: findingsOf(state),
    bar: countByStatus(stories),
    blocked,
    plans: plansOf(state),
    failed: stories.find(({ id }) => id === lastFailedStory(state)) ?? null,
    error: longError(state),
    verification: verificationOf(state, limits),
    /** Gates that did not run again for it, and as at when they count. */
    takenGates: state.verification.taken ?? [],
    timeline,
    notes: [...(facts.notes ?? []), ...pageNotes(state), ...splitNotes(stories, surface)]
      .slice(0, MOST_NOTES)
      .map(noteSentence),
    /** What stands in AGENTS.md of this run. */
    learnings:
      outcome === 'complete' && facts.agentsSection === true ? usefulLearnings(state.prd.run.learnings) : [],
    /** Paths of people's documents in which this run has marked what passed. */
    documents: (state.documents ?? []).filter((path) => path.toLowerCase() !== 'agents.md'),
    /** Ids of stories that passed and could not be marked in them. */
    unmarked: state.unmarked ?? [],
    links: linksOf(state, facts),
    now,
    /** When the state was written, as far as it tells; epoch milliseconds. */
    asOf: asOf(state),
    annotations: facts.annotations ?? {},
  }
}

/** Null where passed stories give a better estimate, where no story is left, and where the caller did not look for other runs. */
function expectedOf(state: State, forecast: Forecast | null, earlier: Facts['earlier']): ExpectedCost | null {
  if (forecast !== null || earlier === undefined || outcomeNow(state) === 'complete') return null
  return expectedCost(remaining(state.prd, state.control.scope), earlier)
}

/** What ended the job with an error, where that is more than a line. */
function longError(state: State): string | null {
  const fix = outcomeNow(state) === 'error' ? (haltError(state)?.fix.trim() ?? '') : ''
  return fix.includes('\n') ? fix : null
}

function linksOf({ github: { pull, comment }, branch }: State, facts: Facts) {
  const { repositoryUrl: repository = '', runUrl = null, compareUrl = null } = facts
  return {
    repository,
    /** The address of files on the branch; empty without a repository on a server. */
    blob: repository === '' ? '' : `${repository}/blob/${pathOf(branch)}`,
    run: runUrl,
    compare: compareUrl,
    checks: pull === null || repository === '' ? null : `${repository}/pull/${pull}/checks`,
    summary: comment === null ? null : `${repository}/pull/${pull}#issuecomment-${comment}`,
  }
}

const MOST_NOTES = 10
/** A note may hold a message of GitHub's (at most 300) and what to do about it. */
const LONGEST_NOTE = 700

function noteSentence(note: Note): Sentence {
  if (typeof note === 'string') return sentence`ℹ️ ${{ text: note, most: LONGEST_NOTE }}`
  const { name, url } = note.link
  return sentence`ℹ️ ${{ text: note.text, most: LONGEST_NOTE }} ${{ link: name, url }}`
}

/** A person who edits prd.md has to know that no run reads it. */
function pageNotes(state: State): string[] {
  if (state.pageEdited !== true) return []
  const { page, prd } = ownFiles(state)
  return [
    `${page} was edited: no run reads it. The stories are what ${prd} on ${state.branch} says; edit it there`,
  ]
}

/** Stories that could not be split: a person must not wait for their parts. */
function splitNotes(stories: readonly StoryView[], surface: Surface): string[] {
  return stories
    .filter(({ unsplit }) => unsplit !== '')
    .map(({ id, unsplit }) => describeUnsplit(id, unsplit, surface))
}

/** Why a story stays whole, and what a person types to have it cut all the same. */
export function describeUnsplit(id: string, why: string, surface: Surface): string {
  const again = formatCommandLine(surface, `split ${id} -- <how>`)
  return `${id} could not be split: ${why}. To ask again, say where to cut: ${again}`
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
      : [{ ...plan, storyId: null, stories: prd.userStories, context: promptContext(plan) }]
  const all = [...whole, ...Object.entries(splits).map(([storyId, split]) => ({ ...split, storyId }))]
  return all.map((one) => ({ ...one, remarks: sizeRemarks(one.stories) }))
}

/** What a person approves is shown in whole: a story's description, or one criterion, in UTF-16 units. */
export const LONGEST_PLANNED = 4000

/** What a prompt holds of context.md. */
function promptContext(plan: Plan): string {
  return head(sanitizeText(contextOf(plan)), VARIABLES.context.bytes).trim()
}

/** Where a story stands among the others, and what it asks for by its tags, as sessions are given it; one line. */
export function describePlacement({ priority, dependsOn, tags, epicId }: Story): string {
  const facts = [
    `priority ${priority}`,
    ...(dependsOn.length === 0 ? [] : [`after ${dependsOn.join(', ')}`]),
    ...(tags.length === 0 ? [] : [`tags ${tags.join(', ')}`]),
    ...(epicId === null ? [] : [`epic ${epicId}`]),
  ]
  return facts.join('; ')
}

/** What a session gets of a story beside its criteria. */
export function storyTexts({ description, notes }: Story): string[] {
  return [description, notes].filter((text) => text.trim() !== '')
}

function asOf({ job, timeline, attempts }: State): number {
  const begun = Object.values(attempts).map(({ startedAt }) => startedAt)
  return Math.max(job.startedAt, job.ending?.at ?? 0, timeline.at(-1)?.at ?? 0, ...begun)
}

/** How many of the newest iterations a report lists. */
export const MOST_TIMELINE = 200

function verificationOf(state: State, limits: Limits | null): 'agreed' | 'not-agreed' | 'not-held' | 'off' {
  if (state.verification.approved) return 'agreed'
  if (limits?.finalVerification === false && state.verification.asked !== true) return 'off'
  return outcomeNow(state) === null || counts(state.prd, state.control.scope).open > 0
    ? 'not-held'
    : 'not-agreed'
}
