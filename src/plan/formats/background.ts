// Documents without stories: learnings of earlier runs, briefs, requirements, architecture, prompts, specifications, prose.
// Parts of them go to context.md. If no document has stories, an agent plans from them.
import { formatCount } from '../../engine/prd/migrate.ts'
import { findOtherKind } from '../document-kinds.ts'
import { type Block, boxLines, type Point, pointLines } from '../markdown-lists.ts'
import type { OpenDocument } from '../open-document.ts'
import { withoutEmphasis } from '../story-words.ts'
import { type DocumentSet, type Format, type Passage, planPaths } from '../types.ts'

export const learnings: Format = {
  name: 'learnings',
  discoveryPath: planPaths('learnings\\.md|progress\\.txt'),
  matches: ({ name }) => /^(?:learnings\.md|progress\.txt)$/i.test(name),
  read({ name, blocks, text }) {
    // progress.txt has hundreds of entries. The run keeps what matters under "Codebase Patterns".
    const isDiary = /\.txt$/i.test(name)
    const learnings = new Set<string>()
    let isCounted = !isDiary
    for (const block of blocks) {
      if (block.kind === 'heading' && isDiary)
        isCounted = /^(?:codebase )?(?:patterns|learnings)\b/i.test(block.text)
      if (block.kind !== 'points' || !isCounted) continue
      for (const point of block.points) learnings.add(pointLines(point).join(' ').slice(0, 500))
    }
    for (const words of isDiary ? [...lastEntries(text), ...lastLearnings(blocks)] : []) learnings.add(words)
    learnings.delete('')
    const kept = [...learnings].slice(0, 100)
    return { root: { run: { learnings: kept } }, notes: [`${formatCount(kept.length, 'learning')} read.`] }
  },
}

const LAST_ENTRIES = 3

