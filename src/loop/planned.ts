// What came of a plan session, and what people say of its proposal. Pure.
import type { Event } from '../model/event.ts'
import type { Story } from '../model/feature.ts'
import type { Limits } from '../model/limits.ts'
import type { Plan } from '../model/plan.ts'
import type { Failure, State } from '../model/state.ts'
import { alsoAsked } from '../prd/scope.ts'
import { askedIn } from '../prd/select.ts'
import { judgeLimited, MEND_AGENT } from './attempt.ts'
import { failed, mapStory, spend, unverified, withNote, without } from './change.ts'
import { withCall } from './limits.ts'
import { planDigest, wantedPlan, withParts } from './plan.ts'

type Planned = Extract<Event, { kind: 'planned' }>
type Proposed = Extract<Planned['proposal'], { kind: 'proposed' }>

export function planned(state: State, event: Planned, limits: Limits): State {
  const { split, proposal, usage, at } = event
  const { control } = state
  const called =
    usage.calls > 0 ? { ...state, control: { ...control, calls: withCall(control.calls, at) } } : state
  const paid = spend(called, split, usage)
  switch (proposal.kind) {
    case 'limit':
      return judgeLimited(paid, proposal.notBefore, limits, event)
    case 'refused':
      return failed(paid, proposal.message, MEND_AGENT)
    case 'none':
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

/** After as many sessions as a story may fail in, the proposal before it stands again, where there is one. */
function notPlanned(state: State, message: string, limits: Limits): State {
  return withPlan(state, (plan) => {
    const sessions = plan.sessions + 1
    const isOver = sessions >= limits.maxAttempts && state.prd.userStories.length > 0
    return { ...plan, sessions, message, phase: isOver ? 'proposed' : plan.phase }
  })
}

/** The stories stand in prd.json from here on, where people read and change them; none has passed. */
function proposed(state: State, proposal: Proposed, limits: Limits): State {
  if (state.plan?.phase !== 'wanted') return state
  const { stories, context, questions } = proposal
  const prd = {
    ...state.prd,
    userStories: stories,
    project: state.prd.project || proposal.project,
    description: proposal.description || state.prd.description,
  }
  const phase = limits.approvesPlans ? 'approved' : 'proposed'
  const digest = planDigest(stories)
  return withPlan({ ...unverified(state), prd, kept: {}, records: {} }, (plan) => ({
    ...plan,
    phase,
    digest,
    context,
    questions: [...new Set([...plan.questions, ...questions])].slice(-MOST_QUESTIONS),
    sessions: 0,
    message: '',
  }))
}

function withSplit(state: State, id: string, { stories, questions }: Proposed, limits: Limits): State {
  const split = state.splits?.[id]
  if (split?.phase !== 'wanted') return state
  const digest = planDigest(stories)
  const waiting = { ...split, phase: 'proposed' as const, stories, questions, digest }
  const known = { ...state, splits: { ...state.splits, [id]: waiting } }
  return limits.approvesPlans ? splitUp(known, id) : known
}

/** After as many sessions as a story may fail in, the story stays whole. */
function withoutParts(state: State, id: string, message: string, limits: Limits): State {
  const split = state.splits?.[id]
  if (split === undefined) return state
  const sessions = split.sessions + 1
  if (sessions < limits.maxAttempts)
    return { ...state, splits: { ...state.splits, [id]: { ...split, sessions, message } } }
  return withNote(withoutSplit(state, id), id, `it could not be split: ${message}`)
}

export function withoutSplit(state: State, id: string): State {
  if (state.splits?.[id] === undefined) return state
  return { ...state, splits: without(state.splits, id) }
}

/** The parts in the place of the whole, which keeps its history and says what became of it. */
function splitUp(state: State, id: string): State {
  const parts = state.splits?.[id]?.stories ?? []
  if (parts.length === 0) return state
  const names = parts.map((part) => part.id).join(', ')
  const { [id]: _work, ...kept } = state.kept
  const prd = withParts(state.prd, id, parts)
  const { scope } = state.control
  const isAsked = state.prd.userStories.some((story) => story.id === id && askedIn(scope)(story))
  const control = isAsked
    ? {
        ...state.control,
        scope: alsoAsked(
          scope,
          parts.map((part) => part.id),
        ),
      }
    : state.control
  return unverified(withNote({ ...withoutSplit(state, id), kept, prd, control }, id, `split into ${names}`))
}

/** `ralph split`: a session is to propose smaller stories. */
export function askSplit(state: State, id: string, guidance: string): State {
  const story = state.prd.userStories.find((one) => one.id === id)
  if (story === undefined || story.passes || story.skipped) return state
  return { ...state, splits: { ...state.splits, [id]: wantedPlan(guidance) } }
}

/** `ralph plan`: made anew, with what a person says of the last proposal; a plan that has begun stays. */
export function askPlan(state: State, guidance: string): State {
  return withPlan(state, (plan) => {
    if (plan.phase === 'begun') return plan
    const said = guidance === '' ? '' : `\n\nOf the last proposal a maintainer says: ${guidance}`
    return { ...plan, phase: 'wanted', brief: `${plan.brief}${said}`.slice(0, MOST_BRIEF), sessions: 0 }
  })
}

/** Of those that people are shown. */
const MOST_QUESTIONS = 20

/** Of a brief, in characters. */
export const MOST_BRIEF = 60_000

/**
 * `ralph approve-plan`: of the whole, or of a split. `digest`: the stories that are meant, where a person names them; else
 * those that were shown last. An edit that nobody has looked at is asked for again (`planWaits`).
 */
export function approve(state: State, id: string | null, digest: string | null): State {
  if (id !== null) {
    const isMeant = digest === null || state.splits?.[id]?.digest === digest
    return isMeant ? splitUp(state, id) : state
  }
  return withPlan(state, (plan) =>
    plan.phase === 'proposed' ? { ...plan, phase: 'approved', digest: digest ?? plan.digest } : plan,
  )
}

/** Work on the plan's stories begins: from here on people's edits are edits. */
export function begunPlan(state: State): State {
  return withPlan(state, (plan) => ({ ...plan, phase: 'begun', brief: '', context: '' }))
}

/** context.md stands on the branch: from here on it is people's. */
export function writtenPlan(state: State): State {
  return state.plan === undefined || state.plan.context === ''
    ? state
    : withPlan(state, (plan) => ({ ...plan, context: '' }))
}

/** People are shown the stories as they stand: an approval is for these. */
export function shownPlan(state: State): State {
  return withPlan(state, (plan) => {
    const digest = planDigest(state.prd.userStories)
    const isWaiting = plan.phase === 'proposed' || (plan.phase === 'approved' && plan.digest !== digest)
    return isWaiting ? { ...plan, phase: 'proposed', digest } : plan
  })
}

/** Words of agents and their servers on work that was more than one session holds. A hint: a person approves what comes of it. */
const TOO_LARGE =
  /took longer than|time(?:d)? ?out|context (?:window|length)|too (?:large|big|long)|max(?:imum)?[ _](?:number of )?turns/i

/** A story that is blocked for its size the second time is proposed to be split. */
export function sizedUp(state: State, id: string, failure: Failure): State {
  const story: Story | undefined = state.prd.userStories.find((one) => one.id === id)
  const isSize = failure.kind === 'session' || failure.kind === 'stuck'
  if (story?.blocked !== true || !isSize || !TOO_LARGE.test(failure.summary)) return state
  const record = state.records[id]
  if (record === undefined) return state
  const times = (record.tooLarge ?? 0) + 1
  const counted = { ...state, records: { ...state.records, [id]: { ...record, tooLarge: times } } }
  if (times < 2) return counted
  const prd = mapStory(counted.prd, id, (one) => ({ ...one, blocked: false }))
  return askSplit({ ...counted, prd }, id, '')
}
