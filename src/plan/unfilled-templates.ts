// Finds templates of tools that were not filled in: their stories are placeholders.
import { describeValue } from '../engine/model/text.ts'
import type { Mistake } from '../system/errors.ts'
import { formatPlace, type OpenDocument } from './open-document.ts'
import type { ParsedStory } from './types.ts'

/** A title that is only a placeholder, or contains one that people do not write. */
const placeholder =
  /^\W*(?:\[[A-Za-z][\w /'-]{1,60}\]|\{\{?[\w .-]{1,60}\}?\}|<[a-z][\w -]{1,60}>)\W*$|\[(?:FEATURE NAME|Brief Title|Title|Entity\d?|Service|endpoint|feature name|story title)\]|\{\{[\w .-]{1,60}\}\}/

/** Placeholders in headings of a template. */
const placeholderInHeading =
  /\{\{[^{}\n]{1,60}\}\}|\[(?:[A-Z][A-Za-z]* ){0,3}(?:[Nn]ame|NAME|[Tt]itle|TITLE|Project|Product|Feature)\]/
const placeholderInText = /\{\{[ ]?[a-z][\w .|-]{0,60}\}\}|\[[A-Z0-9][^\]\n]{2,80}\](?![(:[])/gi
/** Fewer placeholders may be in a real document. */
const MIN_PLACEHOLDERS = 3

/** Whether a document without stories is a template that was not filled in, by placeholders in its headings and text. */
export function isUnfilledTemplate({ blocks, text }: OpenDocument): boolean {
  const hasPlaceholder = blocks.some(
    (block) => block.kind === 'heading' && placeholderInHeading.test(block.text.slice(0, 500)),
  )
  return hasPlaceholder && (text.match(placeholderInText)?.length ?? 0) >= MIN_PLACEHOLDERS
}

// A bracket with such a word, a struck title, or a word with a separator: `[Removed]`, `~~Import~~ (later)`, `REMOVED: Import`.
const removed =
  /^[^\w[(]*[[(](?:removed|deleted|dropped|deprecated|cancell?ed|superseded|obsolete|moved)\b[^\])]*[\])]\W*$/i

const struck = /^\W*~~[^~]+~~[\s.:]*(?:[([\u2013\u2014-].*)?$/s
const bracketed = /^[^\w[(]*[[(](?:removed|deleted|dropped|cancell?ed|superseded|obsolete)[\])]/i
const labelled =
  /^\W*(?:(?:REMOVED|DELETED|DROPPED|CANCELL?ED|SUPERSEDED|OBSOLETE)[ \t]*(?:[:\u2013\u2014]|- ))[ \t]*\S/

/** Whether the story was removed from the plan, and is only left in the document. */
export function isRemovedStory({ raw: { title }, isRemoved = false }: ParsedStory): boolean {
  if (typeof title !== 'string') return isRemoved
  const words = title.slice(0, 500)
  return (
    isRemoved ||
    removed.test(words.slice(0, 100)) ||
    struck.test(words) ||
    bracketed.test(words) ||
    labelled.test(words)
  )
}

/**
 * The stories without those whose title is a placeholder, and a mistake for the first of these. If there are many, the whole document is
 * a template, and its other stories are samples as well.
 */
export function withoutPlaceholders(
  document: OpenDocument,
  stories: readonly ParsedStory[],
): { filled: ParsedStory[]; mistakes: Mistake[] } {
  const isPlaceholder = ({ raw: { title } }: ParsedStory) =>
    typeof title === 'string' && placeholder.test(title.slice(0, 500))
  const unfilled = stories.filter(isPlaceholder)
  const [first] = unfilled
  if (first === undefined) return { filled: [...stories], mistakes: [] }
  const isTemplate =
    placeholderInHeading.test(document.title) ||
    unfilled.length >= MIN_PLACEHOLDERS ||
    unfilled.length * 2 >= stories.length
  const { path } = document
  const fix = `fill the template in, or leave it out with ralph plan --as background ${path}`
  const mistake = {
    path: formatPlace(path, first.line),
    found: `this is a template that is not filled in: ${describeValue(String(first.raw.title).slice(0, 40))}.`,
    expected: '',
    fix,
  }
  return { filled: isTemplate ? [] : stories.filter((one) => !isPlaceholder(one)), mistakes: [mistake] }
}
