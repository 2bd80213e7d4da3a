// `baseline: known-red`: exactly the named tests that fail on the base may fail. The outputs are recordings of real test runners.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { GateBaseline } from '../../../src/engine/model/gate.ts'
import { failedTests } from '../../../src/gates/failed-tests.ts'
import { withEvidence } from '../../../src/gates/gate-evidence.ts'
import { terminalLines } from '../../../src/system/excerpt.ts'
import { gateRun, NO_CODE } from './gate-run.ts'

const recorded = (name: string) =>
  terminalLines(readFileSync(new URL(`../../fixtures/gates/${name}.txt`, import.meta.url), 'utf8')).join('\n')

describe('names of failed tests', () => {
  const RECORDED: readonly (readonly [file: string, names: readonly string[], counted: number])[] = [
    ['pytest-verbose-coverage', ['tests/test_order.py::test_order'], 1],
    ['python-unittest', ['test_total (test_cart.CartTest.test_total)'], 1],
    ['go-subtests', ['example.com/shop: TestTotal', 'example.com/shop: TestTotal/no_error_for_50'], 1],
    ['go-panic', ['example.com/shop: TestCountry'], 1],
    ['maven-surefire', ['com.shop.CartTest.addsAll', 'com.shop.CartTest.knowsTheCountry'], 2],
    ['node-timeout', ['test/checkout.test.js: waits for the payment'], 1],
    [
      'vitest-coverage',
      ['test/cart.test.js > cart > adds the tax', 'test/cart.test.js > cart > lists the order'],
      2,
    ],
    ['jest-snapshot', ['test/page.test.js: keeps its look'], 1],
    ['mocha-diff', ['cart > lists the order', 'cart > ships abroad'], 2],
    ['node-tap', ['lists what was ordered'], 1],
  ]
  for (const [file, names, counted] of RECORDED)
    test(file, () => {
      const found = failedTests(recorded(file))
      assert.deepEqual(found?.names, names)
      assert.equal(found?.counted, counted)
    })

  test('cargo names the target, and says that it stopped', () => {
    const found = failedTests(recorded('cargo-test'))
    assert.deepEqual(
      found?.names.map((name) => name.replace(/^.*: /, '')),
      ['tests::names_the_first', 'tests::adds_the_discount'],
    )
    assert.equal(found?.stoppedEarly, true)
  })

  test('a Go package that does not compile is a failure of its own', () => {
    assert.deepEqual(failedTests('FAIL\texample.com/shop [build failed]')?.names, ['example.com/shop'])
  })

  test('an output without its middle names nothing', () => {
    assert.equal(failedTests('FAILED a.py::b - x\n... 9000 bytes left out ...\n1 failed in 1.0s'), null)
  })
})

const GATE = { name: 'test', run: 'pytest', timeoutMs: 1000, when: null, advisory: false }
const pytest = (failed: readonly string[], passed: number) =>
  [
    ...failed.map((name) => `FAILED ${name} - assert 1 == 2`),
    `=== ${failed.length} failed, ${passed} passed in 1.00s ===`,
  ].join('\n')

function judge(
  ran: { output: string; ended?: string; ok?: boolean },
  run: Parameters<typeof gateRun>[0],
  knownRed = true,
) {
  const outcome = { ok: false, ended: 'exit 1', ms: 10, ...ran }
  const options = { ...NO_CODE, top: '/', cwd: '/', knownRed, redact: (text: string) => text }
  return withEvidence(GATE, outcome, null, gateRun(run), options)
}

const [A, B, C] = ['t/a.py::one', 't/a.py::two', 't/b.py::three']
const BASE: GateBaseline = {
  ms: 10,
  tests: { passed: 8, failed: 2, skipped: 0 },
  knownRed: { ended: 'exit 1', tests: [A, B] },
}
const later = (before: GateBaseline = BASE) => ({ of: 'story' as const, baseline: { test: before } })

