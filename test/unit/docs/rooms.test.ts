// The map of the rooms: one table holds the imports and makes the picture.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

type Table = Readonly<Record<string, readonly string[]>>
const { ROOMS }: { ROOMS: Table } = await import(
  new URL('../../../.dependency-cruiser.mjs', import.meta.url).href
)
const { picture }: { picture: (table?: Table) => string } = await import(
  new URL('../../../scripts/rooms.mjs', import.meta.url).href
)

test('every room of src has a line that says what it may import, and every line has a room', () => {
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const names = folders.map(({ name }) => name).filter((name) => name !== 'types')
  assert.deepEqual(Object.keys(ROOMS).sort(), names.sort())
})

test('the picture in docs/architecture.md is made of the table', () => {
  const drawn = /```mermaid\n(.*?)```/s.exec(readFileSync('docs/architecture.md', 'utf8'))?.[1]
  assert.equal(drawn, picture())
})

test('an arrow is drawn where no longer way leads there', () => {
  const table = { bottom: [], middle: ['bottom'], top: ['middle', 'bottom', 'middle/file.ts'] }
  assert.equal(picture(table), 'flowchart TD\n  top --> middle\n  middle --> bottom\n')
})
