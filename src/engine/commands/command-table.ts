// The table of all commands: name, arguments, meaning and surfaces. Parser, help, replies and CLI read it. Pure.

import { nearest } from '../../system/nearest.ts'
import { oneLine, sanitizeText } from '../model/text.ts'
import {
  aboutStory,
  add,
  approve,
  type CommandArguments,
  type CommandInput,
  type CommandRequest,
  formatCommandLine,
  limit,
  MAX_TEXT_LENGTH,
  mistake,
  type ParsedCommand,
  plan,
  retry,
  type Surface,
  safeWord,
  storiesAndText,
  wholeRun,
} from './command-words.ts'

export { type CommandInput, formatCommandLine, type Surface } from './command-words.ts'

/** The help on a command for a surface. `meaning` is Ralph's own Markdown, with code spans only. */
type CommandHelp = { args: string; meaning: string; example: string }

type Row = {
  also?: string
  /** Required: the CLI has every command that comments have. */
  cli: CommandHelp
  comment?: CommandHelp
  /** Parses its arguments; left out for commands that only the CLI has. */
  read?: (args: CommandArguments) => ParsedCommand
}

const helpText = (args: string, meaning: string, example = ''): CommandHelp => ({ args, meaning, example })
const both = (args: string, meaning: string, example = '') => ({
  comment: helpText(args, meaning, example),
  cli: helpText(args, meaning, example),
})
const PAUSES = 'the iteration in work ends, then nothing more until `run`'
const STOPS = 'the session in work is ended now and counts as no attempt; then as `pause`'
const parsesTo = (command: CommandRequest) => (): ParsedCommand => ({ kind: 'command', command })

const ROWS = {
  demo: {
    cli: helpText('', 'a complete run on a sample project, with a scripted agent; no network, no key'),
  },
  init: {
    cli: helpText(
      '',
      'write workflow, configuration and issue form for this project; overwrites nothing',
      '--yes --gate "test=npm test"',
    ),
  },
  run: {
    also: 'resume',
    comment: helpText('', 'go on now; ends a pause'),
    cli: helpText(
      '[feature]',
      'work on a feature until an outcome; goes on where it stands, ends a pause',
      'auth',
    ),
    read: parsesTo({ kind: 'run' }),
  },
  status: {
    comment: helpText('', 'how it stands now, in one reply that is brought up to date by the next one'),
    cli: helpText('[feature]', 'how a feature stands, and what to do next', 'auth'),
    read: (): ParsedCommand => ({ kind: 'status' }),
  },
  why: {
    ...both(
      '[story]',
      'why a story is not done: its last failure, what was tried, what the gate said, and what would help',
      'US-002',
    ),
    read: (args: CommandArguments) => aboutStory('why', args),
  },
  diff: {
    ...both(
      '[story]',
      'what was changed for a story: its commits, or what its rejected attempts left',
      'US-002',
    ),
    read: (args: CommandArguments) => aboutStory('diff', args),
  },
  plan: {
    also: 'prd',
    comment: helpText(
      '[-- <what to change>]',
      'on an issue: propose stories for it; on a pull request: propose the plan anew, with what you say',
      '-- leave the billing out',
    ),
    cli: helpText(
      '[feature] [-- <what it is>]',
      'turn documents, a sentence or an interview into the stories of a feature',
      'auth --from docs/prd.md',
    ),
    read: plan,
  },
  next: { cli: helpText('[feature]', 'which story comes next', 'auth') },
  validate: { cli: helpText('[feature]', 'check prd.json, the configuration and what a run needs', 'auth') },
  doctor: {
    cli: helpText(
      '[feature]',
      'look at everything that a run needs, and say what to mend; changes nothing',
      '',
    ),
  },
  notify: {
    cli: helpText(
      '',
      'whom a run tells; `--test` sends a message to each, and says what it answered',
      '--test',
    ),
  },
  prompt: {
    cli: helpText(
      '[story]',
      'the prompt that the next session of a story gets, and its size by part; without a story: of the next one',
      'US-001',
    ),
  },
  log: {
    cli: helpText(
      '[story]',
      'what the last session and gates of a story said on this machine, and where that lies',
      'US-001',
    ),
  },
  report: {
    cli: helpText(
      '[feature]',
      'the run as one HTML file: what to do next, stories, gate output, cost; `--all` sums up every feature of the clone',
      'auth --open',
    ),
  },
  monitor: {
    cli: helpText(
      '[feature...]',
      'how runs stand, live on this terminal: those of this clone, else those in CI',
      'auth',
    ),
  },
  serve: {
    cli: helpText('[feature...]', 'the same as a page in your browser, which follows by itself', 'auth'),
  },
  verify: {
    comment: helpText('', 'run the final verification now'),
    cli: helpText(
      '[feature]',
      'run every gate and a judge on the checkout as it is; changes nothing, and the run is not charged',
      'auth',
    ),
    read: parsesTo({ kind: 'verify' }),
  },
  pause: {
    comment: helpText('', PAUSES),
    cli: helpText('[feature]', PAUSES, ''),
    read: wholeRun('pause'),
  },
  stop: {
    comment: helpText('', STOPS),
    cli: helpText('[feature]', STOPS, ''),
    read: wholeRun('stop'),
  },
  retry: {
    ...both(
      '<story...> [--fresh] [-- <guidance>]',
      'unblock a story and try it again; several ids or `all`; the guidance goes into the next prompt; `--fresh` throws away what its rejected attempts left',
      'US-002 -- use the existing mailer',
    ),
    read: retry,
  },
  redo: {
    ...both(
      '<story...> [-- <why>]',
      'work on a story again although it passed; several ids or `all`; its code stays',
      'US-002 -- it must work offline, too',
    ),
    read: (args: CommandArguments) => storiesAndText('redo', args),
  },
  skip: {
    ...both(
      '<story...> [-- <why>]',
      'leave a story out; what depends on it goes on',
      'US-002 -- not in this release',
    ),
    read: (args: CommandArguments) => storiesAndText('skip', args),
  },
  note: {
    ...both(
      '<story...> -- <text>',
      'guidance for the next prompt of a story, nothing else',
      'US-002 -- the mailer is in src/mail',
    ),
    read: (args: CommandArguments) => storiesAndText('note', args),
  },
  add: {
    comment: helpText(
      '-- <title>',
      'a new story; the lines below are its description and criteria',
      '-- Sign out everywhere',
    ),
    cli: helpText(
      '-- <title>',
      'a new story, with its description and criteria as options',
      '--criterion "every session ends" -- Sign out everywhere',
    ),
    read: add,
  },
  split: {
    ...both(
      '<story> [-- <how>]',
      'a session proposes smaller stories; they replace it when you approve them',
      'US-002 -- the form first, then the mail',
    ),
    read: (args: CommandArguments) => storiesAndText('split', args),
  },
  'approve-plan': {
    ...both(
      '[<story>] [<digest>]',
      'work on the plan, or on the parts of a story, as they were shown; a digest names the stories that are meant',
      '',
    ),
    read: approve,
  },
  archive: {
    comment: helpText(
      '',
      'the stories that are done leave prd.json for `done.json` beside it, with the commit that ends this run',
    ),
    cli: helpText(
      '[feature]',
      'put a finished run into .ralph/archive; of one that is not, the stories that are done into done.json',
      'auth',
    ),
    read: parsesTo({ kind: 'archive' }),
  },
  limit: {
    ...both(
      'iterations|cost +<more>',
      'raise a limit: `iterations +20`, or `cost +5` for dollars',
      'iterations +20',
    ),
    read: limit,
  },
  upgrade: {
    cli: helpText(
      '[version]',
      'which release is newer, and what changes; moves the pin of the action in the workflows, and of the package in package.json',
      '',
    ),
  },
  completion: { cli: helpText('bash|zsh|fish', 'print what completes `ralph` on your shell', 'bash') },
  help: {
    comment: helpText('', 'this list'),
    cli: helpText('[command]', 'this list, or what a command takes', 'retry'),
    read: (): ParsedCommand => ({ kind: 'help' }),
  },
} satisfies Record<string, Row>

