// What came of runs: counted by hand for small ones, and a CSV that no spreadsheet runs.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { TimelineEntry } from '../../../src/engine/model/state.ts'
import { describeResults, resultsCsv, resultsOf } from '../../../src/report/run-results.ts'
import { midRun } from './samples.ts'

const sample = midRun().prd.userStories[0]
assert.ok(sample !== undefined)
const story = (id: string, passes: boolean, more = {}) => ({
  ...sample,
  id,
  passes,
  lastResult: null,
  ...more,
})
const entry = (storyId: string, result: TimelineEntry['result'], iteration: number): TimelineEntry => ({
  iteration,
  storyId,
  attempt: 1,
  result,
  summary: '',
  ms: 1,
  at: 1,
  job: 1,
})

const PRD = {
  userStories: [
    story('US-001', true),
    story('US-002', true),
    story('US-003', false),
    story('FIX-1', true, {
      corrects: { story: 'US-001', source: { kind: 'words', comment: 0, by: 'alice' } },
    }),
  ],
}
const TIMELINE = [
  entry('US-001', 'returned', 1),
  entry('US-001', 'passed', 2),
  entry('US-002', 'rejected', 3),
  entry('US-002', 'passed', 4),
  entry('FIX-1', 'passed', 5),
]

test('an attempt that was given back is no failure, and corrections are no stories', () => {
  assert.deepEqual(resultsOf({ prd: PRD, timeline: TIMELINE, costUsd: 3 }, null), {
    passed: 2,
    firstTry: 1,
    attempts: 4,
    corrections: 1,
    usdPerStory: 1.5,
    merged: null,
  })
})

test('without a state only what prd.json says is known, and without a passed story there is no cost of one', () => {
  const { firstTry, attempts, passed } = resultsOf({ prd: PRD, costUsd: 3 }, null)
  assert.deepEqual([firstTry, attempts, passed], [null, null, 2])
  assert.equal(
    resultsOf({ prd: { userStories: [story('US-003', false)] }, costUsd: 3 }, null).usdPerStory,
    null,
  )
})

test('the sentence about all runs counts known ones, and says how much is still there after the merge', () => {
  const results = resultsOf({ prd: PRD, timeline: TIMELINE, costUsd: 3 }, null)
  const archived = resultsOf({ prd: PRD, costUsd: 3 }, null)
  assert.equal(
    describeResults([results, archived]),
    '1 of 2 stories passed on the first attempt; on average, a story took 2.0 attempts',
  )
  const merged = { ...results, merged: { written: 40, kept: 30, peopleCommits: 1 } }
  assert.match(
    describeResults([merged, results]) ?? '',
    /still has 75 % of the lines that the merged run wrote$/,
  )
  assert.equal(describeResults([]), null)
})

test('the CSV has a line for each run, quotes what needs it, and no text that a spreadsheet runs', () => {
  const results = resultsOf(
    { prd: PRD, timeline: TIMELINE, costUsd: 3 },
    { written: 40, kept: 30, peopleCommits: 1 },
  )
  const run = (feature: string) => ({ feature, folder: '2026-01-01-a', outcome: null, results })
  const [head, ...lines] = resultsCsv([run('auth'), run('=1+1'), run('a,"b"\nc')]).split('\n')
  assert.equal(
    head,
    'feature,folder,outcome,passed,first_try,attempts,corrections,usd_per_story,lines_written,lines_kept,commits_of_people',
  )
  assert.equal(lines[0], 'auth,2026-01-01-a,open,2,1,4,1,1.5,40,30,1')
  assert.match(lines[1] ?? '', /^'=1\+1,/)
  assert.equal(lines[2], '"a,""b""')
})
