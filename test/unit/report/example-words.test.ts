// The words for a criterion's examples, and where they are shown.
import assert from 'node:assert/strict'
import test from 'node:test'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { emptyRecord } from '../../../src/engine/state/state-updates.ts'
import { exampleWords } from '../../../src/report/example-words.ts'

const story = newStory({ id: 'US-001', title: 'x', acceptanceCriteria: ['a', 'b', 'c', 'd'] })

test('each criterion says what its examples showed', () => {
  const about = (criterion: number, result: 'met' | 'mismatch' | 'none', why = '') => ({
    example: 1,
    criterion,
    result,
    why,
  })
  const examples = {
    ...{ written: 'x', failed: 0, mismatches: 0 },
    none: [{ criterion: 4, why: 'it is about looks' }],
    results: [
      about(1, 'met'),
      about(2, 'met'),
      about(2, 'met'),
      about(3, 'met'),
      about(3, 'mismatch', 'other'),
    ],
  }
  assert.deepEqual(exampleWords(story, { ...emptyRecord(), examples }), [
    'example met (3 of 3)',
    '2 examples met (3 of 3)',
    'mismatch',
    'no example: it is about looks',
  ])
  assert.deepEqual(exampleWords(story, emptyRecord()), ['', '', '', ''])
})
