// At an outcome, marks passed stories in the documents that the feature was planned from.
import type { Prd, Story } from '../../engine/model/feature.ts'
import { normalizeWords } from '../story-words.ts'
import type { DocumentFile } from '../types.ts'
import { type LocatedStory, locateStories } from './match-stories.ts'
import { passedByRalph } from './passed-stories.ts'
import { type MarkRequest, setMarks } from './set-marks.ts'

/** `texts`: new texts by path. `unmarked`: ids of passed stories that could not be marked, because the documents no longer have them. */
export type WrittenBack = { texts: Map<string, string>; unmarked: string[] }

/** Marks passed stories in the documents. `files`: the documents in the commit, with later changes of people and agents. */
export function writeBack(files: readonly DocumentFile[], prd: Pick<Prd, 'userStories'>): WrittenBack {
  const passed = passedByRalph(prd.userStories)
  const { placed, lost } = locateStories(files, prd)
  const requests = new Map<string, MarkRequest[]>()
  const shared = findSharedLines(placed, passed)
  for (const located of placed) if (passed.has(located.story)) addMarks(located, requests, shared)
  const texts = new Map<string, string>()
  const openLines = findOpenLines(placed, passed)
  const unmarked = new Set(lost.filter((story) => passed.has(story)).map(({ id }) => id))
  for (const { path, text } of files) {
    const marks = requests.get(path)
    if (marks === undefined) continue
    const isMarkdown = /\.(?:md|markdown)$/i.test(path)
    const { text: newText, unset } = setMarks(text, marks, isMarkdown, openLines.get(path))
    for (const { storyId } of unset) unmarked.add(storyId)
    if (newText !== text) texts.set(path, newText)
  }
  return { texts, unmarked: [...unmarked] }
}

/** By path, the lines of stories that have not passed. An agent may have ticked their boxes. */
function findOpenLines(
  placed: readonly LocatedStory[],
  passed: ReadonlySet<Story>,
): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>()
  for (const { story, read } of placed) {
    if (passed.has(story) || story.passes) continue
    for (const { path, line } of read) found.set(path, (found.get(path) ?? new Set()).add(line))
  }
  return found
}

/** `path:line` of the boxes that also belong to a story that is still open. */
function findSharedLines(placed: readonly LocatedStory[], passed: ReadonlySet<Story>): Set<string> {
  const open = placed.filter(({ story }) => !passed.has(story) && !story.passes)
  return new Set(
    open.flatMap(({ read }) =>
      read.flatMap(({ path, marks }) =>
        marks.flatMap((mark) =>
          mark.kind === 'box' && !('whenAll' in mark) ? [`${path}:${mark.line}`] : [],
        ),
      ),
    ),
  )
}

function addMarks(
  { story, read }: LocatedStory,
  requests: Map<string, MarkRequest[]>,
  shared: ReadonlySet<string>,
): void {
  const words = plannedWords(story)
  for (const { path, marks, raw } of read) {
    // A document that shows the story as done may still have an open box, or a mark that waits for other boxes (`whenAll`). An agent may
    // have ticked those. So these two kinds are always requested.
    const requested = marks.filter((mark) => {
      if (mark.kind === 'box' && shared.has(`${path}:${mark.line}`)) return false
      if (mark.kind !== 'box') return raw.passes !== true || 'whenAll' in mark
      return mark.task === undefined || words.includes(` ${normalizeWords(mark.task)} `)
    })
    const result = { storyId: story.id, commit: story.lastResult?.commit ?? null }
    const added = requested.map((mark) => ({ mark, ...result }))
    requests.set(path, [...(requests.get(path) ?? []), ...added])
  }
}

/** The normalized lines of the story as planned, each between spaces. */
function plannedWords({ description, acceptanceCriteria }: Story): string {
  const lines = [description, ...acceptanceCriteria].flatMap((text) => text.split('\n'))
  return lines.map((line) => ` ${normalizeWords(line)} `).join('\n')
}
