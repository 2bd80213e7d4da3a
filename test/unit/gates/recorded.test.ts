// What real tools print and write (scripts/record-gates.mjs), read as places and as numbers of tests.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { annotationsFrom } from '../../../src/gates/annotations.ts'
import { testCounts } from '../../../src/gates/counts.ts'
import { readCoverage, readReports } from '../../../src/gates/reports.ts'
import { createResolver } from '../../../src/gates/resolver.ts'
import { terminalLines } from '../../../src/system/excerpt.ts'

const FIXTURES = new URL('../../fixtures/', import.meta.url)
const resolve = createResolver(
  new Set([
    ...[
      'src/cart.js',
      'src/cart.ts',
      'src/math.js',
      'src/lib.rs',
      'src/orders.ts',
      'src/view-1.js',
      'test/cart.js',
    ],
    ...[
      'test/cart.test.js',
      'test/checkout.js',
      'test/page.test.js',
      'test/mail.test.js',
      'test/noise.test.js',
    ],
    ...['cart.go', 'cart_test.go', 'pay_test.go', 'test_cart.py', 'shop/cart.py', 'tests/test_cart.py'],
    ...['tests/test_order.py', 'src/main/kotlin/Cart.kt', 'src/main/java/com/shop/Cart.java'],
    'src/test/java/com/shop/CartTest.java',
  ]),
)
const text = (name: string) => readFileSync(new URL(name, FIXTURES), 'utf8')

/** Recordings that nothing but places and tests are read from. */
const PLACES = new Set([
  'mocha-typeerror',
  'biome-lint',
  'ruff-check',
  'mypy',
  'go-vet',
  'go-json',
  'kotlin-maven',
])

/** By recording: passed, failed and skipped tests, or null; and the first places, with the beginning of what is said there. */
const OUTPUTS: Record<string, [tests: string | null, ...places: [place: string, said: RegExp][]]> = {
  'biome-lint': [null, ['src/cart.js:2', /^This let/], ['src/cart.js:3', /^This is an unexpected use/]],
  'cargo-compile': [null, ['src/lib.rs:78', /^error\[E0308\]: mismatched types/]],
  'cargo-test': ['100 2 0', ['src/lib.rs:6', /unwrap/], ['src/lib.rs:416', /the discount is not counted/]],
  'eslint-one-error': [null, ['src/cart.js:2', /^'sum' is never/], ['src/cart.js:2', /^'sum' is/]],
  'go-build-error': [null, ['cart.go:3', /^"fmt" imported/], ['cart.go:10', /^cannot use sum/]],
  'go-json': ['1 1 1', ['cart_test.go:7', /^got 1, want 3$/]],
  'go-panic': ['0 1 0', ['cart_test.go:12', /^panic: runtime error/]],
  'go-subtests': ['1 1 0', ['cart_test.go:16', /^Total\(50\) = 50, want 51$/]],
  'go-timeout': [null, ['pay_test.go:13', /^panic: test timed out after 1s$/]],
  'go-vet': [null, ['cart.go:6', /^fmt\.Printf format %s/]],
  'jest-coverage': ['86 2 0', ['src/cart.js:10', /^cart › adds the tax: TypeError/]],
  'jest-long-line-colours': ['40 2 0', ['test/mail.test.js:42', /greets by name/]],
  'jest-snapshot': ['50 1 0', ['test/page.test.js:83', /keeps its look/]],
  'kotlin-maven': [
    null,
    ['src/main/kotlin/Cart.kt:4', /^Cannot access/],
    ['src/main/kotlin/Cart.kt:4', /sum/],
  ],
  'lint-then-test': ['1 1 0', ['src/view-1.js:1', /^Unexpected console/]],
  'maven-compile': [null, ['src/main/java/com/shop/Cart.java:9', /^incompatible types/]],
  'maven-surefire': [
    '32 2 0',
    ['src/test/java/com/shop/CartTest.java:9', /expected: <31>/],
    ['src/main/java/com/shop/Cart.java:13', /^java\.lang\.NullPointerException/],
  ],
  'mocha-diff': ['120 2 0', ['test/cart.js:124', /^AssertionError/], ['src/cart.js:14', /^TypeError/]],
  'mocha-timeout': ['60 2 0', ['test/checkout.js:64', /^TypeError/]],
  'mocha-typeerror': ['1 1 1', ['src/cart.js:10', /^TypeError: Cannot read/]],
  mypy: [null, ['shop/cart.py:2', /^Incompatible return/], ['shop/cart.py:6', /^Unsupported operand/]],
  'node-coverage': [
    '120 2 0',
    ['test/cart.test.js:205', /^adds the tax: Ass/],
    ['src/cart.js:13', /^ships abroad/],
  ],
  'node-syntax': ['0 2 0', ['src/math.js:3', /^SyntaxError: Identifier 'sub'/]],
  'node-tap': ['160 1 0', ['test/cart.test.js:84', /lists what was ordered$/]],
  'node-timeout': ['90 1 0'],
  'nyc-threshold': ['40 0 0'],
  'pytest-captured-logs': ['84 2 0', ['tests/test_cart.py:8', /^assert 16 == 15$/]],
  'pytest-import-error': ['0 1 0', ['tests/test_cart.py:1', /./]],
  'pytest-verbose-coverage': ['90 1 0', ['tests/test_order.py:50', /^AssertionError/]],
  'python-unittest': ['60 1 0', ['test_cart.py:186', /^AssertionError/]],
  'ruff-check': [null, ['shop/cart.py:1', /^F401/], ['shop/cart.py:2', /^F401/], ['shop/cart.py:6', /^F841/]],
  'tsc-60-errors': [null, ['src/orders.ts:2', /^TS2322: Type 'number'/]],
  'tsc-pretty': [null, ['src/cart.ts:3', /^TS18048/], ['src/cart.ts:6', /^TS2551/]],
  'vitest-coverage': ['80 2 0', ['src/cart.js:9', /cart > adds the tax: TypeError/]],
  'vitest-syntax': ['150 0 0', ['src/cart.js:1', /Failed to parse source/]],
}

