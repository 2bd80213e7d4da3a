// How single values are read: durations, numbers, booleans, lists, choices, names; and how a bad one is shown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onlyWrong, right, wrong, yml } from './reading.ts'

const input = (name: string, value: string) => right({ inputs: { [name]: value } }).settings
const bad = (name: string, value: string) => onlyWrong({ inputs: { [name]: value } })

test('durations are an integer with s, m or h', () => {
  assert.equal(input('idle-timeout', '45s').idleTimeoutMs, 45_000)
  assert.equal(input('idle-timeout', ' 5m ').idleTimeoutMs, 300_000)
  assert.equal(input('max-agent-time', '500h').maxAgentTimeMs, 1_800_000_000)
  for (const value of [
    '0s',
    '0',
    '1.5h',
    '10',
    '-1m',
    '1d',
    '501h',
    '10 m',
    'm',
    '1h30m',
    '99999999999999999999h',
  ]) {
    assert.match(bad('idle-timeout', value).expected, /duration such as/, value)
  }
})

test('an invalid duration is a mistake with an example', () => {
  assert.equal(bad('idle-timeout', '10').fix, 'write 10s, 10m or 10h')
  assert.equal(bad('idle-timeout', '10 min').fix, 'write 10m')
  assert.equal(bad('idle-timeout', '2 Hours').fix, 'write 2h')
  assert.equal(onlyWrong(yml('idleTimeout: 600')).fix, 'write 600s, 600m or 600h')
})

test("the longest duration is one that Node's timers can take", () => {
  assert.ok((input('max-agent-time', '500h').maxAgentTimeMs ?? 0) < 2 ** 31)
})

test('whole numbers are accepted, and 0 only where it has a meaning', () => {
  assert.equal(input('max-iterations', '0').maxIterations, 0)
  assert.equal(input('iterations-per-job', '0').iterationsPerJob, 0)
  assert.equal(input('max-tokens', '1000000').maxTokens, 1_000_000)
  assert.equal(right(yml('maxAttempts: 4')).settings.maxAttempts, 4)
  for (const value of ['-1', '1.5', '1e3', 'x', '99999999999999999999', '+1', '0x10'])
    bad('max-iterations', value)
  for (const name of ['max-attempts', 'max-jobs', 'max-tokens', 'calls-per-hour']) bad(name, '0')
  for (const value of ['0', '257']) assert.match(bad('max-parallel', value).expected, /1 to 256/)
  assert.equal(input('max-parallel', '256').maxParallel, 256)
  for (const value of ['1.5', '-3', '.nan', '.inf', 'true', '[1]']) onlyWrong(yml(`maxAttempts: ${value}`))
})

test('amounts of money are decimals of at least 0', () => {
  assert.equal(input('max-cost-usd', '12.50').maxCostUsd, 12.5)
  assert.equal(right(yml('maxCostUsd: 0')).settings.maxCostUsd, 0)
  for (const value of ['-1', 'lots', '1e3', '5.']) bad('max-cost-usd', value)
  assert.equal(bad('max-cost-usd', '$5').fix, 'write 5')
  assert.equal(bad('max-cost-usd', '12,50 USD').fix, 'write 12.50')
  for (const value of ['.nan', '.inf', '-1']) onlyWrong(yml(`maxCostUsd: ${value}`))
})

test('booleans are those of YAML 1.2', () => {
  for (const value of ['true', 'True', 'TRUE'])
    assert.equal(
      right({ inputs: { redispatch: value }, ...yml('redispatch: false') }).settings.redispatch,
      true,
    )
  for (const value of ['false', 'False', 'FALSE']) assert.equal(input('redispatch', value).redispatch, false)
  assert.equal(right(yml('redispatch: false')).settings.redispatch, false)
  assert.equal(bad('redispatch', 'yes').fix, 'write true')
  assert.equal(bad('redispatch', 'off').fix, 'write false')
  assert.equal(onlyWrong(yml('redispatch: 1')).fix, 'write true')
  assert.equal(bad('redispatch', 'maybe').fix, 'write true or false')
})

