// Plans: reading a session's proposal, the digest that a person approves, and splitting a story. Pure.

import { formatMistake } from '../../system/errors.ts'
import type { Prd, Story } from '../model/feature.ts'
import { asString } from '../model/json.ts'
import type { Plan, PlanTask, Proposal } from '../model/plan-state.ts'
import type { State } from '../model/state.ts'
import { mapTexts, oneLine, sanitizeText } from '../model/text.ts'
import { parsePrd } from '../prd/parse.ts'
import { newStory } from '../prd/schema.ts'
import { coveringPaths, plannedPaths } from '../prd/touches.ts'
import { peopleNotes } from '../state/story-notes.ts'
import { lastJson } from './last-json.ts'
import { readQuestions } from './plan-questions.ts'

/** The maximum number of stories of a plan: a person would not read more before approving them. */
const MAX_STORIES = 200
const MAX_QUESTIONS = 10
const MAX_LENGTH = { context: 6000, description: 2000, question: 300, message: 1000 }

/** The proposal in a session's final message: its last block of JSON, checked like every prd.json. */
export function readProposal(words: string, task: Pick<PlanTask, 'split' | 'stories' | 'asks'>): Proposal {
  if (task.asks === true) return readQuestions(words)
  const value = lastJson(words)
  if (value === null) return noProposal('no block of JSON in the answer')
  const { stories = value.userStories, project, description, context, questions } = value
  if (!Array.isArray(stories)) return noProposal('no list "stories" in the JSON')
  if (stories.length === 0)
    return noProposal(readQuestionList(questions)[0] ?? 'the list of stories is empty')
  if (stories.length > MAX_STORIES)
    return noProposal(`${stories.length} stories, but a plan may have at most ${MAX_STORIES}`)
  const fresh = stories.map((story) =>
    without(story, task.split === null ? STATUS_FIELDS : [...STATUS_FIELDS, ...ORDER_FIELDS]),
  )
  const parsed = parsePrd(JSON.stringify({ userStories: fresh }), 'plan')
  if (!parsed.ok)
    return noProposal(parsed.mistakes.slice(0, 5).map(formatMistake).join('; ').slice(0, MAX_LENGTH.message))
  const proposed = {
    kind: 'proposed' as const,
    project: oneLine(asString(project) ?? '', 200),
    description: sanitizeText(asString(description) ?? '').slice(0, MAX_LENGTH.description),
    context: sanitizeText(asString(context) ?? '').slice(0, MAX_LENGTH.context),
    stories: mapTexts(parsed.prd.userStories.map(withBoundedTouches), sanitizeText),
    questions: readQuestionList(questions),
  }
  const whole = task.split === null ? null : task.stories.find(({ id }) => id === task.split)
  if (whole == null) return proposed
  const why = splitFault(whole, proposed.stories)
  return why === null
    ? { ...proposed, stories: partsOf(whole, proposed.stories, task.stories) }
    : noProposal(why)
}

/** The story with at most 50 paths that it is expected to change. */
function withBoundedTouches(story: Story): Story {
  if (story.extra?.touches === undefined) return story
  const touches = coveringPaths(plannedPaths(story))
  const { touches: _all, ...others } = story.extra
  return { ...story, extra: touches.length === 0 ? others : { ...others, touches } }
}

function noProposal(message: string): Proposal {
  return { kind: 'none', message }
}

function readQuestionList(questions: unknown): string[] {
  if (!Array.isArray(questions)) return []
  return questions
    .filter((one) => typeof one === 'string' && one.trim() !== '')
    .slice(0, MAX_QUESTIONS)
    .map((one) => oneLine(one, MAX_LENGTH.question))
}

/** Fields that are dropped: a plan cannot pass a story. */
const STATUS_FIELDS = ['passes', 'retries', 'blocked', 'skipped', 'lastResult']
/** Fields that are dropped from the parts of a split, which replace the story one after the other. */
const ORDER_FIELDS = ['id', 'dependsOn', 'priority']

function without(story: unknown, names: readonly string[]): unknown {
  if (typeof story !== 'object' || story === null) return story
  return Object.fromEntries(Object.entries(story).filter(([name]) => !names.includes(name)))
}

/** What is wrong with a split, or null: every criterion has to be in exactly one part. */
export function splitFault({ id, acceptanceCriteria }: Story, parts: readonly Story[]): string | null {
  if (parts.length < 2) return `the session did not split ${id}, but proposed only one story`
  const partCriteria = parts.flatMap((part) => part.acceptanceCriteria.map(normalizeCriterion))
  for (const criterion of acceptanceCriteria) {
    const times = partCriteria.filter((one) => one === normalizeCriterion(criterion)).length
    if (times === 1) continue
    const where = times === 0 ? 'is in none of the parts' : `is in ${times} parts`
    return `a criterion of ${id} ${where}: ${oneLine(criterion, 200)}`
  }
  return null
}

