// Templates that were not filled in: their stories are the placeholder text of a tool.
import { describeValue } from '../engine/model/text.ts'
import type { Mistake } from '../system/errors.ts'
import { formatPlace, type OpenDocument } from './open-document.ts'
import type { ParsedStory } from './types.ts'

/** A title that is only a placeholder, or contains one that only a tool writes. */
const gap =
  /^\W*(?:\[[A-Za-z][\w /'-]{1,60}\]|\{\{?[\w .-]{1,60}\}?\}|<[a-z][\w -]{1,60}>)\W*$|\[(?:FEATURE NAME|Brief Title|Title|Entity\d?|Service|endpoint|feature name|story title)\]|\{\{[\w .-]{1,60}\}\}/

/** Placeholders in headings of a template. */
const gapInHeading =
  /\{\{[^{}\n]{1,60}\}\}|\[(?:[A-Z][A-Za-z]* ){0,3}(?:[Nn]ame|NAME|[Tt]itle|TITLE|Project|Product|Feature)\]/
const gapInWords = /\{\{[ ]?[a-z][\w .|-]{0,60}\}\}|\[[A-Z0-9][^\]\n]{2,80}\](?![(:[])/gi
/** A real document may have one or two. */
const LEAST_GAPS = 3

/** Whether a document without stories is a template that was not filled in: headings and text have placeholders. */
export function isUnfilledTemplate({ blocks, text }: OpenDocument): boolean {
  const isGap = blocks.some(
    (block) => block.kind === 'heading' && gapInHeading.test(block.text.slice(0, 500)),
  )
  return isGap && (text.match(gapInWords)?.length ?? 0) >= LEAST_GAPS
}

const removed =
  /^[^\w[(]*[[(](?:removed|deleted|dropped|deprecated|cancell?ed|superseded|obsolete|moved)\b[^\])]*[\])]\W*$/i

/** A story that was removed: only its number is left. */
export function isRemovedStory({ raw: { title } }: ParsedStory): boolean {
  return typeof title === 'string' && removed.test(title.slice(0, 100))
}

/** At most one mistake a file, at the first placeholder. */
export function templateMistakes(path: string, stories: readonly ParsedStory[]): Mistake[] {
  const isGap = ({ raw: { title } }: ParsedStory) =>
    typeof title === 'string' && gap.test(title.slice(0, 500))
  const [first] = stories.filter(isGap)
  if (first === undefined) return []
  const fix = `fill it in, or leave it out: ralph plan --as background ${path}`
  return [
    {
      path: formatPlace(path, first.line),
      found: `a template that is not filled in: ${describeValue(first.raw.title)}`.slice(0, 80),
      expected: 'a story',
      fix,
    },
  ]
}
