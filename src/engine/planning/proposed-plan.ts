// Plans: what a session's proposal holds, what a person approves, and how a story is split. Pure.

import { formatMistake } from '../../system/errors.ts'
import type { Prd, Story } from '../model/feature.ts'
import { asString } from '../model/json.ts'
import type { Plan, PlanTask, Proposal } from '../model/plan-state.ts'
import type { State } from '../model/state.ts'
import { mapTexts, oneLine, sanitizeText } from '../model/text.ts'
import { parsePrd } from '../prd/parse.ts'
import { newStory } from '../prd/schema.ts'
import { peopleNotes } from '../story-notes.ts'
import { lastJson } from './last-json.ts'
import { readQuestions } from './plan-questions.ts'

/** More stories than a person reads before approving them. */
const MOST_STORIES = 200
const MOST_QUESTIONS = 10
const LONGEST = { context: 6000, description: 2000, question: 300, message: 1000 }

/** The proposal in a session's last words: the last block of JSON that they hold, checked as every prd.json is. */
export function readProposal(words: string, task: PlanTask): Proposal {
  if (task.asks === true) return readQuestions(words)
  const value = lastJson(words)
  if (value === null) return none('no block of JSON in the answer')
  const { stories = value.userStories, project, description, context, questions } = value
  if (!Array.isArray(stories)) return none('no list "stories" in the JSON')
  if (stories.length === 0) return none(readQuestionList(questions)[0] ?? 'the list of stories is empty')
  if (stories.length > MOST_STORIES)
    return none(`${stories.length} stories: ${MOST_STORIES} are the most that a plan may have`)
  const fresh = stories.map((story) =>
    without(story, task.split === null ? STANDING : [...STANDING, ...PLACE]),
  )
  const parsed = parsePrd(JSON.stringify({ userStories: fresh }), 'plan')
  if (!parsed.ok)
    return none(parsed.mistakes.slice(0, 5).map(formatMistake).join('; ').slice(0, LONGEST.message))
  const proposed = {
    kind: 'proposed' as const,
    project: oneLine(asString(project) ?? '', 200),
    description: sanitizeText(asString(description) ?? '').slice(0, LONGEST.description),
    context: sanitizeText(asString(context) ?? '').slice(0, LONGEST.context),
    stories: mapTexts(parsed.prd.userStories, sanitizeText),
    questions: readQuestionList(questions),
  }
  const whole = task.split === null ? null : task.stories.find(({ id }) => id === task.split)
  if (whole == null) return proposed
  const why = splitFault(whole, proposed.stories)
  return why === null ? { ...proposed, stories: partsOf(whole, proposed.stories, task.stories) } : none(why)
}

function none(message: string): Proposal {
  return { kind: 'none', message }
}

function readQuestionList(questions: unknown): string[] {
  if (!Array.isArray(questions)) return []
  return questions
    .filter((one) => typeof one === 'string' && one.trim() !== '')
    .slice(0, MOST_QUESTIONS)
    .map((one) => oneLine(one, LONGEST.question))
}

/** A plan passes nothing, whatever it says. */
const STANDING = ['passes', 'retries', 'blocked', 'skipped', 'lastResult']
/** The parts of a story stand in a row in its place: what they say of that is not read. */
const PLACE = ['id', 'dependsOn', 'priority']

function without(story: unknown, names: readonly string[]): unknown {
  if (typeof story !== 'object' || story === null) return story
  return Object.fromEntries(Object.entries(story).filter(([name]) => !names.includes(name)))
}

/** Every criterion is in exactly one of the parts: none is lost, none is asked for twice. */
export function splitFault({ id, acceptanceCriteria }: Story, parts: readonly Story[]): string | null {
  if (parts.length < 2) return `${id} was not split: one story is as large as before`
  const given = parts.flatMap((part) => part.acceptanceCriteria.map(normalizeCriterion))
  for (const criterion of acceptanceCriteria) {
    const times = given.filter((one) => one === normalizeCriterion(criterion)).length
    if (times === 1) continue
    const where = times === 0 ? 'is in none of the parts' : `is in ${times} parts`
    return `a criterion of ${id} ${where}: ${oneLine(criterion, 200)}`
  }
  return null
}

function normalizeCriterion(criterion: string): string {
  return criterion.replace(/\s+/g, ' ').trim().toLowerCase()
}

/** One after another in the place of the whole, with ids that say where they come from. */
function partsOf(whole: Story, parts: readonly Story[], all: readonly Story[]): Story[] {
  const taken = new Set(all.map(({ id }) => id))
  const ids: string[] = []
  for (let number = 1; ids.length < parts.length; number += 1) {
    const id = `${whole.id.slice(0, 58)}-${number}`
    if (!taken.has(id)) ids.push(id)
  }
  return parts.map(({ title, description, acceptanceCriteria }, index) =>
    newStory({
      id: ids[index] ?? '',
      title,
      description,
      acceptanceCriteria,
      epicId: whole.epicId,
      tags: whole.tags,
      priority: whole.priority,
      dependsOn: index === 0 ? whole.dependsOn : [ids[index - 1] ?? ''],
    }),
  )
}

/** The feature with a story's parts behind it; the whole is left out, and what waited for it waits for the last part. */
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

/** What an approval of a plan is given for: all words that a session gets, nothing of how stories stand. Eight hexadecimal digits. */
export function planDigest({ plan, prd, records }: Pick<State, 'plan' | 'prd' | 'records'>): string {
  const { project, description, userStories } = prd
  // What Ralph itself notes on a story comes into no prompt.
  const words = userStories.map((story) =>
    wordsOf({ ...story, notes: peopleNotes(story, records[story.id]) }),
  )
  return fnv(JSON.stringify([project, description, contextOf(plan), ...words]))
}

/** The same of stories alone: the parts of a split, or a story in the archive, whose digests stand in states of before. */
export function storiesDigest(stories: readonly Story[]): string {
  return fnv(JSON.stringify(['', ...stories.map(wordsOf)]))
}

function wordsOf(story: Story): unknown[] {
  return [
    ...[story.id, story.title, story.description, story.acceptanceCriteria, story.dependsOn],
    ...[story.priority, story.tags, story.epicId, story.notes],
  ]
}

/** context.md as sessions get it once the plan is approved. */
export function contextOf(plan: Plan | undefined): string {
  return (plan?.context || plan?.committedContext || '').trim()
}

/** Its stories stand in prd.json, and a person is to approve them or has. */
export function isWaitingPlan(plan: Plan | undefined): boolean {
  return plan?.phase === 'proposed' || plan?.phase === 'approved'
}

/** FNV-1a over two halves: an edit after the look is seen; nobody is kept out by it. */
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

/** The split or the plan of the whole that a session is to make next: the id of the story, '' for the feature, or null. */
export function nextPlanTarget({ plan, splits = {} }: State): string | null {
  if (plan?.phase === 'wanted') return ''
  return Object.entries(splits).find(([, { phase }]) => phase === 'wanted')?.[0] ?? null
}

/** Stories whose split a session is to make, or a person to approve: nobody works on them meanwhile. */
export function isSplitting({ splits = {} }: State, id: string): boolean {
  return splits[id] !== undefined
}
