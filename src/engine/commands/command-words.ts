// Parsers of the arguments of each command in command-table.ts. Pure; the text is hostile.

import { nearest } from '../../system/nearest.ts'
import type { Command } from '../model/event.ts'
import { truncate } from '../model/text.ts'
import { idList, nearestId } from '../prd/known-ids.ts'

/** Where a command is typed: `/ralph retry US-002` in a comment, `ralph retry US-002` on a command line. */
export type Surface = 'comment' | 'cli'

type WithoutSource<C> = C extends { id: number; by: string } ? Omit<C, 'id' | 'by' | 'at'> : never
export type CommandRequest = Exclude<WithoutSource<Command>, { kind: 'refused' }>

export type ParsedCommand =
  | { kind: 'help' }
  | { kind: 'status' }
  /** A question that the state answers at once. Null: the story that failed last (`why`), or the whole change (`diff`). */
  | { kind: 'why' | 'diff'; story: string | null }
  | { kind: 'command'; command: CommandRequest }
  /** Not understood. `problem` and `fix` are one line each, without markup of the sender. */
  | { kind: 'mistake'; problem: string; fix: string }

/**
 * What follows a command's name. `words`: what is before ` -- `, split at spaces; `text`: the text after it; `below`: the lines after
 * the first. All of it is hostile.
 */
export type CommandInput = { words: readonly string[]; text: string; below: readonly string[] }

export type CommandArguments = CommandInput & { surface: Surface; storyIds: readonly string[] }

export const MAX_TEXT_LENGTH = 2000

/** A command line for a surface: `/ralph run`, `ralph run`. */
export function formatCommandLine(surface: Surface, line: string): string {
  return `${surface === 'comment' ? '/' : ''}ralph ${line}`
}

/** `--fresh`, also with the long dash that some keyboards make of two dashes. */
const FRESH = /^(?:--|[\u2013\u2014])fresh$/i

export function retry(args: CommandArguments): ParsedCommand {
  // The flag counts only between the stories or as the last word. Inside the guidance it may be a word of the guidance.
  const { next } = readStories(args, (word) => FRESH.test(word))
  const isOption = (word: string, at: number) =>
    FRESH.test(word) && (at === args.words.length - 1 || at < next)
  const words = args.words.filter((word, at) => !isOption(word, at))
  const parsed = storiesAndText('retry', { ...args, words })
  if (words.length === args.words.length) return parsed
  if (parsed.kind !== 'command' || parsed.command.kind !== 'retry') return parsed
  return { kind: 'command', command: { ...parsed.command, fresh: true } }
}

/** A question about one story. `all` means the same as no argument. */
export function aboutStory(
  kind: 'why' | 'diff',
  { words, storyIds, surface }: CommandArguments,
): ParsedCommand {
  const [word = 'all', ...others] = words
  if (others.length > 0)
    return mistake(surface, `${kind} takes one story`, `${kind} ${storyIds[0] ?? ''}`.trim())
  if (word.toLowerCase() === 'all') return { kind, story: null }
  const story = storyIn(storyIds, word)
  if (story !== undefined) return { kind, story }
  return unknownStory(kind, word, { storyIds, surface })
}

function unknownStory(
  name: string,
  word: string,
  { storyIds, surface }: Pick<CommandArguments, 'storyIds' | 'surface'>,
) {
  const near = nearestId(word, storyIds)
  const problem = `there is no story ${safeWord(word)}`
  if (near !== null) return mistake(surface, problem, `${name} ${near}`)
  const shown = idList(storyIds.map(safeWord))
  const known = ['The run has no stories yet', `The only story is ${shown}`][storyIds.length]
  return mistake(surface, `${problem}. ${known ?? `The stories are ${shown}`}`, 'status')
}

/** The story that a word names: exactly, or with other capitals, a comma after it, or fewer zeros before its number (`us-2`). */
function storyIn(storyIds: readonly string[], word: string): string | undefined {
  const folded = word.toLowerCase()
  const bare = folded.replace(/[,;:.]+$/, '')
  const only = (fold: (id: string) => string) => {
    const found = storyIds.filter((id) => fold(id) === fold(bare))
    return found.length === 1 ? found[0] : undefined
  }
  return (
    storyIds.find((id) => id === word) ??
    storyIds.find((id) => id.toLowerCase() === folded) ??
    only((id) => id.toLowerCase()) ??
    only((id) => withoutZeros(id))
  )
}

function withoutZeros(id: string): string {
  return id.toLowerCase().replace(/(?<!\d)0+(?=\d)/g, '')
}

