// The table of all commands: name, arguments, meaning and surfaces. Parser, help, replies and CLI read it. Pure.

import { nearest } from '../../system/nearest.ts'
import { oneLine, sanitizeText } from '../model/text.ts'
import {
  aboutStory,
  add,
  allow,
  approve,
  type CommandArguments,
  type CommandInput,
  type CommandRequest,
  fix,
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
const PAUSES = 'finish the current iteration, then wait for `run`'
const STOPS = 'end the running session now without counting it as an attempt, then wait for `run`'
const parsesTo = (command: CommandRequest) => (): ParsedCommand => ({ kind: 'command', command })

const ROWS = {
  demo: {
    cli: helpText(
      '',
      'watch a complete run on a sample project with a scripted agent; needs no network and no key',
    ),
  },
  init: {
    cli: helpText(
      '',
      'write the workflow, configuration and issue form for this project; never overwrite a file',
      '--yes --gate "test=npm test"',
    ),
  },
  run: {
    also: 'resume',
    comment: helpText('', 'continue now, even if the run is paused'),
    cli: helpText(
      '[feature]',
      'work on a feature until it is complete, stuck or out of budget; resumes where it stopped',
      'auth',
    ),
    read: parsesTo({ kind: 'run' }),
  },
  status: {
    comment: helpText('', 'show the current status in a reply, which the next `/ralph status` updates'),
    cli: helpText('[feature]', 'show the status of a feature, and what to do next', 'auth'),
    read: (): ParsedCommand => ({ kind: 'status' }),
  },
  why: {
    ...both(
      '[story]',
      'show why a story is not done: its last failure, its attempts, the output of the gate, and what would help',
      'US-002',
    ),
    read: (args: CommandArguments) => aboutStory('why', args),
  },
  diff: {
    ...both(
      '[story]',
      'show what changed for a story: its commits, or the work that its rejected attempts left',
      'US-002',
    ),
    read: (args: CommandArguments) => aboutStory('diff', args),
  },
  plan: {
    also: 'prd',
    comment: helpText(
      '[-- <what to change>]',
      'on an issue: propose stories; on a pull request: propose the plan again, with your changes',
      '-- leave the billing out',
    ),
    cli: helpText(
      '[feature] [-- <what it is>]',
      'turn documents, a sentence or an interview into the stories of a feature',
      'auth --from docs/prd.md',
    ),
    read: plan,
  },
  next: { cli: helpText('[feature]', 'show which story comes next', 'auth') },
  validate: { cli: helpText('[feature]', 'check prd.json, the configuration and what a run needs', 'auth') },
  drill: {
    cli: helpText(
      '',
      'plant typical agent mistakes in a copy of this project, and show which ones your gates stop; needs no key, changes nothing',
      '--minutes 5',
    ),
  },
  doctor: {
    cli: helpText('[feature]', 'check everything that a run needs, and say what to fix; changes nothing', ''),
  },
  notify: {
    cli: helpText(
      '',
      'list notification targets; `--test` sends each a message and shows its answer',
      '--test',
    ),
  },
  prompt: {
    cli: helpText(
      '[story]',
      'show the prompt of the next session for a story, and the size of each part; by default for the next story',
      'US-001',
    ),
  },
  log: {
    cli: helpText(
      '[story]',
      'show the last session and gate output of a story on this machine, with the paths of the files',
      'US-001',
    ),
  },
  report: {
    cli: helpText(
      '[feature]',
      'write the run as one HTML file: what to do next, stories, gate output, cost; `--all` sums up every feature of the clone',
      'auth --open',
    ),
  },
  monitor: {
    cli: helpText(
      '[feature...]',
      'watch runs live on this terminal: those of this clone, or else those in CI',
      'auth',
    ),
  },
  serve: {
    cli: helpText('[feature...]', 'watch runs live on a page in your browser', 'auth'),
  },
  verify: {
    comment: helpText('', 'run the final verification now'),
    cli: helpText(
      '[feature]',
      'run every gate and a judge on the current checkout; changes nothing, and does not count against the budget',
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
      'unblock stories (ids or `all`) and try them again; the guidance goes into the next prompt; `--fresh` discards the work that rejected attempts left',
      'US-002 -- use the existing mailer',
    ),
    read: retry,
  },
  redo: {
    ...both(
      '<story...> [-- <why>]',
      'work again on stories that passed (ids or `all`); their code stays, and the new attempts build on it',
      'US-002 -- it must also work offline',
    ),
    read: (args: CommandArguments) => storiesAndText('redo', args),
  },
  skip: {
    ...both(
      '<story...> [-- <why>]',
      'leave a story out; stories that depend on it can still start',
      'US-002 -- not in this release',
    ),
    read: (args: CommandArguments) => storiesAndText('skip', args),
  },
  note: {
    ...both(
      '<story...> -- <text>',
      'add guidance to the next prompt of a story, without a retry',
      'US-002 -- the mailer is in src/mail',
    ),
    read: (args: CommandArguments) => storiesAndText('note', args),
  },
  add: {
    comment: helpText(
      '-- <title>',
      'add a story; the lines below are its description and criteria',
      '-- Sign out everywhere',
    ),
    cli: helpText(
      '-- <title>',
      'add a story, with its description and criteria as options',
      '--criterion "every session ends" -- Sign out everywhere',
    ),
    read: add,
  },
  fix: {
    ...both(
      '[<story>] -- <what is wrong>',
      'correct finished work: a session makes the change, and it lands if the gates are green',
      'US-002 -- the total is wrong for an empty cart',
    ),
    read: fix,
  },
  drop: {
    ...both(
      '<story...> [-- <why>]',
      'revert the commits of finished stories, and run the gates again',
      'US-002 -- it comes with the next release',
    ),
    read: (args: CommandArguments) => storiesAndText('drop', args),
  },
  update: {
    comment: helpText('', 'merge the base branch into the branch now'),
    cli: helpText('[feature]', 'let the next job in CI merge the base branch into the feature branch', ''),
    read: parsesTo({ kind: 'update' }),
  },
  split: {
    ...both(
      '<story> [-- <how>]',
      'have a session propose smaller stories, which replace it when you approve them',
      'US-002 -- the form first, then the mail',
    ),
    read: (args: CommandArguments) => storiesAndText('split', args),
  },
  'approve-plan': {
    ...both(
      '[<story>] [<digest>]',
      'approve the plan, or a proposed split of a story; if you give the digest that was shown, approve only that version',
      '',
    ),
    read: approve,
  },
  allow: {
    ...both(
      '<package...>',
      'allow new packages (by name, or `all`) that `new-dependencies: refuse` holds back',
      'left-pad',
    ),
    read: allow,
  },
  archive: {
    comment: helpText(
      '',
      'move finished stories from prd.json to `done.json`; this happens in the last commit of this run',
    ),
    cli: helpText(
      '[feature]',
      'move a finished run to .ralph/archive; for an unfinished run, move the finished stories to done.json',
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
  worktree: {
    cli: helpText(
      '[feature]',
      'make a work tree next to this one, for a second run at the same time',
      'billing',
    ),
  },
  upgrade: {
    cli: helpText(
      '[version]',
      'show newer releases and their changes, then update the pins in your workflows and package.json',
      '',
    ),
  },
  completion: { cli: helpText('bash|zsh|fish', 'print the shell completion for `ralph`', 'bash') },
  help: {
    comment: helpText('', 'show this list'),
    cli: helpText('[command]', 'show this list, or the options of a command', 'retry'),
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

/** Parses a comment. `storyIds`: existing ids, to suggest the nearest one. `surface`: people correct their mistakes there. */
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
