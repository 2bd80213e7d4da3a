// A template that nobody filled in: its stories are the words of whoever made the tool.
import { shown } from '../model/text.ts'
import type { Mistake } from '../system/errors.ts'
import { place } from './opened.ts'
import type { ToldStory } from './types.ts'

/** A title that is a gap alone, or has one in it that only a tool writes. */
const gap =
  /^\W*(?:\[[A-Za-z][\w /'-]{1,60}\]|\{\{?[\w .-]{1,60}\}?\}|<[a-z][\w -]{1,60}>)\W*$|\[(?:FEATURE NAME|Brief Title|Title|Entity\d?|Service|endpoint|feature name|story title)\]|\{\{[\w .-]{1,60}\}\}/

const removed =
  /^[^\w[(]*[[(](?:removed|deleted|dropped|deprecated|cancell?ed|superseded|obsolete|moved)\b[^\])]*[\])]\W*$/i

/** A story of which only its number is left. */
export function isRemoved({ raw: { title } }: ToldStory): boolean {
  return typeof title === 'string' && removed.test(title.slice(0, 100))
}

/** One mistake a file, with the first place. */
export function templateMistakes(path: string, stories: readonly ToldStory[]): Mistake[] {
  const isGap = ({ raw: { title } }: ToldStory) => typeof title === 'string' && gap.test(title.slice(0, 500))
  const [first] = stories.filter(isGap)
  if (first === undefined) return []
  const fix = `fill it in, or leave it out: ralph plan --as background ${path}`
  return [
    {
      path: place(path, first.line),
      found: `a template that nobody filled in: ${shown(first.raw.title)}`.slice(0, 80),
      expected: 'a story',
      fix,
    },
  ]
}
