// Every way to weaken a test, in every language: what is told of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Weakening, weakenedTests } from '../../../src/review/weakened.ts'

type Way = (text: string) => string
type Language = { path: string; base: string } & Record<Exclude<Weakening['kind'], 'unread'>, Way[]>

const LANGUAGES: Record<string, Language> = {
  js: {
    path: 'test/a.test.ts',
    base: `import { test, it, describe, expect } from 'vitest'\ndescribe('math', () => {\n  it('adds', () => {\n    expect(add(1, 2)).toBe(3)\n    expect(add(2, 2)).toBe(4)\n  })\n  it('subtracts', () => {\n    expect(sub(5, 2)).toBe(3)\n  })\n})\n`,
    deleted: [
      (s) => s.replace(/ {2}it\('subtracts'[\s\S]*?\n {2}}\)\n/, ''),
      (s) => s.replace(/ {2}it\('subtracts'[\s\S]*?\n {2}}\)\n/, (m) => m.replace(/^/gm, '// ')),
      (s) => s.replace(/ {2}it\('subtracts'[\s\S]*?\n {2}}\)\n/, (m) => `/*${m}*/`),
    ],
    skipped: [
      (s) => s.replace("it('adds'", "it.skip('adds'"),
      (s) => s.replace("it('adds'", "xit('adds'"),
      (s) => s.replace("it('adds'", "it.todo('adds'"),
      (s) => s.replace("it('adds'", "it.fails('adds'"),
      (s) => s.replace("it('adds'", "it.skipIf(true)('adds'"),
      (s) => s.replace("it('adds'", "it.runIf(false)('adds'"),
      (s) => s.replace("describe('math'", "describe.skip('math'"),
      (s) => s.replace("describe('math'", "xdescribe('math'"),
      (s) => s.replace("it('adds', () =>", "it('adds', { skip: true }, () =>"),
      (s) => s.replace("it('adds', () => {", "it('adds', (t) => {\n    t.skip()"),
      (s) => s.replace("it('adds'", "test.fixme('adds'"),
      (s) => s.replace("it('adds', () => {", "it('adds', function () {\n    this.skip()"),
      (s) => s.replace("it('adds', () => {", "it('adds', ({ skip }) => {\n    skip()"),
    ],
    focused: [
      (s) => s.replace("it('subtracts'", "it.only('subtracts'"),
      (s) => s.replace("it('subtracts'", "fit('subtracts'"),
      (s) => s.replace("describe('math'", "describe.only('math'"),
      (s) => s.replace("it('subtracts', () =>", "it('subtracts', { only: true }, () =>"),
    ],
    emptied: [
      (s) => s.replace("it('adds', () => {", "it('adds', () => {\n    return"),
      (s) => s.replace('    expect(sub(5, 2)).toBe(3)\n', ''),
      (s) => s.replace('expect(sub(5, 2)).toBe(3)', '// nothing'),
      (s) => s.replace('expect(sub(5, 2)).toBe(3)', 'sub(5, 2)'),
      (s) => s.replace('expect(sub(5, 2)).toBe(3)', 'expect(true).toBe(true)'),
      (s) => s.replace('expect(sub(5, 2)).toBe(3)', 'expect(sub(5, 2))'),
      (s) => s.replace('expect(sub(5, 2)).toBe(3)', 'assert.ok(true)'),
    ],
    assertions: [
      (s) => s.replace('    expect(add(2, 2)).toBe(4)\n', ''),
      (s) => s.replace('    expect(add(2, 2)).toBe(4)', '    // expect(add(2, 2)).toBe(4)'),
      (s) => s.replace('expect(add(2, 2)).toBe(4)', 'expect(true).toBe(true)'),
    ],
  },
  python: {
    path: 'tests/test_a.py',
    base: `import pytest\nfrom a import add, sub\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n    assert add(2, 2) == 4\n\n\ndef test_subtracts():\n    assert sub(5, 2) == 3\n`,
    deleted: [
      (s) => s.slice(0, s.indexOf('def test_subtracts')),
      (s) => s.replace('def test_subtracts', 'def _test_subtracts'),
      (s) =>
        s.replace(
          'def test_subtracts():\n    assert sub(5, 2) == 3',
          '# def test_subtracts():\n#    assert sub(5, 2) == 3',
        ),
      (s) => `${s.replace('def test_subtracts():', '"""\ndef test_subtracts():')}"""\n`,
    ],
    skipped: [
      (s) => s.replace('def test_adds', '@pytest.mark.skip\ndef test_adds'),
      (s) => s.replace('def test_adds', '@pytest.mark.skip(reason="x")\ndef test_adds'),
      (s) => s.replace('def test_adds', '@pytest.mark.skipif(True, reason="x")\ndef test_adds'),
      (s) => s.replace('def test_adds', '@pytest.mark.xfail\ndef test_adds'),
      (s) => s.replace('def test_adds', '@unittest.skip("x")\ndef test_adds'),
      (s) => s.replace('def test_adds', '@unittest.expectedFailure\ndef test_adds'),
      (s) => s.replace('def test_adds():\n', 'def test_adds():\n    pytest.skip("x")\n'),
      (s) => s.replace('import pytest\n', 'import pytest\npytestmark = pytest.mark.skip\n'),
      (s) => s.replace('import pytest\n', 'import pytest\npytest.skip("x", allow_module_level=True)\n'),
      (s) => s.replace('def test_adds():\n', 'def test_adds():\n    pytest.xfail("x")\n'),
      (s) => s.replace('import pytest\n', 'import pytest\npytest.importorskip("nothing")\n'),
      (s) => s.replace('import pytest\n', 'import pytest\n__test__ = False\n'),
      (s) => s.replace('def test_adds():\n', 'def test_adds():\n    raise unittest.SkipTest("x")\n'),
    ],
    focused: [],
    emptied: [
      (s) => s.replace('    assert sub(5, 2) == 3', '    pass'),
      (s) => s.replace('    assert sub(5, 2) == 3', '    ...'),
      (s) => s.replace('    assert sub(5, 2) == 3', '    sub(5, 2)'),
      (s) => s.replace('    assert sub(5, 2) == 3', '    assert True'),
      (s) => s.replace('    assert sub(5, 2) == 3', '    """Nothing."""'),
    ],
    assertions: [
      (s) => s.replace('    assert add(2, 2) == 4\n', ''),
      (s) => s.replace('    assert add(2, 2) == 4', '    # assert add(2, 2) == 4'),
      (s) => s.replace('assert add(2, 2) == 4', 'assert True'),
    ],
  },
  go: {
    path: 'a_test.go',
    base: `package a\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Error("one")\n\t}\n\tif add(2, 2) != 4 {\n\t\tt.Fatal("two")\n\t}\n}\n\nfunc TestSubtracts(t *testing.T) {\n\tif sub(5, 2) != 3 {\n\t\tt.Errorf("sub")\n\t}\n}\n`,
    deleted: [
      (s) => s.slice(0, s.indexOf('func TestSubtracts')),
      (s) => s.replace('func TestSubtracts', 'func testSubtracts'),
      (s) => s.replace(/func TestSubtracts[\s\S]*/, (m) => m.replace(/^/gm, '// ')),
    ],
    skipped: [
      (s) => `//go:build never\n\n${s}`,
      (s) => `// +build ignore\n\n${s}`,
      (s) => s.replace('func TestAdds(t *testing.T) {', 'func TestAdds(t *testing.T) {\n\tt.Skip("x")'),
      (s) => s.replace('func TestAdds(t *testing.T) {', 'func TestAdds(t *testing.T) {\n\tt.SkipNow()'),
      (s) => s.replace('func TestAdds(t *testing.T) {', 'func TestAdds(t *testing.T) {\n\tt.Skipf("x")'),
      (s) =>
        s.replace(
          'func TestAdds(t *testing.T) {',
          'func TestAdds(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip()\n\t}',
        ),
    ],
    focused: [],
    emptied: [
      (s) => s.replace(/\tif sub[\s\S]*?\n\t}\n/, ''),
      (s) => s.replace(/\tif sub[\s\S]*?\n\t}\n/, '\t_ = sub(5, 2)\n'),
      (s) => s.replace('t.Errorf("sub")', 't.Log("sub")'),
    ],
    assertions: [
      (s) => s.replace(/\tif add\(2[\s\S]*?\n\t}\n/, ''),
      (s) => s.replace('t.Fatal("two")', 't.Log("two")'),
    ],
  },
  rust: {
    path: 'tests/a.rs',
    base: `use a::*;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n    assert_eq!(add(2, 2), 4);\n}\n\n#[test]\nfn subtracts() {\n    assert_eq!(sub(5, 2), 3);\n}\n`,
    deleted: [
      (s) => s.slice(0, s.indexOf('#[test]\nfn subtracts')),
      (s) => s.replace('#[test]\nfn subtracts', 'fn subtracts'),
      (s) => s.replace(/#\[test\]\nfn subtracts[\s\S]*/, (m) => m.replace(/^/gm, '// ')),
      (s) => s.replace(/#\[test\]\nfn subtracts[\s\S]*/, (m) => `/*${m}*/`),
    ],
    skipped: [
      (s) => `#![cfg(never)]\n${s}`,
      (s) => s.replace('#[test]\nfn adds', '#[test]\n#[ignore]\nfn adds'),
      (s) => s.replace('#[test]\nfn adds', '#[test]\n#[ignore = "x"]\nfn adds'),
      (s) => s.replace('#[test]\nfn adds', '#[test]\n#[should_panic]\nfn adds'),
      (s) => s.replace('#[test]\nfn adds', '#[cfg(never)]\n#[test]\nfn adds'),
      (s) => s.replace('#[test]\nfn adds', '#[cfg_attr(all(), ignore)]\n#[test]\nfn adds'),
      (s) => s.replace('#[test]\nfn adds', '#[cfg(any())]\n#[test]\nfn adds'),
    ],
    focused: [],
    emptied: [
      (s) => s.replace('    assert_eq!(sub(5, 2), 3);\n', ''),
      (s) => s.replace('assert_eq!(sub(5, 2), 3);', 'let _ = sub(5, 2);'),
      (s) => s.replace('assert_eq!(sub(5, 2), 3);', 'assert!(true);'),
      (s) => s.replace('assert_eq!(sub(5, 2), 3);', 'debug_assert!(true);'),
    ],
    assertions: [
      (s) => s.replace('    assert_eq!(add(2, 2), 4);\n', ''),
      (s) => s.replace('assert_eq!(add(2, 2), 4);', 'assert!(true);'),
      (s) => s.replace('assert_eq!(add(2, 2), 4);', '// assert_eq!(add(2, 2), 4);'),
    ],
  },
  java: {
    path: 'src/test/java/ATest.java',
    base: `import org.junit.jupiter.api.Test;\nimport static org.junit.jupiter.api.Assertions.*;\n\nclass ATest {\n  @Test\n  void adds() {\n    assertEquals(3, add(1, 2));\n    assertEquals(4, add(2, 2));\n  }\n\n  @Test\n  void subtracts() {\n    assertEquals(3, sub(5, 2));\n  }\n}\n`,
    deleted: [
      (s) => s.replace(/ {2}@Test\n {2}void subtracts[\s\S]*?\n {2}}\n/, ''),
      (s) => s.replace('@Test\n  void subtracts', 'void subtracts'),
      (s) => s.replace(/ {2}@Test\n {2}void subtracts[\s\S]*?\n {2}}\n/, (m) => `/*${m}*/`),
    ],
    skipped: [
      (s) => s.replace('@Test\n  void adds', '@Disabled\n  @Test\n  void adds'),
      (s) => s.replace('@Test\n  void adds', '@Test\n  @Disabled("x")\n  void adds'),
      (s) => s.replace('@Test\n  void adds', '@Test @Ignore\n  void adds'),
      (s) => s.replace('class ATest', '@Disabled class ATest'),
      (s) => s.replace('@Test\n  void adds', '@Test(enabled = false)\n  void adds'),
      (s) => s.replace('@Test\n  void adds', '@Test(expected = Exception.class)\n  void adds'),
      (s) => s.replace('void adds() {', 'void adds() {\n    assumeTrue(false);'),
      (s) => s.replace('void adds() {', 'void adds() {\n    Assumptions.assumeTrue(false);'),
      (s) =>
        s.replace(
          '@Test\n  void adds',
          '@Test\n  @EnabledIfEnvironmentVariable(named = "X", matches = "y")\n  void adds',
        ),
      (s) => s.replace('@Test\n  void adds', '@Test\n  @DisabledOnOs(OS.LINUX)\n  void adds'),
      (s) => s.replace('void adds() {', 'void adds() {\n    throw new TestAbortedException();'),
    ],
    focused: [],
    emptied: [
      (s) => s.replace('    assertEquals(3, sub(5, 2));\n', ''),
      (s) => s.replace('assertEquals(3, sub(5, 2));', 'sub(5, 2);'),
      (s) => s.replace('assertEquals(3, sub(5, 2));', 'assertTrue(true);'),
    ],
    assertions: [
      (s) => s.replace('    assertEquals(4, add(2, 2));\n', ''),
      (s) => s.replace('assertEquals(4, add(2, 2));', 'assertTrue(true);'),
      (s) => s.replace('assertEquals(4, add(2, 2));', 'assertEquals(4, 4);'),
    ],
  },
}

