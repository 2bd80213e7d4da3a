// Spec Kit: what a section on dependencies says of user stories, in words.
import { type Block, pointLines } from '../markdown-lists.ts'
import { withoutEmphasis } from '../story-words.ts'

const STORY = '(?:([A-Z][A-Z0-9]{0,15})-)?(?:US[ \\t-]?|user story[ \\t]*)(\\d{1,3})\\b'
const needs =
  /\b(?:depends? (?:up)?on|requires?|needs?|blocked by|builds? (?:up)?on|(?:must|can|should) (?:only )?(?:start|begin|come|follow)s? after|after)\b/i
const before =
  /\b(?:must (?:complete|be complete|finish|be done)|(?:completes?|comes?|goes) )[^.;]{0,30}?\bbefore\b|\bblocks\b/i
const denied = /\b(?:no|not|never|without|independent(?:ly)?|may|optional(?:ly)?)\b|n't\b/i

/** The stories that each story depends on, by the sections on dependencies. What only may be integrated is not a dependency. */
export function storyDependencies(blocks: readonly Block[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  const add = (story: string, need: string) => {
    if (story !== need) found.set(story, (found.get(story) ?? new Set()).add(need))
  }
  for (const line of dependencyLines(blocks)) for (const [story, need] of edgesIn(line)) add(story, need)
  return found
}

/** The lines below a heading on dependencies or on the order. */
function dependencyLines(blocks: readonly Block[]): string[] {
  let level: number | null = null
  const lines: string[] = []
  for (const block of blocks) {
    if (block.kind === 'heading') {
      if (level !== null && block.level <= level) level = null
      if (/\bdependenc(?:y|ies)\b|\b(?:execution|completion|story) order\b/i.test(block.text))
        level ??= block.level
    } else if (level !== null && block.kind === 'words') lines.push(...block.lines)
    else if (level !== null && block.kind === 'points') lines.push(...block.points.flatMap(pointLines))
    else if (level !== null && block.kind === 'verbatim') lines.push(...block.text.split('\n'))
  }
  return lines.map((line) => withoutEmphasis(line).slice(0, 500))
}

/** `US2 depends on US1` as a pair: the story, and what it needs. */
function edgesIn(line: string): [string, string][] {
  const arrows = line.split(/\s*(?:\u2192|->|=>)\s*/)
  if (arrows.length > 1 && !needs.test(line)) return arrowEdges(arrows)
  // The first words name the story; a dash or a full stop ends what it needs.
  const [own, ...rest] = storiesIn(line)
  if (own === undefined || rest.length === 0) return []
  const verb = needs.exec(line)
  const isBefore = before.exec(line)
  if (isBefore !== null && (verb === null || isBefore.index < verb.index))
    return own.at < isBefore.index
      ? storiesIn(clauseAt(line, isBefore.index + isBefore[0].length)).map(({ id }) => [id, own.id])
      : []
  if (verb === null || own.at > verb.index || denied.test(lastClause(line.slice(own.end, verb.index))))
    return []
  const clause = clauseAt(line, verb.index + verb[0].length)
  return denied.test(clause) ? [] : storiesIn(clause).map(({ id }) => [own.id, id])
}

/** `US1 -> US2 -> US3`: each needs the one before it. */
function arrowEdges(parts: readonly string[]): [string, string][] {
  return parts.slice(1).flatMap((part, index): [string, string][] => {
    const needed = storiesIn(parts[index] ?? '').map(({ id }) => id)
    return storiesIn(part).flatMap(({ id }) => needed.map((need): [string, string] => [id, need]))
  })
}

function clauseAt(line: string, from: number): string {
  return line.slice(from).split(/ [-\u2013\u2014] |[.;]/, 1)[0] ?? ''
}

function lastClause(words: string): string {
  return words.split(/ [-\u2013\u2014] |[.;]/).at(-1) ?? ''
}

function storiesIn(words: string): { id: string; at: number; end: number }[] {
  return [...words.matchAll(new RegExp(STORY, 'gi'))].map((match) => {
    const [whole, area, number] = match
    return {
      id: `${area === undefined ? '' : `${area.toUpperCase()}-`}US${Number(number)}`,
      at: match.index,
      end: match.index + whole.length,
    }
  })
}
