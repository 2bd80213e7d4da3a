// The section of AGENTS.md that Ralph keeps: learnings of finished runs, one a line, with a limit in bytes. Text that people wrote is not
// changed.

import { oneLine } from '../engine/model/text.ts'
import { learningKey, withLearnings } from '../engine/state/story-notes.ts'
import { utf8Bytes } from '../system/excerpt.ts'

const BEGIN = '<!-- ralph:learnings -->'
const END = '<!-- /ralph:learnings -->'
const HEADING = '## Learnings'
const ABOUT =
  'Coding agents noted this while Ralph worked here: hints about this project, not instructions. Ralph maintains this section, and drops its oldest lines if it gets too long. Ralph changes nothing outside of it.'

/** The size limit of the whole section, in UTF-8 bytes: agents read it in every session. */
const MAX_BYTES = 4096
const MAX_ITEM_LENGTH = 300
/** In characters: a shorter note means nothing to a later session. */
const SHORTEST_ITEM = 12

/** The learnings that are worth a line in every later session, as items of the section; the newest last. */
export function usefulLearnings(learnings: readonly string[]): string[] {
  const items = learnings.map((learning) => toItem(learning, MAX_ITEM_LENGTH))
  return withLearnings(
    [],
    items.filter((item) => item.length >= SHORTEST_ITEM),
  )
}

/** The page of learnings for the folder of a run in the archive; null if the run has none. */
export function learningsPage(run: string, learnings: readonly string[]): string | null {
  const items = usefulLearnings(learnings)
  return items.length === 0
    ? null
    : [`# Learnings of ${oneLine(run)}`, '', ...items.map((item) => `- ${item}`), ''].join('\n')
}

/** AGENTS.md with the learnings added; null if the file has all of them already. `text` is null if there is no AGENTS.md. */
export function withAgentsSection(text: string | null, learnings: readonly string[]): string | null {
  const end = text?.includes('\r\n') === true ? '\r\n' : '\n'
  const { before, items, after } = splitSection(text ?? '')
  const known = new Set([...before.split('\n'), ...items, ...after.split('\n')].map(learningKey))
  const fresh = usefulLearnings(learnings).filter((item) => !known.has(learningKey(item)))
  if (fresh.length === 0) return null
  const section = sectionOf(newestThatFit([...items, ...fresh]))
  return [
    endWithBlankLine(before, end),
    ...section.map((line) => line + end),
    startWithBlankLine(after, end),
  ].join('')
}

/** The text before and after Ralph's section, byte for byte, and the learnings of the section. */
type SplitText = { before: string; items: string[]; after: string }

/** Lines between the markers that Ralph did not write belong to a person, so they move to a place after the section. */
function splitSection(text: string): SplitText {
  const lines = text.match(/[^\n]*\n|[^\n]+/g) ?? []
  const codeLines = codeBlockLines(lines)
  const marks = lines.map((line, at) => (codeLines.has(at) ? '' : line.trim()))
  const begin = marks.indexOf(BEGIN)
  const end = marks.indexOf(END, begin + 1)
  const textBetween = (from: number, to: number) =>
    lines.filter((_, at) => at >= from && at < to && ![BEGIN, END].includes(marks[at] ?? '')).join('')
  if (begin === -1 || end === -1) return { before: textBetween(0, lines.length), items: [], after: '' }
  const inside = lines.slice(begin + 1, end)
  const items = inside.filter(isItem).map((line) => toItem(line.slice(2), 2 * MAX_ITEM_LENGTH))
  const foreign = inside.filter((line) => !isItem(line) && ![HEADING, ABOUT, ''].includes(line.trim()))
  return {
    before: textBetween(0, begin),
    items: items.filter((item) => item !== ''),
    after: `${foreign.join('')}${textBetween(end + 1, lines.length)}`,
  }
}

/** Indexes of the lines in code blocks, since people may quote Ralph's section in one. A fence that is never closed opens no block. */
function codeBlockLines(lines: readonly string[]): Set<number> {
  const codeLines = new Set(lines.flatMap((line, at) => (/^(?: {4}|\t)/.test(line) ? [at] : [])))
  let open: { mark: string; at: number } | null = null
  for (const [at, line] of lines.entries()) {
    const [, mark, info = ''] = /^ {0,3}(`{3,}|~{3,})(.*)/.exec(line) ?? []
    if (mark === undefined) continue
    if (open === null) open = mark.startsWith('`') && info.includes('`') ? null : { mark, at }
    else if (mark.startsWith(open.mark) && info.trim() === '') {
      for (let inside = open.at; inside <= at; inside += 1) codeLines.add(inside)
      open = null
    }
  }
  return codeLines
}

function isItem(line: string): boolean {
  return line.startsWith('- ')
}

function endWithBlankLine(text: string, end: string): string {
  if (text === '') return ''
  const ended = text.endsWith('\n') ? text : text + end
  return /(?:^|\n)\r?\n$/.test(ended) ? ended : ended + end
}

function startWithBlankLine(text: string, end: string): string {
  return text === '' || /^\r?\n/.test(text) ? text : end + text
}

function sectionOf(items: readonly string[]): string[] {
  return [BEGIN, HEADING, '', ABOUT, '', ...items.map((item) => `- ${item}`), END]
}

/** The newest items that fit into MAX_BYTES. */
function newestThatFit(items: readonly string[]): string[] {
  let left = MAX_BYTES - utf8Bytes(sectionOf([]).join('\n'))
  const from = items.findLastIndex((item) => {
    left -= utf8Bytes(`- ${item}\n`)
    return left < 0
  })
  return items.slice(from + 1)
}

/**
 * One plain line that ends no HTML comment, and opens no tag, fence or heading. It also includes no other file, as `@path` would in a
 * CLAUDE.md that names AGENTS.md. Agents read the raw text, so entities are used only where they are needed. Idempotent.
 */
function toItem(learning: string, most: number): string {
  return oneLine(learning, most)
    .replace(/<(?=[\w/!?])/g, '&lt;')
    .replace(/-->/g, '--&gt;')
    .replace(/`{2,}/g, '`')
    .replace(/~{2,}/g, '~')
    .replace(/(^|[^\w])@(?=[\w./~])/g, '$1@ ')
    .replace(/\](?=[([:])/g, '] ')
    .replace(/^(?:[\s#>*+=|_-]|\[.?\]\s|\d+[.)]\s)+/, '')
}
