// Weakened tests: found in the dishonest pairs of test/fixtures/verify, and not in the honest ones.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { isTestFile, mayHoldTests } from '../../../src/review/test-files.ts'
import { type FileChange, weakenedTests } from '../../../src/review/weakened.ts'
import { anyText, every, runs } from '../runs.ts'

type Pair = { name: string; files: FileChange[]; expected: string | undefined }

/** `--- before PATH` and `--- after PATH` each begin a text; `expect KIND` may stand before them. */
function readPairs(folder: string): Pair[] {
  const root = new URL(`../../fixtures/verify/${folder}/`, import.meta.url)
  return readdirSync(root).map((name) => {
    const files = new Map<string, FileChange>()
    const [head = '', ...parts] = `\n${readFileSync(new URL(name, root), 'utf8')}`.split(
      /\n--- (?=before |after )/,
    )
    for (const part of parts) {
      const [, which, path = ''] = /^(before|after) (\S+)\n/.exec(part) ?? []
      const text = part.slice(part.indexOf('\n') + 1)
      const change = files.get(path) ?? { path, before: null, after: null }
      files.set(path, which === 'before' ? { ...change, before: text } : { ...change, after: text })
    }
    return { name, files: [...files.values()], expected: /expect (\w+)/.exec(head)?.[1] }
  })
}

const honest = readPairs('honest')
const dishonest = readPairs('dishonest')

const alarms: string[] = []
for (const pair of honest) {
  const found = await weakenedTests(pair.files)
  if (found.length > 0) alarms.push(`${pair.name}: ${JSON.stringify(found)}`)
}
test(`${alarms.length} false alarms on ${honest.length} honest changes`, () => {
  assert.ok(honest.length >= 20)
  assert.deepEqual(alarms, [])
})

test(`all of ${dishonest.length} dishonest changes are found, each by its kind`, async () => {
  assert.ok(dishonest.length >= 20)
  const missed: string[] = []
  for (const pair of dishonest) {
    const found = await weakenedTests(pair.files)
    if (found.every((it) => it.kind !== pair.expected)) missed.push(`${pair.name}: ${JSON.stringify(found)}`)
  }
  assert.deepEqual(missed, [])
})

test('one cheat is told once', async () => {
  const loud: string[] = []
  for (const pair of dishonest) {
    const kinds = new Set((await weakenedTests(pair.files)).map((it) => it.kind))
    if (kinds.size !== 1) loud.push(`${pair.name}: ${[...kinds]}`)
  }
  assert.deepEqual(loud, [])
})

test('test files are known by their paths', () => {
  const yes = [
    'src/a.test.ts',
    'a.spec.jsx',
    'test/a.mjs',
    'src/__tests__/a.tsx',
    'e2e/login.ts',
    'cypress/e2e/a.cy.js',
    'test.js',
    'test-a.cjs',
    'tests/test_a.py',
    'app/test_a.py',
    'app/a_test.py',
    'tests.py',
    'tests/conftest.py',
    'a/b_test.go',
    'tests/it.rs',
    'src/tests.rs',
    'src/test/java/a/B.java',
    'a/BTest.java',
    'a/TestB.java',
    'a/BIT.java',
    'src/integrationTest/java/a/B.java',
  ]
  const no = [
    'src/a.ts',
    'src/latest.ts',
    'src/contest.js',
    'README.md',
    'test/data.json',
    'test/fixtures/a.test.ts',
    'src/attest.py',
    'a/testing.go',
    'src/lib.rs',
    'src/main/java/a/B.java',
    'node_modules/x/test/a.js',
    'a.test.ts.bak',
    'testdata/a_test.go',
    'src/Testament.java',
  ]
  for (const path of yes) assert.equal(isTestFile(path), true, path)
  for (const path of no) assert.equal(isTestFile(path), false, path)
  assert.equal(mayHoldTests('src/lib.rs'), true)
  assert.equal(mayHoldTests('src/lib.ts'), false)
})

test('a test without literals that is gone is not made up for by a name that other new tests have, too', async () => {
  const kept = `test('b', () => { second(omega); expect(omega).toBe(psi) })\n`
  const gone = `test('a', () => { first(alpha, beta, gamma); expect(one).toBe(two) })\n`
  const files = [
    { path: 'x.test.ts', before: gone + kept, after: kept },
    { path: 'y.test.ts', before: null, after: `test('y', () => { expect(one).toBe('yes') })\n` },
    { path: 'z.test.ts', before: null, after: `test('z', () => { expect(q).toBe(1) })\n` },
  ]
  const found = (await weakenedTests(files)).map(({ path, text }) => `${path}: ${text}`)
  assert.deepEqual(found, ['x.test.ts: test "a" is gone'])
})

