// The size guide: a story fits one session.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sizeRemarks } from '../../../src/plan/documents.ts'
import { story } from '../engine/prd/samples.ts'

const many = (count: number) => Array.from({ length: count }, (_, index) => `criterion ${index}`)

test('a story too large by criteria, words, points or title gets each reason', () => {
  const stories = [
    story({ id: 'a', title: 'Add a filter to the task list', acceptanceCriteria: many(8) }),
    story({ id: 'b', title: 'x', acceptanceCriteria: many(9) }),
    story({ id: 'c', title: 'x', description: 'word '.repeat(2_100) }),
    story({ id: 'd', title: 'Build the entire admin dashboard' }),
    story({ id: 'e', title: 'x', extra: { points: 13 } }),
    story({ id: 'f', title: 'x', acceptanceCriteria: many(20), passes: true }),
    story({ id: 'g', title: 'x', acceptanceCriteria: many(20), skipped: true }),
    story({ id: 'h', title: 'Show the complete address' }),
  ]
  assert.deepEqual(
    sizeRemarks(stories).map(({ storyId, remark }) => [storyId, remark]),
    [
      ['b', '9 acceptance criteria are too many for one session (at most 8). Split the story.'],
      ['c', '2101 words are too many for one session (at most 2000). Split the story.'],
      ['d', '"entire admin dashboard" is a feature, and does not fit into one session. Split the story.'],
      ['e', '13 points are too many for one session (at most 8). Split the story.'],
    ],
  )
})
