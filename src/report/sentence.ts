// A sentence of ours with words of others in it, as data: every surface renders it in its own way.
import { oneLine } from '../model/text.ts'
import { code, markdownText, terminalText } from './escape.ts'

/** `code`: a command or a name, `text`: what others wrote, `button`: what a page calls something. At most `most` units. */
export type Part = string | { code: string; most?: number } | { text: string } | { button: string }
export type Sentence = readonly Part[]

/** ``says`Go on with ${command}.` ``: a bare string cannot be put in, since nobody could tell whose it is. */
export function says(
  words: TemplateStringsArray,
  ...parts: readonly (Exclude<Part, string> | Sentence)[]
): Sentence {
  return words.flatMap((word, at): Part[] => [word, parts[at] ?? []].flat())
}

export function inMarkdown(sentence: Sentence): string {
  return sentence
    .map((part) => {
      if (typeof part === 'string') return part
      if ('code' in part) return code(part.code, part.most)
      return 'text' in part ? markdownText(part.text) : `*${part.button}*`
    })
    .join('')
}

/** One line for terminals and logs. */
export function inPlain(sentence: Sentence): string {
  const words = sentence.map((part) => {
    if (typeof part === 'string') return part
    if ('code' in part) return oneLine(part.code, part.most)
    return 'text' in part ? oneLine(part.text) : part.button
  })
  return terminalText(words.join(''), 1000)
}
