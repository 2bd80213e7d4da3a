// Reads every prd.json: text in, a Prd or all mistakes out. Markdown and YAML are read by plan/.
import * as z from 'zod/mini'
import type { Mistake } from '../../system/errors.ts'
import { faultOf } from '../../system/faults.ts'
import { nearest } from '../../system/nearest.ts'
import type { Prd, Story } from '../model/feature.ts'
import { isObject } from '../model/json.ts'
import { jsonFault } from '../model/json-fault.ts'
import { idFault } from '../model/safe-names.ts'
import { describeValue, findInvisible } from '../model/text.ts'
import { graphMistakes } from './graph.ts'
import { type Draft, formatCount, isGiven, migrate, type Raw } from './migrate.ts'
import { orderByGroup } from './parallel-groups.ts'
import { markImported, prdSchema, prdShape, storySchema, storyShape } from './schema.ts'
import { findInterfaceWords, UI_TAG } from './user-interface.ts'

const MAX_DEPTH = 64

/** The result of reading: a feature with notes on what was changed, or all mistakes. */
type ParsedPrd = { ok: true; prd: Prd; notes: string[] } | { ok: false; mistakes: Mistake[] }

/**
 * Reads any known format as version 2; never throws. `source` names the file in every mistake.
 * `gone`: ids of stories that people removed in the middle of a run. Stories may still depend on them; `mergePeople` drops those
 * dependencies.
 */
export function parsePrd(text: string, source: string, gone: ReadonlySet<string> = new Set()): ParsedPrd {
  const { draft, mistakes } = draftPrd(text, source)
  return draft === null ? { ok: false, mistakes } : readDraft(draft, mistakes, gone)
}

/** The file in the shape of version 2, not validated yet. Null if it has no such shape; then `mistakes` says why. */
export function draftPrd(text: string, source: string): { draft: Draft | null; mistakes: Mistake[] } {
  let value: unknown
  // Editors and PowerShell put a byte order mark in front.
  const json = text.replace(/^\ufeff/, '')
  try {
    value = parseJson(json)
  } catch (thrown) {
    const { line, column, ...fault } = jsonFault(json, thrown)
    return refusal({ path: `${source}: line ${line} column ${column}`, ...fault })
  }
  return draftOf(value, source)
}

/** Like `draftPrd` for a parsed value. */
export function draftOf(value: unknown, source: string): { draft: Draft | null; mistakes: Mistake[] } {
  if (!isObject(value)) {
    const fix = Array.isArray(value)
      ? 'put the list into {"userStories": [...]}'
      : 'write {"userStories": [...]}'
    return refusal({ path: source, found: describeValue(value), expected: 'an object', fix })
  }
  if (isDeeper(value, MAX_DEPTH)) {
    const found = `brackets nested more than ${MAX_DEPTH} deep`
    return refusal({ path: source, found, expected: 'a flatter file', fix: 'remove the nesting' })
  }
  const mistakes: Mistake[] = []
  return { draft: migrate(value, source, mistakes), mistakes }
}

function refusal(mistake: Mistake): { draft: null; mistakes: Mistake[] } {
  return { draft: null, mistakes: [mistake] }
}

/** Parses without fields called __proto__, in any spelling: an assignment that copies one would set the prototype. */
function parseJson(text: string): unknown {
  // The reviver costs time: it is used only if the text has the name, or an escape for one of its letters.
  const mayHaveProto = text.includes('__proto__') || /\\u00[57]/i.test(text)
  const withoutProto = (key: string, value: unknown) => (key === '__proto__' ? undefined : value)
  return JSON.parse(text, mayHaveProto ? withoutProto : undefined)
}

