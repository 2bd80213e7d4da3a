// Sentences of Ralph's with texts of others in them, and tables of such cells, as data. Every surface renders them in its own way.
import { oneLine } from '../engine/model/text.ts'
import { bold, code, link, markdownText, terminalText } from './escape.ts'

/**
 * `code`: a command or a name, `text`: what others wrote, `button`: what a page calls something, `story`: the id of one, `link`:
 * what an address of ours is called. At most `most` units.
 */
export type Part =
  | string
  | { code: string; most?: number }
  | { text: string; most?: number }
  | { button: string }
  | { story: string }
  | { link: string; url: string }
export type Sentence = readonly Part[]

/** ``says`Go on with ${command}.` ``: a bare string cannot be put in, since it would not show whether its text is trusted. */
export function sentence(
  words: TemplateStringsArray,
  ...parts: readonly (Exclude<Part, string> | Sentence)[]
): Sentence {
  return words.flatMap((word, at): Part[] => [word, parts[at] ?? []].flat())
}

export function toMarkdown(sentence: Sentence): string {
  return sentence
    .map((part) => {
      if (typeof part === 'string') return part
      if ('code' in part) return code(part.code, part.most)
      if ('text' in part) return markdownText(part.text, part.most)
      if ('story' in part) return bold(markdownText(part.story, LONGEST_ID))
      return 'link' in part ? link(markdownText(part.link), part.url) : `*${part.button}*`
    })
    .join('')
}

export const LONGEST_ID = 64

/** One line for terminals and logs. */
export function toPlainText(sentence: Sentence): string {
  return terminalText(sentence.map(partText).join(''), 1000)
}

/** One line, not escaped for any place. */
export function partText(part: Part): string {
  if (typeof part === 'string') return part
  if ('code' in part) return oneLine(part.code, part.most)
  if ('text' in part) return oneLine(part.text, part.most)
  if ('story' in part) return oneLine(part.story, LONGEST_ID)
  return 'link' in part ? oneLine(`${part.link} (${part.url})`) : part.button
}

/**
 * The columns of a table: name, what it holds, and what stands in the cell, where a bare string is ours. `word` and `figure` stay
 * on one line, figures to the right.
 */
export type Columns<T, More = never> = readonly (readonly [
  name: string,
  kind: 'text' | 'word' | 'figure',
  cell: (item: T) => Part | number | More,
])[]
