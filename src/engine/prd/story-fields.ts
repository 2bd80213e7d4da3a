// Fields of stories in the shapes that tools write: criteria, states and priorities under several names and in several forms.
import { isObject } from '../model/json.ts'

type Raw = { [key: string]: unknown }

/** A list is returned unchanged. A text becomes its lines without bullets, another value a list of one, and nothing an empty list. */
export function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  if (typeof value === 'string') return lines(value)
  return value === undefined || value === null ? [] : [value]
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]*)?/, '').trim())
    .filter(Boolean)
}

const TEXT_KEYS = ['text', 'criterion', 'criteria', 'description', 'title', 'name', 'requirement', 'then']

/** The text of a criterion, which may be an object such as `{ given, when, then }` or `{ id, text, passes }`. Null if it has none. */
export function criterionText(value: unknown): string | null {
  if (typeof value === 'string' || typeof value === 'number') return String(value).trim() || null
  if (!isObject(value)) return null
  const part = (key: string) => (typeof value[key] === 'string' ? value[key].trim() : '')
  const scenario = ['given', 'when', 'then'].filter((key) => part(key) !== '')
  if (scenario.length > 1)
    return scenario.map((key) => `${key[0]?.toUpperCase()}${key.slice(1)} ${part(key)}`).join(', ')
  const key = TEXT_KEYS.find((one) => part(one) !== '')
  return key === undefined ? null : part(key)
}

/** The urgency of a section or of a priority in words: 0, 1 or 2; 0 comes first. */
export function urgencyOf(text: string): number {
  // An emoji may precede the word.
  const bare = text.slice(0, 200).replace(/^[^\p{L}\p{N}]+/u, '')
  if (/^(?:critical|high|urgent|must|p0)\b/i.test(bare)) return 0
  return /^(?:low|could|p[23])\b/i.test(bare) ? 2 : 1
}

/** The urgency of a priority in words as a number, lowest first; the number itself if the text is one. */
export function priorityOf(words: string): number | null {
  if (/^-?\d{1,6}(?:\.\d+)?$/.test(words.trim())) return Number(words)
  return words.trim() === '' ? null : urgencyOf(words)
}

/** Every state that means that nothing is left to do; `null` if the words are none that are known. */
export function stateOf(words: string): 'done' | 'open' | 'failed' | 'left out' | null {
  const plain = words
    .toLowerCase()
    .replace(/[^\p{L}]+/gu, ' ')
    .trim()
  return STATES.find(([state]) => state.test(plain))?.[1] ?? null
}

const STATES: readonly [RegExp, 'done' | 'open' | 'failed' | 'left out'][] = [
  [
    /^(?:not|never|un)\s?(?:started|done|complete|completed|implemented|tested|verified|passing|passed|begun)\b/,
    'open',
  ],
  [/^(?:partial|partially|partly|nearly|almost)\b/, 'open'],
  [
    /^(?:cancell?ed|canceled|deferred|obsolete|wont do|won t do|wontfix|skipped|removed|deleted|dropped|rejected|duplicate|superseded|archived|abandoned|icebox|iced|deprecated)\b/,
    'left out',
  ],
  [/^(?:failed|failing|broken|error)\b/, 'failed'],
  [
    /^(?:done|complete|completed|closed|accepted|passed|passing|passes|pass|shipped|merged|verified|implemented|finished|resolved|released|implementation complete|success|succeeded|tested|delivered|green)\b/,
    'done',
  ],
  [
    /^(?:todo|to do|open|new|pending|planned|backlog|ready|ready for dev|in progress|in review|review|started|active|wip|doing|blocked|draft|queued|proposed|approved|needs \w+|on hold|current|next|testing|assigned|in \w+|ongoing|unstarted|incomplete)\b/,
    'open',
  ],
]

const CRITERIA_KEYS = [
  ...['acceptanceCriteria', 'acceptance_criteria', 'acceptance', 'criteria', 'success_criteria'],
  ...['successCriteria', 'verification', 'verification_steps', 'user_visible_behavior', 'steps'],
  ...['test_steps', 'testSteps', 'definition_of_done', 'evidence'],
]

/** The criteria of an entry, under the first key that has any. Evidence is what a session reported of finished work. */
export function criteriaOf(entry: Raw): string[] {
  for (const key of CRITERIA_KEYS) {
    const words = listOf(entry[key]).flatMap((one) => criterionText(one) ?? [])
    if (words.length > 0) return words
  }
  return []
}

/** Whether an entry has a key for criteria, even an empty one. */
export function hasCriteriaKey(entry: Raw): boolean {
  return CRITERIA_KEYS.some((key) => key in entry)
}

const NEEDS_KEYS = [
  ...['dependsOn', 'depends_on', 'dependencies', 'blockedBy', 'blocked_by', 'requires', 'prerequisites'],
  ...['deps', 'after'],
]

/** What an entry says of dependencies, under any usual name; null if it has none of them. */
export function needsOf(entry: Raw): unknown[] | null {
  const key = NEEDS_KEYS.find((one) => entry[one] !== undefined && entry[one] !== null)
  return key === undefined ? null : listOf(entry[key])
}

const DONE_KEYS = ['passes', 'completed', 'done', 'passed', 'passing', 'complete', 'tested', 'implemented']

/** The flag by which an entry says that nothing is left to do; null without one. */
export function doneFlagOf(entry: Raw): { key: string; value: boolean } | null {
  for (const key of DONE_KEYS) {
    const value = entry[key]
    if (typeof value === 'boolean') return { key, value }
  }
  return null
}

const STATE_KEYS = ['status', 'state']

/** The state of an entry in words, with its key; null without one. */
export function stateFieldOf(entry: Raw): { key: string; words: string } | null {
  for (const key of STATE_KEYS) {
    const words = entry[key]
    if (typeof words === 'string' && words.trim() !== '') return { key, words }
  }
  return null
}
