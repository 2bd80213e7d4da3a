// The table of all settings: an entry here is one input, configuration key and flag, with its meaning and default.
import { agentNames, defaultAgent, isModelKey } from '../agents/registry.ts'
import type { Gate } from '../engine/model/gate.ts'
import type { Pipeline } from '../engine/model/pipeline-step.ts'
import { isForbidden } from '../isolation/untrusted-env.ts'
import { browser } from './browser-settings.ts'
import { gates } from './gate-settings.ts'
import { services, serviceVariables } from './service-settings.ts'
import { type SettingRow, type Surface, settingGroup, settingRow, type ValueOf } from './setting.ts'
import * as names from './setting-names.ts'
import { pipelineName, steps } from './step-settings.ts'
import { breaker, candidates, commits, ladder, model, notify, prices } from './structures.ts'
import * as v from './values.ts'

/** What a job may do. The second line: the jobs of `isolation: separate-job`, and `join`, which ends a wave. */
export const commandNames = [
  ...(['auto', 'run', 'plan', 'verify', 'status', 'doctor', 'resume-lost'] as const),
  ...(['claim', 'work', 'gate', 'land', 'join'] as const),
] as const

const what = settingGroup('what')
const agent = settingGroup('agent')
const gate = settingGroup('gates')
const limit = settingGroup('limits')
const pull = settingGroup('pull request')
const trust = settingGroup('trust, scale')
const file = settingGroup('file only')

const secret = { secret: true } as const

/**
 * Every setting by its field in `Settings`. The configuration key and the flag of the CLI are that name (a
 * duration's without `Ms`), the input is the same in kebab-case. The order is that of all listings.
 */
