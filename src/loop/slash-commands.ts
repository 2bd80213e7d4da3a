// Reads `/ralph …` out of a comment: first line, first word, nothing else. Pure; the text is hostile.
import { understand } from './command-table.ts'
import { type Given, LONGEST_TEXT, type Surface, type Understood } from './command-words.ts'

export type { Said } from './command-words.ts'

/** `none`: not for us, no `/ralph` in the first place. */
export type Parsed = { kind: 'none' } | Understood

/** What the comment asks. `storyIds` are the ids that exist, for the nearest one; `surface`: whose words a mistake is told in. */
export function parseSlash(body: string, storyIds: readonly string[], surface: Surface = 'comment'): Parsed {
  const [first = '', ...below] = body.replace(/\r\n?/g, '\n').slice(0, 20_000).split('\n')
  const match = /^\/ralph(?:[ \t]+(.*))?$/s.exec(first.trimEnd())
  if (match === null) return { kind: 'none' }
  const { words, text } = split(match[1] ?? '')
  const [name = 'help', ...rest] = words
  return understand(name, { words: rest, text, below }, storyIds, surface)
}

/** The words before ` -- `, and the text behind it. */
function split(rest: string): Pick<Given, 'words' | 'text'> {
  const at = /(?:^|\s)(?:--|\u2014|\u2013)(?:\s|$)/u.exec(rest)
  const before = at === null ? rest : rest.slice(0, at.index)
  const text = at === null ? '' : rest.slice(at.index + at[0].length)
  return {
    words: before
      .split(/[\s,]+/)
      .filter(Boolean)
      .slice(0, 100),
    text: text.trim().slice(0, LONGEST_TEXT),
  }
}
