// What a reviewer is told of a diff: also by files that did not change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentSettings, isAgentDocument } from '../../../../src/agents/registry.ts'
import { createExamine, type ExamineOptions } from '../../../../src/gates/remarks/examine.ts'
import { createRedactor } from '../../../../src/isolation/redact.ts'

type Sides = { before: string | null; after: string | null }

/** Remarks on the change from one set of files to another; `null` for no such file. */
async function remarksOn(
  files: Record<string, string | Sides>,
  gateCommands: string[],
  namesTests = true,
): Promise<string[]> {
  return (await examined(files, { gateCommands, namesTests })).remarks
}

async function examined(files: Record<string, string | Sides>, options: Partial<ExamineOptions>) {
  const blobs = new Map<string, string>()
  const changes = []
  for (const [path, sides] of Object.entries(files)) {
    if (typeof sides === 'string') {
      blobs.set(`green:${path}`, sides)
      continue
    }
    const { before, after } = sides
    if (before !== null) blobs.set(`old ${path}`, before).set(`green:${path}`, before)
    if (after !== null) blobs.set(`new ${path}`, after)
    const status = before === null ? ('A' as const) : after === null ? ('D' as const) : ('M' as const)
    changes.push({
      path,
      status,
      oldMode: before === null ? '000000' : '100644',
      newMode: after === null ? '000000' : '100644',
      oldOid: `old ${path}`,
      newOid: `new ${path}`,
    })
  }
  const objects = {
    info: async (name: string) => {
      const text = blobs.get(name)
      return text === undefined ? null : { size: Buffer.byteLength(text) }
    },
    contents: async (name: string) => {
      const text = blobs.get(name)
      return text === undefined ? null : Buffer.from(text)
    },
  }
  const examine = createExamine({
    protectedPaths: [],
    configFile: null,
    agentSettings,
    isAgentDocument,
    namesTests: true,
    gateCommands: [],
    redactor: createRedactor([]),
    ...options,
  })
  return await examine(changes, objects, 'green')
}

const CHANGED: Sides = { before: 'a', after: 'b' }
const packageWith = (scripts: Record<string, string>) => JSON.stringify({ scripts })

test('a changed script that an unchanged package.json or Makefile names is reported', async () => {
  const rows: [Record<string, string>, string, string][] = [
    [{ 'package.json': packageWith({ test: 'node scripts/test.mjs' }) }, 'npm test', 'scripts/test.mjs'],
    [{ 'package.json': packageWith({ test: 'npm run all', all: 'tsx run.ts' }) }, 'npm test', 'run.ts'],
    [{ 'package.json': packageWith({ pretest: './prepare.sh' }) }, 'npm test', 'prepare.sh'],
    [{ Makefile: 'test: lint\n\tpython tools/check.py\n' }, 'make test', 'tools/check.py'],
    [{ 'app/package.json': packageWith({ test: 'node run.js' }) }, 'npm --prefix app test', 'app/run.js'],
    [{ 'ci.sh': 'set -e\nbash tools/deep.sh\n', 'tools/deep.sh': './last\n' }, 'bash ci.sh', 'last'],
  ]
  for (const [files, gate, path] of rows) {
    const remarks = await remarksOn({ ...files, [path]: CHANGED }, [gate])
    assert.equal(remarks.length, 1, `${gate}: ${remarks}`)
    assert.ok(remarks[0]?.startsWith(`${path} (gate ${gate}):`), remarks[0])
    assert.deepEqual(await remarksOn({ ...files, 'other.js': CHANGED }, [gate]), [])
  }
})

test('where package.json is known, settings of tools that the gate does not use are not reported', async () => {
  const files = { 'package.json': packageWith({ test: 'vitest run' }) }
  assert.equal((await remarksOn({ ...files, 'vitest.config.ts': CHANGED }, ['npm test'])).length, 1)
  assert.deepEqual(await remarksOn({ ...files, 'jest.config.js': CHANGED }, ['npm test']), [])
})

test('scripts that call each other in a circle are followed once', async () => {
  const files = { 'a.sh': 'bash b.sh\n', 'b.sh': 'bash a.sh\n' }
  assert.deepEqual(await remarksOn({ ...files, 'c.sh': CHANGED }, ['bash a.sh']), [])
})