test('what is no test file, or did not change, is no weakening', async () => {
  assert.deepEqual(
    await weakenedTests([{ path: 'src/it.ts', before: "it('x', () => { expect(a).toBe(1) })", after: null }]),
    [],
  )
  for (const { files } of dishonest) {
    const same = files.map(({ path, before }) => ({ path, before, after: before }))
    assert.deepEqual(await weakenedTests(same), [])
  }
})

test('the honest changes made backwards, and the same files new, raise no error', async () => {
  for (const { files } of [...honest, ...dishonest]) {
    await weakenedTests(files.map(({ path, before, after }) => ({ path, before: after, after: before })))
    assert.deepEqual(
      (await weakenedTests(files.map(({ path, after }) => ({ path, before: null, after })))).filter(
        (it) => it.kind !== 'focused',
      ),
      [],
    )
  }
})

const paths = ['a.test.ts', 'test_a.py', 'a_test.go', 'tests/a.rs', 'ATest.java']
const scrap = fc.array(
  fc.oneof(
    fc.constantFrom(
      "it('a', () => {",
      'def test_a():\n    ',
      'func TestA(t *testing.T) {',
      '#[test]\nfn a() {',
      '@Test\nvoid a() {',
    ),
    fc.constantFrom(
      'expect(a).toBe(1)',
      'assert a == 1',
      't.Error("x")',
      'assert_eq!(a, 1);',
      'assertEquals(1, a);',
      '})',
      '}',
      ']',
      ')',
    ),
    fc.constantFrom(
      '"',
      "'",
      '`',
      '${',
      '"""',
      '/*',
      '*/',
      '//',
      '#',
      '\\',
      '/',
      'r#"',
      '\n',
      ' ',
      '{',
      '(',
      '[',
      ',',
      ';',
      'for x in [1, 2]:\n',
    ),
    fc.constantFrom(
      'test.each',
      'describe.skip(',
      '.forEach(',
      'test.skip(a)',
      'return;',
      'It("a", func() {',
      'func TestMain(m *testing.M) {',
      'abstract class A {',
      'class A(B):\n',
      'del test_a\n',
      'pytestmark = [',
      '@pytest.mark.parametrize(',
      'class TestA:\n',
      'mod tests {',
      '__proto__',
      'constructor',
    ),
    anyText({ maxLength: 4 }),
  ),
  { maxLength: 30 },
)

test('no text makes it fail, and a text against itself is never weaker', async () => {
  const text = scrap.map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), text, text, async (path, before, after) => {
      assert.ok(Array.isArray(await weakenedTests([{ path, before, after }])))
      assert.deepEqual(await weakenedTests([{ path, before, after: `${before}` }]), [])
    }),
    runs(200),
  )
})

test('hostile text is read in bounded time', async () => {
  const size = 1_000
  const units = [
    "it('",
    "it('a', f);",
    'test.',
    'test(',
    'expect(',
    'expect(a).',
    '.expect(a)',
    'describe(() => {',
    '`${',
    '/*',
    '(',
    '[{',
    'for (x of ',
    'const a = (',
    'def test_a():\n',
    'class A:\n class B:\n',
    '@',
    'for x in ',
    'if x:\n',
    '"""',
    '#[',
    '#[test] fn a() {',
    'fn a() { a(); ',
    'mod a {',
    'pub async ',
    '@Test ',
    '@Test void a() {',
    'class a ',
    'A A',
    'func TestA(t *testing.T) {',
    't.Run("a", func(t *testing.T) {',
    'for _, a := range ',
    'a = [',
    'a := [1, 2]\n',
    'function abc() { expect(abc()) }\n',
    "it('a', () => { expect(1 + a).toBe(2) })\n",
    ' ',
    '\n',
    'x.forEach(',
    'a:=',
    '\\',
    'r"',
    "'",
    'class A(B):\n',
    'test_a = 1\n',
    'pytestmark = \\\n',
    'It("a", func() {',
    's.Equal(a)\n',
    'test.skip(a)\n',
    "it('a', () => {\n",
    'return;',
    '<',
    'a.should',
    '.should',
    'fn ',
    `@Test${' '.repeat(60)}`,
  ]
  for (const [path, unit] of every(
    4,
    paths.flatMap((path) => units.map((unit) => [path, unit] as const)),
  )) {
    const text = unit.repeat(Math.ceil(size / unit.length))
    const start = process.cpuUsage()
    await weakenedTests([
      { path, before: text, after: `${text} ` },
      { path: `test/b/${path}`, before: null, after: text },
    ])
    const { user, system } = process.cpuUsage(start)
    const took = (user + system) / 1000
    assert.ok(took < 1_500, `${path} ${JSON.stringify(unit)}: ${took.toFixed(0)} ms`)
  }
})
