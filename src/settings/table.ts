// The table of all settings: an entry here is one input, configuration key and flag, with its meaning and default.
import { agentNames, defaultAgent } from '../agents/registry.ts'
import type { Gate } from '../model/gate.ts'
import type { Price } from '../model/usage.ts'
import { gates, type NO_GATES } from './gates.ts'
import {
  agentVariables,
  branchName,
  branchPrefix,
  commandArguments,
  configPath,
  featureName,
  gateVariables,
  globs,
  insidePath,
  secretText,
  stateNamespace,
  version,
  workflowFile,
} from './names.ts'
import { mistakeSaid } from './place.ts'
import {
  boolean,
  choice,
  configKey,
  duration,
  integer,
  money,
  type Read,
  type Shaped,
  text,
} from './readers.ts'
import {
  type Browser,
  breaker,
  browser,
  commits,
  model,
  nobodyToNotify,
  notify,
  prices,
  type Service,
  type Step,
  services,
  standardBreaker,
  standardCommits,
  steps,
} from './structures.ts'

/** Where Ralph runs: as a step of a workflow, or from a command line. */
export type Surface = 'action' | 'cli'

export type Kind = 'text' | 'boolean' | 'integer' | 'money' | 'duration' | 'list' | 'choice' | 'map' | 'gates'

export type Group = 'what' | 'agent' | 'gates' | 'limits' | 'pull request' | 'trust, scale' | 'file only'

export const commandNames = [
  'auto',
  'run',
  'plan',
  'verify',
  'status',
  'resume-lost',
  // The four jobs of `isolation: separate-job`.
  'claim',
  'work',
  'gate',
  'land',
] as const

/** What a setting is, apart from its key. `T` is its typed value. */
export type Setting<T> = {
  kind: Kind
  group: Group
  /** One line: the description in action.yml, in the CLI's help and in the README. */
  description: string
  read: Read<T>
  orElse: (surface: Surface) => T
  /** The default in words; empty when there is none. */
  standard: string
  /** The value, or a part of it, may be a secret: it is never shown. */
  hidden: boolean
  /** The words of a choice, else empty. */
  values: readonly string[]
  /** Read and checked, but nothing comes of this value in this version: what does not happen, in words. Else null. */
  noEffect(value: T): string | null
  /** Some values of it have no effect yet. */
  later: boolean
}

type Of<T> = {
  read: Read<T>
  orElse: (surface: Surface) => T
  about: string
  standard?: string
  hidden?: boolean
  noEffect?: (value: T) => string | null
}

/** What would weaken a promise where it is asked for and does not happen: refused until it can be had. */
function notYet(read: Read<boolean>, why: string): Read<boolean> {
  return (value, at) => {
    const asked = read(value, at)
    if (asked !== true) return asked
    return mistakeSaid(at, 'true', 'something that this version can do', `leave it out: ${why} yet`)
  }
}

/** The maker of a group's settings. */
function groupOf(group: Group) {
  function setting<T>(kind: Kind, of: Of<T>): Setting<T> {
    const { read, orElse, about, hidden = false } = of
    const shared = { kind, group, description: about, read, orElse, hidden, values: [] }
    const standard = of.standard ?? plainDefault(orElse('action'))
    return { ...shared, standard, noEffect: of.noEffect ?? none, later: of.noEffect !== undefined }
  }
  /** A choice, described together with its words. */
  function oneOf<const T extends string, D extends T | null>(words: readonly T[], orElse: D, about: string) {
    const description = `${about} (${words.join(', ')}).`
    const of = { read: choice(words), orElse: (): T | D => orElse, about: description }
    return { ...setting<T | D>('choice', of), values: words }
  }
  return { setting, oneOf }
}

function plainDefault(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : ''
}

const line = text()
const lines = text({ lines: true })
const none = (): null => null
const minutes = (count: number) => (): number => count * 60_000
const nothing = (): string[] => []

