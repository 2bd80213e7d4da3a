// The result of a plan session, and the commands of people on its proposal. Pure.

import type { Failure } from '../model/attempt.ts'
import type { Command, EventOf } from '../model/event.ts'
import type { Story } from '../model/feature.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Plan, Question } from '../model/plan-state.ts'
import type { State } from '../model/state.ts'
import { oneLine } from '../model/text.ts'
import { extendScope } from '../prd/scope.ts'
import { inScope } from '../prd/select.ts'
import { withoutContests } from '../state/contests.ts'
import { unallowableReason } from '../state/dependencies.ts'
import { countCalls, recordAgentUnavailable } from '../state/limits.ts'
import { recordSession } from '../state/record-session.ts'
import { mapStory, withNote, withoutApproval, withoutKey, withRecord } from '../state/state-updates.ts'
import { mustAskQuestions } from './plan-questions.ts'
import { isWaitingPlan, newPlan, planDigest, splitFault, storiesDigest, withParts } from './proposed-plan.ts'
import { asShown } from './shown-stories.ts'

type Planned = EventOf<'planned'>
type Proposed = Extract<Planned['proposal'], { kind: 'proposed' }>

export function planned(state: State, event: Planned, limits: Limits): State {
  const { split, proposal, usage, at } = event
  const counted = countCalls(state, at, Math.min(1, usage.calls))
  const kind = split === null ? 'plan' : 'split'
  const paid = recordSession(counted, { at, kind, storyId: split, usage }, limits)
  switch (proposal.kind) {
    case 'limit':
    case 'refused':
      return recordAgentUnavailable(paid, proposal, limits, event)
    case 'asked':
      return withQuestions(paid, proposal.questions, at)
    case 'none':
      // If the session gave no questions, the next one plans without them.
      if (split === null && mustAskQuestions(state.plan?.interview)) return withQuestions(paid, [], at)
      return split === null
        ? notPlanned(paid, proposal.message, limits)
        : withoutParts(paid, split, proposal.message, limits)
    case 'proposed':
      return split === null ? proposed(paid, proposal, limits) : withSplit(paid, split, proposal, limits)
  }
}

function withPlan(state: State, change: (plan: Plan) => Plan): State {
  return state.plan === undefined ? state : { ...state, plan: change(state.plan) }
}

/** The questions wait for people; without any, a session plans at once. */
function withQuestions(state: State, questions: Question[], at: number): State {
  return withPlan(state, ({ interview: _, ...plan }) =>
    questions.length === 0 ? plan : { ...plan, interview: { questions, askedAt: at, answers: null } },
  )
}

/** After as many sessions as a story has attempts, the earlier proposal is valid again, if there is one. */
function notPlanned(state: State, message: string, limits: Limits): State {
  return withPlan(state, (plan) => {
    const sessions = plan.sessions + 1
    const isOver = sessions >= limits.maxAttempts && state.prd.userStories.length > 0
    return { ...plan, sessions, message, phase: isOver ? 'proposed' : plan.phase }
  })
}

/** From here on the stories are in prd.json. People read and change them there; none has passed. */
function proposed(state: State, proposal: Proposed, limits: Limits): State {
  if (state.plan?.phase !== 'wanted') return state
  const { stories, context, questions } = proposal
  const prd = {
    ...state.prd,
    userStories: limits.approvesPlans ? stories : asShown(stories),
    project: state.prd.project || proposal.project,
    description: proposal.description || state.prd.description,
  }
  const phase = limits.approvesPlans ? 'approved' : 'proposed'
  const { contests: _contests, ...before } = withoutApproval(state)
  const fresh = withPlan({ ...before, prd, kept: {}, records: {} }, (plan) => ({
    ...plan,
    phase,
    shownAt: null,
    context,
    questions: [...new Set([...plan.questions, ...questions])].slice(-MAX_QUESTIONS),
    sessions: 0,
    message: '',
  }))
  return withPlan(fresh, (plan) => ({ ...plan, digest: planDigest(fresh) }))
}

function withSplit(state: State, id: string, proposal: Proposed, limits: Limits): State {
  const before = state.splits?.[id]
  if (before?.phase !== 'wanted') return state
  const { questions } = proposal
  const stories = limits.approvesPlans ? proposal.stories : asShown(proposal.stories)
  const digest = storiesDigest(stories)
  const waiting = { ...before, phase: 'proposed' as const, stories, questions, digest, shownAt: null }
  const known = { ...state, splits: { ...state.splits, [id]: waiting } }
  if (!limits.approvesPlans) return known
  const split = applySplit(known, id)
  // Without an approval no person would stop the repetition: parts that do not fit count as a session without a plan.
  const message = split.splits?.[id]?.message
  return message === undefined ? split : withoutParts(state, id, message, limits)
}

