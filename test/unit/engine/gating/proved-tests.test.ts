// Which tests need a change, by name: what fails without it, and new tests that do not even run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTests, testsOnLine, testsThatNeed } from '../../../../src/engine/gating/proved-tests.ts'
import type { GateResult, TestNames } from '../../../../src/engine/model/gate.ts'

function ran(
  passed: readonly string[],
  failed: readonly string[] = [],
  more: Partial<GateResult> = {},
): GateResult {
  const named: TestNames = { passed: [...passed], failed: [...failed] }
  const ended = failed.length > 0 ? 'exit 1' : 'exit 0'
  return { name: 'test', ok: failed.length === 0, advisory: false, ended, ms: 1, output: '', named, ...more }
}
const OLD = { old: ran(['old']), hadTests: true }

test('a test that fails without the change and passes with it needs the change', () => {
  const without = ran(['old'], ['test/a.test.js: new'])
  assert.deepEqual(testsThatNeed(ran(['old', 'new']), without, OLD), ['test/a.test.js: new'])
})

test('a new test that does not even run without the change needs it; an old test of the same file does not', () => {
  const without = ran([], ['test/a.test.js: test/a.test.js'])
  assert.deepEqual(testsThatNeed(ran(['old', 'new']), without, OLD), ['new'])
})

test('nothing is concluded from a test that is not named in a run that was cut short, or whose names do not fit', () => {
  const now = ran(['old', 'new'])
  const hung = ran([], ['x'], { ended: 'timed out after 30 s' })
  assert.deepEqual(testsThatNeed(now, hung, OLD), [])
  const cut = ran([], ['x'])
  assert.deepEqual(testsThatNeed(now, { ...cut, named: { passed: [], failed: ['x'], more: true } }, OLD), [])
  assert.deepEqual(testsThatNeed(now, cut, { old: undefined, hadTests: true }), [])
})

test('where the tool names only failures, every test that fails without the change passes with it', () => {
  const without = ran([], ['tests/test_a.py::test_new'])
  assert.deepEqual(testsThatNeed(ran([]), without, OLD), ['tests/test_a.py::test_new'])
})

test('a name is found as runners and judges write it, and the longest name wins', () => {
  const names = [
    'tests/test_a.py::test_new[1]',
    'pkg/cart: TestSum',
    'test/a.test.ts > cart > adds two',
    'adds',
    'adds, then rounds',
  ]
  const rows = [
    ['tests/test_a.py::test_new', 0],
    ['test_new', 0],
    ['TestSum in cart_test.go', 1],
    ["'adds two'", 2],
    ['test/a.test.ts:14 adds two', 2],
    ['adds, then rounds', 4],
    ['adds', 3],
  ] as const
  for (const [said, at] of rows) assert.deepEqual(findTests(said, names), [names[at]], said)
  assert.deepEqual(findTests('ad', names), [])
  assert.deepEqual(findTests('', names), [])
})

test('a line of code names the tests whose whole name is on it', () => {
  const names = ['test_new', 'pkg: TestSum', 'adds two', 'it']
  assert.deepEqual(testsOnLine('def test_new(self):', names), ['test_new'])
  assert.deepEqual(testsOnLine('func TestSum(t *testing.T) {', names), ['pkg: TestSum'])
  assert.deepEqual(testsOnLine("  it('adds two', () => {", names), ['adds two'])
  assert.deepEqual(testsOnLine('def test_newer(self):', names), [])
})
