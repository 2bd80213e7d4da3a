// Every command that people can type, once: its name, arguments, meaning and surfaces. Parser, help, replies and CLI read it. Pure.

import type { Command } from '../model/event.ts'
import { oneLine, plainLines } from '../model/text.ts'
import { nearest } from '../system/nearest.ts'

/** Where a command is typed: `/ralph retry US-002` in a comment, `ralph retry US-002` on a command line. */
export type Surface = 'comment' | 'cli'

type WithoutSource<C> = C extends { id: number; by: string } ? Omit<C, 'id' | 'by' | 'at'> : never
/** A command without who said it. */
export type Said = Exclude<WithoutSource<Command>, { kind: 'refused' }>

export type Understood =
  | { kind: 'help' }
  | { kind: 'status' }
  /** Asked of what is known, and answered at once; null: the story that failed last, or all that was changed. */
  | { kind: 'why' | 'diff'; story: string | null }
  | { kind: 'command'; command: Said }
  /** Not understood; `problem` and `fix` are one line each and hold no markup of the sender's. */
  | { kind: 'mistake'; problem: string; fix: string }

/** What was typed behind the name. `text`: behind ` -- `; `below`: the lines under it. All of it is hostile. */
export type Given = { words: readonly string[]; text: string; below: readonly string[] }

type Asked = Given & { surface: Surface; storyIds: readonly string[] }

/** How a command is told on a surface. `meaning` is markdown of ours: code spans and nothing else. */
export type Told = { args: string; meaning: string; example: string }

type Row = {
  /** Another name for it. */
  also?: string
  /** Whatever a comment can do, the CLI can do. */
  on: { readonly cli: Told; readonly comment?: Told }
  /** What the words behind it ask of a run; null for what only the CLI does, by itself. */
  read: ((asked: Asked) => Understood) | null
}

export const LONGEST_TEXT = 2000

const both = (args: string, meaning: string, example: string): Row['on'] => {
  const told = { args, meaning, example }
  return { comment: told, cli: told }
}
const comment = (meaning: string) => ({ args: '', meaning, example: '' })
const cli = (args: string, meaning: string, example = '') => ({ args, meaning, example })
const asks = (command: Said) => (): Understood => ({ kind: 'command', command })

