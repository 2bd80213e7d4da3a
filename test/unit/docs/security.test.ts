// docs/security.md: it names every request that changes something on GitHub. Of every threat it says what the reader has to know, and
// names tests that exist.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../e2e/site.ts'

const text = await readFile(join(ROOT, 'docs', 'security.md'), 'utf8')
const tableOf = (title: string): string[] => {
  const [, section = ''] = text.split(`\n## ${title}\n`)
  const [body = ''] = section.split('\n## ')
  return body.split('\n').filter((it) => it.startsWith('|'))
}
const [head = '', line = '', ...rows] = tableOf('Threats, and what stops them')
const requests = tableOf('What the token is used for').slice(2)
const cellsOf = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((it) => it.trim())

test('every threat in docs/security.md has its protection, level, test and remaining risk', () => {
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

test('tests and source files that docs/security.md names exist', () => {
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

test('docs/security.md lists every request that changes something on GitHub, with its source file', async () => {
  const made = new Map<string, string>()
  for await (const path of glob('src/**/*.ts', { cwd: ROOT })) {
    const source = await readFile(join(ROOT, path), 'utf8')
    const calls = [...source.matchAll(/\bapi\s*\.rest\s*\.(\w+)\s*\.(\w+)/g)]
      .filter(([, , method = '']) => !/^(?:get|list)/.test(method))
      .map(([, room, method]) => `${room}.${method}`)
    const mutations = [...source.matchAll(/\bmutation \([^{`]*\{\s*(\w+)/g)].map(([, name = '']) => name)
    const routes = [
      ...source.matchAll(/'(?:POST|PUT|PATCH|DELETE) \/repos\/\{owner\}\/\{repo\}\/actions\/([^']*)'/g),
    ]
    for (const request of [...calls, ...mutations, ...routes.map(([, route = '']) => route)])
      made.set(request, path.slice('src/'.length))
  }
  const named = new Map<string, string>()
  for (const row of requests) {
    const [, names = '', , where = ''] = cellsOf(row)
    for (const [, name = ''] of names.matchAll(/`([^`]+)`/g)) named.set(name, where)
    for (const [, path = ''] of where.matchAll(/`([^`]+)`/g))
      assert.ok(existsSync(join(ROOT, 'src', path)), path)
  }
  assert.ok(named.delete('git push'))
  assert.deepEqual([...named.keys()].sort(), [...made.keys()].sort())
  for (const [name, path] of made) assert.ok(named.get(name)?.includes(`\`${path}\``), `${name}: ${path}`)
})
