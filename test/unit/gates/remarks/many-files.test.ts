// Folders with very many new files are named, with the line of .gitignore that keeps them out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../../../src/engine/model/change.ts'
import { manyNewFiles } from '../../../../src/gates/remarks/many-files.ts'

const added = (count: number, path: (index: number) => string): Change[] =>
  Array.from({ length: count }, (_, index) => ({
    status: 'A',
    path: path(index),
    oldMode: '000000',
    newMode: '100644',
    oldOid: '0'.repeat(40),
    newOid: '1'.repeat(40),
  }))

const folders = (changes: readonly Change[]) => manyNewFiles(changes).map((text) => text.split(':')[0])

test('the folder of many new files is named, not its parts and not what is above it', () => {
  const modules = added(6000, (index) => `node_modules/pack-${index % 40}/lib/f${index}.js`)
  const work = added(20, (index) => `src/f${index}.js`)
  assert.deepEqual(manyNewFiles([...modules, ...work]), [
    'node_modules/: 6000 new files. If a tool created them, add the line /node_modules/ to .gitignore before you merge',
  ])
  const deep = added(900, (index) => `apps/web/node_modules/p${index % 7}/f${index}.js`)
  assert.deepEqual(folders([...deep, ...work]), ['apps/web/node_modules/'])
  const venv = added(3000, (index) => `.venv/lib/p${index % 9}/f${index}.py`)
  assert.deepEqual(folders([...modules, ...venv]), ['node_modules/', '.venv/'])
})

test('a large honest change has no remark', () => {
  assert.deepEqual(folders(added(499, (index) => `src/f${index}.js`)), [])
  assert.deepEqual(folders(added(900, (index) => `f${index}.js`)), [])
  const changed = added(900, (index) => `src/f${index}.js`).map((one) => ({ ...one, status: 'M' as const }))
  assert.deepEqual(folders(changed), [])
})
