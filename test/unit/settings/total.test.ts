// Properties: reading never throws, precedence holds for every setting, what is read is within its bounds.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` is what the settings replace.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse, stringify } from 'yaml'
import { maxJobs, readSettings, type Settings } from '../../../src/settings/read-settings.ts'
import { settingRows } from '../../../src/settings/settings-table.ts'
import { parseText } from '../../../src/settings/settings-text.ts'
import type { SettingsReport } from '../../../src/settings/value-place.ts'
import { anyText, runs } from '../runs.ts'

const rows = settingRows.filter((row) => row.group !== 'file only')
const surface = fc.constantFrom('action' as const, 'cli' as const)
const word = fc.constantFrom(
  ...rows.map((row) => row.input),
  ...rows.map((row) => row.key),
  '__proto__',
  'gate',
  'x',
)
const value = fc.oneof(
  anyText({ maxLength: 60 }),
  fc.constantFrom(
    '5',
    '0',
    '30m',
    'true',
    'custom',
    'codex',
    'a: b',
    '{a: {run: x}}',
    '[',
    '&a [*a]',
    '${HOME}',
    '- 1',
    'a:\n',
    '1e9',
  ),
)

/** Whatever comes out is whole: settings that can be described, or mistakes that are said in full. */
function check(result: ReturnType<typeof readSettings>): void {
  if (result.ok) {
    assert.ok(maxJobs(result.settings) >= 1)
    assertBounds(result.settings)
    return
  }
  assert.ok(result.mistakes.length > 0)
  for (const mistake of result.mistakes) {
    // `expected` is empty if `found` is a whole sentence.
    for (const text of [mistake.path, mistake.found, mistake.fix]) assert.ok(text.length > 0)
    assert.ok(mistake.expected !== '' || mistake.found.endsWith('.'), mistake.found)
    assert.ok(mistake.found.length <= 120, mistake.found)
    assert.doesNotMatch(mistake.path + mistake.found + mistake.fix, /[\p{Cc}\p{Cf}\u2028\u2029]/u)
  }
}

function assertBounds(settings: Settings): void {
  assert.ok(settings.iterationTimeoutMs > 0 && settings.iterationTimeoutMs <= settings.jobDeadlineMs)
  assert.ok(settings.maxParallel >= 1 && settings.maxParallel <= 256)
  assert.ok(settings.agent !== 'custom' || settings.agentCommand !== null)
  for (const gate of settings.gates) assert.ok(gate.timeoutMs > 0 && gate.run.trim() !== '')
  assert.equal(new Set(settings.gates.map((gate) => gate.name.toLowerCase())).size, settings.gates.length)
}

test('arbitrary inputs and flags never throw', () => {
  const inputs = fc.dictionary(fc.oneof(word, fc.string()), value)
  const flags = fc.dictionary(fc.oneof(word, fc.string()), fc.oneof(value, fc.boolean(), fc.array(value)))
  fc.assert(
    fc.property(inputs, flags, surface, (given, flagged, where) => {
      check(readSettings({ inputs: given, flags: flagged, env: { HOME: '/x' }, surface: where }))
    }),
    runs(50),
  )
})

test('arbitrary file text never throws', () => {
  const piece = fc.constantFrom(
    'gates',
    ':',
    ' ',
    '\n',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '&a',
    '*a',
    '!x',
    '- ',
    '? ',
    '|',
    '#',
    ',',
    '1',
    '${A}',
    '%',
    '\t',
    'prices',
    '<<',
  )
  const text = fc.oneof(
    anyText(),
    fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, fc.constantFrom('a.yml', 'a.json', 'a'), (written, path) => {
      check(readSettings({ file: { path, text: written }, env: { A: '1' }, surface: 'cli' }))
    }),
    runs(100),
  )
})

test('arbitrary structures under known keys never throw', () => {
  const keys = [...settingRows.map((row) => row.key), 'provider', 'verify', 'maxRetries']
  const inner = fc.constantFrom(
    'name',
    'run',
    'timeout',
    'when',
    'type',
    'command',
    'args',
    'default',
    'ui',
    'ready',
    'input',
    'output',
    'config',
    'x',
  )
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue({ maxDepth: 0 }),
      value,
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(inner, tie('tree'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...keys), tree, { maxKeys: 5 }), surface, (file, where) => {
      const text = JSON.stringify(file)
      check(readSettings({ file: { path: 'r.json', text }, env: {}, surface: where }))
    }),
    runs(100),
  )
})

