// Joins stories that several documents describe: each becomes one story. If documents contradict each other, the more specific one wins.
import { describeValue } from '../engine/model/text.ts'
import { isGiven, type Raw } from '../engine/prd/migrate.ts'
import { normalizeWords } from './story-words.ts'
import type { DocumentStory, Rank } from './types.ts'

/** A story, and every place where it was read. The first place wins. */
export type JoinedStory = { raw: Raw; from: [DocumentStory, ...DocumentStory[]] }

type AllJoined = { stories: JoinedStory[]; notes: string[] }

/** The stories of all documents, each once, and all contradictions between documents. */
export function joinStories(stories: readonly DocumentStory[]): AllJoined {
  const groups = new Set<DocumentStory[]>()
  const byKey = new Map<string, Set<DocumentStory[]>>()
  // Lists come first, since files of single stories do not show an order.
  const [inFull, amongOthers] = [stories.filter(isInFull), stories.filter((story) => !isInFull(story))]
  for (const story of [...amongOthers, ...inFull]) {
    const keys = keysOf(story)
    const known = keys.flatMap((key) => [...(byKey.get(key) ?? [])])
    const group = known.find((one) => isSameStory(story, one)) ?? []
    group.push(story)
    groups.add(group)
    for (const key of keys) byKey.set(key, (byKey.get(key) ?? new Set()).add(group))
  }
  const found: Found = { notes: [], otherTitles: [] }
  const all = [...groups].map((group) => joinGroup(group, found))
  return { stories: withBlockedStories(all), notes: [...found.notes, ...otherTitlesNote(found.otherTitles)] }
}

/** Adds the dependencies that the other story names: "Blocks: 1.2" of 1.1. One that says the opposite is not added. */
function withBlockedStories(stories: readonly JoinedStory[]): JoinedStory[] {
  const before = new Map<string, string[]>()
  const byId = new Map(stories.map((story) => [String(story.raw.id), story]))
  for (const { raw, from } of stories)
    for (const blocked of from.flatMap(({ blocks }) => blocks))
      if (byId.has(blocked) && !needsOf(raw).includes(blocked))
        before.set(blocked, [...(before.get(blocked) ?? []), String(raw.id)])
  return stories.map((story) => {
    const needs = before.get(String(story.raw.id))
    if (needs === undefined) return story
    const dependsOn = [...new Set([...needsOf(story.raw), ...needs])]
    return { ...story, raw: { ...story.raw, dependsOn } }
  })
}

function needsOf({ dependsOn }: Raw): string[] {
  return Array.isArray(dependsOn) ? dependsOn.map(String) : []
}

/** Collects what was found. `otherTitles`: notes on stories with another title in a document that only mentions them. */
type Found = { notes: string[]; otherTitles: string[] }

function otherTitlesNote(all: readonly string[]): string[] {
  if (all.length === 0) return []
  const more = all.length > MAX_TITLES ? `; and ${all.length - MAX_TITLES} more` : ''
  return [
    `these titles differ from those in the documents of the stories: ${all.slice(0, MAX_TITLES).join('; ')}${more}.`,
  ]
}

const MAX_TITLES = 5

function isInFull({ rank }: DocumentStory): boolean {
  return rank === 'detailed'
}

/**
 * Whether the story can be in the group: from another document than the others, and with no other id than they have. Two documents
 * that are each the story's own, with one id and unlike titles, are two stories: two branches gave both the next number. So are
 * `Task 1` of two lists in different folders, because each list begins at 1.
 */
function isSameStory(story: DocumentStory, group: readonly DocumentStory[]): boolean {
  const { path, raw } = story
  const isOther = (one: DocumentStory) =>
    isGiven(raw.id) && isGiven(one.raw.id) && String(one.raw.id) !== String(raw.id)
  const areTwo = (one: DocumentStory) =>
    ((isInFull(story) && one.format === story.format) || areOfTwoLists(story, one)) &&
    !areClose(titleOf(story), titleOf(one))
  return group.every((one) => one.path !== path && !isOther(one) && !areTwo(one))
}

function areOfTwoLists(story: DocumentStory, other: DocumentStory): boolean {
  const folderOf = ({ path }: DocumentStory) => path.slice(0, path.lastIndexOf('/') + 1)
  return story.isNumbered && other.isNumbered && folderOf(story) !== folderOf(other)
}

function keysOf({ raw: { id, title } }: DocumentStory): string[] {
  return [
    ...(isGiven(id) ? [`id ${String(id)}`] : []),
    ...(typeof title === 'string' ? [`title ${normalizeWords(title)}`] : []),
  ]
}

const ranks: readonly Rank[] = ['detailed', 'made', 'planned', 'listed']

