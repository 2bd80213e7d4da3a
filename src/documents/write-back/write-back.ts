// What an outcome leaves in the documents that a feature was planned from: the marks of the stories that have passed.
import type { Prd, Story } from '../../model/feature.ts'
import type { DocumentFile } from '../types.ts'
import { sameWords } from '../words.ts'
import { type Placed, placesOf } from './match-stories.ts'
import { passedHere } from './passed-stories.ts'
import { setMarks, type WantedMark } from './set-marks.ts'

/** `unmarked`: ids of stories that passed and are marked in no document, for their marks are not where they were. */
export type WrittenBack = { texts: Map<string, string>; unmarked: string[] }

/** The documents that change, by path. `files` are those of the commit: what people and agents changed meanwhile is in them. */
export function writeBack(files: readonly DocumentFile[], prd: Pick<Prd, 'userStories'>): WrittenBack {
  const done = passedHere(prd.userStories)
  const { placed, lost } = placesOf(files, prd)
  const wanted = new Map<string, WantedMark[]>()
  for (const one of placed) if (done.has(one.story)) collect(one, wanted)
  const texts = new Map<string, string>()
  const unmarked = new Set(lost.filter((story) => done.has(story)).map(({ id }) => id))
  for (const { path, text } of files) {
    const marks = wanted.get(path)
    if (marks === undefined) continue
    const { text: after, unset } = setMarks(text, marks, /\.(?:md|markdown)$/i.test(path))
    for (const { storyId } of unset) unmarked.add(storyId)
    if (after !== text) texts.set(path, after)
  }
  return { texts, unmarked: [...unmarked] }
}

function collect({ story, read }: Placed, wanted: Map<string, WantedMark[]>): void {
  for (const { path, marks, raw } of read) {
    // A box is looked at by itself: of a group the last one may be open.
    const open = marks.filter((mark) =>
      mark.kind === 'box' ? hasTask(story, mark.task) : raw.passes !== true,
    )
    const about = { storyId: story.id, commit: story.lastResult?.commit ?? null }
    wanted.set(path, [...(wanted.get(path) ?? []), ...open.map((mark) => ({ mark, ...about }))])
  }
}

function hasTask({ description, acceptanceCriteria }: Story, task: string | undefined): boolean {
  if (task === undefined) return true
  const words = (text: string) => ` ${sameWords(text)} `
  return [description, ...acceptanceCriteria].some((text) =>
    text.split('\n').some((line) => words(line).includes(words(task))),
  )
}
