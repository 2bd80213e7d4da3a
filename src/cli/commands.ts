// What the CLI does for each command of the table: the flags that it takes, its exit codes, and what runs. Imported when called.
import type { CommandName } from '../loop/command-table.ts'
import { EXIT_CODES } from '../report/outputs.ts'
import type { FlagRow } from '../settings/index.ts'
import type { Answer, Context } from './context.ts'

/** An option of one command that is no setting. */
export type OwnOption = { flags: string; description: string; repeatable?: true }

export type CliCommand = {
  /** `words`: story ids and the like, with a text behind `--`. */
  takes: 'feature' | 'words' | 'nothing'
  settings: (flag: FlagRow) => boolean
  options: readonly OwnOption[]
  exits: readonly (readonly [code: number, meaning: string])[]
  act(context: Context): Promise<Answer>
}

const OUTCOMES = Object.entries(EXIT_CODES).map(([outcome, code]): [number, string] => [code, outcome])
const LOOKS = [
  [0, 'fine'],
  [1, 'not fine'],
  [64, 'bad input'],
] as const
const HEARD = [
  [0, 'taken'],
  [64, 'not understood, nothing was changed'],
] as const

const WATCHED = [
  [0, 'shown'],
  [64, 'bad input, or nothing to show'],
] as const
const REMOTE: OwnOption = {
  flags: '--remote',
  description: 'the runs in CI, by GH_TOKEN, GITHUB_TOKEN or gh, although there are some on this machine',
}
const SERVED: readonly OwnOption[] = [
  { flags: '--port <number>', description: 'of the page (default: one that is free)' },
  { flags: '--open', description: 'open the page in your browser' },
]

/** Read on the CLI as everywhere, so that one configuration serves both; here they change nothing. */
const OF_THE_ACTION: ReadonlySet<string> = new Set(
  'command token publishToken pullRequest reportAs signCommits redispatch workflow maxParallel'.split(' '),
)
/** Whether help shows a flag; the others are accepted. */
export const isTold = ({ key }: FlagRow): boolean => !OF_THE_ACTION.has(key)

const none = () => false
const all = () => true
/** Where the feature is: all that a command needs which does no work. */
const place = (flag: FlagRow) => flag.group === 'what' && isTold(flag) && !isPart(flag)
/** What of the feature is worked on, or judged. */
const isPart = ({ key }: FlagRow) => key === 'stories' || key === 'epic'
const decision = (flag: FlagRow) =>
  place(flag) || flag.group === 'limits' || ['baseline', 'finalVerification'].includes(flag.key)
/** What a workflow or a configuration holds; whom to tell is a secret, which init asks for. */
const answers = (flag: FlagRow) =>
  (flag.group !== 'what' && flag.key !== 'notify') ||
  ['baseBranch', 'branchPrefix', 'workingDirectory'].includes(flag.key)
const judgement = (flag: FlagRow) =>
  place(flag) ||
  isPart(flag) ||
  ['agent', 'gates'].includes(flag.group) ||
  ['iterationTimeout', 'idleTimeout', 'isolation'].includes(flag.key)

type Act = CliCommand['act']
const look = (settings: CliCommand['settings'], act: Act): CliCommand => ({
  takes: 'feature',
  settings,
  options: [],
  exits: LOOKS,
  act,
})
const steering = (...options: OwnOption[]): CliCommand => ({
  takes: 'words',
  settings: place,
  options,
  exits: HEARD,
  act: async (context) => (await import(/* webpackChunkName: "work" */ './steer.ts')).steer(context),
})

const about = (): Omit<CliCommand, 'act'> => ({
  takes: 'words',
  settings: place,
  options: [],
  exits: [
    [0, 'told'],
    [64, 'bad input'],
  ],
})
const aboutStory = () => import(/* webpackChunkName: "work" */ './about.ts')

