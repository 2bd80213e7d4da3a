// Markdown with a heading for each user story (the prd.md and epics.md of several tools): what stands below is the story.
import { many, type Raw } from '../../prd/migrate.ts'
import type { Block, Heading, Point, Points } from '../markdown.ts'
import type { Opened } from '../opened.ts'
import { place, planAt } from '../places.ts'
import { type Format, type Reading, type ReadStory, reading } from '../types.ts'
import { epicOf, isStoryId, plain, type StoryTitle, storyTitle, urgencyOf, withId } from '../words.ts'
import { StorySection } from './story-section.ts'

export const storyHeading: Format = {
  name: 'headings',
  found: new RegExp(
    `${planAt('(?:epics?|prd|stories|sprint-plan)(?:[-_.][^/]*)?.md').source}|^docs/(?:prd|epics)/[^/]+.md$`,
    'i',
  ),
  reads: ({ isMarkdown, blocks }) =>
    isMarkdown && storyHeadings(blocks).length > 0 && !headingsOverIds(blocks),
  read,
}

type Titled = StoryTitle & { line: number; level: number }

/** The headings (level 2 to 4) that name a story. */
export function storyHeadings(blocks: readonly Block[]): Titled[] {
  return blocks.flatMap((block) => (block.kind === 'heading' ? (titled(block) ?? []) : []))
}

function titled({ level, line, text }: Heading): Titled | null {
  const title = level < 2 || level > 4 ? null : storyTitle(text)
  return title === null ? null : { ...title, line, level }
}

/** Whether the boxes below the headings are the stories, by ids of their own. */
function headingsOverIds(blocks: readonly Block[]): boolean {
  const points = blocks.flatMap((block) => (block.kind === 'points' ? block.points : []))
  const boxes = points.filter(({ done }) => done !== null)
  const own = boxes.filter(({ text }) => {
    const id = withId(text)?.id
    return id !== undefined && isStoryId(id)
  })
  return own.length > 0 && own.length * 2 >= boxes.length
}

type Item = { story: StorySection; title: Titled; urgency: number; epicId: string | null }

type Sheet = {
  project: string
  description: string[]
  items: Item[]
  /** Lines of boxes that belong to no story. */
  strays: number[]
}

function read(document: Opened): Reading {
  const { project, description, items, strays } = sheetOf(document.blocks)
  const headings = many(items.length, 'heading')
  const notes = [`${headings} with an id read as user stories, the boxes below them as acceptance criteria.`]
  const stories = items.map((item) => storyOf(document, item, notes))
  if (strays.length > 0) {
    const [were, word] = strays.length === 1 ? ['was', 'line'] : ['were', 'lines']
    const where = `${word} ${strays.slice(0, 10).join(', ')}`
    notes.push(`${many(strays.length, 'box')} outside of the stories ${were} left out (${where}).`)
  }
  return reading({ root: { project, description: description.join('\n\n') }, stories, notes })
}

function sheetOf(blocks: readonly Block[]): Sheet {
  const sheet: Sheet = { project: '', description: [], items: [], strays: [] }
  let story: StorySection | null = null
  let section: string | null = null
  let epic: { level: number; id: string } | null = null
  for (const block of blocks) {
    const title = block.kind === 'heading' ? titled(block) : null
    if (title !== null) {
      story = new StorySection(title.level, title.id)
      sheet.items.push({ story, title, urgency: urgencyOf(section ?? ''), epicId: epic?.id ?? null })
      section ??= ''
    } else if (block.kind === 'heading') {
      const words = plain(block.text)
      if (story?.takesHeading(block.level, words)) continue
      if (section === null) sheet.project = projectOf(words)
      const id = epicOf(words)
      if (id !== null) epic = { level: block.level, id }
      else if (epic !== null && block.level <= epic.level) epic = null
      story = null
      section = words
    } else if (story !== null) story.take(block)
    else {
      if (block.kind === 'points') sheet.strays.push(...boxLines(block))
      // What stands below the title says what the feature is.
      const isAbout = sheet.items.length === 0 && saysWhat(section ?? '', sheet.project)
      // Templates say there what the document is.
      const isOfDocument = block.kind === 'words' && /^this document\b/i.test(block.lines[0] ?? '')
      if (block.kind === 'words' && isAbout && !isOfDocument) sheet.description.push(block.lines.join('\n'))
    }
  }
  return sheet
}

/** Of a title what it is about, without the kind of document. */
function projectOf(title: string): string {
  // One space each: an expression with several runs of them takes seconds for a line of spaces.
  const bare = title
    .replace(/\s+/g, ' ')
    .replace(/ ?[-:\u2013]? ?product requirements document\b(?: ?\(prd\))? ?[-:\u2013]? ?/i, ' ')
  return bare.replace(/^(?:progress|prd)\b:?[ \t]*/i, '').trim()
}

function saysWhat(section: string, project: string): boolean {
  return /^(?:introduction|overview|summary|description)\b/i.test(section) || section.endsWith(project)
}

function boxLines({ points }: Points): number[] {
  const lineOf = ({ line, done, points: inner }: Point): number[] => [
    ...(done === null ? [] : [line]),
    ...inner.flatMap(lineOf),
  ]
  return points.flatMap(lineOf)
}

function storyOf({ path }: Opened, { story, title, urgency, epicId }: Item, notes: string[]): ReadStory {
  const { id, line } = title
  const { beside, ticked, boxes, ...fields } = story.fields()
  if (beside > 0) {
    const were = beside === 1 ? 'was' : 'were'
    notes.push(`${id}: ${many(beside, 'box')} beside its acceptance criteria ${were} read as description.`)
  }
  const passes = title.done ?? story.isDone ?? (ticked > 0 && ticked === boxes)
  if (!passes && ticked > 0) notes.push(`${id}: ${ticked} of ${many(boxes, 'box')} are ticked: it is open.`)
  const raw: Raw = { id, epicId: story.epicId ?? epicId, title: title.title, ...fields, passes }
  return {
    path,
    line,
    format: storyHeading.name,
    rank: 'planned',
    standing: title.done === null && story.isDone === null ? 'ticked' : 'written',
    place: (key) => place(path, line, key),
    raw,
    urgency: story.urgency ?? urgency,
    mayLackCriteria: true,
  }
}
