// The names of tests that pass and fail, as real runners print them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namesOfTests } from '../../../src/gates/test-names.ts'

const OUTPUTS: readonly (readonly [runner: string, output: string, passed: string[], failed: string[]])[] = [
  [
    'node --test',
    '✔ adds two (0.7ms)\n▶ cart\n  ✔ is empty (0.1ms)\n  ﹣ later (0.1ms) # SKIP\n✔ cart (0.5ms)\nℹ tests 3\nℹ pass 2\n',
    ['adds two', 'is empty', 'cart'],
    [],
  ],
  [
    'node --test, red',
    '✔ a (1ms)\n✖ b (1ms)\n\n✖ failing tests:\n\ntest at test/b.test.js:3:1\n✖ b (1ms)\n',
    ['a'],
    ['test/b.test.js: b'],
  ],
  [
    'TAP',
    'TAP version 13\n# Subtest: adds\nok 1 - adds\n  ---\nok 2 - later # SKIP\nnot ok 3 - bad\n',
    ['adds'],
    ['bad'],
  ],
  [
    'jest --verbose',
    'PASS test/a.test.js\n  cart\n    ✓ adds two (2 ms)\n    ✓ is empty\n',
    ['adds two', 'is empty'],
    [],
  ],
  [
    'vitest',
    ' ✓ test/a.test.ts (2 tests) 5ms\n ✓ test/a.test.ts > cart > adds two 2ms\n',
    ['cart > adds two'],
    [],
  ],
  [
    'pytest -v',
    'tests/test_a.py::test_new PASSED   [ 50%]\ntests/test_a.py::test_skip SKIPPED\n',
    ['tests/test_a.py::test_new'],
    [],
  ],
  [
    'pytest',
    'FAILED tests/test_a.py::test_new - AttributeError: x\n1 failed in 0.1s\n',
    [],
    ['tests/test_a.py::test_new'],
  ],
  ['unittest -v', 'test_add (test_core.Core.test_add) ... ok\n', ['test_add (test_core.Core.test_add)'], []],
  ['cargo', 'test cart::adds ... ok\ntest cart::bad ... ignored\n', ['cart::adds'], []],
  [
    'go -v',
    '=== RUN   TestSum\n--- PASS: TestSum (0.00s)\n    --- PASS: TestSum/two (0.00s)\n',
    ['TestSum', 'TestSum/two'],
    [],
  ],
]
for (const [runner, output, passed, failed] of OUTPUTS)
  test(`tests are named by ${runner}`, () => {
    assert.deepEqual(namesOfTests(output, {}), { passed, failed })
  })

test('a report names tests better than the output; an output without names gives none', () => {
  assert.deepEqual(namesOfTests('✔ a (1ms)', { passed: ['x: a'], failed: [] }), {
    passed: ['x: a'],
    failed: [],
  })
  assert.equal(namesOfTests('all is well', {}), null)
})

test('names are bounded, and a cut list says so', () => {
  const many = Array.from(
    { length: 5000 },
    (_, at) => `✔ ${'x'.repeat(300)}${at} (1ms)\n✔ t${at} (1ms)`,
  ).join('\n')
  const found = namesOfTests(many, {})
  assert.ok(found !== null && found.passed.length <= 400 && found.more === true)
  assert.ok(found.passed.join('').length <= 24_000)
  assert.equal(namesOfTests('✔ a (1ms)\n... 500 bytes left out ...\n', {})?.more, true)
})