/** Learnings and notes for the next iteration in the last entries of BMAD Ralph's progress.txt. */
function lastEntries(text: string): string[] {
  const entries = text.split(/^(?=## Iteration )/m).slice(1)
  const fields = /^\*\*(?:Learning|Note for next):\*\*[ \t]+(\S.*)$/gm
  return entries
    .slice(-LAST_ENTRIES)
    .flatMap((entry) =>
      [...entry.matchAll(fields)].flatMap(([, words = '']) =>
        words.trim() === '-' ? [] : words.trim().slice(0, 500),
      ),
    )
}

/** Points below "Learnings for future iterations" in the last entries of snarktank's progress.txt. An entry's heading is a date. */
function lastLearnings(blocks: readonly Block[]): string[] {
  const entries: Point[][] = []
  for (const block of blocks) {
    if (block.kind === 'heading') {
      if (/^\[?\d{4}-\d\d-\d\d/.test(block.text)) entries.push([])
    } else if (block.kind === 'points') entries.at(-1)?.push(...block.points)
  }
  const isLearnings = ({ text }: Point) => /^learnings?\b/i.test(withoutEmphasis(text))
  return entries
    .slice(-LAST_ENTRIES)
    .flat()
    .filter(isLearnings)
    .flatMap(({ points }) => points.map((point) => pointLines(point).join(' ').slice(0, 500)))
}

const OVERVIEW =
  /(?:^|[-_./])(?:product-)?(?:brief|prd|requirements)(?:[-_.][^/]*)?(?:\/(?:index|[^/]*overview|[^/]*goals)[^/]*)?\.md$/i
const ARCHITECTURE =
  /(?:^|[-_./])(?:architecture|tech-stack|coding-standards|source-tree)(?:[-_.][^/]*)?(?:\/[^/]*)?\.md$/i
const SPECS = /(?:^|\/)specs\/.+\.md$/i

/** Documents of a kind that is never a task list, even if they have boxes. */
export const nonTaskDocument: Format = {
  name: 'no task list',
  discoveryPath: null,
  matches: (document) => document.file.as !== 'stories' && findOtherKind(document) !== null,
  read(document) {
    const { what, isBackground } = findOtherKind(document) ?? { what: '', isBackground: false }
    const isEmpty = document.text.trim() === ''
    const isNamed = document.file.isNamed === true
    const boxes = boxCount(document)
    return {
      notes:
        isNamed && boxes > 0
          ? [
              `this is ${what}, so Ralph leaves out its ${formatCount(boxes, 'box')}. To plan from them, add --as stories ${document.path}.`,
            ]
          : [],
      prose: (isBackground || isNamed) && !isEmpty ? 'background' : 'none',
      what: isEmpty ? 'empty' : what,
      boxes,
    }
  },
}

/** `kettle_PROGRESS.md` is the task list that was made from `kettle.md`; null for any other path. */
export function planOfProgress(path: string): string | null {
  const [, base] = /^(.+)_PROGRESS\.md$/i.exec(path) ?? []
  return base === undefined ? null : `${base}.md`
}

function isPlanOfProgress({ path, file, isMarkdown }: OpenDocument, documents: DocumentSet): boolean {
  const isPlan = /\.md$/i.test(path) && documents.at(path.replace(/\.md$/i, '_PROGRESS.md')) !== null
  return isPlan && isMarkdown && file.as !== 'stories'
}

/** The plan that a progress file was made from. Its boxes are tasks of the progress file. */
export const sourceOfProgress: Format = {
  name: 'plan of a progress file',
  discoveryPath: null,
  matches: isPlanOfProgress,
  read: (document) => ({
    prose: document.text.trim() === '' ? 'none' : 'background',
    what: 'the plan of a progress file',
    boxes: boxCount(document),
    context: wholePassage('overview', document),
  }),
}

/** The whole document as a passage, its headings in bold and without HTML comments; none of an empty one. */
export function wholePassage(about: Passage['about'], { text }: OpenDocument): Passage[] {
  const words = text
    .replace(/<!--.*?(?:-->|$)/gs, '')
    .replace(/^#+[ \t]*(.*)$/gm, '**$1**')
    .trim()
  return words === '' ? [] : [{ about, text: words }]
}

export const background: Format = {
  name: 'background',
  discoveryPath: planPaths(
    '(?:product-)?brief[^/]*\\.md|prd[^/]*\\.md|requirements\\.md|architecture[^/]*\\.md|@?(?:PROMPT|LOOP_PROMPT|AGENT)\\.md',
    '^(?:docs|_bmad-output/planning-artifacts)/(?:prd|architecture)/[^/]+\\.md$',
    '^(?:\\.ralph/)?specs/.+\\.md$',
    '^\\.kiro/steering/[^/]+\\.md$',
  ),
  matches: ({ isMarkdown, path }) =>
    isMarkdown && (OVERVIEW.test(path) || ARCHITECTURE.test(path) || SPECS.test(path)),
  read(document) {
    if (document.text.trim() === '') return { what: 'empty', notes: ['empty.'] }
    const what = SPECS.test(document.path) ? 'a specification' : 'requirements'
    return { prose: 'background', what, boxes: boxCount(document) }
  },
}

function boxCount({ blocks, isMarkdown }: OpenDocument): number {
  if (!isMarkdown) return 0
  return blocks.reduce(
    (sum, block) => sum + (block.kind === 'points' ? block.points.flatMap(boxLines).length : 0),
    0,
  )
}

export const prose: Format = {
  name: 'prose',
  discoveryPath: null,
  matches: () => true,
  read: (document) => ({
    prose: !document.isMarkdown ? 'unknown' : document.text.trim() === '' ? 'none' : 'only',
    what: document.isMarkdown
      ? document.text.trim() === ''
        ? 'empty'
        : 'prose'
      : 'a format that Ralph does not know',
    boxes: boxCount(document),
  }),
}

const OVERVIEW_PARTS =
  /\b(?:summary|overview|introduction|vision|goals?|objectives?|problem|scope|non-goals|background|why|what changes)\b/i
const ARCHITECTURE_PARTS =
  /\b(?:summary|overview|stack|patterns?|structure|components?|conventions?|standards?|decisions?|testing|technical context)\b/i
const REQUIREMENT_PARTS =
  /\b(?:requirements|edge cases|key entities|assumptions|constraints|clarifications)\b/i
/** Sections with instructions for another tool's loop, which mean nothing here. */
const LOOP_INSTRUCTIONS = /\b(?:status report|exit signal|promise|loop|completion|when to stop|ralph_status)/i

/** Sections of a document that go to context.md, by their headings. `isAll`: all sections if none matches and there are no stories. */
type Place = {
  about: Passage['about']
  at: RegExp
  parts: RegExp
  isAll: boolean
  /** None of a document with stories: its sections are the stories. */
  isWithoutStories?: true
}

function placeWithFallback(about: Passage['about'], parts: RegExp, at: RegExp): Place {
  return { about, at, parts, isAll: true }
}

const places: readonly Place[] = [
  {
    about: 'specification',
    at: /(?:^|\/)specs\/\d{3,}[^/]*\/spec\.md$/,
    parts: REQUIREMENT_PARTS,
    isAll: false,
  },
  placeWithFallback(
    'architecture',
    ARCHITECTURE_PARTS,
    /^(?:(?:\.kiro|\.spec-workflow)\/specs\/[^/]+\/design|openspec\/changes\/[^/]+\/design|(?:\.specify\/)?specs\/\d{3,}[^/]*\/plan|\.?conductor\/tech-stack|\.kiro\/steering\/(?:tech|structure))\.md$/,
  ),
  placeWithFallback(
    'overview',
    OVERVIEW_PARTS,
    /^(?:openspec\/(?:changes\/[^/]+\/proposal|project)|\.?conductor\/(?:product|tracks\/[^/]+\/spec)|\.kiro\/steering\/product|(?:_bmad-output|docs|specs)\/(?:[^/]+\/)*SPEC)\.md$|^\.taskmaster\/docs\/[^/]+\.(?:txt|md)$/,
  ),
  placeWithFallback('architecture', ARCHITECTURE_PARTS, ARCHITECTURE),
  placeWithFallback('overview', OVERVIEW_PARTS, OVERVIEW),
  {
    about: 'specification',
    at: /(?:^|\/)@?(?:PROMPT|AGENT)\.md$|^(?:\.ralph\/)?specs\/(?!\d{3,})(?:[^/]+\/)*[^/]+\.md$/,
    parts: /(?:)/,
    isAll: false,
    isWithoutStories: true,
  },
]

/** Passages for context.md, by the path of the document and its headings of the first two levels. Most documents have none. */
export function findPassages({ path, text: whole, blocks }: OpenDocument, hasStories: boolean): Passage[] {
  const place = places.find(({ at }) => at.test(path))
  if (place === undefined || (hasStories && place.isWithoutStories)) return []
  const { about, parts, isAll } = place
  const lines = whole.split('\n')
  const heads = blocks.flatMap((block) =>
    block.kind === 'heading' && block.level <= 2
      ? [{ line: block.line, text: withoutEmphasis(block.text) }]
      : [],
  )
  const starts = [{ line: 0, text: '' }, ...heads]
  const sections = starts.map(({ line, text: head }, index) => {
    const words = lines.slice(line, (starts[index + 1]?.line ?? lines.length + 1) - 1).join('\n')
    // Comments are hidden from agents as they are from readers.
    const own = line === 0 ? words.replace(/^---\r?\n.*?\n---[ \t]*(?:\r?\n|$)/s, '') : words
    return { head, words: own.replace(/<!--.*?(?:-->|$)/gs, '').trim() }
  })
  const matching = sections.filter(({ head }) => parts.test(head) && !LOOP_INSTRUCTIONS.test(head))
  return (matching.length > 0 || hasStories || !isAll ? matching : sections)
    .filter(({ words }) => words !== '')
    .map(({ head, words }) => ({ about, text: head === '' ? words : `**${head}**\n\n${words}` }))
}
