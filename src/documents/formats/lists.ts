// Lists of stories as data: prd.json in every known version, and tasks.yaml and the like in its shape.
import { mapTexts, shown } from '../../model/text.ts'
import { type Draft, isRaw, many, type Raw } from '../../prd/migrate.ts'
import { draftOf, draftPrd, looksLikeJson } from '../../prd/parse.ts'
import type { Mistake } from '../../system/errors.ts'
import { type Opened, place } from '../opened.ts'
import { type Format, planAt, type Reading, type ToldStory } from '../types.ts'

export const prdJson: Format = {
  name: 'prd.json',
  rank: 'made',
  found: planAt('prd\\.json'),
  // A folder of documents may hold any JSON.
  reads: ({ text, name }) =>
    looksLikeJson(text) && (/prd[^/]*$/i.test(name) || /"(?:userStories|tasks)"\s*:/.test(text)),
  read({ path, text }) {
    const { draft, mistakes } = draftPrd(text, path)
    return draft === null ? { mistakes } : readDraft(draft, mistakes, linesOfTitles(text, draft.list))
  },
}

/** From one title to the next: what is looked for in the whole rest of a file each time costs minutes. */
const FARTHEST = 100_000

/** Titles stand in the file in the order of the stories. */
function linesOfTitles(text: string, list: readonly unknown[]): number[] {
  let at = 0
  let line = 1
  return list.map((story) => {
    const title = isRaw(story) ? (story.title ?? story.id) : undefined
    const next = at + text.slice(at, at + FARTHEST).indexOf(JSON.stringify(title))
    for (; at < next; at += 1) if (text[at] === '\n') line += 1
    return line
  })
}

export const taskList: Format = {
  name: 'task list',
  found: planAt('(?:tasks|prd)\\.ya?ml'),
  reads: (document) => document.isYaml && listName(document) !== undefined,
  read(document) {
    const { path, fields, data } = document
    const { draft, mistakes } = draftOf(fields, path)
    if (draft === null) return { mistakes }
    const lines = draft.list.map((_, index) => data.data?.lineOf([listName(document) ?? '', index]) ?? 1)
    const storyPath = (index: number, key?: string) => place(path, lines[index] ?? 1, key)
    // A block of text ends with a line break.
    const list = draft.list.map((task) => mapTexts(task, (text) => text.trim()))
    return readDraft({ ...draft, list, storyPath }, mistakes, lines)
  },
}

function listName({ fields }: Opened): string | undefined {
  return ['userStories', 'tasks'].find((name) => Array.isArray(fields[name]))
}

function readDraft(draft: Draft, mistakes: Mistake[], lines: readonly number[]): Partial<Reading> {
  const stories: ToldStory[] = []
  for (const [index, raw] of draft.list.entries()) {
    const storyPlace = (key?: string) => draft.storyPath(index, key)
    if (!isRaw(raw)) {
      const fix = 'write {"id": "US-001", "title": "...", "acceptanceCriteria": ["..."]}'
      mistakes.push({ path: storyPlace(), found: shown(raw ?? undefined), expected: 'a user story', fix })
    } else {
      const mayLackCriteria = draft.mayLackCriteria(index)
      stories.push({ line: lines[index] ?? 1, place: storyPlace, raw, mayLackCriteria })
    }
  }
  const { root } = draft
  // What seed 1's generator wrote into the file: a proposal, never run from there.
  const gates = isRaw(root.config) ? commands(root.config.qualityGates) : {}
  const isTold = draft.notes.some((note) => note.includes('read as user stories'))
  const notes = [...(isTold ? [] : [`${many(stories.length, 'story')} read.`]), ...draft.notes]
  return { root, stories, notes, mistakes, gates }
}

/** Of a map by name, the entries that are commands. */
export function commands(from: unknown): Record<string, string> {
  const entries: [string, unknown][] = Object.entries(isRaw(from) ? (from satisfies Raw) : {})
  return Object.fromEntries(
    entries.flatMap(([name, command]): [string, string][] =>
      typeof command === 'string' && command.trim() !== '' ? [[name, command.trim()]] : [],
    ),
  )
}
