// Renders prd.json as a page for people (prd.md). The page shows all stories completely, and is read back to the same stories.
import type { Prd, Story } from '../engine/model/feature.ts'
import { oneLine, sanitizeText } from '../engine/model/text.ts'

/** Marks a page that Ralph wrote. Such a page is read exactly as written. */
export const PAGE_MARK = '<!-- ralph: prd.json as a page -->'

/** For each story a heading, its description, its dependencies and a box for each criterion. */
export function renderPrdMarkdown(prd: Prd): string {
  const parts = [
    `# ${disarmText(oneLine(prd.project, 500)) || 'Stories'}`,
    disarmText(sanitizeText(prd.description).trim()),
    '## Stories',
    ...prd.userStories.map(storyPart),
    PAGE_MARK,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function storyPart({ id, title, description, acceptanceCriteria, dependsOn, passes }: Story): string {
  const criteria = acceptanceCriteria.map(
    (one) => `- [${passes ? 'x' : ' '}] ${disarmText(oneLine(one, 60_000))}`,
  )
  const parts = [
    `### ${id}: ${disarmText(oneLine(title, 500))}`,
    disarmText(sanitizeText(description).trim()),
    dependsOn.length === 0 ? '' : `**Depends on:** ${dependsOn.join(', ')}`,
    `**Acceptance Criteria:**\n\n${criteria.join('\n')}`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

// ---- disarming text of documents and agents

/** Entities, and the character that each replaces. */
const MARKS = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ...Array.from('!#$*-=]`~', (mark): [string, string] => [entity(mark), mark]),
])
const ENTITY = new RegExp([...MARKS.keys()].join('|'), 'g')
const AMPERSAND = new RegExp(`&(?=${[...MARKS.keys()].map((one) => one.slice(1)).join('|')})`, 'g')

/**
 * Text of documents and agents for a Markdown page. Lists, emphasis and code stay. No text is hidden in a comment, tag, definition or
 * cell; no picture or formula is drawn; no line begins a section. `undoDisarm` is the inverse.
 */
function disarmText(text: string): string {
  return outsideCode(text, disarm, disarmLine)
}

/** The text before it was disarmed. */
export function undoDisarm(text: string): string {
  const restore = (part: string) => part.replace(ENTITY, (found) => MARKS.get(found) ?? found)
  return outsideCode(text, restore, (line) => line)
}

function entity(mark: string): string {
  return `&#${mark.charCodeAt(0)};`
}

function disarm(part: string): string {
  return part
    .replace(AMPERSAND, '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/!(?=\[)|\$|\](?=:)|`(?=``)|~(?=~~)/g, entity)
}

/** Disarms heading marks before, after or below a line, separator rows of tables, and labels of a story. */
function disarmLine(line: string): string {
  return line
    .replace(/^([ \t>]*)#(?=#{0,5}(?:[ \t]|$))/, `$1${entity('#')}`)
    .replace(/(^|[ \t])#(?=#*[ \t]*$)/, `$1${entity('#')}`)
    .replace(/^([ \t>]*)=(?==*[ \t]*$)/, `$1${entity('=')}`)
    .replace(/^([ \t>|:]*)-(?=[ \t>|:-]*$)/, `$1${entity('-')}`)
    .replace(/^([ \t]*)\*(?=\*(?:depends on|acceptance criteria):?\*\*)/i, `$1${entity('*')}`)
}

/**
 * Applies `change` to all parts outside of code, and then `line` to each line. GitHub may see other code than this function does: a fence
 * inside of a list, or backticks without a pair on their line. Then the text counts as one without code.
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

/** Indexes of the lines in fences that begin and end at the margin; empty if a fence begins elsewhere or never ends. */
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
