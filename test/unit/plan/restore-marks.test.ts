// A session may tick what it did not work on: these marks go back to what they were, and nothing else changes.
import assert from 'node:assert/strict'
import test from 'node:test'
import { restoreMarks } from '../../../src/plan/write-back/restore-marks.ts'
import { documentsOf } from './samples.ts'

const TODO = '# TODO\n\n- [ ] Draw a pond\n- [ ] Draw a frog\n- [x] Draw a reed\n'

function restored(path: string, before: string, after: string, worked: string) {
  const { prd } = documentsOf({ path, text: before })
  return restoreMarks([{ path, text: before }], [{ path, text: after }], prd, worked).get(path)
}

test('boxes of other open stories go back, and words that the session wrote stay', () => {
  const after = '# TODO\n\nNew words.\n\n- [x] Draw a pond\n- [X] Draw a frog\n- [x] Draw a reed\n'
  assert.equal(
    restored('TODO.md', TODO, after, 'US-001'),
    after.replace('[X] Draw a frog', '[ ] Draw a frog'),
  )
})

test('the marks of the story itself, and a document without new marks, stay', () => {
  assert.equal(
    restored('TODO.md', TODO, TODO.replace('[ ] Draw a pond', '[x] Draw a pond'), 'US-001'),
    undefined,
  )
  assert.equal(restored('TODO.md', TODO, TODO, 'US-001'), undefined)
})

test('a group of Kiro and the status of an entry go back as well', () => {
  const tasks = '# Plan\n\n- [ ] 1. Feeds\n  - [ ] 1.1 Read\n    - one\n  - [ ] 1.2 Write\n    - two\n'
  const path = '.kiro/specs/feeds/tasks.md'
  const after = tasks.replaceAll('[ ]', '[x]')
  assert.equal(restored(path, tasks, after, '1.1'), tasks.replace('[ ] 1.1', '[x] 1.1'))
  const list =
    '[\n  {"id": 1, "title": "A", "acceptance": ["a"], "passes": false},\n  {"id": 2, "title": "B", "acceptance": ["b"], "passes": false}\n]\n'
  const claimed = list.replaceAll('false', 'true')
  assert.equal(restored('feature_list.json', list, claimed, '1'), claimed.replace(/true(?=\}\n\])/, 'false'))
})