test('removed, skipped and shortened tests are reported by file; added tests are not', async () => {
  const rows: [path: string, before: string | null, after: string | null, said: string | null][] = [
    ['test/a.test.js', 'x', null, 'the file is gone'],
    [
      'a.test.ts',
      "it('a', f)",
      "it.skip('a', f)",
      '1 test is skipped or run alone that were not before (it.skip)',
    ],
    ['a.test.ts', "it('a', f)", "xit('a', f)", '1 test is skipped or run alone that were not before (xit()'],
    ['tests/test_a.py', 'def test_a(): pass', '@pytest.mark.skip\ndef test_a(): pass', '1 test is'],
    ['a_test.go', 'func TestA(t *testing.T) {\n}', 'func TestA(t *testing.T) {\n\tt.Skip()\n}', '1 test is'],
    ['src/lib.rs', '#[test]\nfn a() {}', '#[test]\n#[ignore]\nfn a() {}', '1 test is'],
    ['src/test/ATest.java', '@Test void a() {}', '@Disabled @Test void a() {}', '1 test is'],
    ['test/a.test.js', 'equal(1, 1)\nequal(2, 2)', 'equal(1, 1)', '1 line is changed or gone'],
    ['test/a.test.js', 'equal(1, 1)', 'equal(1, 1)\nequal(2, 2)', null],
    ['test/a.test.js', null, "it.skip('a', f)", null],
    ['test/a.test.js', "import { a } from './a.js'\nok()", "import { a, b } from './a.js'\nok()", null],
    ['tests/test_a.py', 'from a import b\nok()', 'from a import b, c\nok()', null],
    ['test/a.test.js', "const { a } = require('./a')", "const { a, b } = require('./a')", null],
    [
      'test/a.test.js',
      "import { a } from './a.js'",
      "import { a, b } from './fake.js'",
      '1 line is changed or gone',
    ],
    ['test/a.test.js', "import { a } from './a.js'", "import { b as a, a as b } from './a.js'", '1 line is'],
    ['tests/test_a.py', 'from src.a import b', 'from src.a.fake import b', '1 line is changed or gone'],
    ['test/a.test.js', 'ok(a)', 'ok(a || true)', '1 line is changed or gone'],
    ['specs/001-login/tasks.md', '- [ ] T001', '- [x] T001', null],
    ['specs/001-login/contracts/api.yaml', 'a: 1', 'a: 2', null],
    ['docs/tech-spec.md', 'a', 'b', null],
    ['openspec/changes/x/specs/login/spec.md', 'a', null, null],
    ['specs/login.spec.ts', 'equal(1, 1)', 'equal(1, 2)', '1 line is changed or gone'],
    ['spec/models/user_spec.rb', 'a', null, 'the file is gone'],
    ['spec/fixtures/mail.md', 'a', null, 'the file is gone'],
    ['test/golden.md', 'a', null, 'the file is gone'],
    ['specs/001-login/tests/a.test.ts', 'a', null, 'the file is gone'],
    ['src/lib.rs', 'fn a() {}', null, null],
    ['src/a.js', 'a', 'b', null],
  ]
  for (const [path, before, after, said] of rows) {
    const remarks = await remarksOn({ [path]: { before, after } }, [])
    assert.equal(remarks.length, said === null ? 0 : 1, `${path}: ${remarks}`)
    assert.ok(said === null || remarks[0]?.startsWith(`${path}: ${said}`), remarks[0])
    assert.deepEqual(await remarksOn({ [path]: { before, after } }, [], false), [])
  }
})

const SKIPPED: Sides = {
  before: "test('b', () => { assert.equal(1, 1) })\n",
  after: "test.skip('b', () => { assert.equal(1, 1) })\n",
}

test('new files, however many, do not hide a weakened test or a changed gate', async () => {
  const text = 'x'.repeat(1_000_000)
  // More of them than is looked at in all (64 MB).
  const padding = Array.from({ length: 70 }, (_, index) => [
    `a/${index}.test.js`,
    { before: null, after: text },
  ])
  const files = {
    ...Object.fromEntries(padding),
    'package.json': { before: packageWith({ test: 'vitest run' }), after: packageWith({ test: 'true' }) },
    'z.test.js': SKIPPED,
  }
  const remarks = await remarksOn(files, ['npm test'])
  assert.ok(
    remarks.some((text) => text.startsWith('z.test.js: 1 test is skipped')),
    remarks.join('\n'),
  )
  assert.ok(
    remarks.some((text) => text.startsWith('package.json (gate npm test)')),
    remarks.join('\n'),
  )
})