test('precedence for every setting: flag over input over file over default', () => {
  const sample: Record<string, [string, string, string]> = {
    text: ['a-b.yml', 'c-d.yml', 'e-f.yml'],
    boolean: ['true', 'false', 'true'],
    integer: ['7', '8', '9'],
    money: ['7', '8.5', '9'],
    duration: ['7m', '8m', '9m'],
    list: ['A\nB', 'C', 'D'],
    gates: ['a: x', 'b: y', 'c: z'],
    candidates: ['1', '2', '3'],
    reviews: ['writers', 'off', '@ralph'],
    branchName: ['a/{feature}', 'b/{feature}', 'c/{feature}'],
    map: ['every: 1', 'every: 2', 'every: 3'],
    services: ['a: { ready: 1 }', '- { name: a, ready: 2 }', 'b: { ready: 3 }'],
  }
  for (const row of rows) {
    // Choices that need another setting beside them are left out.
    const words = row.values.filter((name) => name !== 'custom' && name !== 'claude')
    const choices: [string, string, string] = [words[0] ?? '', words[1] ?? '', words[2] ?? words[0] ?? '']
    // A name of steps that are there: test/unit/settings/step-settings.test.ts.
    if (row.field === 'pipeline') continue
    const [a, b, c] =
      row.field === 'model'
        ? ['x', 'y', 'z']
        : row.kind === 'choice'
          ? choices
          : (sample[row.field] ?? sample[row.kind] ?? ['', '', ''])
    const structured = row.kind === 'gates' || ['notify', 'services'].includes(row.field)
    const file = { path: 'r.json', text: JSON.stringify({ [row.key]: structured ? parse(a) : a }) }
    const read = (sources: object) => {
      const result = readSettings({ env: {}, surface: 'action', ...sources })
      if (!result.ok) assert.fail(`${row.key}: ${JSON.stringify(result.mistakes)}`)
      return new Map<string, unknown>(Object.entries(result.settings)).get(row.field)
    }
    const alone = (text: string) => read({ inputs: { [row.input]: text } })
    assert.deepEqual(read({ file }), alone(a), row.key)
    assert.deepEqual(read({ file, inputs: { [row.input]: b } }), alone(b), row.key)
    assert.deepEqual(read({ file, inputs: { [row.input]: b }, flags: { [row.key]: c } }), alone(c), row.key)
    assert.deepEqual(read({ inputs: { [row.input]: '' }, flags: { [row.key]: '' } }), read({}), row.key)
    if (row.kind !== 'choice') assert.notDeepEqual(alone(a), alone(b), row.key)
  }
})

test('the JSON reader accepts exactly what JSON.parse accepts', () => {
  const text = fc.oneof(
    fc.json(),
    fc.json().map((json) => stringify(parse(json))),
    fc
      .array(
        fc.constantFrom(
          '{',
          '}',
          '[',
          ']',
          ',',
          ':',
          '"a"',
          '"\\u00e9"',
          '-1',
          '0',
          '1.5e3',
          '01',
          'true',
          'null',
          ' ',
          '\n',
          '"',
          '\t',
          'x',
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (written) => {
      const report: SettingsReport = { mistakes: [], notes: [] }
      const read = parseText({ root: 'r.json', keys: [], env: null, report }, 'json', written)
      const isSound = report.mistakes.every((mistake) => mistake.expected.startsWith('every key'))
      let expected: unknown
      try {
        expected = JSON.parse(written.trim() === '' ? 'null' : written)
      } catch {
        assert.ok(!isSound, written)
        return
      }
      // A map's key that is no name of a setting anywhere is left out, and said.
      if (written.includes('__proto__')) return
      assert.ok(isSound, `${written} ${JSON.stringify(report)}`)
      assert.deepEqual(read, expected)
    }),
    runs(200),
  )
})