for (const [name, language] of Object.entries(LANGUAGES)) {
  const { path, base } = language
  for (const kind of ['deleted', 'skipped', 'focused', 'emptied', 'assertions'] as const) {
    if (language[kind].length === 0) continue
    test(`${name}: ${kind}, in ${language[kind].length} ways`, async () => {
      for (const way of language[kind]) {
        const after = way(base)
        assert.notEqual(after, base, String(way))
        const found = await weakenedTests([{ path, before: base, after }])
        assert.deepEqual([...new Set(found.map((it) => it.kind))], [kind], `${way}\n${JSON.stringify(found)}`)
        assert.ok(found.every((it) => it.path === path))
        // Made the other way round it is no weakening.
        const back = await weakenedTests([{ path, before: after, after: base }])
        assert.deepEqual(back, [], String(way))
      }
    })
  }
  test(`${name}: the file is gone, and only formatted anew`, async () => {
    assert.ok(
      (await weakenedTests([{ path, before: base, after: null }])).some((it) => it.kind === 'deleted'),
    )
    assert.deepEqual(
      await weakenedTests([{ path, before: base, after: `\n${base.replace(/\n\n/g, '\n\n\n')}` }]),
      [],
    )
  })
}

// ---------------------------------------------------------------- ways that need a text of their own

