// Lists of stories as data: prd.json in every known version, and tasks.yaml and the like in its shape.
import { isObject } from '../../engine/model/json.ts'
import { describeValue, mapTexts } from '../../engine/model/text.ts'
import { type Draft, formatCount, LIST_NAMES, listNameOf, type Raw } from '../../engine/prd/migrate.ts'
import { draftOf, draftPrd, looksLikeJson } from '../../engine/prd/parse.ts'
import { doneFlagOf, stateFieldOf, stateOf } from '../../engine/prd/story-fields.ts'
import type { Mistake } from '../../system/errors.ts'
import { formatPlace, type OpenDocument } from '../open-document.ts'
import { type Format, type Mark, type ParsedStory, planPaths, type Reading } from '../types.ts'

const LIST_KEY = new RegExp(`"(?:${LIST_NAMES.join('|')})"\\s*:`)

export const prdJson: Format = {
  name: 'prd.json',
  rank: 'made',
  discoveryPath: planPaths('prd\\.json'),
  // A folder of documents may contain any JSON file.
  matches: ({ text, name }) => looksLikeJson(text) && (/prd[^/]*$/i.test(name) || LIST_KEY.test(text)),
  read(document) {
    const { draft, mistakes } = draftPrd(document.text, document.path)
    const line = listLine(document)
    if (draft === null) return { mistakes }
    return withMarks(
      readDraft(draft, mistakes, () => line),
      JSON.parse(document.text),
    )
  },
}

export const taskList: Format = {
  name: 'task list',
  discoveryPath: planPaths('(?:tasks|prd)\\.ya?ml'),
  matches: (document) => document.isYaml && listName(document) !== undefined,
  read(document) {
    const { path, fields } = document
    const { draft, mistakes } = draftOf(fields, path)
    if (draft === null) return { mistakes }
    const storyPath = (index: number, key?: string) => formatPlace(path, lineOf(document, index), key)
    // A block of text ends with a line break.
    const list = draft.list.map((task) => mapTexts(task, (text) => text.trim()))
    return withMarks(
      readDraft({ ...draft, list, storyPath }, mistakes, (index) => lineOf(document, index)),
      fields,
    )
  },
}

function lineOf(document: OpenDocument, index: number): number {
  return document.data.data?.lineOf([listName(document) ?? '', index]) ?? 1
}

/** The line where the list of a JSON file begins: a parser with positions takes four times as long. */
function listLine({ text }: OpenDocument): number {
  return text.slice(0, Math.max(0, text.search(LIST_KEY))).split('\n').length
}

function listName({ fields }: OpenDocument): string | undefined {
  return LIST_NAMES.find((name) => Array.isArray(fields[name]))
}

/** Adds a mark to each story, for the field that the file itself uses for done. */
function withMarks({ stories = [], ...reading }: Partial<Reading>, root: Raw): Partial<Reading> {
  const name = listNameOf(root) ?? ''
  const list: unknown[] = Array.isArray(root[name]) ? root[name] : []
  const word = doneWord(list)
  // Entries that are not stories are left out.
  const places = [...list.keys()].filter((index) => isObject(list[index]))
  const marked = stories.map((story, index): ParsedStory => {
    const place = places[index] ?? index
    const mark = doneField(list[place], word)
    return mark === null ? story : { ...story, marks: [{ ...mark, at: [name, place, ...mark.at] }] }
  })
  return { ...reading, stories: marked }
}

function doneField(entry: unknown, word: string): Extract<Mark, { kind: 'value' }> | null {
  if (!isObject(entry)) return null
  const flag = doneFlagOf(entry)
  if (flag !== null) return { kind: 'value', at: [flag.key], value: true }
  const state = stateFieldOf(entry)
  return state === null ? null : { kind: 'value', at: [state.key], value: word }
}

/** The word for done that the list itself uses. */
function doneWord(list: readonly unknown[]): string {
  const words = list.flatMap((entry) => (isObject(entry) ? (stateFieldOf(entry)?.words ?? []) : []))
  return words.find((one) => stateOf(one) === 'done') ?? 'done'
}

function readDraft(draft: Draft, mistakes: Mistake[], lineOf: (index: number) => number): Partial<Reading> {
  const stories: ParsedStory[] = []
  for (const [index, raw] of draft.list.entries()) {
    const storyPlace = (key?: string) => draft.storyPath(index, key)
    if (!isObject(raw)) {
      const fix = 'write {"id": "US-001", "title": "...", "acceptanceCriteria": ["..."]}'
      mistakes.push({
        path: storyPlace(),
        found: describeValue(raw ?? undefined),
        expected: 'a user story',
        fix,
      })
    } else {
      const mayLackCriteria = draft.mayLackCriteria(index)
      stories.push({ line: lineOf(index), place: storyPlace, raw, mayLackCriteria })
    }
  }
  const { root } = draft
  const { metadata } = root
  const madeFrom =
    isObject(metadata) && typeof metadata.sourcePrd === 'string'
      ? metadata.sourcePrd.replace(/^(?:\.\/)+/, '')
      : null
  // The generator of the Ralph for BMAD writes commands into the file. They are only a proposal for gates.
  const gates = isObject(root.config) ? readCommands(root.config.qualityGates) : {}
  const isReported = draft.notes.some((note) => note.includes('read as user stories'))
  const notes = [...(isReported ? [] : [`${formatCount(stories.length, 'story')} read.`]), ...draft.notes]
  return { root, stories, notes, mistakes, gates, madeFrom }
}

/** The entries of a map that are command lines, by name. */
export function readCommands(from: unknown): Record<string, string> {
  const entries: [string, unknown][] = Object.entries(isObject(from) ? (from satisfies Raw) : {})
  return Object.fromEntries(
    entries.flatMap(([name, command]): [string, string][] =>
      typeof command === 'string' && command.trim() !== '' ? [[name, command.trim()]] : [],
    ),
  )
}
