// Markdown with a heading for each user story (prd.md and epics.md of several tools): the text below it is the story.
import { formatCount } from '../../engine/prd/migrate.ts'
import { type Block, boxLines, type Heading } from '../markdown-lists.ts'
import type { OpenDocument } from '../open-document.ts'
import {
  epicTitle,
  isAcceptanceLabel,
  isCriteriaLabel,
  isStoryId,
  parseEpicId,
  parseLeadingId,
  parseStoryTitle,
  type StoryTitle,
  urgencyOf,
  withoutEmphasis,
} from '../story-words.ts'
import { type Format, type ParsedStory, planPaths, type Reading } from '../types.ts'
import { storyFields } from './story-section.ts'

export const storyHeading: Format = {
  name: 'headings',
  discoveryPath: planPaths(
    '(?:epics?|prd|stories|sprint-plan)(?:[-_.][^/]*)?.md',
    '^(?:docs|_bmad-output/planning-artifacts)/(?:prd|epics)/[^/]+.md$',
  ),
  matches: (document) =>
    document.isMarkdown &&
    document.blocks.some((block) => block.kind === 'heading' && storyTitleOf(block) !== null) &&
    !areBoxesStories(document.blocks) &&
    !isRequirements(document),
  read: ({ blocks }) => read(blocks),
}

/** Whether the headings are requirements, as in `specs/store/requirements.md`: what the product has to do, not work. */
function isRequirements({ name, blocks, file }: OpenDocument): boolean {
  if (!/^(?:requirements?|srs)\.md$/i.test(name) || file.as === 'stories') return false
  const ids = blocks.flatMap((block) => (block.kind === 'heading' ? (storyTitleOf(block)?.id ?? []) : []))
  return ids.every((id) => !/^(?:US|STORY|TASK)-|^\d/.test(id))
}

/** The id and title of a heading (level 2 to 4) that names a story; else null. */
function storyTitleOf({ level, text }: Heading): StoryTitle | null {
  return level < 2 || level > 4 ? null : parseStoryTitle(text)
}

/** Whether the boxes below the headings are the stories, because they have their own ids. */
function areBoxesStories(blocks: readonly Block[]): boolean {
  const points = blocks.flatMap((block) => (block.kind === 'points' ? block.points : []))
  const boxes = points.filter(({ done }) => done !== null)
  const own = boxes.flatMap(({ text }) => parseLeadingId(text) ?? []).filter(({ id }) => isStoryId(id))
  return own.length > 0 && own.length * 2 >= boxes.length
}

type Item = { heading: Heading; title: StoryTitle; blocks: Block[]; urgency: number; epicId: string | null }

function read(blocks: readonly Block[]): Partial<Reading> {
  const items: Item[] = []
  const description: string[] = []
  const looseBoxes: number[] = []
  const epics: Record<string, string> = {}
  let project = ''
  let section: string | null = null
  let epic: { level: number; id: string } | null = null
  let story: Item | null = null
  for (const block of blocks) {
    const title = block.kind === 'heading' ? storyTitleOf(block) : null
    if (block.kind === 'heading' && title !== null && story !== null && isPartOf(block, title, story))
      story.blocks.push({ ...block, text: title.title })
    else if (block.kind === 'heading' && title !== null) {
      const urgency = urgencyOf(section ?? '')
      story = { heading: block, title, blocks: [], urgency, epicId: epic?.id ?? null }
      items.push(story)
      section ??= ''
    } else if (story !== null && !endsStory(block, story)) story.blocks.push(block)
    else if (block.kind === 'heading') {
      const words = withoutEmphasis(block.text)
      if (section === null) project = projectOf(words)
      const id = parseEpicId(words)
      if (id !== null) {
        epic = { level: block.level, id }
        if (epicTitle(words) !== '') epics[id] ??= epicTitle(words)
      } else if (epic !== null && block.level <= epic.level) epic = null
      story = null
      section = words
    } else if (block.kind === 'points') looseBoxes.push(...block.points.flatMap(boxLines))
    // The paragraphs below the title describe the feature.
    else if (block.kind === 'words' && items.length === 0 && isAbout(section ?? '', project))
      description.push(block.lines.join('\n'))
  }
  const headings = formatCount(items.length, 'heading')
  const notes = [
    `${headings} with an id: Ralph read each as a user story, and the checkboxes below it as acceptance criteria.`,
  ]
  const stories = items.map(parseStory)
  if (looseBoxes.length > 0) {
    const lines = `${looseBoxes.slice(0, 10).join(', ')}${looseBoxes.length > 10 ? ' ...' : ''}`
    notes.push(`left out: ${formatCount(looseBoxes.length, 'box')} outside of the stories (line ${lines}).`)
  }
  return {
    root: {
      project,
      description: description.join('\n\n'),
      ...(Object.keys(epics).length > 0 ? { epics } : {}),
    },
    stories,
    notes,
  }
}

/** Whether a heading ends the story: any of its level or above, except for that of its acceptance criteria. */
function endsStory(block: Block, { heading }: Item): boolean {
  if (block.kind !== 'heading' || block.level > heading.level) return false
  const words = withoutEmphasis(block.text)
  return !isAcceptanceLabel(words) && !(isCriteriaLabel(words) && block.level === heading.level)
}

/** Whether a heading only repeats the number of the story above it, as in `### Story 1.2 Acceptance Criteria`. */
function isPartOf({ level }: Heading, { id, title }: StoryTitle, story: Item): boolean {
  return id === story.title.id && (level > story.heading.level || isCriteriaLabel(title))
}

/** The title without the kind of document. */
function projectOf(title: string): string {
  // Each run of white space becomes one space first: the expression would need seconds for a line of spaces.
  const bare = title
    .replace(/\s+/g, ' ')
    .replace(/ ?[-:\u2013]? ?product requirements document\b(?: ?\(prd\))? ?[-:\u2013]? ?/i, ' ')
  return bare.replace(/^(?:progress|prd)\b:?[ \t]*/i, '').trim()
}

function isAbout(section: string, project: string): boolean {
  return /^(?:introduction|overview|summary|description)\b/i.test(section) || section.endsWith(project)
}

function parseStory({ heading, title, blocks, urgency, epicId }: Item): ParsedStory {
  const { id } = title
  const story = storyFields(blocks, id)
  const passes = title.done ?? story.isDone ?? story.isTicked
  return {
    line: heading.line,
    raw: { id, epicId: story.epicId ?? epicId, title: title.title, ...story.raw, passes },
    urgency: story.urgency ?? urgency,
    blocks: [...story.blocks],
    isRemoved: story.isRemoved,
  }
}
