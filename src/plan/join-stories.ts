// Joins stories that several documents describe: each becomes one story. Contradictions between documents are mistakes.
import { describeValue } from '../engine/model/text.ts'
import { isGiven, type Raw } from '../engine/prd/migrate.ts'
import type { Mistake } from '../system/errors.ts'
import { normalizeWords } from './story-words.ts'
import type { DocumentStory, Rank } from './types.ts'

/** A story, and every place where it was read. The first place wins. */
export type JoinedStory = { raw: Raw; from: [DocumentStory, ...DocumentStory[]] }

type AllJoined = { stories: JoinedStory[]; mistakes: Mistake[]; notes: string[] }

/** The stories of all documents, each once, and every contradiction between two of them. */
export function joinStories(stories: readonly DocumentStory[]): AllJoined {
  const groups = new Set<DocumentStory[]>()
  const byKey = new Map<string, Set<DocumentStory[]>>()
  // A story file says nothing about the order, so that lists come first.
  const [inFull, amongOthers] = [stories.filter(isInFull), stories.filter((story) => !isInFull(story))]
  for (const story of [...amongOthers, ...inFull]) {
    const keys = keysOf(story)
    const known = keys.flatMap((key) => [...(byKey.get(key) ?? [])])
    const group = known.find((one) => belongs(story, one)) ?? []
    group.push(story)
    groups.add(group)
    for (const key of keys) byKey.set(key, (byKey.get(key) ?? new Set()).add(group))
  }
  const found: Found = { mistakes: [], notes: [], otherTitles: [] }
  const all = [...groups].map((group) => one(group, found))
  const { mistakes, notes, otherTitles } = found
  return { stories: all, mistakes, notes: [...notes, ...otherTitlesNote(otherTitles)] }
}

/** `otherTitles`: titles of a story in documents that only mention it. */
type Found = { mistakes: Mistake[]; notes: string[]; otherTitles: string[] }

function otherTitlesNote(all: readonly string[]): string[] {
  if (all.length === 0) return []
  const more = all.length > MOST_TITLES ? `; and ${all.length - MOST_TITLES} more` : ''
  return [`another title than in the document of the story: ${all.slice(0, MOST_TITLES).join('; ')}${more}.`]
}

const MOST_TITLES = 5

function isInFull({ rank }: DocumentStory): boolean {
  return rank === 'detailed'
}

/** Two stories of different documents are the same where their ids are, or, where one has no id, their titles. */
function belongs({ path, raw: { id } }: DocumentStory, group: readonly DocumentStory[]): boolean {
  const isOther = (one: DocumentStory) =>
    isGiven(id) && isGiven(one.raw.id) && String(one.raw.id) !== String(id)
  return group.every((one) => one.path !== path && !isOther(one))
}

function keysOf({ raw: { id, title } }: DocumentStory): string[] {
  return [
    ...(isGiven(id) ? [`id ${String(id)}`] : []),
    ...(typeof title === 'string' ? [`title ${normalizeWords(title)}`] : []),
  ]
}

const ranks: readonly Rank[] = ['detailed', 'made', 'planned', 'listed']

function one(group: readonly DocumentStory[], found: Found): JoinedStory {
  const [best, ...others] = group.toSorted((a, b) => ranks.indexOf(a.rank) - ranks.indexOf(b.rank))
  if (best === undefined) throw new Error('a story that no document has')
  let { raw } = best
  for (const other of others) {
    found.mistakes.push(...contradictions(best, other, found.otherTitles))
    raw = withMore(raw, other.raw)
  }
  const trackers = group.filter((one) => one.isTracked && hasStatus(one))
  // Neither of two trackers is known to be newer: a story counts as done only where both say so.
  const judge = trackers.find(({ raw: said }) => said.passes !== true) ?? trackers[0] ?? best
  const { passes } = judge.raw
  const other = group.find((one) => hasStatus(one) && one.raw.passes !== passes)
  if (hasStatus(judge) && other !== undefined) {
    const [word, otherWord] = passes === true ? ['done', 'open'] : ['open', 'done']
    const id = String(judge.raw.id ?? judge.raw.title)
    found.notes.push(
      `${id} is ${word} in ${judge.place()} and ${otherWord} in ${other.place()}: read as ${word}${other.isTracked ? ', since both are trackers and only one says done' : ''}.`,
    )
  }
  return { raw: { ...raw, passes }, from: [best, ...others] }
}

/** An open box of a plan does not tell the status. */
function hasStatus({ rank, raw: { passes } }: DocumentStory): boolean {
  return passes === true || (passes === false && rank !== 'planned')
}

/** Takes over the fields that `raw` lacks. */
function withMore(raw: Raw, other: Raw): Raw {
  const missing = Object.entries(other).filter(([key, value]) => isSaid(value) && !isSaid(raw[key]))
  return { ...raw, ...Object.fromEntries(missing) }
}

function isSaid(value: unknown): boolean {
  return isGiven(value) && value !== '' && !(Array.isArray(value) && value.length === 0)
}

/** Titles that differ without being a contradiction are added to `otherTitles`. */
function contradictions(best: DocumentStory, other: DocumentStory, otherTitles: string[]): Mistake[] {
  const fix = 'say the same in both, or name the one to read: ralph plan --from FILE'
  const mistakes: Mistake[] = []
  const isSameRank = best.rank === other.rank
  const [title, otherTitle] = [titleOf(best), titleOf(other)]
  const isSame = isSameRank
    ? normalizeWords(title) === normalizeWords(otherTitle)
    : areAlike(title, otherTitle)
  const isOther = title !== '' && otherTitle !== '' && !isSame
  if (isOther && isOnlyMentioned(best, other))
    otherTitles.push(
      `${other.place()} calls ${String(best.raw.id ?? best.place())} ${describeValue(otherTitle)}`,
    )
  else if (isOther) {
    const expected = `the title it has in ${best.place()}, ${describeValue(title)}`
    mistakes.push({ path: other.place('title'), found: describeValue(otherTitle), expected, fix })
  }
  const criteria = criteriaOf(best).map(normalizeWords)
  const odd = criteriaOf(other).find((one) => !criteria.includes(normalizeWords(one)))
  if (isSameRank && criteria.length > 0 && odd !== undefined) {
    const expected = `the acceptance criteria it has in ${best.place()}`
    mistakes.push({ path: other.place('acceptanceCriteria'), found: describeValue(odd), expected, fix })
  }
  return mistakes
}

/** A story's own document has its title. A tracker often has a short name, made from an older title. */
function isOnlyMentioned(best: DocumentStory, other: DocumentStory): boolean {
  return best.rank !== other.rank && (best.rank === 'detailed' || other.isTracked)
}

function titleOf({ raw: { title } }: DocumentStory): string {
  return typeof title === 'string' ? title : ''
}

function criteriaOf({ raw: { acceptanceCriteria: all } }: DocumentStory): string[] {
  return Array.isArray(all) ? all.filter((one) => typeof one === 'string') : []
}

/** A title that a person extended or a tool shortened still shares a word with the original. */
function areAlike(a: string, b: string): boolean {
  const small = /^(?:the|an?|and|or|for|to|of|in|on|with|story)$/
  const words = new Set(normalizeWords(a).split(' '))
  const common = normalizeWords(b)
    .split(' ')
    .filter((word) => words.has(word))
  return normalizeWords(a) === normalizeWords(b) || common.some((word) => !small.test(word))
}
