// prd.md as Ralph writes it and people edit it: what stands there is read to the letter.
import type { Raw } from '../../prd/migrate.ts'
import { many } from '../../prd/migrate.ts'
import { idFault } from '../../prd/names.ts'
import { original } from '../inert.ts'
import type { Block, Heading, Point } from '../markdown.ts'
import type { Opened } from '../opened.ts'
import { place } from '../places.ts'
import { PAGE_MARK } from '../render.ts'
import { type Format, type Reading, type ReadStory, reading } from '../types.ts'
import { StorySection } from './story-section.ts'

export const ownPage: Format = {
  name: 'prd.md',
  found: null,
  reads: ({ isMarkdown, text }) => isMarkdown && text.includes(PAGE_MARK),
  read,
}

type Part = { heading: Heading; blocks: Block[]; from: number; to: number }

function read(document: Opened): Reading {
  const lines = document.text.replace(PAGE_MARK, '').split('\n')
  const parts = partsOf(document.blocks, lines.length)
  const [first] = parts
  const title = first?.heading.level === 1 ? first : undefined
  const stories = parts.filter(({ heading }) => heading.level === 3)
  return reading({
    root: {
      project: title === undefined ? '' : original(title.heading.text),
      description: title === undefined ? '' : wordsIn(lines, title.from, title.to),
    },
    stories: stories.map((part) => storyOf(document.path, part, lines)),
    notes: [`${many(stories.length, 'story')} of the page read.`],
  })
}

/** From each heading of the page's own levels to the next. */
function partsOf(blocks: readonly Block[], last: number): Part[] {
  const parts: Part[] = []
  for (const block of blocks) {
    const before = parts.at(-1)
    if (block.kind === 'heading' && block.level <= 3) {
      if (before !== undefined) before.to = block.line - 1
      parts.push({ heading: block, blocks: [], from: block.line, to: last })
    } else before?.blocks.push(block)
  }
  return parts
}

/** The lines between two lines. */
function wordsIn(lines: readonly string[], from: number, to: number): string {
  return original(lines.slice(from, to).join('\n').trim())
}

const criteriaLabel = /^\*\*acceptance criteria:?\*\*:?$/i
const needsLabel = /^\*\*depends on:?\*\*:?(.*)$/i

function storyOf(path: string, part: Part, lines: readonly string[]): ReadStory {
  const { heading, blocks, from, to } = part
  const labels = blocks
    .filter((block) => block.kind === 'words')
    .flatMap((block) => block.lines.map((text, index) => ({ text, line: block.line + index })))
  const criteria = labels.find(({ text }) => criteriaLabel.test(text))
  const needs = labels.find(({ text }) => needsLabel.test(text))
  const end = Math.min(
    to,
    ...[criteria, needs].flatMap((label) => (label === undefined ? [] : [label.line - 1])),
  )
  const { id, title } = named(heading.text, criteria !== undefined)
  const points = blocks.flatMap((block) =>
    block.kind === 'points' && block.line > (criteria?.line ?? to) ? block.points : [],
  )
  const fields: Raw =
    criteria === undefined
      ? freely(blocks, id ?? '')
      : {
          description: wordsIn(lines, from, end),
          acceptanceCriteria: points.map((point) => original(wordsOf(point))),
          dependsOn: idsIn(needs?.text ?? ''),
        }
  const boxes = points.filter(({ done }) => done !== null)
  const passes = boxes.length > 0 && boxes.every(({ done }) => done === true)
  return {
    path,
    line: heading.line,
    format: ownPage.name,
    rank: 'planned',
    standing: 'written',
    place: (key) => place(path, heading.line, key),
    raw: { id, title: original(title), ...fields, passes },
    urgency: 1,
    mayLackCriteria: true,
  }
}

/** `US-001: Sign in`; a person may write a new story without an id. */
function named(heading: string, hasCriteria: boolean): { id: string | undefined; title: string } {
  const [, id, title] = /^([^\s:]+):[ \t]*(.*)$/s.exec(heading) ?? []
  const isId = id !== undefined && idFault(id) === null && (hasCriteria || /\d/.test(id))
  return isId && title !== undefined ? { id, title } : { id: undefined, title: heading }
}

function idsIn(line: string): string[] {
  const [, words = ''] = needsLabel.exec(line) ?? []
  return words.split(/[,\s]+/).filter((word) => word !== '')
}

/** A story that a person wrote below the others, as in any document. */
function freely(blocks: readonly Block[], id: string): Raw {
  const section = new StorySection(3, id)
  for (const block of blocks) {
    if (block.kind === 'heading') section.takesHeading(block.level, block.text)
    else section.take(block)
  }
  const { description, acceptanceCriteria, dependsOn } = section.fields()
  return { description, acceptanceCriteria, dependsOn }
}

function wordsOf({ text, more, points }: Point): string {
  return [text, ...more, ...points.map(wordsOf)].join(' ')
}
