// Check lists (the progress files of plan/build Ralph, fix plans): each outer box is a story.
import { many } from '../../prd/migrate.ts'
import type { Point } from '../markdown.ts'
import type { Opened } from '../opened.ts'
import { place, planAt } from '../places.ts'
import { type Format, type Reading, type ReadStory, reading } from '../types.ts'
import { urgencyOf, withId } from '../words.ts'
import { storyHeadings } from './story-headings.ts'

export const checkList: Format = {
  name: 'check list',
  found: planAt('@?fix_plan.md|[^/]*_PROGRESS.md|(?:PRD|TODO|tasks|plan|IMPLEMENTATION_PLAN).md'),
  reads: (document) => document.isMarkdown && hasBoxes(document),
  read,
}

function hasBoxes({ blocks }: Opened): boolean {
  return blocks.some((block) => block.kind === 'points' && block.points.some(hasBox))
}

function hasBox({ done, points }: Point): boolean {
  return done !== null || points.some(hasBox)
}

/** What is indented below a box are its criteria (items) and its description (text). A line RALPH_DONE is not believed. */
function read(document: Opened): Reading {
  const stories: ReadStory[] = []
  const learnings: string[] = []
  let project: string | null = null
  let section = ''
  let claimsDone = false
  const take = (point: Point) => {
    if (point.done !== null) stories.push(storyOf(document, point, point.done, urgencyOf(section)))
    else {
      if (/^(notes|learnings|discoveries)\b/i.test(section) && point.text !== '') learnings.push(point.text)
      point.points.forEach(take)
    }
  }
  for (const block of document.blocks) {
    if (block.kind === 'points') block.points.forEach(take)
    else if (block.kind === 'words') claimsDone ||= block.lines.includes('RALPH_DONE')
    else if (block.kind === 'heading') {
      project ??= block.text.replace(/^(?:progress|prd):?[ \t]*/i, '').trim()
      section = block.text
    }
  }
  const notes = [`${many(stories.length, 'box')} of the check list read as user stories.`]
  const open = stories.filter(({ raw }) => raw.passes !== true).length
  if (claimsDone)
    notes.push(`RALPH_DONE is not believed: the boxes count, and ${open} of ${stories.length} are open.`)
  const headings = storyHeadings(document.blocks)
  if (headings.length > 0) {
    const named = headings.slice(0, 10).map(({ id, line }) => `${id} (line ${line})`)
    const were = headings.length === 1 ? 'was not read as a story' : 'were not read as stories'
    notes.push(`${named.join(', ')} ${were}: boxes of this file have ids of their own.`)
  }
  return reading({ root: { project, run: { learnings } }, stories, notes })
}

function storyOf({ path }: Opened, point: Point, passes: boolean, urgency: number): ReadStory {
  const { line, text, more, points } = point
  const { id, title } = withId(text) ?? { id: undefined, title: text }
  const acceptanceCriteria = points.flatMap(wordsOf).filter((one) => one !== '')
  return {
    path,
    line,
    format: checkList.name,
    rank: 'listed',
    standing: 'written',
    place: (key) => place(path, line, key),
    raw: { id, title, description: more.join('\n'), acceptanceCriteria, passes },
    urgency,
    mayLackCriteria: true,
  }
}

/** The words of an item and of each below it. */
function wordsOf({ text, more, points }: Point): string[] {
  return [[text, ...more].join(' '), ...points.flatMap(wordsOf)]
}
