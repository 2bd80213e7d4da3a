// A story file of BMAD: one complete story with its title on top. Records of earlier sessions are left out.
import type { Block, Heading } from '../markdown-lists.ts'
import type { OpenDocument } from '../open-document.ts'
import {
  isDone,
  normalizeId,
  parseField,
  parseStoryTitle,
  slugToTitle,
  withoutEmphasis,
} from '../story-words.ts'
import type { Format, Mark, Reading } from '../types.ts'
import { storyFields } from './story-section.ts'

export const storyFile: Format = {
  name: 'story file',
  rank: 'detailed',
  discoveryPath:
    /^(?:docs\/(?:[^/]+\/)?stories|_bmad-output\/(?:implementation-artifacts|stories)|docs\/sprint-artifacts|\.bmad\/(?:[^/]+\/)?stories)\/(?:[^/]+\/)*(?:story-?)?(?:[a-z]*\d+[.-]\d+|[A-Z]+-\d+|epic-?\d+[.-]story-?\d+)[^/]*\.md$/i,
  matches: (document) => document.isMarkdown && titleOf(document) !== null && hasParts(document.blocks),
  read,
}

/** Id and title by the first heading, else by the file's name; null if neither names a story. */
function titleOf({ name, blocks }: OpenDocument): { id: string; title: string; line: number } | null {
  const first = blocks.find((block): block is Heading => block.kind === 'heading')
  if (first === undefined || first.level !== 1) return null
  const { line } = first
  const named = parseStoryTitle(first.text)
  const slug = name.replace(/\.md$/i, '').replace(/^(?:story-?)?[\d.-]+/i, '')
  if (named !== null) return { ...named, title: named.title || slugToTitle(slug), line }
  const [, id] =
    /^(?:story-?)?([a-z]{0,12}\d{1,4}[.-]\d{1,4}[a-z]?|[A-Z][A-Z0-9]{0,15}-\d{1,6})(?![\w])/.exec(name) ?? []
  return id === undefined ? null : { id: normalizeId(id), title: withoutEmphasis(first.text), line }
}

function hasParts(blocks: readonly Block[]): boolean {
  const part = /^(?:status|(?:user )?story|acceptance criteria|tasks\b)/i
  return blocks.some((block) => block.kind === 'heading' && block.level === 2 && part.test(block.text))
}

// Headings of sections about earlier sessions, or about the file itself.
const recordSections =
  /^(?:status|dev agent record|agent model|debug log|completion notes|file list|change log|qa results|progress tracking|senior developer review|definition of done)/i

function read(document: OpenDocument): Partial<Reading> {
  const title = titleOf(document)
  if (title === null) return {}
  const { id, line } = title
  const above: Block[] = []
  const storyBlocks: Block[] = []
  let status = typeof document.frontFields.status === 'string' ? document.frontFields.status : null
  let statusLine: number | null = null
  let section: Heading | null = null
  for (const block of document.blocks) {
    if (block.kind === 'heading') {
      if (block.level === 1) continue
      const text = withoutEmphasis(block.text)
      const named = /^status:(.+)$/is.exec(text)?.[1]
      status = named ?? status
      if (named !== undefined) statusLine = block.line
      if (section === null || block.level <= section.level) section = block
      if (!recordSections.test(section.text))
        storyBlocks.push({ ...block, text: /^(?:user )?story$/i.test(text) ? '' : text })
    } else if (section === null) {
      above.push(block)
      statusLine ??= statusLineIn(block)
    } else if (block.kind === 'words' && /^status/i.test(section.text)) {
      status ??= block.lines.map((one) => parseField(one)?.value ?? one)[0] ?? null
      statusLine ??= block.line
    } else if (!recordSections.test(section.text)) storyBlocks.push(block)
  }
  const facts = storyFields(above, id)
  const story = storyFields(storyBlocks, id)
  const statusDone = status === null ? facts.isDone : isDone(status)
  // In BMAD a story's number begins with that of its epic.
  const [epic] = /^\d+(?=\.)/.exec(id) ?? []
  const epicId = facts.epicId ?? (epic === undefined ? null : `Epic ${epic}`)
  const raw = { id, title: title.title, epicId, ...story.raw, passes: statusDone ?? story.isTicked }
  raw.priority ??= facts.priority
  const marks: Mark[] = statusLine === null ? [] : [{ kind: 'words', line: statusLine, value: 'done' }]
  return {
    stories: [{ line, raw, urgency: facts.urgency ?? 1, blocks: [...facts.blocks, ...story.blocks], marks }],
    notes: [`read as story ${id}.`],
  }
}

/** The line of a field `Status:` above the sections. */
function statusLineIn(block: Block): number | null {
  if (block.kind === 'points')
    return block.points.find(({ text }) => parseField(text)?.name === 'status')?.line ?? null
  if (block.kind !== 'words') return null
  const index = block.lines.findIndex((one) => parseField(one)?.name === 'status')
  return index < 0 ? null : block.line + index
}
