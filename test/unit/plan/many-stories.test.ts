// A plan that is too large for one run: its parts, and the flags that choose one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manyStoriesNote, partsOf } from '../../../src/plan/many-stories.ts'
import { documentsOf } from './samples.ts'

const boxes = (name: string, count: number, mark = ' ') =>
  Array.from({ length: count }, (_, at) => `- [${mark}] ${name} ${at}\n`).join('')
const list = (text: string) => documentsOf({ path: 'fix_plan.md', text })

test('a plan with up to 100 open stories has no note', () => {
  assert.equal(manyStoriesNote(list(boxes('a', 100) + boxes('done', 50, 'x')).prd), null)
  assert.ok(list(boxes('a', 101)).notes.some((note) => note.startsWith('101 open stories are a lot')))
})

test('the parts are the epics with their open stories; the note has the flag of each, and counts the others', () => {
  const text = Array.from({ length: 10 }, (_, at) => `## Part ${at}\n\n${boxes(`p${at}`, 40 + at)}`).join(
    '\n',
  )
  const { prd, notes } = list(`${text}\n## Done\n\n${boxes('d', 5, 'x')}`)
  assert.deepEqual(
    partsOf(prd).map(({ epic, count }) => [epic, count]),
    Array.from({ length: 10 }, (_, at) => [`Part ${at}`, 40 + at]),
  )
  const [note = ''] = notes
  assert.match(note, /^445 open stories are a lot for one run\./)
  assert.match(note, /--epic "Part 0" \(40 open\), --epic "Part 1" \(41 open\),.*, and 2 more parts\.$/)
})

test('without epics the parts are stretches of the list, and the flag names their stories', () => {
  const { prd, notes } = list(boxes('a', 120))
  assert.deepEqual(
    partsOf(prd).map(({ name, count }) => [name, count]),
    [
      ['US-001 to US-050', 50],
      ['US-051 to US-100', 50],
      ['US-101 to US-120', 20],
    ],
  )
  assert.match(notes[0] ?? '', /--stories US-001,US-002,US-003,\.\.\. \(US-001 to US-050: 50 open\)/)
})

test('a document that leaves out every box says which, and not that 0 boxes were read', () => {
  const { notes } = documentsOf(
    { path: 'fix_plan.md', text: '## Acceptance criteria\n\n- [ ] a\n- [ ] b\n' },
    { path: 'TODO.md', text: '- [ ] Draw a pond\n' },
  )
  assert.equal(notes.filter((note) => /\b0 /.test(note)).length, 0, notes.join('\n'))
  assert.ok(notes.some((note) => note.includes('left out: 2 boxes below "Acceptance criteria"')))
})
