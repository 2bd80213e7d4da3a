// Reads `/ralph …` out of a comment (or a command line): first line, first word, nothing else. Pure; the text is hostile.
import { nearest } from '../system/nearest.ts'
import type { Command } from './state.ts'

type WithoutSource<C> = C extends { id: number; by: string } ? Omit<C, 'id' | 'by'> : never
/** A command without who said it. */
export type Said = Exclude<WithoutSource<Command>, { kind: 'refused' }>

export type Parsed =
  /** Not for us: no `/ralph` in the first place. */
  | { kind: 'none' }
  | { kind: 'help' }
  | { kind: 'status' }
  | { kind: 'command'; command: Said }
  /** For us, but not understood; `problem` and `fix` are one line each and hold no markup of the sender's. */
  | { kind: 'mistake'; problem: string; fix: string }

const WORDS = [
  'help',
  'status',
  'run',
  'resume',
  'pause',
  'stop',
  'retry',
  'redo',
  'skip',
  'note',
  'add',
  'verify',
  'limit',
  'split',
  'plan',
  'approve-plan',
] as const
type Word = (typeof WORDS)[number]
const LONGEST_TEXT = 2000

/** What the comment asks. `storyIds` are the ids that exist, for the nearest one. */
export function parseSlash(body: string, storyIds: readonly string[]): Parsed {
  const [first = '', ...below] = body.replace(/\r\n?/g, '\n').slice(0, 20_000).split('\n')
  const match = /^\/ralph(?:[ \t]+(.*))?$/s.exec(first.trimEnd())
  if (match === null) return { kind: 'none' }
  const { words, text } = split(match[1] ?? '')
  const [name = 'help', ...args] = words
  const word = name.toLowerCase()
  if (!isWord(word)) return unknownWord(word)
  return understand(word, args, text, below, storyIds)
}

function understand(
  word: Word,
  args: readonly string[],
  text: string,
  below: readonly string[],
  ids: readonly string[],
): Parsed {
  switch (word) {
    case 'help':
      return { kind: 'help' }
    case 'status':
      return { kind: 'status' }
    case 'run':
    case 'resume':
      return { kind: 'command', command: { kind: 'run' } }
    case 'pause':
    case 'stop':
    case 'verify':
      return { kind: 'command', command: { kind: word } }
    case 'retry':
    case 'redo': {
      const found = stories(word, args, ids)
      if ('kind' in found) return found
      const all = args.some((arg) => arg.toLowerCase() === 'all')
      return {
        kind: 'command',
        command: { kind: word, stories: all ? 'all' : found.stories, guidance: text },
      }
    }
    case 'skip':
    case 'note': {
      const found = stories(word, args, ids)
      if ('kind' in found) return found
      if (args.some((arg) => arg.toLowerCase() === 'all'))
        return mistake(`${word} takes stories by name`, `/ralph ${word} ${ids[0] ?? 'US-001'}`)
      if (word === 'note' && text === '')
        return mistake('a note needs a text', `/ralph note ${found.stories[0] ?? 'US-001'} -- the text`)
      return { kind: 'command', command: { kind: word, stories: found.stories, guidance: text } }
    }
    case 'add':
      return add(text, below)
    case 'limit':
      return limit(args)
    case 'split':
    case 'plan':
    case 'approve-plan':
      return mistake(`${word} is not part of this version`, '/ralph help')
  }
}

function add(text: string, below: readonly string[]): Parsed {
  if (text === '') return mistake('a new story needs a title', '/ralph add -- the title')
  const lines = below.map((line) => line.trim()).filter((line) => line !== '')
  const bullet = /^[-*]\s+(?:\[.\]\s+)?/
  const criteria = lines
    .filter((line) => bullet.test(line))
    .map((line) => line.replace(bullet, '').slice(0, 500))
  const description = lines
    .filter((line) => !bullet.test(line))
    .join('\n')
    .slice(0, LONGEST_TEXT)
  return {
    kind: 'command',
    command: { kind: 'add', title: text.slice(0, 200), description, criteria: criteria.slice(0, 50) },
  }
}

function limit(args: readonly string[]): Parsed {
  const [what = '', by = ''] = args
  const amount = /^\+\d{1,6}(\.\d{1,2})?$/.test(by) ? Number(by.slice(1)) : Number.NaN
  if (what === 'iterations' && Number.isInteger(amount) && amount > 0) {
    return { kind: 'command', command: { kind: 'limit', what, amount } }
  }
  if (what === 'cost' && amount > 0) return { kind: 'command', command: { kind: 'limit', what, amount } }
  return mistake('limit takes iterations or cost, and how much more', '/ralph limit iterations +20')
}

function stories(
  word: string,
  args: readonly string[],
  ids: readonly string[],
): { stories: string[] } | Parsed {
  if (args.length === 0) return mistake(`${word} needs a story`, `/ralph ${word} ${ids[0] ?? 'US-001'}`)
  const found: string[] = []
  for (const arg of args) {
    if (arg.toLowerCase() === 'all') continue
    const id = ids.find((one) => one === arg) ?? ids.find((one) => one.toLowerCase() === arg.toLowerCase())
    if (id === undefined) {
      const near = nearest(arg, ids)
      const shown = readable(arg)
      return mistake(
        `there is no story ${shown}`,
        near === null ? `/ralph ${word} ${ids[0] ?? 'US-001'}` : `/ralph ${word} ${near}`,
      )
    }
    if (!found.includes(id)) found.push(id)
  }
  return { stories: found }
}

/** The sender's word without anything that a page would obey. */
function readable(word: string): string {
  return word.replace(/[^\p{L}\p{N}_.-]/gu, '').slice(0, 40) || 'of that name'
}

function unknownWord(word: string): Parsed {
  const near = nearest(word, WORDS.slice(0, WORDS.indexOf('split')))
  const shown = readable(word)
  return mistake(`there is no command ${shown}`, near === null ? '/ralph help' : `/ralph ${near}`)
}

/** The words before ` -- `, and the text behind it. */
function split(rest: string): { words: string[]; text: string } {
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

function isWord(word: string): word is Word {
  return WORDS.some((known) => known === word)
}

function mistake(problem: string, fix: string): Parsed {
  return { kind: 'mistake', problem, fix }
}
