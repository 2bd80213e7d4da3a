// Reads documents as a feature: each file by its format, stories of several files joined, all mistakes together.
import type { Prd } from '../engine/model/feature.ts'
import { isObject } from '../engine/model/json.ts'
import { type Draft, formatCount, isGiven, type Raw } from '../engine/prd/migrate.ts'
import { readDraft } from '../engine/prd/parse.ts'
import { asImported, emptyRun } from '../engine/prd/schema.ts'
import type { Mistake } from '../system/errors.ts'
import { choosePlan } from './choose-plan.ts'
import { renderContext } from './context-md.ts'
import { featureNameFrom } from './feature-name.ts'
import { type DocumentReading, readEach } from './formats.ts'
import { type JoinedStory, joinStories } from './join-stories.ts'
import { manyStoriesNote } from './many-stories.ts'
import { markPlanned } from './merge-plan.ts'
import { noticeOf, repairFeature, repairStories } from './repair-stories.ts'
import type { DocumentFile, DocumentStory, Documents, DocumentUse, Reading } from './types.ts'

/** UTF-16 units, not bytes: close enough for a limit. */
const MAX_TEXT = 5_000_000
export const MAX_STORIES = 2_000
/** Stories in all documents together, since several may describe the same story. */
export const MAX_READ = 5 * MAX_STORIES

/**
 * `branch`: the branch that is checked out, which may name one of several features; null to ignore it. `isStrict`: every mistake refuses
 * the plan, as for a page that a person edits right now. Otherwise a mistake costs its story or document, with a note. `isPart`: the
 * person has chosen a part already, and is not told which parts there are.
 */
type Options = { branch?: string | null; isStrict?: boolean; isPart?: boolean }

type Result = { ok: true; documents: Documents } | { ok: false; mistakes: Mistake[] }

export function readDocuments(
  files: readonly DocumentFile[],
  { branch = null, isStrict = false, isPart = false }: Options = {},
): Result {
  const refusal = sizeMistake(files)
  if (refusal !== null) return { ok: false, mistakes: [refusal] }
  const { readings, ...choice } = choosePlan(readEach(files), branch)
  const stories = readings.flatMap(({ reading }) => reading.stories)
  const mistakes = readings.flatMap(({ reading }) => reading.mistakes)
  const choices = [...readings.flatMap(({ reading }) => reading.choices), ...choice.mistakes]
  // Several plans side by side may use the same ids: joining them would report false contradictions.
  if (choices.length > 0) return { ok: false, mistakes: [...mistakes, ...choices] }
  if (mistakes.length > 0 && (isStrict || stories.length === 0)) return { ok: false, mistakes }
  // A document with too many stories stays too large, as stories of one document are never joined.
  const isMany = readings.some(({ reading }) => reading.stories.length > MAX_STORIES)
  if (isMany || stories.length > MAX_READ)
    return { ok: false, mistakes: [countMistake(stories.length, readings)] }
  const all = joinStories(stories)
  if (all.stories.length > MAX_STORIES)
    return { ok: false, mistakes: [countMistake(all.stories.length, readings)] }
  const notes = readings.flatMap(({ path, reading }) => reading.notes.map((note) => `${path}: ${note}`))
  notes.push(...mistakes.map((mistake) => noticeOf(mistake, 'Ralph leaves this out')))
  const isProse = ({ prose }: Reading<DocumentStory>) =>
    prose === 'only' || (prose === 'background' && stories.length === 0)
  const taken = readings.map((one) => documentUse(one, isProse(one.reading)))
  notes.push(...choice.notes, ...leftOutNotes(taken), ...all.notes)
  const feature = featureOf(readings, all.stories, notes, isStrict)
  if (!feature.ok) return feature
  const { prd, from } = feature
  const many = isPart ? null : manyStoriesNote(prd)
  if (many !== null) notes.unshift(many)
  const sources = from.flatMap((places, index) =>
    places.map(({ path, line, format }) => ({
      path,
      line,
      format,
      storyId: prd.userStories[index]?.id ?? '',
    })),
  )
  return {
    ok: true,
    documents: {
      prd,
      name: featureNameFrom(readings, choice.unit),
      context: renderContext(readings),
      sources,
      prose: readings.filter(({ reading }) => isProse(reading)).map(({ file }) => file),
      gates: Object.assign({}, ...readings.map(({ reading }) => reading.gates).reverse()),
      taken,
      notes,
    },
  }
}

function documentUse({ path, format, reading }: DocumentReading, isProse: boolean): DocumentUse {
  const { stories, prose, what, boxes, root, gates, context } = reading
  const isUsed = Object.keys(root).length > 0 || Object.keys(gates).length > 0 || context.length > 0
  const as =
    stories.length > 0 ? 'stories' : isProse || isUsed || prose === 'background' ? 'background' : 'left out'
  return { path, as, what: what ?? format, stories: stories.length, boxes }
}

/** A note for each kind of document that was left out, so that none is dropped silently. */
function leftOutNotes(taken: readonly DocumentUse[]): string[] {
  const kinds = new Map<string, DocumentUse[]>()
  for (const one of taken)
    if (one.as === 'left out') kinds.set(one.what, [...(kinds.get(one.what) ?? []), one])
  return [...kinds].map(([what, all]) => {
    const boxes = all.reduce((sum, one) => sum + one.boxes, 0)
    const paths = all.slice(0, 5).map(({ path }) => path)
    const words =
      boxes === 0
        ? ''
        : `, with ${formatCount(boxes, 'check box')} that ${boxes === 1 ? 'is not a task' : 'are not tasks'}`
    return `left out: ${paths.join(', ')}${all.length > 5 ? ` and ${all.length - 5} more` : ''} (${what}${words}).`
  })
}

