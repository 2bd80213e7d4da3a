// New paths that some file systems take for another one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../../src/engine/model/change.ts'
import { caseTwins } from '../../../src/git/case-twins.ts'

const listing = {
  paths: ['main', 'README.md', 'src/a.js', 'src/b.js', 'docs/é.md'],
  folders: new Set(['src', 'docs']),
  gitlinks: new Set<string>(),
  attributes: new Set<string>(),
}
const change = (status: 'A' | 'D', path: string): Change => ({
  ...{ status, path, oldMode: '100644', newMode: '100644' },
  ...{ oldOid: '1'.repeat(40), newOid: '2'.repeat(40) },
})
const twins = (...changes: Change[]) => caseTwins(listing, changes).map(({ path, twin }) => `${path} ${twin}`)

test('a file next to its twin, in a twin of a folder, or next to a new twin is found', () => {
  assert.deepEqual(twins(change('A', 'MAIN')), ['MAIN main'])
  assert.deepEqual(twins(change('A', 'Src/new.js')), ['Src/new.js src'])
  assert.deepEqual(twins(change('A', 'docs/e\u0301.md')), ['docs/e\u0301.md docs/é.md'])
  assert.deepEqual(twins(change('A', 'x/a'), change('A', 'X/b')), ['X/b x'])
  assert.deepEqual(twins(change('A', 'Main/x')), ['Main/x main'])
})

test('other names, and a change of case, are not', () => {
  assert.deepEqual(twins(change('A', 'main2'), change('A', 'src/A2.js')), [])
  assert.deepEqual(twins(change('D', 'README.md'), change('A', 'Readme.md')), [])
  const moved = ['a.js', 'b.js'].flatMap((name) => [change('D', `src/${name}`), change('A', `Src/${name}`)])
  assert.deepEqual(twins(...moved), [])
})