describe('on the base', () => {
  test('failed tests that are named and counted may fail', async () => {
    const result = await judge({ output: pytest([A, B], 8) }, { of: 'baseline' })
    assert.equal(result.ok, true)
    assert.deepEqual(result.knownRed, { ended: 'exit 1', tests: [A, B] })
    assert.match(result.remarks?.[0] ?? '', /^2 tests fail on the base .*t\/a\.py::one, t\/a\.py::two/)
  })

  test('a run in which every test fails keeps its count, unless its runner names only failed tests', async () => {
    const all = await judge({ output: pytest([A, B], 0) }, { of: 'baseline' })
    assert.deepEqual(all.tests, { passed: 0, failed: 2, skipped: 0 })
    const go = '--- FAIL: TestTax (0.00s)\nFAIL\nFAIL\texample.com/shop\t0.01s\nFAIL'
    assert.equal((await judge({ output: go }, { of: 'baseline' })).tests, undefined)
    const verbose = await judge({ output: `=== RUN   TestTax\n${go}` }, { of: 'baseline' })
    assert.deepEqual(verbose.tests, { passed: 0, failed: 1, skipped: 0 })
  })

  test('only if the settings say so', async () => {
    assert.equal((await judge({ output: pytest([A], 8) }, { of: 'baseline' }, false)).ok, false)
  })

  const REFUSED: readonly (readonly [title: string, ran: Parameters<typeof judge>[0], why: RegExp])[] = [
    [
      'a Go package does not compile',
      { output: 'FAIL\texample.com/a [build failed]\nFAIL' },
      /reports 0 .* names 1/,
    ],
    ['nothing is named', { output: 'error: no such module' }, /names no failed test/],
    [
      'more is counted than named',
      { output: `FAILED ${A} - x\n== 1 failed, 1 error in 1.0s ==` },
      /reports 2 .* names 1/,
    ],
    ['it timed out', { output: pytest([A], 1), ended: 'timed out after 15m' }, /did not end by itself/],
    [
      'the runner stopped at the first failure',
      { output: `!!!!!! stopping after 1 failures !!!!!!\n${pytest([A], 1)}` },
      /stops at the first/,
    ],
  ]
  for (const [title, ran, why] of REFUSED)
    test(`stays red if ${title}`, async () => {
      const result = await judge(ran, { of: 'baseline' })
      assert.equal(result.ok, false)
      assert.equal(result.knownRed, undefined)
      assert.match(result.output, why)
    })
})

describe('a story', () => {
  test('may leave them, and fix one', async () => {
    assert.equal((await judge({ output: pytest([A, B], 8) }, later())).ok, true)
    const fixed = await judge({ output: pytest([A], 9) }, later())
    assert.deepEqual([fixed.ok, fixed.knownRed?.tests], [true, [A]])
  })

  const REFUSED: readonly (readonly [
    title: string,
    ran: Parameters<typeof judge>[0],
    before: GateBaseline,
    why: RegExp,
  ])[] = [
    [
      'add one',
      { output: pytest([A, B, C], 7) },
      BASE,
      /these tests did not fail on the base: t\/b\.py::three/,
    ],
    [
      'fix one and add one',
      { output: pytest([A, C], 8) },
      BASE,
      /these tests did not fail on the base: t\/b\.py::three/,
    ],
    [
      'break one that an earlier story fixed',
      { output: pytest([A, B], 8) },
      { ...BASE, fixed: [B] },
      /an earlier story fixed them/,
    ],
    [
      'fail in another way',
      { output: pytest([A], 8), ended: 'exit 2' },
      BASE,
      /on the base, the gate ended with exit 1 instead/,
    ],
    ['fail without a name', { output: 'Segmentation fault' }, BASE, /names no failed test/],
  ]
  for (const [title, ran, before, why] of REFUSED)
    test(`may not ${title}`, async () => {
      const result = await judge(ran, later(before))
      assert.equal(result.ok, false)
      assert.match(result.output, why)
    })

  test('that deletes tests beside them is reported', async () => {
    const result = await judge({ output: pytest([A, B], 5) }, later())
    assert.deepEqual(result.findings, ['ran 7 tests, 3 fewer than before (10)'])
  })

  test('may correct one: as it was at the fork point, it fails', async () => {
    const before = { test: { ...BASE, fixed: [B] } }
    const result = await judge(
      { output: pytest([A, B], 8) },
      { of: 'whole', further: 'checks', baseline: before },
    )
    assert.equal(result.ok, true)
  })
})

test('a Go gate without -v loses no number when its failed tests are fixed', async () => {
  const output = '--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.1s'
  const base = await judge({ output }, { of: 'baseline' })
  assert.deepEqual([base.ok, base.tests, base.knownRed?.tests], [true, undefined, ['example.com/a: TestA']])
})