const ROWS = {
  demo: {
    on: { cli: cli('', 'a complete run on a sample project, with a scripted agent; no network, no key') },
    read: null,
  },
  init: {
    on: {
      cli: cli(
        '',
        'write workflow, configuration and issue form for this project; overwrites nothing',
        '--yes --gate "test=npm test"',
      ),
    },
    read: null,
  },
  run: {
    also: 'resume',
    on: {
      comment: comment('go on now; ends a pause'),
      cli: cli(
        '[feature]',
        'work on a feature until an outcome; goes on where it stands, ends a pause',
        'auth',
      ),
    },
    read: asks({ kind: 'run' }),
  },
  status: {
    on: {
      comment: comment('how it stands now, in one reply that is brought up to date by the next one'),
      cli: cli('[feature]', 'how a feature stands, and what to do next', 'auth'),
    },
    read: (): Understood => ({ kind: 'status' }),
  },
  why: {
    on: both(
      '[story]',
      'why it is not done: its last failure, what was tried, what the gate said, and what would help',
      'US-002',
    ),
    read: (asked: Asked) => aboutStory('why', asked),
  },
  diff: {
    on: both('[story]', 'what was changed for it: its commits, or what its rejected attempts left', 'US-002'),
    read: (asked: Asked) => aboutStory('diff', asked),
  },
  plan: {
    also: 'prd',
    on: {
      comment: {
        args: '[-- <what to change>]',
        meaning:
          'on an issue: propose stories for it; on a pull request: propose the plan anew, with what you say',
        example: '-- leave the billing out',
      },
      cli: cli(
        '[feature] [-- <what it is>]',
        'turn documents, a sentence or an interview into the stories of a feature',
        'auth --from docs/prd.md',
      ),
    },
    read: ({ text: guidance }: Asked) => ({ kind: 'command', command: { kind: 'plan', guidance } }),
  },
  next: { on: { cli: cli('[feature]', 'which story comes next', 'auth') }, read: null },
  validate: {
    on: { cli: cli('[feature]', 'check prd.json, the configuration and what a run needs', 'auth') },
    read: null,
  },
  doctor: {
    on: {
      cli: cli('[feature]', 'look at everything that a run needs, and say what to mend; changes nothing', ''),
    },
    read: null,
  },
  notify: {
    on: {
      cli: cli('', 'whom a run tells; `--test` sends a message to each, and says what it answered', '--test'),
    },
    read: null,
  },
  prompt: {
    on: {
      cli: cli(
        '[story]',
        'the prompt that its next session gets, and its size by part; without a story that of the next one',
        'US-001',
      ),
    },
    read: null,
  },
  log: {
    on: {
      cli: cli(
        '[story]',
        'what its last session and gates on this machine said, and where that lies',
        'US-001',
      ),
    },
    read: null,
  },
  report: {
    on: {
      cli: cli(
        '[feature]',
        'the run as one HTML file: what to do next, stories, gate output, cost; `--all` sums up every feature of the clone',
        'auth --open',
      ),
    },
    read: null,
  },
  monitor: {
    on: {
      cli: cli(
        '[feature...]',
        'how runs stand, live on this terminal: those of this clone, else those in CI',
        'auth',
      ),
    },
    read: null,
  },
  serve: {
    on: { cli: cli('[feature...]', 'the same as a page in your browser, which follows by itself', '--open') },
    read: null,
  },
  verify: {
    on: {
      comment: comment('run the final verification now'),
      cli: cli(
        '[feature]',
        'run every gate and a judge on the checkout as it is; changes nothing, and the run is not charged',
        'auth',
      ),
    },
    read: asks({ kind: 'verify' }),
  },
  pause: {
    on: both('', 'the iteration in work ends, then nothing more until `run`', ''),
    read: asks({ kind: 'pause' }),
  },
  stop: {
    on: both('', 'the session in work is ended now, uncharged; then as `pause`', ''),
    read: asks({ kind: 'stop' }),
  },
  retry: {
    on: both(
      '<story...> [--fresh] [-- <guidance>]',
      'unblock it and try again; several ids or `all`; the guidance goes into the next prompt; `--fresh` throws away what its rejected attempts left',
      'US-002 -- use the existing mailer',
    ),
    read: retry,
  },
  redo: {
    on: both(
      '<story...> [-- <why>]',
      'work on it again although it passed; several ids or `all`; its code stays',
      'US-002 -- it must work offline, too',
    ),
    read: (asked: Asked) => storiesAndText('redo', asked),
  },
  skip: {
    on: both(
      '<story...> [-- <why>]',
      'leave it out; what depends on it goes on',
      'US-002 -- not in this release',
    ),
    read: (asked: Asked) => storiesAndText('skip', asked),
  },
  note: {
    on: both(
      '<story...> -- <text>',
      'guidance for its next prompt, nothing else',
      'US-002 -- the mailer is in src/mail',
    ),
    read: (asked: Asked) => storiesAndText('note', asked),
  },
  add: {
    on: {
      comment: {
        args: '-- <title>',
        meaning: 'a new story; the lines below are its description and criteria',
        example: '-- Sign out everywhere',
      },
      cli: cli(
        '-- <title>',
        'a new story, with its description and criteria as options',
        '--criterion "every session ends" -- Sign out everywhere',
      ),
    },
    read: add,
  },
  split: {
    on: both(
      '<story> [-- <how>]',
      'a session proposes smaller stories; they replace it when you approve them',
      'US-002 -- the form first, then the mail',
    ),
    read: (asked: Asked) => storiesAndText('split', asked),
  },
  'approve-plan': {
    on: both(
      '[<story>] [<digest>]',
      'work on the plan, or on the parts of a story, as they were shown; a digest names the stories that are meant',
      '',
    ),
    read: approve,
  },
  archive: {
    on: {
      comment: comment(
        'the stories that are done leave prd.json for `done.json` beside it, with the commit that ends this run',
      ),
      cli: cli(
        '[feature]',
        'put a finished run into .ralph/archive; of one that is not, the stories that are done into done.json',
        'auth',
      ),
    },
    read: asks({ kind: 'archive' }),
  },
  limit: {
    on: both(
      'iterations|cost +<more>',
      'raise a limit: `iterations +20`, or `cost +5` for dollars',
      'iterations +20',
    ),
    read: limit,
  },
  help: {
    on: {
      comment: comment('this list'),
      cli: cli('[command]', 'this list, or what a command takes', 'retry'),
    },
    read: (): Understood => ({ kind: 'help' }),
  },
} satisfies Record<string, Row>

export type CommandName = keyof typeof ROWS

const TABLE: ReadonlyMap<string, Row> = new Map(Object.entries(ROWS))

export type Listed = Told & { name: CommandName; also: string | null }

/** The commands of a surface in the table's order. The example is a line that can be typed there, with the name. */
export function commandsOn(surface: Surface): Listed[] {
  return [...TABLE].flatMap(([name, { on, also = null }]) => {
    const told = on[surface]
    if (told === undefined || !isName(name)) return []
    return [{ ...told, example: typedOn(surface, `${name} ${told.example}`.trim()), name, also }]
  })
}

function isName(name: string): name is CommandName {
  return name in ROWS
}

/** A command line as it is typed on a surface: `/ralph run`, `ralph run`. */
export function typedOn(surface: Surface, line: string): string {
  return `${surface === 'comment' ? '/' : ''}ralph ${line}`
}

/** What a command asks. Every fix is a line that can be typed on the same surface. */
export function understand(
  name: string,
  given: Given,
  storyIds: readonly string[],
  surface: Surface,
): Understood {
  const word = name.toLowerCase()
  const names = commandsOn(surface).flatMap(({ name: one, also }) => (also === null ? [one] : [one, also]))
  const row = TABLE.get(word) ?? [...TABLE.values()].find(({ also }) => also === word)
  if (row?.on[surface] !== undefined && row.read !== null) {
    // What no reader of the comment sees comes into no state and no prompt.
    const below = given.below.map(plainLines)
    return row.read({ words: given.words, text: oneLine(given.text, LONGEST_TEXT), below, surface, storyIds })
  }
  return mistake(surface, `there is no command ${readable(word)}`, nearest(word, names) ?? 'help')
}

