// The table of all settings: an entry here is one input, configuration key and flag, with its meaning and default.
import { agentNames, defaultAgent, isModelKey } from '../agents/registry.ts'
import type { Gate } from '../model/gate.ts'
import { isForbidden } from '../system/untrusted-env.ts'
import { gates } from './gates.ts'
import {
  branchName,
  branchPrefix,
  configPath,
  featureName,
  globs,
  insidePath,
  stateNamespace,
  variableNames,
  version,
  workflowFile,
} from './names.ts'
import { groupOf, kebab, type Setting, type Surface, type ValueOf } from './setting.ts'
import {
  breaker,
  browser,
  commits,
  model,
  notify,
  prices,
  services,
  standardMessage,
  steps,
} from './structures.ts'
import { boolean, choice, duration, expects, integer, lines, list, money, passes, text } from './types.ts'

/** What a run may do, and from claim on the four jobs of `isolation: separate-job`. */
export const commandNames = [
  ...(['auto', 'run', 'plan', 'verify', 'status', 'resume-lost'] as const),
  ...(['claim', 'work', 'gate', 'land'] as const),
] as const

const what = groupOf('what')
const agent = groupOf('agent')
const gate = groupOf('gates')
const limit = groupOf('limits')
const pull = groupOf('pull request')
const trust = groupOf('trust, scale')
const file = groupOf('file only')

const hidden = { hidden: true } as const
const secret = { secret: true } as const

/**
 * Every setting by its field in `Settings`. The configuration key and the flag of the CLI are that name (a
 * duration's without `Ms`), the input is the same in kebab-case. The order is that of all listings.
 */
