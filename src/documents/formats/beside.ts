// Words beside the stories: what earlier runs learned, briefs, requirements, architecture, prompts, specifications, any text.
// Parts of them go to context.md; an agent plans from them where nobody wrote stories.
import { many } from '../../prd/migrate.ts'
import { pointLines } from '../markdown.ts'
import type { Opened } from '../opened.ts'
import { type Format, type Passage, planAt } from '../types.ts'
import { plain } from '../words.ts'

export const learned: Format = {
  name: 'learnings',
  found: planAt('learnings\\.md|progress\\.txt'),
  reads: ({ name }) => /^(?:learnings\.md|progress\.txt)$/i.test(name),
  read({ name, blocks }) {
    // A run's diary has hundreds of entries: what it puts under "Codebase Patterns" is what it found worth keeping.
    const isDiary = /\.txt$/i.test(name)
    const learnings = new Set<string>()
    let counts = !isDiary
    for (const block of blocks) {
      if (block.kind === 'heading' && isDiary)
        counts = /^(?:codebase )?(?:patterns|learnings)\b/i.test(block.text)
      if (block.kind !== 'points' || !counts) continue
      for (const point of block.points) learnings.add(pointLines(point).join(' ').slice(0, 500))
    }
    learnings.delete('')
    const kept = [...learnings].slice(0, 100)
    return { root: { run: { learnings: kept } }, notes: [`${many(kept.length, 'learning')} read.`] }
  },
}

const OVERVIEW =
  /(?:^|[-_./])(?:product-)?(?:brief|prd|requirements)(?:[-_.][^/]*)?(?:\/(?:index|[^/]*overview|[^/]*goals)[^/]*)?\.md$/i
const ARCHITECTURE =
  /(?:^|[-_./])(?:architecture|tech-stack|coding-standards|source-tree)(?:[-_.][^/]*)?(?:\/[^/]*)?\.md$/i
const BESIDE =
  /(?:^|\/)(?:specs|\.kiro)\/|(?:^|\/)(?:PROMPT|AGENT|@AGENT|project-context|ux-[^/]*|tech-spec[^/]*|front-end-spec|[^/]*-report|readiness[^/]*)\.md$/i

export const background: Format = {
  name: 'background',
  found: planAt(
    '(?:product-)?brief[^/]*\\.md|prd[^/]*\\.md|requirements\\.md|architecture[^/]*\\.md|PROMPT\\.md',
    '^docs/(?:prd|architecture)/[^/]+\\.md$',
    '^(?:\\.ralph/)?specs/.+\\.md$',
  ),
  reads: ({ isMarkdown, path }) =>
    isMarkdown && [OVERVIEW, ARCHITECTURE, BESIDE].some((one) => one.test(path)),
  read: ({ text }) => (text.trim() === '' ? { notes: ['empty.'] } : { prose: 'background' }),
}

export const prose: Format = {
  name: 'prose',
  found: null,
  reads: () => true,
  read: ({ text, isMarkdown }) => ({ prose: !isMarkdown ? 'unknown' : text.trim() === '' ? 'none' : 'only' }),
}

const TELLING = {
  overview:
    /\b(?:summary|overview|introduction|vision|goals?|objectives?|problem|scope|non-goals|background)\b/i,
  architecture:
    /\b(?:summary|overview|stack|patterns?|structure|components?|conventions?|standards?|decisions?|testing)\b/i,
}

/** What of the document belongs into every prompt, by its name and its headings of the first two levels; nothing of most. */
export function passagesOf({ path, text: whole, blocks }: Opened, hasStories: boolean): Passage[] {
  const about = ARCHITECTURE.test(path) ? 'architecture' : OVERVIEW.test(path) ? 'overview' : null
  if (about === null) return []
  const lines = whole.split('\n')
  const heads = blocks.flatMap((block) =>
    block.kind === 'heading' && block.level <= 2 ? [{ line: block.line, text: plain(block.text) }] : [],
  )
  const starts = [{ line: 0, text: '' }, ...heads]
  const sections = starts.map(({ line, text: head }, index) => {
    const words = lines.slice(line, (starts[index + 1]?.line ?? lines.length + 1) - 1).join('\n')
    // What a comment hides from readers is hidden from agents, too.
    return { head, words: words.replace(/<!--.*?(?:-->|$)/gs, '').trim() }
  })
  const telling = sections.filter(({ head }) => TELLING[about].test(head))
  return (telling.length > 0 || hasStories ? telling : sections)
    .filter(({ words }) => words !== '')
    .map(({ head, words }) => ({ about, text: head === '' ? words : `**${head}**\n\n${words}` }))
}
