// prd.json as a page for people (prd.md). The page shows all of it, and is read back to the same stories.
import type { Prd, Story } from '../engine/model/feature.ts'
import { oneLine, sanitizeText } from '../engine/model/text.ts'

/** This line marks a page that Ralph wrote: such a page is read exactly as written. */
export const PAGE_MARK = '<!-- ralph: prd.json as a page -->'

/** For each story a heading, its description, its dependencies and a box for each criterion. */
export function renderPrdMarkdown(prd: Prd): string {
  const parts = [
    `# ${inertText(oneLine(prd.project, 500)) || 'Stories'}`,
    inertText(sanitizeText(prd.description).trim()),
    '## Stories',
    ...prd.userStories.map(storyPart),
    PAGE_MARK,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function storyPart({ id, title, description, acceptanceCriteria, dependsOn, passes }: Story): string {
  const criteria = acceptanceCriteria.map(
    (one) => `- [${passes ? 'x' : ' '}] ${inertText(oneLine(one, 60_000))}`,
  )
  const parts = [
    `### ${id}: ${inertText(oneLine(title, 500))}`,
    inertText(sanitizeText(description).trim()),
    dependsOn.length === 0 ? '' : `**Depends on:** ${dependsOn.join(', ')}`,
    `**Acceptance Criteria:**\n\n${criteria.join('\n')}`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

// ---- text of documents and agents, made inert

/** Entities, and the character that each replaces. */
const MARKS = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ...Array.from('!#$*-=]`~', (mark): [string, string] => [entity(mark), mark]),
])
const ENTITY = new RegExp([...MARKS.keys()].join('|'), 'g')
const AMPERSAND = new RegExp(`&(?=${[...MARKS.keys()].map((one) => one.slice(1)).join('|')})`, 'g')

/**
 * Text of documents and agents on a page of Markdown: lists, emphasis and code stay; nothing hides in a comment, a tag, a
 * definition or a cell, no picture or formula is drawn, no line opens a section. `undoInert` undoes it.
 */
function inertText(text: string): string {
  return outsideCode(text, inert, atStart)
}

/** The text before it was made inert. */
export function undoInert(text: string): string {
  const back = (part: string) => part.replace(ENTITY, (found) => MARKS.get(found) ?? found)
  return outsideCode(text, back, (line) => line)
}

function entity(mark: string): string {
  return `&#${mark.charCodeAt(0)};`
}

function inert(part: string): string {
  return part
    .replace(AMPERSAND, '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/!(?=\[)|\$|\](?=:)|`(?=``)|~(?=~~)/g, entity)
}

/** Disarms heading marks before, after or below a line, table separator rows, and the labels of a story. */
function atStart(line: string): string {
  return line
    .replace(/^([ \t>]*)#(?=#{0,5}(?:[ \t]|$))/, `$1${entity('#')}`)
    .replace(/(^|[ \t])#(?=#*[ \t]*$)/, `$1${entity('#')}`)
    .replace(/^([ \t>]*)=(?==*[ \t]*$)/, `$1${entity('=')}`)
    .replace(/^([ \t>|:]*)-(?=[ \t>|:-]*$)/, `$1${entity('-')}`)
    .replace(/^([ \t]*)\*(?=\*(?:depends on|acceptance criteria):?\*\*)/i, `$1${entity('*')}`)
}

/**
 * The text with its parts outside of code changed, then its lines. A text in which GitHub could see other code than we do (a
 * fence inside of a list, backticks that do not pair on their line) counts as having none: there all is changed.
 */
function outsideCode(text: string, change: (part: string) => string, line: (line: string) => string): string {
  const lines = text.split('\n')
  const fenced = fencedLines(lines)
  const outside = lines.filter((_, index) => !fenced.has(index))
  const isPaired = outside.every((one) => !/``|\\`|&#96;/.test(one) && one.split('`').length % 2 === 1)
  const changed = (one: string) =>
    isPaired
      ? one
          .split('`')
          .map((part, index) => (index % 2 === 0 ? change(part) : part))
          .join('`')
      : change(one)
  return lines.map((one, index) => (fenced.has(index) ? one : line(changed(one)))).join('\n')
}

/** Languages of code fences that GitHub renders as pictures. */
const DRAWN = /^[ \t]*(?:mermaid|math|geojson|topojson|stl)\b/i

/** The lines of fences that begin at the margin and end there; none where one begins elsewhere or never ends. */
function fencedLines(lines: readonly string[]): Set<number> {
  const fenced = new Set<number>()
  let open: string | null = null
  for (const [index, line] of lines.entries()) {
    const [, mark, info = ''] = /^(`{3,}|~{3,})(.*)$/s.exec(line) ?? []
    if (open !== null) {
      fenced.add(index)
      if (mark?.startsWith(open) && info.trim() === '') open = null
      else if (/^ {1,3}(?:```|~~~)/.test(line)) return new Set()
    } else if (mark !== undefined && !info.includes('`') && !DRAWN.test(info)) {
      fenced.add(index)
      open = mark
    } else if (/```|~~~/.test(line)) return new Set()
  }
  return open === null ? fenced : new Set()
}
