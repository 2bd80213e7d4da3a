// Places in the output of common tools.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { annotationsFrom, selectAnnotations } from '../../../src/gates/annotations.ts'
import { createResolver } from '../../../src/gates/resolver.ts'
import { assertGrowth } from '../growth.ts'
import { anyText, runs } from '../runs.ts'

const KNOWN = new Set([
  'src/a.ts',
  'src/deep/b.ts',
  'test/a.test.ts',
  'src/lib.rs',
  'tests/test_a.py',
  'app/x.py',
  'pkg/a_test.go',
  'pkg/a.go',
  'cmd/main.go',
  'src/main/java/app/Slug.java',
  'src/test/java/app/SlugTest.java',
  'with space.ts',
  'one/index.ts',
  'two/index.ts',
])
const said = (output: string): string[] =>
  annotationsFrom(output, createResolver(KNOWN)).map(
    (it) => `${it.path}:${it.line} ${it.level} ${it.message}`,
  )

test('annotations of tsc, plain and pretty', () => {
  assert.deepEqual(said("src/a.ts(12,5): error TS2322: Type 'x'.\nsrc/deep/b.ts(1,1): warning X: y\n"), [
    "src/a.ts:12 failure TS2322: Type 'x'.",
    'src/deep/b.ts:1 warning X: y',
  ])
  assert.deepEqual(
    said(
      '\u001b[96msrc/a.ts\u001b[0m:\u001b[93m12\u001b[0m:\u001b[93m5\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2322: \u001b[0mNo.\r\n',
    ),
    ['src/a.ts:12 failure TS2322: No.'],
  )
})

test('annotations of eslint, stylish and unix', () => {
  const stylish =
    "\n/home/runner/work/x/x/src/a.ts\n  12:5   error    'x' is unused  no-unused-vars\n   3:10  warning  Odd            odd\n\nsrc/deep/b.ts\n  1:1  error  Bad  bad\n\n✖ 3 problems\n"
  assert.deepEqual(said(stylish), [
    "src/a.ts:12 failure 'x' is unused - no-unused-vars",
    'src/a.ts:3 warning Odd - odd',
    'src/deep/b.ts:1 failure Bad - bad',
  ])
  assert.deepEqual(
    said('/w/src/a.ts:12:5: Missing semicolon. [Error/semi]\n/w/src/a.ts:1:1: Odd. [Warning/odd]\n'),
    ['src/a.ts:12 failure Missing semicolon. [Error/semi]', 'src/a.ts:1 warning Odd. [Warning/odd]'],
  )
})

test('annotations of biome', () => {
  assert.deepEqual(said('src/a.ts:12:5 lint/style/useConst ━━━━━━\n\n  × This let is never changed.\n'), [
    'src/a.ts:12 failure This let is never changed.',
  ])
})

test('annotations of node --test, spec and tap', () => {
  const spec =
    '✖ failing tests:\n\ntest at test/a.test.ts:7:3\n✖ adds (1.2ms)\n  AssertionError [ERR_ASSERTION]: 1 !== 2\n      at TestContext.<anonymous> (file:///w/test/a.test.ts:8:10)\n'
  assert.deepEqual(said(spec), ['test/a.test.ts:8 failure adds: AssertionError [ERR_ASSERTION]: 1 !== 2'])
  const tap =
    "not ok 1 - adds\n  ---\n  duration_ms: 1\n  location: '/w/test/a.test.ts:7:3'\n  failureType: 'testCodeFailure'\n  error: '1 !== 2'\n"
  assert.deepEqual(said(tap), ['test/a.test.ts:7 failure not ok 1 - adds'])
})

test('annotations of jest and vitest: the first known stack frame after the error', () => {
  const jest =
    '  ● slugify › lowers\n\n    expect(received).toBe(expected)\n\n      at fn (node_modules/x/index.js:1:1)\n      at Object.<anonymous> (test/a.test.ts:5:20)\n      at other (src/a.ts:1:1)\n'
  assert.deepEqual(said(jest), ['test/a.test.ts:5 failure ● slugify › lowers'])
  const vitest =
    ' FAIL  test/a.test.ts > slugify > lowers\nAssertionError: expected 1 to be 2\n ❯ test/a.test.ts:5:20\n      3| it\n'
  assert.deepEqual(said(vitest), [
    'test/a.test.ts:5 failure test/a.test.ts > slugify > lowers: AssertionError: expected 1 to be 2',
  ])
})