test('twenty harmless remarks do not hide a serious one, and omitted remarks are counted', async () => {
  const script = { before: packageWith({ test: 'vitest run' }), after: packageWith({ test: 'true' }) }
  const many = Array.from({ length: 25 }, (_, index) => [`t${index}.test.js`, SKIPPED])
  const remarks = await remarksOn({ ...Object.fromEntries(many), 'package.json': script }, ['npm test'])
  assert.ok(
    remarks.some((text) => text.startsWith('package.json (gate npm test)')),
    remarks.join('\n'),
  )
  assert.equal(remarks.length, 21)
  assert.equal(remarks.at(-1), 'and 6 more of this kind')

  const fixtures = Array.from({ length: 25 }, (_, index) => [
    `a/t${index}/conftest.py`,
    { before: null, after: '' },
  ])
  const settings = '[tool.pytest.ini_options]\naddopts = "-q"\n'
  const changed = { before: settings, after: settings.replace('-q', '--collect-only') }
  const told = await remarksOn({ ...Object.fromEntries(fixtures), 'pyproject.toml': changed }, ['pytest'])
  assert.ok(told[0]?.startsWith('pyproject.toml (gate pytest)'), told.join('\n'))
})

test('a test file that is too large to be compared is reported as such', async () => {
  const large = `// ${'x'.repeat(1024 * 1024)}\n`
  const said = 'too much text to see what became of its tests'
  for (const [before, after] of [
    [`${SKIPPED.before}${large}`, ''],
    [SKIPPED.before, `${SKIPPED.after}${large}`],
  ] as const)
    assert.deepEqual(await remarksOn({ 'a.test.js': { before, after } }, []), [`a.test.js: ${said}`])
})

test('JSON that is nested 200,000 deep does not end the run, and is reported', async () => {
  const before = packageWith({ test: 'vitest run' })
  const deep = '['.repeat(200_000)
  const json = `{"scripts":{"test":"true"},"jest":${deep}${']'.repeat(200_000)}}`
  for (const after of [json, deep, '{"a":'.repeat(200_000), `{"jest":"${'\\'.repeat(300_001)}"}`])
    assert.deepEqual(await remarksOn({ 'package.json': { before, after } }, ['npm test']), [
      'package.json (gate npm test): scripts.test: "vitest run" -> nothing',
    ])
})

test('where the content of a file makes the guard throw, the attempt is refused and the file named', async () => {
  const plain = createRedactor([])
  const redactor = {
    ...plain,
    finds: (text: string | Uint8Array) => {
      if (Buffer.from(text).includes('crash')) throw new RangeError('Maximum call stack size exceeded')
      return plain.finds(text)
    },
  }
  const files = { 'a.txt': CHANGED, 'b.txt': { before: 'a', after: 'crash' }, 'c.txt': CHANGED }
  const { failure, dropped } = await examined(files, { redactor })
  assert.equal(failure?.kind, 'guard')
  assert.match(failure?.summary ?? '', /b\.txt: it could not be looked at: Maximum call stack size exceeded/)
  assert.deepEqual(dropped, ['b.txt'])
})

test('a diff of too many files is refused before any of them is read', async () => {
  const many = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => [`a/${index}`, CHANGED]))
  const { failure } = await examined(many, {})
  assert.match(failure?.summary ?? '', /100001 changed files/)
})

test('changed documents that agents read are reported, in any folder', async () => {
  const files = {
    'AGENTS.md': CHANGED,
    'web/Claude.MD': { before: null, after: 'b' },
    'docs/agents.txt': CHANGED,
  }
  assert.deepEqual(await remarksOn({ ...files, '.github/copilot-instructions.md': CHANGED }, []), [
    'AGENTS.md: agents read it before they work, reviewing ones among them',
    '.github/copilot-instructions.md: agents read it before they work, reviewing ones among them',
    'web/Claude.MD: agents read it before they work, reviewing ones among them',
  ])
})

test('a sensitive file is reported, whatever it contains', async () => {
  const odd = ['"scr\\u0069pt-shell"=x', '$' + '{NOPE?}script-shell=x', 'userconfig=./x', '# nothing']
  for (const after of odd) {
    const remarks = await remarksOn({ '.npmrc': { before: null, after } }, [])
    assert.deepEqual(remarks, [
      'acts on what gates run: the shell, options and registries of package managers: .npmrc',
    ])
  }
  const gone = await remarksOn({ '.gitattributes': { before: '* -diff', after: null } }, [], false)
  assert.match(gone.join(), /^acts on what reviewers are shown.*: \.gitattributes$/)
})

test('a path that is too long is refused by the guard, and not examined further', async () => {
  const path = `${'a/'.repeat(100_000)}.npmrc`
  const { failure, dropped, remarks } = await examined({ [path]: { before: null, after: 'x' } }, {})
  assert.match(failure?.summary ?? '', /deeper than tools bear/)
  assert.deepEqual([dropped, remarks], [[path], []])
})