/** A broken JSON file may hold "- [ ]" in a text; Markdown does not begin like JSON. */
export function looksLikeJson(text: string): boolean {
  return /^\ufeff?\s*(?:[{"]|\[\s*(?:[{"[\]]|$))/.test(text)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

// ---- version 2 by its definition

/** The checked feature. `earlier` are mistakes found before; `gone` are ids that stories may still depend on. */
export function readDraft(draft: Draft, earlier: readonly Mistake[], gone: ReadonlySet<string>): ParsedPrd {
  const notes = [...draft.notes]
  const userStories = withDefaults(draft, notes)
  const checked = check({ ...draft.root, schemaVersion: 2, userStories }, draft)
  // Ids and dependencies are checked even if the rest of a story is wrong.
  const edges = userStories.map((story) => {
    const { id, dependsOn } = isObject(story) ? story : {}
    return { id: idOf(id), dependsOn: Array.isArray(dependsOn) ? dependsOn.map(idOf) : [] }
  })
  // Not push(...): a hostile file has more mistakes than a call may have arguments.
  const mistakes = earlier.concat(
    checked.ok ? [] : checked.mistakes,
    graphMistakes(edges, draft.storyPath, gone),
  )
  if (!checked.ok || mistakes.length > 0) return { ok: false, mistakes: withPlaces(mistakes, draft) }
  notes.push(...misspelledFields(draft), ...invisibleNotes(checked.prd))
  const prd = withInterface(checked.prd, draft, notes)
  if (!draft.imported) return { ok: true, prd, notes }
  const stories = prd.userStories.map(markImported)
  const passed = stories.filter((story, index) => story !== prd.userStories[index]).length
  if (passed > 0) notes.push(`${formatCount(passed, 'story')} imported as passed. No gate has checked this.`)
  return { ok: true, prd: { ...prd, userStories: stories }, notes }
}

const MAX_TAGGED = 20

/** Stories without tags in their file, and whose text asks for a page, get the tag `ui`; `notes` has each. */
function withInterface(prd: Prd, { list }: Draft, notes: string[]): Prd {
  const found: string[] = []
  const userStories = prd.userStories.map((story, index) => {
    const raw = list[index]
    if (story.passes || (isObject(raw) && isGiven(raw.tags))) return story
    const words = findInterfaceWords(story)
    if (words === null) return story
    found.push(`${story.id}: tag ${UI_TAG}, from '${words}'`)
    return { ...story, tags: [UI_TAG] }
  })
  notes.push(...found.slice(0, MAX_TAGGED))
  const more = found.length - MAX_TAGGED
  if (more > 0)
    notes.push(`${formatCount(more, 'more story')} got the tag ${UI_TAG}, because of words in their text.`)
  return found.length === 0 ? prd : { ...prd, userStories }
}

type Checked = { ok: true; prd: Prd } | { ok: false; mistakes: Mistake[] }

function check(value: unknown, draft: Draft): Checked {
  try {
    const result = z.safeParse(prdSchema, value, { reportInput: true })
    if (result.success) return { ok: true, prd: result.data }
    // The migration reports an empty list: it knows the name that the file has for it.
    const issues = result.error.issues.filter(({ path }) => path.length > 1 || path[0] !== 'userStories')
    return { ok: false, mistakes: issues.map((issue) => mistakeOf(issue, draft)) }
  } catch (error) {
    // zod hands its issues on as the arguments of one call: 100,000 and more exhaust the stack.
    if (!(error instanceof RangeError)) throw error
    const found = 'more mistakes than can be listed'
    return {
      ok: false,
      mistakes: [
        { path: draft.rootPath('userStories'), found, expected: 'user stories', fix: 'write the file again' },
      ],
    }
  }
}

/** What is wrong with one field of a story or of the feature. `found`: the value in words. */
export type FieldFault = { field: string } & Omit<Mistake, 'path'>

/** Every field of the story that is wrong by the definition of version 2. */
export function findStoryFaults(story: Raw): FieldFault[] {
  return fieldFaults(z.safeParse(storySchema, story, { reportInput: true }))
}

/** Every field of the feature that is wrong, without its stories. */
export function findFeatureFaults(root: Raw): FieldFault[] {
  const faults = fieldFaults(z.safeParse(prdSchema, { ...root, userStories: [] }, { reportInput: true }))
  return faults.filter(({ field }) => field !== 'userStories')
}

function fieldFaults(result: z.core.util.SafeParseResult<unknown>): FieldFault[] {
  if (result.success) return []
  return result.error.issues.map((issue) => ({ field: String(issue.path[0] ?? ''), ...wordsOf(issue) }))
}

function mistakeOf(issue: z.core.$ZodIssue, draft: Draft): Mistake {
  return { path: placeOf(issue.path, draft), ...wordsOf(issue) }
}

function wordsOf(issue: z.core.$ZodIssue): Omit<Mistake, 'path'> {
  const { code, input } = issue
  const { expected, fix, found = describeValue(input ?? undefined) } = faultOf(issue)
  const isLong = code === 'too_big' && typeof input === 'string'
  return { found: isLong ? `${input.length} characters` : found, expected, fix }
}

function placeOf(path: readonly PropertyKey[], draft: Draft): string {
  const [first, second, third] = path
  const inStory = first === 'userStories' && typeof second === 'number'
  const place = inStory
    ? draft.storyPath(second, third === undefined ? undefined : String(third))
    : draft.rootPath(String(first))
  const rest = path.slice(inStory ? 3 : 1)
  return place + rest.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
}

/** Splits the path of a story or of its field: `prd.json: userStories[2].tags`. */
const STORY_PATH = /^(.*: )?\w+\[(\d{1,9})\](?:\.(.*))?$/s

/** Adds the id of the story to mistakes in it, which is easier to find than a place in the list. An id that two stories have does not help. */
function withPlaces(mistakes: readonly Mistake[], { list, storyPath }: Draft): Mistake[] {
  const ids = list.map((raw) => (isObject(raw) ? idOf(raw.id) : ''))
  const firstOf = new Map(ids.map((id, at) => [id, at] as const).reverse())
  const twice = new Set(ids.filter((id, at) => firstOf.get(id) !== at))
  return mistakes.map((mistake) => {
    const [, file = '', position = '', field] = STORY_PATH.exec(mistake.path) ?? []
    const id = ids[Number(position)] ?? ''
    const isOwn = position !== '' && mistake.path.startsWith(storyPath(Number(position)))
    if (!isOwn || idFault(id) !== null || twice.has(id)) return mistake
    return { ...mistake, place: `${file}${id}${field === undefined ? '' : `, ${field}`}` }
  })
}

const MAX_SLIPS = 20
/** Stricter than with settings: the file may hold fields of any other tool, and `task` is not a slip for `tags`. */
const LETTERS_PER_SLIP = 12

/** Unknown fields that are spelled almost like a known field that is missing. */
function misspelledFields({ root, list }: Draft): string[] {
  const inList = list.flatMap((raw, index) => {
    const place = isObject(raw) ? idOf(raw.id) || `story ${index + 1}` : ''
    return isObject(raw) ? misspelledIn(raw, storyShape).map((slip) => `${place}: ${slip}`) : []
  })
  const found = [...misspelledIn(root, prdShape), ...inList]
  const more = found.length - MAX_SLIPS
  return more > 0 ? [...found.slice(0, MAX_SLIPS), `${formatCount(more, 'more field')} like these.`] : found
}

function misspelledIn(raw: Raw, shape: object): string[] {
  const unknown = Object.keys(raw).filter((key) => !Object.hasOwn(shape, key))
  return unknown.flatMap((key) => {
    const nearField = nearest(key, Object.keys(shape), LETTERS_PER_SLIP)
    if (nearField === null || isGiven(raw[nearField])) return []
    return [`Ralph does not read ${describeValue(key)}: did you mean ${describeValue(nearField)}?`]
  })
}

const MAX_HIDDEN = 20

/** Notes on invisible characters. The texts stay as people wrote them; prompts and pages leave such characters out. */
function invisibleNotes({ project, description, userStories }: Prd): string[] {
  const texts = [...textsOf({ project, description }), ...userStories.flatMap(storyTexts)]
  const found = texts.flatMap(([place, text]) =>
    findInvisible(text).map(
      ({ kind, count, at }) => `${place}: ${formatCount(count, kind)}, the first at character ${at}`,
    ),
  )
  const shown = found
    .slice(0, MAX_HIDDEN)
    .map((place) => `${place}: Ralph neither shows this nor puts it into prompts.`)
  const more = found.length - shown.length
  return more > 0
    ? [...shown, `${formatCount(more, 'more place')} with characters that are not shown.`]
    : shown
}

function storyTexts({
  id,
  epicId,
  title,
  description,
  acceptanceCriteria,
  tags,
  notes,
}: Story): [string, string][] {
  const fields = { epicId: epicId ?? '', title, description, acceptanceCriteria, tags, notes }
  return textsOf(fields).map(([name, text]) => [`${id} ${name}`, text])
}

function textsOf(fields: Readonly<Record<string, string | readonly string[]>>): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [[name, value] satisfies [string, string]]
      : value.map((text, index): [string, string] => [`${name}[${index}]`, text]),
  )
}

