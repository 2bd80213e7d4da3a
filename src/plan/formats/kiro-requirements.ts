// The sentences of requirements that Kiro's tasks name by number.
import type { OpenDocument } from '../open-document.ts'

export type Sentences = ReadonlyMap<string, string>

/** The criteria of requirements by number, in any language: `1.2` is the second criterion of the first requirement. */
export function sentencesOf(documents: readonly OpenDocument[]): Sentences {
  const found = new Map<string, string>()
  for (const { text } of documents) {
    let requirement = ''
    let last = ''
    for (const line of text.split('\n')) {
      const [, heading] = /^#{2,4}[ \t]+(.*)$/.exec(line) ?? []
      const [, number] = /^(?:[\p{L}]{1,30}[ \t]*)?(\d{1,3})(?![\d.]*\d)/u.exec(heading ?? '') ?? []
      const [, first, second, words] =
        /^[ \t]*(?:[-*][ \t]+)?(\d{1,3})(?:\.(\d{1,3}))?[.)]?[ \t]+(\S.*)$/.exec(line) ?? []
      if (heading !== undefined) {
        requirement = number ?? requirement
        last = ''
      } else if (words !== undefined && requirement !== '') {
        last = second === undefined ? `${requirement}.${first}` : `${first}.${second}`
        found.set(last, words.trim())
      } else if (line.trim() === '') last = ''
      else if (last !== '' && /^[ \t]/.test(line)) found.set(last, `${found.get(last)} ${line.trim()}`)
    }
  }
  return found
}
