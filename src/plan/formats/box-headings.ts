// A plan with a box in the heading of each task: `### 2. [ ] Title`. The text below is the story.
import { formatCount } from '../../engine/prd/migrate.ts'
import type { Block, Heading } from '../markdown-lists.ts'
import { urgencyOf, withoutEmphasis } from '../story-words.ts'
import { type Format, type ParsedStory, planPaths, type Reading } from '../types.ts'
import { storyFields } from './story-section.ts'

const boxed = /^(?:\d{1,4}[.)][ \t]*)?\[([ xX~-])\][ \t]+(\S.*)$/s

export const boxHeadings: Format = {
  name: 'boxes in headings',
  discoveryPath: planPaths('@?fix_plan\\.md'),
  matches: ({ isMarkdown, blocks }) => isMarkdown && blocks.some(isBoxed),
  read: ({ blocks }) => read(blocks),
}

function isBoxed(block: Block): boolean {
  return block.kind === 'heading' && block.level > 1 && boxed.test(withoutEmphasis(block.text))
}

function read(blocks: readonly Block[]): Partial<Reading> {
  const stories: ParsedStory[] = []
  let section = ''
  for (const [index, block] of blocks.entries()) {
    if (block.kind !== 'heading') continue
    if (isBoxed(block))
      stories.push(parseStory(block, below(block, blocks.slice(index + 1)), urgencyOf(section)))
    else section = block.text
  }
  return { stories, notes: [`${formatCount(stories.length, 'heading')} with a box read as user stories.`] }
}

/** The blocks up to the next task, or the next heading of the same or a higher level. */
function below({ level }: Heading, blocks: readonly Block[]): readonly Block[] {
  const end = blocks.findIndex((one) => one.kind === 'heading' && (one.level <= level || isBoxed(one)))
  return end < 0 ? blocks : blocks.slice(0, end)
}

function parseStory({ line, text }: Heading, blocks: readonly Block[], urgency: number): ParsedStory {
  const [, mark = ' ', title = text] = boxed.exec(withoutEmphasis(text)) ?? []
  return {
    line,
    urgency,
    raw: { title, ...storyFields(blocks, '').raw, passes: mark.toLowerCase() === 'x' },
    marks: [{ kind: 'box', line }],
  }
}
