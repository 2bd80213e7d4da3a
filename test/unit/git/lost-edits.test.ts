// Index files of tree edits that a killed run left.
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeLostEdits } from '../../../src/git/edit-tree.ts'
import { place } from './place.ts'

test('index files of a killed run are removed, and nothing else', async () => {
  using here = await place()
  const { own } = here.git
  const [lost, kept] = [
    ['edit-2', 'edit-12.lock'],
    ['edit-notes', 'index'],
  ].map((names) => names.map((name) => join(own, name)))
  for (const file of [...(lost ?? []), ...(kept ?? [])]) writeFileSync(file, '')
  removeLostEdits(here.git)
  assert.deepEqual(
    lost?.map((file) => existsSync(file)),
    [false, false],
  )
  assert.deepEqual(
    kept?.map((file) => existsSync(file)),
    [true, true],
  )
})
