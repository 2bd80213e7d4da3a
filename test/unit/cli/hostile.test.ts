// The command line over stories that are hostile: its lines are lines, and its JSON is one line with the same values.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { formatMistake } from '../../../src/system/errors.ts'
import { sanitizeJson } from '../../../src/system/workflow-commands.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { heard } from '../heard.ts'
import { COMPILED, MAIN } from './place.ts'

const FOLDER = '.ralph/2026-01-31-sample'
const folder = mkdtempSync(join(tmpdir(), 'ralph-hostile-'))
after(() => rmSync(folder, { recursive: true }))
const env = {
  ...COMPILED,
  PATH: process.env.PATH,
  HOME: folder,
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@a.test',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@a.test',
}

function repository(name: string, prd: unknown, inFolder = FOLDER): string {
  const directory = join(folder, name)
  mkdirSync(join(directory, inFolder), { recursive: true })
  writeFileSync(join(directory, inFolder, 'prd.json'), JSON.stringify(prd))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, env })
  git('init', '-q', '-b', 'main', '.')
  git('add', '-A')
  git('commit', '-q', '-m', 'start')
  return directory
}

function ralph(directory: string, ...args: string[]): { out: string; err: string; code: number | null } {
  const ran = spawnSync(process.execPath, [MAIN, ...args], {
    cwd: directory,
    env,
    encoding: 'utf8',
    maxBuffer: 1e9,
  })
  return { out: ran.stdout, err: ran.stderr, code: ran.status }
}