test('annotations of pytest, mypy, ruff and Python tracebacks', () => {
  const pytest =
    '____ test_x ____\n\n    def test_x():\n>       assert add(1, 2) == 4\nE       assert 3 == 4\nE        +  where 3 = add(1, 2)\n\ntests/test_a.py:12: AssertionError\n=== short test summary info ===\nFAILED tests/test_a.py::test_x - assert 3 == 4\n'
  assert.deepEqual(said(pytest), ['tests/test_a.py:12 failure assert 3 == 4'])
  assert.deepEqual(
    said('app/x.py:3: error: Incompatible types  [arg]\napp/x.py:3: note: See\napp/x.py:9:1: F401 unused\n'),
    [
      'app/x.py:3 failure Incompatible types  [arg]',
      'app/x.py:3 notice See',
      'app/x.py:9 failure F401 unused',
    ],
  )
  assert.deepEqual(said('F401 `os` imported but unused\n --> app/x.py:1:8\n  |\n'), [
    'app/x.py:1 failure F401 `os` imported but unused',
  ])
  const trace =
    'Traceback (most recent call last):\n  File "/w/tests/test_a.py", line 2, in <module>\n  File "/w/app/x.py", line 7, in f\n    1 / 0\n  File "/usr/lib/python3/x.py", line 1, in g\nZeroDivisionError: division by zero\n'
  assert.deepEqual(said(trace), ['app/x.py:7 failure ZeroDivisionError: division by zero'])
})

test('annotations of go test, go vet and testify', () => {
  assert.deepEqual(said('--- FAIL: TestX (0.00s)\n    a_test.go:12: got 1, want 2\nFAIL\n'), [
    'pkg/a_test.go:12 failure got 1, want 2',
  ])
  assert.deepEqual(
    said('# x/pkg\npkg/a.go:3:5: undefined: y\n./cmd/main.go:9:2: missing return\nvet: pkg/a.go:4:1: odd\n'),
    ['pkg/a.go:3 failure undefined: y', 'cmd/main.go:9 failure missing return', 'pkg/a.go:4 failure odd'],
  )
  const testify =
    '--- FAIL: TestX (0.00s)\n    a_test.go:12: \n        \tError Trace:\t/w/pkg/a_test.go:12\n        \tError:      \tNot equal: 1 and 2\n'
  assert.equal(said(testify)[0], 'pkg/a_test.go:12 failure Not equal: 1 and 2')
})

test('annotations of cargo: compiler, clippy and panics', () => {
  const compiler =
    'error[E0308]: mismatched types\n  --> src/lib.rs:12:5\n   |\nwarning: unused variable: `x`\n --> src/lib.rs:3:9\n'
  assert.deepEqual(said(compiler), [
    'src/lib.rs:12 failure error[E0308]: mismatched types',
    'src/lib.rs:3 warning warning: unused variable: `x`',
  ])
  const panics = "thread 'a' panicked at src/lib.rs:20:9:\nassertion `left == right` failed\n"
  assert.deepEqual(said(panics), ['src/lib.rs:20 failure assertion `left == right` failed'])
})

test('annotations of javac, maven and Java stack frames', () => {
  assert.deepEqual(
    said(
      'src/main/java/app/Slug.java:12: error: cannot find symbol\n[ERROR] /w/src/main/java/app/Slug.java:[14,5] no\n',
    ),
    [
      'src/main/java/app/Slug.java:12 failure cannot find symbol',
      'src/main/java/app/Slug.java:14 failure no',
    ],
  )
  const trace =
    'org.opentest4j.AssertionFailedError: expected: <1> but was: <2>\n\tat org.junit.Assert.fail(Assert.java:1)\n\tat app.SlugTest.joins(SlugTest.java:12)\n'
  assert.deepEqual(said(trace), [
    'src/test/java/app/SlugTest.java:12 failure org.opentest4j.AssertionFailedError: expected: <1> but was: <2>',
  ])
})

test('workflow commands in output are read as annotations, and not passed on', () => {
  assert.deepEqual(said('::warning file=src/a.ts,line=4,col=2::Careful: a::b\n::error::nowhere\n'), [
    'src/a.ts:4 warning Careful: a::b',
  ])
})

