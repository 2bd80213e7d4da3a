// At an outcome, marks passed stories in the documents that the feature was planned from.
import type { Prd, Story } from '../../engine/model/feature.ts'
import { normalizeWords } from '../story-words.ts'
import type { DocumentFile } from '../types.ts'
import { type LocatedStory, locateStories } from './match-stories.ts'
import { passedByRalph } from './passed-stories.ts'
import { type MarkRequest, setMarks } from './set-marks.ts'

/** `texts`: new texts by path. `unmarked`: ids of passed stories that could not be marked, as their places in the documents are gone. */
export type WrittenBack = { texts: Map<string, string>; unmarked: string[] }

/** Marks passed stories in the documents. `files`: the documents in the commit, with later changes of people and agents. */
export function writeBack(files: readonly DocumentFile[], prd: Pick<Prd, 'userStories'>): WrittenBack {
  const done = passedByRalph(prd.userStories)
  const { placed, lost } = locateStories(files, prd)
  const wanted = new Map<string, MarkRequest[]>()
  for (const one of placed) if (done.has(one.story)) addMarks(one, wanted)
  const texts = new Map<string, string>()
  const open = openLines(placed, done)
  const unmarked = new Set(lost.filter((story) => done.has(story)).map(({ id }) => id))
  for (const { path, text } of files) {
    const marks = wanted.get(path)
    if (marks === undefined) continue
    const isMarkdown = /\.(?:md|markdown)$/i.test(path)
    const { text: after, unset } = setMarks(text, marks, isMarkdown, open.get(path))
    for (const { storyId } of unset) unmarked.add(storyId)
    if (after !== text) texts.set(path, after)
  }
  return { texts, unmarked: [...unmarked] }
}

/** By path, the lines of stories that have not passed, since an agent may have ticked their boxes. */
function openLines(placed: readonly LocatedStory[], done: ReadonlySet<Story>): Map<string, Set<number>> {
  const open = new Map<string, Set<number>>()
  for (const { story, read } of placed) {
    if (done.has(story) || story.passes) continue
    for (const { path, line } of read) open.set(path, (open.get(path) ?? new Set()).add(line))
  }
  return open
}

function addMarks({ story, read }: LocatedStory, wanted: Map<string, MarkRequest[]>): void {
  const words = plannedWords(story)
  for (const { path, marks, raw } of read) {
    // Boxes are always checked: of a group the last one may be open. So are marks that depend on other boxes, which an agent may have
    // ticked. Other marks are only needed if the document does not show the story as done.
    const open = marks.filter((mark) => {
      if (mark.kind !== 'box') return raw.passes !== true || 'whenAll' in mark
      return mark.task === undefined || words.includes(` ${normalizeWords(mark.task)} `)
    })
    const about = { storyId: story.id, commit: story.lastResult?.commit ?? null }
    wanted.set(path, [...(wanted.get(path) ?? []), ...open.map((mark) => ({ mark, ...about }))])
  }
}

/** The normalized lines of the story as planned, each between spaces. */
function plannedWords({ description, acceptanceCriteria }: Story): string {
  const lines = [description, ...acceptanceCriteria].flatMap((text) => text.split('\n'))
  return lines.map((line) => ` ${normalizeWords(line)} `).join('\n')
}