/** With one dash of a keyboard that makes one of two. */
const FRESH = /^(?:--|[\u2013\u2014])fresh$/i

function retry(asked: Asked): Understood {
  const words = asked.words.filter((word) => !FRESH.test(word))
  const understood = storiesAndText('retry', { ...asked, words })
  if (words.length === asked.words.length) return understood
  if (understood.kind !== 'command' || understood.command.kind !== 'retry') return understood
  return { kind: 'command', command: { ...understood.command, fresh: true } }
}

/** `all` and none are the same. */
function aboutStory(kind: 'why' | 'diff', { words, storyIds, surface }: Asked): Understood {
  const [word = 'all', ...others] = words
  if (others.length > 0)
    return mistake(surface, `${kind} takes one story`, `${kind} ${storyIds[0] ?? ''}`.trim())
  if (word.toLowerCase() === 'all') return { kind, story: null }
  const story = storyIn(storyIds, word)
  if (story !== undefined) return { kind, story }
  const near = nearest(word, storyIds) ?? storyIds[0] ?? ''
  return mistake(surface, `there is no story ${readable(word)}`, `${kind} ${near}`.trim())
}

function storyIn(storyIds: readonly string[], word: string): string | undefined {
  return (
    storyIds.find((one) => one === word) ?? storyIds.find((one) => one.toLowerCase() === word.toLowerCase())
  )
}

function storiesAndText(kind: 'retry' | 'redo' | 'skip' | 'note' | 'split', asked: Asked): Understood {
  const { words, text: guidance, storyIds, surface } = asked
  const first = storyIds[0] ?? 'US-001'
  if (words.length === 0) return mistake(surface, `${kind} needs a story`, `${kind} ${first}`)
  const found: string[] = []
  let all = false
  for (const word of words) {
    if (word.toLowerCase() === 'all') all = true
    else {
      const id = storyIn(storyIds, word)
      if (id === undefined) {
        const near = nearest(word, storyIds)
        // Behind a story, a word that is like none is the text, and its ` -- ` was forgotten.
        const meant = near === null && found.length > 0 ? `${found[0]} -- the text` : (near ?? first)
        return mistake(surface, `there is no story ${readable(word)}`, `${kind} ${meant}`)
      }
      if (!found.includes(id)) found.push(id)
    }
  }
  if (kind === 'retry' || kind === 'redo')
    return { kind: 'command', command: { kind, stories: all ? 'all' : found, guidance } }
  if (all) return mistake(surface, `${kind} takes stories by name`, `${kind} ${first}`)
  if (kind === 'note' && guidance === '')
    return mistake(surface, 'a note needs a text', `note ${found[0] ?? first} -- the text`)
  if (kind !== 'split') return { kind: 'command', command: { kind, stories: found, guidance } }
  const [story = '', ...others] = found
  if (others.length > 0) return mistake(surface, 'split takes one story', `split ${story}`)
  return { kind: 'command', command: { kind, story, guidance } }
}

function approve({ words, storyIds, surface }: Asked): Understood {
  const digest = words.find((word) => /^[0-9a-f]{8}$/i.test(word))?.toLowerCase() ?? null
  const [word, ...others] = words.filter((one) => one.toLowerCase() !== digest)
  if (word === undefined) return { kind: 'command', command: { kind: 'approve', story: null, digest } }
  const story = storyIn(storyIds, word)
  if (story === undefined || others.length > 0) {
    const near = nearest(word, storyIds)
    const problem = others.length > 0 ? 'approve-plan takes one story' : `there is no story ${readable(word)}`
    return mistake(surface, problem, near === null ? 'approve-plan' : `approve-plan ${near}`)
  }
  return { kind: 'command', command: { kind: 'approve', story, digest } }
}

function add({ text, below, surface }: Asked): Understood {
  if (text === '') return mistake(surface, 'a new story needs a title', 'add -- the title')
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

function limit({ words, surface }: Asked): Understood {
  const [what = '', by = ''] = words
  const amount = /^\+\d{1,6}(\.\d{1,2})?$/.test(by) ? Number(by.slice(1)) : Number.NaN
  if (what === 'iterations' && Number.isInteger(amount) && amount > 0) {
    return { kind: 'command', command: { kind: 'limit', what, amount } }
  }
  if (what === 'cost' && amount > 0) return { kind: 'command', command: { kind: 'limit', what, amount } }
  return mistake(surface, 'limit takes iterations or cost, and how much more', 'limit iterations +20')
}

/** The sender's word without anything that a page would obey. */
function readable(word: string): string {
  return word.replace(/[^\p{L}\p{N}_.-]/gu, '').slice(0, 40) || 'of that name'
}

function mistake(surface: Surface, problem: string, line: string): Understood {
  return { kind: 'mistake', problem, fix: typedOn(surface, line) }
}
