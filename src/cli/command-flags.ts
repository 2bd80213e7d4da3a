// What the CLI does for each command of the table: the flags that it takes, and its exit codes.
import type { CommandName } from '../engine/commands/command-table.ts'
import { EXIT_CODES } from '../report/outputs.ts'
import type { FlagRow } from '../settings/read-settings.ts'

/** An option of one command that is no setting. */
type OwnOption = readonly [flags: string, description: string, isRepeatable?: true]

export type CliCommand = {
  /** `words`: story ids and the like, with a text behind `--`. */
  takes: 'feature' | 'words' | 'nothing'
  settings: (flag: FlagRow) => boolean
  options: readonly OwnOption[]
  exits: readonly (readonly [code: number, meaning: string])[]
}

/** Settings of the action alone. The CLI accepts and ignores them, so that one configuration file serves both. */
const OF_THE_ACTION: ReadonlySet<string> = new Set(
  'command token publishToken pullRequest reportAs signCommits redispatch workflow'.split(' '),
)
/** Whether help shows a flag; the others are accepted. */
export const isListed = ({ key }: FlagRow): boolean => !OF_THE_ACTION.has(key)

const none = () => false
const all = () => true
/** Flags that say where the feature is: all that a command needs that does no work. */
const isLocation = (flag: FlagRow) =>
  flag.group === 'what' && isListed(flag) && !isPart(flag) && !isOfPlan(flag)
/** Flags that choose a part of the feature. */
const isPart = ({ key }: FlagRow) => key === 'stories' || key === 'epic'
/** Flags of `ralph plan` alone. */
const isOfPlan = ({ key }: FlagRow) => key === 'ask'
const isForStatus = (flag: FlagRow) =>
  isLocation(flag) || flag.group === 'limits' || ['baseline', 'finalVerification'].includes(flag.key)
/** Settings that `init` writes into a workflow or a configuration. `notify` holds secrets: `init --notify` writes it elsewhere. */
const isForInit = (flag: FlagRow) =>
  (flag.group !== 'what' && flag.key !== 'notify') ||
  ['baseBranch', 'branchPrefix', 'workingDirectory'].includes(flag.key)
const isForJudge = (flag: FlagRow) =>
  isLocation(flag) ||
  isPart(flag) ||
  ['agent', 'gates'].includes(flag.group) ||
  ['iterationTimeout', 'idleTimeout', 'isolation'].includes(flag.key)

const OUTCOMES = Object.entries(EXIT_CODES).map(([outcome, code]): [number, string] => [code, outcome])
const BAD_INPUT = [64, 'bad input'] as const
const NOT_WRITTEN = [64, 'bad input, nothing was written'] as const
const INTERRUPTED = [130, 'interrupted, nothing was written'] as const
const LOOK_EXITS = [[0, 'fine'], [1, 'not fine'], BAD_INPUT] as const
const STEERING_EXITS = [
  [0, 'taken'],
  [64, 'not understood, nothing was changed'],
] as const
const WATCH_EXITS = [
  [0, 'shown'],
  [64, 'bad input, or nothing to show'],
] as const

const REMOTE: OwnOption = [
  '--remote',
  'the runs in CI, by GH_TOKEN, GITHUB_TOKEN or gh, although there are some on this machine',
]
const PORT: OwnOption = ['--port <number>', 'of the page (default: one that is free)']

const steering = (...options: OwnOption[]): CliCommand => ({
  takes: 'words',
  settings: isLocation,
  options,
  exits: STEERING_EXITS,
})
/** Flags of commands that only look at a feature. */
const looks = (settings: CliCommand['settings']) =>
  ({ takes: 'feature', settings, options: [], exits: LOOK_EXITS }) as const
const aboutStory = {
  takes: 'words',
  settings: isLocation,
  options: [],
  exits: [[0, 'printed'], BAD_INPUT],
} as const

/** The list of `ralph help`, in its order: five commands to begin with, and the others by what they are for. */
export const HELP_GROUPS: readonly (readonly [
  title: string,
  names: readonly (keyof typeof CLI_COMMANDS)[],
])[] = [
  ['Start here:', ['init', 'plan', 'run', 'status', 'why']],
  ['Watch a run:', ['monitor', 'serve', 'log', 'diff', 'report', 'next']],
  [
    'Steer a run:',
    ['pause', 'stop', 'retry', 'redo', 'skip', 'note', 'add', 'split', 'approve-plan', 'limit', 'archive'],
  ],
  ['Check before a run:', ['demo', 'doctor', 'validate', 'verify', 'prompt', 'notify']],
  ['This program:', ['upgrade', 'completion']],
]

