// prd.md, which Ralph writes and people edit. Its texts are read unchanged.

import { idFault } from '../../engine/model/safe-names.ts'
import { formatCount, type Raw } from '../../engine/prd/migrate.ts'
import { type Block, type Heading, pointLines } from '../markdown-lists.ts'
import type { OpenDocument } from '../open-document.ts'
import { PAGE_MARK, undoDisarm } from '../render-prd-md.ts'
import type { Format, ParsedStory, Reading } from '../types.ts'
import { storyFields } from './story-section.ts'

export const ownPage: Format = {
  name: 'prd.md',
  discoveryPath: null,
  matches: ({ isMarkdown, text }) => isMarkdown && text.includes(PAGE_MARK),
  read,
}

/** A heading of level 1 to 3, and the blocks up to the next such heading. `end`: the number of the last line before that. */
type Part = { heading: Heading; blocks: Block[]; end: number }

function read({ text, blocks }: OpenDocument): Partial<Reading> {
  const lines = text.replace(PAGE_MARK, '').split('\n')
  const parts: Part[] = []
  for (const block of blocks) {
    const current = parts.at(-1)
    if (block.kind === 'heading' && block.level <= 3) {
      if (current !== undefined) current.end = block.line - 1
      parts.push({ heading: block, blocks: [], end: lines.length })
    } else current?.blocks.push(block)
  }
  const title = parts[0]?.heading.level === 1 ? parts[0] : undefined
  const stories = parts.filter(({ heading }) => heading.level === 3).map((part) => parseStory(part, lines))
  const root =
    title === undefined
      ? {}
      : {
          project: undoDisarm(title.heading.text),
          description: textIn(lines, title.heading.line, title.end),
        }
  return { root, stories, notes: [`${formatCount(stories.length, 'story')} read from this page.`] }
}

/** The text of some lines. `from`: the index of the first; `to`: the index after the last. */
function textIn(lines: readonly string[], from: number, to: number): string {
  return undoDisarm(lines.slice(from, to).join('\n').trim())
}

const CRITERIA_LABEL = /^\*\*acceptance criteria:?\*\*:?$/i
const NEEDS_LABEL = /^\*\*depends on:?\*\*:?(.*)$/i

function parseStory({ heading, blocks, end }: Part, lines: readonly string[]): ParsedStory {
  const textLines = blocks
    .filter((block) => block.kind === 'words')
    .flatMap((block) => block.lines.map((text, index) => ({ text, line: block.line + index })))
  const criteria = textLines.find(({ text }) => CRITERIA_LABEL.test(text))
  const needs = textLines.find(({ text }) => NEEDS_LABEL.test(text))
  const { id, title } = parseHeading(heading.text, criteria !== undefined)
  const criteriaLine = criteria?.line ?? end
  const points = blocks.flatMap((block) =>
    block.kind === 'points' && block.line > criteriaLine ? block.points : [],
  )
  const descriptionEnd = Math.min(criteriaLine, needs?.line ?? end + 1) - 1
  const description = textIn(lines, heading.line, descriptionEnd)
  // A story without the label of criteria was added by a person, and is read as in any document.
  const fields: Raw =
    criteria === undefined
      ? storyFields(blocks, id ?? '').raw
      : {
          description,
          acceptanceCriteria: points.map((point) => undoDisarm(pointLines(point).join(' '))),
          dependsOn: NEEDS_LABEL.exec(needs?.text ?? '')?.[1]?.match(/[^,\s]+/g) ?? [],
        }
  const boxes = points.filter(({ done }) => done !== null)
  const passes = boxes.length > 0 && boxes.every(({ done }) => done === true)
  return { line: heading.line, raw: { id, title: undoDisarm(title), ...fields, passes } }
}

/** Splits `US-001: Sign in`. A person may write a new story without an id. */
function parseHeading(heading: string, hasCriteria: boolean): { id: string | undefined; title: string } {
  const [, id, title] = /^([^\s:]+):[ \t]*(.*)$/s.exec(heading) ?? []
  const isId = id !== undefined && idFault(id) === null && (hasCriteria || /\d/.test(id))
  return isId && title !== undefined ? { id, title } : { id: undefined, title: heading }
}