const what = groupOf('what')
const agent = groupOf('agent')
const gate = groupOf('gates')
const limit = groupOf('limits')
const pull = groupOf('pull request')
const trust = groupOf('trust, scale')
const file = groupOf('file only')

/**
 * Every setting by its field in `Settings`. The configuration key and the flag of the CLI are that name (a
 * duration's without `Ms`), the input is the same in kebab-case. The order is that of all listings.
 */
export const table = {
  command: what.oneOf(
    commandNames,
    'auto',
    'What to do; auto goes by the event; this version refuses plan, verify and status',
  ),
  feature: what.setting<string | null>('text', {
    read: featureName,
    orElse: none,
    about: 'The feature to work on; empty: the only unfinished one, or the one the dispatch named.',
  }),
  token: what.setting<string | null>('text', {
    read: secretText,
    orElse: none,
    about: 'Token for the state refs and the API.',
    standard: 'github.token on the action',
    hidden: true,
  }),
  publishToken: what.setting<string | null>('text', {
    read: secretText,
    orElse: none,
    about:
      'Token of an App or a person that pushes the branch and opens the pull request, so that CI starts on it.',
    hidden: true,
  }),
  baseBranch: what.setting<string | null>('text', {
    read: branchName,
    orElse: none,
    about: 'The branch that the work starts from and the pull request goes to.',
    standard: 'the default branch',
  }),
  branchPrefix: what.setting('text', {
    read: branchPrefix,
    orElse: () => 'ralph/',
    about: "What stands before the feature's name in its branch.",
  }),
  workingDirectory: what.setting('text', {
    read: insidePath,
    orElse: () => '.',
    about: 'The folder inside the repository where agent and gates run.',
    standard: 'its root',
  }),
  configFile: what.setting<string | null>('text', {
    read: configPath,
    orElse: none,
    about: 'The configuration file; in CI it is read from the base branch.',
    standard: 'ralph.config.yml, .yaml or .json',
  }),

  agent: agent.oneOf(agentNames, defaultAgent, 'The coding agent'),
  agentCommand: agent.setting<string | null>('text', {
    read: lines,
    orElse: none,
    about: 'Command line (for bash -c) that starts the custom agent; it gets the prompt on stdin.',
    hidden: true,
  }),
  agentArgs: agent.setting('list', {
    read: commandArguments,
    orElse: nothing,
    about: 'Further arguments for the agent, one a line.',
    hidden: true,
  }),
  agentEnv: agent.setting('list', {
    read: agentVariables,
    orElse: nothing,
    about: 'Names of further environment variables that the agent may see, one a line.',
  }),
  agentWrapper: agent.setting<string | null>('text', {
    read: line,
    orElse: none,
    about: 'A command put before the agent, such as a sandbox.',
    hidden: true,
  }),
  agentVersion: agent.setting<string | null>('text', {
    read: version,
    orElse: none,
    about: 'The version of the agent to install.',
  }),
  model: agent.setting('map', {
    read: model,
    orElse: () => ({ run: null, plan: null, verify: null, setup: null }),
    about: 'The model, or a YAML map of models by mode (run, plan, verify, setup, default).',
    standard: "the agent's own",
  }),
  fallbackAgent: agent.oneOf(
    agentNames,
    null,
    'The agent to go on with when the first one is at its usage limit',
  ),
  instructions: agent.setting<string | null>('text', {
    read: lines,
    orElse: none,
    about: 'Text that is added to every prompt.',
    hidden: true,
  }),

  gates: gate.setting<Gate[] | typeof NO_GATES>('gates', {
    read: gates,
    orElse: () => [],
    about:
      'YAML map of the commands that must exit 0: name to command, or to run, timeout (15m), when, advisory. A run needs one that blocks; `none` says outright that there is none.',
    hidden: true,
  }),
  gateEnv: gate.setting('list', {
    read: gateVariables,
    orElse: nothing,
    about: 'Names of further environment variables that the gates may see, one a line.',
  }),
  prepare: gate.setting<string | null>('text', {
    read: lines,
    orElse: none,
    about:
      'Command that installs dependencies, at the start of a job, whenever a lockfile changed, and before the final verification (npm ci).',
    hidden: true,
  }),
  baseline: gate.oneOf(
    ['require', 'off'],
    'require',
    'Whether the gates without `when` must be green before any work starts',
  ),
  finalVerification: gate.setting('boolean', {
    read: boolean,
    orElse: () => true,
    about:
      'Whether a fresh session judges every criterion before the feature counts as complete, and every story that needed no change.',
  }),
  protectedPaths: gate.setting('list', {
    read: globs,
    orElse: nothing,
    about: 'Patterns as in .gitignore, one a line, of files that an attempt must not change.',
  }),
  weakenedTests: gate.oneOf(
    ['warn', 'fail', 'off'],
    'warn',
    'What deleted or skipped tests and lost assertions do',
  ),

  iterationsPerJob: limit.setting('integer', {
    read: integer({ zero: 'all in one job' }),
    orElse: (surface) => (surface === 'action' ? 5 : 0),
    about: 'Iterations in one job before the next job is dispatched; 0: all of them.',
    standard: '5; on the CLI 0',
  }),
  maxIterations: limit.setting('integer', {
    read: integer({ zero: 'no end' }),
    orElse: () => 50,
    about: 'Iterations of the whole chain of jobs; 0: no end.',
  }),
  maxJobs: limit.setting<number | null>('integer', {
    read: integer(),
    orElse: none,
    about: 'Jobs of the whole chain.',
    standard: '3 x max-iterations / iterations-per-job + 5',
  }),
  maxAttempts: limit.setting('integer', {
    read: integer(),
    orElse: () => 3,
    about: 'Failed attempts on a story before it is blocked.',
  }),
  iterationTimeoutMs: limit.setting('duration', {
    read: duration(),
    orElse: minutes(30),
    about: "The longest that the agent's session in one iteration may take.",
    standard: '30m',
  }),
  idleTimeoutMs: limit.setting('duration', {
    read: duration(),
    orElse: minutes(10),
    about: 'The longest that the agent may be silent.',
    standard: '10m',
  }),
  jobDeadlineMs: limit.setting('duration', {
    read: duration(),
    orElse: minutes(300),
    about: "When a job stops taking up work; keep it 10 minutes under the job's timeout-minutes.",
    standard: '5h',
  }),
  maxCostUsd: limit.setting<number | null>('money', {
    read: money,
    orElse: none,
    about: 'What the whole chain may cost, in US dollars.',
  }),
  maxTokens: limit.setting<number | null>('integer', {
    read: integer(),
    orElse: none,
    about: 'Tokens that the whole chain may use.',
  }),
  maxAgentTimeMs: limit.setting<number | null>('duration', {
    read: duration(),
    orElse: none,
    about: 'How long agents may work in the whole chain.',
  }),
  callsPerHour: limit.setting<number | null>('integer', {
    read: integer(),
    orElse: none,
    about: 'Agent sessions in an hour.',
  }),

  publish: pull.oneOf(['batch', 'story'], 'batch', 'When the branch moves: once a job, or with every story'),
  pullRequest: pull.oneOf(['draft', 'ready', 'none'], 'draft', 'How the pull request is opened'),
  reportAs: pull.oneOf(['checks', 'statuses', 'none'], 'checks', 'How results are shown on the commit'),
  signCommits: pull.setting('boolean', {
    read: notYet(boolean, 'commits are not signed'),
    orElse: () => false,
    about: 'Whether commits are signed; this version refuses true.',
  }),
  redispatch: pull.setting('boolean', {
    read: boolean,
    orElse: () => true,
    about: 'Whether a job whose batch is over dispatches the next one.',
  }),
  workflow: pull.setting<string | null>('text', {
    read: workflowFile,
    orElse: none,
    about: 'The workflow file to dispatch.',
    standard: 'this workflow',
  }),
  notify: pull.setting('map', {
    read: notify,
    orElse: nobodyToNotify,
    about:
      'YAML map of whom to tell: slack, discord, telegram (botToken, chatId), custom, every (5 iterations).',
    hidden: true,
    noEffect: ({ every: _every, ...people }) =>
      Object.values(people).some((one) => one !== null) ? 'nobody is told' : null,
  }),

  isolation: trust.oneOf(
    ['same-user', 'other-user', 'separate-job'],
    'same-user',
    'How far agent and gates are kept from tokens',
  ),
  maxParallel: trust.setting('integer', {
    read: integer({ most: 256 }),
    orElse: () => 1,
    about: 'Stories worked on at the same time, 1 to 256.',
    noEffect: (count) => (count > 1 ? 'stories are worked on one at a time' : null),
  }),

  steps: file.setting<Step[]>('list', {
    read: steps,
    orElse: () => [],
    about:
      'Pipeline of an iteration: name, type, enabled, timeout, maxRetries, retryDelay, continueOnError and more.',
    hidden: true,
    noEffect: (list) => (list.length > 0 ? 'steps are not run' : null),
  }),
  services: file.setting<Service[]>('list', {
    read: services,
    orElse: () => [],
    about:
      'Programs that gates need: name, start, ready (URL), readyTimeout (30s), restartBeforeVerify (true).',
    hidden: true,
    noEffect: (list) => (list.length > 0 ? 'services are not started' : null),
  }),
  browser: file.setting<Browser | null>('map', {
    read: browser,
    orElse: none,
    about: 'Browser checks of stories with the tag ui: enabled, executablePath, headless, screenshotDir.',
    standard: 'none',
    noEffect: (checks) => (checks?.enabled === true ? 'browser checks are not run' : null),
  }),
  prices: file.setting<Record<string, Price>>('map', {
    read: prices,
    orElse: () => ({}),
    about: 'Price of each model: input, output and cached, in US dollars for a million tokens.',
  }),
  breaker: file.setting('map', {
    read: breaker,
    orElse: standardBreaker,
    about:
      'When a story is left alone for a while: noProgress, sameError, outputDecline (percent), coolDown.',
    standard: '3, 5, 70, 30m',
  }),
  commits: file.setting('map', {
    read: commits,
    orElse: standardCommits,
    about: 'State commits: prdChanges, message.',
    standard: `true, ${standardCommits().message}`,
  }),
  maxInterruptions: file.setting('integer', {
    read: integer(),
    orElse: () => 3,
    about: 'Interruptions in a row without a finished gate run before a story is blocked.',
  }),
  stopOnBlocked: file.setting('boolean', {
    read: boolean,
    orElse: () => false,
    about: 'Whether the run ends at the first blocked story.',
  }),
  logs: file.setting('integer', {
    read: integer({ zero: 'none' }),
    orElse: () => 20,
    about: 'Runs whose transcripts and gate logs are kept on the CLI.',
    noEffect: () => 'none is deleted',
  }),
  stateNamespace: file.setting('text', {
    read: stateNamespace,
    orElse: () => 'refs/ralph',
    about: 'Where the state refs live.',
  }),
}

/** Everything that decides a run, read once, typed; durations are milliseconds, null means not set. */
export type Settings = Readonly<Omit<Shaped<typeof table>, 'gates'>> & {
  readonly surface: Surface
  readonly gates: readonly Gate[]
  /** `gates: none` was said outright. */
  readonly ungated: boolean
}
export type SettingField = keyof typeof table

/** A row of the table with its names. */
export type SettingRow = Setting<unknown> & { field: string; key: string; input: string }

/** All settings in the table's order. */
export const settingRows: readonly SettingRow[] = Object.entries(table).map(([field, setting]) => {
  const key = configKey(field)
  return { ...setting, field, key, input: kebab(key) }
})

/** `maxCostUsd` as `max-cost-usd`. */
export function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
