// Where settings come from: defaults, precedence, what counts as not given, unknown names.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` is what the settings replace.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionInputs, hostEnvironment } from '../../../src/settings/environment.ts'
import { maxJobs, readSettings, resolveSettings, type Sources } from '../../../src/settings/read-settings.ts'
import { onlyWrong, paths, right, wrong, yml } from './reading.ts'

const minute = 60_000

test('without any settings the documented defaults apply', () => {
  const { settings, notes } = right({})
  assert.deepEqual(notes, [])
  assert.deepEqual(settings, {
    surface: 'action',
    command: 'auto',
    approve: 'person',
    ask: false,
    feature: null,
    stories: [],
    epic: null,
    token: null,
    publishToken: null,
    baseBranch: null,
    branchPrefix: 'ralph/',
    branchName: null,
    workingDirectory: '.',
    configFile: null,
    agent: 'claude',
    agentCommand: null,
    agentArgs: [],
    agentEnv: [],
    agentWrapper: null,
    auth: 'key',
    agentVersion: null,
    cache: 'auto',
    model: { run: null, plan: null, verify: null, setup: null },
    fallbackAgent: null,
    instructions: null,
    gates: [],
    ungated: false,
    gateEnv: [],
    prepare: null,
    baseline: 'require',
    finalVerification: true,
    evidence: 'ask',
    protectedPaths: [],
    weakenedTests: 'judge',
    product: [],
    needsProof: 'warn',
    newDependencies: 'show',
    examples: 'off',
    examplesKey: null,
    checks: 'report',
    requiredChecks: [],
    maxCorrections: 20,
    reviews: 'writers',
    reviewsFrom: [],
    commandsFrom: [],
    approvals: 0,
    updateBase: 'conflicts',
    cleanRoom: 'on',
    gatesParallel: 1,
    iterationsPerJob: 5,
    maxIterations: 50,
    maxJobs: null,
    maxAttempts: 3,
    iterationTimeoutMs: 30 * minute,
    idleTimeoutMs: 10 * minute,
    jobDeadlineMs: 300 * minute,
    maxCostUsd: null,
    maxTokens: null,
    maxAgentTimeMs: null,
    callsPerHour: null,
    candidates: { run: 1, fromAttempt: 1, byTag: {} },
    publish: 'batch',
    pullRequest: 'draft',
    reportAs: 'checks',
    autoMerge: false,
    agentsMd: 'section',
    writeBack: 'on',
    signCommits: 'false',
    signingKey: null,
    redispatch: true,
    workflow: null,
    notify: {
      slack: null,
      discord: null,
      teams: null,
      telegram: null,
      webhook: null,
      custom: null,
      every: 5,
    },
    isolation: 'other-user',
    network: 'model',
    networkAllow: [],
    maxParallel: 1,
    pipeline: null,
    steps: null,
    services: [],
    browser: null,
    prices: {},
    breaker: { noProgress: 3, sameError: 5, outputDecline: 70, coolDownMs: 30 * minute },
    gateNetwork: 'open',
    commits: { prdChanges: true, message: null, story: 'feat: {id} - {title}' },
    maxInterruptions: 3,
    stopOnBlocked: false,
    ladder: {},
    logs: 20,
    stateNamespace: 'refs/ralph',
  })
})

test('on the CLI one job is the whole chain', () => {
  const { settings } = right({ surface: 'cli' })
  assert.equal(settings.iterationsPerJob, 0)
  const { isolation, network } = right({}).settings
  assert.deepEqual(
    { ...settings, iterationsPerJob: 5, surface: 'action', isolation, network },
    right({}).settings,
  )
})

test('only isolation as another user has a network setting', () => {
  const { settings } = right({ surface: 'cli' })
  assert.deepEqual([settings.isolation, settings.network], ['same-user', 'open'])
  assert.equal(right({ inputs: { isolation: 'same-user' } }).settings.network, 'open')
  assert.equal(right({ inputs: { network: 'open' } }).settings.network, 'open')
  assert.equal(right({ surface: 'cli', flags: { isolation: 'other-user' } }).settings.network, 'open')
  const { found } = onlyWrong({ inputs: { isolation: 'same-user', network: 'model' } })
  assert.match(found, /needs isolation: other-user, but isolation is same-user\.$/)
})

