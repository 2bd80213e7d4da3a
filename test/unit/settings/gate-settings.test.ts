// Gates: short and long form, from input, file and --gate; everything that can be wrong with one.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` is what the settings replace.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Gate } from '../../../src/engine/model/gate.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import { json, onlyWrong, paths, right, wrong, yml } from './reading.ts'

const gate = (name: string, run: string, more: Partial<Gate> = {}): Gate => {
  return { name, run, timeoutMs: 900_000, when: null, advisory: false, ...more }
}
const fromInput = (text: string) => right({ inputs: { gates: text } }).settings.gates

test('gates: the documented example', () => {
  const text = `
typecheck: npm run typecheck
test: { run: npm test, timeout: 10m }
e2e:  { run: npm run e2e, when: ui }        # string or list
lint: { run: npm run lint, advisory: true }
`
  assert.deepEqual(fromInput(text), [
    gate('typecheck', 'npm run typecheck'),
    gate('test', 'npm test', { timeoutMs: 600_000 }),
    gate('e2e', 'npm run e2e', { when: ['ui'] }),
    gate('lint', 'npm run lint', { advisory: true }),
  ])
})

test('gates in the configuration file: the same in YAML and JSON', () => {
  const expected = [gate('test', 'npm test'), gate('e2e', 'x', { when: ['ui', 'api'], timeoutMs: 1000 })]
  const written = { test: 'npm test', e2e: { run: 'x', when: ['ui', 'api', 'ui'], timeout: '1s' } }
  assert.deepEqual(right(json({ gates: written })).settings.gates, expected)
  const text = 'gates:\n  test: npm test\n  e2e: { run: x, when: [ui, api, ui], timeout: 1s }'
  assert.deepEqual(right(yml(text)).settings.gates, expected)
})

test('gates keep their order, and a number is no name, since it would lose its place', () => {
  assert.deepEqual(
    fromInput('b: x\n2-c: x\na: x').map((one) => one.name),
    ['b', '2-c', 'a'],
  )
  assert.equal(onlyWrong({ inputs: { gates: 'b: x\n10: x' } }).fix, 'write gate-10')
})

test('gates keep scripts of several lines', () => {
  assert.equal(fromInput('test: |\n  set -e\n  npm test\n')[0]?.run, 'set -e\nnpm test')
})

test('gates: none is no gate, and with --gate there is one', () => {
  for (const source of [{ inputs: { gates: 'none' } }, yml('gates: none'), { flags: { gates: 'none' } }]) {
    const { settings } = right(source)
    assert.deepEqual([settings.gates, settings.ungated], [[], true])
  }
  const { settings } = right({ ...yml('gates: none'), flags: { gate: ['test=npm test'] } })
  assert.deepEqual([settings.gates, settings.ungated], [[gate('test', 'npm test')], false])
  for (const text of ['{}', 'None', 'off', '[]']) {
    const read = readSettings({ inputs: { gates: text }, env: {}, surface: 'action' })
    assert.ok(!read.ok || !read.settings.ungated, text)
  }
})

test("a gate's tag is taken as written, without splitting", () => {
  assert.deepEqual(fromInput('a: { run: x, when: "ui, api" }')[0]?.when, ['ui, api'])
})

test('gates: every mistake is reported at once', () => {
  const text = `
number: 3
nothing:
list: [npm test]
empty: ""
norun: { timeout: 1m }
emptyrun: { run: " " }
key: { run: x, timout: 1m }
time: { run: x, timeout: 10 }
zero: { run: x, timeout: 0m }
tags: { run: x, when: [] }
tag: { run: x, when: [3] }
advice: { run: x, advisory: maybe }
report: { run: x, report: [../a.xml, /b.xml, ok/*.xml, "c:\\\\d.xml"] }
retries: { run: x, retries: 4 }
cover: { run: x, coverage: { file: /lcov.info, threshold: 101 } }
covered: { run: x, coverage: [lcov.info] }
bad name: x
../up: x
Time: x
`
  assert.deepEqual(
    paths(wrong({ inputs: { gates: text } })),
    [
      '../up',
      'Time',
      'advice.advisory',
      'bad name',
      'cover.coverage.file',
      'cover.coverage.threshold',
      'covered.coverage',
      'empty',
      'emptyrun.run',
      'key.timout',
      'list',
      'norun.run',
      'nothing',
      'number',
      'report.report[0]',
      'report.report[1]',
      'report.report[3]',
      'retries.retries',
      'tag.when[0]',
      'tags.when',
      'time.timeout',
      'zero.timeout',
    ].map((path) => `input gates: ${path}`),
  )
})

