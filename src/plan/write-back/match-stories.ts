// Finds the run's stories in the documents, which are read again at an outcome. In doubt, a story counts as not found.
import type { Prd, Story } from '../../engine/model/feature.ts'
import { plannedFiles } from '../../engine/prd/plan-file.ts'
import { readTagNames } from '../formats/task-master.ts'
import { type DocumentReading, findDocuments, readEach } from '../formats.ts'
import { joinStories } from '../join-stories.ts'
import { MAX_READ, MAX_STORIES } from '../read-documents.ts'
import { withUnits } from '../separate-plans.ts'
import { normalizeWords } from '../story-words.ts'
import type { DocumentFile, DocumentStory } from '../types.ts'
import { isFromDocument } from './passed-stories.ts'

/** A story of the run, and the stories of documents that it was made from. */
export type LocatedStory = { story: Story; read: readonly DocumentStory[] }

/** The stories with their places in the documents. `lost`: stories that are no longer in any document, or that match ambiguously. */
export function locateStories(
  files: readonly DocumentFile[],
  prd: Pick<Prd, 'userStories'>,
): { placed: LocatedStory[]; lost: Story[] } {
  const stories = prd.userStories.filter(isFromDocument)
  const readings = readingsOfOneUnit(withUnits(readDecided(files, stories)), stories)
  const hasPlan = readings.some(({ reading }) =>
    reading.stories.some(({ rank, isTracked }) => rank === 'detailed' || isTracked),
  )
  // If there is a plan, a loose list of boxes is not read as stories.
  const planReadings = hasPlan ? readings.filter(({ reading }) => !reading.isLoose) : readings
  // An agent may have written more than can be compared in time.
  const sizes = planReadings.map(({ reading }) => reading.stories.length)
  const isTooMuch = sizes.some((size) => size > MAX_STORIES) || sizes.reduce((a, b) => a + b, 0) > MAX_READ
  if (isTooMuch) return { placed: [], lost: stories }
  const documentStories = planReadings.flatMap(({ reading }) => reading.stories)
  const groups = joinStories(documentStories).stories.map(({ from }) => from)
  const found = matchStories(groups, stories)
  const placed = [...found].map(([story, read]) => ({ story, read }))
  return { placed, lost: stories.filter((story) => !found.has(story)) }
}

/** The documents that need no choice of a person. */
function readDecided(files: readonly DocumentFile[], stories: readonly Story[]): DocumentReading[] {
  const all = readEach(files).flatMap((read) => chooseTag(read, stories))
  return all.filter(({ reading }) => reading.choices.length === 0)
}

/**
 * For a file with several plans: the plan that has the most of the run's stories. If several plans have as many, the one that
 * planning would choose.
 */
function chooseTag(read: DocumentReading, stories: readonly Story[]): DocumentReading[] {
  const tags = read.file.part === undefined ? readTagNames(read.file) : []
  // The whole file is parsed again for each tag.
  if (tags.length < 2 || tags.length > MAX_TAGS) return [read]
  const readings = tags.flatMap((part) => readEach([{ ...read.file, part }]))
  const best = withHighestCount(readings, (reading) => countMatches([reading], stories))
  return best.length > 1 ? [read] : best
}

const MAX_TAGS = 20

/** If there are several plans side by side: the one that has the most of the run's stories, or none if two have as many. */
function readingsOfOneUnit(
  readings: readonly DocumentReading[],
  stories: readonly Story[],
): DocumentReading[] {
  const units = new Map<string, DocumentReading[]>()
  for (const read of readings) {
    const { unit } = read.reading
    if (unit === null || unit.hasOwnIds === true) continue
    units.set(unit.name, [...(units.get(unit.name) ?? []), read])
  }
  const best = withHighestCount([...units], ([, unitReadings]) => countMatches(unitReadings, stories))
  const name = best.length === 1 ? best[0]?.[0] : null
  return readings.filter(
    ({ reading: { unit } }) => unit === null || unit.hasOwnIds === true || unit.name === name,
  )
}

/** The items with the highest count; none if every count is 0. */
function withHighestCount<T>(items: readonly T[], countOf: (item: T) => number): T[] {
  const counts = items.map(countOf)
  const highest = Math.max(0, ...counts)
  return highest === 0 ? [] : items.filter((_, index) => counts[index] === highest)
}

/** How many of the stories the documents have, by id and title. */
function countMatches(readings: readonly DocumentReading[], stories: readonly Story[]): number {
  const known = new Set(stories.map(({ id, title }) => storyKey(id, title)))
  const documentStories = readings.flatMap(({ reading }) => reading.stories)
  const keys = documentStories.map(({ raw }) => storyKey(raw.id, raw.title))
  return new Set(keys.filter((key) => known.has(key))).size
}

function storyKey(id: unknown, title: unknown): string {
  return `${String(id)} ${normalizeWords(String(title))}`
}

/** What several documents say of one story. */
type Group = readonly DocumentStory[]

/**
 * Matches by id and title first. Then only by title: the stories of one title are matched in order, if both sides have equally
 * many. The id without the title is not a proof: it may come from the position of a box, and people renumber.
 */
function matchStories(groups: readonly Group[], stories: readonly Story[]): Map<Story, Group> {
  const found = new Map<Story, Group>()
  const taken = new Set<Group>()
  const byKey = new Map(stories.map((story) => [storyKey(story.id, story.title), story]))
  for (const group of groups) {
    // A run's story has the id of the first document, but it may have the title of any.
    const id = group[0]?.raw.id
    const story = group.map(({ raw }) => byKey.get(storyKey(id ?? raw.id, raw.title))).find(Boolean)
    if (story === undefined || found.has(story)) continue
    found.set(story, group)
    taken.add(group)
  }
  const groupsLeft = byTitle(
    groups.filter((group) => !taken.has(group)),
    (group) => String(group[0]?.raw.title),
  )
  const storiesLeft = byTitle(
    stories.filter((story) => !found.has(story)),
    ({ title }) => title,
  )
  for (const [title, storiesOfTitle] of storiesLeft) {
    const groupsOfTitle = groupsLeft.get(title) ?? []
    if (groupsOfTitle.length !== storiesOfTitle.length) continue
    for (const [index, story] of storiesOfTitle.entries()) found.set(story, groupsOfTitle[index] ?? [])
  }
  return found
}

function byTitle<T>(items: readonly T[], titleOf: (item: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>()
  for (const item of items) {
    const title = normalizeWords(titleOf(item))
    found.set(title, [...(found.get(title) ?? []), item])
  }
  return found
}

/** The documents that the plan was made from. If the plan does not name them, the documents that are found by their names. */
export function findPlanDocuments(
  paths: readonly string[],
  prd: Prd,
  folder: string,
): Omit<DocumentFile, 'text'>[] {
  const planned = plannedFiles(prd)
  const discovered = new Set(findDocuments(paths))
  // Ralph writes its own files elsewhere.
  const isOwn = (path: string) => path.startsWith(`${folder}/`) || path.startsWith('.ralph/archive/')
  const isOfPlan = (path: string) => (planned.size > 0 ? planned.has(path) : discovered.has(path))
  return paths
    .filter((path) => !isOwn(path) && isOfPlan(path))
    .map((path) => ({
      path,
      ...(discovered.has(path) ? { isDiscovered: true } : { isNamed: true }),
      ...planned.get(path),
    }))
}
