// Which files of a change are as they were when the gates run once more on it.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import type { Change } from '../../../../src/engine/model/change.ts'
import { productOf, proposedProduct } from '../../../../src/gates/product/product.ts'
import { checksAsTheyWere, productAsItWas } from '../../../../src/gates/product/second-runs.ts'

type Files = Readonly<Record<string, string>>

/** What of a change from one set of files to another is restored: a text, else `was` or `gone`. */
async function held(before: Files, after: Files, { newPackages = false, product = false } = {}) {
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
  const read = async (path: string) => before[path] ?? null
  const isProduct = productOf(await proposedProduct({ paths: Object.keys(before), read }))
  const found = product
    ? productAsItWas(changes, isProduct)
    : await checksAsTheyWere(changes, { isProduct, objects, sinceRed: [], newPackages })
  return Object.fromEntries(
    [...found].map(([path, one]) => [
      path,
      one === null ? 'gone' : !('text' in one) ? 'was' : /json$/.test(path) ? JSON.parse(one.text) : one.text,
    ]),
  )
}

const PACKAGE = (scripts: object, more: object = {}) => JSON.stringify({ name: 'a', scripts, ...more })
const BASE = { 'package.json': PACKAGE({ test: 'node --test' }), 'src/a.js': '1', 'test/a.test.js': 'old' }

test('everything outside of the product is as at the base, and what is new there is removed', async () => {
  assert.deepEqual(await held(BASE, { ...BASE, 'src/a.js': '2' }), {})
  const after = {
    'src/a.js': '2',
    'test/a.test.js': 'other',
    'test/b.test.js': 'new',
    'expected/a.txt': 'new',
    'jest/setup.js': 'new',
    '.npmrc': 'script-shell=true',
  }
  assert.deepEqual(await held(BASE, { ...BASE, ...after }), {
    'test/a.test.js': 'was',
    'test/b.test.js': 'gone',
    'expected/a.txt': 'gone',
    'jest/setup.js': 'gone',
    '.npmrc': 'gone',
  })
  const { 'test/a.test.js': _gone, ...without } = BASE
  assert.deepEqual(await held(BASE, without), { 'test/a.test.js': 'was' })
})

test('the product as it was: its files are those of the base, and all else is as in the change', async () => {
  const after = { ...BASE, 'src/a.js': '2', 'src/b.js': 'new', 'test/b.test.js': 'new' }
  assert.deepEqual(await held(BASE, after, { product: true }), { 'src/a.js': 'was', 'src/b.js': 'gone' })
})

test('package.json is as it was; with new packages it has the dependencies of the change, and its own scripts', async () => {
  const text = PACKAGE({ test: 'true', extra: 'x' }, { dependencies: { left: '1' }, jest: {} })
  const after = { ...BASE, 'package.json': text, 'package-lock.json': '{}', Makefile: 'x' }
  assert.deepEqual(await held(BASE, after), {
    'package.json': 'was',
    'package-lock.json': 'gone',
    Makefile: 'gone',
  })
  assert.deepEqual(await held(BASE, after, { newPackages: true }), {
    'package.json': { name: 'a', dependencies: { left: '1' }, scripts: { test: 'node --test' } },
    Makefile: 'gone',
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
  }
  assert.deepEqual(await held(before, { ...before, ...after }), {
    'src/a.ts': '// @ts-nocheck\nlet a = eval("1")\n',
    'src/b.py': 'import os\nx = "#"\n',
    'src/c.rs': 'fn c() {}\n',
    'src/d.css': 'a {}\n',
  })
})
