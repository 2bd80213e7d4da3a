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
const trust = settingGroup('trust and scale')
const file = settingGroup('file only')

const secret = { secret: true } as const

/**
 * Every setting by its field in `Settings`. The configuration key and the flag of the CLI are that name (a
 * duration's without `Ms`), the input is the same in kebab-case. The order is that of all listings.
 */
export const table = {
  command: what(v.choice(commandNames), 'What the job does. With `auto`, the event decides', {
    default: 'auto',
  }),
  feature: what(
    names.featureName,
    'The feature to work on. If empty, Ralph takes the feature of the workflow dispatch, or the only unfinished one.',
  ),
  stories: what(names.storyIds, 'The ids of the stories to work on, separated by commas or one per line.', {
    default: [],
    defaultText: 'all',
  }),
  epic: what(
    v.text,
    'The epic to work on: the `epicId` of its stories. If you also give `stories`, Ralph works on both.',
  ),
  approve: what(v.choice(['person', 'auto']), 'Whether a plan waits until a person approves it', {
    default: 'person',
  }),
  ask: what(
    v.boolean,
    'Whether the planning session first asks you three to five questions, on the issue or in the terminal.',
    { default: false },
  ),
  token: what(
    v.text,
    'The token that Ralph uses to push, and for the pull request, the checks and the next job.',
    {
      ...secret,
      defaultText: 'github.token on the action',
    },
  ),
  publishToken: what(
    v.text,
    'The token of a GitHub App or a person. Ralph pushes the branch and opens the pull request with this token, so that your CI starts.',
    secret,
  ),
  baseBranch: what(
    names.branchName,
    'The branch that the work starts from, and that the pull request merges into.',
    {
      defaultText: 'the default branch',
    },
  ),
  branchPrefix: what(names.branchPrefix, 'The start of a branch name; the name of the feature follows.', {
    default: 'ralph/',
  }),
  branchName: what(
    names.branchPattern,
    'A pattern for branch names that ends in `{feature}`. Use it instead of `branch-prefix`.',
  ),
  workingDirectory: what(names.insidePath, 'The folder inside the repository where agent and gates run.', {
    default: '.',
    defaultText: 'the root of the repository',
  }),
  configFile: what(names.configPath, 'The configuration file. In CI, Ralph reads it from the base branch.', {
    defaultText: 'ralph.config.yml, .yaml or .json',
  }),

  agent: agent(v.choice(agentNames), 'The coding agent', { default: defaultAgent }),
  agentCommand: agent(
    v.lines,
    'The command (for bash -c) that starts the custom agent. The agent gets its prompt on stdin.',
  ),
  agentArgs: agent(v.list(v.text), 'Further arguments for the agent, one per line.', {
    default: [],
    remarks: (items) =>
      items.some((item) => /^-\S+\s+\S/.test(item) && !item.includes('='))
        ? ['an item with a space counts as one argument; write each argument on its own line']
        : [],
  }),
  agentEnv: agent(
    names.variableNames,
    'Names of more environment variables that the agent may see, one per line.',
    {
      default: [],
      remarks: (names) => names.filter(isForbidden).map((name) => `${name} is never passed to the agent`),
    },
  ),
  agentWrapper: agent(
    v.text,
    "A command that wraps the agent, such as a sandbox. Ralph appends the agent's command line to it.",
  ),
  agentVersion: agent(names.version, 'The version of the agent to install.'),
  cache: agent(v.choice(['auto', 'off']), "Whether later jobs reuse an installed agent from GitHub's cache", {
    default: 'auto',
  }),
  model: agent(
    model,
    'The model, or a YAML map with run, plan, verify, setup and default. `run` may be a list: after a red gate, a story moves to the next model.',
    {
      default: {},
      defaultText: "the agent's own",
    },
  ),
  fallbackAgent: agent(
    v.choice(agentNames),
    'The agent that takes over while the first agent is at its usage limit, and for stories that failed twice',
  ),
  instructions: agent(v.lines, 'Text that is added to every prompt.'),
  auth: agent(
    v.choice(['key', 'oidc']),
    "Where the model key comes from. `key`: from a secret. `oidc`: Ralph exchanges the job's identity for a short-lived key",
    { default: 'key' },
  ),

  pipeline: agent(
    pipelineName,
    'Which steps an iteration runs: the name of a list under `steps` in the configuration file, or the NAME of a file .ralph/configs/NAME.json.',
    { defaultText: 'the pipeline named default, if `steps` is set' },
  ),

  gates: gate(
    gates,
    'The commands that must exit 0 before a story passes: a YAML map of names and commands, or of names and keys (docs/gates.md). `none`: the project has no gate.',
    { default: {} },
  ),
  gateEnv: gate(
    names.variableNames,
    'Names of more environment variables that the gates may see, one per line.',
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
    'The programs that run while gates run, such as a database: a YAML map of names and keys (docs/services.md).',
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
    'The command that installs dependencies, such as npm ci. It runs when a job starts, when a lockfile changed, and before the final verification.',
  ),
  baseline: gate(
    v.choice(['require', 'known-red', 'off']),
    'Whether the gates without `when` must pass before work starts. `require`: yes. `known-red`: tests that already fail at the start may keep failing, and no others may fail. `off`: no',
    { default: 'require' },
  ),
  finalVerification: gate(
    v.boolean,
    'Whether a fresh session judges every criterion before the feature is complete. It also judges stories that needed no change.',
    { default: true },
  ),
  evidence: gate(
    v.choice(['ask', 'require', 'tested', 'proved']),
    'Evidence that the judge must give for each criterion. `ask`: none is required. `require`: any kind. `tested`: a passing test. `proved`: a test that fails without the change',
    { default: 'ask' },
  ),
  protectedPaths: gate(
    names.globs,
    'Files that an attempt must not change: patterns as in .gitignore, one per line. `elsewhere` stands for the configuration of package managers, tools, editors, bots, hooks and other CI systems.',
    { default: [] },
  ),
  product: gate(
    names.globs,
    "The product's files, without its tests: patterns as in .gitignore, one per line (docs/gates.md). Default: the code folders, and the files that the package manifests list.",
    { default: [] },
  ),
  weakenedTests: gate(
    v.choice(['judge', 'warn', 'fail', 'off']),
    'What happens if earlier tests fail with a change, or fewer tests run. `judge`: a session decides whether a criterion requires it. `warn`: reports it. `fail`: rejects it. `off`: nothing',
    { default: 'judge' },
  ),
  needsProof: gate(
    v.choice(['warn', 'require', 'off']),
    'What happens if no test fails without the change, or with a mistake in it. `warn`: reports that. `require`: rejects the attempt. `off`: does not check',
    { default: 'warn' },
  ),
  newDependencies: gate(
    v.choice(['show', 'ask', 'refuse']),
    'What happens if a change adds packages. `show`: reports them. `ask`: a judge decides whether a criterion needs them. `refuse`: a person must allow them',
    { default: 'show' },
  ),
  examples: gate(
    v.choice(['off', 'sealed']),
    'Whether Ralph also checks a change against examples whose expected values the agent cannot see (docs/examples.md). This costs more sessions',
    { default: 'off' },
  ),
  examplesKey: gate(
    v.text,
    'The key that seals the values of `examples: sealed`: random text of at least 16 characters, from a secret. The CLI makes its own key.',
    secret,
  ),
  cleanRoom: gate(
    v.choice(['on', 'off']),
    'Whether the final verification runs in a fresh clone, with everything installed again',
    { default: 'on' },
  ),
  gatesParallel: gate(
    v.integer({ most: 64 }),
    'How many gates run at the same time, 1 to 64. With 1 they run in the order of the map.',
    { default: 1 },
  ),

  iterationsPerJob: limit(
    v.integer({ zero: 'all in one job' }),
    'The number of iterations in one job, before it dispatches the next job. 0: no limit.',
    { default: 5, defaultText: '5; on the CLI 0', cliDefault: 0 },
  ),
  maxIterations: limit(
    v.integer({ zero: 'no limit' }),
    'The limit on iterations in the whole chain of jobs. 0: no limit.',
    {
      default: 50,
    },
  ),
  maxJobs: limit(v.count, 'The limit on jobs in the whole chain.', {
    defaultText: '3 x max-iterations / iterations-per-job + 5',
  }),
  maxAttempts: limit(v.count, 'The number of failed attempts after which a story is blocked.', {
    default: 3,
  }),
  maxCorrections: limit(
    v.count,
    'How many corrections Ralph makes to one pull request. Further corrections wait for a person.',
    {
      default: 20,
    },
  ),
  iterationTimeoutMs: limit(v.duration, "How long the agent's session in one iteration may take.", {
    default: '30m',
  }),
  idleTimeoutMs: limit(v.duration, 'How long the agent may stay silent before Ralph ends its session.', {
    default: '10m',
  }),
  jobDeadlineMs: limit(
    v.duration,
    "How long after its start a job may begin new work. Keep it 10 minutes below the job's timeout-minutes.",
    { default: '5h' },
  ),
  maxCostUsd: limit(v.money, 'The cost limit in US dollars for the whole chain.'),
  maxTokens: limit(v.count, 'The token limit for the whole chain.'),
  maxAgentTimeMs: limit(
    v.duration,
    'The limit on the total time of all agent sessions in the whole chain of jobs.',
  ),
  callsPerHour: limit(v.count, 'How many agent sessions may start per hour.'),

  publish: pull(
    v.choice(['batch', 'story']),
    'When Ralph pushes the branch: once per job, or after every story',
    {
      default: 'batch',
    },
  ),
  pullRequest: pull(
    v.choice(['draft', 'ready', 'none', 'stacked']),
    'How Ralph opens the pull request. `stacked`: one for each epic or story, on top of the one before',
    { default: 'draft' },
  ),
  reportAs: pull(v.choice(['checks', 'statuses', 'none']), 'How Ralph shows results on the commit', {
    default: 'checks',
  }),
  reviews: pull(
    names.reviews,
    'Which review threads become corrections. `writers`: those of people with write permission. `off`: none. A mention such as "@ralph": only those of people with write permission that contain it.',
    { default: 'writers' },
  ),
  reviewsFrom: pull(
    v.list(v.text),
    'Bots, such as coderabbitai, whose review threads count like those of a person with write permission. One per line.',
    { default: [] },
  ),
  commandsFrom: pull(
    v.list(v.text),
    'People who may give commands on a server that shows permissions only to administrators (Gitea, Forgejo). One login per line.',
    { default: [], defaultText: 'the owner of the repository' },
  ),
  checks: pull(
    v.choice(['report', 'wait', 'off']),
    'What Ralph does about red checks of the project. `report`: names them. `wait`: corrects them before the run is complete. `off`: nothing',
    { default: 'report' },
  ),
  requiredChecks: pull(v.list(v.text), 'The checks that count with `checks: wait`, by name, one per line.', {
    default: [],
    defaultText: 'those that the branch rules require; if there are none, all',
  }),
  approvals: pull(
    v.integer({ zero: 'none', most: 10 }),
    'How many people with write access must approve the pull request before the run is complete. Those who began the run, approved its plan or committed do not count.',
    { default: 0 },
  ),
  updateBase: pull(
    v.choice(['conflicts', 'always', 'off']),
    'When Ralph merges the base branch into its own branch during a run',
    { default: 'conflicts' },
  ),
  autoMerge: pull(
    v.boolean,
    'Whether Ralph asks GitHub to merge the pull request of a complete run, as soon as the rules of the base branch allow it.',
    { default: false },
  ),
  agentsMd: pull(
    v.choice(['section', 'off']),
    'Whether Ralph writes the learnings of a complete run into a section of AGENTS.md, at most 4 KB',
    { default: 'section' },
  ),
  writeBack: pull(
    v.choice(['on', 'off']),
    "Whether Ralph marks a story's result in the documents that the story came from, and in sprint-status.yaml",
    { default: 'on' },
  ),
  signCommits: pull(
    v.signing,
    "Who signs Ralph's commits. `false`: no one. `true`: GitHub. `ssh`: Ralph, with `signing-key`. `gpg`: Ralph, with the key in git's configuration",
    { default: 'false' },
  ),
  signingKey: pull(
    v.lines,
    "The private key for `sign-commits: ssh`: in OpenSSH format, without a passphrase, from a secret. The CLI uses the key in git's configuration.",
    secret,
  ),
  redispatch: pull(v.boolean, 'Whether a job dispatches the next job when its batch ends.', {
    default: true,
  }),
  workflow: pull(names.workflowFile, 'The file name of the workflow that a job dispatches.', {
    defaultText: 'this workflow',
  }),
  notify: pull(
    notify,
    'Who gets notifications: a YAML map with slack, discord, teams, telegram, webhook and custom (docs/notify.md). `every`: the number of iterations between progress messages, 5 if you leave it out.',
    { default: {}, ...secret },
  ),

  isolation: trust(
    v.choice(['same-user', 'other-user', 'separate-job']),
    'How strictly agent and gates are isolated from the tokens of a job',
    { default: 'other-user', cliDefault: 'same-user', defaultText: 'other-user; on the CLI same-user' },
  ),
  network: trust(
    v.choice(['open', 'model']),
    'What the agent can reach on the network. `open`: everything. `model`: its model, this machine, and `network-allow`',
    {
      defaultText: '`model` in the action with `isolation: other-user`, otherwise `open`',
    },
  ),
  networkAllow: trust(
    names.hosts,
    'Hosts that the agent can also reach with `network: model`, such as *.example.com or host:8443. npm, pypi, crates, go, maven and apt stand for the hosts of their registries.',
    { default: [] },
  ),
  maxParallel: trust(
    v.integer({ most: 256 }),
    'How many stories Ralph works on at the same time, 1 to 256. In CI this needs a workflow with matrices.',
    { default: 1 },
  ),
  candidates: trust(
    candidates,
    'How many sessions work on each story, 1 to 10. The best change with green gates lands. Or a YAML map: default, fromAttempt and tags (a number per tag).',
    { default: 1, defaultText: '1' },
  ),

  steps: file(steps, 'The steps of an iteration: a list, or a map of lists by name (docs/steps.md).', {
    default: [],
    defaultText: 'only the agent',
  }),
  browser: file(
    browser,
    'The pages that a browser opens for stories with the tag ui, and in the final verification: a map (docs/browser.md).',
    { defaultText: 'none' },
  ),
  prices: file(
    prices,
    'The price of each model: input, output and cached, in US dollars per million tokens.',
    {
      default: {},
    },
  ),
  ladder: file(
    ladder,
    'Model ladders for stories with certain tags, instead of the list in `model`: a map of tags to lists of models.',
    {
      default: {},
    },
  ),
  gateNetwork: file(
    v.choice(['open', 'model']),
    'What prepare and gates can reach on the network. `open`: everything. `model`: the same as the agent with `network: model`',
    {
      default: 'open',
    },
  ),
  breaker: file(
    breaker,
    'When a story rests for coolDown. noProgress: attempts in a row without a change. sameError: equal failures in a row. outputDecline: percent less output in an attempt without a change.',
    { default: {}, defaultText: '3, 5, 70, 30m' },
  ),
  commits: file(
    commits,
    "prdChanges: whether later commits may contain only Ralph's own files. message: their message. story: the subject of a story's commit, with {id}, {title}, {subject} and {feature}.",
    { default: {}, defaultText: 'true, a separate message for each, feat: {id} - {title}' },
  ),
  maxInterruptions: file(
    v.count,
    'How many interruptions in a row block a story. When its gates have finished once, the count starts again.',
    { default: 3 },
  ),
  stopOnBlocked: file(v.boolean, 'Whether the run ends at the first blocked story.', { default: false }),
  logs: file(
    v.integer({ zero: 'none' }),
    'The number of runs for which the CLI keeps transcripts and gate logs.',
    {
      default: 20,
    },
  ),
  stateNamespace: file(
    names.stateNamespace,
    'The namespace of the git refs in which Ralph keeps its state.',
    {
      default: 'refs/ralph',
    },
  ),
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
