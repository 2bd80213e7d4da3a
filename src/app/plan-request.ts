// What a run without stories is asked to plan: the text of an issue, issues of a milestone or label, or documents of the repository.

import type { Feature } from '../branch/find-features.ts'
import type { Prd } from '../engine/model/feature.ts'
import type { Interview, Plan, Question } from '../engine/model/plan-state.ts'
import type { State } from '../engine/model/state.ts'
import { oneLine } from '../engine/model/text.ts'
import { MAX_BRIEF } from '../engine/planning/plan-events.ts'
import {
  answeredQuestions,
  NEW_INTERVIEW,
  openQuestions,
  sampleAnswer,
} from '../engine/planning/plan-questions.ts'
import { newPlan, planDigest } from '../engine/planning/proposed-plan.ts'
import { asShown } from '../engine/planning/shown-stories.ts'
import { withPlannedFrom } from '../engine/prd/plan-file.ts'
import { emptyPrd } from '../engine/prd/schema.ts'
import type { DocumentFile } from '../plan/types.ts'
import { UserError } from '../system/errors.ts'
import { digestOf } from './resolve-feature.ts'

/**
 * A feature to plan, and what its stories are made from. `answers`: what people answered to the open questions; null if there
 * is not an answer.
 */
export type PlanRequest = { feature: Feature; plan: Plan; answers?: string | null }

/** `comments`: those of members of the repository, the oldest first. */
export type Issue = { number: number; title: string; body: string; comments: readonly string[] }

/** `known`: the feature's name if it has one already. `asks`: people answer questions before a session plans. */
type RequestOptions = { known: string | null; today: string; gates: readonly string[]; asks?: boolean }

/** The issue's number, if a feature is named `#12`: the plan of that issue. */
export function issueNumberIn(feature: string | null): number | null {
  return feature !== null && /^#\d{1,9}$/.test(feature) ? Number(feature.slice(1)) : null
}

/** The name of the feature that a milestone or label becomes; null if its title has no letter or digit for a branch name. */
export function featureNameFromTitle(title: string): string | null {
  return slug(title) || null
}

/** A plan from one issue. Throws UserError if its text is too short to plan from. */
export function requestFromIssue(
  { number, title, body, comments }: Issue,
  { known, today, gates, asks = false }: RequestOptions,
): PlanRequest {
  const text = [title, body, ...comments].join(' ').replace(/\s+/g, ' ').trim()
  if (text.length < 20) {
    const fix =
      'say what the feature should do, who it is for, and how to see that it is done; then comment /ralph plan'
    throw new UserError({
      path: `issue #${number}`,
      found: `the issue says too little to plan from: ${oneLine(text, 100) || 'it is empty'}.`,
      expected: '',
      fix,
    })
  }
  const name = known ?? featureNameOfIssue(number, title, body)
  const quoted = comments.map((comment) => `A comment:\n${comment.trim()}`)
  const brief = [`# ${title.trim()}`, body.trim(), ...quoted].join('\n\n').slice(0, MAX_BRIEF)
  const prd = { ...emptyPrd(), description: oneLine(title, 300) }
  const interview = asks ? { interview: NEW_INTERVIEW } : {}
  const plan = { ...newPlan(brief, number), ...interview, questions: unavailableSettings(body, gates) }
  return { feature: featureOf(name, prd, today), plan }
}

/** Documents with stories are the plan; from text without stories a session makes one. Throws UserError if there is neither. */
export async function requestFromDocuments(
  files: readonly DocumentFile[],
  name: string,
  today: string,
): Promise<PlanRequest & { notes: string[] }> {
  const { readDocuments } = await import('../plan/documents.ts')
  const read = readDocuments(files)
  if (!read.ok) throw new UserError(read.mistakes)
  const { prd, context, prose, notes } = read.documents
  if (prd.userStories.length === 0 && prose.length === 0) {
    const fix = 'write what the feature should do into docs/prd.md, or comment /ralph plan on an issue'
    throw new UserError({ path: 'documents', found: 'there is no document to plan from.', expected: '', fix })
  }
  const feature = featureOf(name, prd, today)
  if (prd.userStories.length === 0) {
    const brief = prose.map(({ path, text }) => `# ${path}\n${text.trim()}`).join('\n\n')
    return { feature, plan: newPlan(brief.slice(0, MAX_BRIEF)), notes }
  }
  const plan: Plan = { ...newPlan(''), phase: 'proposed', context }
  return { feature, plan: { ...plan, digest: planDigest({ plan, prd, records: {} }) }, notes }
}

/**
 * A plan from several issues, a story each. `text`: GitHub's list of them as JSON. `source`: how they were named, such as
 * `issues:milestone=3`.
 */
