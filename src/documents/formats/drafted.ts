// From the draft of a prd.json, or of a list in its shape, to what a document says.
import { shown } from '../../model/text.ts'
import { type Draft, isRaw, many, type Raw } from '../../prd/migrate.ts'
import type { Mistake } from '../../system/errors.ts'
import { type Reading, type ReadStory, reading } from '../types.ts'

/** The draft's stories as the document's. `lineOf` is asked for one after the other. */
export function readStories(
  draft: Draft,
  earlier: readonly Mistake[],
  where: Pick<ReadStory, 'path' | 'format' | 'rank'>,
  lineOf: (story: Raw, index: number) => number,
): Reading {
  const mistakes = [...earlier]
  const stories: ReadStory[] = []
  for (const [index, raw] of draft.list.entries()) {
    const place = (key?: string) => draft.storyPath(index, key)
    if (!isRaw(raw)) {
      const fix = 'write {"id": "US-001", "title": "...", "acceptanceCriteria": ["..."]}'
      mistakes.push({ path: place(), found: shown(raw ?? undefined), expected: 'a user story', fix })
      continue
    }
    const mayLackCriteria = draft.mayLackCriteria(index)
    stories.push({
      ...where,
      standing: 'written',
      line: lineOf(raw, index),
      place,
      raw,
      urgency: 1,
      mayLackCriteria,
    })
  }
  const isTold = draft.notes.some((note) => note.includes('read as user stories'))
  const notes = [...(isTold ? [] : [`${many(stories.length, 'story')} read.`]), ...draft.notes]
  return reading({ root: draft.root, stories, notes, mistakes, gates: gatesOf(draft.root) })
}

/** What seed 1's generator wrote into the file: a proposal, never run from there. */
function gatesOf({ config }: Raw): Record<string, string> {
  const gates = isRaw(config) && isRaw(config.qualityGates) ? config.qualityGates : {}
  return commands(gates)
}

/** The entries that are commands. */
export function commands(from: Raw): Record<string, string> {
  return Object.fromEntries(
    Object.entries(from).flatMap(([name, command]): [string, string][] =>
      typeof command === 'string' && command.trim() !== '' ? [[name, command.trim()]] : [],
    ),
  )
}