/** After as many sessions as a story has attempts, the story stays whole. It is blocked if it was, or if no attempt is left. */
function withoutParts(state: State, id: string, message: string, limits: Limits): State {
  const split = state.splits?.[id]
  if (split === undefined) return state
  const sessions = split.sessions + 1
  if (sessions < limits.maxAttempts)
    return { ...state, splits: { ...state.splits, [id]: { ...split, phase: 'wanted', sessions, message } } }
  const prd = mapStory(state.prd, id, (story) => ({
    ...story,
    blocked: story.blocked || story.retries >= limits.maxAttempts,
  }))
  const noted = withNote(withoutSplit({ ...state, prd }, id), id, `it could not be split: ${message}`)
  return withRecord(noted, id, (record) => ({ ...record, unsplit: oneLine(message, 300) }))
}

export function withoutSplit(state: State, id: string): State {
  if (state.splits?.[id] === undefined) return state
  return { ...state, splits: withoutKey(state.splits, id) }
}

/** Puts the parts instead of the story, which keeps its history and notes its parts. */
function applySplit(state: State, id: string): State {
  const split = state.splits?.[id]
  const parts = split?.stories ?? []
  const whole = state.prd.userStories.find((story) => story.id === id)
  if (split?.phase !== 'proposed' || whole === undefined) return state
  const fault = staleSplit(state, whole, parts)
  if (fault !== null)
    return { ...state, splits: { ...state.splits, [id]: { ...split, phase: 'wanted', message: fault } } }
  const names = parts.map((part) => part.id)
  const { [id]: _work, ...kept } = state.kept
  const prd = withParts(state.prd, id, parts)
  const { scope } = state.control
  const control = inScope(scope)(whole)
    ? { ...state.control, scope: extendScope(scope, names) }
    : state.control
  const done = { ...withoutContests(withoutSplit(state, id), [id]), kept, prd, control }
  return withoutApproval(withNote(done, id, `split into ${names.join(', ')}`))
}

/** Why the proposed parts no longer fit the story, which people changed since; null if they still do. */
function staleSplit({ prd, archive }: State, whole: Story, parts: readonly Story[]): string | null {
  const taken = new Set([...prd.userStories.map((story) => story.id), ...(archive?.ids ?? [])])
  const duplicate = parts.find((part) => taken.has(part.id))
  return duplicate === undefined ? splitFault(whole, parts) : `a story ${duplicate.id} already exists`
}

/** `ralph split`: a session is to propose smaller stories. */
export function requestSplit(state: State, id: string, guidance: string): State {
  const story = state.prd.userStories.find((one) => one.id === id)
  if (story === undefined || story.passes || story.skipped) return state
  return { ...state, splits: { ...state.splits, [id]: newPlan(guidance) } }
}

/** `ralph plan`: a session plans again, with a person's guidance on the last proposal; a plan that has begun stays. */
export function requestPlan(state: State, guidance: string): State {
  return withPlan(state, (plan) => {
    if (plan.phase === 'begun') return plan
    const remark = guidance === '' ? '' : `\n\nA maintainer says about the last proposal: ${guidance}`
    return { ...plan, phase: 'wanted', brief: `${plan.brief}${remark}`.slice(0, MAX_BRIEF), sessions: 0 }
  })
}

/** The maximum number of questions that people are shown. */
const MAX_QUESTIONS = 20

/** The maximum length of a brief, in UTF-16 units. */
export const MAX_BRIEF = 60_000

/**
 * `ralph approve-plan`: approves the feature's plan, or a split. `digest`: of the text that the person approves. Without it, the
 * approval is for the text that was shown when the comment was written, and a later edit needs another approval.
 */
export function approve(state: State, { story: id, digest, at }: Approval): State {
  if (id !== null) {
    const split = state.splits?.[id]
    return split !== undefined && isApprovalFor(split, digest, at) ? applySplit(state, id) : state
  }
  return withPlan(state, (plan) =>
    plan.phase === 'proposed' && isApprovalFor(plan, digest, at)
      ? { ...plan, phase: 'approved', digest: digest ?? plan.digest }
      : plan,
  )
}

type Approval = Extract<Command, { kind: 'approve' }>

function isApprovalFor({ shownAt, ...plan }: Plan, digest: string | null, at: number | undefined): boolean {
  // The person may have approved an edit that Ralph has not joined yet.
  if (digest !== null) return plan.digest === digest || plan.stories.length === 0
  return shownAt !== null && (at === undefined || at >= shownAt)
}

