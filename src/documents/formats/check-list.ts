// Check lists (the progress files of plan/build Ralph, fix plans): each outer box is a story.
import { many } from '../../prd/migrate.ts'
import { boxLines, type Point, pointLines } from '../markdown.ts'
import type { Opened } from '../opened.ts'
import { type Format, planAt, type Reading, type ToldStory } from '../types.ts'
import { urgencyOf, withId } from '../words.ts'

export const checkList: Format = {
  name: 'check list',
  rank: 'listed',
  found: planAt('@?fix_plan.md|[^/]*_PROGRESS.md|(?:PRD|TODO|tasks|plan|IMPLEMENTATION_PLAN).md'),
  reads: ({ isMarkdown, blocks }) =>
    isMarkdown &&
    blocks.some(
      (block) => block.kind === 'points' && block.points.some((point) => boxLines(point).length > 0),
    ),
  read,
}

/** What is indented below a box are its criteria (items) and its description (text). A line RALPH_DONE is not believed. */
function read({ blocks }: Opened): Partial<Reading> {
  const stories: ToldStory[] = []
  const learnings: string[] = []
  let project: string | null = null
  let section = ''
  const take = (point: Point) => {
    if (point.done !== null) stories.push(storyOf(point, urgencyOf(section)))
    else {
      if (/^(notes|learnings|discoveries)\b/i.test(section) && point.text !== '') learnings.push(point.text)
      point.points.forEach(take)
    }
  }
  for (const block of blocks) {
    if (block.kind === 'points') block.points.forEach(take)
    else if (block.kind === 'heading') {
      project ??= block.text.replace(/^(?:progress|prd):?[ \t]*/i, '').trim()
      section = block.text
    }
  }
  const notes = [`${many(stories.length, 'box')} of the check list read as user stories.`]
  return { root: { project, run: { learnings } }, stories, notes }
}

function storyOf({ line, text, more, done, points }: Point, urgency: number): ToldStory {
  const { id, title } = withId(text) ?? { id: undefined, title: text }
  const acceptanceCriteria = points.flatMap(pointLines).filter((one) => one !== '')
  return { line, raw: { id, title, description: more.join('\n'), acceptanceCriteria, passes: done }, urgency }
}