function normalizeCriterion(criterion: string): string {
  return criterion.replace(/\s+/g, ' ').trim().toLowerCase()
}

/** The parts instead of the story, each depending on the one before, with ids derived from the story's. */
function partsOf(whole: Story, parts: readonly Story[], all: readonly Story[]): Story[] {
  const taken = new Set(all.map(({ id }) => id))
  const ids: string[] = []
  for (let number = 1; ids.length < parts.length; number += 1) {
    const id = `${whole.id.slice(0, 58)}-${number}`
    if (!taken.has(id)) ids.push(id)
  }
  return parts.map(({ title, description, acceptanceCriteria, extra }, index) => {
    const touches = extra?.touches ?? whole.extra?.touches
    return newStory({
      id: ids[index] ?? '',
      title,
      description,
      acceptanceCriteria,
      epicId: whole.epicId,
      tags: whole.tags,
      priority: whole.priority,
      dependsOn: index === 0 ? whole.dependsOn : [ids[index - 1] ?? ''],
      ...(touches === undefined ? {} : { extra: { touches } }),
    })
  })
}

/** The feature with a story's parts after it; the story is skipped, and stories that depended on it depend on the last part. */
export function withParts(prd: Prd, id: string, parts: readonly Story[]): Prd {
  const last = parts.at(-1)?.id
  if (last === undefined) return prd
  const userStories = prd.userStories.flatMap((story) => {
    const splitInto = parts.map((part) => part.id)
    if (story.id === id)
      return [{ ...story, skipped: true, blocked: false, extra: { ...story.extra, splitInto } }, ...parts]
    const dependsOn = story.dependsOn.map((one) => (one === id ? last : one))
    return [story.dependsOn.includes(id) ? { ...story, dependsOn } : story]
  })
  return { ...prd, userStories }
}

/** The digest that an approval is for: over all text that a session gets, not over the stories' progress. Eight hexadecimal digits. */
export function planDigest({ plan, prd, records }: Pick<State, 'plan' | 'prd' | 'records'>): string {
  const { project, description, userStories } = prd
  // Ralph's own notes on a story are in no prompt.
  const words = userStories.map((story) =>
    plannedFields({ ...story, notes: peopleNotes(story, records[story.id]) }),
  )
  return fnv(JSON.stringify([project, description, contextOf(plan), ...words]))
}

/** A digest of stories alone: the parts of a split, or an archived story. Existing states hold such digests. */
export function storiesDigest(stories: readonly Story[]): string {
  return fnv(JSON.stringify(['', ...stories.map(plannedFields)]))
}

/** A digest of the criteria of a story. */
export function criteriaDigest({ acceptanceCriteria }: Pick<Story, 'acceptanceCriteria'>): string {
  return fnv(JSON.stringify(acceptanceCriteria))
}

function plannedFields(story: Story): unknown[] {
  return [
    ...[story.id, story.title, story.description, story.acceptanceCriteria, story.dependsOn],
    ...[story.priority, story.tags, story.epicId, story.notes],
  ]
}

/** The text of context.md that sessions get once the plan is approved. */
export function contextOf(plan: Plan | undefined): string {
  return (plan?.context || plan?.committedContext || '').trim()
}

/** Whether the plan's stories are in prd.json and no work on them has begun. */
export function isWaitingPlan(plan: Plan | undefined): boolean {
  return plan?.phase === 'proposed' || plan?.phase === 'approved'
}

/** FNV-1a: it detects an edit after the plan was shown, and is not a protection against a forged text. */
function fnv(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

export function newPlan(brief: string, issue: number | null = null): Plan {
  return {
    phase: 'wanted',
    brief,
    issue,
    stories: [],
    digest: '',
    shownAt: null,
    context: '',
    questions: [],
    sessions: 0,
    message: '',
  }
}

/** What a session has to plan next: the id of a story to split, '' for the whole feature, or null. */
export function nextPlanTarget({ plan, splits = {} }: State): string | null {
  if (plan?.phase === 'wanted') return ''
  return Object.entries(splits).find(([, { phase }]) => phase === 'wanted')?.[0] ?? null
}

/** Whether a story waits for a split, or for its approval: it is not worked on meanwhile. */
export function isSplitting({ splits = {} }: State, id: string): boolean {
  return splits[id] !== undefined
}