test('gates: reports, retries and coverage in short and long form', () => {
  const read = fromInput(`
a: { run: x, report: out/junit.xml, retries: 2, coverage: lcov.info }
b: { run: x, report: [a.sarif, "reports/**/*.xml"], coverage: { file: c.xml, threshold: 80 } }
c: { run: x, report: , retries: 0, coverage: }
`)
  assert.deepEqual(read, [
    gate('a', 'x', {
      ...{ report: ['out/junit.xml'], retries: 2 },
      coverage: { file: 'lcov.info', threshold: null },
    }),
    gate('b', 'x', {
      report: ['a.sarif', 'reports/**/*.xml'],
      coverage: { file: 'c.xml', threshold: 80 },
    }),
    gate('c', 'x'),
  ])
})

test('gates: needs, alone and paths; an unknown or circular need is a mistake', () => {
  const read = fromInput(`
build: x
test: { run: x, needs: [build], alone: true, paths: [web/**] }
`)
  assert.deepEqual(read, [
    gate('build', 'x'),
    gate('test', 'x', { needs: ['build'], alone: true, paths: ['web/**'] }),
  ])
  const { path, found } = onlyWrong({ inputs: { gates: 'a: { run: x, needs: [b] }' } })
  assert.deepEqual([path, found], ['input gates: a.needs[0]', 'there is no gate "b".'])
  const circle = 'a: { run: x, needs: [b] }\nb: { run: x, needs: [c] }\nc: { run: x, needs: [b] }\n'
  assert.deepEqual(
    wrong({ inputs: { gates: circle } }).map((one) => one.path),
    ['input gates: b.needs', 'input gates: c.needs'],
  )
})

test('an unknown key of a gate suggests the nearest', () => {
  assert.equal(onlyWrong({ inputs: { gates: 'a: { run: x, timout: 1m }' } }).fix, 'did you mean timeout?')
})

test('gate names that differ only by case are a mistake', () => {
  for (const text of ['test: a\nTest: b', 'Test: a\ntest: b']) {
    assert.match(onlyWrong({ inputs: { gates: text } }).found, /^there is already a gate with this name/)
  }
})

test('a duplicate gate name is a mistake with its line', () => {
  const mistake = onlyWrong({ inputs: { gates: 'test: a\nlint: b\ntest: c\n' } })
  assert.equal(mistake.path, 'input gates: line 3, column 1')
  assert.equal(mistake.found, '"test: c" repeats a key of this map.')
})

test('gates that are no YAML map are a mistake', () => {
  assert.equal(onlyWrong({ inputs: { gates: 'npm test' } }).found, '"npm test"')
  assert.equal(onlyWrong({ inputs: { gates: '- npm test' } }).found, 'a list')
  assert.equal(onlyWrong({ inputs: { gates: 'test: echo a: b' } }).path, 'input gates: line 1, column 7')
  assert.equal(onlyWrong({ surface: 'cli', flags: { gates: 'x: {' } }).path.split(':')[0], '--gates')
  // In the file it is a map, not a text that holds one.
  assert.equal(onlyWrong(yml('gates: "test: npm test"')).path, 'ralph.config.yml: gates')
})

test('variables in gates are replaced in the configuration file only', () => {
  const env = { TOOL: 'vitest' }
  assert.equal(right({ env, ...yml('gates: { test: "${TOOL} run" }') }).settings.gates[0]?.run, 'vitest run')
  assert.equal(right({ env, inputs: { gates: 'test: ${TOOL} run' } }).settings.gates[0]?.run, '${TOOL} run')
})

test('--gate adds a gate, or replaces the one of that name in its place', () => {
  const flags = { gate: ['b=make b=1', 'c = make c', 'c=last'] }
  const { settings } = right({
    surface: 'cli',
    flags,
    ...yml('gates: { a: x, b: { run: y, advisory: true } }'),
  })
  assert.deepEqual(settings.gates, [gate('a', 'x'), gate('b', 'make b=1'), gate('c', 'last')])
  assert.deepEqual(right({ flags: { gate: 'x=y' } }).settings.gates, [gate('x', 'y')])
})

test('--gate treats names that differ by case as the same', () => {
  const { settings } = right({
    surface: 'cli',
    flags: { gate: ['Test=y'] },
    ...yml('gates: { test: x, b: z }'),
  })
  assert.deepEqual(settings.gates, [gate('Test', 'y'), gate('b', 'z')])
})

test('--gate without a name, a command or an equals sign is a mistake', () => {
  const mistakes = wrong({ surface: 'cli', flags: { gate: ['npm test', 'x=', '=y', 'a/b=c', 'ok=1'] } })
  assert.deepEqual(paths(mistakes), ['--gate', '--gate', '--gate', '--gate'])
})
