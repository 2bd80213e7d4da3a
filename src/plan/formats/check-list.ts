// Check lists (progress files of plan/build Ralph, fix plans): each outer box is a story, unless its heading says that it is no work.
import { formatCount } from '../../engine/prd/migrate.ts'
import { isTaskList } from '../document-kinds.ts'
import { type Block, boxLines, type Heading, type Point, pointLines } from '../markdown-lists.ts'
import type { OpenDocument } from '../open-document.ts'
import { isNonWorkHeading } from '../sections.ts'
import { findStoryIds, parseLeadingId, urgencyOf, withoutEmphasis } from '../story-words.ts'
import { type Format, type Mark, type ParsedStory, planPaths, type Reading } from '../types.ts'
import { planOfProgress } from './background.ts'

/** A plan with more boxes gets a note. */
const MANY_BOXES = 100

export const checkList: Format = {
  name: 'check list',
  rank: 'listed',
  discoveryPath: planPaths('@?fix_plan.md|[^/]*_PROGRESS.md|(?:PRD|TODO|tasks|plan|IMPLEMENTATION_PLAN).md'),
  matches: (document) =>
    document.isMarkdown && (isTaskList(document) || document.file.as === 'stories') && hasBox(document),
  read,
}

function hasBox({ blocks }: OpenDocument): boolean {
  return blocks.some(
    (block) => block.kind === 'points' && block.points.some((point) => boxLines(point).length > 0),
  )
}

/** Items below a box are its criteria, text below it is its description. A line RALPH_DONE is ignored, since only boxes count. */
function read({ blocks, file, path }: OpenDocument): Partial<Reading> {
  const stories: ParsedStory[] = []
  const learnings: string[] = []
  const left = new Map<string, number[]>()
  let project: string | null = null
  let above: Heading[] = []
  const take = (point: Point, section: string, noWork: string | null) => {
    if (noWork !== null) left.set(noWork, [...(left.get(noWork) ?? []), ...boxLines(point)])
    else if (point.done !== null) stories.push(storyOf(point, urgencyOf(section)))
    else {
      if (/^(notes|learnings|discoveries)\b/i.test(section) && point.text !== '') learnings.push(point.text)
      for (const inner of point.points) take(inner, section, noWork)
    }
  }
  for (const block of blocks) {
    if (block.kind === 'points') {
      const section = above.at(-1)?.text ?? ''
      const heading = above.find(({ level, text }) => level > 1 && isNonWorkHeading(text))
      const noWork = file.as === 'stories' || heading === undefined ? null : withoutEmphasis(heading.text)
      for (const point of block.points) {
        const isBoxed = noWork !== null && boxLines(point).length > 0
        take(point, section, isBoxed ? noWork : null)
      }
    } else if (block.kind === 'heading') {
      project ??= block.text.replace(/^(?:progress|prd):?[ \t]*/i, '').trim()
      above = [...above.filter(({ level }) => level < block.level), block]
    }
  }
  const count = [...left.values()].flat().length
  const notes = [`${formatCount(stories.length, 'box')} of the check list read as user stories.`]
  if (stories.length > MANY_BOXES)
    notes.push(
      `${stories.length} stories are many for one feature: --stories or --epic takes a part of them.`,
    )
  for (const [heading, lines] of left)
    notes.push(
      `left out: ${formatCount(lines.length, 'box')} below "${heading}" (line ${lines.slice(0, 5).join(', ')}${lines.length > 5 ? ' ...' : ''}).`,
    )
  return {
    root: { project, run: { learnings } },
    stories: planOfProgress(path) === null ? stories : withStatus(stories, blocks),
    notes,
    boxes: count,
    isLoose: file.isNamed !== true && file.as === undefined,
    ...(stories.length === 0 ? { prose: 'background' as const } : {}),
  }
}

/** Adds a mark that sets the status line of a progress file when all of its boxes are ticked. */
function withStatus(stories: readonly ParsedStory[], blocks: readonly Block[]): ParsedStory[] {
  const status = blocks.find((block) => block.kind === 'words' && block.lines[0] === 'IN_PROGRESS')
  if (status === undefined) return [...stories]
  const { line } = status
  const whenAll = stories.map((story) => story.line)
  const mark: Mark = { kind: 'words', line, value: 'RALPH_DONE', whenAll }
  return stories.map((story) => ({ ...story, marks: [...(story.marks ?? []), mark] }))
}

const needs = /[([](?:depends on|after|blocked by|requires)[: \t]+([^)\]]{1,200})[)\]]/i

function storyOf({ line, text, more, done, points }: Point, urgency: number): ParsedStory {
  const { id, title } = parseLeadingId(text) ?? { id: undefined, title: text }
  const acceptanceCriteria = points.flatMap(pointLines).filter((one) => one !== '')
  const dependsOn = findStoryIds(needs.exec(title)?.[1] ?? '', id ?? '')
  return {
    line,
    raw: {
      ...{ id, description: more.join('\n'), acceptanceCriteria, passes: done },
      title: dependsOn.length > 0 ? title.replace(needs, '').trim() : title,
      ...(dependsOn.length > 0 ? { dependsOn } : {}),
    },
    urgency,
    marks: [{ kind: 'box', line }],
  }
}
