// Which files of a change stand as they were when the gates run once more on it.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import type { Change } from '../../../../src/engine/model/change.ts'
import { filesAsTheyWere } from '../../../../src/gates/remarks/as-it-was.ts'

type Files = Readonly<Record<string, string>>

/** What of a change from one set of files to another is put back; a text for package.json, else `was` or `gone`. */
async function held(before: Files, after: Files, gates = ['npm test']) {
  const blobs = new Map<string, string>()
  const blob = (text: string | undefined) => {
    if (text === undefined) return '0'.repeat(40)
    const oid = createHash('sha1').update(text).digest('hex')
    blobs.set(oid, text)
    return oid
  }
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const changes = paths.flatMap((path): Change[] => {
    const [old, now] = [before[path], after[path]]
    if (old === now) return []
    const status = old === undefined ? 'A' : now === undefined ? 'D' : 'M'
    const [oldMode, newMode] = [old, now].map((text) => (text === undefined ? '000000' : '100644'))
    return [
      { status, path, oldMode: oldMode ?? '', newMode: newMode ?? '', oldOid: blob(old), newOid: blob(now) },
    ]
  })
  const textOf = (name: string) => blobs.get(name) ?? before[name.replace(/^base:/, '')] ?? null
  const objects = {
    info: async (name: string) => (textOf(name) === null ? null : { size: textOf(name)?.length ?? 0 }),
    contents: async (name: string) => (textOf(name) === null ? null : Buffer.from(textOf(name) ?? '')),
  }
  const found = await filesAsTheyWere(changes, objects, 'base', gates)
  return Object.fromEntries(
    [...found].map(([path, one]) => [
      path,
      one === null ? 'gone' : !('text' in one) ? 'was' : /json$/.test(path) ? JSON.parse(one.text) : one.text,
    ]),
  )
}

const PACKAGE = (scripts: object, more: object = {}) => JSON.stringify({ name: 'a', scripts, ...more })
const BASE = { 'package.json': PACKAGE({ test: 'node --test' }), 'src/a.js': '1', 'test/a.test.js': 'old' }

test('edited and removed tests are restored, and new ones are removed', async () => {
  assert.deepEqual(await held(BASE, { ...BASE, 'src/a.js': '2' }), {})
  assert.deepEqual(await held(BASE, { ...BASE, 'test/b.test.js': 'new' }), {})
  assert.deepEqual(await held(BASE, { ...BASE, 'test/a.test.js': 'other', 'test/b.test.js': 'new' }), {
    'test/a.test.js': 'was',
    'test/b.test.js': 'gone',
  })
  const { 'test/a.test.js': _gone, ...without } = BASE
  assert.deepEqual(await held(BASE, without), { 'test/a.test.js': 'was' })
})

test('package.json gets its former scripts and tool settings back, and keeps the changed dependencies', async () => {
  const after = PACKAGE({ test: 'true', extra: 'x' }, { dependencies: { left: '1' } })
  assert.deepEqual(await held(BASE, { ...BASE, 'package.json': after }), {
    'package.json': {
      name: 'a',
      dependencies: { left: '1' },
      scripts: { test: 'node --test', extra: 'x' },
    },
  })
  const added = PACKAGE({ test: 'node --test' }, { dependencies: { left: '1' } })
  assert.deepEqual(await held(BASE, { ...BASE, 'package.json': added, 'package-lock.json': '{}' }), {})
})

test('new settings files that a gate would read are removed, in every language', async () => {
  assert.deepEqual(await held(BASE, { ...BASE, '.npmrc': 'script-shell=true' }), { '.npmrc': 'gone' })
  const python = { 'src/a.py': '1', 'tests/test_a.py': 'x' }
  assert.deepEqual(await held(python, { ...python, 'conftest.py': 'x' }, ['pytest']), {
    'conftest.py': 'gone',
  })
  const make = { Makefile: 'test:\n\tgo test ./...\n', 'a_test.go': 'x' }
  assert.deepEqual(await held(make, { ...make, Makefile: 'test:\n\ttrue\n' }, ['make test']), {
    Makefile: 'was',
  })
})

test('newly added suppression comments are removed from code', async () => {
  const before = { 'src/a.ts': '// @ts-nocheck\nlet a = 1\n', 'test/a.test.ts': 'x' }
  assert.deepEqual(await held(before, { ...before, 'src/a.ts': '// @ts-nocheck\nlet a = 2\n' }), {})
  const after = {
    'src/a.ts': '// @ts-nocheck\nlet a = eval("1") // eslint-disable-line no-eval\n',
    'src/b.py': 'import os  # noqa: F401\nx = "#"\n',
    'src/c.rs': '#[allow(dead_code)]\nfn c() {}\n',
    'src/d.css': '/* stylelint-disable */\na {}\n',
    'README.txt': '// @ts-nocheck\n',
  }
  assert.deepEqual(await held(before, { ...before, ...after }), {
    'src/a.ts': '// @ts-nocheck\nlet a = eval("1")\n',
    'src/b.py': 'import os\nx = "#"\n',
    'src/c.rs': 'fn c() {}\n',
    'src/d.css': 'a {}\n',
  })
})