test('annotations are found only in known files, and only for unambiguous names', () => {
  const output =
    'node_modules/x/a.ts:1:1: error: no\nindex.ts:1:1: error: which?\n../deep/b.ts:2:2: error: yes\nwith space.ts:3:1: error: yes\nhttp://x.test:80: up\n12:30:45: time\nsrc/a.ts:0:0: zero\na.ts: no line\n'
  assert.deepEqual(said(output), ['src/deep/b.ts:2 failure yes', 'with space.ts:3 failure yes'])
  assert.deepEqual(annotationsFrom('src/a.ts:1:1: error: x', createResolver(new Set())), [])
  assert.deepEqual(said('one/index.ts:1:1: x\nC:\\w\\src\\a.ts:5:1: error: windows\n'), [
    'one/index.ts:1 failure x',
    'src/a.ts:5 failure windows',
  ])
})

test('at most 500 annotations are found and 50 shown, without duplicates, with short messages', () => {
  const many = Array.from(
    { length: 1000 },
    (_, index) => `src/a.ts:${index + 1}:1: error: ${'x'.repeat(5000)}`,
  )
  const found = annotationsFrom([...many, ...many].join('\n'), createResolver(KNOWN))
  assert.equal(found.length, 500)
  assert.equal(selectAnnotations([...found, ...found], () => false).length, 50)
  assert.ok(found.every((it) => it.message.length <= 600))
  assert.equal(said('src/a.ts:1:1: error: x\nsrc/a.ts:1:1: error: x\n').length, 1)
})

test('annotations in changed files come first, each once', () => {
  const output =
    'src/a.ts:1:1: error: one\nsrc/lib.rs:2:1: error: two\nsrc/a.ts:1:1: error: one\npkg/a.go:3:1: three\n'
  const found = annotationsFrom(output, createResolver(KNOWN))
  const shown = selectAnnotations([...found, ...found], (path) => path === 'pkg/a.go')
  assert.deepEqual(
    shown.map(({ path }) => path),
    ['pkg/a.go', 'src/a.ts', 'src/lib.rs'],
  )
})

test("a file name in an annotation is resolved from the gates' folder first", () => {
  const resolve = createResolver(new Set(['one/index.ts', 'two/index.ts', 'index.ts', 'README.md']), 'two/')
  assert.deepEqual(['index.ts', './index.ts', 'README.md', 'none.ts'].map(resolve), [
    'two/index.ts',
    'two/index.ts',
    'README.md',
    null,
  ])
})

test('any gate output gives well-formed annotations', () => {
  const piece = fc.constantFrom(
    'src/a.ts',
    ':1:2: ',
    '(1,2): error ',
    'File "app/x.py", line 3\n',
    'ValueError: x\n',
    '--> src/lib.rs:1:1\n',
    'panicked at ',
    'test at ',
    "location: '",
    ':0',
    ':99999999',
    '\n',
    ' ',
    '\u001b[31m',
    '\u0000',
    'E   x\n',
    '  1:1  error  x\n',
    '::error file=src/a.ts,line=1::',
    'lint/x',
  )
  const text = fc
    .array(fc.oneof(piece, anyText({ maxLength: 4 })), { maxLength: 30 })
    .map((it) => it.join(''))
  fc.assert(
    fc.property(text, (output) => {
      for (const { path, line, message } of annotationsFrom(output, createResolver(KNOWN))) {
        assert.ok(KNOWN.has(path) && Number.isInteger(line) && line >= 1)
        assert.ok(message.length <= 600 && !/[^\P{Cc}\t\n]/u.test(message))
      }
    }),
    runs(200),
  )
})

test('annotations of 4 MB of hostile output take limited time', () => {
  for (const unit of [
    ' ',
    ':',
    ':1',
    ':1:1:',
    '(1,2)',
    'at ',
    "panicked at '",
    '\u001b[',
    '::error ',
    'src/a.ts:1:1: \n',
    'File "',
    '[ERROR] ',
    '\n',
    'src/a.ts\n',
    ' 1:1 error ',
  ]) {
    const start = process.cpuUsage()
    annotationsFrom(unit.repeat(4_000_000 / unit.length), createResolver(KNOWN))
    annotationsFrom(`${unit.repeat(900 / unit.length)}\n`.repeat(4_000), createResolver(KNOWN))
    const { user, system } = process.cpuUsage(start)
    const took = (user + system) / 1000
    assert.ok(took < 5_000, `${JSON.stringify(unit)}: ${took.toFixed(0)} ms`)
  }
})

test('annotations take no more time with many files of one name', () => {
  const named = (size: number) => new Set(Array.from({ length: size }, (_, at) => `p${at}/index.ts`))
  assertGrowth((size) => createResolver(named(size))('index.ts'), 5_000)
})