/** Why a command changes nothing, for its author; null if it does change something, or if the reason is obvious. */
export function ineffectiveReason(state: State, command: Command): string | null {
  const { plan, splits = {}, prd } = state
  if (command.kind === 'split') {
    const story = prd.userStories.find(({ id }) => id === command.story)
    if (story?.passes) return `${command.story} has passed, so there is nothing to split`
    return story?.skipped ? `${command.story} is skipped, so there is nothing to split` : null
  }
  if (command.kind === 'retry' && command.stories === 'all')
    return prd.userStories.some(({ blocked }) => blocked) ? null : 'no story is blocked'
  if (command.kind === 'skip' || command.kind === 'retry') {
    const named = prd.userStories.filter(({ id }) => command.stories.includes(id))
    const isOver = named.every(({ passes, skipped }) => passes || (skipped && command.kind === 'retry'))
    const how = named.map(({ id, passes }) => `${id} ${passes ? 'passed' : 'was skipped'}`).join(', ')
    return isOver && how !== '' ? `${how}. To work on it again, use redo` : null
  }
  if (command.kind === 'drop') return undroppableReason(state, command.stories)
  if (command.kind === 'allow') return unallowableReason(state, command.packages)
  if (command.kind === 'plan') {
    if (plan === undefined) return 'this feature has no plan to change: use add or split for single stories'
    return plan.phase === 'begun'
      ? 'the work on the plan has begun: use add or split for single stories'
      : null
  }
  if (command.kind !== 'approve') return null
  const one = command.story === null ? plan : splits[command.story]
  if (one?.phase !== 'proposed') {
    const waiting = Object.entries(splits).find(([, { phase }]) => phase === 'proposed')
    if (waiting === undefined) return 'there is nothing to approve'
    return `the plan is not waiting for approval, but the parts of ${waiting[0]} are. To approve them, use approve-plan ${waiting[0]} ${waiting[1].digest}`
  }
  if (isApprovalFor(one, command.digest, command.at)) return null
  return command.digest === null
    ? 'the plan was changed after you read it: read it again'
    : `the plan that is waiting has the digest ${one.digest}, not ${command.digest}: read it again`
}

/** Why stories cannot be dropped: they have no commit, or others that stay depend on them. */
function undroppableReason({ prd }: State, ids: readonly string[]): string | null {
  const open = prd.userStories.filter(({ id, passes }) => ids.includes(id) && !passes).map(({ id }) => id)
  if (open.length > 0)
    return `no attempt at ${open.join(', ')} has passed, so there is nothing to revert. To leave a story out, use skip`
  const needing = prd.userStories.filter(
    ({ id, passes, dependsOn }) => passes && !ids.includes(id) && dependsOn.some((one) => ids.includes(one)),
  )
  if (needing.length === 0) return null
  const named = needing.map(({ id }) => id)
  return `stories that have passed depend on it: ${named.join(', ')}. To drop all of them, use drop ${[...ids, ...named].join(' ')}`
}

/** Work on the plan's stories begins: later edits of people need no approval. */
export function beginPlan(state: State): State {
  return withPlan(state, ({ committedContext: _, ...plan }) => {
    return { ...plan, phase: 'begun', brief: '', context: '' }
  })
}

/**
 * Ralph has committed context.md with this text (undefined: it has not). From here on people may edit it. The committed text is
 * redacted, which must not count as such an edit.
 */
export function recordCommittedContext(state: State, text: string | undefined): State {
  if (text === undefined || !isWaitingPlan(state.plan)) return state
  const written = withPlan(state, (plan) => ({ ...plan, context: '', committedContext: text }))
  return withPlan(written, (plan) =>
    plan.digest === planDigest(state) ? { ...plan, digest: planDigest(written) } : plan,
  )
}

/** Reads context.md from the branch, because people may have edited it there; undefined: it was not read. */
export function recordBranchContext(state: State, text: string | undefined): State {
  if (text === undefined || !isWaitingPlan(state.plan)) return state
  return withPlan(state, (plan) => ({ ...plan, committedContext: text }))
}

/** People are shown the stories, and the parts of splits, as they are now: an approval is for these. `at`: epoch milliseconds. */
export function markPlanShown(state: State, at: number): State {
  const splits = Object.entries(state.splits ?? {}).map(([id, split]) => [
    id,
    markShown(split, split.digest, at),
  ])
  const known = state.splits === undefined ? state : { ...state, splits: Object.fromEntries(splits) }
  return withPlan(known, (plan) => markShown(plan, planDigest(state), at))
}

function markShown(plan: Plan, digest: string, at: number): Plan {
  const isSame = plan.digest === digest
  if (plan.phase !== 'proposed' && (plan.phase !== 'approved' || isSame)) return plan
  return { ...plan, phase: 'proposed', digest, shownAt: isSame ? (plan.shownAt ?? at) : at }
}

/** Messages of agents and their servers on work that is too large for one session. A hint only: a person approves the split. */
const TOO_LARGE =
  /took longer than|time(?:d)? ?out|context (?:window|length)|too (?:large|big|long)|max(?:imum)?[ _](?:number of )?turns/i

export function isTooLarge({ kind, summary }: Failure): boolean {
  return (kind === 'session' || kind === 'stuck') && TOO_LARGE.test(summary)
}

/** Requests a split for a story that is blocked for its size the second time. */
export function suggestSplit(state: State, id: string, failure: Failure): State {
  const story: Story | undefined = state.prd.userStories.find((one) => one.id === id)
  if (story?.blocked !== true || !isTooLarge(failure)) return state
  const record = state.records[id]
  if (record === undefined) return state
  const times = (record.tooLarge ?? 0) + 1
  const counted = { ...state, records: { ...state.records, [id]: { ...record, tooLarge: times } } }
  if (times !== 2) return counted
  const prd = mapStory(counted.prd, id, (one) => ({ ...one, blocked: false }))
  return requestSplit({ ...counted, prd }, id, '')
}