export function storiesAndText(
  kind: 'retry' | 'redo' | 'skip' | 'drop' | 'note' | 'split',
  args: CommandArguments,
): ParsedCommand {
  const { words, storyIds, surface } = args
  const first = storyIds[0] ?? 'US-001'
  if (words.length === 0) return mistake(surface, `${kind} needs a story`, `${kind} ${first}`)
  const { found, all, next } = readStories(args)
  const word = words[next]
  if (word !== undefined && (next === 0 || resemblesStory(word, storyIds)))
    return unknownStory(kind, word, args)
  if (word !== undefined && /^(?:--|[\u2013\u2014])[\p{L}\p{N}]/u.test(word))
    return mistake(surface, `${kind} has no option ${safeWord(word)}`, `${kind} ${found[0] ?? 'all'}`)
  const guidance = guidanceOf(words.slice(next), args)
  if (kind === 'retry' || kind === 'redo')
    return { kind: 'command', command: { kind, stories: all ? 'all' : found, guidance } }
  if (all) return mistake(surface, `${kind} does not take "all": name the stories`, `${kind} ${first}`)
  if (kind === 'note' && guidance === '')
    return mistake(surface, 'a note needs a text', `note ${found[0] ?? first} -- the text`)
  if (kind !== 'split') return { kind: 'command', command: { kind, stories: found, guidance } }
  const [story = '', ...others] = found
  if (others.length > 0) return mistake(surface, 'split takes one story', `split ${story}`)
  return { kind: 'command', command: { kind, story, guidance } }
}

/** The maximum number of stories that one command may name. */
const MAX_STORIES = 100

/** The stories at the beginning of the words; `next`: the position of the first word that names none. */
function readStories(
  { words, storyIds }: Pick<CommandArguments, 'words' | 'storyIds'>,
  isOption: (word: string) => boolean = () => false,
) {
  const found = new Set<string>()
  let all = false
  for (const [next, word] of words.entries()) {
    // `US-001,US-002` is two stories. An id with a comma in it does not exist.
    const ids = word.split(',').filter((one) => one !== '')
    const stories = ids.map((one) => storyIn(storyIds, one))
    // After a story, `all` may be the first word of the guidance.
    const isAll = /^all,?$/i.test(word) && (next === 0 || next === words.length - 1)
    if (isAll) all = true
    else if (next >= MAX_STORIES) return { found: [...found], all, next }
    else if (word !== ',' && !(isOption(word) || stories.every((one) => one !== undefined)))
      return { found: [...found], all, next }
    else for (const story of stories) if (story !== undefined) found.add(story)
  }
  return { found: [...found], all, next: words.length }
}

/** Whether a word is probably a mistyped id. Without a number in it, only one slip from a long id: other words are guidance. */
function resemblesStory(word: string, storyIds: readonly string[]): boolean {
  if (/\d/.test(word)) return nearest(word, storyIds) !== null || /^[a-z]+-\d+[,;:.]?$/i.test(word)
  return word.length >= 5 && nearest(word, storyIds, word.length) !== null
}

/** A person's text: the words after the stories, what follows ` -- `, and in a comment the lines below, with their indentation. */
function guidanceOf(words: readonly string[], { text, below, surface }: CommandArguments): string {
  const first = [words.join(' '), text].filter((part) => part !== '').join(' ')
  const lines = surface === 'comment' ? [first, ...below.map((line) => line.trimEnd())] : [first]
  const whole = lines.join('\n').replace(/^\n+/, '').trimEnd()
  return truncate(whole.replace(/\n{3,}/g, '\n\n'), MAX_TEXT_LENGTH)
}

/** A command about the whole run. If it names a story it is refused, as it would do more than the person asked for. */
export function wholeRun(kind: 'pause' | 'stop'): (args: CommandArguments) => ParsedCommand {
  return ({ words, storyIds, surface }) => {
    const named = words.slice(0, MAX_STORIES)
    const story = named.map((word) => storyIn(storyIds, word)).find((id) => id !== undefined)
    if (story === undefined) return { kind: 'command', command: { kind } }
    return mistake(surface, `${kind} is for the whole run`, `skip ${story}`)
  }
}

/** Blank lines are dropped: people often write one answer on each line. */
export function plan({ words, text, below, surface }: CommandArguments): ParsedCommand {
  const guidanceLines = surface === 'comment' ? [words.join(' '), text, ...below] : [text]
  const lines = guidanceLines.map((line) => line.trim()).filter((line) => line !== '')
  const guidance = truncate(lines.join('\n'), MAX_TEXT_LENGTH)
  return { kind: 'command', command: { kind: 'plan', guidance } }
}