/** Nothing in it that a runner or a terminal would obey. */
function assertLines(text: string, what: string): void {
  assert.deepEqual(heard(text).done, [], what)
  const found = /[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.exec(text)
  assert.equal(
    found,
    null,
    `${what}: ${JSON.stringify(text.slice((found?.index ?? 0) - 60, (found?.index ?? 0) + 60))}`,
  )
}

/** One line of JSON that a runner and a terminal only show. */
function oneLine(text: string, what: string): Record<string, unknown> {
  assert.match(text, /^[^\n\r\u2028\u2029\u0085]+\n$/, what)
  assertLines(text, what)
  return JSON.parse(text)
}

/** What a run needs beside its stories. */
const NEEDS = ['--gate', 'ok=true', '--agent', 'custom', '--agent-command', 'touch x']

const usable = hostileStrings.filter(({ text }) => text.trim() !== '' && text.length <= 500)
const stories = usable.map(({ text }, at) => ({
  id: `US-${at + 1}`,
  title: text,
  description: text,
  acceptanceCriteria: Array.from({ length: 9 }, () => text),
  tags: text.length > 100 ? [] : [text],
  notes: text,
  blocked: at % 3 === 2,
  priority: at + 1,
}))
const hostile = repository('hostile', {
  schemaVersion: 2,
  project: '\u001b]0;x\u0007##[error]x',
  branchName: 'ralph/sample',
  description: '##[error]x',
  userStories: stories,
})

/** Warnings of characters that nobody sees: the first twenty, and how many more there are. */
const HIDDEN = 21

test('status, next, validate and the dry run escape hostile text', () => {
  const lines = (text: string) => text.split('\n').length - 1
  const status = ralph(hostile, 'status')
  assert.equal(status.code, 1, 'some are blocked')
  assertLines(status.out, 'status')
  assertLines(status.err, 'status')
  // One of them is the legend of the signs, and one names the command that explains a blocked story.
  assert.equal(lines(status.out), stories.length + 6)
  for (const args of [
    ['next', ...NEEDS],
    ['run', '--dry-run', ...NEEDS],
    ['validate', ...NEEDS],
  ]) {
    const ran = ralph(hostile, ...args)
    assert.equal(ran.code, 0, ran.err)
    assertLines(ran.out, args.join(' '))
    assertLines(ran.err, args.join(' '))
    assert.equal(
      lines(ran.out),
      { next: 1, run: 3 + HIDDEN, validate: stories.length + 2 + HIDDEN }[args[0] ?? ''],
      ran.out,
    )
  }
})

test("the first story's title stays on its own line", () => {
  const title = 'x\n\u001b[31my\u2028##[error]z'
  const first = repository('first', { userStories: [{ id: 'US-001', title, acceptanceCriteria: ['a'] }] })
  assert.equal(ralph(first, 'next', ...NEEDS).out, 'US-001  x y ## [error]z\n')
  assert.match(
    ralph(first, 'run', '--dry-run', ...NEEDS).out,
    /^Next: work on US-001 \(x y ## \[error\]z\), attempt 1\n$/m,
  )
})

test('the --json output is one line with the text of the file', () => {
  const status = oneLine(ralph(hostile, 'status', '--json').out, 'status')
  assert.ok(Array.isArray(status.stories))
  assert.deepEqual(
    status.stories.map(({ title }: { title: string }) => title),
    stories.map(({ title }) => title),
  )
  const next = oneLine(ralph(hostile, 'next', ...NEEDS, '--json').out, 'next')
  assert.deepEqual(next.next, { id: 'US-1', title: '::error::x', attempt: 1 })
  for (const args of [
    ['validate', ...NEEDS],
    ['run', '--dry-run', ...NEEDS],
  ])
    oneLine(ralph(hostile, ...args, '--json').out, args[0] ?? '')
})

test('mistakes with hostile text are two lines each, and one line of JSON', () => {
  const values = hostileStrings.filter(({ text }) => text.length <= 500).map(({ text }) => text)
  const broken = repository('broken', {
    schemaVersion: 2,
    branchName: '\u001b[31m::error::x\n',
    userStories: values.map((text, at) => ({
      id: text,
      title: at % 2 === 0 ? 7 : text,
      acceptanceCriteria: text,
      dependsOn: [text],
      priority: text,
      passes: text,
    })),
  })
  const ran = ralph(broken, 'validate', '--json')
  assert.equal(ran.code, 64)
  const { errors } = oneLine(ran.out, 'validate')
  assert.ok(Array.isArray(errors) && errors.length > values.length * 4)
  assertLines(ran.err, 'validate')
  assert.equal(ran.err.split('\n').length, errors.length * 2 + 1)
  const wrong = ralph(hostile, 'status', '--feature', '\u001b[31mx\n##[error]x', '--json')
  assert.equal(wrong.code, 64)
  oneLine(wrong.out, 'feature')
  assertLines(wrong.err, 'feature')
  const unknown = ralph(hostile, 'no-\u001b[31mcommand\n::error::x', '--json')
  assert.equal(unknown.code, 64)
  oneLine(unknown.out, 'command')
  assertLines(unknown.err, 'command')
})

test('a feature name that no branch can have is refused, and other features stay usable', () => {
  const injected = 'x\ncommitter a <a@a.test> 0 +0000\ndata 0\n\nreset refs\u2215heads\u2215main'
  const names = [
    injected,
    'x\ny',
    'a b',
    'a~b',
    'a..b',
    '..',
    '@{-1}',
    '-x',
    'x.lock',
    'a:b',
    '\u202ex',
    '##[error]x',
  ]
  const prd = { userStories: [{ id: 'US-001', title: 'x', acceptanceCriteria: ['y'] }] }
  const bad = repository('named', prd, `.ralph/2026-01-31-${injected}`)
  for (const name of names) {
    mkdirSync(join(bad, `.ralph/2026-01-31-${name}`), { recursive: true })
    writeFileSync(join(bad, `.ralph/2026-01-31-${name}`, 'prd.json'), JSON.stringify(prd))
  }
  for (const args of [
    ['validate', ...NEEDS],
    ['run', ...NEEDS],
  ]) {
    const ran = ralph(bad, ...args, '--json')
    assert.equal(ran.code, 64, ran.err)
    const { errors } = oneLine(ran.out, args.join(' '))
    assert.ok(Array.isArray(errors))
    assert.equal(errors.length, names.length, ran.err)
    for (const { expected } of errors) assert.match(expected, /^a feature's name with /)
    assertLines(ran.err, args.join(' '))
    assert.equal(ran.err.match(/^error: /gm)?.length, names.length, ran.err)
  }
  mkdirSync(join(bad, FOLDER))
  writeFileSync(join(bad, FOLDER, 'prd.json'), JSON.stringify(prd))
  assert.equal(ralph(bad, 'validate', 'sample', ...NEEDS).code, 0)
})

test('a mistake with arbitrary text is one line of JSON', () => {
  for (const { name, text } of hostileStrings) {
    const said = formatMistake({ path: text, found: text, expected: text, fix: text })
    assert.equal(said.split('\n').length, 2, name)
    const line = sanitizeJson({ text, [text]: [text] })
    assertLines(line, name)
    assert.deepEqual(JSON.parse(line), JSON.parse(JSON.stringify({ text, [text]: [text] })), name)
    assert.doesNotMatch(line, /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u, name)
  }
})