function sizeMistake(files: readonly DocumentFile[]): Mistake | null {
  const [largest] = files.toSorted((a, b) => b.text.length - a.text.length)
  if (largest === undefined) {
    const fix = 'name files or folders: ralph plan --from docs'
    return { path: 'documents', found: 'there is no document to plan from.', expected: '', fix }
  }
  const size = files.reduce((sum, { text }) => sum + text.length, 0)
  if (size < MAX_TEXT) return null
  const found = `${(size / 1e6).toFixed(1)} MB of documents`
  const fix = 'name the files that hold the stories: ralph plan --from FILE'
  return { path: largest.path, found, expected: `less than ${MAX_TEXT / 1e6} MB in total`, fix }
}

function countMistake(count: number, readings: readonly DocumentReading[]): Mistake {
  const { path } = readings.reduce((a, b) => (b.reading.stories.length > a.reading.stories.length ? b : a))
  const [found, expected] = [`${count} stories in total`, `at most ${MAX_STORIES} in one feature`]
  return { path, found, expected, fix: 'plan only a part of them, such as one epic or one file' }
}

type Feature =
  | { ok: true; prd: Prd; from: readonly JoinedStory['from'][] }
  | { ok: false; mistakes: Mistake[] }

/** The validated feature, and the source of each of its stories. Adds remarks on changes to `notes`. */
function featureOf(
  readings: readonly DocumentReading[],
  joined: readonly JoinedStory[],
  notes: string[],
  isStrict: boolean,
): Feature {
  const found = rootOf(readings)
  if (joined.length === 0) return { ok: true, prd: emptyFeature(found.root), from: [] }
  const feature = isStrict ? { root: found.root, notes: [] } : repairFeature(found.root, found.placeOf)
  const { stories, ...repairs } = isStrict ? { stories: joined, notes: [] } : repairStories(joined)
  const draft = draftOf(feature.root, found.placeOf, stories, isStrict)
  const result = readDraft(draft, stories.length === 0 ? [noStoryLeft(joined)] : [], new Set())
  if (!result.ok) return result
  notes.push(...bounded(repairs.notes), ...feature.notes, ...result.notes)
  const prd = asImported(result.prd)
  const from = stories.map((story) => story.from)
  return { ok: true, prd: { ...prd, userStories: prd.userStories.map(markPlanned) }, from }
}

const MAX_REPAIRS = 100

function bounded(notes: readonly string[]): string[] {
  const more = notes.length - MAX_REPAIRS
  return more > 0
    ? [...notes.slice(0, MAX_REPAIRS), `${formatCount(more, 'more notice')} like these.`]
    : [...notes]
}

function noStoryLeft([first]: readonly JoinedStory[]): Mistake {
  const found = 'no story has a title or a description.'
  const fix = 'give each story a title or a description'
  return { path: first?.from[0].place() ?? 'documents', found, expected: '', fix }
}

function emptyFeature({ project, description }: Raw): Prd {
  return {
    ...{ schemaVersion: 2, branchName: '', run: emptyRun(), userStories: [] },
    project: typeof project === 'string' ? project : '',
    description: typeof description === 'string' ? description : '',
  }
}

/** The fields of the feature: the first document with a field wins; learnings of all documents are collected. */
function rootOf(readings: readonly DocumentReading[]): { root: Raw; placeOf: (key: string) => string } {
  const root: Raw = {}
  const from = new Map<string, string>()
  const learnings: unknown[] = []
  for (const { path, reading } of readings) {
    const { run, ...fields } = reading.root
    if (isObject(run) && Array.isArray(run.learnings)) learnings.push(...run.learnings)
    // Several documents may name epics, so their names are merged.
    if (isObject(fields.epics))
      fields.epics = { ...fields.epics, ...(isObject(root.epics) ? root.epics : {}) }
    if (isObject(fields.epics)) root.epics = fields.epics
    for (const [key, value] of Object.entries(fields)) {
      if (!isGiven(value) || value === '' || from.has(key)) continue
      root[key] = value
      from.set(key, path)
    }
  }
  root.run = { learnings: [...new Set(learnings)] }
  return { root, placeOf: (key) => `${from.get(key) ?? 'documents'}: ${key}` }
}

function draftOf(
  root: Raw,
  rootPath: Draft['rootPath'],
  stories: readonly JoinedStory[],
  isStrict: boolean,
): Draft {
  const urgencyOf = ({ from }: JoinedStory) => Math.min(...from.map(({ urgency }) => urgency))
  const byUrgency = stories.toSorted((a, b) => urgencyOf(a) - urgencyOf(b))
  const rank = new Map(byUrgency.map((story, index) => [story, index + 1]))
  return {
    root,
    list: stories.map((story) => ({ ...story.raw, priority: story.raw.priority ?? rank.get(story) })),
    rootPath,
    storyPath: (index, key) => stories[index]?.from[0].place(key) ?? 'documents',
    mayLackCriteria: (index) =>
      !isStrict || (stories[index]?.from.every(({ mayLackCriteria }) => mayLackCriteria) ?? false),
    imported: true,
    notes: [],
  }
}
