// OpenSpec: a change is a feature, and a box of its tasks.md is a story. Requirements and scenarios apply to all stories.
import { formatCount } from '../../engine/prd/migrate.ts'
import { withoutEmphasis } from '../story-words.ts'
import type { DocumentSet, Format, ParsedStory, Passage } from '../types.ts'
import { wholePassage } from './background.ts'
import { type Box, flattenBoxes, parseBoxes } from './boxes.ts'

const CHANGE = /^openspec\/changes\/([^/]+)\//

export const openSpec: Format = {
  name: 'OpenSpec',
  rank: 'detailed',
  discoveryPath:
    /^openspec\/(?:changes\/[^/]+\/(?:(?:tasks|proposal|design)\.md|specs\/.+\.md)|project\.md)$/,
  matches: ({ path, isMarkdown }) => isMarkdown && path.startsWith('openspec/'),
  read({ path, folder, name, blocks }, documents) {
    const [place, change] = CHANGE.exec(path) ?? []
    const unit =
      place === undefined ? null : { of: 'OpenSpec change', name: place.replace(/\/$/, ''), hasOwnIds: true }
    const boxes = parseBoxes(blocks)
    if (name !== 'tasks.md' || change === undefined || boxes.length === 0) {
      const kind = name === 'spec.md' ? 'requirements' : name.replace(/\.md$/, '')
      return { prose: 'background', what: `${kind} of OpenSpec`, unit, boxes: flattenBoxes(boxes).length }
    }
    const prefix = change.replace(/[^\w.-]/g, '-').slice(0, 48)
    const stories = withOwnIds(boxes.map((box, index) => parseStory(box, prefix, index)))
    const count = formatCount(stories.length, 'task')
    const notes = [`${count} of the change read as user stories; its scenarios go to context.md.`]
    return { stories, unit, notes, root: { project: change }, context: scenarios(folder, documents) }
  },
}

function parseStory(
  { line, text, done, details, inside, headings }: Box,
  prefix: string,
  index: number,
): ParsedStory {
  const [, number, title] = /^(\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?)[.)]?[ \t]+(\S.*)$/s.exec(text) ?? []
  const heading = headings.find(({ level }) => level > 1)
  const below = flattenBoxes(inside)
  return {
    line,
    raw: {
      id: `${prefix}-${number ?? `n${index + 1}`}`,
      title: title ?? text,
      epicId: heading === undefined ? null : withoutEmphasis(heading.text).slice(0, 60),
      description: details.join('\n'),
      acceptanceCriteria: below.map((box) => box.text),
      passes: done,
    },
    // OpenSpec counts only the outer boxes.
    marks: [{ kind: 'box', line }],
  }
}

/** Makes ids unique: people may use a number twice. */
function withOwnIds(stories: readonly ParsedStory[]): ParsedStory[] {
  const counts = new Map<string, number>()
  return stories.map((story) => {
    const id = String(story.raw.id)
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    return count === 1 ? story : { ...story, raw: { ...story.raw, id: `${id}-n${count}` } }
  })
}

/** The requirements of the change with their scenarios, as they are written. */
function scenarios(folder: string, documents: DocumentSet): Passage[] {
  const specs = documents.all.filter(({ path }) => path.startsWith(`${folder}specs/`))
  return specs.flatMap((document) => wholePassage('specification', document))
}
