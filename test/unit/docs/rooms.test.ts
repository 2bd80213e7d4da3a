// The map of the rooms: one table holds the imports and makes the picture.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'

type Table = Readonly<Record<string, readonly string[]>>
const { ROOMS }: { ROOMS: Table } = await import(
  new URL('../../../.dependency-cruiser.mjs', import.meta.url).href
)
const { picture }: { picture: (table?: Table) => string } = await import(
  new URL('../../../scripts/rooms.mjs', import.meta.url).href
)

test('every folder of src has a rule on what it may import, and every rule a folder', () => {
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const names = folders.map(({ name }) => name).filter((name) => name !== 'types')
  const rooms = Object.keys(ROOMS).filter((name) => !name.includes('/'))
  assert.deepEqual(rooms.sort(), names.sort())
})

test('the diagram in docs/internals/architecture.md is generated from the import rules', () => {
  const drawn = /```mermaid\n(.*?)```/s.exec(readFileSync('docs/internals/architecture.md', 'utf8'))?.[1]
  assert.equal(drawn, picture())
})

test('the diagram leaves out an arrow where a longer path exists', () => {
  const table = { bottom: [], middle: ['bottom'], top: ['middle', 'bottom', 'middle/file.ts'] }
  assert.equal(picture(table), 'flowchart TD\n  top --> middle\n  middle --> bottom\n')
})

test('the diagram names a file that may be imported alone', () => {
  assert.match(picture({ bottom: [], top: ['bottom/table.ts'] }), /top -\. table\.ts \.-> bottom/)
})

test('the diagram draws imports of a subfolder as those of its folder', () => {
  const table = { bottom: [], 'room/folder': ['bottom'], room: [], top: ['room/folder'] }
  assert.equal(picture(table), 'flowchart TD\n  top --> room\n  room --> bottom\n')
})

test('base names of files in src are unique', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  const names = files.map((path) => path.slice(path.lastIndexOf('/') + 1))
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
})

test('every file, folder and exported name in docs/internals/architecture.md and its sibling pages exists', () => {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' })
  const known = new Set(
    paths.flatMap((path) => [
      path,
      path.replace(/\.ts$/, ''),
      `${path}/`,
      `${basename(path)}/`,
      basename(path, '.ts'),
    ]),
  )
  const declared = /^(?:export )?(?:async )?(?:function|const|type|class|let) (\w+)/gm
  for (const path of paths.filter((path) => path.endsWith('.ts')))
    for (const [, name = ''] of readFileSync(`src/${path}`, 'utf8').matchAll(declared)) known.add(name)
  for (const page of ['architecture', 'gate-output', 'life-of-a-cost', 'life-of-a-story']) {
    const text = readFileSync(`docs/internals/${page}.md`, 'utf8').replace(/```.*?```/gs, '')
    const cells = text.split('\n').filter((line) => line.startsWith('|'))
    for (const [, name = '', path = ''] of text.matchAll(/`(\w+)`(?: with `[\w.]+`)? \(`([\w/-]+\.ts)`/g))
      assert.match(readFileSync(`src/${path}`, 'utf8'), new RegExp(`\\b${name}\\b`), `${page}: ${path}`)
    // The other pages name fields of data, too.
    if (page !== 'architecture') continue
    const named = cells.flatMap((line) =>
      [...line.matchAll(/`([\w-]+(?:[./][\w./-]*)?)`/g)].map(([, name = '']) => name),
    )
    const isSetting = (name: string) => name.includes('.') && !/\.(?:ts|mjs|md)$/.test(name)
    const unknown = named.filter((name) => !known.has(name) && !isSetting(name) && !existsSync(name))
    assert.deepEqual([...new Set(unknown)], [], page)
  }
})

test('every folder of src has a README.md that names only existing files', () => {
  const rooms = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const { name } of rooms.filter(({ name }) => name !== 'types')) {
    const text = readFileSync(`src/${name}/README.md`, 'utf8')
    for (const heading of ['**Promises**', '**Boundaries**', '**Begin with**'])
      assert.ok(text.includes(heading), name)
    const files = [...text.matchAll(/`([\w/-]+(?:\.ts|\/))`/g)].map(([, path = '']) => path)
    assert.ok(files.length > 0, name)
    const missing = files.filter((path) => !existsSync(`src/${name}/${path}`) && !existsSync(`src/${path}`))
    assert.deepEqual(
      missing,
      ['examples/'].filter((path) => missing.includes(path)),
      name,
    )
  }
})

test('docs/internals/architecture.md counts the folders that a story, a usage and an output pass', () => {
  const rooms = Object.keys(ROOMS)
  const rows = readFileSync('docs/internals/architecture.md', 'utf8').matchAll(
    /^\| \[[^\]]*\]\(([\w-]+\.md)\) .*\| (\d+): (.*) \|$/gm,
  )
  const counted = [...rows].map(([, page = '', count, names = '']) => ({
    page,
    count: Number(count),
    names: names.split(', '),
  }))
  assert.equal(counted.length, 3)
  for (const { page, count, names } of counted) {
    const paths = readFileSync(`docs/internals/${page}`, 'utf8').matchAll(/`([a-z]+)\/(?:[\w/-]+\.ts)?`/g)
    const named = new Set([...paths].map(([, room = '']) => room).filter((room) => rooms.includes(room)))
    assert.deepEqual(names, [...named].sort(), page)
    assert.equal(count, names.length, page)
  }
})