test('an invalid choice suggests the nearest', () => {
  assert.equal(input('isolation', 'separate-job').isolation, 'separate-job')
  assert.deepEqual(bad('pull-request', 'drfat'), {
    path: 'input pull-request',
    found: '"drfat"',
    expected: 'draft, ready, none or stacked',
    fix: 'did you mean draft?',
  })
  for (const [name, value] of [
    ['command', 'start'],
    ['agent', 'gpt'],
    ['publish', 'job'],
    ['report-as', 'comment'],
    ['baseline', 'true'],
    ['weakened-tests', 'error'],
    ['isolation', 'none'],
  ] as const) {
    bad(name, value)
  }
  // YAML 1.2: `off` is a text, `false` is none.
  assert.equal(right(yml('baseline: off')).settings.baseline, 'off')
  onlyWrong(yml('baseline: false'))
})

test('lists are one item per line, or an array in the file', () => {
  assert.deepEqual(input('agent-args', '--a\r\n\n  b c \n#x\n').agentArgs, ['--a', 'b c', '#x'])
  assert.deepEqual(right(yml('agentArgs: [--a, b c]')).settings.agentArgs, ['--a', 'b c'])
  assert.deepEqual(right(yml('agentArgs: |\n  --a\n  b c\n')).settings.agentArgs, ['--a', 'b c'])
  assert.equal(onlyWrong(yml('agentArgs: [--a, 3]')).path, 'ralph.config.yml: agentArgs[1]')
  assert.equal(onlyWrong(yml('agentArgs: { a: b }')).found, 'a map')
  assert.equal(onlyWrong(yml('agentArgs: 5')).found, '5')
})

test('an argument with a space is a note, since it stays one argument', () => {
  const { notes } = right({ inputs: { 'agent-args': '--max-turns 30' } })
  assert.match(notes.join(), /^input agent-args: .*its own line$/)
  assert.deepEqual(right({ inputs: { 'agent-args': '--max-turns\n30\n--x=a b' } }).notes, [])
})

test('variable names are validated', () => {
  assert.deepEqual(input('agent-env', 'A_B\n_c1').agentEnv, ['A_B', '_c1'])
  assert.match(bad('agent-env', 'A=secret').fix, /^write A;/)
  assert.equal(wrong({ inputs: { 'gate-env': 'A B\n1X\nA-B' } }).length, 3)
  const { settings, notes } = right({
    inputs: { 'agent-env': 'GITHUB_TOKEN', 'gate-env': 'ANTHROPIC_API_KEY' },
  })
  assert.deepEqual(settings.agentEnv, ['GITHUB_TOKEN'])
  assert.deepEqual(notes, [
    'input agent-env: GITHUB_TOKEN is never passed to the agent',
    'input gate-env: ANTHROPIC_API_KEY is never passed to gates',
  ])
})

test('feature names are valid in branches and folders', () => {
  for (const name of ['auth', 'Auth_2.x-y', '1', 'a'.repeat(100)])
    assert.equal(input('feature', name).feature, name)
  const unsafe = [
    '../x',
    'a b',
    'a/b',
    'a..b',
    '-x',
    '.x',
    'x.lock',
    'x.LOCK',
    'x.',
    'a~',
    'ä',
    'a'.repeat(101),
    'a\u202eb',
  ]
  for (const name of unsafe) assert.equal(bad('feature', name).path, 'input feature', name)
  assert.equal(bad('feature', 'User log in!').fix, 'write User-log-in')
  assert.equal(bad('feature', '///').fix, 'choose a name such as auth')
})

