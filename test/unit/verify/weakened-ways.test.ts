// Every way to weaken a test, in every language: what is told of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Weakening, weakenedTests } from '../../../src/verify/weakened.ts'

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
      (s) => `${s}\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n`,
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
    test(`${name}: ${kind}, in ${language[kind].length} ways`, () => {
      for (const way of language[kind]) {
        const after = way(base)
        assert.notEqual(after, base, String(way))
        const found = weakenedTests([{ path, before: base, after }])
        assert.deepEqual([...new Set(found.map((it) => it.kind))], [kind], `${way}\n${JSON.stringify(found)}`)
        assert.ok(found.every((it) => it.path === path))
        // Made the other way round it is no weakening.
        const back = weakenedTests([{ path, before: after, after: base }])
        assert.deepEqual(back, [], String(way))
      }
    })
  }
  test(`${name}: the file is gone, and only formatted anew`, () => {
    assert.ok(weakenedTests([{ path, before: base, after: null }]).some((it) => it.kind === 'deleted'))
    assert.deepEqual(
      weakenedTests([{ path, before: base, after: `\n${base.replace(/\n\n/g, '\n\n\n')}` }]),
      [],
    )
  })
}
