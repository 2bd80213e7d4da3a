// A story file of BMAD: one story in full, its title on top. What an agent wrote of an earlier run of it is left out.
import type { Block, Heading } from '../markdown.ts'
import type { Opened } from '../opened.ts'
import { place } from '../places.ts'
import { type Format, type Reading, reading } from '../types.ts'
import { epicOf, fieldOf, isDone, plain, storyTitle, titleOfSlug, urgencyOf } from '../words.ts'
import { StorySection } from './story-section.ts'

export const storyFile: Format = {
  name: 'story file',
  found:
    /^(?:docs\/(?:[^/]+\/)?stories|_bmad-output\/(?:implementation-artifacts|stories)|docs\/sprint-artifacts)\/(?:[^/]+\/)*(?:story-?)?(?:\d+[.-]\d+|[A-Z]+-\d+|epic-?\d+[.-]story-?\d+)[^/]*\.md$/i,
  reads: (document) => document.isMarkdown && titleOf(document) !== null && hasParts(document.blocks),
  read,
}

/** The first heading names a story: by its words, or the file's name does it. */
function titleOf({ name, blocks }: Opened): { id: string; title: string; line: number } | null {
  const first = blocks.find((block): block is Heading => block.kind === 'heading')
  if (first === undefined || first.level !== 1) return null
  const named = storyTitle(first.text)
  if (named !== null) return { ...named, title: named.title || slugOf(name), line: first.line }
  const [, number] =
    /^(?:story-?)?(\d{1,4}[.-]\d{1,4}[a-z]?|[A-Z][A-Z0-9]{0,15}-\d{1,6})(?![\w])/.exec(name) ?? []
  if (number === undefined) return null
  const id = /^\d/.test(number) ? number.replace('-', '.') : number
  return { id, title: plain(first.text), line: first.line }
}

function slugOf(name: string): string {
  return titleOfSlug(name.replace(/\.md$/i, '').replace(/^(?:story-?)?[\d.-]+/i, ''))
}

function hasParts(blocks: readonly Block[]): boolean {
  return blocks.some((block) => block.kind === 'heading' && block.level === 2 && isPart(block.text))
}

function isPart(heading: string): boolean {
  return /^(?:status|(?:user )?story|acceptance criteria|tasks\b)/i.test(heading)
}

// Of an earlier run, or of how the file is kept.
const left =
  /^(?:status|dev agent record|agent model|debug log|completion notes|file list|change log|qa results|progress tracking|senior developer review|definition of done)/i

function read(document: Opened): Reading {
  const title = titleOf(document)
  if (title === null) return reading({})
  const { path, blocks } = document
  const story = new StorySection(1, title.id)
  const facts = { status: '', epicId: epicIn(title.id), urgency: 1 }
  let section: Heading | null = null
  let isLeft = false
  for (const block of blocks) {
    if (block.kind === 'heading') {
      if (block.level === 1) continue
      const [, status] = /^status:(.+)$/is.exec(plain(block.text)) ?? []
      if (status !== undefined) facts.status = status.trim()
      if (section === null || block.level <= section.level) {
        section = block
        isLeft = left.test(plain(block.text))
      }
      if (!isLeft)
        story.takesHeading(block.level, /^(?:user )?story$/i.test(block.text) ? '' : plain(block.text))
    } else {
      if (block.kind === 'words' && (section === null || /^status/i.test(section.text)))
        takeFacts(block.lines, facts, section !== null)
      if (!isLeft && section !== null) story.take(block)
    }
  }
  const { description, acceptanceCriteria, dependsOn, priority, boxes, ticked } = story.fields()
  const { id, line } = title
  const passes = facts.status === '' ? boxes > 0 && ticked === boxes : isDone(facts.status)
  const raw = {
    id,
    title: title.title,
    epicId: facts.epicId,
    description,
    acceptanceCriteria,
    dependsOn,
    priority,
    passes,
  }
  return reading({
    stories: [
      {
        path,
        line,
        format: storyFile.name,
        rank: 'detailed',
        standing: facts.status === '' ? 'ticked' : 'written',
        place: (key) => place(path, line, key),
        raw,
        urgency: facts.urgency,
        mayLackCriteria: true,
      },
    ],
    notes: [`story ${id}.`],
  })
}

type Facts = { status: string; epicId: string | null; urgency: number }

/** `Status: done`, `**Epic:** EPIC-001`, `**Priority:** Must Have` below the title; below a heading Status the word alone. */
function takeFacts(lines: readonly string[], facts: Facts, isStatus: boolean): void {
  for (const line of lines) {
    const { name, value } = fieldOf(line) ?? { name: isStatus ? 'status' : '', value: line }
    const words = plain(value)
    if (name === 'status' && facts.status === '') facts.status = words
    else if (name === 'epic')
      facts.epicId = epicOf(words) ?? (words === '' ? facts.epicId : words.slice(0, 60))
    else if (name === 'priority') facts.urgency = urgencyOf(words)
  }
}

/** BMAD counts a story within its epic. */
function epicIn(id: string): string | null {
  const [, epic] = /^(\d+)\./.exec(id) ?? []
  return epic === undefined ? null : `Epic ${epic}`
}