/** The list with the fields that a file may leave out: ids, priorities, and criteria if the format has none. */
function withDefaults(draft: Draft, notes: string[]): unknown[] {
  const nextId = freeIds(draft.list)
  let unnamed = 0
  const derived: number[] = []
  const stories = draft.list.map((raw, index) => {
    if (!isObject(raw)) return raw
    const story: Raw = { ...raw, priority: raw.priority ?? index + 1 }
    if (!isGiven(raw.id)) {
      story.id = nextId(index)
      unnamed += 1
    }
    const { acceptanceCriteria } = raw
    const isEmpty = Array.isArray(acceptanceCriteria) && acceptanceCriteria.length === 0
    if (draft.mayLackCriteria(index) && (isEmpty || !isGiven(acceptanceCriteria))) {
      const words = [raw.description, raw.title].find(
        (text) => typeof text === 'string' && text.trim() !== '',
      )
      // A story without words is refused for its title.
      story.acceptanceCriteria = [words ?? 'done']
      derived.push(index)
    }
    return story
  })
  if (unnamed > 0)
    notes.push(
      `${formatCount(unnamed, 'story')} had no id, so Ralph gave ${unnamed === 1 ? 'it' : 'them'} a number such as US-001.`,
    )
  if (derived.length > 0) {
    const places = derived.slice(0, 10).map((index) => draft.storyPath(index))
    notes.push(
      `${formatCount(derived.length, 'story')} had no acceptance criteria: Ralph uses the description or the title as the criterion (${places.join(', ')}${derived.length > 10 ? ' ...' : ''}). To improve this, write how to see that the story is done, such as "npm test passes".`,
    )
  }
  return draft.imported ? orderByGroup(stories, notes) : stories
}

/** The id for a place in the list: its number, or else the first free number after the list. */
function freeIds(list: readonly unknown[]): (index: number) => string {
  const taken = new Set(list.map((raw) => (isObject(raw) ? idOf(raw.id) : '')))
  let free = list.length
  return (index) => {
    let id = numbered(index + 1)
    while (taken.has(id)) {
      free += 1
      id = numbered(free)
    }
    taken.add(id)
    return id
  }
}

function numbered(position: number): string {
  return `US-${String(position).padStart(3, '0')}`
}

/** The id as it will be read, or '' for a value that cannot be one. */
function idOf(value: unknown): string {
  return typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : ''
}
