// Sentences with untrusted texts in them, and tables with such cells, as data. Each surface renders them in its own way.
import { oneLine } from '../engine/model/text.ts'
import { bold, code, link, markdownText, terminalText } from './escape.ts'

/**
 * A bare string is Ralph's own text. `code`: a command or a name. `text`: a text of people or agents. `button`: a label on a page.
 * `story`: a story's id. `link`: the text of a link. `most`: the maximum number of UTF-16 units that are shown.
 */
export type SentencePart =
  | string
  | { code: string; most?: number }
  | { text: string; most?: number }
  | { button: string }
  | { story: string }
  | { link: string; url: string }
export type Sentence = readonly SentencePart[]

/** ``sentence`Continue with ${command}.` ``. A bare string cannot be inserted, since it would not show whether its text is trusted. */
export function sentence(
  words: TemplateStringsArray,
  ...parts: readonly (Exclude<SentencePart, string> | Sentence)[]
): Sentence {
  return words.flatMap((word, index): SentencePart[] => [word, parts[index] ?? []].flat())
}

export function toMarkdown(sentence: Sentence): string {
  return sentence
    .map((part) => {
      if (typeof part === 'string') return part
      if ('code' in part) return code(part.code, part.most)
      if ('text' in part) return markdownText(part.text, part.most)
      if ('story' in part) return bold(markdownText(part.story, MAX_ID_LENGTH))
      return 'link' in part ? link(markdownText(part.link), part.url) : `*${part.button}*`
    })
    .join('')
}

export const MAX_ID_LENGTH = 64

/** One line for terminals and logs. */
export function toPlainText(sentence: Sentence): string {
  return terminalText(sentence.map(partText).join(''), 1000)
}

/** The part as one line, not escaped. */
export function partText(part: SentencePart): string {
  if (typeof part === 'string') return part
  if ('code' in part) return oneLine(part.code, part.most)
  if ('text' in part) return oneLine(part.text, part.most)
  if ('story' in part) return oneLine(part.story, MAX_ID_LENGTH)
  return 'link' in part ? oneLine(`${part.link} (${part.url})`) : part.button
}

/**
 * The columns of a table. A bare string as a cell is Ralph's own text. Cells of the kinds `word` and `figure` are not wrapped; figures
 * are right-aligned.
 */
export type Columns<T, More = never> = readonly (readonly [
  name: string,
  kind: 'text' | 'word' | 'figure',
  cell: (item: T) => SentencePart | number | More,
])[]