function joinGroup(group: readonly DocumentStory[], found: Found): JoinedStory {
  const [best, ...others] = group.toSorted(
    (a, b) => ranks.indexOf(a.rank) - ranks.indexOf(b.rank) || criteriaOf(b).length - criteriaOf(a).length,
  )
  if (best === undefined) throw new Error('a story that no document has')
  let { raw } = best
  for (const other of others) {
    noteContradictions(best, other, found)
    raw = withOtherWords(withMissingFields(raw, other.raw), best, other)
  }
  const trackers = group.filter((one) => one.isTracked && hasStatus(one))
  // It is not known which of two trackers is newer, so a story is only done if both say so.
  const statusSource = trackers.find(({ raw: otherRaw }) => otherRaw.passes !== true) ?? trackers[0] ?? best
  const { passes } = statusSource.raw
  const other = group.find((one) => hasStatus(one) && one.raw.passes !== passes)
  if (hasStatus(statusSource) && other !== undefined) {
    const [word, otherWord] = passes === true ? ['done', 'open'] : ['open', 'done']
    const id = String(statusSource.raw.id ?? statusSource.raw.title)
    found.notes.push(
      `${id} is ${word} in ${inBrackets(statusSource.place())} but ${otherWord} in ${inBrackets(other.place())}. Ralph reads it as ${word}${other.isTracked ? ', because both are trackers and only one says done' : ''}.`,
    )
  }
  return { raw: { ...raw, passes }, from: [best, ...others] }
}

/** Whether the document shows the status. An open box of a plan does not. */
function hasStatus({ rank, raw: { passes } }: DocumentStory): boolean {
  return passes === true || (passes === false && rank !== 'planned')
}

/** Two lists may word a task differently: what the other one says is not lost. */
function withOtherWords(raw: Raw, best: DocumentStory, other: DocumentStory): Raw {
  const words = titleOf(other)
  if (best.rank !== 'listed' || other.rank !== 'listed') return raw
  return normalizeWords(titleOf(best)) === normalizeWords(words)
    ? raw
    : { ...raw, description: [raw.description, words].filter(hasValue).join('\n') }
}

/** Takes over the fields that `raw` lacks. */
function withMissingFields(raw: Raw, other: Raw): Raw {
  const missing = Object.entries(other).filter(([key, value]) => hasValue(value) && !hasValue(raw[key]))
  return { ...raw, ...Object.fromEntries(missing) }
}

/** A place as a part of a sentence: `prd.json: line 3` is `prd.json (line 3)`. */
function inBrackets(place: string): string {
  const at = place.lastIndexOf(': ')
  return at < 0 ? place : `${place.slice(0, at)} (${place.slice(at + 2)})`
}

function hasValue(value: unknown): boolean {
  return isGiven(value) && value !== '' && !(Array.isArray(value) && value.length === 0)
}

/** Names both documents if they contradict each other. Titles that differ without contradicting are added to `otherTitles`. */
function noteContradictions(best: DocumentStory, other: DocumentStory, found: Found): void {
  const fix = 'To change this: write the same in both documents, or name only one of them with --from.'
  const isSameRank = best.rank === other.rank
  const [title, otherTitle] = [titleOf(best), titleOf(other)]
  const id = String(best.raw.id ?? best.place())
  const isOther = title !== '' && otherTitle !== '' && !areAlike(title, otherTitle)
  if (isOther && isOnlyMentioned(best, other))
    found.otherTitles.push(`${other.place()} calls ${id} ${describeValue(otherTitle)}`)
  else if (isOther)
    found.notes.push(
      `${other.place('title')}: ${id} is ${describeValue(otherTitle)} here but ${describeValue(title)} in ${best.place()}. Ralph uses the title in ${best.place()}. ${fix}`,
    )
  const criteria = criteriaOf(best).map(normalizeWords)
  const extra = criteriaOf(other).find((one) => !criteria.includes(normalizeWords(one)))
  if (isSameRank && criteria.length > 0 && extra !== undefined)
    found.notes.push(
      `${other.place('acceptanceCriteria')}: ${id} has different criteria here than in ${best.place()}, for example ${describeValue(extra)}. Ralph uses those in ${best.place()}. ${fix}`,
    )
}

/** Whether `best` is the story's own document, and the other may have a short or older title, as trackers often do. */
function isOnlyMentioned(best: DocumentStory, other: DocumentStory): boolean {
  return best.rank !== other.rank && (best.rank === 'detailed' || other.isTracked)
}

function titleOf({ raw: { title } }: DocumentStory): string {
  return typeof title === 'string' ? title : ''
}

function criteriaOf({ raw: { acceptanceCriteria: all } }: DocumentStory): string[] {
  return Array.isArray(all) ? all.filter((one) => typeof one === 'string') : []
}

/** Whether two titles share a word, as the original and an extended or shortened title do. */
export function areAlike(a: string, b: string): boolean {
  const small = /^(?:the|an?|and|or|for|to|of|in|on|with|story)$/
  const words = new Set(normalizeWords(a).split(' '))
  const common = normalizeWords(b)
    .split(' ')
    .filter((word) => words.has(word))
  return normalizeWords(a) === normalizeWords(b) || common.some((word) => !small.test(word))
}

/** Whether two titles have most of their words in common, as "Undo + redo" and "Undo and redo" do. */
function areClose(a: string, b: string): boolean {
  const [words, others] = [a, b].map(
    (title) =>
      new Set(
        normalizeWords(title)
          .split(' ')
          .filter((word) => !/^(?:the|an?|and|or)$/.test(word)),
      ),
  )
  if (words === undefined || others === undefined) return false
  const common = [...words].filter((word) => others.has(word)).length
  return common * 3 >= Math.max(words.size, others.size) * 2
}