type Texts = Record<string, string>
/** From these files to those: what is told of it, and nothing of the way back. `null`: an honest change. */
type Change = [name: string, kind: Weakening['kind'] | null, before: Texts, after: Texts]

function toldOf(before: Texts, after: Texts): Promise<Weakening[]> {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return weakenedTests(
    paths.map((path) => ({ path, before: before[path] ?? null, after: after[path] ?? null })),
  )
}

/** One file; what is replaced in it. */
const edit = (path: string, base: string, ...edits: [string | RegExp, string][]): [Texts, Texts] => {
  const after = edits.reduce((text, [old, now]) => text.replace(old, () => now), base)
  assert.notEqual(after, base)
  return [{ [path]: base }, { [path]: after }]
}

const PY =
  'import pytest\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_mul():\n    assert mul(3, 4) == 12\n'
const PY_UNIT =
  'import unittest\n\n\nclass TestMath(unittest.TestCase):\n    def setUp(self):\n        self.a = 1\n\n    def test_add(self):\n        self.assertEqual(add(self.a, 2), 3)\n\n    def test_mul(self):\n        self.assertEqual(mul(3, 4), 12)\n'
const PY_BASE =
  'from base import BaseThing\n\n\nclass Maths(BaseThing):\n    def test_add(self):\n        assert add(1, 2) == 3\n\n    def test_mul(self):\n        assert mul(3, 4) == 12\n'
