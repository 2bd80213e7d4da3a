// OpenSpec: a change is a feature, a box of its tasks.md a story. Requirements and scenarios are what all of them must keep.
import { many } from '../../engine/prd/migrate.ts'
import type { Opened } from '../open-document.ts'
import { plain } from '../story-words.ts'
import type { Beside, Format, Passage, ToldStory } from '../types.ts'
import { type Box, boxesOf, flat } from './boxes.ts'

const CHANGE = /^openspec\/changes\/([^/]+)\//

export const openSpec: Format = {
  name: 'OpenSpec',
  rank: 'detailed',
  found: /^openspec\/(?:changes\/[^/]+\/(?:(?:tasks|proposal|design)\.md|specs\/.+\.md)|project\.md)$/,
  reads: ({ path, isMarkdown }) => isMarkdown && path.startsWith('openspec/'),
  read({ path, folder, name, blocks }, beside) {
    const [place, change] = CHANGE.exec(path) ?? []
    const unit =
      place === undefined ? null : { of: 'OpenSpec change', name: place.replace(/\/$/, ''), hasOwnIds: true }
    const boxes = boxesOf(blocks)
    if (name !== 'tasks.md' || change === undefined || boxes.length === 0) {
      const kind = name === 'spec.md' ? 'requirements' : name.replace(/\.md$/, '')
      return { prose: 'background', what: `${kind} of OpenSpec`, unit, boxes: flat(boxes).length }
    }
    const prefix = change.replace(/[^\w.-]/g, '-').slice(0, 48)
    const stories = withOwnIds(boxes.map((box, index) => storyOf(box, prefix, index)))
    const count = many(stories.length, 'task')
    const notes = [`${count} of the change read as user stories; its scenarios go to context.md.`]
    return { stories, unit, notes, root: { project: change }, context: scenarios(folder, beside) }
  },
}

function storyOf(
  { line, text, done, details, inside, headings }: Box,
  prefix: string,
  index: number,
): ToldStory {
  const [, number, title] = /^(\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?)[.)]?[ \t]+(\S.*)$/s.exec(text) ?? []
  const heading = headings.find(({ level }) => level > 1)
  const below = flat(inside)
  return {
    line,
    raw: {
      id: `${prefix}-${number ?? `n${index + 1}`}`,
      title: title ?? text,
      epicId: heading === undefined ? null : plain(heading.text).slice(0, 60),
      description: details.join('\n'),
      acceptanceCriteria: below.map((box) => box.text),
      passes: done,
    },
    // OpenSpec counts the outer boxes; those inside are how people cut the task.
    marks: [{ kind: 'box', line }],
  }
}

/** A number that people used twice is of two tasks. */
function withOwnIds(stories: readonly ToldStory[]): ToldStory[] {
  const counts = new Map<string, number>()
  return stories.map((story) => {
    const id = String(story.raw.id)
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    return count === 1 ? story : { ...story, raw: { ...story.raw, id: `${id}-n${count}` } }
  })
}

/** The requirements of the change with their scenarios, as they are written. */
function scenarios(folder: string, beside: Beside): Passage[] {
  const specs = beside.all.filter(({ path }) => path.startsWith(`${folder}specs/`))
  return specs.flatMap(({ text }: Opened) => {
    const words = text
      .replace(/<!--.*?(?:-->|$)/gs, '')
      .replace(/^#+[ \t]*(.*)$/gm, '**$1**')
      .trim()
    return words === '' ? [] : [{ about: 'specification' as const, text: words }]
  })
}
