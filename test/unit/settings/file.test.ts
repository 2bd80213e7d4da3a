// The configuration file: YAML and JSON, line and column of faults, variables, structured settings.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` is what the settings replace.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, onlyWrong, paths, right, wrong, yml } from './reading.ts'

test('configuration file: YAML and JSON give the same settings', () => {
  const text = 'agent: codex\nmaxCostUsd: 5\nprices: { gpt: { input: 1.25, output: 10 } }\nmodel: gpt'
  const value = { agent: 'codex', maxCostUsd: 5, prices: { gpt: { input: 1.25, output: 10 } }, model: 'gpt' }
  assert.deepEqual(right(yml(text)), right(json(value)))
  assert.deepEqual(right(yml(text, 'ralph.config.yaml')), right(json(value)))
})

test('configuration file: empty, with a comment, a byte order mark, a schema', () => {
  for (const text of ['', '  \n', '# nothing\n', '---\n', '\uFEFFmaxAttempts: 3']) right(yml(text))
  right({ file: { path: 'a.json', text: '\uFEFF{ "$schema": "x" }' } })
})

test('configuration file: what is no map is a mistake', () => {
  assert.equal(onlyWrong(yml('- a')).found, 'a list')
  assert.equal(onlyWrong(json('x')).found, '"x"')
})

test('configuration file: YAML errors have line and column', () => {
  assert.equal(onlyWrong(yml('agent: claude\nmodel: [a\n')).path, 'ralph.config.yml: line 3, column 1')
  assert.equal(onlyWrong(yml('agent: claude\nmodel: x: y\n')).path, 'ralph.config.yml: line 2, column 8')
})

test('configuration file: duplicate keys are mistakes in YAML and JSON, and the rest is read', () => {
  assert.deepEqual(paths(wrong(yml('agent: claude\nagent: codex\nlogs: x'))), [
    'ralph.config.yml: line 2, column 1',
    'ralph.config.yml: logs',
  ])
  const file = { path: 'r.json', text: '{\n "agent": "claude",\n "agent": "amp"\n}' }
  assert.equal(onlyWrong({ file }).path, 'r.json: line 3, column 2')
  const numbered = onlyWrong(yml('prices: { 1: {input: 1, output: 1}, "1": {input: 1, output: 1} }'))
  assert.deepEqual(
    [numbered.path, numbered.fix],
    ['ralph.config.yml: line 1, column 37', 'remove one of the two entries'],
  )
})

test('configuration file: JSON errors have line and column', () => {
  for (const [text, where] of [
    ['{\n  "agent": "claude",\n}', 'line 2, column 20'],
    ["{'agent': 1}", 'line 1, column 2'],
    ['{"agent" "x"}', 'line 1, column 10'],
    ['{"agent": "x"', 'line 1, column 14'],
    ['{"agent": "x"} x', 'line 1, column 16'],
    ['{"logs": 01}', 'line 1, column 11'],
    ['{"agent": "a\nb"}', 'line 1, column 13'],
    ['{"agent": "\\x"}', 'line 1, column 12'],
    ['// note\n{}', 'line 1, column 1'],
    ['{"a": undefined}', 'line 1, column 7'],
    ['[1 2]', 'line 1, column 4'],
  ] as const) {
    assert.equal(onlyWrong({ file: { path: 'r.json', text } }).path, `r.json: ${where}`, text)
  }
})

test('configuration file: tags, odd keys, cycles, alias bombs and depth are refused in limited time', () => {
  const started = performance.now()
  const bomb =
    'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]'
  const texts = [
    'a: !x 1',
    'a: !!binary aGk=',
    'gates: !!omap [a: x]',
    '? [a]\n: 1',
    'a: &a [*a]',
    bomb,
    'a: *b',
    '['.repeat(90_000),
    'x'.repeat(200_000),
  ]
  for (const text of texts) wrong(yml(text))
  for (const open of ['[', '{"a":']) wrong({ file: { path: 'a.json', text: open.repeat(15_000) } })
  assert.ok(performance.now() - started < 20_000)
})