export const table = {
  command: what(
    choice(commandNames),
    'auto',
    'What to do; auto goes by the event; this version refuses plan, verify and status',
  ),
  feature: what(
    featureName,
    null,
    'The feature to work on; empty: the only unfinished one, or the one the dispatch named.',
  ),
  token: what(text, null, 'Token for the state refs and the API.', {
    ...secret,
    standard: 'github.token on the action',
  }),
  publishToken: what(
    text,
    null,
    'Token of an App or a person that pushes the branch and opens the pull request, so that CI starts on it.',
    secret,
  ),
  baseBranch: what(branchName, null, 'The branch that the work starts from and the pull request goes to.', {
    standard: 'the default branch',
  }),
  branchPrefix: what(branchPrefix, 'ralph/', "What stands before the feature's name in its branch."),
  workingDirectory: what(insidePath, '.', 'The folder inside the repository where agent and gates run.', {
    standard: 'its root',
  }),
  configFile: what(configPath, null, 'The configuration file; in CI it is read from the base branch.', {
    standard: 'ralph.config.yml, .yaml or .json',
  }),

  agent: agent(choice(agentNames), defaultAgent, 'The coding agent'),
  agentCommand: agent(
    lines,
    null,
    'Command line (for bash -c) that starts the custom agent; it gets the prompt on stdin.',
    hidden,
  ),
  agentArgs: agent(list(text), [], 'Further arguments for the agent, one a line.', {
    hidden: true,
    remarks: (items) =>
      items.some((item) => /^-\S+\s+\S/.test(item) && !item.includes('='))
        ? ['an item with a space in it is one argument; write each argument on its own line']
        : [],
  }),
  agentEnv: agent(
    variableNames,
    [],
    'Names of further environment variables that the agent may see, one a line.',
    { remarks: (names) => names.filter(isForbidden).map((name) => `${name} is never handed to the agent`) },
  ),
  agentWrapper: agent(text, null, 'A command put before the agent, such as a sandbox.', hidden),
  agentVersion: agent(version, null, 'The version of the agent to install.'),
  model: agent(model, {}, 'The model, or a YAML map of models by mode (run, plan, verify, setup, default).', {
    standard: "the agent's own",
  }),
  fallbackAgent: agent(
    choice(agentNames),
    null,
    'The agent to go on with when the first one is at its usage limit',
  ),
  instructions: agent(lines, null, 'Text that is added to every prompt.', hidden),

  gates: gate(
    gates,
    {},
    'YAML map of the commands that must exit 0: name to command, or to run, timeout (15m), when, advisory. A run needs one that blocks; `none` says outright that there is none.',
    hidden,
  ),
  gateEnv: gate(
    variableNames,
    [],
    'Names of further environment variables that the gates may see, one a line.',
    {
      remarks: (names) =>
        names
          .filter((name) => isForbidden(name) || isModelKey(name))
          .map((name) => `${name} is never handed to gates`),
    },
  ),
  prepare: gate(
    lines,
    null,
    'Command that installs dependencies, at the start of a job, whenever a lockfile changed, and before the final verification (npm ci).',
    hidden,
  ),
  baseline: gate(
    choice(['require', 'off']),
    'require',
    'Whether the gates without `when` must be green before any work starts',
  ),
  finalVerification: gate(
    boolean,
    true,
    'Whether a fresh session judges every criterion before the feature counts as complete, and every story that needed no change.',
  ),
  protectedPaths: gate(
    globs,
    [],
    'Patterns as in .gitignore, one a line, of files that an attempt must not change.',
  ),
  weakenedTests: gate(
    choice(['warn', 'fail', 'off']),
    'warn',
    'What deleted or skipped tests and lost assertions do',
  ),

  iterationsPerJob: limit(
    integer({ zero: 'all in one job' }),
    5,
    'Iterations in one job before the next job is dispatched; 0: all of them.',
    { standard: '5; on the CLI 0', onCli: 0 },
  ),
  maxIterations: limit(integer({ zero: 'no end' }), 50, 'Iterations of the whole chain of jobs; 0: no end.'),
  maxJobs: limit(integer(), null, 'Jobs of the whole chain.', {
    standard: '3 x max-iterations / iterations-per-job + 5',
  }),
  maxAttempts: limit(integer(), 3, 'Failed attempts on a story before it is blocked.'),
  iterationTimeoutMs: limit(
    duration,
    '30m',
    "The longest that the agent's session in one iteration may take.",
  ),
  idleTimeoutMs: limit(duration, '10m', 'The longest that the agent may be silent.'),
  jobDeadlineMs: limit(
    duration,
    '5h',
    "When a job stops taking up work; keep it 10 minutes under the job's timeout-minutes.",
  ),
  maxCostUsd: limit(money, null, 'What the whole chain may cost, in US dollars.'),
  maxTokens: limit(integer(), null, 'Tokens that the whole chain may use.'),
  maxAgentTimeMs: limit(duration, null, 'How long agents may work in the whole chain.'),
  callsPerHour: limit(integer(), null, 'Agent sessions in an hour.'),

  publish: pull(
    choice(['batch', 'story']),
    'batch',
    'When the branch moves: once a job, or with every story',
  ),
  pullRequest: pull(choice(['draft', 'ready', 'none']), 'draft', 'How the pull request is opened'),
  reportAs: pull(choice(['checks', 'statuses', 'none']), 'checks', 'How results are shown on the commit'),
  // What would weaken a promise where it is asked for and does not happen is refused until it can be had.
  signCommits: pull(
    boolean.check(
      passes(
        (isAsked) => !isAsked,
        expects('something that this version can do', 'leave it out: commits are not signed yet'),
      ),
    ),
    false,
    'Whether commits are signed; this version refuses true.',
  ),
  redispatch: pull(boolean, true, 'Whether a job whose batch is over dispatches the next one.'),
  workflow: pull(workflowFile, null, 'The workflow file to dispatch.', { standard: 'this workflow' }),
  notify: pull(
    notify,
    {},
    'YAML map of whom to tell: slack, discord, telegram (botToken, chatId), custom, every (5 iterations).',
    {
      secret: true,
      noEffect: ({ every: _every, ...people }) =>
        Object.values(people).some((one) => one !== null) ? 'nobody is told' : null,
    },
  ),

  isolation: trust(
    choice(['same-user', 'other-user', 'separate-job']),
    'same-user',
    'How far agent and gates are kept from tokens',
  ),
  maxParallel: trust(integer({ most: 256 }), 1, 'Stories worked on at the same time, 1 to 256.', {
    noEffect: (count) => (count > 1 ? 'stories are worked on one at a time' : null),
  }),

  steps: file(
    steps,
    [],
    'Pipeline of an iteration: name, type, enabled, timeout, maxRetries, retryDelay, continueOnError and more.',
    { hidden: true, noEffect: (list) => (list.length > 0 ? 'steps are not run' : null) },
  ),
  services: file(
    services,
    [],
    'Programs that gates need: name, start, ready (URL), readyTimeout (30s), restartBeforeVerify (true).',
    { hidden: true, noEffect: (list) => (list.length > 0 ? 'services are not started' : null) },
  ),
  browser: file(
    browser,
    null,
    'Browser checks of stories with the tag ui: enabled, executablePath, headless, screenshotDir.',
    { standard: 'none', noEffect: ({ enabled }) => (enabled ? 'browser checks are not run' : null) },
  ),
  prices: file(
    prices,
    {},
    'Price of each model: input, output and cached, in US dollars for a million tokens.',
  ),
  breaker: file(
    breaker,
    {},
    'When a story is left alone for a while: noProgress, sameError, outputDecline (percent), coolDown.',
    { standard: '3, 5, 70, 30m' },
  ),
  commits: file(commits, {}, 'State commits: prdChanges, message.', { standard: `true, ${standardMessage}` }),
  maxInterruptions: file(
    integer(),
    3,
    'Interruptions in a row without a finished gate run before a story is blocked.',
  ),
  stopOnBlocked: file(boolean, false, 'Whether the run ends at the first blocked story.'),
  logs: file(integer({ zero: 'none' }), 20, 'Runs whose transcripts and gate logs are kept on the CLI.', {
    noEffect: () => 'none is deleted',
  }),
  stateNamespace: file(stateNamespace, 'refs/ralph', 'Where the state refs live.'),
}

/** What is read for each field. */
export type Values = { [F in keyof typeof table]: ValueOf<(typeof table)[F]> }

/** Everything that decides a run, read once, typed; durations are milliseconds, null means not set. */
export type Settings = Readonly<Omit<Values, 'gates'>> & {
  readonly surface: Surface
  readonly gates: readonly Gate[]
  /** `gates: none` was said outright. */
  readonly ungated: boolean
}
export type SettingField = keyof typeof table

/** A row of the table with its names. */
export type SettingRow = Setting & { field: string; key: string; input: string }

/** All settings in the table's order. */
export const settingRows: readonly SettingRow[] = Object.entries(table).map(([field, setting]) => {
  const key = field.replace(/Ms$/, '')
  return { ...setting, field, key, input: kebab(key) }
})

/** Whether it is an input and a flag, too. */
export const isEverywhere = (row: SettingRow): boolean => row.group !== 'file only'
