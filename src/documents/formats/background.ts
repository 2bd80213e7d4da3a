// Words beside the stories: briefs, requirements, architecture, prompts, specifications. They go to context.md in parts, and to
// an agent where nobody wrote stories.
import type { Block, Heading } from '../markdown.ts'
import type { Opened } from '../opened.ts'
import { planAt } from '../places.ts'
import { type Format, type Passage, type Reading, reading } from '../types.ts'
import { plain } from '../words.ts'

const OVERVIEW =
  /(?:^|[-_./])(?:product-)?(?:brief|prd|requirements)(?:[-_.][^/]*)?(?:\/(?:index|[^/]*overview|[^/]*goals)[^/]*)?\.md$/i
const ARCHITECTURE =
  /(?:^|[-_./])(?:architecture|tech-stack|coding-standards|source-tree)(?:[-_.][^/]*)?(?:\/[^/]*)?\.md$/i
const BESIDE =
  /(?:^|\/)(?:specs|\.kiro)\/|(?:^|\/)(?:PROMPT|AGENT|@AGENT|project-context|ux-[^/]*|tech-spec[^/]*|front-end-spec|[^/]*-report|readiness[^/]*)\.md$/i

export const background: Format = {
  name: 'background',
  found: new RegExp(
    [
      planAt(
        '(?:product-)?brief[^/]*\\.md|prd[^/]*\\.md|requirements\\.md|architecture[^/]*\\.md|PROMPT\\.md',
      ).source,
      '^docs/(?:prd|architecture)/[^/]+\\.md$',
      '^(?:\\.ralph/)?specs/.+\\.md$',
    ].join('|'),
    'i',
  ),
  reads: ({ isMarkdown, path }) =>
    isMarkdown && [OVERVIEW, ARCHITECTURE, BESIDE].some((one) => one.test(path)),
  read: ({ text }): Reading => {
    const isEmpty = text.trim() === ''
    return reading({ prose: isEmpty ? 'none' : 'background', notes: isEmpty ? ['empty.'] : [] })
  },
}

const most = { overview: 1_800, architecture: 3_200 }
const telling = {
  overview:
    /\b(?:summary|overview|introduction|vision|goals?|objectives?|problem|scope|non-goals|background)\b/i,
  architecture:
    /\b(?:summary|overview|stack|patterns?|structure|components?|conventions?|standards?|decisions?|testing)\b/i,
}

/** What of the document belongs into every prompt, by its name; null for most. */
export function passageOf(document: Opened, hasStories: boolean): Passage | null {
  const about = ARCHITECTURE.test(document.path)
    ? 'architecture'
    : OVERVIEW.test(document.path)
      ? 'overview'
      : null
  if (about === null) return null
  const all = sections(document)
  const told = all.filter(({ heading }) => heading !== null && telling[about].test(heading.text))
  const text = bounded(told.length > 0 || hasStories ? told : all, most[about])
  return text === '' ? null : { about, text }
}

type Section = { heading: Heading | null; text: string }

/** The document between its headings of the first two levels, to the letter; stories are left out. */
function sections({ text: whole, blocks }: Opened): Section[] {
  const lines = whole.split('\n')
  const starts: (Block | null)[] = [
    null,
    ...blocks.filter((block) => block.kind === 'heading' && block.level <= 2),
  ]
  return starts.map((start, index) => {
    const from = start === null ? 0 : start.line
    const to = (starts[index + 1]?.line ?? lines.length + 1) - 1
    const heading = start?.kind === 'heading' ? start : null
    // What a comment hides from readers is hidden from agents, too.
    const text = lines
      .slice(from, to)
      .join('\n')
      .replace(/<!--.*?(?:-->|$)/gs, '')
    return { heading, text: text.trim() }
  })
}

/** Whole sections, as many as fit; the last is cut at a line. */
function bounded(all: readonly Section[], units: number): string {
  const parts: string[] = []
  let left = units
  for (const { heading, text } of all) {
    if (text === '') continue
    const whole = heading === null ? text : `**${plain(heading.text)}**\n\n${text}`
    const part = whole.length <= left ? whole : whole.slice(0, left).replace(/\n[^\n]*$/, '')
    if (left < 200 && part.length < whole.length) break
    parts.push(part)
    left -= part.length
    if (part.length < whole.length) break
  }
  return parts.join('\n\n')
}
