// Takes back marks that a session set for stories it did not work on: a later plan would believe them.
import type { Prd } from '../../engine/model/feature.ts'
import type { DocumentFile, Mark } from '../types.ts'
import { type LocatedStory, locateStories } from './match-stories.ts'
import { markedText, replaceMark } from './set-marks.ts'

/**
 * The texts with the marks of open stories as they were before, by path; only texts that change. `before` and `after`: the same
 * documents around a session; `worked`: the id of the story that it worked on.
 */
export function restoreMarks(
  before: readonly DocumentFile[],
  after: readonly DocumentFile[],
  prd: Pick<Prd, 'userStories'>,
  worked: string,
): Map<string, string> {
  const texts = new Map(after.map(({ path, text }) => [path, text]))
  const earlier = new Map(before.map(({ path, text }) => [path, text]))
  const placesBefore = new Map(locateStories(before, prd).placed.map((one) => [one.story.id, one]))
  const changed = new Map<string, string>()
  for (const located of locateStories(after, prd).placed) {
    const { story, read } = located
    const known = placesBefore.get(story.id)
    if (story.passes || story.id === worked || known === undefined) continue
    for (const { path, marks } of read) {
      const [old, text] = [earlier.get(path), texts.get(path)]
      const oldMarks = marksAt(known, path)
      if (old === undefined || text === undefined || oldMarks.length !== marks.length) continue
      const restored = marks.reduce(
        (now, mark, index) => restoreMark(now, mark, old, oldMarks[index], path),
        text,
      )
      if (restored === text) continue
      texts.set(path, restored)
      changed.set(path, restored)
    }
  }
  return changed
}

function marksAt({ read }: LocatedStory, path: string): readonly Mark[] {
  return read.find((one) => one.path === path)?.marks ?? []
}

function restoreMark(text: string, mark: Mark, old: string, oldMark: Mark | undefined, path: string): string {
  if (oldMark?.kind !== mark.kind) return text
  const isMarkdown = /\.(?:md|markdown)$/i.test(path)
  const was = markedText(old, oldMark, isMarkdown)
  const is = markedText(text, mark, isMarkdown)
  return was === null || is === null || was === is ? text : replaceMark(text, mark, was, isMarkdown)
}
