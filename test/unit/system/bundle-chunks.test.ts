import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { loadEveryChunk } from '../../../src/system/bundle-chunks.ts'

const folder = mkdtempSync(join(tmpdir(), 'chunks-'))
after(() => rmSync(folder, { recursive: true }))

test('a chunk that is changed after the start is not loaded', async () => {
  const dist = join(folder, 'dist')
  for (const name of ['cli', 'bundle']) mkdirSync(join(dist, name), { recursive: true })
  const main = join(dist, 'cli', 'main.js')
  writeFileSync(main, '')
  symlinkSync(main, join(folder, 'ralph'))
  const put = (name: string, text: string) => writeFileSync(join(dist, 'bundle', name), text)
  put('package.json', '{"type":"module"}')
  put('ralph.js', "throw new Error('it is loaded already')")
  put('axe.min.js', "throw new Error('it is for pages')")
  for (const name of ['7.ralph.js', '112.ralph.js']) put(name, "export const text = 'as built'")
  assert.equal(await loadEveryChunk(join(folder, 'ralph')), 2)
  put('7.ralph.js', "export const text = 'as changed'")
  const { text } = await import(pathToFileURL(join(dist, 'bundle', '7.ralph.js')).href)
  assert.equal(text, 'as built')
})

test('a program that does not run from a bundle has no chunks', async () => {
  assert.equal(await loadEveryChunk(join(folder, 'missing')), 0)
  assert.equal(await loadEveryChunk(import.meta.filename), 0)
})