const python = (
  name: string,
  kind: Change[1],
  base: string,
  ...edits: [string | RegExp, string][]
): Change => [name, kind, ...edit('tests/test_a.py', base, ...edits)]
const IMPORT: string = 'import pytest\n'
const SET_UP = '        self.a = 1\n'

const PYTHON: Change[] = [
  python('marks of a module, on lines of their own', 'skipped', PY, [
    IMPORT,
    `${IMPORT}pytestmark = [\n    pytest.mark.skip(reason="x"),\n]\n`,
  ]),
  python('marks of a class, on lines of their own', 'skipped', PY_UNIT, [
    '    def setUp',
    '    pytestmark = [\n        pytest.mark.slow,\n        pytest.mark.xfail(\n            run=False,\n        ),\n    ]\n\n    def setUp',
  ]),
  python('other marks of a module', null, PY, [
    IMPORT,
    `${IMPORT}pytestmark = [\n    pytest.mark.slow,\n]\nskip = 1\n`,
  ]),
  python(
    'marks on one line, then on several',
    null,
    `pytestmark = [pytest.mark.skipif(old, reason="x")]\n${PY}`,
    [
      /pytestmark.*\n/,
      'pytestmark = [\n    pytest.mark.skipif(\n        old,\n        reason="x",\n    ),\n]\n',
    ],
  ),
  python('setUp skips', 'skipped', PY_UNIT, [SET_UP, '        self.skipTest("x")\n']),
  python('setUpClass skips', 'skipped', PY_UNIT, [
    '    def setUp(self)',
    '    @classmethod\n    def setUpClass(cls):\n        raise unittest.SkipTest("x")\n\n    def setUp(self)',
  ]),
  python('setUpModule skips', 'skipped', PY_UNIT, [
    'class TestMath',
    'def setUpModule():\n    raise unittest.SkipTest("x")\n\n\nclass TestMath',
  ]),
  python('setup_method skips', 'skipped', PY_BASE.replace('Maths(BaseThing)', 'TestMaths'), [
    '    def test_add',
    '    def setup_method(self):\n        pytest.skip("x")\n\n    def test_add',
  ]),
  python('a fixture of all skips', 'skipped', PY, [
    'def test_add',
    '@pytest.fixture(autouse=True)\ndef never():\n    pytest.skip("x")\n\n\ndef test_add',
  ]),
  python('a fixture that is asked for skips', null, PY, [
    'def test_add',
    '@pytest.fixture\ndef docker():\n    if not has_docker():\n        pytest.skip("x")\n\n\ndef test_add',
  ]),
  python('a set-up that skips the tests of a new class', null, PY_UNIT, [
    /$/,
    '\n\nclass TestMore(unittest.TestCase):\n    def setUp(self):\n        if old:\n            self.skipTest("x")\n\n    def test_more(self):\n        self.assertEqual(more(1), 2)\n',
  ]),
  python(
    'skips move from the tests into the set-up',
    null,
    PY_UNIT.replace(/(def test_\w+\(self\):\n)/g, '$1        self.skipTest("x")\n'),
    [/( *self\.skipTest\("x"\)\n)(?=[\s\S]*test_mul)/, ''],
    [/ *self\.skipTest\("x"\)\n/, ''],
    [SET_UP, `${SET_UP}        self.skipTest("x")\n`],
  ),
  python('one definition for each version', null, PY, [
    /def test_mul[\s\S]*/,
    'if new:\n    def test_mul():\n        assert mul(3, 4) == 12\nelse:\n    def test_mul():\n        assert mul(3, 4) == 12.0\n',
  ]),
  python('one name in two classes', null, PY_UNIT, [
    /$/,
    '\n\nclass TestOther(unittest.TestCase):\n    def test_mul(self):\n        self.assertEqual(other(3), 12)\n',
  ]),
  python('a name that two tests had', null, `${PY}\n\ndef test_mul():\n    assert mul(2, 4) == 8\n`, [
    /def test_mul(?=\(\):\n {4}assert mul\(2)/,
    'def test_mul_again',
  ]),
  python('a class whose base is not named after tests: skipped', 'skipped', PY_BASE, [
    'class',
    '@unittest.skip("x")\nclass',
  ]),
  python('a class whose base is not named after tests: gone', 'deleted', PY_BASE, [
    / {4}def test_mul[\s\S]*/,
    '',
  ]),
  python(
    'a class whose base in the same file is one of tests',
    null,
    PY_BASE.replace('from base import BaseThing', 'class BaseThing(unittest.TestCase):\n    pass').replace(
      'Maths',
      'TestMaths',
    ),
    ['TestMaths', 'Maths'],
  ),
]

const GO = LANGUAGES.go?.base ?? ''
const SUITE =
  'package a\n\nimport "github.com/stretchr/testify/suite"\n\ntype MathSuite struct{ suite.Suite }\n\nfunc (s *MathSuite) TestAdds() {\n\ts.Equal(3, add(1, 2))\n\ts.Require().NoError(check(2))\n}\n\nfunc (s *MathSuite) TestSubtracts() {\n\ts.Require().Equal(3, sub(5, 2))\n}\n\nfunc TestMathSuite(t *testing.T) {\n\tsuite.Run(t, new(MathSuite))\n}\n'
const go = (name: string, kind: Change[1], base: string, ...edits: [string | RegExp, string][]): Change => [
  name,
  kind,
  ...edit('a_test.go', base, ...edits),
]
const constraint = (name: string, kind: Change[1], old: string, now: string): Change =>
  go(`constraint: ${name}`, kind, `${old}\n\n${GO}`, [old, now])

const GOLANG: Change[] = [
  constraint('wider', null, '//go:build linux', '//go:build linux || darwin'),
  constraint('one fewer to meet', null, '//go:build linux && cgo', '//go:build linux'),
  constraint(
    'as gofmt writes it',
    null,
    '// +build linux darwin',
    '//go:build linux || darwin\n// +build linux darwin',
  ),
  constraint('in its new form', null, '// +build linux,cgo', '//go:build linux && cgo'),
  constraint('another Go', null, '//go:build go1.18', '//go:build go1.21'),
  [
    'constraint: from the file to its name',
    null,
    { 'a_test.go': `//go:build windows\n\n${GO}` },
    { 'a_windows_test.go': GO },
  ],
  go('testify: skipped', 'skipped', SUITE, ['TestAdds() {', 'TestAdds() {\n\ts.T().Skip("x")']),
  go('testify: the set-up skips', 'skipped', SUITE, [
    'func TestMath',
    'func (s *MathSuite) SetupTest() {\n\ts.T().Skip("x")\n}\n\nfunc TestMath',
  ]),
  go('testify: a set-up', null, SUITE, [
    'func TestMath',
    'func (s *MathSuite) SetupTest() {\n\ts.a = 1\n}\n\nfunc TestMath',
  ]),
  go('testify: emptied', 'emptied', SUITE, ['\ts.Require().Equal(3, sub(5, 2))\n', '']),
  go('testify: nothing is asserted', 'emptied', SUITE, ['s.Require().Equal(3, sub(5, 2))', '_ = sub(5, 2)']),
  go('testify: one assertion fewer', 'assertions', SUITE, ['\ts.Equal(3, add(1, 2))\n', '']),
  go('testify: the same otherwise', null, SUITE, ['s.Require().Equal(', 's.Equal(']),
]

const JAVA = LANGUAGES.java?.base ?? ''
const JAVADOC = `  /**\n${'   * What this is, in very many words.\n'.repeat(60)}   */\n`
const java = (name: string, kind: Change[1], base: string, ...edits: [string | RegExp, string][]): Change => [
  name,
  kind,
  ...edit('src/test/java/ATest.java', base, ...edits),
]
const JAVAS: Change[] = [
  java('a method after a long comment', 'skipped', JAVA.replace('  @Test\n', `${JAVADOC}  @Test\n`), [
    '  @Test\n',
    '  @Disabled\n  @Test\n',
  ]),
  java('a long comment between', 'skipped', JAVA.replace('@Test\n', `@Test\n${JAVADOC}`), [
    '  @Test\n',
    '  @Disabled @Test\n',
  ]),
  java('a class after a long comment', 'skipped', JAVA.replace('class', `${JAVADOC}class`), [
    'class',
    '@Disabled\nclass',
  ]),
  java('a class at the top', 'skipped', JAVA.replace(/import.*\n/g, ''), ['class', '@Disabled\nclass']),
  java('long comments alone', null, JAVA, ['  @Test\n', `${JAVADOC}  @Test\n`], ['class', `${JAVADOC}class`]),
  java('a private method', 'deleted', JAVA, ['void adds', 'private void adds']),
  java('a private helper', null, JAVA, [/}\n$/, '\n  private void help() {\n    add(1, 2);\n  }\n}\n']),
  [
    'an abstract class that others extend',
    null,
    { 'src/test/java/ATest.java': JAVA },
    {
      'src/test/java/AbstractATest.java': JAVA.replace('class ATest', 'abstract class AbstractATest'),
      'src/test/java/ATest.java': 'class ATest extends AbstractATest {\n}\n',
    },
  ],
]