export async function requestFromIssues(
  { source, text }: { source: string; text: string },
  name: string,
  today: string,
): Promise<PlanRequest & { notes: string[] }> {
  const request = await requestFromDocuments([{ path: 'issues.json', text, isNamed: true }], name, today)
  // Without this source, the outcome would look for these stories in the documents of the repository, to mark them.
  const known = withPlannedFrom(request.feature.prd, { [source]: digestOf(text) })
  // Anybody may write an issue: what the person who approves cannot see must not reach a session.
  const prd = { ...known, userStories: asShown(known.userStories) }
  const digest = planDigest({ plan: request.plan, prd, records: {} })
  return { ...request, feature: { ...request.feature, prd }, plan: { ...request.plan, digest } }
}

/**
 * The state of a feature for which a plan is asked again. The plan is made again if its text has changed, or if no session
 * made a plan of it. Otherwise, and once stories are worked on, the state stays.
 */
export function withNewRequest(state: State, { plan, feature, answers = null }: PlanRequest): State {
  const before = state.plan
  if (before === undefined || before.phase === 'begun') return state
  const questions = openQuestions(before.interview)
  if (questions !== null)
    return answers === null
      ? state
      : withAnswersRead(state, { ...before, brief: plan.brief }, questions, answers)
  if (plan.phase !== 'wanted') {
    const isSame = planDigest(state) === plan.digest
    return isSame ? state : { ...state, prd: { ...state.prd, userStories: feature.prd.userStories }, plan }
  }
  const requested = { ...plan, issue: before.issue ?? plan.issue }
  // Questions that were answered are not asked again.
  const { interview } = before
  const withAnswers = interview?.answers == null ? requested : withInterview(requested, interview)
  const isNew = !before.brief.startsWith(withAnswers.brief) || before.sessions > 0
  return isNew ? { ...state, plan: withAnswers } : state
}

/** The state with the answers in the plan's brief. Throws UserError if an answer fits no question. */
function withAnswersRead(state: State, plan: Plan, questions: readonly Question[], answers: string): State {
  const result = answeredQuestions(questions, answers)
  if ('fault' in result) {
    const fix = `answer with the letters, such as /ralph plan -- ${sampleAnswer(questions)}, or with a number and words, such as 2: both`
    throw new UserError({
      path: '/ralph plan',
      found: result.fault,
      expected: 'an answer to the questions',
      fix,
    })
  }
  const interview = {
    questions: [...questions],
    askedAt: plan.interview?.askedAt ?? null,
    answers: result.text,
  }
  return { ...state, plan: withInterview({ ...plan, sessions: 0, message: '' }, interview) }
}

function withInterview(plan: Plan, interview: Interview): Plan {
  const brief = `${plan.brief.slice(0, MAX_BRIEF - 8000)}\n\n${interview.answers}`
  return { ...plan, interview, brief }
}

function featureOf(name: string, prd: Prd, today: string): Feature {
  const folder = `.ralph/${today}-${name}`
  return { name, folder, path: `${folder}/prd.json`, prd: { ...prd, branchName: '' }, digest: '', notes: [] }
}

function featureNameOfIssue(number: number, title: string, body: string): string {
  return slug(fieldOf(body, 'Feature name')) || slug(title) || `issue-${number}`
}

/** A field of the issue form, as GitHub writes it into the issue; empty if it was left out. */
function fieldOf(body: string, label: string): string {
  const [, , ...rest] = body.split(new RegExp(`^(### +${label})[ \\t]*$`, 'im'))
  const text = (rest.join('').split(/^### /m)[0] ?? '').trim()
  return text === '_No response_' ? '' : text
}

/** Sentences on gates and limits that the issue form asks for: they have no effect, because these come from the workflow. */
function unavailableSettings(body: string, gates: readonly string[]): string[] {
  const named = fieldOf(body, 'Gates')
    .slice(0, 5000)
    .matchAll(/^[-* \t]{0,10}([\w-]{1,40})[ \t]*:/gm)
  const missing = new Set([...named].map(([, name = '']) => name).filter((name) => !gates.includes(name)))
  const gateNotes = [...missing].map(
    (name) =>
      `The issue names the gate ${name}, but the workflow has no such gate, so Ralph does not run it.`,
  )
  const limits = oneLine(fieldOf(body, 'Limits'), 100)
  const limitsNote = `The issue asks for limits (${limits}), which Ralph does not read from an issue. Set them with Run workflow or /ralph limit.`
  return [...gateNotes.slice(0, 10), ...(limits === '' ? [] : [limitsNote])]
}

function slug(text: string): string {
  const words = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
  return words
    .slice(0, 40)
    .replace(/-[^-]*$/, words.length > 40 ? '' : '$&')
    .replace(/-+$/, '')
}