export const table = {
  command: what(v.choice(commandNames), 'What to do; auto: what the event asks for', { default: 'auto' }),
  feature: what(
    names.featureName,
    'The feature to work on; empty: the only unfinished one, or the one that the dispatch named.',
  ),
  stories: what(
    names.storyIds,
    'The stories to work on, by their ids, separated by commas or one a line; empty: all of them.',
    { default: [], defaultText: 'all' },
  ),
  epic: what(v.text, 'The epic to work on, by its id (`epicId` of its stories), in addition to `stories`.'),
  approve: what(v.choice(['person', 'auto']), 'Whether a plan waits for the approval of a person', {
    default: 'person',
  }),
  ask: what(
    v.boolean,
    'Whether a session first asks three to five questions, which people answer before it plans (on the issue; on a terminal at once).',
    { default: false },
  ),
  token: what(
    v.text,
    'Token for git and the API: the branch and the state, the pull request, checks, the next job.',
    {
      ...secret,
      defaultText: 'github.token on the action',
    },
  ),
  publishToken: what(
    v.text,
    'Token of an App or a person that pushes the branch and opens the pull request, so that CI starts on it.',
    secret,
  ),
  baseBranch: what(names.branchName, 'The branch that the work starts from and the pull request goes to.', {
    defaultText: 'the default branch',
  }),
  branchPrefix: what(
    names.branchPrefix,
    "What the name of a feature's branch begins with, before the feature's name.",
    {
      default: 'ralph/',
    },
  ),
  workingDirectory: what(names.insidePath, 'The folder inside the repository where agent and gates run.', {
    default: '.',
    defaultText: 'its root',
  }),
  configFile: what(names.configPath, 'The configuration file; in CI it is read from the base branch.', {
    defaultText: 'ralph.config.yml, .yaml or .json',
  }),

  agent: agent(v.choice(agentNames), 'The coding agent', { default: defaultAgent }),
  agentCommand: agent(
    v.lines,
    'Command line (for bash -c) that starts the custom agent; it gets the prompt on stdin.',
  ),
  agentArgs: agent(v.list(v.text), 'Further arguments for the agent, one a line.', {
    default: [],
    remarks: (items) =>
      items.some((item) => /^-\S+\s+\S/.test(item) && !item.includes('='))
        ? ['an item with a space in it is one argument; write each argument on its own line']
        : [],
  }),
  agentEnv: agent(
    names.variableNames,
    'Names of further environment variables that the agent may see, one a line.',
    {
      default: [],
      remarks: (names) => names.filter(isForbidden).map((name) => `${name} is never passed to the agent`),
    },
  ),
  agentWrapper: agent(v.text, 'A command put before the agent, such as a sandbox.'),
  agentVersion: agent(names.version, 'The version of the agent to install.'),
  cache: agent(
    v.choice(['auto', 'off']),
    "Whether a job of the action takes the agent that an earlier job installed from GitHub's cache",
    { default: 'auto' },
  ),
  model: agent(
    model,
    'The model, or a YAML map of models by mode (run, plan, verify, setup, default). A list for run is a ladder: a story begins with the first, and climbs after a red gate or <stuck>.',
    {
      default: {},
      defaultText: "the agent's own",
    },
  ),
  fallbackAgent: agent(
    v.choice(agentNames),
    'The agent that takes over when the first one has reached its usage limit',
  ),
  instructions: agent(v.lines, 'Text that is added to every prompt.'),
  auth: agent(
    v.choice(['key', 'oidc']),
    "How the agent's model is reached: with a stored key, or with a key of minutes that Ralph exchanges the job's identity for",
    { default: 'key' },
  ),

  pipeline: agent(
    pipelineName,
    'The steps of an iteration: a name in `steps` of the configuration file, or of .ralph/configs/NAME.json.',
    { defaultText: 'default, if there are steps' },
  ),

  gates: gate(
    gates,
    'YAML map of the commands that must exit 0: the name of each, and its command. Instead of a command it can have the keys `run`, `timeout` (15m), `when`, `advisory`, `report`, `retries` (0), `coverage`, `needs`, `alone`, `paths` and `reuse`. A run needs at least one that is not advisory; `none` says that the project has no gate.',
    { default: {} },
  ),
  gateEnv: gate(
    names.variableNames,
    'Names of further environment variables that the gates may see, one a line.',
    {
      default: [],
      remarks: (names) =>
        names
          .filter((name) => isForbidden(name) || isModelKey(name))
          .map((name) => `${name} is never passed to gates`),
    },
  ),
  services: gate(
    services,
    'YAML map of programs that must run while gates run. Each has a name and the keys `start`, `ready` (URL, port, tcp, log or command), `readyTimeout` (30s), `restartBeforeVerify` (true), `when`, `environment` and `logs`.',
    {
      default: [],
      remarks: (all) =>
        serviceVariables(all)
          .filter((name) => isForbidden(name) || isModelKey(name))
          .map((name) => `${name} is never passed to services`),
    },
  ),
  prepare: gate(
    v.lines,
    'Command that installs dependencies, such as npm ci: it runs at the start of a job, when a lockfile changed, and before the final verification.',
  ),
  baseline: gate(
    v.choice(['require', 'known-red', 'off']),
    'Whether the gates without `when` must be green before any work starts. known-red: named tests may fail before; a story may fix some of them, and no other test may fail',
    { default: 'require' },
  ),
  finalVerification: gate(
    v.boolean,
    'Whether a fresh session judges every criterion before the feature counts as complete, and every story that needed no change.',
    { default: true },
  ),
  evidence: gate(
    v.choice(['ask', 'require', 'tested', 'proved']),
    'What shows each criterion in the final verification. `ask`: an approval without evidence counts, with a remark. `require`: each criterion needs a file and line, a gate, a screenshot or a test. `tested`: each needs a test that passes. `proved`: each needs a test that fails without the change. Below that, another judge is asked; then the stories are worked on again.',
    { default: 'ask' },
  ),
  protectedPaths: gate(
    names.globs,
    'Patterns as in .gitignore, one a line, of files that an attempt must not change. The word `elsewhere` means configuration that acts outside the code: package managers, tool versions, attributes, other CIs, editors, bots, hooks.',
    { default: [] },
  ),
  product: gate(
    names.globs,
    'Patterns as in .gitignore, one a line, of the files that are the product; `!pattern` excludes. Gates run once more on the commit before the story, with only these files of its change. So a story cannot change its own checks. Default: code folders, and what the manifests of the project name.',
    { default: [] },
  ),
  weakenedTests: gate(
    v.choice(['judge', 'warn', 'fail', 'off']),
    'What happens if the checks as they were fail on a change, or fewer tests run than before. `judge`: a fresh session decides whether the criteria require that. `fail`: rejects the change. `warn`: reports it',
    { default: 'judge' },
  ),
  needsProof: gate(
    v.choice(['warn', 'require', 'off']),
    'What happens if no gate fails without the change, so no test shows that it works. `warn`: reports it. `require`: rejects the attempt. `off`: does not look',
    { default: 'warn' },
  ),
  newDependencies: gate(
    v.choice(['show', 'ask', 'refuse']),
    'What happens if a change adds packages. `show`: reports them. `ask`: a judge decides whether a criterion needs them. `refuse`: a person has to allow them',
    { default: 'show' },
  ),
  examples: gate(
    v.choice(['off', 'sealed']),
    'Whether sessions write examples of the criteria before a story is worked on. The worker does not see the expected values, and a change with another value is rejected. It costs one session for each story, and one for each attempt with green gates',
    { default: 'off' },
  ),
  examplesKey: gate(
    v.text,
    'The key that seals the expected values of `examples: sealed`: any random text of 16 characters or more, from a secret. The CLI makes its own key.',
    secret,
  ),
  cleanRoom: gate(
    v.choice(['on', 'off']),
    'Whether the final verification runs in a fresh clone, with everything installed again',
    { default: 'on' },
  ),
  gatesParallel: gate(
    v.integer({ most: 64 }),
    'How many gates run at the same time, 1 to 64; with 1 they run in the order of the map.',
    { default: 1 },
  ),

  iterationsPerJob: limit(
    v.integer({ zero: 'all in one job' }),
    'Iterations in one job before the next job is dispatched; 0: all of them.',
    { default: 5, defaultText: '5; on the CLI 0', cliDefault: 0 },
  ),
  maxIterations: limit(v.integer({ zero: 'no end' }), 'Iterations of the whole chain of jobs; 0: no end.', {
    default: 50,
  }),
  maxJobs: limit(v.count, 'Jobs of the whole chain.', {
    defaultText: '3 x max-iterations / iterations-per-job + 5',
  }),
  maxAttempts: limit(v.count, 'Failed attempts on a story before it is blocked.', { default: 3 }),
  maxCorrections: limit(v.count, 'Corrections of one pull request; further ones wait for a person.', {
    default: 20,
  }),
  iterationTimeoutMs: limit(v.duration, "The longest that the agent's session in one iteration may take.", {
    default: '30m',
  }),
  idleTimeoutMs: limit(v.duration, 'The longest that the agent may be silent.', { default: '10m' }),
  jobDeadlineMs: limit(
    v.duration,
    "After how long a job starts no further work; keep it 10 minutes below the job's timeout-minutes.",
    { default: '5h' },
  ),
  maxCostUsd: limit(v.money, 'US dollars that the whole chain may cost.'),
  maxTokens: limit(v.count, 'Tokens that the whole chain may use.'),
  maxAgentTimeMs: limit(v.duration, 'How long agents may work in the whole chain.'),
  callsPerHour: limit(v.count, 'Agent sessions that may start in an hour.'),

  publish: pull(v.choice(['batch', 'story']), 'When the branch is pushed: once a job, or after every story', {
    default: 'batch',
  }),
  pullRequest: pull(v.choice(['draft', 'ready', 'none']), 'How the pull request is opened', {
    default: 'draft',
  }),
  reportAs: pull(v.choice(['checks', 'statuses', 'none']), 'How results are shown on the commit', {
    default: 'checks',
  }),
  reviews: pull(
    names.reviews,
    'Whose review threads become corrections: writers, off, or a mention such as "@ralph" that a thread must contain.',
    { default: 'writers' },
  ),
  reviewsFrom: pull(
    v.list(v.text),
    'Bots whose review threads count as those of a person with write permission, such as coderabbitai, one a line.',
    { default: [] },
  ),
  checks: pull(
    v.choice(['report', 'wait', 'off']),
    'What red checks of the project do: `report` names them, and `wait` corrects them before the run is complete',
    { default: 'report' },
  ),
  requiredChecks: pull(v.list(v.text), 'With checks: wait, the names of the checks that count, one a line.', {
    default: [],
    defaultText: 'those that a rule requires; without one all',
  }),
  approvals: pull(
    v.integer({ zero: 'none', most: 10 }),
    'How many people have to approve the pull request before the run is complete. People with write access count who neither began the run, approved its plan nor committed to the branch.',
    { default: 0 },
  ),
  updateBase: pull(
    v.choice(['conflicts', 'always', 'off']),
    'When the base branch is merged into the branch before the run is complete',
    { default: 'conflicts' },
  ),
  agentsMd: pull(
    v.choice(['section', 'off']),
    'Whether the learnings of a complete run are written into a section of AGENTS.md, at most 4 KB',
    { default: 'section' },
  ),
  writeBack: pull(
    v.choice(['on', 'off']),
    "Whether a story's result is marked in the documents that it was planned from, and in sprint-status.yaml",
    { default: 'on' },
  ),
  signCommits: pull(
    v.signing,
    "How Ralph's commits are signed. `true`: by GitHub. `ssh`: by `signing-key`. `gpg`: by the key that git is set up for",
    { default: 'false' },
  ),
  signingKey: pull(
    v.lines,
    'The private key for `sign-commits: ssh`, in the format of OpenSSH and without a passphrase, from a secret. The CLI uses the key that git is set up for.',
    secret,
  ),
  redispatch: pull(v.boolean, 'Whether a job dispatches the next one when its batch is over.', {
    default: true,
  }),
  workflow: pull(names.workflowFile, 'The workflow file to dispatch.', { defaultText: 'this workflow' }),
  notify: pull(
    notify,
    'YAML map of the services that get notifications: `slack`, `discord`, `teams` (URLs), `telegram` (botToken, chatId), `webhook` (URL, or url and secret), `custom` (a command). `every`: how often (5 iterations).',
    { default: {}, ...secret },
  ),

  isolation: trust(
    v.choice(['same-user', 'other-user', 'separate-job']),
    'How agent and gates are kept from the tokens of a job',
    { default: 'other-user', cliDefault: 'same-user', defaultText: 'other-user; on the CLI same-user' },
  ),
  network: trust(
    v.choice(['open', 'model']),
    'What the agent can reach on the network, besides this machine',
    {
      defaultText: 'model at other-user in the action, else open',
    },
  ),
  networkAllow: trust(
    names.hosts,
    'Hosts that the agent can reach with network: model, such as *.example.com or host:8443, and npm, pypi, crates, go, maven, apt.',
    { default: [] },
  ),
  maxParallel: trust(
    v.integer({ most: 256 }),
    'Stories worked on at the same time, 1 to 256; in CI by the jobs of a workflow with matrices.',
    { default: 1 },
  ),
  candidates: trust(
    candidates,
    'Sessions on one story from the same commit, 1 to 10, of which the gates choose the smallest green change. Or a YAML map: default, fromAttempt, and tags (tag to number).',
    { default: 1, defaultText: '1' },
  ),

  steps: file(
    steps,
    'The steps of an iteration (docs/steps.md): name, type, enabled, timeout, maxRetries, retryDelay, continueOnError, circuitBreaker, config; a list, or a map of lists by name.',
    { default: [], defaultText: 'the agent alone' },
  ),
  browser: file(
    browser,
    'Browser checks of stories with the tag ui, and in the final verification: enabled, tags, baseUrl, urls, viewports (1280x800), accessibility, timeout (15s), executablePath, headless.',
    { defaultText: 'none' },
  ),
  prices: file(prices, 'Price of each model: input, output and cached, in US dollars per million tokens.', {
    default: {},
  }),
  ladder: file(ladder, 'Models that a story with a tag climbs, instead of those of `model`: tag to list.', {
    default: {},
  }),
  gateNetwork: file(
    v.choice(['open', 'model']),
    'What prepare and gates can reach on the network, besides this machine',
    {
      default: 'open',
    },
  ),
  breaker: file(
    breaker,
    'When a story rests for a while, after attempts that made no progress: noProgress, sameError, outputDecline (percent), coolDown.',
    { default: {}, defaultText: '3, 5, 70, 30m' },
  ),
  commits: file(
    commits,
    'State commits: prdChanges, message. The subject of story commits: story, with {id}, {title}, {subject} (the title in lower case at its start, for commitlint) and {feature}.',
    { default: {}, defaultText: 'true, a separate message for each, feat: {id} - {title}' },
  ),
  maxInterruptions: file(
    v.count,
    'Interruptions in a row, without a finished gate run between them, before a story is blocked.',
    { default: 3 },
  ),
  stopOnBlocked: file(v.boolean, 'Whether the run ends at the first blocked story.', { default: false }),
  logs: file(v.integer({ zero: 'none' }), 'On the CLI, how many runs keep their transcripts and gate logs.', {
    default: 20,
  }),
  stateNamespace: file(names.stateNamespace, 'The namespace of the state refs.', { default: 'refs/ralph' }),
}

export type Values = { [F in keyof typeof table]: ValueOf<(typeof table)[F]> }

/** All settings of a run, typed. Durations are milliseconds; null means not set. */
export type Settings = Readonly<Omit<Values, 'gates' | 'steps'>> & {
  readonly surface: Surface
  readonly gates: readonly Gate[]
  /** The steps that run; null: only the agent's session. */
  readonly steps: Pipeline | null
  /** Whether the settings say `gates: none`. */
  readonly ungated: boolean
}
export type SettingField = keyof typeof table

/** All settings in the table's order. */
export const settingRows: readonly SettingRow[] = Object.entries(table).map(([field, setting]) =>
  settingRow(field, setting),
)