test('branch prefixes and branches are valid git names', () => {
  for (const prefix of ['ralph/', 'bots/ralph-', 'x'])
    assert.equal(input('branch-prefix', prefix).branchPrefix, prefix)
  for (const prefix of [
    'a b/',
    '/x',
    '-x',
    'a..b',
    'a//b',
    '.a/',
    'a/.b',
    'a.lock/',
    'x~',
    'x^',
    'x:',
    'x?',
    'x*',
    'x[',
    'x\\',
    'x@{',
    'refs/heads/',
  ]) {
    bad('branch-prefix', prefix)
  }
  assert.equal(input('branch-name', 'feat/{feature}').branchPrefix, 'feat/')
  const both = { 'branch-name': 'feat/{feature}', 'branch-prefix': 'bots/' }
  const { path, found, fix } = onlyWrong({ inputs: both })
  assert.deepEqual(
    [path, found, fix],
    [
      'input branch-name',
      'branch-name is feat/{feature}, but branch-prefix is bots/.',
      'leave branch-prefix out',
    ],
  )
  for (const pattern of ['feat/', '{feature}/x', 'feat/{feature}-{feature}x', 'a b/{feature}', '{Feature}'])
    bad('branch-name', pattern)
  assert.equal(input('base-branch', 'release/1.x').baseBranch, 'release/1.x')
  assert.equal(bad('base-branch', 'refs/heads/main').fix, 'write main')
  for (const branch of ['main/', 'main.', '@', '-b', 'a b']) bad('base-branch', branch)
})

test('the state namespace is below refs/, and not one that git uses', () => {
  const namespace = (name: string) => yml(`stateNamespace: "${name}"`)
  for (const name of ['refs/ralph', 'refs/heads/ralph-state', 'refs/x/y']) {
    assert.equal(right(namespace(name)).settings.stateNamespace, name)
  }
  for (const name of [
    'ralph',
    'refs/',
    'refs/heads',
    'refs/tags/x',
    'refs/pull/1',
    'refs/remotes/x',
    'refs/a/',
    'refs/a b',
  ]) {
    onlyWrong(namespace(name))
  }
})

test('globs are those of .gitignore', () => {
  const globs = input(
    'protected-paths',
    '# money\nsrc/billing/**\n!src/billing/README.md\n/x y\n',
  ).protectedPaths
  assert.deepEqual(globs, ['src/billing/**', '!src/billing/README.md', '/x y'])
  assert.deepEqual(input('protected-paths', 'elsewhere').protectedPaths, ['elsewhere'])
  for (const glob of ['./src', '../x', 'a/../b', 'a\\', '!']) bad('protected-paths', glob)
})

test('workflow, paths and versions are validated', () => {
  assert.equal(input('workflow', '.github/workflows/ralph.yml').workflow, 'ralph.yml')
  assert.equal(input('workflow', 'ralph.yaml').workflow, 'ralph.yaml')
  for (const name of ['ralph', 'sub/ralph.yml', '../ralph.yml']) bad('workflow', name)
  assert.equal(input('working-directory', 'packages/app').workingDirectory, 'packages/app')
  for (const path of ['..', 'a/../..', 'a\\..\\b']) bad('working-directory', path)
  for (const path of ['ralph.toml', '../ralph.yml']) bad('config-file', path)
  for (const version of ['2.1.0', 'latest', '^1.2', '2.0.0-rc.1+x']) input('agent-version', version)
  for (const version of ['1 2', '; rm', '-g']) bad('agent-version', version)
})