test('configuration file: ordinary aliases are accepted', () => {
  const text = 'prices:\n  a: &price { input: 1, output: 2 }\n  b: *price'
  assert.deepEqual(right(yml(text)).settings.prices.b, { input: 1, output: 2, cached: null })
})

test('configuration file: unknown keys at every level suggest the nearest', () => {
  for (const [text, path, fix] of [
    ['max-iterations: 3', 'max-iterations', 'maxIterations'],
    ['verfy: {}', 'verfy', 'verify'],
    ['breaker: { noProgres: 3 }', 'breaker.noProgres', 'noProgress'],
    ['commits: { mesage: x }', 'commits.mesage', 'message'],
    ['prices: { m: { input: 1, output: 1, cache: 1 } }', 'prices.m.cache', 'cached'],
    ['browser: { headles: true }', 'browser.headles', 'headless'],
    ['services: [{ name: a, ready: "http://x", redyTimeout: 3 }]', 'services[0].redyTimeout', 'readyTimeout'],
    ['steps: [{ name: a, type: noop, time_out: 3m }]', 'steps[0].time_out', 'timeout'],
    ['gates: { a: { run: x, whn: ui } }', 'gates.a.whn', 'when'],
    ['notify: { slak: x }', 'notify.slak', 'slack'],
  ] as const) {
    const mistake = onlyWrong(yml(text))
    assert.equal(mistake.path, `ralph.config.yml: ${path}`)
    assert.equal(mistake.fix, `did you mean ${fix}?`)
  }
})

test('configuration file: names of object properties are unknown keys', () => {
  assert.equal(wrong(yml('__proto__: { agent: amp }\nconstructor: 1\ntoString: 2')).length, 3)
  assert.equal(onlyWrong(yml('agent: { toString: 2 }')).found, 'a map')
  for (const inner of ['prices: { __proto__: { input: 1, output: 2 } }', 'breaker: { __proto__: 3 }'])
    assert.equal(onlyWrong(yml(inner)).found, 'this name is not allowed.')
})

test('configuration file: variables are replaced, escaped, left to the shell, or missing', () => {
  const env = { NAME: 'x', HALF: '5' }
  const prepare = (text: string) => right({ env, ...yml(`prepare: '${text}'`) }).settings.prepare
  assert.equal(prepare('a ${NAME} $NAME ${NAME:-y} ${#NAME}'), 'a x $NAME ${NAME:-y} ${#NAME}')
  assert.equal(prepare('$${NAME}'), '${NAME}')
  assert.equal(right({ env, ...yml('maxAttempts: ${HALF}') }).settings.maxAttempts, 5)
  assert.deepEqual(right({ env, ...yml('agentArgs: ["${NAME}", --y]') }).settings.agentArgs, ['x', '--y'])
  assert.deepEqual(onlyWrong({ env, ...yml('gates: { t: { run: "${NONE} ${NAME}" } }') }), {
    path: 'ralph.config.yml: gates.t.run',
    found: 'the environment variable NONE is not set.',
    expected: '',
    fix: 'set NONE, or write $${NONE} if you mean the text itself',
  })
  onlyWrong({ env: {}, ...yml('prepare: ${constructor}') })
})

test('configuration file: a replaced value is not replaced again', () => {
  assert.equal(right({ env: { A: '${B}', B: 'x' }, ...yml('prepare: ${A}') }).settings.prepare, '${B}')
  assert.deepEqual(right({ env: { A: '${B}\nc' }, ...yml('agentArgs: ${A}') }).settings.agentArgs, [
    '${B}',
    'c',
  ])
})

test("configuration file: a variable's value is never in a mistake", () => {
  const env = { S: 'hunter2 is secret' }
  const text = [
    'agent: ${S}',
    'maxAttempts: ${S}',
    'maxCostUsd: ${S}',
    'idleTimeout: ${S}',
    'redispatch: ${S}',
    'branchPrefix: ${S}',
    'agentEnv: ${S}',
    'protectedPaths: ["../${S}"]',
    'workflow: ${S}',
    'gates: { a: { run: x, timeout: "${S}" } }',
    'services: [{ name: a, ready: "${S}" }]',
    'provider: { command: a, timeout: "${S}" }',
  ].join('\n')
  const said = wrong({ env, ...yml(text) })
  assert.ok(said.length >= 10)
  assert.doesNotMatch(
    JSON.stringify(said.map(({ path, found, expected }) => ({ path, found, expected }))),
    /hunter2/,
  )
  assert.doesNotMatch(JSON.stringify(said), /is secret/)
})