test('two readings of settings share no object', () => {
  const [one, two] = [right({}).settings, right({}).settings]
  assert.notEqual(one.gates, two.gates)
  assert.notEqual(one.agentArgs, two.agentArgs)
  assert.notEqual(one.breaker, two.breaker)
})

test('precedence: flag over input over file over default', () => {
  const file = yml('maxIterations: 7\nmaxAttempts: 9\nagent: codex')
  const { settings } = right({
    inputs: { 'max-iterations': '8', agent: 'amp' },
    flags: { agent: 'gemini' },
    ...file,
  })
  assert.equal(settings.maxIterations, 8)
  assert.equal(settings.maxAttempts, 9)
  assert.equal(settings.agent, 'gemini')
  assert.equal(settings.iterationsPerJob, 5)
})

test('a value replaces the lower one as a whole', () => {
  const { settings } = right({ inputs: { gates: 'lint: npm run lint' }, ...yml('gates: { test: npm test }') })
  assert.deepEqual(
    settings.gates.map((gate) => gate.name),
    ['lint'],
  )
})

test('empty inputs, flags and variables, and null in the file, count as not given', () => {
  const inputs = { 'max-iterations': '', agent: '  ', gates: '\n', model: '' }
  const file = yml('maxIterations: 7\nagent:\nmodel: ""\npublishToken: ${NOTHING}\ngates: { a: b }')
  const { settings } = right({
    inputs,
    flags: { maxAttempts: '', agent: undefined },
    env: { NOTHING: '' },
    ...file,
  })
  assert.equal(settings.maxIterations, 7)
  assert.equal(settings.agent, 'claude')
  assert.equal(settings.model.run, null)
  assert.equal(settings.publishToken, null)
  assert.equal(settings.gates.length, 1)
})

test('an explicitly empty list or map counts as given', () => {
  const { settings } = right({ ...yml('gates: {}\nagentArgs: []') })
  assert.deepEqual([settings.gates, settings.agentArgs], [[], []])
})

test('a mistake is reported also when a higher level takes precedence', () => {
  const mistakes = wrong({ inputs: { 'max-iterations': '8' }, ...yml('maxIterations: many') })
  assert.deepEqual(paths(mistakes), ['ralph.config.yml: maxIterations'])
})

test('an unknown input suggests the nearest, and other spellings are known', () => {
  assert.deepEqual(onlyWrong({ inputs: { 'max-iteration': '' } }), {
    path: 'input max-iteration',
    found: '"max-iteration" is not a setting.',
    expected: '',
    fix: 'did you mean max-iterations?',
  })
  assert.equal(onlyWrong({ inputs: { max_iterations: '3' } }).fix, 'did you mean max-iterations?')
  assert.equal(onlyWrong({ inputs: { 'something-else-entirely': '3' } }).fix, 'remove it')
})

test('an unknown flag is reported as a flag', () => {
  const mistake = onlyWrong({ surface: 'cli', flags: { maxIteration: '3' } })
  assert.equal(mistake.path, '--max-iteration')
  assert.equal(mistake.fix, 'did you mean --max-iterations?')
})

test('settings of the file only are no input and no flag', () => {
  assert.match(onlyWrong({ inputs: { 'max-interruptions': '3' } }).fix, /ralph\.config\.yml/)
  assert.match(onlyWrong({ flags: { stopOnBlocked: true } }).fix, /ralph\.config\.yml/)
})

test('flags: booleans, lists and missing values', () => {
  const flags = {
    redispatch: false,
    finalVerification: 'false',
    agentArgs: ['--a', 'b c'],
    gateEnv: 'A\nB',
    model: ['x'],
  }
  const { settings } = right({ surface: 'cli', flags })
  assert.equal(settings.redispatch, false)
  assert.equal(settings.finalVerification, false)
  assert.deepEqual(settings.agentArgs, ['--a', 'b c'])
  assert.deepEqual(settings.gateEnv, ['A', 'B'])
  assert.equal(settings.model.verify, 'x')
  const mistakes = wrong({ flags: { model: true, feature: ['a', 'b'], maxTokens: false } })
  assert.deepEqual(paths(mistakes), ['--feature', '--max-tokens', '--model'])
})

