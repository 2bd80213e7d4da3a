// Check lists (progress files of plan/build Ralph, fix plans, plans of coding agents).
import { isTaskList } from '../document-kinds.ts'
import type { Block } from '../markdown-lists.ts'
import type { OpenDocument } from '../open-document.ts'
import { type Format, type Mark, type ParsedStory, planPaths, type Reading } from '../types.ts'
import { planOfProgress } from './background.ts'
import { hasTaskHeading, readTaskList } from './task-list.ts'
import { hasBox } from './task-section.ts'

export const checkList: Format = {
  name: 'check list',
  rank: 'listed',
  discoveryPath: planPaths('@?fix_plan.md|[^/]*_PROGRESS.md|(?:PRD|TODO|tasks|plan|IMPLEMENTATION_PLAN).md'),
  matches: (document) =>
    document.isMarkdown &&
    (isTaskList(document) || document.file.as === 'stories') &&
    (document.blocks.some(hasBox) || hasTaskHeading(document.blocks)),
  read,
}

/** Items below a box are its criteria, text below it is its description. A line RALPH_DONE is ignored, since only boxes count. */
function read(document: OpenDocument): Partial<Reading> {
  const { blocks, file, path } = document
  const { project, root, stories = [], ...reading } = readTaskList(document)
  return {
    ...reading,
    root: { ...root, project },
    stories: planOfProgress(path) === null ? stories : withStatus(stories, blocks),
    isLoose: file.isNamed !== true && file.as === undefined,
  }
}

/** Adds a mark that sets the status line of a progress file when all of its boxes are ticked. */
function withStatus(stories: readonly ParsedStory[], blocks: readonly Block[]): ParsedStory[] {
  const status = blocks.find((block) => block.kind === 'words' && block.lines[0] === 'IN_PROGRESS')
  if (status === undefined) return [...stories]
  const { line } = status
  const whenAll = stories.flatMap(({ marks = [] }) =>
    marks.flatMap((mark) => (mark.kind === 'box' ? [mark.line] : [])),
  )
  const mark: Mark = { kind: 'words', line, value: 'RALPH_DONE', whenAll }
  return stories.map((story) => ({ ...story, marks: [...(story.marks ?? []), mark] }))
}