export const CLI_COMMANDS: Readonly<Record<Exclude<CommandName, 'help'>, CliCommand>> = {
  demo: {
    takes: 'nothing',
    settings: none,
    options: [],
    exits: OUTCOMES,
  },
  init: {
    takes: 'nothing',
    settings: isForInit,
    options: [
      ['--yes', 'take what is found, and ask nothing'],
      ['--no-try', 'do not run the proposed commands once to see which are green'],
      ['--bmad', 'also install the /ralph workflow into a BMAD project'],
      ['--required', 'also write the workflow that answers where a rule requires the check `ralph`'],
      ['--notify', 'only ask where notifications of a run go, and write that to ~/.ralph.env (mode 600)'],
      ['--diff', 'show the files before they are written'],
      ['--pin <commit>', "the action's commit (default: that of v1, looked up)"],
    ],
    exits: [[0, 'written, or nothing to do'], NOT_WRITTEN, INTERRUPTED],
  },
  run: {
    takes: 'feature',
    settings: all,
    options: [
      ['--once', 'one iteration'],
      ['--dry-run', 'print the decision and touch nothing'],
      ['--force', 'start anew: what is there goes to .ralph/archive, every story is worked on again'],
      ['--push', 'push branch and state to `origin` as the action does, with the login of your git'],
      ['--no-wait', 'end (exit 4) where a limit or a rest would be waited for more than 5 minutes'],
    ],
    exits: OUTCOMES,
  },
  status: looks(isForStatus),
  why: aboutStory,
  diff: aboutStory,
  plan: {
    takes: 'words',
    settings: (flag) => isForJudge(flag) || isOfPlan(flag),
    options: [
      [
        '--from <path...>',
        'files and folders to read, issues:milestone=3 or beads; without it what is known by its name or place',
      ],
      ['--as <kind-and-file...>', 'stories FILE or background FILE: what a file is, whatever it looks like'],
      ['--replace', 'change the stories of a plan that was made from other documents'],
      ['--yes', 'take the plan as it is shown, without questions'],
    ],
    exits: [[0, 'written, or there already'], [1, 'left, nothing was written'], NOT_WRITTEN, INTERRUPTED],
  },
  next: looks(all),
  validate: looks(all),
  doctor: {
    takes: 'feature',
    settings: all,
    options: [
      ['--no-gates', 'run no gate'],
      ['--ask-agent', 'also ask the agent for one word, in a session that costs what it costs'],
    ],
    exits: [[0, 'nothing keeps a run from working'], [1, 'something does'], BAD_INPUT, [130, 'interrupted']],
  },
  notify: {
    takes: 'nothing',
    settings: ({ key }) => key === 'notify' || key === 'configFile' || key === 'isolation',
    options: [['--test [kind]', 'send one message to each, or to one: slack, discord, ...']],
    exits: [
      [0, 'every service took it'],
      [1, 'a service did not'],
      [64, 'bad input, or no service is set up'],
    ],
  },
  prompt: {
    takes: 'words',
    settings: isForJudge,
    options: [],
    exits: [[0, 'printed'], BAD_INPUT],
  },
  log: {
    takes: 'words',
    settings: isLocation,
    options: [
      ['--attempt <number>', 'an earlier attempt (default: the last)'],
      ['--follow', 'show the sessions of a run in work as they go on, until it has ended'],
      ['--raw', 'what the agent printed, line by line'],
    ],
    exits: [[0, 'printed'], [1, 'nothing ran on this machine'], BAD_INPUT],
  },
  report: {
    takes: 'feature',
    settings: isForStatus,
    options: [
      ['--open', 'show it in the browser, where this is a terminal'],
      ['--markdown', 'print the summary of a job instead, in Markdown'],
      ['--output <file>', 'write it there (default: .git/ralph/report)'],
      ['--all', 'all features of the clone in one table, with totals'],
    ],
    exits: [[0, 'written'], BAD_INPUT],
  },
  monitor: {
    takes: 'words',
    settings: isLocation,
    options: [REMOTE, ['--web', 'as `ralph serve`'], PORT],
    exits: WATCH_EXITS,
  },
  serve: { takes: 'words', settings: isLocation, options: [REMOTE, PORT], exits: WATCH_EXITS },
  verify: {
    takes: 'feature',
    settings: isForJudge,
    options: [],
    exits: [[0, 'every gate is green and the judge agrees'], [1, 'not so'], BAD_INPUT, [130, 'interrupted']],
  },
  pause: { ...steering(), takes: 'feature' },
  stop: { ...steering(), takes: 'feature' },
  retry: steering(['--fresh', 'throw away what its rejected attempts left']),
  redo: steering(),
  skip: steering(),
  note: steering(),
  add: steering(
    ['--description <text>', 'what it is for'],
    ['--criterion <text>', 'an acceptance criterion; may be repeated', true],
  ),
  split: steering(),
  'approve-plan': steering(),
  archive: {
    takes: 'feature',
    settings: isLocation,
    options: [],
    exits: STEERING_EXITS,
  },
  limit: steering(),
  upgrade: {
    takes: 'words',
    settings: none,
    options: [['--yes', 'write what is shown, without a question']],
    exits: [
      [0, 'written, or nothing to do'],
      [1, 'the releases could not be read'],
      NOT_WRITTEN,
      INTERRUPTED,
    ],
  },
  completion: { takes: 'words', settings: none, options: [], exits: [[0, 'printed'], BAD_INPUT] },
}