export type CommandName = keyof typeof ROWS

const TABLE: ReadonlyMap<string, Row> = new Map(Object.entries(ROWS))

export type ListedCommand = CommandHelp & { name: CommandName; also: string | null }

/** The commands of a surface in the table's order. The example is a whole command line for that surface. */
export function commandsOn(surface: Surface): ListedCommand[] {
  return [...TABLE].flatMap(([name, { also = null, ...on }]) => {
    const shown = on[surface]
    if (shown === undefined || !isName(name)) return []
    return [{ ...shown, example: formatCommandLine(surface, `${name} ${shown.example}`.trim()), name, also }]
  })
}

function isName(name: string): name is CommandName {
  return name in ROWS
}

/** Parses a command. Every fix is a command line for the same surface. */
export function parseCommand(
  name: string,
  input: CommandInput,
  storyIds: readonly string[],
  surface: Surface,
): ParsedCommand {
  const word = name.toLowerCase()
  const names = commandsOn(surface).flatMap(({ name: one, also }) => (also === null ? [one] : [one, also]))
  const row = TABLE.get(word) ?? [...TABLE.values()].find(({ also }) => also === word)
  if (row?.[surface] !== undefined && row.read !== undefined) {
    // Text that a reader of the comment cannot see must not reach the state or a prompt.
    const below = input.below.map(sanitizeText)
    return row.read({
      words: input.words.map((one) => sanitizeText(one)).filter(Boolean),
      text: oneLine(input.text, MAX_TEXT_LENGTH),
      below,
      surface,
      storyIds,
    })
  }
  return mistake(surface, `there is no command ${safeWord(word)}`, nearest(word, names) ?? 'help')
}

export type { CommandRequest } from './command-words.ts'

/** A parsed comment. `none`: it does not begin with `/ralph`. */
export type ParsedComment = { kind: 'none' } | ParsedCommand

/** Parses a comment. `storyIds`: existing ids, to suggest the nearest one. `surface`: where the fix of a mistake is to be typed. */
export function parseSlash(
  body: string,
  storyIds: readonly string[],
  surface: Surface = 'comment',
): ParsedComment {
  const [first = '', ...below] = body.replace(/\r\n?/g, '\n').slice(0, 20_000).split('\n')
  // Any visible space separates: a phone's keyboard may write a no-break space. Invisible characters do not.
  const match = /^\/ralph(?:[\t\p{Zs}]+(.*))?$/isu.exec(first.trimEnd())
  if (match === null) return { kind: 'none' }
  const { words, text } = split(match[1] ?? '')
  const [name = 'help', ...rest] = words
  return parseCommand(name, { words: rest, text, below }, storyIds, surface)
}

function split(rest: string): Pick<CommandInput, 'words' | 'text'> {
  const at = /(?:^|\s)(?:--|\u2014|\u2013)(?:\s|$)/u.exec(rest)
  const before = at === null ? rest : rest.slice(0, at.index)
  const text = at === null ? '' : rest.slice(at.index + at[0].length)
  return {
    words: before.split(/\s+/).filter(Boolean),
    text: text.trim().slice(0, MAX_TEXT_LENGTH),
  }
}