export function approve(args: CommandArguments): ParsedCommand {
  const { words, storyIds, surface } = args
  const digest = words.find((word) => /^[0-9a-f]{8}$/i.test(word))?.toLowerCase() ?? null
  const [word, ...others] = words.filter((one) => one.toLowerCase() !== digest)
  if (word === undefined) return { kind: 'command', command: { kind: 'approve', story: null, digest } }
  if (others.length > 0) return mistake(surface, 'approve-plan takes one story', 'approve-plan')
  const story = storyIn(storyIds, word)
  if (story === undefined) return unknownStory('approve-plan', word, args)
  return { kind: 'command', command: { kind: 'approve', story, digest } }
}

export function add({ words, text, below, surface }: CommandArguments): ParsedCommand {
  if (words.length > 0) {
    const problem = text === '' ? 'a new story needs a title' : 'the title of a new story comes after --'
    const title = [...words, ...text.split(' ')].map(plainWord).filter(Boolean).join(' ') || 'the title'
    return mistake(
      surface,
      `${problem}, and no other word may come before --`,
      `add -- ${title.slice(0, 200)}`,
    )
  }
  if (text === '') return mistake(surface, 'a new story needs a title', 'add -- the title')
  const lines = below.map((line) => line.trim()).filter((line) => line !== '')
  const bullet = /^[-*]\s+(?:\[.\]\s+)?/
  const criteria = lines
    .filter((line) => bullet.test(line))
    .map((line) => line.replace(bullet, '').slice(0, 500))
  const description = lines
    .filter((line) => !bullet.test(line))
    .join('\n')
    .slice(0, MAX_TEXT_LENGTH)
  return {
    kind: 'command',
    command: { kind: 'add', title: text.slice(0, 200), description, criteria: criteria.slice(0, 50) },
  }
}

/** A correction. The words are the request; a story may come first. */
export function fix(args: CommandArguments): ParsedCommand {
  const { words, storyIds, surface } = args
  const [first = '', ...rest] = words
  const story = storyIn(storyIds, first) ?? null
  const text = guidanceOf(story === null ? words : rest, args)
  const example = `fix ${story ?? storyIds[0] ?? ''} -- what is wrong`.replace('  ', ' ')
  if (text === '') return mistake(surface, 'fix needs words that say what is wrong', example)
  if (story === null && /^[a-z]+-\d+[,;:.]?$/i.test(first)) return unknownStory('fix', first, args)
  return { kind: 'command', command: { kind: 'fix', story, text } }
}

/** New packages by name, or `all`. */
export function allow({ words, surface }: CommandArguments): ParsedCommand {
  const packages = words.map((word) => word.replace(/,+$/, '').toLowerCase()).filter((word) => word !== '')
  if (packages.length === 0) return mistake(surface, 'allow needs the name of a new package', 'allow all')
  if (packages.length > MAX_PACKAGES)
    return mistake(surface, `allow takes at most ${MAX_PACKAGES} names`, 'allow all')
  const isAll = packages.length === 1 && packages[0] === 'all'
  return { kind: 'command', command: { kind: 'allow', packages: isAll ? 'all' : packages } }
}

const MAX_PACKAGES = 100

export function limit({ words, surface }: CommandArguments): ParsedCommand {
  const [what = '', by = '', ...others] = words
  const problem = 'say what to raise, iterations or cost, and by how much'
  if (what !== 'iterations' && what !== 'cost') return mistake(surface, problem, 'limit iterations +20')
  const [, sign, digits] = /^(\+?)(\d{1,6}(?:\.\d{1,2})?)$/.exec(by) ?? []
  const amount = Number(digits)
  const isAmount = amount > 0 && (what === 'cost' || Number.isInteger(amount))
  if (isAmount && sign === '+' && others.length === 0)
    return { kind: 'command', command: { kind: 'limit', what, amount } }
  const defaultAmount = what === 'cost' ? 5 : 20
  return mistake(surface, problem, `limit ${what} +${isAmount ? amount : defaultAmount}`)
}

/** The sender's word without characters that Markdown or HTML would interpret. */
export function safeWord(word: string): string {
  return plainWord(word) || 'of that name'
}

function plainWord(word: string): string {
  return word.replace(/[^\p{L}\p{N}_.-]/gu, '').slice(0, 40)
}

export function mistake(surface: Surface, problem: string, line: string): ParsedCommand {
  return { kind: 'mistake', problem, fix: formatCommandLine(surface, line) }
}