export const CLI_COMMANDS: Readonly<Record<Exclude<CommandName, 'help'>, CliCommand>> = {
  demo: {
    takes: 'nothing',
    settings: none,
    options: [],
    exits: OUTCOMES,
    act: async (context) => (await import(/* webpackChunkName: "work" */ './demo.ts')).demo(context),
  },
  init: {
    takes: 'nothing',
    settings: answers,
    options: [
      { flags: '--yes', description: 'take what is found, and ask nothing' },
      { flags: '--bmad', description: 'also install the /ralph workflow into a BMAD project' },
      {
        flags: '--notify',
        description: 'only ask whom a run should tell, and keep it in ~/.ralph.env (mode 600)',
      },
      { flags: '--pin <commit>', description: "the action's commit (default: that of v1, looked up)" },
    ],
    exits: [
      [0, 'written, or nothing to do'],
      [64, 'bad input, nothing was written'],
      [130, 'interrupted, nothing was written'],
    ],
    act: async (context) => (await import(/* webpackChunkName: "work" */ './init.ts')).init(context),
  },
  run: {
    takes: 'feature',
    settings: all,
    options: [
      { flags: '--once', description: 'one iteration' },
      { flags: '--dry-run', description: 'print the decision and touch nothing' },
      {
        flags: '--force',
        description: 'start anew: what is there goes to .ralph/archive, every story is worked on again',
      },
      {
        flags: '--no-wait',
        description: 'end (exit 4) where a limit or a rest would be waited for more than 5 minutes',
      },
    ],
    exits: OUTCOMES,
    act: async (context) => (await import(/* webpackChunkName: "work" */ './run.ts')).run(context),
  },
  status: look(decision, async (context) =>
    (await import(/* webpackChunkName: "work" */ './look.ts')).status(context),
  ),
  why: { ...about(), act: async (context) => (await aboutStory()).why(context) },
  diff: { ...about(), act: async (context) => (await aboutStory()).diff(context) },
  plan: {
    takes: 'words',
    settings: judgement,
    options: [
      {
        flags: '--from <path...>',
        description: 'files and folders to read; without it what is known by its name or place',
      },
      { flags: '--yes', description: 'take the plan as it is shown, without questions' },
    ],
    exits: [
      [0, 'written, or there already'],
      [1, 'left, nothing was written'],
      [64, 'bad input, nothing was written'],
      [130, 'interrupted, nothing was written'],
    ],
    act: async (context) => (await import(/* webpackChunkName: "work" */ './plan.ts')).plan(context),
  },
  next: look(all, async (context) =>
    (await import(/* webpackChunkName: "work" */ './look.ts')).next(context),
  ),
  validate: look(all, async (context) =>
    (await import(/* webpackChunkName: "work" */ './look.ts')).validate(context),
  ),
  doctor: {
    takes: 'feature',
    settings: all,
    options: [{ flags: '--no-gates', description: 'run no gate' }],
    exits: [
      [0, 'nothing keeps a run from working'],
      [1, 'something does'],
      [64, 'bad input'],
      [130, 'interrupted'],
    ],
    act: async (context) => (await import(/* webpackChunkName: "work" */ './doctor.ts')).doctor(context),
  },
  notify: {
    takes: 'nothing',
    settings: ({ key }) => key === 'notify' || key === 'configFile' || key === 'isolation',
    options: [
      { flags: '--test [kind]', description: 'send one message to each, or to one: slack, discord, ...' },
    ],
    exits: [
      [0, 'everybody took it'],
      [1, 'somebody did not'],
      [64, 'bad input, or nobody to tell'],
    ],
    act: async (context) => (await import(/* webpackChunkName: "work" */ './notify.ts')).notify(context),
  },
  prompt: {
    takes: 'words',
    settings: judgement,
    options: [{ flags: '--mode <mode>', description: 'run, plan, verify or setup (default: run)' }],
    exits: [
      [0, 'printed'],
      [64, 'bad input'],
    ],
    act: async (context) => (await import(/* webpackChunkName: "work" */ './prompt.ts')).prompt(context),
  },
  log: {
    takes: 'words',
    settings: place,
    options: [
      { flags: '--attempt <number>', description: 'an earlier attempt (default: the last)' },
      { flags: '--follow', description: 'show a session in work as it goes on, until the run has ended' },
      { flags: '--raw', description: 'what the agent printed, line by line' },
    ],
    exits: [
      [0, 'printed'],
      [1, 'nothing ran on this machine'],
      [64, 'bad input'],
    ],
    act: async (context) => (await import(/* webpackChunkName: "work" */ './log.ts')).log(context),
  },
  report: {
    takes: 'feature',
    settings: decision,
    options: [
      { flags: '--open', description: 'show it in the browser, where this is a terminal' },
      { flags: '--markdown', description: 'print the summary of a job instead, in Markdown' },
      { flags: '--output <file>', description: 'write it there (default: .git/ralph/report)' },
      { flags: '--all', description: 'all features of the clone in one table, with totals' },
    ],
    exits: [
      [0, 'written'],
      [64, 'bad input'],
    ],
    act: async (context) => (await import(/* webpackChunkName: "report" */ './report.ts')).report(context),
  },
  monitor: {
    takes: 'words',
    settings: place,
    options: [REMOTE, { flags: '--web', description: 'as `ralph serve`' }, ...SERVED],
    exits: WATCHED,
    act: async (context) => (await import(/* webpackChunkName: "monitor" */ './monitor.ts')).monitor(context),
  },
  serve: {
    takes: 'words',
    settings: place,
    options: [REMOTE, ...SERVED],
    exits: WATCHED,
    act: async (context) => (await import(/* webpackChunkName: "monitor" */ './serve.ts')).serve(context),
  },
  verify: {
    takes: 'feature',
    settings: judgement,
    options: [],
    exits: [
      [0, 'every gate is green and the judge agrees'],
      [1, 'not so'],
      [64, 'bad input'],
      [130, 'interrupted'],
    ],
    act: async (context) => (await import(/* webpackChunkName: "work" */ './verify.ts')).verify(context),
  },
  pause: steering(),
  stop: steering(),
  retry: steering({ flags: '--fresh', description: 'throw away what its rejected attempts left' }),
  redo: steering(),
  skip: steering(),
  note: steering(),
  add: steering(
    { flags: '--description <text>', description: 'what it is for' },
    {
      flags: '--criterion <text>',
      description: 'an acceptance criterion; may be repeated',
      repeatable: true,
    },
    {
      flags: '--body-file <file>',
      description: 'description and criteria (`- ...`) as lines, as in a comment; - is standard input',
    },
  ),
  split: steering(),
  'approve-plan': steering(),
  archive: {
    takes: 'feature',
    settings: place,
    options: [],
    exits: HEARD,
    act: async (context) => (await import(/* webpackChunkName: "work" */ './archive.ts')).archive(context),
  },
  limit: steering(),
}