const JS = LANGUAGES.js?.base ?? ''
const SUB = '    expect(sub(5, 2)).toBe(3)\n'
const javascript = (
  name: string,
  kind: Change[1],
  base: string,
  ...edits: [string | RegExp, string][]
): Change => [name, kind, ...edit('test/a.test.ts', base, ...edits)]
const JAVASCRIPT: Change[] = [
  javascript('Bun: test.if', 'skipped', JS, ["it('adds'", "test.if(false)('adds'"]),
  javascript('Playwright: test.skip of the file', 'skipped', JS, [
    'describe(',
    "test.skip(true, 'x')\ndescribe(",
  ]),
  javascript('Playwright: test.fixme of a group', 'skipped', JS, [
    "  it('adds'",
    "  test.fixme()\n  it('adds'",
  ]),
  javascript('Playwright: test.skip by what a function says', 'skipped', JS, [
    'describe(',
    "test.skip(({ browserName }) => browserName !== 'x', 'x')\ndescribe(",
  ]),
  javascript('Playwright: test.skip before each', 'skipped', JS, [
    "  it('adds'",
    "  test.beforeEach(async () => {\n    test.skip(true, 'x')\n  })\n  it('adds'",
  ]),
  javascript('mocha: before', 'skipped', JS, [
    "  it('adds'",
    "  before(function () {\n    this.skip()\n  })\n  it('adds'",
  ]),
  javascript('node: beforeEach', 'skipped', JS, [
    "  it('adds'",
    "  beforeEach((t) => t.skip())\n  it('adds'",
  ]),
  javascript('a set-up', null, JS, [
    "  it('adds'",
    "  beforeEach((t) => t.mock.reset())\n  before(function () {\n    this.timeout(1)\n  })\n  it('adds'",
  ]),
  javascript('a set-up that skips the tests of a new group', null, JS, [
    /$/,
    "describe('more', () => {\n  before(function () {\n    this.skip()\n  })\n  it('is more', () => {\n    expect(more(1)).toBe(2)\n  })\n})\n",
  ]),
  javascript('a set-up in a new test', null, JS, [
    'describe(',
    "test('more', async (t) => {\n  t.beforeEach((t) => t.skip())\n  await t.test('is more', () => expect(more(1)).toBe(2))\n})\ndescribe(",
  ]),
  javascript('a helper that can skip', null, JS, [
    'describe(',
    "function onlyOn(t, system) {\n  if (os !== system) t.skip()\n  test.skip(os !== system, 'x')\n}\nconst onlyAt = (system) => {\n  test.skip(os !== system, 'x')\n}\ndescribe(",
  ]),
  javascript('a test that is skipped from the start', null, JS, [
    "  it('adds'",
    "  test.skip('divides', () => {\n    expect(div(4, 2)).toBe(2)\n  })\n  test.todo('more')\n  it('adds'",
  ]),
  javascript('return with a value', 'emptied', JS, [SUB, `    return true\n${SUB}`]),
  javascript('return with a promise', 'emptied', JS, [SUB, `    return Promise.resolve()\n${SUB}`]),
  javascript('return after something', 'emptied', JS, [SUB, `    const a = sub(5, 2)\n    return;\n${SUB}`]),
  javascript('return between', 'assertions', JS, [/(?= *expect\(add\(2)/, '    return\n']),
  javascript('return before a function that it calls', null, JS, [
    SUB,
    `    return run()\n    function run() {\n  ${SUB}    }\n`,
  ]),
  javascript('return of the assertion', null, JS, [SUB, `    return expect(sub(5, 2)).toBe(3)\n`]),
  javascript('return where there is nothing to do', null, JS, [
    SUB,
    `    if (isOld)\n      return\n    if (isNew) return;\n    else return\n${SUB}`,
  ]),
  javascript('return of a chain', null, JS, [
    SUB,
    `    return sub(5)\n      .then((it) => expect(it).toBe(3))\n`,
  ]),
]

/** What stood at one path stands at another. */
const moved = (
  kind: Change[1],
  from: string,
  to: string,
  base: string,
  other: [Texts, Texts] = [{}, {}],
): Change => [`${from} becomes ${to}`, kind, { ...other[0], [from]: base }, { ...other[1], [to]: base }]
const PYTEST = LANGUAGES.python?.base ?? ''
const RUST = LANGUAGES.rust?.base ?? ''
const PROPTEST = `proptest! {\n    #[test]\n    fn adds(a in 0..9) {\n        prop_assert_eq!(add(a, 2), a + 2);\n    }\n\n    #[test]\n    fn subtracts(a in 5..9) {\n        prop_assert_eq!(sub(a, 5), a - 5);\n    }\n}\n`
const rust = (name: string, kind: Change[1], ...edits: [string | RegExp, string][]): Change => [
  name,
  kind,
  ...edit('tests/a.rs', PROPTEST, ...edits),
]
const RUSTS: Change[] = [
  rust('a test in a macro is gone', 'deleted', [/\n {4}#\[test\]\n {4}fn subtracts[\s\S]*?\n {4}}\n/, '']),
  rust('a test in a macro is ignored', 'skipped', ['    #[test]\n', '    #[test]\n    #[ignore]\n']),
  rust('a test in a macro says nothing', 'emptied', ['        prop_assert_eq!(sub(a, 5), a - 5);\n', '']),
]
const MOVES: Change[] = [
  moved('deleted', 'test/a.test.ts', 'test/a.ts', JS),
  moved('deleted', 'src/__tests__/a.ts', 'e2e/a.ts', JS),
  moved('deleted', 'tests/test_a.py', 'tests/old_a.py', PYTEST),
  moved('skipped', 'a_test.go', 'a_windows_test.go', GO),
  moved('deleted', 'a_test.go', '_a_test.go', GO),
  moved('deleted', 'a/a_test.go', 'a/_old/a_test.go', GO),
  moved(null, 'a/a_test.go', 'b/a_test.go', GO),
  moved('deleted', 'src/test/java/a/MathTest.java', 'src/test/java/a/MathOld.java', JAVA),
  moved('deleted', 'tests/a.rs', 'tests/x/a.rs', RUST),
  moved(null, 'test/a.test.ts', 'test/unit/a.spec.ts', JS),
  moved(null, 'test/a.ts', 'test/b/a.ts', JS),
  moved(null, 'test/a.ts', 'test/a.test.ts', JS),
  moved(null, 'tests/checks_a.py', 'tests/checks_b.py', PYTEST),
  moved(null, 'tests/test_a.py', 'tests/a_test.py', PYTEST),
  moved(null, 'a_windows_test.go', 'b_windows_test.go', GO),
  moved(null, 'src/test/java/a/MathChecks.java', 'src/test/java/a/MathMore.java', JAVA),
  moved(null, 'src/test/java/a/MathTest.java', 'src/test/java/a/MathIT.java', JAVA),
  moved(null, 'tests/a.rs', 'tests/x/main.rs', RUST),
  moved(null, 'src/a/tests.rs', 'src/a/tests/more.rs', RUST),
  [
    'tests move to a file whose tests ran before, whatever it is called',
    null,
    { 'test/a.test.ts': JS, 'test/b.ts': "it('is more', () => {\n  expect(more(1)).toBe(2)\n})\n" },
    { 'test/b.ts': `it('is more', () => {\n  expect(more(1)).toBe(2)\n})\n${JS}` },
  ],
]

for (const [language, changes] of Object.entries({ PYTHON, GOLANG, JAVAS, JAVASCRIPT, RUSTS, MOVES })) {
  for (const [name, kind, before, after] of changes) {
    test(`${language.toLowerCase()}: ${name}${kind === null ? ' is honest' : ''}`, async () => {
      const found = await toldOf(before, after)
      assert.deepEqual(
        [...new Set(found.map((it) => it.kind))],
        kind === null ? [] : [kind],
        JSON.stringify(found),
      )
      if (kind !== null) assert.deepEqual(await toldOf(after, before), [])
    })
  }
}
