// The table of formats: a new one is a file and a line here. The first that reads a file takes it.
import { background, learned, passagesOf, prose } from './formats/beside.ts'
import { checkList } from './formats/check-list.ts'
import { issues } from './formats/issues.ts'
import { prdJson, taskList } from './formats/lists.ts'
import { otherSettings } from './formats/other-settings.ts'
import { ownPage } from './formats/own-page.ts'
import { sprintTracker } from './formats/sprint-tracker.ts'
import { storyFile } from './formats/story-file.ts'
import { storyHeading } from './formats/story-headings.ts'
import { Opened, place, unparsable } from './opened.ts'
import type { DocumentFile, Format, Reading, ReadStory } from './types.ts'

export const formats: readonly Format[] = [
  otherSettings,
  issues,
  prdJson,
  taskList,
  sprintTracker,
  learned,
  ownPage,
  storyFile,
  storyHeading,
  checkList,
  background,
  prose,
]

const NOTHING: Reading<never> = {
  ...{ root: {}, stories: [], context: [], gates: {}, notes: [], mistakes: [] },
  prose: 'none',
}

/** What the document says, by the first format that reads it. Every file is read by the last. */
export function readDocument(file: DocumentFile): Reading<ReadStory> {
  const document = new Opened(file)
  const { path, isMarkdown, text } = document
  // What no parser should be given, and a file of a known place that is broken.
  if (isMarkdown) {
    const mistakes = unparsable(path, text)
    if (mistakes.length > 0) return { ...NOTHING, mistakes }
  } else if (document.isYaml && documentsAmong([path]).length > 0 && document.data.mistakes.length > 0)
    return { ...NOTHING, mistakes: document.data.mistakes }
  const { read, name: format, rank = 'planned' } = formats.find((one) => one.reads(document)) ?? prose
  const { stories = [], ...found } = read(document)
  const reading = {
    ...NOTHING,
    ...found,
    stories: stories.map(
      (story): ReadStory => ({
        ...{ path, format, rank, urgency: 1, isTracked: false, mayLackCriteria: true },
        place: (key) => place(path, story.line, key),
        ...story,
      }),
    ),
  }
  if (!isMarkdown) return reading
  return { ...reading, context: [...reading.context, ...passagesOf(document, stories.length > 0)] }
}

/** Of a repository's paths those that are documents known by their name or place (found by itself), best first. */
export function documentsAmong(paths: readonly string[]): string[] {
  const found = paths.filter(isPlace).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const formatOf = (path: string) => formats.find((format) => format.found?.test(path))
  return formats.flatMap((format) => found.filter((path) => formatOf(path) === format))
}

/** Not what a tool installed or somebody vendored, nor what people put aside, nor a report on documents. */
function isPlace(path: string): boolean {
  const isAside = /\.(?:superseded|retired|archived|obsolete|old|bak)\.[a-z]+$|[-_]report[^/]*$/i.test(path)
  return !isAside && !/(?:^|\/)(?:node_modules|vendor|dist|build|\.git|archive)\//.test(path)
}