test('configuration file: a token in it, and configFile, are notes', () => {
  const { notes } = right({ env: { T: 'x' }, ...yml('token: abc\npublishToken: ${T}\nconfigFile: a.yml') })
  assert.equal(notes.length, 2)
  assert.doesNotMatch(notes.join(), /abc/)
})

test('configuration file: breaker, commits, prices and plain values', () => {
  const text = [
    'breaker: { sameError: 7, coolDown: 1h }',
    'commits: { message: "docs: state" }',
    'prices: { m: { input: 3, output: "15", cached: 0.3 } }',
    'maxInterruptions: 1',
    'stopOnBlocked: true',
    'logs: 0',
  ].join('\n')
  const { settings } = right(yml(text))
  assert.deepEqual(settings.breaker, {
    noProgress: 3,
    sameError: 7,
    outputDecline: 70,
    coolDownMs: 3_600_000,
  })
  assert.deepEqual(settings.commits, {
    prdChanges: true,
    message: 'docs: state',
    story: 'feat: {id} - {title}',
  })
  assert.deepEqual(settings.prices, { m: { input: 3, output: 15, cached: 0.3 } })
  assert.deepEqual([settings.maxInterruptions, settings.stopOnBlocked, settings.logs], [1, true, 0])
  const bad =
    'breaker: { outputDecline: 101, noProgress: 0 }\nprices: { m: { input: -1 } }\nmaxInterruptions: 0\nlogs: -1'
  assert.equal(wrong(yml(bad)).length, 6)
})

test('configuration file: notify receivers are read, empty secrets are not configured, values are never shown', () => {
  const text =
    'slack: https://hooks.example/x\ndiscord:\ntelegram: { botToken: "1:a", chatId: -100 }\nwebhook: https://a.example/h\nevery: 3'
  assert.deepEqual(right({ inputs: { notify: text } }).settings.notify, {
    slack: 'https://hooks.example/x',
    discord: null,
    teams: null,
    telegram: { botToken: '1:a', chatId: '-100' },
    webhook: { url: 'https://a.example/h', secret: null },
    custom: null,
    every: 3,
  })
  assert.equal(
    right({ inputs: { notify: 'telegram: { botToken: , chatId: }' } }).settings.notify.telegram,
    null,
  )
  const mistake = onlyWrong({ inputs: { notify: 'slack: hooks.example/secret' } })
  assert.equal(mistake.path, 'input notify: slack')
  assert.doesNotMatch(JSON.stringify(mistake), /secret/)
  assert.equal(
    onlyWrong({ inputs: { notify: 'telegram: { botToken: x }' } }).path,
    'input notify: telegram.chatId',
  )
  assert.equal(onlyWrong({ inputs: { notify: 'slack' } }).expected, 'a map such as `slack: URL`')
  const webhook = (text: string) => right({ inputs: { notify: `webhook: ${text}` } }).settings.notify.webhook
  assert.deepEqual(webhook('{ url: "http://127.0.0.1:8080/h", secret: s3cret }'), {
    url: 'http://127.0.0.1:8080/h',
    secret: 's3cret',
  })
  assert.equal(webhook('{ url: , secret: }'), null)
  assert.equal(webhook('""'), null)
  for (const url of [
    'http://hooks.example/x',
    'http://127.0.0.1.evil.example/',
    'ftp://a/b',
    'https://u:p@a/b',
  ])
    for (const kind of ['slack', 'discord', 'teams', 'webhook'])
      assert.match(onlyWrong({ inputs: { notify: `${kind}: ${url}` } }).expected, /^an https URL/, url)
})
