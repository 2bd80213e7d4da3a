// `ralph drill` on a small project in JavaScript and one in Python: what is stopped, and that the repository stays as it is.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { type Clone, openClone } from '../fakes/clone.ts'
import { lacks } from '../machine/needs.ts'
import { CLI } from './laptop.ts'

type Row = { plant: string; does: string; result: string; why: string }
type Result = {
  planted: number
  stopped: number
  asked: number
  passed: number
  plants: Row[]
  remedies: { line: string; stops: string[] }[]
}

const jsTest = (name: string, from: string, line: string) =>
  `import assert from 'node:assert/strict'\nimport test from 'node:test'\nimport { ${name} } from '../src/${from}'\n\ntest('${name}', () => {\n  ${line}\n})\n`
const JS = {
  'package.json': JSON.stringify({ name: 'small', type: 'module', scripts: { test: 'node --test' } }),
  '.gitignore': 'node_modules/\ndist/\n',
  'src/math.js': 'export function sum(a, b) {\n  return a + b\n}\n',
  'test/math.test.js': jsTest('sum', 'math.js', 'assert.equal(sum(2, 3), 5)'),
}
const config = (gate: string, weakened: string) => ({
  'ralph.config.yml': `gates:\n  test: ${gate}\nweakenedTests: ${weakened}\n`,
})

/** A second commit that changes the product and its test. */
async function commit(clone: Clone, files: Record<string, string>): Promise<void> {
  await clone.write(files)
  clone.git('add', '-A')
  clone.git('commit', '-q', '-m', 'feat: more')
}

/** Everything in a folder by its content, links and folders included. */
function digestOf(folder: string): string {
  const hash = createHash('sha256')
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((one) => join(one.parentPath, one.name))
    .sort()) {
    hash.update(`${entry}\0`)
    try {
      hash.update(readFileSync(entry))
    } catch {
      // A folder has no content.
    }
  }
  return hash.digest('hex')
}

async function drill(clone: Clone, ...args: string[]): Promise<Result & { code: number; err: string }> {
  const before = digestOf(clone.repository)
  const { code, out, err } = await clone.start(['drill', '--json', ...args]).ended
  assert.equal(digestOf(clone.repository), before, 'the repository is as it was')
  assert.equal(code, 0, err)
  return { ...JSON.parse(out), code, err }
}

const resultOf = ({ plants }: Result, name: string) => plants.find(({ plant }) => plant === name)

test('drill: a JavaScript project sees what its gates stop, and its repository stays as it is', async () => {
  await using clone = await openClone(CLI, { ...JS, ...config('npm test', 'judge') })
  await commit(clone, {
    'src/text.js': 'export function shout(text) {\n  return text.toUpperCase()\n}\n',
    'test/text.test.js': jsTest('shout', 'text.js', "assert.equal(shout('a'), 'A')"),
  })
  const result = await drill(clone)
  assert.equal(resultOf(result, 'edit-1')?.result, 'stopped', 'a test notices the changed operator')
  for (const name of ['delete-test', 'skip-test', 'empty-test', 'remove-assertions'])
    assert.match(resultOf(result, name)?.result ?? '', /^(?:stopped|asked)$/, name)
  for (const name of ['script-true', 'ignored-folder', 'new-ignore-rule', 'workflow', 'secret'])
    assert.equal(resultOf(result, name)?.result, 'stopped', name)
  assert.equal(resultOf(result, 'nothing')?.result, 'asked')
  const made = result.plants.filter((row) => row.result !== 'none')
  assert.equal(result.planted, made.length)
  for (const { result: kind, why } of result.plants)
    if (kind === 'none') assert.notEqual(why, '', 'a plant that was not made says why')
})

test('drill: the screen names what passes, and a line that was tried stops it', async () => {
  await using clone = await openClone(CLI, { ...JS, ...config('npm test', 'off') })
  await commit(clone, { 'README.md': 'small\n' })
  const { out, code } = await clone.start(['drill']).ended
  assert.equal(code, 0)
  assert.match(out, /^Your gates and settings stop \d+ of \d+ kinds of wrong work\./m)
  assert.match(
    out,
    /^\d+ pass, but the report has a finding:\n[\s\S]*^ {2}adds code that no test reaches: no gate fails without this change, so no test shows that the change works$/m,
  )
  assert.match(
    out,
    /^With this line in ralph\.config\.yml, your settings would stop \d+ more:\n {2}weakened-tests: judge$/m,
  )
})

test('drill: a Python project has plants of its own language', { skip: lacks('python') }, async () => {
  await using clone = await openClone(CLI, {
    '.gitignore': '__pycache__/\n',
    'src/calc.py': 'def add(a, b):\n    return a + b\n',
    'tests/__init__.py': '',
    'tests/test_calc.py':
      'import unittest\n\nfrom src.calc import add\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n',
    'tests/test_other.py':
      'import unittest\n\n\nclass Other(unittest.TestCase):\n    def test_other(self):\n        self.assertTrue(True)\n',
    ...config('/usr/bin/python3 -B -m unittest discover -s tests -t .', 'fail'),
  })
  const result = await drill(clone)
  assert.equal(resultOf(result, 'edit-1')?.result, 'stopped')
  for (const name of ['delete-test', 'skip-test', 'remove-assertions', 'exit-on-load'])
    assert.equal(resultOf(result, name)?.result, 'stopped', `${name}: ${resultOf(result, name)?.why}`)
})

test('drill: Ctrl+C ends it and leaves nothing behind', async () => {
  await using clone = await openClone(CLI, { ...JS, ...config('npm test', 'judge') })
  const temporary = join(clone.folder, 'tmp')
  mkdirSync(temporary)
  const before = digestOf(clone.repository)
  const started = clone.start(['drill'], { env: { TMPDIR: temporary } })
  for await (const chunk of started.stderr ?? []) if (/^2\/\d+ /m.test(String(chunk))) break
  started.kill('SIGINT')
  const { code } = await started.ended
  assert.equal(code, 130)
  assert.equal(digestOf(clone.repository), before)
  assert.deepEqual(
    readdirSync(temporary).filter((name) => name.startsWith('ralph-drill-')),
    [],
  )
  assert.equal(existsSync(join(clone.repository, '.git', 'ralph')), false)
})

test('drill: gates that fail in a clean clone are an error, not a result', async () => {
  await using clone = await openClone(CLI, { ...JS, ...config('exit 3', 'judge') })
  const { code, err } = await clone.start(['drill']).ended
  assert.equal(code, 64)
  assert.match(err, /the gates do not pass in a clean clone.*exit 3/)
})
