// Finds the run's stories in the documents, which are read again at an outcome. In doubt, a story counts as not found.
import type { Prd, Story } from '../../engine/model/feature.ts'
import { plannedFiles } from '../../engine/prd/plan-file.ts'
import { readTagNames } from '../formats/task-master.ts'
import { type DocumentReading, findDocuments, readEach } from '../formats.ts'
import { joinStories } from '../join-stories.ts'
import { MAX_READ, MAX_STORIES } from '../read-documents.ts'
import { normalizeWords } from '../story-words.ts'
import type { DocumentFile, DocumentStory } from '../types.ts'
import { isFromDocument } from './passed-stories.ts'

/** A story of the run, and where documents have it. */
export type LocatedStory = { story: Story; read: readonly DocumentStory[] }

/** The stories with their places in the documents; `lost`: stories that no document has any more, or that match ambiguously. */
export function locateStories(
  files: readonly DocumentFile[],
  prd: Pick<Prd, 'userStories'>,
): { placed: LocatedStory[]; lost: Story[] } {
  const stories = prd.userStories.filter(isFromDocument)
  const readings = readingsOfOneUnit(readWithoutMistakes(files, stories), stories)
  const isLoose = ({ reading }: DocumentReading) => reading.isLoose
  const hasPlan = readings.some(({ reading }) =>
    reading.stories.some(({ rank, isTracked }) => rank === 'detailed' || isTracked),
  )
  // Beside a plan, a loose list of boxes is not read as stories.
  const counting = hasPlan ? readings.filter((one) => !isLoose(one)) : readings
  // An agent may have written more than can be compared in time.
  const sizes = counting.map(({ reading }) => reading.stories.length)
  const isTooMuch = sizes.some((size) => size > MAX_STORIES) || sizes.reduce((a, b) => a + b, 0) > MAX_READ
  if (isTooMuch) return { placed: [], lost: stories }
  const groups = joinStories(counting.flatMap(({ reading }) => reading.stories)).stories.map(
    ({ from }) => from,
  )
  const found = matchStories(groups, stories)
  const placed = [...found].map(([story, read]) => ({ story, read }))
  return { placed, lost: stories.filter((story) => !found.has(story)) }
}

/** The documents that are read without a mistake. */
function readWithoutMistakes(files: readonly DocumentFile[], stories: readonly Story[]): DocumentReading[] {
  const all = readEach(files).flatMap((one) => chooseTag(one, stories))
  return all.filter(({ reading }) => reading.mistakes.length === 0)
}

/** For a file with several plans: the plan with most of the stories; if several have as many, the one that planning would choose. */
function chooseTag(one: DocumentReading, stories: readonly Story[]): DocumentReading[] {
  const parts = one.file.part === undefined ? readTagNames(one.file) : []
  // Each part needs a parse of the whole file.
  if (parts.length < 2 || parts.length > MAX_PARTS) return [one]
  const readings = parts.flatMap((part) => readEach([{ ...one.file, part }]))
  const most = withMost(readings, (reading) => countIn([reading], stories))
  return most.length > 1 ? [one] : most
}

const MAX_PARTS = 20

/** If there are several plans side by side: the one with most of the stories, or none if two have as many. */
function readingsOfOneUnit(
  readings: readonly DocumentReading[],
  stories: readonly Story[],
): DocumentReading[] {
  const units = new Map<string, DocumentReading[]>()
  for (const one of readings) {
    const { unit } = one.reading
    if (unit === null || unit.hasOwnIds === true) continue
    units.set(unit.name, [...(units.get(unit.name) ?? []), one])
  }
  const most = withMost([...units], ([, all]) => countIn(all, stories))
  const name = most.length === 1 ? most[0]?.[0] : null
  return readings.filter(
    ({ reading: { unit } }) => unit === null || unit.hasOwnIds === true || unit.name === name,
  )
}

function withMost<T>(all: readonly T[], countOf: (one: T) => number): T[] {
  const counts = all.map(countOf)
  const most = Math.max(0, ...counts)
  return most === 0 ? [] : all.filter((_, index) => counts[index] === most)
}

/** How many of the stories the documents have, by id and title. */
function countIn(readings: readonly DocumentReading[], stories: readonly Story[]): number {
  const known = new Set(stories.map(({ id, title }) => keyOf(id, title)))
  const read = readings.flatMap(({ reading }) => reading.stories)
  return new Set(read.map(({ raw }) => keyOf(raw.id, raw.title)).filter((key) => known.has(key))).size
}

function keyOf(id: unknown, title: unknown): string {
  return `${String(id)} ${normalizeWords(String(title))}`
}

type Group = readonly DocumentStory[]

/**
 * Matches by id and title; then by title alone, in order, if both sides have it equally often. The id alone is no proof: it may come
 * from the position of a box, and people renumber.
 */
function matchStories(groups: readonly Group[], stories: readonly Story[]): Map<Story, Group> {
  const found = new Map<Story, Group>()
  const taken = new Set<Group>()
  const byKey = new Map(stories.map((story) => [keyOf(story.id, story.title), story]))
  for (const group of groups) {
    const story = group
      .map(({ raw }) => byKey.get(keyOf(group[0]?.raw.id ?? raw.id, raw.title)))
      .find(Boolean)
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
  for (const [title, all] of storiesLeft) {
    const same = groupsLeft.get(title) ?? []
    if (same.length !== all.length) continue
    for (const [index, story] of all.entries()) found.set(story, same[index] ?? [])
  }
  return found
}

function byTitle<T>(all: readonly T[], titleOf: (one: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>()
  for (const one of all) {
    const title = normalizeWords(titleOf(one))
    found.set(title, [...(found.get(title) ?? []), one])
  }
  return found
}

/** Paths of the documents that the plan was made from; if they are not known, of documents that are found by their names. */
export function findPlanDocuments(
  paths: readonly string[],
  prd: Prd,
  folder: string,
): Omit<DocumentFile, 'text'>[] {
  const known = plannedFiles(prd)
  const found = new Set(findDocuments(paths))
  // Ralph's own files are written elsewhere.
  const isOwn = (path: string) => path.startsWith(`${folder}/`) || path.startsWith('.ralph/archive/')
  return paths
    .filter((path) => !isOwn(path) && (known.size > 0 ? known.has(path) : found.has(path)))
    .map((path) => ({
      path,
      ...(found.has(path) ? { isDiscovered: true } : { isNamed: true }),
      ...known.get(path),
    }))
}