for (const [name, [tests, ...places]] of Object.entries(OUTPUTS))
  test(`test counts and annotations from recorded output of ${name}`, () => {
    const output = terminalLines(text(`${PLACES.has(name) ? 'places' : 'gates'}/${name}.txt`)).join('\n')
    const counted = testCounts(output)
    assert.equal(counted && `${counted.passed} ${counted.failed} ${counted.skipped}`, tests)
    const found = annotationsFrom(output, resolve)
    for (const [at, [place, said]] of places.entries()) {
      assert.equal(`${found[at]?.path}:${found[at]?.line}`, place)
      assert.match(found[at]?.message ?? '', said)
    }
  })

test('test counts and annotations of gradle, from its documentation', () => {
  const output = [
    'e: file:///w/src/main/kotlin/Cart.kt:4:12 Unresolved reference: sum',
    'w: file:///w/src/main/kotlin/Cart.kt:9:1 Variable is never used',
    '/w/src/main/java/com/shop/Cart.java:9: error: incompatible types',
    'CartTest > addsAll() FAILED',
    '    org.opentest4j.AssertionFailedError at CartTest.java:10',
    '12 tests completed, 1 failed, 2 skipped',
  ].join('\n')
  assert.deepEqual(testCounts(output), { passed: 9, failed: 1, skipped: 2 })
  assert.deepEqual(
    annotationsFrom(output, resolve).map(({ path, line, level }) => `${path}:${line} ${level}`),
    [
      'src/main/kotlin/Cart.kt:4 failure',
      'src/main/kotlin/Cart.kt:9 warning',
      'src/main/java/com/shop/Cart.java:9 failure',
      'src/test/java/com/shop/CartTest.java:10 failure',
    ],
  )
})

test('test counts of runners without a recorded output, from their documentation', () => {
  const counts = {
    '100% tests passed, 0 tests failed out of 7': '7 0 0',
    '86% tests passed, 1 tests failed out of 7': '6 1 0',
    'OK (3 tests, 9 assertions)': '3 0 0',
    'Tests: 5, Assertions: 9, Errors: 1, Failures: 1, Skipped: 1.': '2 2 1',
    '1 example, 1 failure': '0 1 0',
    '12 examples, 2 failures, 1 pending': '9 2 1',
    '6 runs, 8 assertions, 1 failures, 1 errors, 2 skips': '2 2 2',
    '4 tests, 6 assertions, 0 failures, 0 errors, 1 pendings, 1 omissions, 0 notifications': '2 0 2',
    '2 doctests, 5 tests, 1 failure': '6 1 0',
  }
  for (const [line, expected] of Object.entries(counts)) {
    const counted = testCounts(`Randomized\n${line}\n`)
    assert.equal(counted && `${counted.passed} ${counted.failed} ${counted.skipped}`, expected, line)
  }
})

const REPORTS: Record<string, [tests: string | null, ...places: string[]]> = {
  'eslint.sarif': [
    null,
    'src/cart.js:2 warning',
    'src/cart.js:2 warning',
    'src/cart.js:3 warning',
    'src/cart.js:4 failure',
  ],
  'maven-junit.xml': ['1 1 1', 'src/test/java/com/shop/CartTest.java:10 failure'],
  'node-junit.xml': ['1 2 1', 'src/cart.js:9 failure', 'test/cart.test.js:9 failure'],
  'pytest-junit.xml': ['0 1 1', 'tests/test_cart.py:7 failure'],
  'ruff.sarif': [null, ...[1, 2, 6, 9].map((line) => `shop/cart.py:${line} failure`)],
  'vitest-junit.xml': ['1 2 1', 'src/cart.js:9 failure', 'test/cart.test.js:8 failure'],
}

for (const [name, [tests, ...places]] of Object.entries(REPORTS))
  test(`test counts and annotations from the recorded report ${name}`, () => {
    const placeIn = (said: string) => annotationsFrom(said, resolve, 1)[0] ?? null
    const file = { path: name, text: text(`places/${name}`) }
    const found = readReports([file], { resolve, placeIn })
    assert.deepEqual(found.remarks, [])
    assert.equal(found.tests && `${found.tests.passed} ${found.tests.failed} ${found.tests.skipped}`, tests)
    assert.deepEqual(
      found.annotations.map(({ path, line, level }) => `${path}:${line} ${level}`),
      places,
    )
  })

/** Lines that did not run; there are others that did. */
for (const [name, path, missed, all] of [
  ['vitest.lcov', 'src/cart.js', [13, 14], 11],
  ['vitest-cobertura.xml', 'src/cart.js', [13, 14], 11],
  ['pytest.lcov', 'shop/cart.py', [14], 9],
  ['pytest-cobertura.xml', 'shop/cart.py', [14], 9],
] as const)
  test(`line coverage from the recorded report ${name}`, () => {
    const remarks: string[] = []
    const hits = readCoverage({ path: name, text: text(`places/${name}`) }, remarks)
    const lines = [...(hits ?? [])].find(([file]) => resolve(file) === path)?.[1] ?? new Map()
    assert.deepEqual(remarks, [])
    assert.equal(lines.size, all)
    assert.deepEqual(
      [...lines].filter(([, times]) => times === 0).map(([line]) => line),
      missed,
    )
  })
