// What a glue prints is hostile: each way to print nothing, too much, or something else has its own result and reason.
import assert from 'node:assert/strict'
import test from 'node:test'
import { compareExamples, glueFault, type OpenExample } from '../../../../src/engine/examples/compare.ts'
import { examplesInCriteria } from '../../../../src/engine/examples/from-criteria.ts'
import { readGlue, readWritten } from '../../../../src/engine/examples/read-examples.ts'
import { type GlueRun, isSameJson, readExamples } from '../../../../src/engine/model/example.ts'

const GLUE = { files: [], run: 'x', none: [] }
const EXAMPLES: OpenExample[] = [
  { criterion: 1, given: { prices: [2, 3] }, expect: { total: 5, tax: 0 } },
  { criterion: 2, given: 'a b', expect: 'a-b' },
]
const ran = (output: string | null, more: Partial<GlueRun> = {}): GlueRun => ({
  ...{ ok: true, ended: 'exit 0', output, errors: '' },
  ...more,
})
const lines = (...values: unknown[]) =>
  values.map((actual, at) => JSON.stringify({ example: at + 1, actual })).join('\n')
const GOOD = lines({ tax: 0, total: 5 }, 'a-b')
const thrice = (output: string | null, more: Partial<GlueRun> = {}) => Array(3).fill(ran(output, more))
const results = (runs: GlueRun[]) =>
  compareExamples(EXAMPLES, runs, GLUE).map(({ result, why, actual }) => [result, why, actual])
const fault = (runs: GlueRun[]) => glueFault(runs, EXAMPLES, GLUE)

test('the expected value in each run is a match, whatever the order of its keys and other lines', () => {
  assert.deepEqual(results(thrice(`connected\n${GOOD}\n{"log": 1}\n`)), [
    ['met', '', undefined],
    ['met', '', undefined],
  ])
  assert.equal(fault(thrice(GOOD)), null)
})

test('another value, a failed call, NaN and two values for one example are mismatches', () => {
  const cases: [string, string, string][] = [
    [`${lines({ total: 6, tax: 0 })}`, 'the product gives another value', '{"total":6,"tax":0}'],
    ['{"example": 1, "error": "no such function"}', 'the call of the product failed', 'no such function'],
    [
      '{"example": 1, "actual": NaN}',
      'the value of the product is not JSON',
      '{"example": 1, "actual": NaN}',
    ],
    [
      `${lines(1)}\n${lines(2)}`,
      'the call of the product failed',
      'the program printed two different values',
    ],
    ['{"example": 1}', 'the call of the product failed', 'the program printed neither a value nor an error'],
  ]
  for (const [first, why, actual] of cases) {
    const runs = thrice(`${first}\n{"example": 2, "actual": "a-b"}`)
    assert.deepEqual(results(runs)[0], ['mismatch', why, actual])
    assert.equal(fault(runs), null, first)
  }
})

test('code that is right only sometimes is a mismatch', () => {
  const [first] = results([ran(GOOD), ran(lines({ total: 5, tax: 1 }, 'a-b')), ran(GOOD)])
  assert.deepEqual(first?.slice(0, 2), ['mismatch', 'three runs gave different values'])
})

test('a glue that says nothing about the product is written again', () => {
  assert.equal(fault(thrice(null)), 'it printed more than 1 MB')
  assert.equal(fault(thrice('')), 'it printed no line for any example')
  assert.match(
    fault(thrice('', { ok: false, ended: 'exit 1', errors: 'x\nno module' })) ?? '',
    /failed \(exit 1\): x no module/,
  )
  assert.equal(fault(thrice(lines({ prices: [2, 3] }, 'a b'))), 'it only printed the input of the examples')
  const errors = [1, 2].map((example) => JSON.stringify({ example, error: 'boom' })).join('\n')
  assert.equal(fault(thrice(errors)), 'each call failed: boom')
})

test('the last glue: a product that ends it silently is a mismatch; what failed or printed too much is no example', () => {
  const kinds = (runs: GlueRun[]) => compareExamples(EXAMPLES, runs, GLUE).map(({ result }) => result)
  assert.deepEqual(kinds(thrice('')), ['mismatch', 'mismatch'])
  assert.deepEqual(kinds(thrice('', { ok: false, ended: 'exit 1' })), ['none', 'none'])
  assert.deepEqual(kinds(thrice(null)), ['none', 'none'])
  assert.deepEqual(kinds(thrice(lines({ total: 5, tax: 0 }))), ['met', 'none'])
})

test('JSON is the same by value', () => {
  assert.ok(isSameJson({ a: [1, { b: null }] }, { a: [1, { b: null }] }))
  for (const [one, other] of [
    [[1], { 0: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [null, {}],
    [0, false],
    ['1', 1],
  ])
    assert.ok(!isSameJson(one, other), JSON.stringify([one, other]))
})

test('an oddity in one example leaves out that example', () => {
  let deep: unknown = 1
  for (let at = 0; at < 40; at += 1) deep = [deep]
  const odd = [null, 3, {}, { given: 1 }, { criterion: 0, given: 1, expect: 1 }, { given: deep, expect: 1 }]
  const huge = { given: 'x'.repeat(30_000), expect: 1 }
  assert.deepEqual(readExamples([...odd, huge, { given: 1, expect: 2 }]), [
    { criterion: 1, given: 1, expect: 2 },
  ])
  assert.deepEqual(readExamples({ not: 'a list' }), [])
})

test('a criterion states its value itself only if the value is all of it', () => {
  const criteria = [
    'Given two items of 5, when the total is asked for, then the total is 10.',
    'When the name is "a b" the system shall return "a-b"',
    'Given a user, when they fail 3 times, then the account is locked for 15 minutes',
    'The total is 10',
  ]
  assert.deepEqual(
    examplesInCriteria(criteria).map(({ criterion, expect }) => [criterion, expect]),
    [
      [1, 10],
      [2, 'a-b'],
    ],
  )
})

test("sessions' answers are read as far as they can be, and never throw", () => {
  const answer =
    '```json\n{"examples": [{"criterion": 1, "given": 1, "expect": 2}, {"criterion": 9, "given": 1, "expect": 2}]}\n```'
  const written = readWritten(answer, 2, new Set())
  assert.deepEqual(written.kind === 'written' && written.examples.map(({ criterion }) => criterion), [1])
  assert.equal(readWritten('nothing', 1, new Set()).kind, 'none')
  const against = '{"examples": [], "contradictions": [{"criterion": 1, "why": "it says 2"}]}'
  assert.deepEqual(readWritten(against, 1, new Set()), {
    kind: 'contradiction',
    why: 'criterion 1: it says 2',
  })
  for (const text of ['', '{}', '{"run": 1}', `{"run": "x", "files": {"a": "${'y'.repeat(70_000)}"}}`])
    assert.ok('fault' in readGlue(text), text.slice(0, 20))
})