test('many mistakes are reported at once', () => {
  const mistakes = wrong({
    inputs: {
      agent: 'cluade',
      'max-iterations': 'x',
      gates: 'test: {run: a, timeout: 1}',
      feature: '../x',
      nope: '',
    },
    flags: { idleTimeout: '10', gate: ['broken'] },
    ...yml('breaker: { sameErrors: 1 }\nmaxTokens: -1\nhello: 1'),
  })
  assert.deepEqual(paths(mistakes), [
    '--gate',
    '--idle-timeout',
    'input agent',
    'input feature',
    'input gates: test.timeout',
    'input max-iterations',
    'input nope',
    'ralph.config.yml: breaker.sameErrors',
    'ralph.config.yml: hello',
    'ralph.config.yml: maxTokens',
  ])
})

test('a hundred mistakes are listed, and the rest counted', () => {
  const mistakes = wrong({ inputs: { 'protected-paths': './x\n'.repeat(500) } })
  assert.equal(mistakes.length, 101)
  assert.equal(mistakes.at(-1)?.found, 'there are more than 100 mistakes, and the rest is not shown.')
})

test('maxJobs defaults to three times what the iterations need, and five', () => {
  const jobs = (maxIterations: number, iterationsPerJob: number, given: number | null = null) =>
    maxJobs({ maxIterations, iterationsPerJob, maxJobs: given })
  assert.equal(jobs(50, 5), 35)
  assert.equal(jobs(11, 5), 14)
  assert.equal(jobs(50, 0), 8)
  assert.equal(jobs(0, 5), Number.POSITIVE_INFINITY)
  assert.equal(jobs(0, 5, 4), 4)
})

test("inputs are read by the names of the runner's variables", () => {
  const env = {
    'INPUT_MAX-ITERATIONS': '3',
    INPUT_MAX_JOBS: '',
    INPUT_: 'x',
    PATH: '/bin',
    INPUT_X: undefined,
  }
  assert.deepEqual(actionInputs(env), { 'max-iterations': '3', max_jobs: '' })
})

test('hostEnvironment is a copy of the environment', () => {
  const env = hostEnvironment()
  assert.equal(env.PATH, process.env.PATH)
  env.PATH = 'changed'
  assert.notEqual(process.env.PATH, 'changed')
})

const files: Record<string, string> = {
  'ralph.config.yml': 'maxAttempts: 1',
  'ralph.config.json': '{ "maxAttempts": 2 }',
  'ci/ralph.yml': 'maxAttempts: 3',
  'b.json': '{ "maxAttempts": 4 }',
}

test("the configuration file is the flag's, else the input's, else the first of its default names", async () => {
  const attempts = async (sources: Partial<Sources>) => {
    const asked: string[] = []
    const all = { env: {}, surface: 'action' as const, ...sources }
    const { settings, notes } = await resolveSettings(all, async (path) => {
      asked.push(path)
      return files[path] ?? null
    })
    return [settings.maxAttempts, asked.length, notes.join()]
  }
  assert.deepEqual(await attempts({}), [1, 1, ''])
  assert.deepEqual(await attempts({ surface: 'cli' }), [
    1,
    3,
    'ralph.config.json is ignored, because Ralph reads ralph.config.yml',
  ])
  assert.deepEqual(await attempts({ inputs: { 'config-file': ' ci/ralph.yml ' } }), [3, 1, ''])
  const both = { inputs: { 'config-file': 'a.yml' }, flags: { configFile: 'b.json' } }
  assert.deepEqual(await attempts(both), [4, 1, ''])
  assert.equal(onlyWrong({ inputs: { 'config-file': '../a.yml' } }).path, 'input config-file')
})

test('a named configuration file that does not exist is a mistake, with the others', async () => {
  const inputs = { 'config-file': 'none.yml', 'max-attempts': 'x' }
  const missing = await resolveSettings({ inputs, env: {}, surface: 'action' }, async () => null)
  assert.ok(!missing.ok)
  assert.deepEqual(paths(missing.mistakes), ['input config-file', 'input max-attempts'])
  const flags = { configFile: 'none.yml' }
  const onCli = await resolveSettings({ flags, env: {}, surface: 'cli' }, async () => null)
  assert.deepEqual(onCli.ok ? [] : paths(onCli.mistakes), ['--config-file'])
  // Where nobody can look, the inputs are all there is.
  assert.ok((await resolveSettings({ flags, env: {}, surface: 'cli' }, null)).ok)
})

test("an input that has GitHub's own default does not override the file", () => {
  const result = readSettings({
    env: {},
    surface: 'action',
    inputs: { token: 'ghs_x' },
    ...yml('token: ${T}'),
    file: null,
  })
  assert.ok(result.ok && result.settings.token === 'ghs_x')
})
