// What the CLI does for each command of the table: the flags that it takes, and its exit codes.
import type { CommandName } from '../engine/commands/command-table.ts'
import { EXIT_CODES } from '../report/outputs.ts'
import type { FlagRow } from '../settings/read-settings.ts'

/** An option of one command, which is not a setting. */
type OwnOption = readonly [flags: string, description: string, isRepeatable?: true]

export type CliCommand = {
  /** `words`: story ids and the like, with a text after `--`. */
  takes: 'feature' | 'words' | 'nothing'
  settings: (flag: FlagRow) => boolean
  options: readonly OwnOption[]
  exits: readonly (readonly [code: number, meaning: string])[]
}

/** Settings that only the action has. The CLI accepts and ignores them, so that one configuration file serves both. */
const OF_THE_ACTION: ReadonlySet<string> = new Set(
  'command token publishToken examplesKey pullRequest autoMerge reportAs signCommits signingKey redispatch workflow'.split(
    ' ',
  ),
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
/** Flags that only `ralph plan` has. */
const isOfPlan = ({ key }: FlagRow) => key === 'ask'
const isForStatus = (flag: FlagRow) =>
  isLocation(flag) || flag.group === 'limits' || ['baseline', 'finalVerification'].includes(flag.key)
/** Settings that `init` writes into a workflow or a configuration. `notify` holds secrets: `init --notify` writes it elsewhere. */
const isForInit = (flag: FlagRow) =>
  (flag.group !== 'what' && flag.key !== 'notify') ||
  ['baseBranch', 'branchPrefix', 'branchName', 'workingDirectory'].includes(flag.key)
/** Settings that decide what stops an agent's work. */
const isForDrill = (flag: FlagRow) =>
  flag.group === 'gates' || ['configFile', 'workingDirectory'].includes(flag.key)
const isForJudge = (flag: FlagRow) =>
  isLocation(flag) ||
  isPart(flag) ||
  ['agent', 'gates'].includes(flag.group) ||
  ['iterationTimeout', 'idleTimeout', 'isolation'].includes(flag.key)

const OUTCOMES = Object.entries(EXIT_CODES).map(([outcome, code]): [number, string] => [code, outcome])
const BAD_INPUT = [64, 'bad input'] as const
const NOT_WRITTEN = [64, 'bad input, nothing was written'] as const
const INTERRUPTED = [130, 'interrupted, nothing was written'] as const
const LOOK_EXITS = [[0, 'fine'], [1, 'something is wrong'], BAD_INPUT] as const
const STEERING_EXITS = [
  [0, 'accepted'],
  [64, 'not understood, nothing was changed'],
] as const
const WATCH_EXITS = [
  [0, 'shown'],
  [64, 'bad input, or nothing to show'],
] as const

const REMOTE: OwnOption = [
  '--remote',
  'show runs in CI even if there are runs on this machine; uses GH_TOKEN, GITHUB_TOKEN or gh',
]
const PORT: OwnOption = ['--port <number>', 'port of the page (default: a free one)']

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
    [
      'pause',
      'stop',
      'retry',
      'redo',
      'skip',
      'note',
      'add',
      'fix',
      'drop',
      'update',
      'split',
      'approve-plan',
      'allow',
      'limit',
      'archive',
    ],
  ],
  ['Check before a run:', ['demo', 'drill', 'doctor', 'validate', 'verify', 'prompt', 'notify', 'worktree']],
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
      ['--yes', 'accept all proposals without asking'],
      ['--no-try', 'write the proposed commands without trying them first'],
      ['--bmad', 'also install the /ralph workflow into a BMAD project'],
      [
        '--required',
        "also write the workflow that lets the required check `ralph` pass on pull requests that are not Ralph's",
      ],
      ['--notify', 'only set up notifications, in ~/.ralph.env (mode 600)'],
      ['--diff', 'show the contents of the files before writing them'],
      ['--pin <commit>', 'commit to pin the action to (default: the commit that v1 points to)'],
    ],
    exits: [[0, 'written, or nothing to do'], NOT_WRITTEN, INTERRUPTED],
  },
  run: {
    takes: 'feature',
    settings: all,
    options: [
      ['--once', 'run one iteration'],
      ['--dry-run', 'print what would happen, and change nothing'],
      ['--force', 'start over: moves the current run to .ralph/archive and works on every story again'],
      ['--push', 'push branch and state to `origin`, as the action does, but with your git login'],
      ['--no-wait', 'exit with 4 instead of waiting more than 5 minutes for a limit to end'],
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
        'files, folders, issues:milestone=3 or beads; by default, documents with a known name or place',
      ],
      ['--as <kind-and-file...>', 'how to read a file: `stories FILE` or `background FILE`'],
      [
        '--replace',
        'replace the stories of an existing plan, even if it was made from documents other than these',
      ],
      ['--yes', 'accept the plan without questions'],
    ],
    exits: [
      [0, 'written, or already there'],
      [1, 'cancelled, nothing was written'],
      NOT_WRITTEN,
      INTERRUPTED,
    ],
  },
  next: looks(all),
  validate: looks(all),
  drill: {
    takes: 'nothing',
    settings: isForDrill,
    options: [
      [
        '--minutes <number>',
        'time limit in minutes (default: 10); kinds of wrong work not tried by then are left out',
      ],
    ],
    exits: [[0, 'shown, whatever the result'], BAD_INPUT, [130, 'interrupted']],
  },
  doctor: {
    takes: 'feature',
    settings: all,
    options: [
      ['--no-gates', 'do not run the gates'],
      ['--ask-agent', 'also start a paid agent session that asks for a one-word answer'],
    ],
    exits: [[0, 'ready on this machine'], [1, 'not ready'], BAD_INPUT, [130, 'interrupted']],
  },
  notify: {
    takes: 'nothing',
    settings: ({ key }) => key === 'notify' || key === 'configFile' || key === 'isolation',
    options: [
      [
        '--test [kind]',
        'send one message to every target, or only to targets of one kind: slack, discord, ...',
      ],
    ],
    exits: [
      [0, 'every service accepted it'],
      [1, 'a service did not accept it'],
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
      ['--follow', 'follow the sessions of the current run until it ends'],
      ['--raw', "show the agent's output as it was printed"],
    ],
    exits: [[0, 'printed'], [1, 'nothing ran on this machine'], BAD_INPUT],
  },
  report: {
    takes: 'feature',
    settings: isForStatus,
    options: [
      ['--open', 'open it in the browser (on a terminal only)'],
      ['--markdown', 'print the job summary in Markdown instead'],
      ['--output <file>', 'where to write it (default: .git/ralph/report)'],
      ['--all', 'one table of all features in the clone, with totals'],
      ['--csv', 'with --all, print the results of each run as CSV'],
    ],
    exits: [[0, 'written'], BAD_INPUT],
  },
  monitor: {
    takes: 'words',
    settings: isLocation,
    options: [REMOTE, ['--web', 'the same as `ralph serve`'], PORT],
    exits: WATCH_EXITS,
  },
  serve: { takes: 'words', settings: isLocation, options: [REMOTE, PORT], exits: WATCH_EXITS },
  verify: {
    takes: 'feature',
    settings: isForJudge,
    options: [['--attestation <file>', 'only compare this attestation of a run with the checked-out commit']],
    exits: [
      [0, 'verified, or the attestation is for this commit'],
      [1, 'not verified, or the attestation does not match'],
      BAD_INPUT,
      [130, 'interrupted'],
    ],
  },
  pause: { ...steering(), takes: 'feature' },
  stop: { ...steering(), takes: 'feature' },
  retry: steering(['--fresh', 'discard the work that rejected attempts left']),
  redo: steering(),
  skip: steering(),
  note: steering(),
  add: steering(
    ['--description <text>', 'what the story is for'],
    ['--criterion <text>', 'an acceptance criterion; may be repeated', true],
  ),
  fix: steering(),
  drop: steering(),
  update: { ...steering(), takes: 'feature' },
  split: steering(),
  'approve-plan': steering(),
  allow: steering(),
  archive: {
    takes: 'feature',
    settings: isLocation,
    options: [
      [
        '--prune',
        'archive nothing; delete states on origin whose pull request was merged or closed at least 30 days ago',
      ],
    ],
    exits: STEERING_EXITS,
  },
  limit: steering(),
  worktree: {
    takes: 'feature',
    settings: isLocation,
    options: [],
    exits: [[0, 'created, or already there'], BAD_INPUT],
  },
  upgrade: {
    takes: 'words',
    settings: none,
    options: [['--yes', 'write without asking']],
    exits: [[0, 'written, or nothing to do'], [1, 'releases could not be read'], NOT_WRITTEN, INTERRUPTED],
  },
  completion: { takes: 'words', settings: none, options: [], exits: [[0, 'printed'], BAD_INPUT] },
}
