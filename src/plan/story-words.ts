// Parsers for ids, titles, priorities, labels and statuses in the words of documents.
export { urgencyOf } from '../engine/prd/story-fields.ts'

// Prefixes of ids that are not ids of stories.
const notStories =
  /^(?:EPIC|FR|NFR|AC|ADR|RFC|TC|UTF|SHA|MD|AES|RSA|ISO|ECMA|HTTP|CVE|WCAG|PHASE|STEP|SPRINT|MILESTONE|WEEK|DAY|PART|MVP)-/

// `US-001: x`, `US-001 - x`, `[US-001] x`, `Story US-001: x`.
const named =
  /^(?:(?:[Uu]ser[ \t]+)?[Ss]tory[ \t]+)?\[?([A-Z][A-Z0-9]{0,15}-\d{1,6}(?:-\d{1,3}){0,3})(?![\w-])\]?(.*)$/
// `Story 1.2`: a number is an id only after the word Story. A letter marks a story that was split off, as in `Story 1.2b`. A
// project may name its own epics with letters before the number, as in `Story SE1.1`.
const counted =
  /^(?:user[ \t]+)?story[ \t]+#?(\d{1,4}(?:[.-]\d{1,4}){0,2}(?:(?<=[.-]\d{1,4})[a-z])?|[a-z]{1,12}\d{1,4}[.-]\d{1,4}[a-z]?)(?![\w-])(.*)$/i
const leadingId =
  /^\*{0,2}([A-Z][A-Z0-9]{0,15}-\d{1,6})\*{0,2}[ \t]*[:.\u2013-][ \t]*(?:\*{1,2}[ \t]*)?(\S.*)$/s
const epic = /^\[?(EPIC-\d{1,6}|[Ee]pic[ \t]+\d{1,4})(?![\w-])/

/** Id and title of a text such as `US-001: title`; null if it begins with no id. */
export function parseLeadingId(text: string): { id: string; title: string } | null {
  const [, id, title] = leadingId.exec(text) ?? []
  return id === undefined || title === undefined ? null : { id, title }
}

export function isStoryId(id: string): boolean {
  return !notStories.test(id)
}

export type StoryTitle = { id: string; title: string; done: boolean | null }

/** The id, title and box of a heading that names a story; null for any other heading. */
export function parseStoryTitle(heading: string): StoryTitle | null {
  const text = withoutEmphasis(heading)
  const mark = /^\[([ xX])\][ \t]+/.exec(text)
  const bare = text.slice(mark?.[0].length ?? 0)
  const [, id, rest = ''] = named.exec(bare) ?? counted.exec(bare) ?? []
  if (id === undefined || !isStoryId(id)) return null
  const title = rest.replace(/^[ \t]*[:.)\u2013\u2014-]*/, '').trim()
  return { id: normalizeId(id), title, done: mark === null ? null : mark[1] !== ' ' }
}

/** `1-2` and `1.2` are the same story, and so are `SE1.1` and `se1-1`. */
export function normalizeId(id: string): string {
  if (/^[a-z]{1,12}\d{1,4}[.-]\d{1,4}[a-z]?$/i.test(id)) return id.toLowerCase().replace('.', '-')
  return /^\d/.test(id) ? id.replaceAll('-', '.') : id
}

/** The epic that a heading names, or null. */
export function parseEpicId(heading: string): string | null {
  return epic.exec(withoutEmphasis(heading))?.[1] ?? null
}

/** The title in a heading that names an epic; may be empty. */
export function epicTitle(heading: string): string {
  const text = withoutEmphasis(heading)
  const id = epic.exec(text)?.[0] ?? text
  return text
    .slice(id.length)
    .replace(/^[\]\s:.)\u2013\u2014-]+/, '')
    .trim()
}

/** The text without emphasis, cut to 2,000 characters. */
export function withoutEmphasis(text: string): string {
  return text.slice(0, 2_000).replaceAll('**', '').trim()
}

/** Whether a heading or label introduces acceptance criteria. */
export function isCriteriaLabel(text: string): boolean {
  return isAcceptanceLabel(text) || /^(?:criteria|definition of done|done when)\b/i.test(text.trim())
}

/** Whether a heading or label says "acceptance criteria", which only stories have. */
export function isAcceptanceLabel(text: string): boolean {
  return /^(?:acceptance(?: criteri(?:a|on))?|akzeptanzkriterien|abnahmekriterien)\b/i.test(text.trim())
}

/**
 * The ids of stories in words such as `US-001, Story 1.2`. `own`: the id of the story with these words. If it has letters, a number
 * is not an id but a version.
 */
export function findStoryIds(words: string, own: string): string[] {
  const lettered = words.match(/\b[A-Z][A-Z0-9]{0,15}-\d{1,6}\b/g) ?? []
  const numbers = words.matchAll(
    /(?:^|[,;&]|\band\b|\bstor(?:y|ies)\b)[ \t]*#?(\d{1,4}(?:\.\d{1,4}){1,2})(?![\w.])/gim,
  )
  const numbered = /^\d/.test(own) ? [...[...numbers].map(([, id = '']) => id), ...rangesIn(words)] : []
  return [...new Set([...lettered.filter(isStoryId), ...numbered])].filter((id) => id !== own)
}

/** The stories of ranges such as `Stories 1.2-1.4`, at most 50 of each. */
function rangesIn(words: string): string[] {
  const ranges = words.matchAll(
    /(?:^|[,;&]|\band\b|\bstor(?:y|ies)\b)[ \t]*(\d{1,4})\.(\d{1,4})[ \t]*(?:-|\u2013|to|through)[ \t]*(?:\1\.)(\d{1,4})(?![\w.])/gim,
  )
  return [...ranges].flatMap(([, epicNumber = '', first = '', last = '']) => {
    const count = Math.min(Math.max(Number(last) - Number(first) + 1, 0), 50)
    return Array.from({ length: count }, (_, index) => `${epicNumber}.${Number(first) + index}`)
  })
}

/** Name and value of a field such as `- **Priority:** 2`; null for any other line. */
export function parseField(line: string): { name: string; value: string } | null {
  const bare = line.slice(0, 200).replaceAll('**', '')
  const [, name] = /^(\p{L}[\p{L} ]{1,30}):[ \t]*(?:.*)$/u.exec(bare) ?? []
  if (name === undefined) return null
  return {
    name: name.toLowerCase(),
    value: line
      .slice(line.indexOf(':') + 1)
      .replace(/^\**[ \t]*/, '')
      .trim(),
  }
}

/** For comparisons: lower case, without punctuation and emphasis. */
export function normalizeWords(text: string): string {
  return withoutEmphasis(text)
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Whether a status in words means that the story needs no more work. */
export function isDone(status: string): boolean {
  return /^[^\p{L}]*(?:(?:implementation|development|feature|work|code|story|task|fully|all)[ _-](?:is )?)?(?:done|completed?|closed|accepted|passed|shipped|merged)\b/iu.test(
    status,
  )
}

/** Whether a status in words means that the story was taken out of the plan. */
export function isRemoved(status: string): boolean {
  return /^[^\p{L}]*(?:removed|deleted|dropped|cancell?ed|superseded|obsolete|deprecated|won'?t (?:do|fix))\b/iu.test(
    status,
  )
}

/** `user-login` as "User login". */
export function slugToTitle(slug: string): string {
  const words = slug.replace(/[-_.]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
