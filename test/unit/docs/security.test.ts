// docs/internals/security.md: it names every request that changes something on GitHub. Of every threat it says what the reader has to
// know, and names tests that exist.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../e2e/site.ts'

const text = await readFile(join(ROOT, 'docs', 'internals', 'security.md'), 'utf8')
const sectionOf = (title: string): string => {
  const [, section = ''] = text.split(`\n## ${title}\n`)
  return section.split('\n## ')[0] ?? ''
}
const requests = sectionOf('What the token is used for')
  .split('\n')
  .filter((it) => it.startsWith('|'))
  .slice(2)
const cellsOf = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((it) => it.trim())

const FIELDS = ['Stopped by', 'Level', 'Tests', 'Remains'] as const
/** Each threat has a heading, and below it a list with a text for each field. */
const threats = sectionOf('Threats, and what stops them')
  .split('\n### ')
  .slice(1)
  .map((threat) => {
    const [title = '', ...lines] = threat.split('\n')
    const texts = lines
      .join('\n')
      .split(/^- \*\*/m)
      .slice(1)
    const fields = texts.map((field) => {
      const [name = '', ...words] = field.split(':**')
      return [name, words.join(':**').trim()] as const
    })
    return { title, fields }
  })

test('every threat has its protection, level, test and remaining risk', () => {
  assert.ok(threats.length >= 23)
  for (const { title, fields } of threats) {
    assert.notEqual(title, '')
    assert.deepEqual(
      fields.map(([name]) => name),
      FIELDS,
      title,
    )
    for (const [name, words] of fields) assert.notEqual(words, '', `${title}: ${name}`)
    assert.match(fields[1]?.[1] ?? '', /\ball\b|`(?:same-user|other-user|separate-job)`/, title)
  }
})

test('tests and source files that the threats name exist', () => {
  for (const { title, fields } of threats) {
    const { 'Stopped by': stops = '', Tests: tests = '' } = Object.fromEntries(fields)
    const named = [...tests.matchAll(/`([^`]+)`/g)].map(([, name = '']) => join(ROOT, 'test', name))
    assert.ok(named.length > 0, title)
    for (const place of named) assert.ok(existsSync(place) || existsSync(`${place}.test.ts`), place)
    for (const [, name = ''] of stops.matchAll(/`([a-z-]+\/[a-z/-]*(?:\.ts)?)`/g)) {
      assert.ok(existsSync(join(ROOT, 'src', name)), name)
    }
  }
})

test('docs/internals/security.md lists every request that changes something on GitHub, with its source file', async () => {
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
