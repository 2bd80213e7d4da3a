// docs/security.md: its first table says of every threat what the reader has to know, and names tests that exist.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../e2e/site.ts'

const text = await readFile(join(ROOT, 'docs', 'security.md'), 'utf8')
const [head = '', line = '', ...rows] = text
  .slice(0, text.indexOf('## What a hostile agent tried'))
  .split('\n')
  .filter((it) => it.startsWith('|'))
const cellsOf = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((it) => it.trim())

test('every threat has what stops it, at which level, which test shows it, and what remains', () => {
  assert.deepEqual(cellsOf(head), ['threat', 'what stops it', 'level', 'test', 'what remains'])
  assert.equal(cellsOf(line).length, 5)
  assert.ok(rows.length >= 23)
  for (const row of rows) {
    const cells = cellsOf(row)
    assert.equal(cells.length, 5, row)
    for (const cell of cells) assert.notEqual(cell, '', row)
    assert.match(cells[2] ?? '', /\ball\b|`(?:same-user|other-user|separate-job)`/, row)
  }
})

test('the tests and the files of the source that it names exist', () => {
  for (const row of rows) {
    const [, stops = '', , tests = ''] = cellsOf(row)
    const named = [...tests.matchAll(/`([^`]+)`/g)].map(([, name = '']) => join(ROOT, 'test', name))
    assert.ok(named.length > 0, row)
    for (const place of named) assert.ok(existsSync(place) || existsSync(`${place}.test.ts`), place)
    for (const [, name = ''] of stops.matchAll(/`([a-z-]+\/[a-z/-]*(?:\.ts)?)`/g)) {
      assert.ok(existsSync(join(ROOT, 'src', name)), name)
    }
  }
})