test('model is one for all modes, or one per mode', () => {
  const all = (name: string | null) => ({ run: name, plan: name, verify: name, setup: name })
  for (const name of ['sonnet', 'anthropic/claude:beta', 'llama3:8b'])
    assert.deepEqual(input('model', name).model, all(name))
  const byMode = { run: 'sonnet', plan: 'opus', verify: 'sonnet', setup: 'sonnet' }
  assert.deepEqual(input('model', 'plan: opus\ndefault: sonnet').model, byMode)
  assert.deepEqual(input('model', '{ plan: opus, default: sonnet }').model, byMode)
  assert.deepEqual(input('model', 'default: x').model, all('x'))
  assert.deepEqual(right(yml('model: { plan: opus }')).settings.model, { ...all(null), plan: 'opus' })
  assert.equal(bad('model', 'plans: opus').fix, 'did you mean plan?')
  // An agent would read it as an option of its own.
  for (const name of ['-m', '--help', 'verify: -x']) bad('model', name)
  // YAML reads 2.10 as 2.1: only quotes keep what was written.
  assert.equal(onlyWrong(yml('model: 2.10')).fix, 'write it in quotes: "2.1"')
})

test('model ladders: for run and by tag; an empty one, a duplicate model and one without a price are mistakes', () => {
  const all = (name: string | null) => ({ run: name, plan: name, verify: name, setup: name })
  const rungs = ['small', 'strong']
  assert.deepEqual(input('model', 'run: [small, strong]').model, { ...all(null), run: 'small', rungs })
  const judged = { ...all('judge'), run: 'small', rungs }
  assert.deepEqual(input('model', '{ run: [small, strong], default: judge }').model, judged)
  assert.deepEqual(right(yml('ladder: { docs: [tiny] }')).settings.ladder, { docs: ['tiny'] })
  const wrong = (text: string) => onlyWrong(yml(text))
  assert.equal(wrong('model: { run: [] }').expected, 'at least one model')
  assert.equal(wrong('ladder: { docs: [] }').expected, 'at least one model')
  assert.match(wrong('model: { run: [small, small] }').found, /there is already a model with this name/)
  assert.equal(wrong('ladder: { docs: [-x] }').fix, 'remove the dash at its start')
  for (const mode of ['verify', 'plan', 'default'])
    assert.match(wrong(`model: { ${mode}: [a, b] }`).expected, /text/)
  const priced =
    'agent: codex\nprices: { small: { input: 1, output: 2 }, strong: { input: 5, output: 25 } }\n'
  const unknown = wrong(`${priced}model: { run: [small, strnog] }`)
  assert.match(unknown.found, /the model "strnog" of this ladder has no price/)
  assert.match(unknown.fix, /did you mean strong\?/)
  assert.match(
    wrong(`${priced.replace('codex', 'claude')}ladder: { ui: [huge] }`).found,
    /the model "huge" of this ladder/,
  )
  right(yml(`${priced}model: { run: [small, strong] }`))
  right(yml('model: { run: [small, strnog] }'))
})

test('texts: one line for names and commands, several for scripts', () => {
  assert.equal(input('prepare', 'npm ci\nnpm run build\n').prepare, 'npm ci\nnpm run build')
  assert.equal(input('instructions', 'a\r\nb').instructions, 'a\nb')
  assert.match(bad('agent-wrapper', 'a\nb').expected, /one line/)
  assert.match(bad('prepare', 'a\0b').expected, /NUL/)
})

test('quoted values of users are short, without active characters', () => {
  const found = bad('agent', `\u001b[31mx\u202e\n##[error]${'y'.repeat(1000)}`).found
  assert.ok(found.length <= 80, String(found.length))
  assert.doesNotMatch(found, /[\p{Cc}\p{Cf}]|##\[/u)
  const path = onlyWrong({ inputs: { [`\u001b${'z'.repeat(500)}`]: 'x' } }).path
  assert.ok(path.length < 100)
  assert.ok(!path.includes('\u001b'))
})

test('tokens are never in a mistake', () => {
  assert.doesNotMatch(JSON.stringify(bad('token', 'ghp_secret\nx')), /secret/)
  assert.doesNotMatch(JSON.stringify(onlyWrong(yml('token: 123456'))), /123456/)
  assert.equal(onlyWrong(yml('notify: { slack: { toString: 2 } }')).path, 'ralph.config.yml: notify.slack')
})
