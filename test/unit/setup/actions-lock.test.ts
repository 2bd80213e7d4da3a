import assert from 'node:assert/strict'
import test from 'node:test'
import { unlockedActions } from '../../../src/setup/actions-lock.ts'

const WORKFLOW = `
jobs:
  work:
    steps:
      - uses: actions/checkout@abc
      - uses: ralph/action/sub@def
      - uses: ./local
      - uses: docker://alpine
`

test('an action of a listed workflow that the lock file does not have is found; a workflow that is not listed may start', () => {
  const lock = (entries: string) =>
    `version: v0.0.2\nworkflows:\n    '.github/workflows/ralph.yml': ${entries}\n`
  const find = (text: string) => unlockedActions(text, '.github/workflows/ralph.yml', WORKFLOW)
  assert.deepEqual(find(lock("['actions/checkout@abc']")), ['ralph/action@def'])
  assert.deepEqual(find(lock("['actions/checkout@abc', 'ralph/action@def']")), [])
  assert.deepEqual(find(lock('[]')), ['actions/checkout@abc', 'ralph/action@def'])
  assert.deepEqual(find("workflows:\n    '.github/workflows/other.yml': []\n"), [])
  assert.deepEqual(find('no: [yaml'), [])
})
